//! Cycles of a plan from counts: requests, packets, flits, start-ups and overlap. It ranks plans; the report of the
//! lowered kernel decides between the best.

use crate::array::{Array, GROUP_BYTES};
use crate::contraction::layout::{FLIT_BYTES, Layout, PACKET_BYTES, SUMS, elements, position};
use crate::contraction::{Choice, Contraction, Gather, Mode, Prologue, Promotion};
use crate::cut::{Cut, Part};
use visa_cost::MemoryModel;
use visa_machine::{Machine, Unit};
use visa_memory::HBM_UNIT;
use visa_numerics::DType;

/// Latency of a pipeline, in cycles.
pub const LATENCY: u64 = 40;
/// Cycles to set up a load of the register file through the pipeline on a calibrated machine.
const LOAD_SETUP: u64 = 20;
/// Stages of a load of the register file, each a cycle of latency: fetch, collect, store.
const LOAD_STAGES: u64 = 3;
/// Stages of the pipeline of a contraction, each a cycle of latency: fetch, collect, align, contract, accumulate,
/// commit.
const PASS_STAGES: u64 = 6;

/// The commands of an iteration, in cycles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// The load of the stationary operand.
    pub rows: u64,
    /// The load of the streamed operand.
    pub stream: u64,
    /// The fills of both operands beyond the end of the sum, the stationary one first.
    pub fills: [u64; 2],
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
        let loads = rows * self.rows + layout.stream_loads() * self.stream + tiles * self.operands;
        let moved = (loads + (tiles - 1) * self.store).max(loads + self.last(layout)) + self.store;
        let computed = rows * self.weights + tiles * self.compute;
        let [filled_rows, filled_stream] = self.fills;
        if tiles == 1 {
            let stream = self.stream + filled_stream + self.operands;
            return self.rows + (filled_rows + self.weights).max(stream) + self.compute + self.store;
        }
        let ends = self.rows + filled_rows + self.weights + self.stream + filled_stream + self.store;
        (moved.max(computed + ends)).max(ends + self.compute)
    }

    /// Cycles of the pipelines of the last iteration, which no load overlaps.
    fn last(&self, layout: &Layout) -> u64 {
        self.compute + if layout.rows.tiles() > 1 { self.weights } else { 0 }
    }

    /// Cycles of all iterations if transfers are divided among the queues of two clusters: `queued` has the cycles of
    /// the transfers with the engines of one cluster each. HBM serves both queues one after the other.
    ///
    /// Without loops, one queue has the streamed operand and the other one the remaining loads. In loops, one queue
    /// has the loads and the other one the stores.
    #[must_use]
    pub fn in_queues(&self, queued: &Self, layout: &Layout, startup: u64) -> u64 {
        let (rows, columns) = (layout.rows.tiles(), layout.stream.tiles());
        let tiles = rows * columns;
        let moved = |transfer: u64| transfer.saturating_sub(startup);
        if tiles == 1 {
            let stream = queued.stream.max(self.rows + moved(self.stream)) + self.fills[1];
            let others = queued.rows + (self.fills[0] + self.weights).max(queued.operands);
            return stream.max(others) + self.compute + self.store;
        }
        let streams = layout.stream_loads();
        let loads = rows * queued.rows + streams * queued.stream + tiles * queued.operands;
        let memory = rows * moved(self.rows)
            + streams * moved(self.stream)
            + tiles * (moved(self.operands) + moved(self.store));
        let computed = rows * self.weights + tiles * self.compute;
        let filled: u64 = self.fills.iter().sum();
        let ends = queued.rows + self.weights + queued.stream + filled + queued.store;
        let busiest = loads.max(tiles * queued.store).max(memory);
        (busiest.max(loads + self.last(layout)) + queued.store).max(computed + ends)
    }
}

