//! All plans of a region, and their cycles from counts and the prices of transfers.

use crate::array::Array;
use crate::cut::{Group, Part, tile_counts};
use crate::expressions::{STAGES, cycles as cycles_of};
use crate::flow::Ways;
use crate::memory::{Transfers, next_to};
use crate::region::layout::LANES;
use crate::region::planned::PlannedRegion;
use crate::region::reads::FetchedPackets;
use crate::region::{Computation, DividedSum, Operation, Region, RegionChoice, Slot};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use visa_algebra::Axes;
use visa_cost::TransferCost;
use visa_machine::Machine;
use visa_memory::HBM_UNIT;

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
    let (topology, sums) = (&machine.topology, sums(region, axes, machine));
    let mut all = Vec::new();
    let size = |name: &Arc<str>| axes.id(name).map_or(1, |id| axes.size(id));
    let held = region.values.iter().map(|value| value.array.axes.iter().map(size).product::<u64>()).sum();
    let whole = (0, region.rows.len());
    let ranges = ranges.into_iter().map(|rows| (rows, None));
    let in_blocks = region.block_sizes(axes).into_iter().map(|blocks| (whole, Some(blocks)));
    for (rows, blocks) in ranges.chain(in_blocks) {
        let group = region.divided(rows, &region.blocks(blocks, axes), axes);
        for tiles in tiles(&group, held, machine) {
            for clusters in powers(topology.clusters_per_chip) {
                for slices in powers(topology.slices_per_cluster) {
                    let used = |sum: &Option<DividedSum>| slices * sum.map_or(1, |sum| sum.slices);
                    for &sum in sums.iter().filter(|sum| used(sum) <= topology.slices_per_cluster) {
                        let choice = RegionChoice {
                            rows,
                            blocks,
                            clusters,
                            slices,
                            multiple: 1,
                            tiles,
                            sum,
                            neighbours: false,
                            apart: false,
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

/// The numbers of iterations of a loop over rows: powers of two that divide the slowest axis. Where the `held`
/// elements of all values do not fit data memory, also its odd factor times these, which leaves tiles of a power of
/// two, and other divisors.
fn tiles(group: &Group, held: u64, machine: &Machine) -> Vec<u64> {
    let slices = machine.topology.clusters_per_chip * machine.topology.slices_per_cluster;
    // Slices may have twice as much as their share: the last rows are padding.
    let fits = 2 * held.div_ceil(slices) * WORD <= machine.memory.dm_bytes_per_slice;
    let odd = group.slowest >> group.slowest.trailing_zeros();
    let factors = if fits || odd == 1 { vec![1] } else { vec![1, odd] };
    let most = MOST_TILES.min(group.slowest);
    let counts =
        factors.into_iter().flat_map(|factor| powers(most / factor).map(move |power| factor * power));
    let mut counts: Vec<u64> = counts.filter(|&tiles| group.slowest.is_multiple_of(tiles)).collect();
    if !fits {
        counts.extend(tile_counts(group.slowest, most));
        counts.sort_unstable();
        counts.dedup();
    }
    counts
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

/// Every division of a reduced axis, and none. Where a store of the parts would end within a unit of HBM, slices also
/// have whole units.
fn sums(region: &Region, axes: &Axes, machine: &Machine) -> Vec<Option<DividedSum>> {
    let mut all = vec![None];
    for (axis, name) in region.divided_sums().iter().enumerate() {
        let size = axes.id(name).map_or(1, |id| axes.size(id));
        let stored = region.outputs.iter().map(|&slot| &region.values[slot].array);
        let formats = stored.filter(|array| array.position(name).is_some()).map(|array| array.dtype.bits());
        let units: BTreeSet<u64> = formats.map(|bits| HBM_UNIT * 8 / u64::from(bits)).collect();
        for slices in powers(machine.topology.slices_per_cluster).skip(1) {
            let sum = DividedSum { axis, slices, neighbours: false, multiple: 1 };
            all.extend([Some(sum), Some(DividedSum { neighbours: true, ..sum })]);
            let uneven = units.iter().filter(|unit| !size.div_ceil(slices).is_multiple_of(**unit));
            all.extend(uneven.map(|&multiple| Some(DividedSum { multiple, ..sum })));
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

    /// Cycles of a reduction between slices after that of each slice: a result passes once around its group, with the
    /// unused slices within it.
    fn between_slices(&self, axis: &str) -> u64 {
        let layout = &self.layout;
        let Some(cut) = layout.sum.as_ref().filter(|_| layout.is_summed(axis)) else { return 0 };
        let group = cut.count(Part::Slice);
        let used = layout.rows.count(Part::Slice) * group;
        let apart = if layout.spread { self.machine.topology.slices_per_cluster / used } else { 1 };
        group * apart * self.machine.timing.inter_slice_cycles
    }

    /// Latency of a pipeline apart from the vector engine's operations.
    fn latency(&self) -> u64 {
        if self.machine.measured.is_some() { LATENCY } else { STAGES }
    }

    /// Cycles of the pipelines of the expression of a map that streams a value, over one of `pieces` of its result.
    fn expression(&self, number: usize, streamed: Slot, result: &Array, pieces: u64) -> u64 {
        let FetchedPackets { packets, accesses } = self.streamed_packets(streamed, result, LANES);
        let (packets, accesses) = (packets / pieces, accesses / pieces);
        let last = self.layout.local(result).pop().map_or(1, |last| last.size);
        match self.region.passes(number).filter(|_| self.machine.measured.is_none()) {
            Some(passes) => cycles_of(passes, (packets, accesses), last <= LANES / 2, self.machine),
            // Float operations take four lanes at a time.
            None => accesses.max(2 * packets) + self.latency(),
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
        let streamed = |slot: Slot| self.streamed_packets(slot, result, LANES).accesses + self.latency();
        // Pieces of the innermost dimension, with the parts of the operands that have it.
        let load = |slot: Slot, pieces: u64| {
            let parts = if self.is_divided(slot, result) { pieces } else { 1 };
            (slot, self.operand_packets(slot, result).accesses / parts + self.latency())
        };
        match computation {
            Computation::Map { expression: None, cast, operands } => {
                let width = if cast.is_none() { self.copied(result) } else { LANES };
                let turned = |slot| self.turned_copy(slot, result).filter(|_| cast.is_none());
                let cycles = |slot| match turned(slot) {
                    Some(matrices) => matrices.cycles(),
                    None => self.streamed_packets(slot, result, width).accesses + self.latency(),
                };
                let cast = u64::from(cast.is_some());
                operands.iter().take(1).map(|&slot| (slot, cycles(slot) + cast)).collect()
            }
            Computation::Map { operands, cast, .. } => {
                let Some((streamed, others)) = self.streamed(operands) else { return Vec::new() };
                let Some(pieces) = self.pieces(operands, result) else { return Vec::new() };
                let last = self.expression(number, streamed, result, pieces) + u64::from(cast.is_some());
                let loads = others.into_iter().map(|slot| load(slot, pieces));
                let piece: Vec<_> = loads.chain([(streamed, last)]).collect();
                (0..pieces).flat_map(|_| piece.iter().copied()).collect()
            }
            Computation::Reduce { operand, axis, order, .. } => {
                let within = match self.lanes(*operand, axis, *order) {
                    Some(lanes) => self.reduction_cycles(*operand, &lanes),
                    None => streamed(*operand),
                };
                vec![(*operand, within + self.between_slices(axis))]
            }
            // Two operations for the first bits, a third one for others.
            Computation::Compare { operand, with } => {
                vec![(*operand, streamed(*operand) + if with.0.len() > 2 { 3 } else { 2 })]
            }
            // Before the loop, if there is one.
            Computation::Coordinates { .. } => Vec::new(),
            // The ids of the condition, and the bits of a value twice: as integers, once for all pieces, and into the
            // register file.
            Computation::Choose { condition, arms } => {
                let (kept, others) = self.chosen(*condition, *arms);
                let Some(pieces) = self.pieces_with(&others, result) else { return Vec::new() };
                let accesses = self.streamed_packets(kept, result, LANES).accesses / pieces;
                let mut all = Vec::new();
                for piece in 0..pieces {
                    all.extend(others.first().map(|&condition| load(condition, pieces)));
                    all.extend(others.get(1).filter(|_| piece == 0).map(|&slot| load(slot, 1)));
                    all.extend(others.get(1).map(|&slot| load(slot, pieces)));
                    all.push((kept, accesses + self.latency() + 1));
                }
                all
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
    if planned.layout.rows.tiles() == 1 {
        return straight(planned, ways, prices);
    }
    Loop::new(planned, ways, prices).map(|repeated| repeated.cycles())
}

/// The commands of a loop over tiles, in cycles.
#[derive(Default)]
struct Loop {
    /// The loads before it.
    once: u64,
    /// The pipelines before it.
    counted: u64,
    /// The stores before it, which follow these pipelines, and the loads of the same values.
    stored: u64,
    /// The loads of the first iteration that need none of these.
    first: u64,
    /// The loads of an iteration, one number for each of the first iterations. Later ones take as many again.
    loads: Vec<u64>,
    /// The pipelines of an iteration.
    computed: u64,
    /// The stores of an iteration, as the loads.
    stores: Vec<u64>,
    /// Iterations.
    tiles: u64,
}

impl Loop {
    /// The commands of a plan with a loop.
    fn new(planned: &PlannedRegion<'_>, ways: &Ways, prices: &Transfers<'_>) -> Option<Self> {
        let (region, tiles) = (planned.region, planned.layout.rows.tiles());
        let mut own = Self { tiles, ..Self::default() };
        let mut tiled: Vec<Slot> = Vec::new();
        let loaded = region.inputs.iter().zip(&ways.here).filter(|(_, here)| !**here);
        for (&slot, _) in loaded {
            if planned.is_tiled(slot) {
                tiled.push(slot);
            } else {
                own.once += planned.load(slot, None, prices)?.cycles;
            }
        }
        own.first = tiled.iter().map(|&slot| planned.load_tile(slot, 0, prices)).sum::<Option<u64>>()?;
        for operation in &region.operations {
            if let Computation::Coordinates { .. } = operation.computation {
                let counted = planned.counted(operation.result, prices)?;
                own.counted += counted.cycles;
                own.stored += counted.stored;
                if planned.is_tiled(operation.result) {
                    tiled.push(operation.result);
                } else {
                    own.stored += counted.loaded;
                }
            }
        }
        let stored = region.outputs.iter().zip(&ways.stores).filter(|(_, stores)| **stores);
        let stored: Vec<Slot> = stored.map(|(&slot, _)| slot).collect();
        let periods = tiled.iter().chain(&stored).map(|&slot| planned.tile_period(slot, prices));
        for tile in 0..periods.fold(1, u64::max).min(tiles) {
            let load = tiled.iter().map(|&slot| planned.load_tile(slot, tile, prices)).sum::<Option<u64>>();
            let store =
                stored.iter().map(|&slot| planned.store_tile(slot, tile, prices)).sum::<Option<u64>>();
            own.loads.push(load?);
            own.stores.push(store?);
        }
        own.computed = (0..region.operations.len()).map(|number| planned.pipeline(number)).sum();
        Some(own)
    }

    /// Cycles until the last store has ended. The load of an iteration precedes the store of the one before, and
    /// its memory is that of the iteration two before. Inputs of the first iteration are loaded while coordinates are
    /// counted.
    fn cycles(&self) -> u64 {
        let mut loads = self.loads.iter().cycle();
        let stores = self.stores.iter().cycle();
        let (mut moved, mut computed) = (self.once + self.first, self.counted);
        if self.stored > 0 {
            moved = moved.max(self.counted) + self.stored;
        }
        moved += loads.by_ref().take(1).sum::<u64>() - self.first;
        let (mut ready, mut free) = (moved, 0);
        for (tile, store) in (0..self.tiles).zip(stores) {
            let end = computed.max(ready) + self.computed;
            if let Some(load) = loads.next().filter(|_| tile + 1 < self.tiles) {
                moved = moved.max(free) + load;
                ready = moved;
            }
            moved = moved.max(end) + store;
            (free, computed) = (end, end);
        }
        moved
    }
}

/// Cycles of a plan without loops: coordinates are counted first; each pipeline begins after the one before and the
/// load of its value, each store after the pipelines that compute its value.
fn straight(planned: &PlannedRegion<'_>, ways: &Ways, prices: &Transfers<'_>) -> Option<u64> {
    let region = planned.region;
    let loads: Vec<Slot> =
        region.inputs.iter().zip(&ways.here).filter(|(_, here)| !**here).map(|(&slot, _)| slot).collect();
    let mut queues = Queues::default();
    let mut ready: HashMap<Slot, u64> = HashMap::new();
    // Coordinates that one slice has counted, with the end of that and the cycles to move them.
    let mut counted: HashMap<Slot, [u64; 2]> = HashMap::new();
    let mut computed = 0;
    for operation in &region.operations {
        if let Computation::Coordinates { .. } = operation.computation {
            let coordinates = planned.counted(operation.result, prices)?;
            computed += coordinates.cycles;
            if coordinates.loaded > 0 {
                counted.insert(operation.result, [computed, coordinates.loaded]);
            }
        }
    }
    for (number, operation) in region.operations.iter().enumerate() {
        for (slot, cycles) in planned.pipelines(number) {
            let slot = region.values[slot].storage;
            if loads.contains(&slot) && !ready.contains_key(&slot) {
                let queue = planned.load_queue(slot);
                ready.insert(slot, queues.add(queue, planned.load(slot, queue, prices)?, 0));
            }
            if let Some([from, cycles]) = counted.remove(&slot) {
                // Moves within data memory leave HBM free.
                ready.insert(slot, queues.add(None, TransferCost { cycles, hbm: 0 }, from));
            }
            computed = computed.max(ready.get(&slot).copied().unwrap_or_default()) + cycles;
        }
        if !matches!(operation.computation, Computation::Coordinates { .. }) {
            ready.insert(operation.result, computed);
        }
    }
    let mut end = computed;
    for (&slot, _) in region.outputs.iter().zip(&ways.stores).filter(|(_, stores)| **stores) {
        let queue = planned.store_queue(slot);
        let written = ready.get(&region.values[slot].storage).copied().unwrap_or(computed);
        end = end.max(queues.add(queue, planned.store(slot, queue, prices)?, written));
    }
    Some(end)
}

/// The queues of two clusters, in which transfers run one after the other.
#[derive(Default)]
struct Queues {
    /// The cycle in which each is free.
    free: [u64; 2],
    /// The last transfer of each.
    last: [TransferCost; 2],
}

impl Queues {
    /// Adds a transfer that starts at `from` at the earliest, in a queue or in both. Returns its end.
    fn add(&mut self, queue: Option<u64>, transfer: TransferCost, from: u64) -> u64 {
        let Some(queue) = queue else {
            let end = self.free[0].max(self.free[1]).max(from) + transfer.cycles;
            (self.free, self.last) = ([end; 2], [transfer; 2]);
            return end;
        };
        let (own, other) = if queue == 0 { (0, 1) } else { (1, 0) };
        let start = self.free[own].max(from);
        let parallel = self.free[other].saturating_sub(start);
        let end = start + next_to(transfer, self.last[other], parallel);
        (self.free[own], self.last[own]) = (end, transfer);
        end
    }
}
