//! A region with a plan: its layout, for those that count its cycles and that write it.

use crate::array::Array;
use crate::cut::{side_by_side, tidy};
use crate::region::layout::RegionLayout;
use crate::region::summed::GroupContents;
use crate::region::{Region, RegionChoice, Slot};
use visa_algebra::{Axes, Expr};
use visa_machine::Machine;

/// A region and its plan.
pub struct PlannedRegion<'a> {
    /// The region.
    pub region: &'a Region,
    /// The layout of its values.
    pub layout: RegionLayout<'a>,
    /// The machine.
    pub machine: &'a Machine,
    /// True if lanes hold elements that stay apart in reductions, where both are possible.
    pub apart: bool,
    /// True if the engines of two clusters divide the transfers.
    pub queues: bool,
}

impl<'a> PlannedRegion<'a> {
    /// A region with a plan; `None` if the plan does not divide it.
    #[must_use]
    pub fn new(
        region: &'a Region,
        choice: &RegionChoice,
        axes: &'a Axes,
        machine: &'a Machine,
    ) -> Option<Self> {
        Some(Self {
            region,
            layout: RegionLayout::new(region, choice, axes)?,
            machine,
            apart: choice.apart,
            queues: choice.queues,
        })
    }

    /// The cluster whose DMA engines load an input; `None` for those of all clusters.
    #[must_use]
    pub fn load_queue(&self, slot: Slot) -> Option<u64> {
        self.divided_queue(&self.region.inputs, slot)
    }

    /// The cluster whose DMA engines store an output; `None` for those of all clusters.
    #[must_use]
    pub fn store_queue(&self, slot: Slot) -> Option<u64> {
        self.divided_queue(&self.region.outputs, slot)
    }

    /// The queue of one of several transfers that two clusters divide; `None` for a single one.
    fn divided_queue(&self, all: &[Slot], slot: Slot) -> Option<u64> {
        let number = all.iter().position(|own| *own == slot).filter(|_| self.queues && all.len() > 1)?;
        Some(number as u64 % 2)
    }

    /// The mapping of the slices of a value in data memory.
    #[must_use]
    pub fn slices(&self, slot: Slot) -> Expr {
        let (region, layout) = (self.region, &self.layout);
        let summed = layout.sum.iter().flat_map(|cut| cut.group().axes.iter());
        let last = summed.into_iter().any(|axis| region.is_last_sum(slot, axis));
        let contents = if last { GroupContents::First } else { layout.contents(self.array(slot)) };
        self.tidy(layout.slice(contents, self.machine))
    }

    /// The array of a value.
    #[must_use]
    pub fn array(&self, slot: Slot) -> &Array {
        &self.region.values[slot].array
    }

    /// The shortest text of a mapping.
    #[must_use]
    pub fn tidy(&self, map: Expr) -> Expr {
        tidy(&map, self.layout.axes)
    }

    /// Mappings as one dimension.
    #[must_use]
    pub fn dimension(&self, terms: impl IntoIterator<Item = Expr>) -> Expr {
        self.tidy(side_by_side(terms))
    }
}
