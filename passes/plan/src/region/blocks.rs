//! Blocks of a region whose values in HBM end with different axes, as a transposition's: a slice has a block of both
//! axes, so that loads and stores both move runs of several elements.

use crate::array::Array;
use crate::cut::Group;
use crate::region::{Computation, Region};
use std::sync::Arc;
use visa_algebra::Axes;
use visa_memory::HBM_UNIT;

/// Bytes of the runs of a block, from less than a unit of HBM to more (book 11).
const RUNS: [u64; 4] = [HBM_UNIT / 4, HBM_UNIT / 2, HBM_UNIT, 2 * HBM_UNIT];

/// The axes whose neighbouring positions stay in one slice, with the positions of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks(Vec<(Arc<str>, u64)>);

impl Blocks {
    /// Positions of a block along an axis; `None` if it has no blocks.
    #[must_use]
    pub fn of(&self, axis: &str) -> Option<u64> {
        self.0.iter().find(|(own, _)| **own == *axis).map(|(_, block)| *block)
    }
}

impl Region {
    /// The two axes that are innermost in values in HBM, if slices may divide both.
    #[must_use]
    pub fn turned_axes(&self, axes: &Axes) -> Option<[Arc<str>; 2]> {
        let counts = |own: &Computation| matches!(own, Computation::Coordinates { .. });
        if self.operations.iter().any(|operation| counts(&operation.computation)) {
            return None;
        }
        let size = |axis: &Arc<str>| axes.id(axis).map_or(1, |id| axes.size(id));
        let last = |array: &Array| array.axes.iter().rev().find(|axis| size(axis) > 1).cloned();
        let stored = self.inputs.iter().chain(&self.outputs).map(|&slot| &self.values[slot].array);
        let stored: Vec<&Array> = stored.collect();
        let divided = |axis: &Arc<str>| self.rows.contains(axis);
        for array in &stored {
            let Some(first) = last(array).filter(divided) else { continue };
            let others = stored.iter().filter(|other| other.position(&first).is_some());
            let mut others = others.filter_map(|other| last(other)).filter(divided);
            if let Some(second) = others.find(|other| *other != first && array.position(other).is_some()) {
                return Some([first, second]);
            }
        }
        None
    }

    /// The blocks of a number of positions of each of the turned axes.
    #[must_use]
    pub fn blocks(&self, sizes: Option<[u64; 2]>, axes: &Axes) -> Blocks {
        let Some(sizes) = sizes else { return Blocks::default() };
        let turned = self.turned_axes(axes);
        Blocks(turned.into_iter().flat_map(|turned| turned.into_iter().zip(sizes)).collect())
    }

    /// Some of the rows in blocks, the first and the number of them, as one dimension.
    #[must_use]
    pub fn divided(&self, (first, count): (usize, usize), blocks: &Blocks, axes: &Axes) -> Group {
        Group::in_blocks(&self.rows[first..first + count], |axis| blocks.of(axis), axes)
    }

    /// The numbers of positions of blocks, with runs of about as many bytes as a unit of HBM: divisors of both axes,
    /// and parts or multiples of a unit, where the last block of a row may end with padding.
    #[must_use]
    pub fn block_sizes(&self, axes: &Axes) -> Vec<[u64; 2]> {
        let stored = self.inputs.iter().chain(&self.outputs);
        let widest = stored.map(|&slot| self.values[slot].array.dtype.bits()).max();
        let (Some([first, second]), Some(bits)) = (self.turned_axes(axes), widest.map(u64::from)) else {
            return Vec::new();
        };
        let sizes = |axis: &Arc<str>| {
            let size = axes.id(axis).map_or(1, |id| axes.size(id));
            let runs = RUNS.iter().map(|run| (run * 8 / bits).max(1));
            let mut all: Vec<u64> = runs.flat_map(|run| [divisor(size, run), run.min(size)]).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let seconds = sizes(&second);
        sizes(&first).into_iter().flat_map(|one| seconds.iter().map(move |&other| [one, other])).collect()
    }
}

/// The least divisor of `size` from `run` to less than twice as many; `size` itself, its greatest one, if there is
/// none.
fn divisor(size: u64, run: u64) -> u64 {
    (run..2 * run).find(|count| size.is_multiple_of(*count)).unwrap_or(size)
}
