//! Accesses of the fetches of a region's pipelines. Data memory has the elements of a packet next to each other, or
//! each of them takes an access (book 8).

use crate::array::Array;
use crate::region::layout::{LANES, Local};
use crate::region::planned::PlannedRegion;
use crate::region::{Computation, Slot};
use std::sync::Arc;

/// The packets of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchedPackets {
    /// Their number.
    pub packets: u64,
    /// Accesses of data memory.
    pub accesses: u64,
}

impl FetchedPackets {
    /// Packets of `width` elements, each of which takes one access if its elements are neighbours.
    fn new(packets: u64, width: u64, are_neighbours: bool) -> Self {
        Self { packets, accesses: packets * if are_neighbours { 1 } else { width } }
    }
}

impl PlannedRegion<'_> {
    /// The operand and the axis of the reduction that writes a value with each element in a group of 8 bytes: a flit
    /// has one element if the lanes hold the reduced axis. `None` for other values.
    #[must_use]
    pub fn grouped(&self, slot: Slot) -> Option<(Slot, &Arc<str>)> {
        let writer = self.region.operations.iter().find(|own| own.result == slot)?;
        let Computation::Reduce { operand, axis, order, .. } = &writer.computation else { return None };
        let lanes = self.lanes(*operand, axis, *order)?;
        lanes.are_reduced().then_some((*operand, axis))
    }

    /// Returns true if each element of a value in data memory is in a group of 8 bytes.
    #[must_use]
    pub fn is_grouped(&self, slot: Slot) -> bool {
        self.grouped(self.region.values[slot].storage).is_some()
    }

    /// The packets of a pipeline over all elements of `result` that reads a value, of `width` elements each.
    #[must_use]
    pub fn streamed_packets(&self, slot: Slot, result: &Array, width: u64) -> FetchedPackets {
        let packets = self.layout.elements(result) / width;
        let last = self.layout.local(result).pop();
        FetchedPackets::new(packets, width, last.is_none_or(|last| self.has_neighbours(slot, &last)))
    }

    /// The packets in which the register file gets an operand of a pipeline over all elements of `result`.
    #[must_use]
    pub fn operand_packets(&self, slot: Slot, result: &Array) -> FetchedPackets {
        let array = &self.region.values[slot].array;
        let local = self.layout.local(array);
        let size = |all: &[Local]| all.iter().map(|own| own.size).product::<u64>();
        match Self::packed_dimension(array, &local, self.layout.local(result).pop().as_ref()) {
            Some(at) => {
                let outer = size(&local) / local[at].size;
                let packets = outer * local[at].size.div_ceil(LANES);
                FetchedPackets::new(packets, LANES, self.has_neighbours(slot, &local[at]))
            }
            None => {
                let whole = size(&local);
                FetchedPackets::new(whole.div_ceil(LANES), LANES, whole == 1 || !self.is_grouped(slot))
            }
        }
    }

    /// Returns true if data memory has the elements of a value along a dimension next to each other.
    fn has_neighbours(&self, slot: Slot, along: &Local) -> bool {
        let array = &self.region.values[self.region.values[slot].storage].array;
        !self.is_grouped(slot) && self.layout.local(array).last() == Some(along)
    }
}
