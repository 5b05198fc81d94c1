//! Proofs that two terms are equal: egg's proof, step by step, in the syntax of rules.

use crate::tensor::choose::Choice;
use crate::tensor::facts::{FOLD, Graph};
use crate::tensor::rewrite::REVERSED;
use crate::tensor::term::{Head, Term};
use egg::{Explanation, Id, Language as _, RecExpr, Symbol, TreeTerm};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use visa_ir::context::Context;
use visa_ir::decl::{ClauseKind, OpDecl, Presence};

/// Deepest term that is shown; deeper ones are `...`.
const MAX_SHOWN: usize = 3;

/// A step of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rule.
    pub rule: String,
    /// True if it was used from right to left.
    pub backwards: bool,
    /// The term before the step.
    pub before: String,
    /// The term after it.
    pub after: String,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let direction = if self.backwards { ", from right to left" } else { "" };
        write!(f, "{} = {}  by {}{direction}", self.before, self.after, self.rule)
    }
}

/// The steps from the term of a class that was read to the chosen term. The graph has explanations.
pub(crate) fn steps_to_choice(graph: &mut Graph<'_>, choice: &Choice, class: Id) -> Vec<Step> {
    let mut expr = RecExpr::default();
    let (from, mut known) = (graph.id_to_expr(class), HashMap::new());
    if add(graph, choice, class, &mut expr, &mut known).is_none() {
        return Vec::new();
    }
    let explanation = graph.explain_equivalence(&from, &expr);
    Proof::of(graph.analysis.ctx, &explanation).steps
}

/// The steps between two terms that were read. The graph has explanations.
pub(crate) fn steps_between(graph: &mut Graph<'_>, left: Id, right: Id) -> Vec<Step> {
    let explanation = graph.explain_id_equivalence(left, right);
    Proof::of(graph.analysis.ctx, &explanation).steps
}

/// The rules of some steps, in order of name.
#[must_use]
pub fn rules(steps: &[Step]) -> Vec<String> {
    let names: BTreeSet<&String> = steps.iter().map(|step| &step.rule).collect();
    names.into_iter().cloned().collect()
}

/// Adds the chosen term of a class to an expression.
fn add(
    graph: &Graph<'_>,
    choice: &Choice,
    class: Id,
    expr: &mut RecExpr<Term>,
    known: &mut HashMap<Id, Id>,
) -> Option<Id> {
    let class = graph.find(class);
    if let Some(known) = known.get(&class) {
        return Some(*known);
    }
    let term = choice.term(class)?;
    let mut children = Vec::new();
    for &child in term.children() {
        children.push(add(graph, choice, child, expr, known)?);
    }
    let id = expr.add(Term::new(term.head.clone(), children));
    known.insert(class, id);
    Some(id)
}

/// The steps of a proof, each shared one once.
struct Proof<'a> {
    ctx: &'a Context,
    seen: HashSet<*const TreeTerm<Term>>,
    steps: Vec<Step>,
}

impl<'a> Proof<'a> {
    fn of(ctx: &'a Context, explanation: &Explanation<Term>) -> Self {
        let mut proof = Self { ctx, seen: HashSet::new(), steps: Vec::new() };
        proof.sequence(&explanation.explanation_trees);
        proof
    }

    /// Terms of which each is the one before after a step.
    fn sequence(&mut self, terms: &[Rc<TreeTerm<Term>>]) {
        let mut before: Option<&Rc<TreeTerm<Term>>> = None;
        for term in terms {
            let new = self.seen.insert(Rc::as_ptr(term));
            let rule = match (term.forward_rule, term.backward_rule) {
                (Some(rule), _) => Some((rule, false)),
                (None, Some(rule)) => Some((rule, true)),
                (None, None) => None,
            };
            if let (Some(before), Some((rule, backwards)), true) = (before, rule, new) {
                self.step(rule, backwards, before, term);
            }
            if new {
                term.child_proofs.iter().for_each(|child| self.sequence(child));
            }
            before = Some(term);
        }
    }

    fn step(&mut self, rule: Symbol, backwards: bool, before: &TreeTerm<Term>, after: &TreeTerm<Term>) {
        let name = rule.as_str();
        let forward = name.trim_end_matches(REVERSED);
        let rule = if name == FOLD { "numbers are computed" } else { forward };
        let backwards = backwards != (forward != name);
        let ends = [Shown::of_proof(before, true, 0), Shown::of_proof(after, false, 0)];
        let [before, after] = ends.map(|shown| shown.text(self.ctx));
        // A proof may go by way of a term that it leaves again.
        let undoes = self.steps.last().is_some_and(|last| last.before == after && last.after == before);
        if undoes {
            self.steps.pop();
        } else if before != after {
            self.steps.push(Step { rule: rule.to_owned(), backwards, before, after });
        }
    }
}

