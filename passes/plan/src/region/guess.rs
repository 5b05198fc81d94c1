//! All plans of a region, and their cycles from counts and the prices of transfers.

use crate::array::Array;
use crate::cut::Part;
use crate::flow::Ways;
use crate::memory::Transfers;
use crate::region::layout::LANES;
use crate::region::planned::PlannedRegion;
use crate::region::{Computation, DividedSum, Region, RegionChoice};
use std::sync::Arc;
use visa_algebra::Axes;
use visa_machine::Machine;

/// Most iterations of a loop over the rows.
const MOST_TILES: u64 = 4096;
/// Latency of a pipeline, in cycles.
const LATENCY: u64 = 30;
/// Bytes of an element of the vector engine.
const WORD: u64 = 4;

/// Every division of the rows.
#[must_use]
pub fn choices(region: &Region, axes: &Axes, machine: &Machine) -> Vec<RegionChoice> {
    let powers = |most: u64| {
        std::iter::successors(Some(1_u64), |power| power.checked_mul(2))
            .take_while(move |&power| power <= most)
    };
    let size = |axis: &Arc<str>| axes.id(axis).map_or(1, |id| axes.size(id));
    let mut all = Vec::new();
    let ranges = (0..=region.rows.len())
        .flat_map(|first| (first + 1..=region.rows.len()).map(move |end| (first, end - first)));
    let ranges: Vec<(usize, usize)> = if region.rows.is_empty() { vec![(0, 0)] } else { ranges.collect() };
    let reduces = region.operations.iter().any(|own| matches!(own.computation, Computation::Reduce { .. }));
    let mut sums = vec![None];
    for axis in 0..region.divided_sums().len() {
        let groups = powers(machine.topology.slices_per_cluster).skip(1);
        sums.extend(groups.map(|slices| Some(DividedSum { axis, slices })));
    }
    for rows in ranges {
        let slowest = region.rows.get(rows.0).map_or(1, size);
        for tiles in powers(MOST_TILES.min(slowest)).filter(|tiles| slowest.is_multiple_of(*tiles)) {
            for clusters in powers(machine.topology.clusters_per_chip) {
                for slices in powers(machine.topology.slices_per_cluster) {
                    let sums = sums.iter().filter(|sum| {
                        sum.is_none_or(|sum| slices * sum.slices <= machine.topology.slices_per_cluster)
                    });
                    for &sum in sums {
                        for neighbours in [false, true] {
                            for apart in [false, true] {
                                if (!neighbours || slices > 1 || sum.is_some()) && (!apart || reduces) {
                                    all.push(RegionChoice {
                                        rows,
                                        clusters,
                                        slices,
                                        tiles,
                                        sum,
                                        neighbours,
                                        apart,
                                        queues: false,
                                    });
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    all
}

impl PlannedRegion<'_> {
    /// Returns true if the operands of each operation fit the register file, and all values data memory.
    #[must_use]
    pub fn fits(&self) -> bool {
        let (values, memory) = (&self.region.values, &self.machine.memory);
        let words = |slot: &usize| self.layout.elements(&values[*slot].array);
        let held: u64 = (0..values.len()).map(|slot| words(&slot) * WORD).sum();
        let copies = if self.layout.rows.tiles() > 1 { 2 } else { 1 };
        if copies * held > memory.dm_bytes_per_slice {
            return false;
        }
        self.region.operations.iter().all(|operation| match &operation.computation {
            Computation::Map { operands, .. } => {
                self.pieces(operands, &values[operation.result].array).is_some()
            }
            Computation::Choose { condition, arms } => {
                let (_, others) = self.chosen(*condition, *arms);
                self.pieces_with(&others, &values[operation.result].array).is_some()
            }
            Computation::Reduce { .. } | Computation::Compare { .. } | Computation::Coordinates { .. } => {
                true
            }
        })
    }

    /// Cycles of a reduction between slices after that of each slice: a result passes once around its group.
    fn between_slices(&self, axis: &str) -> u64 {
        let cut = self.layout.sum.as_ref().filter(|_| self.layout.is_summed(axis));
        cut.map_or(0, |cut| cut.count(Part::Slice) * self.machine.timing.inter_slice_cycles)
    }

    /// Cycles of the pipeline of an operation.
    fn pipeline(&self, computation: &Computation, result: &Array) -> u64 {
        let values = &self.region.values;
        let flits = |array: &Array| self.layout.elements(array) / LANES;
        match computation {
            Computation::Map { expression: None, cast: None, .. } => {
                flits(result) * LANES / self.copied(result) + LATENCY
            }
            // Float operations take four lanes at a time.
            Computation::Map { operands, .. } => {
                let all: u64 = operands.iter().map(|&slot| flits(&values[slot].array)).sum();
                2 * flits(result) + all + LATENCY * operands.len() as u64
            }
            Computation::Reduce { operand, axis, order, .. } => {
                let within = match self.lanes(*operand, axis, *order) {
                    Some(lanes) => self.reduction_cycles(*operand, &lanes),
                    None => flits(result) + LATENCY,
                };
                within + self.between_slices(axis)
            }
            Computation::Compare { .. } => flits(result) + LATENCY,
            // Before the loop, if there is one.
            Computation::Coordinates { .. } => 0,
            // The ids of the condition, and the bits of a value twice: as integers, and into the register file.
            Computation::Choose { condition, arms } => {
                let (_, others) = self.chosen(*condition, *arms);
                let all: u64 = others.iter().map(|&slot| 2 * flits(&values[slot].array)).sum();
                flits(result) + all + LATENCY * (1 + others.len() as u64)
            }
        }
    }
}

/// Cycles that a plan takes at least, without the prices of its transfers; `None` if it does not fit.
#[must_use]
pub fn least(planned: &PlannedRegion<'_>) -> Option<u64> {
    if !planned.fits() {
        return None;
    }
    let (region, axes, timing) = (planned.region, planned.layout.axes, &planned.machine.timing);
    let result = |slot: usize| &region.values[slot].array;
    let bytes = |slot: &usize| {
        let array = result(*slot);
        let elements = array.axes.iter().filter_map(|axis| axes.id(axis)).map(|id| axes.size(id));
        elements.product::<u64>() * u64::from(array.dtype.bits()) / 8
    };
    let moved: u64 = region.inputs.iter().chain(&region.outputs).map(bytes).sum();
    let pipelines = region.operations.iter();
    let computed: u64 =
        pipelines.map(|operation| planned.pipeline(&operation.computation, result(operation.result))).sum();
    // The queues of two clusters run at the same time.
    let transfers = (region.inputs.len() + region.outputs.len()) as u64;
    let (tiles, startups) = (planned.layout.rows.tiles(), transfers * timing.dma_startup_cycles / 2);
    let transfers = (moved / timing.hbm_bytes_per_cycle.max(1)).max(tiles * startups);
    Some(if tiles == 1 { transfers + computed } else { transfers.max(tiles * computed) })
}

/// Cycles of a plan whose values go these ways; `None` if it does not fit.
#[must_use]
pub fn cycles(planned: &PlannedRegion<'_>, ways: &Ways, prices: &Transfers<'_>) -> Option<u64> {
    if !planned.fits() {
        return None;
    }
    let region = planned.region;
    let (mut loads, mut stores, mut once) = (Moved::default(), Moved::default(), 0);
    let loaded = region.inputs.iter().zip(&ways.here).filter(|(_, here)| !**here);
    for (&slot, _) in loaded {
        let queue = planned.load_queue(slot);
        if planned.layout.rows.tiles() > 1 && !planned.is_tiled(slot) {
            once += planned.load(slot, queue, prices)?;
            continue;
        }
        loads.add(queue, planned.load(slot, queue, prices)?, planned.load(slot, None, prices)?);
    }
    let stored = region.outputs.iter().zip(&ways.stores).filter(|(_, stores)| **stores);
    for (&slot, _) in stored {
        let queue = planned.store_queue(slot);
        stores.add(queue, planned.store(slot, queue, prices)?, planned.store(slot, None, prices)?);
    }
    let mut counted = 0;
    for operation in &region.operations {
        if let Computation::Coordinates { .. } = operation.computation {
            let [cycles, moved] = planned.counted(operation.result, prices)?;
            counted += cycles;
            if planned.layout.rows.tiles() > 1 && !planned.is_tiled(operation.result) {
                once += moved;
            } else {
                loads.add(None, moved, moved);
            }
        }
    }
    let result = |slot: usize| &region.values[slot].array;
    let pipelines = region.operations.iter();
    let computed: u64 =
        pipelines.map(|operation| planned.pipeline(&operation.computation, result(operation.result))).sum();
    let (tiles, startup) = (planned.layout.rows.tiles(), planned.machine.timing.dma_startup_cycles);
    let moved = loads.cycles(startup) + stores.cycles(startup);
    if tiles == 1 {
        return Some(moved + counted + computed);
    }
    Some(once + counted + tiles * moved.max(computed) + moved.min(computed))
}

/// Transfers in the queues of two clusters.
#[derive(Clone, Copy, Default)]
struct Moved {
    /// Cycles of each queue.
    busy: [u64; 2],
    /// Cycles by the engines of all clusters, and the number of transfers.
    all: u64,
    count: u64,
}

impl Moved {
    /// Adds a transfer of `cycles` in a queue, or in both, which takes `all` cycles with all engines.
    fn add(&mut self, queue: Option<u64>, cycles: u64, all: u64) {
        for (number, busy) in (0..).zip(&mut self.busy) {
            if queue.is_none_or(|queue| queue == number) {
                *busy += cycles;
            }
        }
        (self.all, self.count) = (self.all + all, self.count + 1);
    }

    /// Cycles until both queues have ended. HBM serves them one after the other, but for the start-ups.
    fn cycles(&self, startup: u64) -> u64 {
        let memory = self.all.saturating_sub(self.count.saturating_sub(1) * startup);
        self.busy[0].max(self.busy[1]).max(memory)
    }
}
