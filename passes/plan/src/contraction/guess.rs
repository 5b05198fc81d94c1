//! Cycles of a plan from counts: requests, packets, flits, start-ups and overlap. It ranks plans; the report of the
//! lowered kernel decides between the best.

use crate::array::Array;
use crate::contraction::layout::{ELSEWHERE, FLIT_BYTES, Layout, PACKET_BYTES, SUMS, position};
use crate::contraction::{Choice, Contraction, Mode, Promotion};
use crate::cut::{Cut, Part};
use visa_cost::MemoryModel;
use visa_machine::{Machine, Unit};
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
    let stationary = &problem.operands[choice.stationary];
    let clusters = if choice.cluster.is_some() { 2 } else { 1 };
    let used = choice.batch * choice.sum * choice.stream * choice.rows * clusters;
    let load = |array: &Array, free: &Cut| {
        let cuts = [&layout.batch, free, &layout.sum];
        let held: u64 = cuts.iter().map(|cut| local(cut, &ELSEWHERE)).product();
        let run = bytes(run(array, &cuts, &ELSEWHERE), array.dtype);
        transfer(bytes(held, array.dtype) * used, run, false, machine, model)
    };
    let batch = layout.batch.count(Part::Time);
    let reused = layout.rows.count(Part::Promoted) * layout.rows.count(Part::Reuse);
    let steps = layout.stream.count(Part::Promoted) * layout.stream.count(Part::Time);
    let depth = layout.depth;
    let weights = batch * reused * layout.rows.count(Part::Row) * depth;
    let along = position(stationary, &layout.sum) >= position(stationary, &layout.rows);
    let weights = if along { bytes(weights, dtype).div_ceil(FLIT_BYTES) } else { weights } + LOAD_SETUP;
    let wide = if choice.unit == Unit::Dual { PACKET_BYTES } else { FLIT_BYTES };
    let (packets, flits, results) = match choice.mode {
        Mode::Columns => {
            let columns = layout.stream.count(Part::Packet);
            let flits = columns.div_ceil(layout.flit);
            let results = steps * choice.share * reused * layout.rows.count(Part::Row) * columns / SUMS;
            (steps * depth, steps * depth * flits, results)
        }
        Mode::Tree => {
            let packets = steps * depth.div_ceil(layout.packet);
            (packets, steps * bytes(depth, dtype).div_ceil(wide), steps * choice.share * reused)
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
    let writing = if kept || choice.sum == 1 { used } else { used / choice.sum };
    let flit = match choice.mode {
        Mode::Tree if choice.transposed => run(&problem.out, &cuts, &except),
        Mode::Tree if innermost(&problem.out, &layout.rows, &cuts) => run(&problem.out, &cuts, &except),
        Mode::Columns if innermost(&problem.out, &layout.stream, &cuts) => run(&problem.out, &cuts, &except),
        Mode::Tree | Mode::Columns => 1,
    };
    let out = problem.out.dtype;
    let store = transfer(bytes(results, out) * writing, bytes(flit, out), true, machine, model);
    let operands = problem.epilogue.operands.iter().map(|array| {
        let held: u64 =
            cuts.iter().filter(|cut| position(array, cut).is_some()).map(|cut| local(cut, &except)).product();
        transfer(bytes(held, array.dtype) * used, bytes(held, array.dtype), false, machine, model) + LATENCY
    });
    Some(Parts {
        rows: load(stationary, &layout.rows),
        stream: load(&problem.operands[1 - choice.stationary], &layout.stream),
        operands: operands.sum(),
        weights,
        compute: compute.max(streamed / wide),
        store,
    })
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
    let operand = |free: &Cut| {
        let cuts = [&layout.batch, free, &layout.sum];
        bytes(cuts.iter().map(|cut| local(cut, &ELSEWHERE)).product(), dtype)
    };
    let (rows, stream) = (operand(&layout.rows), operand(&layout.stream));
    let except = result_except(choice.promotion != Promotion::None);
    let result = [&layout.batch, &layout.rows, &layout.stream].iter().map(|cut| local(cut, &except)).product();
    let result = bytes(result, problem.out.dtype);
    // Loops hold two iterations of what they load and store.
    let copies = if layout.rows.tiles() * layout.stream.tiles() > 1 { 2 } else { 1 };
    let memory = copies * (rows + stream + result) <= machine.memory.dm_bytes_per_slice;
    let flit = crate::contraction::layout::elements(FLIT_BYTES, dtype);
    let reused = layout.rows.count(Part::Promoted) * layout.rows.count(Part::Reuse);
    let row = layout.batch.count(Part::Time) * reused * layout.depth.next_multiple_of(flit);
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

/// Cycles of a transfer of `total` bytes in contiguous runs of `run` bytes.
fn transfer(total: u64, run: u64, writes: bool, machine: &Machine, model: MemoryModel) -> u64 {
    let start = machine.timing.dma_startup_cycles;
    let pace = machine.timing.hbm_bytes_per_cycle.max(1);
    let request = machine.limits.dma_request_bytes;
    let moved = match model {
        MemoryModel::Flat => total,
        MemoryModel::Book | MemoryModel::Detailed => {
            let runs = total.div_ceil(run.max(1));
            let partial = if writes && !run.is_multiple_of(request) { 4 * request } else { 0 };
            runs * (run.next_multiple_of(request) + partial)
        }
    };
    start + moved.div_ceil(pace)
}
