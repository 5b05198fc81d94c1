//! Cycles of a plan from counts: requests, packets, flits, start-ups and overlap. It ranks plans; the report of the
//! lowered kernel decides between the best.

use crate::array::Array;
use crate::contraction::layout::{FLIT_BYTES, Layout, PACKET_BYTES, SUMS, position};
use crate::contraction::{Choice, Contraction, Mode, Promotion};
use crate::cut::{Cut, Part};
use visa_cost::MemoryModel;
use visa_machine::{Machine, Unit};
use visa_memory::HBM_UNIT;
use visa_numerics::DType;

/// Latency of a pipeline, in cycles.
const LATENCY: u64 = 40;
/// Cycles to set up a load of the register file through the pipeline.
const LOAD_SETUP: u64 = 20;

/// The commands of an iteration, in cycles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// The load of the stationary operand.
    pub rows: u64,
    /// The load of the streamed operand.
    pub stream: u64,
    /// The loads of the epilogue's operands.
    pub operands: u64,
    /// The load of the register file.
    pub weights: u64,
    /// The pipeline.
    pub compute: u64,
    /// The store.
    pub store: u64,
}

impl Parts {
    /// Cycles of all iterations, with loads and stores in parallel to pipelines where loops permit it.
    #[must_use]
    pub fn total(&self, layout: &Layout) -> u64 {
        let (rows, columns) = (layout.rows.tiles(), layout.stream.tiles());
        let tiles = rows * columns;
        let moved = rows * self.rows + tiles * (self.stream + self.operands + self.store);
        let computed = rows * self.weights + tiles * self.compute;
        if tiles == 1 {
            return self.rows + self.weights.max(self.stream + self.operands) + self.compute + self.store;
        }
        let ends = self.rows + self.weights + self.stream + self.store;
        (moved.max(computed + ends)).max(ends + self.compute)
    }
}

