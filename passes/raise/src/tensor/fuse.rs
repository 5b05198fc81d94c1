//! The expressions of a function: functions of elements that are used once are part of the expression that uses them.

use crate::tensor::choose::Choice;
use crate::tensor::facts::{Graph, Kind};
use crate::tensor::schedule::Schedule;
use crate::tensor::term::{Head, Term};
use egg::Id;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use visa_mapping::expression::{Expression, Term as Formula};
use visa_numerics::{Bits, DType, from_number, to_f64};

/// Most operands of an expression.
const MAX_OPERANDS: usize = 16;

/// Most functions of an expression.
const MAX_FUNCTIONS: usize = 32;

/// The names of operands in an expression.
const NAMES: [&str; MAX_OPERANDS] =
    ["x", "y", "z", "w", "u", "v", "s", "t", "a", "b", "c", "d", "g", "h", "p", "q"];

/// The expressions of a function.
#[derive(Debug, Default)]
pub(crate) struct Fusion {
    /// The expression of each class that has one, and the classes of its operands.
    pub(crate) expressions: HashMap<Id, (Expression, Vec<Id>)>,
    /// Classes that are part of another one's expression, and numbers that are only written in expressions.
    pub(crate) parts: HashSet<Id>,
}

impl Fusion {
    /// The expressions of the terms of these classes.
    #[must_use]
    pub(crate) fn new(
        graph: &Graph<'_>,
        choice: &Choice,
        schedule: &mut Schedule<'_, '_>,
        results: &[Id],
    ) -> Self {
        let order = reachable(graph, choice, results);
        let mut uses: HashMap<Id, usize> = HashMap::new();
        let children = order.iter().filter_map(|class| choice.term(*class)).flat_map(|term| &term.children);
        for class in children.chain(results) {
            *uses.entry(graph.find(*class)).or_default() += 1;
        }
        let depths = order.iter().map(|&class| (class, schedule.depth(class))).collect();
        let mut fusing = Fusing { graph, choice, uses, depths, fusion: Self::default() };
        // An expression is made before those that it is part of could be: users come first.
        for class in order {
            fusing.root(class);
        }
        fusing.numbers(results);
        fusing.fusion
    }
}

/// The classes that the chosen terms of some classes need, each before those that it needs.
fn reachable(graph: &Graph<'_>, choice: &Choice, results: &[Id]) -> Vec<Id> {
    let (mut order, mut seen) = (Vec::new(), HashSet::new());
    let mut open: Vec<(Id, bool)> = results.iter().map(|&id| (graph.find(id), false)).collect();
    while let Some((class, done)) = open.pop() {
        if done {
            order.push(class);
        } else if let Some(term) = choice.term(class).filter(|_| seen.insert(class)) {
            open.push((class, true));
            open.extend(term.children.iter().map(|&child| (graph.find(child), false)));
        }
    }
    order.reverse();
    order
}

struct Fusing<'g, 'a> {
    graph: &'g Graph<'a>,
    choice: &'g Choice,
    uses: HashMap<Id, usize>,
    depths: HashMap<Id, usize>,
    fusion: Fusion,
}

/// An expression in the making.
#[derive(Default)]
struct Open {
    operands: Vec<Id>,
    functions: usize,
}

impl Open {
    fn operand(&mut self, class: Id) -> usize {
        self.operands.iter().position(|known| *known == class).unwrap_or_else(|| {
            self.operands.push(class);
            self.operands.len() - 1
        })
    }
}

impl Fusing<'_, '_> {
    fn term(&self, class: Id) -> Option<&Term> {
        self.choice.term(self.graph.find(class))
    }

    /// Makes the expression of a class, unless it is part of one or no function.
    fn root(&mut self, class: Id) {
        if self.fusion.parts.contains(&class) {
            return;
        }
        let Some(term) = self.term(class).cloned() else { return };
        if !matches!(term.head, Head::Apply | Head::WhereDefined) {
            return;
        }
        let mut open = Open::default();
        let (first, conditions) = self.conditions(class, &term);
        let formula = self.formula(first, class, &mut open);
        for condition in conditions {
            open.operand(condition);
        }
        let names = NAMES[..open.operands.len()].iter().map(|name| Arc::from(*name)).collect();
        self.fusion.expressions.insert(class, (Expression { names, term: formula }, open.operands));
    }

