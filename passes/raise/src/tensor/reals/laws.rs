//! The rules that hold in real arithmetic alone, as steps of reading a value.

use crate::tensor::facts::Graph;
use crate::tensor::rewrite::{Build, left};
use crate::tensor::rule::Rule;
use crate::tensor::term::Term;
use egg::{Id, Pattern, Searcher as _};

/// A factor that is the same for all elements may stand before their sum.
pub(crate) const SCALED_SUM: &str = "scaled-sum";

/// A factor may stand before the rounding of a product.
pub(crate) const SCALED_ROUNDING: &str = "scaled-rounding";

/// An exponential function of a sum is a product.
pub(crate) const EXPONENTIAL: &str = "exp-of-sum";

/// A choice between a value and 0 is a product with 1 or 0.
pub(crate) const CHOICE: &str = "choice-or-zero";

/// The laws whose steps are part of the normal form.
pub(crate) const OF_FORM: [&str; 4] = [SCALED_SUM, SCALED_ROUNDING, EXPONENTIAL, CHOICE];

/// Rules, from left to right.
pub(crate) struct Laws {
    all: Vec<(&'static str, Pattern<Term>, Build)>,
}

impl Laws {
    /// The laws that some rules are, without those that the normal form uses in any case.
    pub(crate) fn new<'r>(rules: impl Iterator<Item = &'r Rule>) -> Self {
        let others = rules.filter(|rule| !OF_FORM.contains(&rule.name));
        Self { all: others.map(|rule| (rule.name, left(rule), Build::new(rule))).collect() }
    }

    /// The right side of the first law whose left side a value is, and the law's name.
    pub(crate) fn step(&self, graph: &mut Graph<'_>, value: Id) -> Option<(Id, &'static str)> {
        graph.rebuild();
        for (name, left, build) in &self.all {
            let found = left.search_eclass(graph, value).map(|matches| matches.substs);
            for subst in found.unwrap_or_default() {
                if let Some(right) = build.instance(graph, value, subst) {
                    return Some((right, name));
                }
            }
        }
        None
    }
}