/// The commands of a plan; `None` if it does not fit the memories.
#[must_use]
pub fn guess(
    problem: &Contraction,
    choice: &Choice,
    layout: &Layout,
    machine: &Machine,
    model: MemoryModel,
) -> Option<Parts> {
    let (fits, streamed) = held(problem, choice, layout, machine);
    if !fits {
        return None;
    }
    let dtype = problem.dtype();
    let masked = choice.mode == Mode::Tree && layout.depth != layout.sum.count(Part::Time);
    let groups = |operand: usize| {
        let cuts = [&layout.batch, layout.free(operand, choice), &layout.sum];
        moves_groups(&problem.operands[operand], &cuts, Layout::elsewhere(choice, operand))
    };
    if masked && choice.unit == Unit::Dual || !groups(0) || !groups(1) {
        return None;
    }
    let stationary = &problem.operands[choice.stationary];
    let clusters = if choice.cluster.is_some() { 2 } else { 1 };
    let slices = choice.slices();
    let used = slices * clusters;
    // Networks of data memory work where slices are.
    let across = |slices: u64| if choice.spread { machine.topology.slices_per_cluster } else { slices };
    let load = |operand: usize| {
        let (array, elsewhere) = (&problem.operands[operand], Layout::elsewhere(choice, operand));
        let cuts = [&layout.batch, layout.free(operand, choice), &layout.sum];
        let held: u64 = cuts.iter().map(|cut| local(cut, elsewhere)).product();
        let run = bytes(run(array, &cuts, elsewhere), array.dtype);
        let moved = Moved { bytes: bytes(held, array.dtype) * used, run, slices: across(slices), clusters, writes: false };
        transfer(&moved, machine, model)
    };
    let batch = layout.batch.count(Part::Time);
    let (reused, row) = reused(choice, layout);
    let steps = layout.stream.count(Part::Promoted) * layout.stream.count(Part::Time);
    let depth = layout.depth * layout.sum.count(Part::Piece);
    let shared = layout.stream.count(Part::Share);
    let pieces = match choice.mode {
        Mode::Columns => 1,
        Mode::Tree => layout.sum.count(Part::Share) * layout.sum.count(Part::Piece),
    };
    let flit = crate::contraction::layout::elements(FLIT_BYTES, dtype);
    let weights = batch * reused * row * pieces * layout.row_depth(choice.mode, flit);
    let along = position(stationary, &layout.sum) >= position(stationary, &layout.rows);
    let weights = if along { bytes(weights, dtype).div_ceil(FLIT_BYTES) } else { weights } + LOAD_SETUP;
    let wide = if choice.unit == Unit::Dual { PACKET_BYTES } else { FLIT_BYTES };
    let (packets, flits, results) = match choice.mode {
        Mode::Columns => {
            let columns = layout.stream.count(Part::Packet);
            let flits = columns.div_ceil(layout.flit);
            let results = steps * shared * reused * row * columns / SUMS;
            (steps * depth, steps * depth * flits, results)
        }
        Mode::Tree => {
            let packets = steps * layout.sum.count(Part::Piece) * layout.depth.div_ceil(layout.packet);
            (packets, steps * bytes(depth, dtype).div_ceil(wide), steps * shared * reused)
        }
    };
    let results = results * if problem.epilogue.expression.is_some() { 2 } else { 1 };
    let busiest = (flits * choice.share).max(packets * choice.share * reused).max(results) * batch;
    let (mut compute, kept) = (busiest + LATENCY + choice.share, choice.promotion != Promotion::None);
    if choice.sum > 1 {
        compute += machine.topology.slices_per_cluster;
        if problem.epilogue.expression.is_some() {
            compute += results * batch / if kept { choice.sum } else { 1 } + LATENCY;
        }
    }
    let except = result_except(kept);
    let cuts = [&layout.batch, &layout.rows, &layout.stream];
    let results: u64 = cuts.iter().map(|cut| local(cut, &except)).product();
    let writing = if kept || choice.sum == 1 { slices } else { slices / choice.sum };
    let flit = match choice.mode {
        Mode::Tree if choice.transposed => run(&problem.out, &cuts, &except),
        Mode::Tree if innermost(&problem.out, &layout.rows, &cuts) => run(&problem.out, &cuts, &except),
        Mode::Columns if innermost(&problem.out, &layout.stream, &cuts) => run(&problem.out, &cuts, &except),
        Mode::Tree | Mode::Columns => 1,
    };
    let (out, gathered) = (problem.out.dtype, Layout::gathered(choice).0);
    let moved = Moved {
        bytes: bytes(results, out) * writing * clusters,
        run: bytes(flit * gathered, out),
        slices: across(writing / gathered),
        clusters,
        writes: true,
    };
    if gathered > 1 {
        let flits = bytes(results, out).div_ceil(FLIT_BYTES.min(bytes(flit, out).max(1)));
        let ring = gathered * Layout::gathered(choice).1;
        compute += flits * ring + ring + LATENCY;
    }
    let store = transfer(&moved, machine, model);
    let operands = problem.epilogue.operands.iter().map(|array| {
        let held: u64 =
            cuts.iter().filter(|cut| position(array, cut).is_some()).map(|cut| local(cut, &except)).product();
        let bytes = bytes(held, array.dtype);
        let moved = Moved { bytes: bytes * used, run: bytes, slices, clusters, writes: false };
        transfer(&moved, machine, model) + LATENCY
    });
    // A packet of elements that are apart in data memory takes an access for each.
    let operand = 1 - choice.stationary;
    let group = match choice.mode {
        Mode::Columns => &layout.stream,
        Mode::Tree => &layout.sum,
    };
    let cuts = [&layout.batch, &layout.stream, &layout.sum];
    let accesses = if innermost(&problem.operands[operand], group, &cuts) {
        streamed.div_ceil(wide)
    } else {
        crate::contraction::layout::elements(streamed, dtype)
    };
    Some(Parts {
        rows: load(choice.stationary),
        stream: load(1 - choice.stationary),
        operands: operands.sum(),
        weights,
        compute: compute.max(accesses + LATENCY),
        store,
    })
}

/// Time steps that repeat a packet, and rows of the register file.
fn reused(choice: &Choice, layout: &Layout) -> (u64, u64) {
    let rows = &layout.rows;
    match choice.promotion {
        Promotion::Row => (rows.count(Part::Reuse), rows.count(Part::Promoted) * rows.count(Part::Row)),
        Promotion::None | Promotion::Stream | Promotion::Reuse => {
            (rows.count(Part::Promoted) * rows.count(Part::Reuse), rows.count(Part::Row))
        }
    }
}

/// The parts of cuts that other slices hold in the result.
fn result_except(promoted: bool) -> Vec<Part> {
    [Part::Cluster, Part::Slice].into_iter().chain(promoted.then_some(Part::Promoted)).collect()
}

/// True if `cut` is the last of `cuts` in the array.
fn innermost(array: &Array, cut: &Cut, cuts: &[&Cut]) -> bool {
    cuts.iter().filter(|other| other.size() > 1).all(|other| position(array, other) <= position(array, cut))
}