    /// The value of a class without the condition that others are defined, and these.
    fn conditions(&mut self, root: Id, term: &Term) -> (Id, Vec<Id>) {
        let (mut first, mut conditions, mut next) = (root, Vec::new(), Some(term.clone()));
        while let Some(Term { head: Head::WhereDefined, children }) = next {
            conditions.push(self.graph.find(children[1]));
            first = self.graph.find(children[0]);
            next = self.term(first).cloned().filter(|term| {
                term.head == Head::WhereDefined
                    && conditions.len() < MAX_OPERANDS / 2
                    && self.is_part(first, root)
            });
            if next.is_some() {
                self.fusion.parts.insert(first);
            }
        }
        (first, conditions)
    }

    /// Returns true if a class can be part of the expression of `root`: nothing else uses it, and it is in the same
    /// loop.
    fn is_part(&self, class: Id, root: Id) -> bool {
        self.uses.get(&class) == Some(&1) && self.depths.get(&class) == self.depths.get(&root)
    }

    /// The formula of a class inside of the expression of `root`.
    fn formula(&mut self, class: Id, root: Id, open: &mut Open) -> Formula {
        let class = self.graph.find(class);
        let Some(term) = self.term(class).cloned() else { return Formula::Name(open.operand(class)) };
        let inside = class == root || self.is_part(class, root);
        // An operation has at most three operands, of which each may need a name.
        let fits = open.functions < MAX_FUNCTIONS && open.operands.len() + 4 < MAX_OPERANDS;
        if term.head != Head::Apply || !inside || !fits && class != root {
            return Formula::Name(open.operand(class));
        }
        let Some((&name, arguments)) = term.children.split_first() else {
            return Formula::Name(open.operand(class));
        };
        let Kind::Function(function) = self.graph[self.graph.find(name)].data.kind else {
            return Formula::Name(open.operand(class));
        };
        if class != root {
            self.fusion.parts.insert(class);
        }
        open.functions += 1;
        let literals: Vec<Option<f64>> = arguments.iter().map(|&id| self.literal(id)).collect();
        // Numbers alone would have no format.
        let alone = literals.iter().all(Option::is_some);
        let formulas = arguments.iter().zip(literals).map(|(&argument, literal)| match literal {
            Some(number) if !alone => Formula::Number(number),
            Some(_) => Formula::Name(open.operand(self.graph.find(argument))),
            None => self.formula(argument, root, open),
        });
        Formula::Call(function.name.into(), formulas.collect())
    }

    /// The number that a class is, as an expression writes it.
    fn literal(&self, class: Id) -> Option<f64> {
        match self.term(class)?.head {
            Head::Number(dtype, bits) => literal(dtype, bits),
            Head::Argument(..)
            | Head::Index(..)
            | Head::Carried { .. }
            | Head::Apply
            | Head::WhereDefined
            | Head::Operation(_)
            | Head::Loop(_)
            | Head::Branch
            | Head::Result(_)
            | Head::Clause(_)
            | Head::Absent
            | Head::Name(_) => None,
        }
    }

    /// The numbers that no operation needs as a value.
    fn numbers(&mut self, results: &[Id]) {
        let mut needed: HashSet<Id> = results.iter().map(|&id| self.graph.find(id)).collect();
        needed.extend(self.fusion.expressions.values().flat_map(|(_, operands)| operands.iter().copied()));
        for class in self.uses.keys() {
            let Some(term) = self.choice.term(*class) else { continue };
            if !matches!(term.head, Head::Apply | Head::WhereDefined) {
                needed.extend(term.children.iter().map(|&child| self.graph.find(child)));
            }
        }
        let is_number =
            |class: &Id| self.choice.term(*class).is_some_and(|term| matches!(term.head, Head::Number(..)));
        let unused: Vec<Id> =
            self.uses.keys().copied().filter(|class| is_number(class) && !needed.contains(class)).collect();
        self.fusion.parts.extend(unused);
    }
}

/// The text of a number in an expression; `None` if its format has none, or the text has other bits.
fn literal(dtype: DType, bits: Bits) -> Option<f64> {
    let number = to_f64(dtype, bits);
    let written = matches!(dtype, DType::I32 | DType::F32) && number.is_finite();
    (written && from_number(dtype, number) == Some(bits)).then_some(number)
}
