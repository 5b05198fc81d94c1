//! The layout of the values of a region in a slice.

use crate::array::{Array, whole_groups};
use crate::contraction::layout::{SUMS, in_memory};
use crate::cut::{Cut, Part, side_by_side};
use crate::region::blocks::Blocks;
use crate::region::summed::{GroupContents, group_slices};
use crate::region::{Region, RegionChoice};
use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind};
use visa_machine::Machine;

/// Lanes of the vector engine (book 21).
pub const LANES: u64 = SUMS;

/// The parts of a region's axes that a slice holds.
pub struct RegionLayout<'a> {
    /// The rows.
    pub rows: Cut,
    /// The axes of which slices divide blocks.
    pub blocks: Blocks,
    /// The reduced axis that slices divide.
    pub sum: Option<Cut>,
    /// True if the unused slices are between the used ones.
    pub spread: bool,
    /// The axes.
    pub axes: &'a Axes,
}

/// A dimension of a value in a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its mapping.
    pub map: Expr,
    /// Number of positions.
    pub size: u64,
    /// The first position, if it is a piece of the mapping.
    pub piece: Option<u64>,
}

impl Local {
    /// A dimension of `size` positions.
    #[must_use]
    pub fn new(map: Expr, size: u64) -> Self {
        Self { map, size, piece: None }
    }

    /// The mapping of the piece, or the whole mapping.
    #[must_use]
    pub fn mapping(&self) -> Expr {
        match self.piece {
            None => self.map.clone(),
            Some(0) => self.map.clone().resize(self.size),
            Some(first) => self.map.clone().slice(first).resize(self.size),
        }
    }

    /// The dimension as packets of `lanes` elements, the last one padded.
    #[must_use]
    pub fn packets(&self, lanes: u64) -> [Expr; 2] {
        if let Some(first) = self.piece {
            // Parts of a piece count from its first position: the packets alone do.
            let packets = self.map.clone().stride(lanes);
            let packets = if first == 0 { packets } else { packets.slice(first / lanes) };
            return [packets.resize(self.size / lanes), self.map.clone().modulo(lanes)];
        }
        let map = self.whole(lanes);
        if self.size <= lanes {
            [Expr::Literal(1), map]
        } else {
            [map.clone().stride(lanes), map.modulo(lanes)]
        }
    }

    /// The dimension as halves of packets, the last packet padded.
    #[must_use]
    pub fn halves(&self) -> [Expr; 2] {
        if self.size <= LANES / 2 {
            return self.packets(LANES / 2);
        }
        Self { size: self.size.next_multiple_of(LANES), map: self.whole(LANES), piece: None }
            .packets(LANES / 2)
    }

    /// The dimension with padding to whole packets of `lanes` elements.
    fn whole(&self, lanes: u64) -> Expr {
        let whole = self.size.next_multiple_of(lanes);
        if whole == self.size { self.map.clone() } else { self.map.clone().pad(whole, PadKind::Top) }
    }
}

impl<'a> RegionLayout<'a> {
    /// The layout of a choice; `None` if loops do not divide the rows.
    #[must_use]
    pub fn new(region: &Region, choice: &RegionChoice, axes: &'a Axes) -> Option<Self> {
        let blocks = region.blocks(choice.blocks, axes);
        let group = &Arc::new(region.divided(choice.rows, &blocks, axes));
        if !group.slowest.is_multiple_of(choice.tiles) || choice.tiles > 1 && !group.padded.is_empty() {
            return None;
        }
        if choice.tiles > 1 && group.axes.first().is_some_and(|axis| region.slides_along(axis, axes)) {
            return None;
        }
        let (tile, divided) = (group.size / choice.tiles, choice.clusters * choice.slices);
        if divided > tile.next_power_of_two() {
            return None;
        }
        let sum = match choice.sum {
            Some(sum) => Some(region.sum_cut(sum, axes)?),
            None => None,
        };
        let rest = tile.div_ceil(divided).next_multiple_of(choice.multiple);
        let (cluster, slice) = ((Part::Cluster, choice.clusters), (Part::Slice, choice.slices));
        let parts = if choice.neighbours {
            [cluster, (Part::Time, rest), slice]
        } else {
            [cluster, slice, (Part::Time, rest)]
        };
        let rows = Cut::new(group, choice.tiles, &parts);
        let layout = Self { rows, blocks, sum, spread: choice.spread, axes };
        region.values.iter().all(|value| !layout.splits_rows(&value.array)).then_some(layout)
    }

    /// Returns true if a slice holds several rows of an array, with padding to whole groups of 8 bytes after each:
    /// packets of their elements would begin within groups.
    fn splits_rows(&self, array: &Array) -> bool {
        self.last(array).is_some_and(|(last, size)| {
            let odd = whole_groups(size, array.dtype) != size;
            odd && self.is_row(last) && self.rows.count(Part::Time) > size
        })
    }