/// Returns true if the operands fit data memory and the register file; and the bytes of the stream in a slice.
fn held(problem: &Contraction, choice: &Choice, layout: &Layout, machine: &Machine) -> (bool, u64) {
    let dtype = problem.dtype();
    let operand = |operand: usize| {
        let cuts = [&layout.batch, layout.free(operand, choice), &layout.sum];
        bytes(cuts.iter().map(|cut| local(cut, Layout::elsewhere(choice, operand))).product(), dtype)
    };
    let (rows, stream) = (operand(choice.stationary), operand(1 - choice.stationary));
    let except = result_except(choice.promotion != Promotion::None);
    let result = [&layout.batch, &layout.rows, &layout.stream].iter().map(|cut| local(cut, &except)).product();
    let result = bytes(result, problem.out.dtype);
    // Loops hold two iterations of what they load and store.
    let copies = if layout.rows.tiles() * layout.stream.tiles() > 1 { 2 } else { 1 };
    let memory = copies * (rows + stream + result) <= machine.memory.dm_bytes_per_slice;
    let flit = crate::contraction::layout::elements(FLIT_BYTES, dtype);
    let (reused, _) = reused(choice, layout);
    let pieces = match choice.mode {
        Mode::Columns => 1,
        Mode::Tree => layout.sum.count(Part::Share) * layout.sum.count(Part::Piece),
    };
    let row = layout.batch.count(Part::Time) * reused * pieces * layout.row_depth(choice.mode, flit);
    let file = bytes(row, dtype) <= machine.trf_row_bytes(choice.row);
    let buffer = match choice.mode {
        Mode::Columns => reused <= 32,
        Mode::Tree => reused <= 128,
    };
    (memory && file && buffer, stream)
}

/// Positions of a cut that a slice holds, with padding.
fn local(cut: &Cut, except: &[Part]) -> u64 {
    cut.parts().iter().filter(|(part, _)| !except.contains(part)).map(|(_, count)| count).product()
}

/// Returns true if a load moves whole groups of 8 bytes: if a slice holds the innermost axis, with the padding of the
/// array, or a whole number of groups of it.
fn moves_groups(array: &Array, cuts: &[&Cut], elsewhere: &[Part]) -> bool {
    let long = cuts.iter().filter(|cut| cut.group().size > 1);
    let Some(last) = long.max_by_key(|cut| position(array, cut)) else { return true };
    let divided = |(part, count): &&(Part, u64)| elsewhere.contains(part) && *count > 1;
    if last.tiles() == 1 && !last.parts().iter().any(|part| divided(&part)) {
        return true;
    }
    let held = run(array, cuts, elsewhere);
    crate::array::whole_groups(held, array.dtype) == held
}

/// Elements that are contiguous in an array and in a slice.
fn run(array: &Array, cuts: &[&Cut], except: &[Part]) -> u64 {
    let mut sorted: Vec<&&Cut> = cuts.iter().collect();
    sorted.sort_by_key(|cut| std::cmp::Reverse(position(array, cut)));
    let mut run = 1;
    for cut in sorted {
        for (part, count) in cut.parts().iter().rev() {
            if except.contains(part) && *count > 1 {
                return run.max(1);
            }
            run *= count;
        }
        if cut.tiles() > 1 {
            return run;
        }
    }
    run
}

fn bytes(count: u64, dtype: DType) -> u64 {
    (count * u64::from(dtype.bits())).div_ceil(8)
}

/// A transfer between HBM and data memory.
struct Moved {
    /// Bytes of all slices.
    bytes: u64,
    /// Bytes that are contiguous on both sides.
    run: u64,
    /// Slices of a cluster that take part, from the first one on.
    slices: u64,
    /// Clusters that take part.
    clusters: u64,
    /// True if HBM is written.
    writes: bool,
}

/// Cycles of a transfer: those of the busiest of engines, HBM and networks of data memory (books 10, 11).
fn transfer(moved: &Moved, machine: &Machine, model: MemoryModel) -> u64 {
    let (timing, topology) = (&machine.timing, &machine.topology);
    let start = timing.dma_startup_cycles;
    let pace = timing.hbm_bytes_per_cycle.max(1);
    let (units, requests) = match model {
        MemoryModel::Flat => (moved.bytes.div_ceil(HBM_UNIT), 0),
        MemoryModel::Book | MemoryModel::Detailed => {
            let runs = moved.bytes.div_ceil(moved.run.max(1));
            let partial = if moved.writes && !moved.run.is_multiple_of(HBM_UNIT) {
                timing.hbm_partial_write_times
            } else {
                0
            };
            let requests = moved.run.div_ceil(machine.limits.dma_request_bytes);
            (runs * (moved.run.div_ceil(HBM_UNIT) + partial), runs * requests)
        }
    };
    let networks = machine.pes_per_chip() * topology.dmns_per_pe / topology.clusters_per_chip;
    let slices = (topology.slices_per_cluster / networks).max(1);
    let used = match model {
        MemoryModel::Flat => networks * topology.clusters_per_chip,
        MemoryModel::Book | MemoryModel::Detailed => moved.slices.div_ceil(slices) * moved.clusters,
    };
    let network = moved.bytes / (used * timing.dm_bytes_per_cycle_per_dmn).max(1);
    let engines = requests / topology.dma_engines_per_chip.max(1);
    start + (units * HBM_UNIT).div_ceil(pace).max(network).max(engines)
}