/// The commands of a plan; `None` if it does not fit the memories, or an engine does not make one of its transfers.
#[must_use]
pub fn guess(
    problem: &Contraction,
    choice: &Choice,
    layout: &Layout,
    machine: &Machine,
    model: MemoryModel,
) -> Option<Parts> {
    let (fits, streamed) = held(problem, choice, layout, machine);
    Counts { problem, choice, layout, machine, model, fits, streamed }.parts()
}

/// Returns true if a pipeline turns the stream of a plan.
#[must_use]
pub fn turns(
    problem: &Contraction,
    choice: &Choice,
    layout: &Layout,
    machine: &Machine,
    model: MemoryModel,
) -> bool {
    let (fits, streamed) = held(problem, choice, layout, machine);
    let counts = Counts { problem, choice, layout, machine, model, fits, streamed };
    counts.streaming(counts.busiest().0, counts.wide()).1
}

/// Columns of an array that the Transpose Engine exchanges with 8 summed positions: they fill 8 bytes.
#[must_use]
pub fn turned_rows(array: &Array) -> u64 {
    elements(GROUP_BYTES, array.dtype)
}

/// A plan whose commands are counted.
struct Counts<'a> {
    problem: &'a Contraction,
    choice: &'a Choice,
    layout: &'a Layout,
    machine: &'a Machine,
    model: MemoryModel,
    /// True if the tensors fit the memories.
    fits: bool,
    /// Bytes of the stream that a slice loads.
    streamed: u64,
}

