//! All plans of a region, and their cycles from counts and the prices of transfers.

use crate::array::Array;
use crate::cut::{Group, Part};
use crate::expressions::{STAGES, cycles as cycles_of};
use crate::flow::Ways;
use crate::memory::{QueuedTransfer, Transfers};
use crate::region::layout::LANES;
use crate::region::planned::PlannedRegion;
use crate::region::{Computation, DividedSum, Operation, Region, RegionChoice, Slot};
use std::collections::HashMap;
use visa_algebra::Axes;
use visa_machine::Machine;

/// Most iterations of a loop over the rows.
const MOST_TILES: u64 = 4096;
/// Greatest divisor of the number of rows of a slice: elements of a unit of HBM, of a byte each.
const MOST_MULTIPLE: u64 = 256;
/// Latency of a pipeline on a calibrated machine, in cycles.
const LATENCY: u64 = 30;
/// Bytes of an element of the vector engine.
const WORD: u64 = 4;

/// Every division of the rows.
#[must_use]
pub fn choices(region: &Region, axes: &Axes, machine: &Machine) -> Vec<RegionChoice> {
    let ranges = (0..=region.rows.len())
        .flat_map(|first| (first + 1..=region.rows.len()).map(move |end| (first, end - first)));
    let ranges: Vec<(usize, usize)> = if region.rows.is_empty() { vec![(0, 0)] } else { ranges.collect() };
    let reduces = region.operations.iter().any(|own| matches!(own.computation, Computation::Reduce { .. }));
    let (topology, sums) = (&machine.topology, sums(region, machine));
    let mut all = Vec::new();
    for rows in ranges {
        let group = Group::new(&region.rows[rows.0..rows.0 + rows.1], axes);
        for tiles in tile_counts(&group, region.values.len() as u64, machine) {
            for clusters in powers(topology.clusters_per_chip) {
                for slices in powers(topology.slices_per_cluster) {
                    let used = |sum: &Option<DividedSum>| slices * sum.map_or(1, |sum| sum.slices);
                    for &sum in sums.iter().filter(|sum| used(sum) <= topology.slices_per_cluster) {
                        let (multiple, neighbours, apart) = (1, false, false);
                        let choice = RegionChoice {
                            rows,
                            clusters,
                            slices,
                            multiple,
                            tiles,
                            sum,
                            neighbours,
                            apart,
                            spread: false,
                            queues: false,
                        };
                        for choice in orders(region, choice, group.size, axes) {
                            all.push(choice);
                            all.extend(reduces.then_some(RegionChoice { apart: true, ..choice }));
                        }
                    }
                }
            }
        }
    }
    all
}

/// The numbers of iterations of a loop over rows: powers of two that divide the slowest axis. Where rows of all
/// values do not fit data memory, also its odd factor times these, which leaves tiles of a power of two.
fn tile_counts(group: &Group, values: u64, machine: &Machine) -> Vec<u64> {
    let slices = machine.topology.clusters_per_chip * machine.topology.slices_per_cluster;
    let fits = values * group.size.div_ceil(slices) * WORD <= machine.memory.dm_bytes_per_slice;
    let odd = group.slowest >> group.slowest.trailing_zeros();
    let factors = if fits || odd == 1 { vec![1] } else { vec![1, odd] };
    let most = MOST_TILES.min(group.slowest);
    let counts =
        factors.into_iter().flat_map(|factor| powers(most / factor).map(move |power| factor * power));
    counts.filter(|&tiles| group.slowest.is_multiple_of(tiles)).collect()
}

/// A choice with each order in which slices divide `size` rows: neighbouring rows are in one slice or in neighbouring
/// ones. They divide a reduced axis in the same order, or in the other one too if this leaves padding.
fn orders(region: &Region, choice: RegionChoice, size: u64, axes: &Axes) -> Vec<RegionChoice> {
    let (tile, divided) = (size / choice.tiles, choice.clusters * choice.slices);
    let together = multiples(tile, divided).into_iter().map(|multiple| RegionChoice { multiple, ..choice });
    let orders = together.chain([RegionChoice { neighbours: true, ..choice }]);
    let differs = |own: &RegionChoice| match choice.sum {
        None => !own.neighbours || choice.slices > 1,
        Some(sum) if sum.neighbours == own.neighbours => true,
        Some(sum) => {
            let cut = region.sum_cut(sum, axes);
            choice.slices > 1 && cut.is_some_and(|cut| cut.padded() != cut.size())
        }
    };
    orders.filter(differs).collect()
}

