//! A rule as a rewrite of the e-graph.
//!
//! The left side is matched as an egg pattern. Conditions are asked of the matched classes, numbers that the right
//! side computes are added as nodes and bound to separate variables, and the rest is again an egg pattern: so egg's
//! explanations know every step.

use egg::{Applier, ENodeOrVar, Id, Pattern, PatternAst, RecExpr, Rewrite, Subst, Symbol, Var};

use super::analysis::{Graph, REVERSED, Semantics};
use super::language::{Head, Node, Piece};
use super::rule::{Kind, Num, Operator, Rule, Term, Test};
use visa_rules::Condition;

/// The rewrites of a rule: one, or two with `<=>`.
pub(crate) fn compile(rule: &Rule) -> Result<Vec<Rewrite<Node, Semantics>>, String> {
    let mut all = vec![rewrite(rule, rule.name.to_owned())?];
    if rule.both_ways {
        all.push(rewrite(&rule.reversed(), format!("{}{REVERSED}", rule.name))?);
    }
    Ok(all)
}

fn rewrite(rule: &Rule, name: String) -> Result<Rewrite<Node, Semantics>, String> {
    let slots = rule.scope.names().len();
    let (left, _) = pattern(&rule.left, slots);
    let (right, computed) = pattern(&rule.right, slots);
    let condition = rule.condition.clone();
    Rewrite::new(name, Pattern::new(left), Build { condition, computed, right: Pattern::new(right) })
}

/// Applies the right side of a rule.
struct Build {
    condition: Option<Condition<Test>>,
    /// Numbers of the right side that are computed, each with its variable.
    computed: Vec<(Var, Num)>,
    right: Pattern<Node>,
}

impl Applier<Node, Semantics> for Build {
    fn apply_one(
        &self,
        graph: &mut Graph,
        class: Id,
        subst: &Subst,
        left: Option<&PatternAst<Node>>,
        rule: Symbol,
    ) -> Vec<Id> {
        let Some(numbers) = self.numbers(graph, subst) else { return Vec::new() };
        graph.analysis.rule = Some(rule);
        let mut subst = subst.clone();
        for (var, number) in numbers {
            let id = graph.add(Node::new(Head::Number(number), []));
            subst.insert(var, id);
        }
        // Only explanations need the left side again; without, the class is enough and faster.
        let left = left.filter(|_| graph.are_explanations_enabled());
        let changed = self.right.apply_one(graph, class, &subst, left, rule);
        graph.analysis.rule = None;
        changed
    }
}

impl Build {
    /// The computed numbers, if the condition holds.
    fn numbers(&self, graph: &Graph, subst: &Subst) -> Option<Vec<(Var, u64)>> {
        let env = |slot: usize| -> Option<&Piece> {
            let id = subst.get(var(slot))?;
            Some(&graph[*id].data.piece)
        };
        let axes = &graph.analysis.axes;
        let holds =
            |condition: &Condition<Test>| condition.holds(&|test| test.holds(&env, axes)) == Some(true);
        if !self.condition.as_ref().is_none_or(holds) {
            return None;
        }
        self.computed.iter().map(|(var, number)| Some((*var, number.value(&env, axes)?))).collect()
    }
}

fn var(slot: usize) -> Var {
    Var::from_u32(slot as u32)
}

/// The pattern of a term, and the numbers that have to be computed for it, bound to variables from `slots` on.
fn pattern(term: &Term, slots: usize) -> (PatternAst<Node>, Vec<(Var, Num)>) {
    let mut writer = Writer { slots, ast: RecExpr::default(), computed: Vec::new() };
    writer.term(term);
    (writer.ast, writer.computed)
}

struct Writer {
    slots: usize,
    ast: PatternAst<Node>,
    computed: Vec<(Var, Num)>,
}

impl Writer {
    fn node(&mut self, head: Head, children: impl Into<Vec<Id>>) -> Id {
        self.ast.add(ENodeOrVar::ENode(Node::new(head, children)))
    }

    fn slot(&mut self, slot: usize) -> Id {
        self.ast.add(ENodeOrVar::Var(var(slot)))
    }

    fn term(&mut self, term: &Term) -> Id {
        match term {
            Term::Var(slot) => self.slot(*slot),
            Term::Literal(n) => {
                let n = self.number(n);
                self.node(Head::Literal, [n])
            }
            Term::Group(terms, rest) => {
                let terms: Vec<Id> = terms.iter().map(|term| self.term(term)).collect();
                let end = match rest {
                    Some(slot) => self.slot(*slot),
                    None => self.term(&Term::Literal(Num::Is(1))),
                };
                terms.into_iter().rev().fold(end, |rest, first| self.node(Head::Pair, [first, rest]))
            }
            Term::Pad { inner, size, kind, side } => {
                let (inner, size) = (self.term(inner), self.number(size));
                let kind = match kind {
                    Kind::Is(kind) => self.node(Head::Kind(*kind), []),
                    Kind::Var(slot) => self.slot(*slot),
                };
                self.node(Head::Pad(*side), [inner, size, kind])
            }
            Term::Apply(inner, operator, n) => {
                let (inner, n) = (self.term(inner), self.number(n));
                let head = match operator {
                    Operator::Resize => Head::Resize,
                    Operator::Stride => Head::Stride,
                    Operator::Modulo => Head::Modulo,
                    Operator::Slice => Head::Slice,
                    Operator::Pick => Head::Pick,
                };
                self.node(head, [inner, n])
            }
            Term::Gather(inner, table) => {
                let (inner, table) = (self.term(inner), self.slot(*table));
                self.node(Head::Gather, [inner, table])
            }
            Term::Slide(terms, rest) => {
                let terms: Vec<_> =
                    terms.iter().map(|(term, stride)| (self.term(term), self.number(stride))).collect();
                let end = match rest {
                    Some(slot) => self.slot(*slot),
                    None => self.node(Head::End, []),
                };
                let list = terms
                    .into_iter()
                    .rev()
                    .fold(end, |rest, (term, stride)| self.node(Head::Term, [term, stride, rest]));
                self.node(Head::Slide, [list])
            }
        }
    }

    fn number(&mut self, number: &Num) -> Id {
        match number {
            Num::Is(n) => self.node(Head::Number(*n), []),
            Num::Var(slot) => self.slot(*slot),
            Num::Size(_) | Num::First(_) | Num::Count(_) | Num::Of(..) => {
                let var = var(self.slots + self.computed.len());
                self.computed.push((var, number.clone()));
                self.ast.add(ENodeOrVar::Var(var))
            }
        }
    }
}