    /// The last axis of an array that has more than one position, and their number.
    fn last<'b>(&self, array: &'b Array) -> Option<(&'b str, u64)> {
        let sized = |axis: &'b Arc<str>| (&**axis, self.axes.id(axis).map_or(1, |id| self.axes.size(id)));
        array.axes.iter().rev().map(sized).find(|(_, size)| *size > 1)
    }

    /// The mapping of the clusters.
    #[must_use]
    pub fn cluster(&self, machine: &Machine) -> Expr {
        let (part, all) = (self.rows.part(Part::Cluster), machine.topology.clusters_per_chip);
        if self.rows.count(Part::Cluster) == all { part } else { part.pad(all, PadKind::Top) }
    }

    /// The mapping of the slices, of which groups hold the same rows.
    #[must_use]
    pub fn slice(&self, contents: GroupContents, machine: &Machine) -> Expr {
        let (rows, all) = (self.rows.part(Part::Slice), machine.topology.slices_per_cluster);
        let (part, used) = match &self.sum {
            None => (rows, 1),
            Some(cut) => (side_by_side([rows, group_slices(cut, contents)]), cut.count(Part::Slice)),
        };
        let used = self.rows.count(Part::Slice) * used;
        if used == all {
            part
        } else if self.spread {
            side_by_side([part, Expr::Literal(1).pad(all / used, PadKind::Top)])
        } else {
            part.pad(all, PadKind::Top)
        }
    }

    /// The contents of the slices of a group: parts of an array, or copies.
    #[must_use]
    pub fn contents(&self, array: &Array) -> GroupContents {
        if array.axes.iter().any(|axis| self.is_summed(axis)) {
            GroupContents::Parts
        } else {
            GroupContents::Copies
        }
    }

    /// Returns true if slices divide a reduced axis.
    #[must_use]
    pub fn is_summed(&self, axis: &str) -> bool {
        self.sum.iter().flat_map(|cut| cut.group().axes.iter()).any(|own| **own == *axis)
    }

    /// Returns true if a dimension is the part of a reduced axis of which some slices have padding.
    #[must_use]
    pub fn is_uneven(&self, local: &Local) -> bool {
        let cut = self.sum.as_ref().filter(|cut| cut.padded() != cut.size());
        cut.is_some_and(|cut| cut.part(Part::Time) == local.map)
    }

    /// The part of a reduced axis that a slice holds.
    #[must_use]
    pub fn held(&self, axis: &str) -> Local {
        match self.sum.as_ref().filter(|_| self.is_summed(axis)) {
            Some(cut) => Local::new(cut.part(Part::Time), cut.count(Part::Time)),
            None => {
                let size = self.axes.id(axis).map_or(1, |id| self.axes.size(id));
                Local::new(Expr::axis(axis), size)
            }
        }
    }

    /// Returns true if an axis is one of the rows.
    #[must_use]
    pub fn is_row(&self, axis: &str) -> bool {
        self.rows.group().axes.iter().any(|row| **row == *axis)
    }

    /// The dimensions of a value in a slice, slowest first: the order of its axes. All its rows are one dimension,
    /// around a block of the last one.
    #[must_use]
    pub fn local(&self, array: &Array) -> Vec<Local> {
        let last_row = array.axes.iter().rposition(|axis| self.is_row(axis));
        let mut all = Vec::new();
        for (at, axis) in array.axes.iter().enumerate() {
            if last_row == Some(at) {
                all.push(Local::new(self.rows.part(Part::Time), self.rows.count(Part::Time)));
            }
            if let Some(block) = self.blocks.of(axis) {
                all.push(Local::new(self.rows.group().in_whole_blocks(axis).modulo(block), block));
            } else if !self.is_row(axis) {
                all.push(self.held(axis));
            }
        }
        all.retain(|local| local.size > 1);
        all
    }

    /// The layout of an input in data memory.
    #[must_use]
    pub fn loaded(&self, array: &Array) -> Expr {
        in_memory(self.local(array).into_iter().map(|local| local.map), array.dtype, self.axes)
    }

    /// The layout of a computed value: whole packets of lanes, or a part of one, and the padding of its rows.
    #[must_use]
    pub fn computed(&self, array: &Array) -> Expr {
        let mut local = self.local(array);
        let Some(last) = local.pop() else {
            return Expr::Literal(1).pad(whole_groups(1, array.dtype), PadKind::Top);
        };
        let whole = if last.size > LANES {
            last.size.next_multiple_of(LANES)
        } else {
            whole_groups(last.size, array.dtype)
        };
        let several = self.last(array).is_some_and(|(_, size)| last.size > size);
        let last = if whole == last.size { last.map } else { last.map.pad(whole, PadKind::Top) };
        let element = side_by_side(local.into_iter().map(|local| local.map).chain([last]));
        // Packets of several rows leave no padding between them.
        if several { element } else { array.with_padding(element, self.axes) }
    }

    /// Elements of a value in a slice, with padding.
    #[must_use]
    pub fn elements(&self, array: &Array) -> u64 {
        let local = self.local(array);
        let outer: u64 = local.iter().rev().skip(1).map(|local| local.size).product();
        outer * local.last().map_or(LANES, |last| last.size.next_multiple_of(LANES))
    }
}
