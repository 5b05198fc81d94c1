//! The proof that a canonical form is equal to the user's text: egg's proof, step by step, in the mapping syntax.

use std::fmt;
use std::sync::Arc;

use egg::{FlatTerm, Symbol};
use visa_algebra::{Axes, Expr, joined};

use super::analysis::{Graph, REVERSED, Semantics};
use super::engine::{CanonicalError, MAX_SEED_NODES, best, saturate};
use super::language::{Node, Piece, assemble, lower};
use super::ruleset::RuleSet;

/// A proof that two mappings are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The start of the proof, aliases written out.
    pub from: Expr,
    /// The steps; none if both are the same text.
    pub steps: Vec<Step>,
}

/// One step of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The mapping after the step.
    pub expr: Expr,
    /// Reason for its equality with the one before.
    pub reason: Reason,
}

/// Reason for the equality of two mappings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A rule.
    Rule {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
        /// True if it was used from right to left.
        backwards: bool,
    },
    /// Both have the same digits, or so do their parts; the rules alone do not connect them, or were not tried
    /// because an expression has more than [`MAX_SEED_NODES`].
    NormalForm,
    /// Parts of one mapping are side by side and count on: they make up one of any form (book 03).
    Parts,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { name, text, backwards } => {
                let direction = if *backwards { ", from right to left" } else { "" };
                write!(f, "{name}{direction}: {text}")
            }
            Self::NormalForm => f.write_str("normal form: both have the same digits"),
            Self::Parts => f.write_str("parts that count on side by side make up one"),
        }
    }
}

impl fmt::Display for Explanation {
    /// One step a line, the reasons in one column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}", self.from)?;
        let texts: Vec<String> = self.steps.iter().map(|step| step.expr.to_string()).collect();
        let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        for (step, text) in self.steps.iter().zip(texts) {
            write!(f, "\n= {text:width$}  by {}", step.reason)?;
        }
        Ok(())
    }
}

/// Explains why `to`, the canonical form, is equal to `from`.
///
/// # Errors
/// A mapping that breaks a size rule; a rule that turns out not to be sound.
pub fn explain(from: &Expr, to: &Expr, axes: &Axes, rules: &RuleSet) -> Result<Explanation, CanonicalError> {
    from.size(axes)?;
    to.size(axes)?;
    let (written, to) = (from.expanded(axes)?, to.expanded(axes)?);
    let (from, views) = joined(from, axes)?;
    let mut explanation = Explanation { from: written.clone(), steps: Vec::new() };
    if views.is_some() || to.nodes() > MAX_SEED_NODES {
        let steps = (written != to).then_some(Step { expr: to, reason: Reason::NormalForm });
        explanation.steps.extend(steps);
        return Ok(explanation);
    }
    if written != from {
        explanation.steps.push(Step { expr: from.clone(), reason: Reason::Parts });
    }
    if from == to {
        return Ok(explanation);
    }
    if from.nodes() > MAX_SEED_NODES {
        explanation.steps.push(Step { expr: to, reason: Reason::NormalForm });
        return Ok(explanation);
    }
    let graph = Graph::new(Semantics::new(Arc::new(axes.clone()))).with_explanations_enabled();
    let (mut graph, roots, _) = saturate(graph, &[lower(&from), lower(&to)], rules)?;
    let connected = graph.find(roots[0]) == graph.find(roots[1]);
    let near = if connected { to.clone() } else { best(&graph, roots[0]).unwrap_or_else(|| from.clone()) };
    if near != from {
        let mut proof = graph.explain_equivalence(&lower(&from), &lower(&near));
        explanation.steps.extend(steps(&from, proof.make_flat_explanation(), rules));
    }
    if !connected {
        explanation.steps.push(Step { expr: to, reason: Reason::NormalForm });
    }
    Ok(explanation)
}

/// The steps that change the text: flattening a group, for one, may only change the term.
fn steps(from: &Expr, proof: &[FlatTerm<Node>], rules: &RuleSet) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut before = from.to_string();
    for term in proof {
        let (Some((name, backwards)), Some(Piece::Mapping(expr))) = (rule_of(term), piece(term)) else {
            continue;
        };
        let text = expr.to_string();
        if text == before {
            continue;
        }
        let name = name.as_str();
        let forward = name.trim_end_matches(REVERSED);
        let text_of = rules.rule(forward).map(|rule| rule.text.clone()).unwrap_or_default();
        let backwards = backwards != (forward != name);
        let reason = Reason::Rule { name: forward.to_owned(), text: text_of, backwards };
        steps.push(Step { expr: (*expr).clone(), reason });
        before = text;
    }
    steps
}

/// The rule that makes a term from the one before, and whether it is used backwards.
fn rule_of(term: &FlatTerm<Node>) -> Option<(Symbol, bool)> {
    let own = term.forward_rule.map(|rule| (rule, false)).or(term.backward_rule.map(|rule| (rule, true)));
    own.or_else(|| term.children.iter().find_map(rule_of))
}

/// The piece that a term of a proof stands for.
fn piece(term: &FlatTerm<Node>) -> Option<Piece> {
    let children = term.children.iter().map(piece).collect::<Option<Vec<_>>>()?;
    let ids = (0..children.len()).map(egg::Id::from).collect::<Vec<_>>();
    assemble(&Node::new(term.node.head.clone(), ids), |id| &children[usize::from(id)])
}
