//! Equality of two functions by the rules.

use crate::tensor::canonical::{MAX_OPERATIONS, saturate};
use crate::tensor::explain::{rules, steps_between};
use crate::tensor::facts::{Facts, Graph};
use crate::tensor::read::read;
use crate::tensor::ruleset::RuleSet;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_mapping::raise::function::Raised;

/// The proof that two functions are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proved {
    /// Classes of equal terms.
    pub(crate) classes: usize,
    /// The rules that the proof uses, in order of name.
    pub(crate) rules: Vec<String>,
}

/// Proves that two functions have the same results; `None` if the rules do not find it. Axes are those of both
/// functions; `whole` is true if their arguments hold each coordinate.
///
/// # Errors
/// A function that is not at the tensor level.
pub(crate) fn equal(
    ctx: &Context,
    functions: [&Raised; 2],
    (axes, whole): (&Axes, bool),
    set: &RuleSet,
) -> Result<Option<Proved>, Diagnostic> {
    if functions.iter().any(|raised| raised.module.walk_all().len() > MAX_OPERATIONS) {
        return Ok(None);
    }
    let axes = Arc::new(axes.clone());
    let graph = || {
        let facts = Facts::new(ctx, Arc::clone(&axes));
        Graph::new(if whole { facts } else { facts.with_partial_arguments() })
    };
    let read_all = |graph: &mut Graph<'_>| {
        let [left, right] = functions.map(|raised| read(graph, &raised.module, raised.func));
        Ok::<_, Diagnostic>((left?, right?))
    };
    let mut plain = graph();
    let (left, right) = read_all(&mut plain)?;
    let (plain, statistics) = saturate(plain, set)?;
    if left.len() != right.len() || left.iter().zip(&right).any(|(&l, &r)| plain.find(l) != plain.find(r)) {
        return Ok(None);
    }
    // A graph with explanations is slower.
    let mut explained = graph().with_explanations_enabled();
    let (left, right) = read_all(&mut explained)?;
    let (mut explained, _) = saturate(explained, set)?;
    let mut steps = Vec::new();
    for (left, right) in left.into_iter().zip(right) {
        if explained.find(left) != explained.find(right) {
            return Ok(None);
        }
        steps.extend(steps_between(&mut explained, left, right));
    }
    Ok(Some(Proved { classes: statistics.e_classes, rules: rules(&steps) }))
}
