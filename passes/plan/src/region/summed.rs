//! Reduced axes that slices divide: each slice reduces its part, and a reduction between slices follows (book 25).

use crate::cut::{Cut, Group, Part};
use crate::order::ReduceOrder;
use crate::region::{Computation, DividedSum, Operation, Region, Slot};
use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind};
use visa_numerics::{ReduceName, reduce_op};

/// The contents of the slices of a group that divides a reduced axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupContents {
    /// Each slice has a part of the axis.
    Parts,
    /// Each slice has the same elements.
    Copies,
    /// The first slice has the elements.
    First,
}

impl Region {
    /// The reduced axes that slices may divide: all reductions along them are in any order, and the engine between
    /// slices has them.
    #[must_use]
    pub fn divided_sums(&self) -> Vec<Arc<str>> {
        let mut axes: Vec<Arc<str>> = Vec::new();
        for operation in &self.operations {
            if let Computation::Reduce { axis, .. } = &operation.computation
                && !axes.contains(axis)
                && self.is_divisible(axis)
            {
                axes.push(Arc::clone(axis));
            }
        }
        axes
    }

    fn is_divisible(&self, along: &str) -> bool {
        self.operations.iter().all(|operation| match &operation.computation {
            Computation::Reduce { op, operand, axis, order } => {
                **axis != *along
                    || *order == ReduceOrder::Free && self.reduces_slices(*op, *operand, operation.result)
            }
            // One slice counts them.
            Computation::Coordinates { .. } => self.values[operation.result].array.position(along).is_none(),
            Computation::Map { .. } | Computation::Compare { .. } | Computation::Choose { .. } => true,
        })
    }

    /// Returns true if the engine between slices has a reduction, after which it changes no format.
    fn reduces_slices(&self, op: ReduceName, operand: Slot, result: Slot) -> bool {
        let read = self.values[operand].read;
        read == self.values[result].array.dtype && reduce_op(op, read).is_some()
    }

    /// Returns true if an operation reads a value, or the value in whose memory it is.
    fn is_read(&self, slot: Slot) -> bool {
        let storage = self.values[slot].storage;
        let reads = |operation: &Operation| {
            operation.computation.reads().iter().any(|&read| self.values[read].storage == storage)
        };
        self.operations.iter().any(reads)
    }

    /// Returns true if a value is the result of a reduction along `axis` that no operation reads.
    #[must_use]
    pub fn is_last_sum(&self, slot: Slot, along: &str) -> bool {
        let reduces = |operation: &Operation| match &operation.computation {
            Computation::Reduce { axis, .. } => operation.result == slot && **axis == *along,
            Computation::Map { .. }
            | Computation::Coordinates { .. }
            | Computation::Compare { .. }
            | Computation::Choose { .. } => false,
        };
        self.operations.iter().any(reduces) && !self.is_read(slot)
    }

    /// The cut of the axis of a division, of which neighbouring positions are in neighbouring slices or in the same
    /// one. Some slices have padding if the division is uneven; `None` if one of them would have nothing else: the
    /// engine between slices would reduce it.
    #[must_use]
    pub fn sum_cut(&self, sum: DividedSum, axes: &Axes) -> Option<Cut> {
        let axis = self.divided_sums().into_iter().nth(sum.axis)?;
        let group = Arc::new(Group::new(&[axis], axes));
        let count = group.size.div_ceil(sum.slices).next_multiple_of(sum.multiple);
        let used = if sum.neighbours { group.size.min(sum.slices) } else { group.size.div_ceil(count) };
        if used < sum.slices {
            return None;
        }
        let (slice, rest) = ((Part::Slice, sum.slices), (Part::Time, count));
        Some(Cut::new(&group, 1, &if sum.neighbours { [rest, slice] } else { [slice, rest] }))
    }
}

/// The mapping of the slices of a group.
#[must_use]
pub fn group_slices(cut: &Cut, contents: GroupContents) -> Expr {
    let count = cut.count(Part::Slice);
    match contents {
        GroupContents::Parts => cut.part(Part::Slice),
        GroupContents::Copies => Expr::Literal(count),
        GroupContents::First => Expr::Literal(1).pad(count, PadKind::Top),
    }
}
