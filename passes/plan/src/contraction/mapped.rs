//! The plans whose steps are mappings: parts of several axes and of tiles with padding carry into each other, unless
//! they are side by side (book 03).

use crate::contraction::emit::Planned;
use crate::contraction::layout::{Layout, is_ragged};
use crate::cut::{Cut, side_by_side};
use std::sync::Arc;
use visa_algebra::{Expr, digits};

impl Planned<'_> {
    /// Returns true if the steps of the sums, and the slices that have them, are mappings. All are where tiles have no
    /// padding. A [`Layout`] exists only if the steps of the stream are.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        let Layout { rows, stream, .. } = self.layout;
        if [rows, stream].into_iter().any(|cut| self.tiles_slide(cut)) {
            return false;
        }
        if ![rows, stream].into_iter().any(is_ragged) {
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

    /// Returns true if a loop divides windows of an operand, which have no tiles.
    fn tiles_slide(&self, cut: &Cut) -> bool {
        let tiled = cut.first_tile().filter(|_| cut.tiles() > 1);
        let slides = |(axis, _): (Arc<str>, u64)| {
            self.problem.operands.iter().any(|array| array.slides_along(&axis, self.axes))
        };
        tiled.is_some_and(slides)
    }
}
