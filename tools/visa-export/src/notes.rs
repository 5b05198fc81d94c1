//! Clauses that the language lacks: their comments, and one note for all.

use std::collections::BTreeMap;
use visa_ir::diag::counted;

/// Clauses that the export leaves out, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes(BTreeMap<&'static str, u64>);

impl Notes {
    /// Counts a clause of this kind.
    pub(crate) fn count(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }

    /// Adds the counts of others.
    pub(crate) fn add(&mut self, other: &Self) {
        for (kind, count) in &other.0 {
            *self.0.entry(kind).or_default() += count;
        }
    }

    /// The note; `None` if nothing is left out.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let all: Vec<String> = self.0.iter().map(|(kind, count)| counted(*count, kind)).collect();
        Some(format!(
            "the language has no form for {}: each is a comment at its operation, and the vendor's compiler chooses",
            all.join(", ")
        ))
    }
}