/// The powers of two up to `most`.
fn powers(most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1_u64), |power| power.checked_mul(2)).take_while(move |&power| power <= most)
}

/// Every division of a reduced axis, and none.
fn sums(region: &Region, machine: &Machine) -> Vec<Option<DividedSum>> {
    let mut all = vec![None];
    for axis in 0..region.divided_sums().len() {
        for slices in powers(machine.topology.slices_per_cluster).skip(1) {
            all.extend([false, true].map(|neighbours| Some(DividedSum { axis, slices, neighbours })));
        }
    }
    all
}

/// Divisors of the number of rows of a slice, each with another number of rows, where `divided` slices divide `size`
/// rows and half of them would not hold all.
fn multiples(size: u64, divided: u64) -> Vec<u64> {
    let least = size.div_ceil(divided);
    let rows = |multiple: u64| least.next_multiple_of(multiple);
    let needs_all = |multiple: u64| rows(multiple) * divided.div_ceil(2) < size;
    let more = powers(MOST_MULTIPLE).skip(1);
    let more = more.filter(|&multiple| rows(multiple) != rows(multiple / 2) && needs_all(multiple));
    std::iter::once(1).chain(more).collect()
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

    /// Latency of a pipeline apart from the vector engine's operations.
    fn latency(&self) -> u64 {
        if self.machine.measured.is_some() { LATENCY } else { STAGES }
    }

    /// Cycles of the pipelines of the expression of a map.
    fn expression(&self, number: usize, result: &Array) -> u64 {
        let flits = self.layout.elements(result) / LANES;
        let last = self.layout.local(result).pop().map_or(1, |last| last.size);
        match self.region.passes(number).filter(|_| self.machine.measured.is_none()) {
            Some(passes) => cycles_of(passes, flits, last <= LANES / 2, self.machine),
            // Float operations take four lanes at a time.
            None => 2 * flits + self.latency(),
        }
    }

    /// Cycles of the pipelines of operation `number`.
    fn pipeline(&self, number: usize) -> u64 {
        self.pipelines(number).iter().map(|(_, cycles)| cycles).sum()
    }

    /// The pipelines of operation `number` in order, each with the value that it reads and its cycles.
    fn pipelines(&self, number: usize) -> Vec<(Slot, u64)> {
        let Operation { computation, result } = &self.region.operations[number];
        let values = &self.region.values;
        let result = &values[*result].array;
        let flits = |array: &Array| self.layout.elements(array) / LANES;
        let load = |slot: Slot| (slot, flits(&values[slot].array) + self.latency());
        match computation {
            Computation::Map { expression: None, cast: None, operands } => {
                let cycles = flits(result) * LANES / self.copied(result) + self.latency();
                operands.iter().take(1).map(|&slot| (slot, cycles)).collect()
            }
            Computation::Map { operands, cast, .. } => {
                let Some((streamed, others)) = self.streamed(operands) else { return Vec::new() };
                let last = self.expression(number, result) + u64::from(cast.is_some());
                others.into_iter().map(load).chain([(streamed, last)]).collect()
            }
            Computation::Reduce { operand, axis, order, .. } => {
                let within = match self.lanes(*operand, axis, *order) {
                    Some(lanes) => self.reduction_cycles(*operand, &lanes),
                    None => flits(result) + self.latency(),
                };
                vec![(*operand, within + self.between_slices(axis))]
            }
            // Two operations for the first bits, a third one for others.
            Computation::Compare { operand, with } => {
                vec![(*operand, flits(result) + self.latency() + if with.0.len() > 2 { 3 } else { 2 })]
            }
            // Before the loop, if there is one.
            Computation::Coordinates { .. } => Vec::new(),
            // The ids of the condition, and the bits of a value twice: as integers, and into the register file.
            Computation::Choose { condition, arms } => {
                let (streamed, others) = self.chosen(*condition, *arms);
                let ids = others.first().map(|&condition| load(condition));
                let bits = others.get(1).into_iter().flat_map(|&slot| [load(slot); 2]);
                ids.into_iter().chain(bits).chain([(streamed, flits(result) + self.latency() + 1)]).collect()
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
    let computed: u64 = (0..region.operations.len()).map(|number| planned.pipeline(number)).sum();
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
    if planned.layout.rows.tiles() == 1 {
        return straight(planned, ways, prices);
    }
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
    let computed: u64 = (0..region.operations.len()).map(|number| planned.pipeline(number)).sum();
    let (tiles, startup) = (planned.layout.rows.tiles(), planned.machine.timing.dma_startup_cycles);
    let (load, store) = (loads.cycles(startup), stores.cycles(startup));
    // The store of an iteration follows the load of the next one; the pipelines of the last one run next to it.
    let moved = tiles * load + tiles.saturating_sub(2) * store + store.max(computed) + store;
    Some(once + counted + moved.max(load + tiles * computed + store))
}

/// Cycles of a plan without loops: each pipeline begins after the one before and the load of its value, each store
/// after the pipelines that compute its value.
fn straight(planned: &PlannedRegion<'_>, ways: &Ways, prices: &Transfers<'_>) -> Option<u64> {
    let region = planned.region;
    let loads: Vec<Slot> =
        region.inputs.iter().zip(&ways.here).filter(|(_, here)| !**here).map(|(&slot, _)| slot).collect();
    let mut queues = Queues::default();
    let mut ready: HashMap<Slot, u64> = HashMap::new();
    let mut computed = 0;
    for (number, operation) in region.operations.iter().enumerate() {
        if let Computation::Coordinates { .. } = operation.computation {
            let [cycles, moved] = planned.counted(operation.result, prices)?;
            (computed, queues.free) = (computed + cycles, queues.free.map(|free| free + moved));
        }
        for (slot, cycles) in planned.pipelines(number) {
            let slot = region.values[slot].storage;
            if loads.contains(&slot) && !ready.contains_key(&slot) {
                let queue = planned.load_queue(slot);
                let all = queue.map_or(Some(0), |_| planned.load(slot, None, prices))?;
                let load = QueuedTransfer::new(planned.load(slot, queue, prices)?, all, prices.machine);
                ready.insert(slot, queues.add(queue, load, 0));
            }
            computed = computed.max(ready.get(&slot).copied().unwrap_or_default()) + cycles;
        }
        ready.insert(operation.result, computed);
    }
    let mut end = computed;
    for (&slot, _) in region.outputs.iter().zip(&ways.stores).filter(|(_, stores)| **stores) {
        let queue = planned.store_queue(slot);
        let written = ready.get(&region.values[slot].storage).copied().unwrap_or(computed);
        let all = queue.map_or(Some(0), |_| planned.store(slot, None, prices))?;
        let store = QueuedTransfer::new(planned.store(slot, queue, prices)?, all, prices.machine);
        end = end.max(queues.add(queue, store, written));
    }
    Some(end)
}

/// The queues of two clusters, in which transfers run one after the other.
#[derive(Default)]
struct Queues {
    /// The cycle in which each is free.
    free: [u64; 2],
    /// The last transfer of each.
    last: [QueuedTransfer; 2],
}

impl Queues {
    /// Adds a transfer that starts at `from` at the earliest, in a queue or in both. Returns its end.
    fn add(&mut self, queue: Option<u64>, transfer: QueuedTransfer, from: u64) -> u64 {
        let Some(queue) = queue else {
            let end = self.free[0].max(self.free[1]).max(from) + transfer.cycles;
            (self.free, self.last) = ([end; 2], [transfer; 2]);
            return end;
        };
        let (own, other) = if queue == 0 { (0, 1) } else { (1, 0) };
        let start = self.free[own].max(from);
        let parallel = self.free[other].saturating_sub(start);
        let end = start + transfer.next_to(self.last[other], parallel);
        (self.free[own], self.last[own]) = (end, transfer);
        end
    }
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
