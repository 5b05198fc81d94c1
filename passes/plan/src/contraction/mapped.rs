//! The plans whose tiles are mappings: parts of a tile with padding carry into each other, unless they are side by
//! side (book 03).

use crate::contraction::emit::Planned;
use crate::contraction::layout::is_ragged;
use crate::cut::side_by_side;
use visa_algebra::{Expr, digits};

impl Planned<'_> {
    /// Returns true if the steps of the sums, and the slices that have them, are mappings. All are where tiles have no
    /// padding. A [`Layout`](crate::contraction::layout::Layout) exists only if the steps of the stream are.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        if ![&self.layout.rows, &self.layout.stream].into_iter().any(is_ragged) {
            return true;
        }
        let is_map = |terms: Vec<Expr>| digits(&side_by_side(terms), self.axes).is_ok();
        let (steps, packet, _) = self.sum_steps();
        let promoted = self.promoted();
        let added = steps.iter().filter(|step| **step != promoted).chain([&packet]).cloned().collect();
        let summed = steps.iter().chain([&packet]).cloned().collect();
        let slices = vec![self.layout.computing_slices(self.choice, self.machine)];
        [summed, added, slices].into_iter().all(is_map)
    }
}
