//! A program that has run.

use crate::check::CheckReport;
use std::collections::BTreeMap;

/// The bytes of arguments or results, by their names.
pub(crate) type Tensors = BTreeMap<String, Vec<u8>>;

/// A program that has run.
pub(crate) struct Ran {
    /// The data of its arguments.
    pub(crate) tensors: Tensors,
    /// The bytes of its results.
    pub(crate) results: Tensors,
    /// The file of each result that is written to one.
    pub(crate) outputs: BTreeMap<String, String>,
    /// With `--check`, how the results compare with the logical evaluator's.
    pub(crate) check: Option<CheckReport>,
    /// With `--shadow`, whether all results are defined.
    pub(crate) defined: Option<bool>,
    /// True if every `--expect` held.
    pub(crate) expected: bool,
}

impl Ran {
    /// Returns true if every check of the run passed.
    pub(crate) fn held(&self) -> bool {
        let checked = self.check.as_ref().is_none_or(|check| check.mismatches == 0);
        checked && self.expected && self.defined.unwrap_or(true)
    }
}
