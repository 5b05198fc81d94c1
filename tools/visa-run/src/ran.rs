//! A kernel that has run.

use crate::check::CheckReport;
use std::collections::BTreeMap;

/// The bytes of arguments or results, by their names.
pub(crate) type Tensors = BTreeMap<String, Vec<u8>>;

/// The defined elements of each result that also has undefined ones, in C order, by its name.
pub(crate) type Masks = BTreeMap<String, Vec<bool>>;

/// A kernel that has run, or was evaluated.
pub(crate) struct Ran {
    /// The data of its arguments.
    pub(crate) tensors: Tensors,
    /// The bytes of its results.
    pub(crate) results: Tensors,
    /// The masks of results that were evaluated; empty if the machine ran.
    pub(crate) masks: Masks,
    /// The file of each result that is written to one.
    pub(crate) outputs: BTreeMap<String, String>,
    /// With `--check`, how the results compare with the logical evaluator's.
    pub(crate) check: Option<CheckReport>,
    /// With `--check` of a planned function, how the results compare with the function's.
    pub(crate) plan: Option<CheckReport>,
    /// With `--shadow`, whether all results are defined.
    pub(crate) defined: Option<bool>,
    /// True if every `--expect` held.
    pub(crate) expected: bool,
}

/// Number of undefined elements.
pub(crate) fn undefined(defined: &[bool]) -> usize {
    defined.iter().filter(|&&defined| !defined).count()
}

impl Ran {
    /// Number of undefined elements of a result that was evaluated; 0 if the machine ran.
    pub(crate) fn undefined(&self, result: &str) -> usize {
        self.masks.get(result).map_or(0, |defined| undefined(defined))
    }

    /// Returns true if every check of the run passed.
    pub(crate) fn held(&self) -> bool {
        let checked = self.check.iter().chain(&self.plan).all(|check| check.mismatches == 0);
        checked && self.expected && self.defined.unwrap_or(true)
    }
}