impl Counts<'_> {
    fn parts(&self) -> Option<Parts> {
        let (choice, problem) = (self.choice, self.problem);
        let masked = choice.mode == Mode::Tree && self.layout.depth != self.layout.sum.count(Part::Time);
        // Masks and tables belong to the main context (book 08).
        let table = problem.prologues[1 - choice.stationary].table.is_some();
        if !self.fits
            || (masked || table) && choice.unit == Unit::Dual
            || choice.gather == Gather::Own && self.layout.ordered(problem, choice).is_none()
            || !self.moves_groups(0)
            || !self.moves_groups(1)
        {
            return None;
        }
        let (store, collected) = self.store();
        let operands = problem.epilogue.operands.iter().map(|array| self.operand(array));
        Some(Parts {
            rows: self.load(choice.stationary),
            stream: self.load(1 - choice.stationary),
            fills: self.fills(),
            operands: operands.sum(),
            weights: self.weights(),
            compute: self.exchange() + self.pipeline() + collected,
            store,
        })
    }

    /// Returns true if the load of an operand moves whole groups of bytes.
    fn moves_groups(&self, operand: usize) -> bool {
        // Slices hold whole rows of an image.
        let rows = operand != self.choice.stationary && self.choice.by_rows;
        if self.problem.operands[operand].image.is_some() || rows {
            return true;
        }
        let cuts = [&self.layout.batch, self.layout.free(operand, self.choice), &self.layout.sum];
        moves_groups(&self.problem.operands[operand], &cuts, Layout::elsewhere(self.choice, operand))
    }

    /// Clusters that compute.
    fn clusters(&self) -> u64 {
        if self.choice.cluster.is_some() { 2 } else { 1 }
    }

    /// Slices from the first to the last one of `slices`: networks of data memory work where slices are.
    fn across(&self, slices: u64) -> u64 {
        if self.choice.spread { self.machine.topology.slices_per_cluster } else { slices }
    }

    /// Cycles to load `held` elements of an array into each slice, in contiguous runs of `run` elements.
    fn loading(&self, array: &Array, held: u64, run: u64) -> u64 {
        let (slices, clusters) = (self.choice.slices(), self.clusters());
        let total = bytes(held, array.dtype) * slices * clusters;
        let slices = self.across(slices);
        let moved = Moved { bytes: total, run: bytes(run, array.dtype), slices, clusters, writes: false };
        transfer(&moved, self.machine, self.model)
    }

    fn load(&self, operand: usize) -> u64 {
        let (array, elsewhere) = (&self.problem.operands[operand], Layout::elsewhere(self.choice, operand));
        let cuts = [&self.layout.batch, self.layout.free(operand, self.choice), &self.layout.sum];
        let held: u64 = cuts.iter().map(|cut| local(cut, elsewhere)).product();
        if operand != self.choice.stationary && self.choice.by_rows {
            // As many elements, in whole rows.
            return self.loading(array, held, held / self.layout.batch.count(Part::Time).max(1));
        }
        self.loading(array, held, run(array, &cuts, elsewhere))
    }

    /// Cycles of the pipeline that exchanges parts of whole rows.
    fn exchange(&self) -> u64 {
        let (share, packets) = (self.choice.share_sum, self.layout.row_packets());
        if self.choice.by_rows { share * packets + share + LATENCY } else { 0 }
    }

    /// Cycles to fill the operands with zeros beyond the end of the sum: slices without positions of it hold nothing
    /// else of the stream, and rows end with them.
    fn fills(&self) -> [u64; 2] {
        let (choice, layout) = (self.choice, self.layout);
        if !choice.padded {
            return [0; 2];
        }
        let around: u64 = [&layout.batch, &layout.rows]
            .iter()
            .map(|cut| local(cut, Layout::elsewhere(choice, choice.stationary)))
            .product();
        let beyond = around * (layout.sum.padded() - layout.sum.size());
        let rows = if choice.sum > 1 { bytes(beyond, self.problem.dtype()) } else { 0 };
        let part = layout.sum.padded() / choice.sum;
        let stream = match choice.mode {
            // The last slices end with zeros.
            Mode::Tree => self.streamed * (layout.sum.padded() - layout.sum.size()) / part,
            Mode::Columns | Mode::Blocks => self.streamed,
        };
        [rows, stream].map(|filled| filled / self.machine.limits.commit_size_sub.max(1))
    }

    /// Cycles to load an operand of the epilogue.
    fn operand(&self, array: &Array) -> u64 {
        let except = self.except();
        let held = self.layout.held_of(array).into_iter().map(|cut| local(cut, except)).product();
        self.loading(array, held, held) + LATENCY
    }

    fn except(&self) -> &'static [Part] {
        self.choice.held_elsewhere()
    }

    /// Cycles to load the register file.
    fn weights(&self) -> u64 {
        let (layout, dtype) = (self.layout, self.problem.dtype());
        let stationary = &self.problem.operands[self.choice.stationary];
        let (reused, row) = reused(self.choice, layout);
        let flit = elements(FLIT_BYTES, dtype);
        let depth = pieces(self.choice, layout) * layout.row_depth(self.choice.mode, flit);
        let words = layout.batch.count(Part::Time) * reused * row * depth;
        // Elements that are apart in data memory take an access each.
        let along = position(stationary, &layout.sum) >= position(stationary, &layout.rows);
        let cycles = if along { bytes(words, dtype).div_ceil(FLIT_BYTES) } else { words };
        let timing = &self.machine.timing;
        let setup = if self.is_short_load() { 0 } else { timing.trf_load_setup_cycles };
        let latency = LOAD_STAGES + self.adapter(self.choice.stationary) + setup;
        cycles + if self.machine.measured.is_some() { LOAD_SETUP } else { latency }
    }

    /// Latency of the conversions of an operand at its fetch.
    fn adapter(&self, operand: usize) -> u64 {
        let (prologue, timing) = (&self.problem.prologues[operand], &self.machine.timing);
        let table = if prologue.table.is_some() { timing.fetch_table_cycles } else { 0 };
        let from = prologue.table.as_ref().map_or(self.problem.operands[operand].dtype, |table| table.to);
        let cast = prologue.dtype.is_some_and(|to| to != from) || prologue.zero_points.is_some();
        table + if cast { timing.fetch_cast_cycles } else { 0 }
    }

    /// Returns true if the load of the register file is a short command: of one contiguous run of data memory, as it
    /// is there (book 18).
    fn is_short_load(&self) -> bool {
        let (choice, layout, problem) = (self.choice, self.layout, self.problem);
        let array = &problem.operands[choice.stationary];
        let (outer, row) = reused(choice, layout);
        let batch = layout.batch.count(Part::Time);
        let depth = match choice.mode {
            Mode::Columns | Mode::Blocks => layout.depth * layout.sum.count(Part::Share),
            Mode::Tree => layout.sum.count(Part::Time),
        };
        let whole = layout.row_depth(choice.mode, elements(FLIT_BYTES, problem.dtype()));
        let last = innermost(array, &layout.sum, &[&layout.batch, &layout.rows, &layout.sum]);
        let slowest =
            batch == 1 || outer * row == 1 || position(array, &layout.batch) < position(array, &layout.rows);
        problem.prologues[choice.stationary] == Prologue::default()
            && (row == 1 || batch * outer == 1)
            && last
            && slowest
            && depth == whole
    }

    /// Cycles of the pipeline that turns the stream, 8 bytes a cycle; `None` if the Transpose Engine cannot exchange
    /// its columns and summed positions, or packets are neighbours without that.
    fn turn(&self) -> Option<u64> {
        let (problem, choice, layout) = (self.problem, self.choice, self.layout);
        let array = &problem.operands[1 - choice.stationary];
        let cycles = self.streamed / GROUP_BYTES + LATENCY;
        match choice.mode {
            Mode::Blocks => Some(cycles),
            Mode::Tree => None,
            Mode::Columns => {
                let rows = turned_rows(array);
                let whole = !choice.padded
                    && layout.stream.padded() == layout.stream.size()
                    && layout.stream.count(Part::Packet).is_multiple_of(rows)
                    && layout.sum.count(Part::Time).is_multiple_of(SUMS);
                let fills =
                    rows * u64::from(array.dtype.bits()) == self.machine.limits.transpose_row_bytes * 8;
                let apart = array.image.is_none() && !self.has_neighbours();
                let fits = self.streamed <= self.machine.memory.dm_bytes_per_slice / 8;
                (whole && fills && apart && fits && array.dtype.bits() >= 8).then_some(cycles)
            }
        }
    }

    /// Cycles of the stream from its fetch on, if the busiest engine after it takes `busiest`, with those of the
    /// pipeline that turns it before, and true if there is one.
    fn streaming(&self, busiest: u64, wide: u64) -> (u64, bool) {
        let neighbours = busiest.max(self.streamed.div_ceil(wide) + self.latency());
        let gathered = busiest.max(self.accesses(wide) + self.latency());
        match self.turn().map(|turn| turn + neighbours) {
            Some(turned) if turned < gathered || self.choice.mode == Mode::Blocks => (turned, true),
            Some(_) | None => (gathered, false),
        }
    }

    /// Bytes of a flit of the stream.
    fn wide(&self) -> u64 {
        if self.choice.unit == Unit::Dual { PACKET_BYTES } else { FLIT_BYTES }
    }

    /// Cycles of the busiest engine after the fetch, and those until its first result.
    fn busiest(&self) -> (u64, u64) {
        let (choice, layout, dtype) = (self.choice, self.layout, self.problem.dtype());
        let (reused, row) = reused(choice, layout);
        let steps = layout.stream.count(Part::Promoted) * layout.stream.count(Part::Time);
        let (shared, pieces) = (layout.stream.count(Part::Share), layout.sum.count(Part::Piece));
        let (packets, flits, results) = match choice.mode {
            Mode::Columns | Mode::Blocks => {
                let columns = layout.stream.count(Part::Packet);
                // A packet of blocks is a whole one, in one flit or two.
                let (positions, filled) = match choice.mode {
                    Mode::Blocks => (layout.packet / columns, layout.packet),
                    Mode::Columns | Mode::Tree => (1, columns),
                };
                let packets = steps * layout.depth / positions;
                // A flit has a row of the register file, or the rows of a column.
                let flits = if choice.has_rows(self.problem) { columns } else { row * columns / SUMS };
                (packets, packets * filled.div_ceil(layout.flit), steps * shared * reused * flits)
            }
            Mode::Tree => {
                let packets = steps * pieces * layout.depth.div_ceil(layout.packet);
                (
                    packets,
                    steps * bytes(layout.depth * pieces, dtype).div_ceil(self.wide()),
                    steps * shared * reused,
                )
            }
        };
        // Float operations take four lanes at a time.
        let results = results * if self.problem.epilogue.expression.is_some() { 2 } else { 1 };
        let busiest = (flits * choice.share).max(packets * choice.share * reused).max(results);
        let ring = choice.share - 1;
        (busiest * layout.batch.count(Part::Time) + self.latency() + ring, results)
    }

    /// Latency of the pipeline without its ring and its sum between slices.
    fn latency(&self) -> u64 {
        let packet = self.layout.packet.max(1);
        let tree = match self.choice.mode {
            Mode::Columns => 0,
            Mode::Tree => packet.ilog2(),
            Mode::Blocks => (packet / SUMS).max(1).ilog2(),
        };
        let cast = u64::from(self.problem.epilogue.cast.is_some());
        let levels = u64::from(tree) * self.machine.timing.tree_level_cycles;
        let adapter = self.adapter(1 - self.choice.stationary);
        if self.machine.measured.is_some() { LATENCY } else { PASS_STAGES + adapter + levels + cast }
    }

    /// Cycles in which sums between slices go around a ring: the smallest one that holds a group (book 25).
    fn between_slices(&self) -> u64 {
        let (choice, machine) = (self.choice, self.machine);
        if machine.measured.is_some() {
            return machine.topology.slices_per_cluster;
        }
        let inside = if choice.shares_zeros() { choice.rows } else { choice.stream * choice.rows };
        choice.sum * inside * choice.apart(machine) * machine.timing.inter_slice_cycles
    }

    /// Cycles of the pipeline: of its busiest engine, and those until its first result.
    fn pipeline(&self) -> u64 {
        let (choice, (busiest, results)) = (self.choice, self.busiest());
        let (mut cycles, _) = self.streaming(busiest, self.wide());
        if choice.sum > 1 {
            cycles += self.between_slices();
            if self.problem.epilogue.expression.is_some() {
                let kept = if choice.promotion == Promotion::None { 1 } else { choice.sum };
                cycles += results * self.layout.batch.count(Part::Time) / kept + LATENCY;
            }
        }
        if self.problem.adds_batch() {
            cycles += results * self.layout.batch.count(Part::Time) + LATENCY;
            cycles += if choice.batch > 1 { self.machine.topology.slices_per_cluster } else { 0 };
        }
        cycles
    }

    /// Accesses of the stream's fetch. A packet of elements that are apart in data memory takes one for each.
    fn accesses(&self, wide: u64) -> u64 {
        if self.has_neighbours() {
            self.streamed.div_ceil(wide)
        } else {
            elements(self.streamed, self.problem.dtype())
        }
    }

    /// Returns true if data memory holds the elements of a packet next to each other.
    fn has_neighbours(&self) -> bool {
        let (layout, choice) = (self.layout, self.choice);
        let array = &self.problem.operands[1 - choice.stationary];
        let group = match choice.mode {
            Mode::Columns | Mode::Blocks => &layout.stream,
            Mode::Tree => &layout.sum,
        };
        array.image.is_some() || innermost(array, group, &[&layout.batch, &layout.stream, &layout.sum])
    }

    /// Elements of a contiguous run of results that is whole rows of the result, with their padding; 0 if it is not.
    fn whole_rows(&self, run: u64) -> u64 {
        let (out, cuts) = (&self.problem.out, self.layout.results(self.problem));
        let last = cuts.into_iter().filter(|cut| cut.size() > 1).max_by_key(|cut| position(out, cut));
        let Some(last) = last.filter(|cut| cut.group().axes.len() == 1 && cut.tiles() == 1) else { return 0 };
        let row = local(last, &[]);
        if run.is_multiple_of(row) { run / row * out.pitch(last.size()).max(row) } else { 0 }
    }

    /// Cycles of the store, and those to collect results of several slices before it.
    fn store(&self) -> (u64, u64) {
        let (problem, choice, layout) = (self.problem, self.choice, self.layout);
        let (out, cuts, except) = (problem.out.dtype, layout.results(problem), self.except());
        let results: u64 = cuts.iter().map(|cut| local(cut, except)).product();
        let kept = choice.promotion != Promotion::None || choice.sum == 1;
        let slices = if kept { choice.slices() } else { choice.slices() / choice.sum };
        let slices = if problem.adds_batch() { slices / choice.batch } else { slices };
        let flit = if choice.has_rows(problem) { &layout.rows } else { &layout.stream };
        let contiguous = choice.transposed || innermost(&problem.out, flit, &cuts);
        let ordered = layout.ordered(problem, choice);
        let run = if contiguous || ordered.is_some() { run(&problem.out, &cuts, except) } else { 1 };
        let run = run.max(self.whole_rows(run));
        let ((gathered, inside), clusters) = (Layout::gathered(choice), self.clusters());
        let moved = Moved {
            bytes: bytes(results, out) * slices * clusters,
            run: bytes(run * gathered, out),
            slices: self.across(slices / gathered),
            clusters,
            writes: true,
        };
        let collected = if let Some(ordered) = ordered {
            ordered.count + LATENCY
        } else if gathered > 1 {
            let flits = bytes(results, out).div_ceil(FLIT_BYTES.min(bytes(run, out).max(1)));
            (flits + 1) * gathered * inside * choice.apart(self.machine) + LATENCY
        } else {
            0
        };
        (transfer(&moved, self.machine, self.model), collected)
    }
}

