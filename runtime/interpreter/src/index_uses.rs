//! Indices that transfers read, and their possible values.

use std::collections::{BTreeMap, BTreeSet};

/// A value that a transfer read as an index. The valid values are 0, `step`, 2 `step` and so on, `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexUse {
    /// The value read.
    pub value: i32,
    /// The difference between the indices of neighbouring rows.
    pub step: u64,
    /// The rows of the table.
    pub count: u64,
    /// In a scatter, the number of the indices that must choose different rows; `None` in a gather.
    pub group: Option<u64>,
}

impl IndexUse {
    /// Returns true if the value chooses a row.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        u64::try_from(self.value)
            .is_ok_and(|value| value.is_multiple_of(self.step) && value / self.step < self.count)
    }
}

/// All that a run read as indices.
#[derive(Debug, Default)]
pub(crate) struct IndexLog {
    pub(crate) uses: BTreeSet<IndexUse>,
    groups: u64,
}

impl IndexLog {
    /// The groups of a scatter's indices, by the address at which each would write row 0.
    pub(crate) fn groups(&mut self, starts: impl Iterator<Item = u64>) -> BTreeMap<u64, u64> {
        let mut groups = BTreeMap::new();
        for start in starts {
            groups.entry(start).or_insert_with(|| {
                self.groups += 1;
                self.groups
            });
        }
        groups
    }
}