/// A term as it is shown.
struct Shown {
    head: Head,
    children: Vec<Shown>,
    /// True if the children are left out.
    cut: bool,
}

/// The chosen term of a class as rules write it.
#[must_use]
pub(crate) fn shown(graph: &Graph<'_>, choice: &Choice, class: Id) -> String {
    let shown = Shown::of_choice(graph, choice, class, 0);
    shown.map_or_else(|| "?".to_owned(), |shown| shown.text(graph.analysis.ctx))
}

impl Shown {
    fn new(head: &Head, depth: usize, children: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        let cut = depth == MAX_SHOWN;
        let children = if cut { Some(Vec::new()) } else { children.collect() };
        Some(Self { head: head.clone(), children: children?, cut })
    }

    fn of_choice(graph: &Graph<'_>, choice: &Choice, class: Id, depth: usize) -> Option<Self> {
        let term = choice.term(graph.find(class))?;
        let children = term.children.iter().map(|&child| Self::of_choice(graph, choice, child, depth + 1));
        Self::new(&term.head, depth, children)
    }

    /// The term at the end or the start of a part of a proof.
    fn of_proof(term: &TreeTerm<Term>, end: bool, depth: usize) -> Self {
        let child = |proof: &Vec<Rc<TreeTerm<Term>>>| {
            let term = if end { proof.last() } else { proof.first() };
            term.map(|term| Self::of_proof(term, end, depth + 1))
        };
        let head = &term.node.head;
        let missing = || Self { head: head.clone(), children: Vec::new(), cut: true };
        Self::new(head, depth, term.child_proofs.iter().map(child)).unwrap_or_else(missing)
    }

    fn text(&self, ctx: &Context) -> String {
        let inner = || self.children.iter().map(|child| child.text(ctx)).collect::<Vec<_>>().join(", ");
        match &self.head {
            Head::Argument(number, _) => format!("%{number}"),
            Head::Index(depth, _) => format!("index{depth}"),
            Head::Carried { depth, number, .. } => format!("carried{depth}.{number}"),
            Head::Number(dtype, bits) => visa_numerics::to_f64(*dtype, *bits).to_string(),
            Head::Clause(attr) => plain(&ctx.attr_data(*attr).generic()),
            Head::Absent => "none".to_owned(),
            Head::Name(function) => function.name.to_owned(),
            Head::Loop(_) | Head::Branch => "...".to_owned(),
            _ if self.cut => "...".to_owned(),
            Head::Apply => {
                let inner = inner();
                let (name, arguments) = inner.split_once(", ").unwrap_or((&inner, ""));
                format!("{name}({arguments})")
            }
            Head::WhereDefined => format!("where_defined({})", inner()),
            Head::Operation(declared) => self.operation(declared.0, ctx),
            Head::Result(number) => format!("result{number}({})", inner()),
        }
    }

    fn operation(&self, decl: &'static OpDecl, ctx: &Context) -> String {
        let (operands, clauses) = self.children.split_at(self.children.len() - decl.clauses.len());
        let mut parts: Vec<String> = operands.iter().map(|operand| operand.text(ctx)).collect();
        for (declared, clause) in decl.clauses.iter().zip(clauses) {
            let text = clause.text(ctx);
            let default = match declared.presence {
                Presence::Default(default) => default,
                Presence::Optional => "none",
                Presence::Required => "",
            };
            match declared.kind {
                _ if text == default => {}
                ClauseKind::Flag => parts.push(declared.name.to_owned()),
                ClauseKind::Int
                | ClauseKind::Str
                | ClauseKind::Word(_)
                | ClauseKind::Symbol
                | ClauseKind::Ints
                | ClauseKind::Strs
                | ClauseKind::Body(_) => parts.push(format!("{} {text}", declared.name)),
            }
        }
        format!("{}({})", decl.name.trim_start_matches("tm."), parts.join(", "))
    }
}

/// The text of an attribute without its kind.
fn plain(generic: &str) -> String {
    let inside = generic.split_once('<').and_then(|(_, rest)| rest.strip_suffix('>'));
    inside.unwrap_or(generic).trim_end_matches(" : i64").trim_matches('"').to_owned()
}