/// Pieces of the sum in a row of the register file, which are padded separately.
fn pieces(choice: &Choice, layout: &Layout) -> u64 {
    match choice.mode {
        Mode::Columns | Mode::Blocks => 1,
        Mode::Tree => layout.sum.count(Part::Share) * layout.sum.count(Part::Piece),
    }
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
    // The turned operand, or that before an exchange, has separate memory.
    let turned = if choice.mode == Mode::Blocks || choice.by_rows { stream } else { 0 };
    let except = choice.held_elsewhere();
    let result = bytes(elements_of(&layout.results(problem), except), problem.out.dtype);
    let sums = elements_of(&[&layout.batch, &layout.rows, &layout.stream], except);
    let terms = if problem.adds_batch() { bytes(sums, problem.accumulator) } else { 0 };
    // Loops hold two iterations of what they load and store.
    let copies = if layout.rows.tiles() * layout.stream.tiles() > 1 { 2 } else { 1 };
    let memory = copies * (rows + stream + turned + terms + result) <= machine.memory.dm_bytes_per_slice;
    let (reused, _) = reused(choice, layout);
    let depth = pieces(choice, layout) * layout.row_depth(choice.mode, elements(FLIT_BYTES, dtype));
    let row = layout.batch.count(Part::Time) * reused * depth;
    let file = bytes(row, dtype) <= machine.trf_row_bytes(choice.row);
    let buffer = match choice.mode {
        Mode::Columns => reused <= 32,
        Mode::Blocks => reused * choice.row <= 32,
        Mode::Tree => reused <= 128,
    };
    let operands = problem.epilogue.operands.iter();
    let words: u64 = operands.map(|array| elements_of(&layout.held_of(array), except)).sum();
    let vectors = bytes(words, problem.accumulator) <= machine.memory.vrf_bytes;
    (memory && file && buffer && vectors, stream)
}

/// Elements that a slice holds of an array with these cuts, with padding.
fn elements_of(cuts: &[&Cut], except: &[Part]) -> u64 {
    cuts.iter().map(|cut| local(cut, except)).product()
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
