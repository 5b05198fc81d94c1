//! A rule as a rewrite of the e-graph.
//!
//! A rule applies where its condition holds and where its right side has the type of the left one: the format, and
//! the axes in any order. So a rule need not state on which axes an operand depends.

use crate::tensor::computed::Computed;
use crate::tensor::facts::{Fact, Facts, Graph, Kind};
use crate::tensor::rule::{Rule, Side, Test};
use crate::tensor::term::{Head, Term};
use egg::{Applier, ENodeOrVar, Id, Pattern, PatternAst, RecExpr, Rewrite, Subst, Symbol, Var};
use visa_ir::context::AttrId;
use visa_rules::Condition;

/// The end of the name of a rule that is used from right to left.
pub(crate) const REVERSED: &str = " (reversed)";

/// The rewrites of a rule: one, or two with `<=>`.
///
/// # Errors
/// A right side with a metavariable that the left one lacks.
pub(crate) fn rewrites<'a>(rule: &Rule) -> Result<Vec<Rewrite<Term, Facts<'a>>>, String> {
    let mut all = vec![rewrite(rule, rule.name.to_owned())?];
    if rule.both_ways {
        all.push(rewrite(&rule.reversed(), format!("{}{REVERSED}", rule.name))?);
    }
    Ok(all)
}

/// The left side of a rule as a pattern.
pub(crate) fn left(rule: &Rule) -> Pattern<Term> {
    Pattern::new(pattern(&rule.left, &mut Vec::new(), 0))
}

fn rewrite<'a>(rule: &Rule, name: String) -> Result<Rewrite<Term, Facts<'a>>, String> {
    let build = Build::new(rule);
    Rewrite::new(name, left(rule), build)
}

/// The right side of a rule.
pub(crate) struct Build {
    condition: Option<Condition<Test>>,
    side: Side,
    /// The computed clauses, each with its variable.
    computed: Vec<(Var, Computed, Vec<usize>)>,
    right: Pattern<Term>,
}

/// The variable of a slot.
#[must_use]
pub(crate) fn var(slot: usize) -> Var {
    Var::from_u32(u32::try_from(slot).unwrap_or(u32::MAX))
}

/// The pattern of a side. Computed clauses are variables from `slots` on.
fn pattern(side: &Side, computed: &mut Vec<(Var, Computed, Vec<usize>)>, slots: usize) -> PatternAst<Term> {
    let mut ast = RecExpr::default();
    add(side, &mut ast, computed, slots);
    ast
}

fn add(
    side: &Side,
    ast: &mut PatternAst<Term>,
    computed: &mut Vec<(Var, Computed, Vec<usize>)>,
    slots: usize,
) -> Id {
    match side {
        Side::Variable(slot) => ast.add(ENodeOrVar::Var(var(*slot))),
        Side::Term(head, children) => {
            let children: Vec<Id> = children.iter().map(|child| add(child, ast, computed, slots)).collect();
            ast.add(ENodeOrVar::ENode(Term::new(head.clone(), children)))
        }
        Side::Computed(function, arguments) => {
            let var = var(slots + computed.len());
            computed.push((var, *function, arguments.clone()));
            ast.add(ENodeOrVar::Var(var))
        }
    }
}

impl Build {
    /// The right side of `rule`.
    #[must_use]
    pub(crate) fn new(rule: &Rule) -> Self {
        let mut computed = Vec::new();
        let right = Pattern::new(pattern(&rule.right, &mut computed, rule.scope.names().len()));
        Self { condition: rule.condition.clone(), side: rule.right.clone(), computed, right }
    }

    /// The computed clauses, if the rule applies to a class with these classes of its metavariables.
    #[must_use]
    pub(crate) fn applies(&self, graph: &Graph<'_>, class: Id, subst: &Subst) -> Option<Vec<(Var, AttrId)>> {
        let fact = |slot: &usize| Some(&graph[*subst.get(var(*slot))?].data);
        let holds = |test: &Test| {
            let arguments: Vec<&Fact> = test.arguments.iter().map(fact).collect::<Option<_>>()?;
            Some(test.predicate.holds(&graph.analysis, &arguments))
        };
        if self.condition.as_ref().is_some_and(|condition| condition.holds(&holds) != Some(true)) {
            return None;
        }
        let typed = typed(graph, &self.side, &|slot| fact(&slot).cloned())?;
        if !graph.analysis.same(&typed.kind, &graph[class].data.kind) {
            return None;
        }
        let value = |(var, function, slots): &(Var, Computed, Vec<usize>)| {
            let arguments: Vec<&Fact> = slots.iter().map(fact).collect::<Option<_>>()?;
            Some((*var, function.value(&graph.analysis, &arguments)?))
        };
        self.computed.iter().map(value).collect()
    }

    /// The right side as a term, if the rule applies to a class with these classes of its metavariables.
    pub(crate) fn instance(&self, graph: &mut Graph<'_>, class: Id, mut subst: Subst) -> Option<Id> {
        for (var, attr) in self.applies(graph, class, &subst)? {
            let id = graph.add(Term::new(Head::Clause(attr), []));
            subst.insert(var, id);
        }
        Some(graph.add_instantiation(&self.right.ast, &subst))
    }
}

/// The facts that a side would have; `None` if a term of it has no type, or a clause is not computed.
fn typed(graph: &Graph<'_>, side: &Side, of: &dyn Fn(usize) -> Option<Fact>) -> Option<Fact> {
    match side {
        Side::Variable(slot) => of(*slot),
        Side::Term(head, children) => {
            let children: Vec<Fact> =
                children.iter().map(|child| typed(graph, child, of)).collect::<Option<_>>()?;
            let fact = graph.analysis.infer(head, &children.iter().collect::<Vec<_>>());
            (fact.kind != Kind::Wrong).then_some(fact)
        }
        Side::Computed(function, slots) => {
            let arguments: Vec<Fact> = slots.iter().map(|slot| of(*slot)).collect::<Option<_>>()?;
            let attr = function.value(&graph.analysis, &arguments.iter().collect::<Vec<_>>())?;
            Some(Fact { kind: Kind::Clause(Some(attr)), number: None, total: true })
        }
    }
}

impl<'a> Applier<Term, Facts<'a>> for Build {
    fn apply_one(
        &self,
        graph: &mut Graph<'a>,
        class: Id,
        subst: &Subst,
        left: Option<&PatternAst<Term>>,
        rule: Symbol,
    ) -> Vec<Id> {
        let Some(computed) = self.applies(graph, class, subst) else { return Vec::new() };
        graph.analysis.rule = Some(rule);
        let mut subst = subst.clone();
        for (var, attr) in computed {
            let id = graph.add(Term::new(Head::Clause(attr), []));
            subst.insert(var, id);
        }
        // Only explanations need the left side again; without, the class is enough and faster.
        let left = left.filter(|_| graph.are_explanations_enabled());
        let changed = self.right.apply_one(graph, class, &subst, left, rule);
        graph.analysis.rule = None;
        changed
    }
}
