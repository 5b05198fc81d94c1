//! Cycles of a plan from counts: requests, packets, flits, start-ups and overlap. It ranks plans; the report of the
//! lowered kernel decides between the best.

use crate::array::{Array, GROUP_BYTES, Image, whole_groups};
use crate::contraction::layout::{FLIT_BYTES, Layout, PACKET_BYTES, SUMS, elements, position};
use crate::contraction::parts::{LoadCycles, Parts};
use crate::contraction::{Choice, Contraction, Gather, Mode, Prologue, Promotion};
use crate::cut::{Cut, Part};
use crate::expressions::{STAGES, computed, cycles as cycles_of};
use std::sync::Arc;
use visa_algebra::Expr;
use visa_cost::MemoryModel;
use visa_hw::MAX_STREAM_BYTES;
use visa_machine::{Machine, Unit};
use visa_memory::HBM_UNIT;
use visa_numerics::DType;

/// Latency of a pipeline on a calibrated machine, in cycles.
const LATENCY: u64 = 40;
/// Cycles to set up a load of the register file through the pipeline on a calibrated machine.
const LOAD_SETUP: u64 = 20;
/// Stages of the Contraction Engine, each a cycle of latency: align, contract, accumulate.
const CONTRACTION_STAGES: u64 = 3;

/// The commands of a plan; `None` if it does not fit the memories, or an engine does not make one of its transfers, or
/// if its loads and its pipelines alone take `most` cycles in all iterations.
#[must_use]
pub fn guess(
    problem: &Contraction,
    choice: &Choice,
    layout: &Layout,
    machine: &Machine,
    (model, most): (MemoryModel, u64),
) -> Option<Parts> {
    let (fits, streamed) = held(problem, choice, layout, machine);
    Counts { problem, choice, layout, machine, model, fits, streamed }.parts(most)
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
    counts.streaming(counts.busiest().0, counts.wide()).1.is_some()
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
    fn parts(&self, most: u64) -> Option<Parts> {
        let (choice, problem) = (self.choice, self.problem);
        let masked = choice.mode == Mode::Tree && self.layout.depth != self.layout.sum.count(Part::Time);
        // Masks and tables belong to the main context (book 08).
        let table = problem.prologues[1 - choice.stationary].table.is_some();
        if !self.fits {
            return None;
        }
        let (busiest, results) = self.busiest();
        let [rows, stream] = [choice.stationary, 1 - choice.stationary].map(|operand| self.load(operand));
        let tiles = self.layout.rows.tiles() * self.layout.stream.tiles();
        let loads = self.layout.rows.tiles() * rows + self.layout.stream_loads() * stream;
        // Loads and pipelines of different iterations run in parallel.
        let least = if tiles == 1 { loads + busiest } else { loads.max(tiles * busiest) };
        if least >= most {
            return None;
        }
        if (masked || table) && choice.unit == Unit::Dual
            || choice.gather == Gather::Own && self.layout.ordered(problem, choice).is_none()
            || !self.moves_groups(0)
            || !self.moves_groups(1)
            || !self.steps_by_groups()
            || !self.streams_little()
        {
            return None;
        }
        let (store, collected) = self.store();
        let epilogue = || problem.epilogue.operands.iter();
        let (streamed, turn) = self.streaming(busiest, self.wide());
        Some(Parts {
            rows,
            stream,
            fills: self.fills(),
            fills_apart: choice.mode != Mode::Tree,
            operands: epilogue().map(|array| self.operand(array)).sum(),
            vectors: epilogue().map(|array| self.vector(array)).sum(),
            weights: self.weights(),
            ordered: self.exchange() + turn.unwrap_or_default(),
            compute: self.pipeline(streamed, results) + if self.is_separate() { 0 } else { collected },
            epilogue: if self.is_separate() { self.epilogue(results) + collected } else { 0 },
            store,
            hbm: LoadCycles::default(),
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

    /// Returns true if loops move along whole groups of bytes in all arrays.
    fn steps_by_groups(&self) -> bool {
        let out = std::iter::once(&self.problem.out);
        let mut arrays = self.problem.operands.iter().chain(&self.problem.epilogue.operands).chain(out);
        let tiled = || [&self.layout.rows, &self.layout.stream].into_iter().filter(|cut| cut.tiles() > 1);
        let whole = |array: &Array, cut: &Cut| {
            let Some((axis, step)) = cut.first_tile() else { return true };
            let at = array.axes.iter().rev().position(|own| *own == axis);
            at != Some(0) || whole_groups(step, array.dtype) == step
        };
        arrays.all(|array| tiled().all(|cut| whole(array, cut)))
    }

    /// Returns true if the products of a slice fit the stream of an interpreter.
    fn streams_little(&self) -> bool {
        let (choice, layout) = (self.choice, self.layout);
        let sums = layout.stream.count(Part::Packet) * choice.row;
        let products =
            self.packets() * choice.share * reused(choice, layout).0 * layout.batch.count(Part::Time);
        bytes(products * sums, self.problem.accumulator) <= MAX_STREAM_BYTES
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
        if self.choice.by_rows { share * (packets + 1) - 1 + self.stages(STAGES) } else { 0 }
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

    /// Latency of a pipeline: `exact` by the machine's timing.
    fn stages(&self, exact: u64) -> u64 {
        if self.machine.measured.is_some() { LATENCY } else { exact }
    }

    /// Cycles to load an operand of the epilogue into data memory.
    fn operand(&self, array: &Array) -> u64 {
        let except = self.except();
        let held = self.layout.held_of(array).into_iter().map(|cut| local(cut, except)).product();
        self.loading(array, held, held)
    }

    /// Cycles to load an operand of the epilogue into the vector register file.
    fn vector(&self, array: &Array) -> u64 {
        let held = self.layout.held_of(array);
        let (flit, part) = if self.choice.has_rows(self.problem) {
            (&self.layout.rows, Part::Row)
        } else {
            (&self.layout.stream, Part::Packet)
        };
        let all: u64 = held.iter().map(|cut| local(cut, self.except())).product();
        let has_flit = held.iter().any(|cut| std::ptr::eq(*cut, flit));
        let flits = if has_flit {
            let flits = all / flit.count(part) * flit.count(part).div_ceil(SUMS);
            // Elements that are apart in data memory take an access each, with their padding.
            let wide = bytes(SUMS, array.dtype);
            let apart = if flit.count(part) == 1 { 1 } else { SUMS };
            flits * access(array, flit, &held, wide).map_or(apart, |near| wide.div_ceil(near))
        } else {
            all.div_ceil(SUMS)
        };
        let cast =
            if computed(array.dtype) == array.dtype { 0 } else { self.machine.timing.fetch_cast_cycles };
        flits + self.stages(STAGES + cast)
    }

    /// True if pipelines after the sum between slices compute the epilogue.
    fn is_separate(&self) -> bool {
        self.choice.sum > 1 && self.problem.epilogue.expression.is_some()
    }

    /// Latency of the conversion of results.
    fn cast(&self) -> u64 {
        u64::from(self.problem.epilogue.cast.is_some())
    }

    /// Cycles of these.
    fn epilogue(&self, results: u64) -> u64 {
        let kept = if self.choice.promotion == Promotion::None { 1 } else { self.choice.sum };
        let flits = results * self.layout.batch.count(Part::Time) / kept;
        match self.problem.passes().filter(|_| self.machine.measured.is_none()) {
            Some(passes) => {
                cycles_of(passes, (flits, flits), self.has_few_lanes(), self.machine) + self.cast()
            }
            // Float operations take four lanes at a time.
            None => 2 * flits + LATENCY,
        }
    }

    /// True if flits of results use at most four lanes.
    fn has_few_lanes(&self) -> bool {
        self.choice.has_rows(self.problem) && self.choice.row <= SUMS / 2
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
        let words = layout.batches() * reused * row * depth;
        // Elements that are apart in data memory take an access each.
        let cuts = [&layout.batch, &layout.rows, &layout.sum];
        let near = access(stationary, &layout.sum, &cuts, FLIT_BYTES).filter(|_| stationary.image.is_none());
        let single = match self.choice.mode {
            Mode::Columns | Mode::Blocks => layout.depth * layout.sum.count(Part::Share) == 1,
            Mode::Tree => layout.sum.count(Part::Time) == 1,
        };
        let near = near.or(single.then_some(FLIT_BYTES));
        let cycles = near.map_or(words, |near| bytes(words, dtype).div_ceil(near));
        let timing = &self.machine.timing;
        let short = near == Some(FLIT_BYTES) && self.is_short_load();
        let setup = if short { 0 } else { timing.trf_load_setup_cycles };
        let latency = STAGES + self.adapter(self.choice.stationary) + setup;
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
        let batch = layout.batches();
        let depth = match choice.mode {
            Mode::Columns | Mode::Blocks => layout.depth * layout.sum.count(Part::Share),
            Mode::Tree => layout.sum.count(Part::Time),
        };
        // Padding that has to be zero is masked.
        let ends = choice.mode != Mode::Tree && !(choice.padded && choice.sum == 1);
        let whole = layout.row_depth(choice.mode, elements(FLIT_BYTES, problem.dtype()));
        let last = innermost(array, &layout.sum, &[&layout.batch, &layout.rows, &layout.sum]);
        let slowest =
            batch == 1 || outer * row == 1 || position(array, &layout.batch) < position(array, &layout.rows);
        problem.prologues[choice.stationary] == Prologue::default()
            && (row == 1 || batch * outer == 1)
            && last
            && ends_with(array, &layout.sum)
            && slowest
            && (depth == whole && !(choice.padded && choice.sum == 1) || ends && batch * outer * row == 1)
    }

    /// Cycles of the pipeline that turns the stream, 8 bytes a cycle; `None` if the Transpose Engine cannot exchange
    /// its columns and summed positions, or packets are neighbours without that.
    fn turn(&self) -> Option<u64> {
        let (problem, choice, layout) = (self.problem, self.choice, self.layout);
        let array = &problem.operands[1 - choice.stationary];
        let cuts = [&layout.batch, &layout.stream, &layout.sum];
        let packet = if choice.mode == Mode::Blocks { &layout.stream } else { &layout.sum };
        let near = access(array, packet, &cuts, GROUP_BYTES);
        // Elements of a packet that are apart take an access each.
        let accesses = match near.or_else(|| array.image.is_some().then_some(GROUP_BYTES)) {
            Some(near) => self.streamed / near,
            None => elements(self.streamed, problem.dtype()),
        };
        // The Transpose Engine reads as many rows before it writes the first.
        let cycles = |rows: u64| accesses + self.stages(rows + STAGES);
        match choice.mode {
            Mode::Blocks => Some(cycles(SUMS)),
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
                (whole && fills && apart && fits && array.dtype.bits() >= 8).then(|| cycles(rows))
            }
        }
    }

    /// Cycles of the stream from its fetch on, if the busiest engine after it takes `busiest`, and those of the
    /// pipeline that turns it before, if there is one.
    fn streaming(&self, busiest: u64, wide: u64) -> (u64, Option<u64>) {
        let neighbours = busiest.max(self.streamed.div_ceil(wide) + self.filling());
        let gathered = busiest.max(self.accesses(wide) + self.filling());
        match self.turn() {
            Some(turn) if turn + neighbours < gathered || self.choice.mode == Mode::Blocks => {
                (neighbours, Some(turn))
            }
            Some(_) | None => (gathered, None),
        }
    }

    /// Bytes of a flit of the stream.
    fn wide(&self) -> u64 {
        if self.choice.unit == Unit::Dual { PACKET_BYTES } else { FLIT_BYTES }
    }

    /// Packets of the stream that a slice fetches for each position of the batch.
    fn packets(&self) -> u64 {
        let layout = self.layout;
        let steps = layout.stream.count(Part::Promoted) * layout.stream.count(Part::Time);
        let of_sum = match self.choice.mode {
            Mode::Columns => layout.depth,
            Mode::Blocks => layout.depth * layout.stream.count(Part::Packet) / layout.packet,
            Mode::Tree => layout.sum.count(Part::Piece) * layout.depth.div_ceil(layout.packet),
        };
        steps * of_sum
    }

    /// Cycles of the busiest engine after the fetch, and those until its first result.
    fn busiest(&self) -> (u64, u64) {
        let (choice, layout, dtype) = (self.choice, self.layout, self.problem.dtype());
        let (reused, row) = reused(choice, layout);
        let steps = layout.stream.count(Part::Promoted) * layout.stream.count(Part::Time);
        let shared = layout.batch.count(Part::Share) * layout.stream.count(Part::Share);
        let (pieces, packets) = (layout.sum.count(Part::Piece), self.packets());
        let (flits, results) = match choice.mode {
            Mode::Columns | Mode::Blocks => {
                let columns = layout.stream.count(Part::Packet);
                // A packet of blocks is a whole one, in one flit or two.
                let filled = if choice.mode == Mode::Blocks { layout.packet } else { columns };
                // A flit has a row of the register file, or the rows of a column.
                let flits = if choice.has_rows(self.problem) { columns } else { row * columns / SUMS };
                (packets * filled.div_ceil(layout.flit), steps * shared * reused * flits)
            }
            Mode::Tree => {
                let flits = bytes(layout.depth * pieces, dtype).div_ceil(self.wide());
                (steps * flits, steps * shared * reused)
            }
        };
        let (lanes, _) = self.computed();
        let busiest = (flits * choice.share).max(packets * choice.share * reused).max(results * lanes);
        let batch = layout.batch.count(Part::Time);
        let kept = if choice.promotion == Promotion::None { 1 } else { choice.sum };
        ((busiest * batch).max(self.exchanged(results * batch / kept)) + self.filling(), results)
    }

    /// Cycles of the Transpose Engine, if it exchanges rows and columns of the results: columns of each matrix come
    /// in while the rows of the one before go out (book 27).
    fn exchanged(&self, flits: u64) -> u64 {
        let stream = &self.layout.stream;
        let most = elements(GROUP_BYTES, self.problem.out.dtype);
        let columns = (stream.count(Part::Time) * stream.count(Part::Share)).min(most);
        let rows = self.layout.rows.count(Part::Row);
        match (flits / columns.max(1)).checked_sub(1) {
            Some(between) if self.choice.transposed => columns + between * columns.max(rows) + rows,
            Some(_) | None => 0,
        }
    }

    /// Steps of the vector engine for a flit of results in the pipeline of the contraction, and the latency of its
    /// operations.
    fn computed(&self) -> (u64, u64) {
        let epilogue = &self.problem.epilogue;
        if self.is_separate() || epilogue.expression.is_none() {
            return (1, 0);
        }
        match self.problem.passes().filter(|_| self.machine.measured.is_none()) {
            Some([pass, ..]) => (pass.steps(self.has_few_lanes()), pass.latency(self.machine)),
            Some([]) => (1, 0),
            // Float operations take four lanes at a time.
            None => (2, 0),
        }
    }

    /// Latency of the pipeline without its sum between slices.
    fn filling(&self) -> u64 {
        self.latency() + self.computed().1 + self.choice.share - 1
    }

    /// Latency of the pipeline without its ring, its epilogue and its sum between slices.
    fn latency(&self) -> u64 {
        let packet = self.layout.packet.max(1);
        let tree = match self.choice.mode {
            Mode::Columns => 0,
            // The levels above the summed positions add nothing.
            Mode::Tree => packet.min(self.layout.sum.count(Part::Time).next_power_of_two()).ilog2(),
            Mode::Blocks => (packet / SUMS).max(1).ilog2(),
        };
        let cast = if self.is_separate() { 0 } else { self.cast() };
        let levels = u64::from(tree) * self.machine.timing.tree_level_cycles;
        let adapter = self.adapter(1 - self.choice.stationary);
        if self.machine.measured.is_some() {
            LATENCY
        } else {
            STAGES + CONTRACTION_STAGES + adapter + levels + cast
        }
    }

    /// Cycles in which sums between slices go around a ring: the smallest one that holds a group (book 25).
    fn between_slices(&self) -> u64 {
        let (choice, machine) = (self.choice, self.machine);
        if machine.measured.is_some() {
            return machine.topology.slices_per_cluster;
        }
        let inside = if choice.shares_zeros() { choice.rows } else { choice.stream * choice.rows };
        let around = if choice.sum_inside { 1 } else { inside * choice.apart(machine) };
        choice.sum * around * machine.timing.inter_slice_cycles
    }

    /// Cycles of the pipeline, of which the stream takes `streamed` until the flits of `results`, in an iteration of
    /// the batch, are summed.
    fn pipeline(&self, streamed: u64, results: u64) -> u64 {
        let (choice, mut cycles) = (self.choice, streamed);
        if choice.sum > 1 {
            cycles += self.between_slices();
        } else if let Some([_, others @ ..]) = self.problem.passes() {
            let flits = results * self.layout.batch.count(Part::Time);
            cycles += cycles_of(others, (flits, flits), self.has_few_lanes(), self.machine);
        }
        if self.problem.adds_batch() {
            cycles += results * self.layout.batch.count(Part::Time) + LATENCY;
            cycles += if choice.batch > 1 { self.machine.topology.slices_per_cluster } else { 0 };
        }
        cycles
    }

    /// Accesses of the stream's fetch. A packet of elements that are apart in data memory takes one for each, and for
    /// each element of its padding.
    fn accesses(&self, wide: u64) -> u64 {
        let (choice, layout) = (self.choice, self.layout);
        let array = &self.problem.operands[1 - choice.stationary];
        let columns = layout.stream.count(Part::Packet);
        let group = match choice.mode {
            Mode::Columns | Mode::Blocks => &layout.stream,
            Mode::Tree => &layout.sum,
        };
        let near = match &array.image {
            Some(image) => has_near_windows(image, &layout.stream).then_some(wide),
            None => access(array, group, &[&layout.batch, &layout.stream, &layout.sum], wide),
        };
        if let Some(near) = near {
            let packet = bytes(columns, self.problem.dtype());
            let padded = match choice.mode {
                // A packet that is one run is one access, with its padding.
                Mode::Columns | Mode::Blocks if near < wide && packet <= near => {
                    return self.streamed.div_ceil(packet);
                }
                // Where a packet is several runs, so is its padding.
                Mode::Columns | Mode::Blocks if near < wide => {
                    self.streamed / columns * columns.next_multiple_of(layout.flit)
                }
                Mode::Columns | Mode::Blocks | Mode::Tree => self.streamed,
            };
            return padded.div_ceil(near);
        }
        let steps = layout.stream.count(Part::Promoted) * layout.stream.count(Part::Time);
        let batch = layout.batch.count(Part::Time);
        // A single element is one access, with its padding.
        let single = match choice.mode {
            // Rows of an image are packets of their own.
            Mode::Columns | Mode::Blocks if array.image.is_some() => group.group().last == 1,
            Mode::Columns | Mode::Blocks => group.group().size == 1,
            Mode::Tree => layout.sum.count(Part::Time) == 1,
        };
        let fetched = if single { 1 } else { columns.next_multiple_of(layout.flit) };
        match choice.mode {
            // Packets of columns are padded to flits.
            Mode::Columns | Mode::Blocks if array.image.is_some() => batch * steps * layout.depth * fetched,
            Mode::Columns | Mode::Blocks => elements(self.streamed, self.problem.dtype()) / columns * fetched,
            Mode::Tree => {
                let depth = if single { 1 } else { layout.depth };
                batch * steps * layout.sum.count(Part::Piece) * depth
            }
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

    /// Elements of a `packet` of results in the order of the array that are next to each other before.
    fn run_before_order(&self, packet: u64, flit: &Cut, cuts: &[&Cut]) -> u64 {
        let columns = &self.layout.stream;
        // Slices hold several positions of these.
        let long = cuts.iter().copied().filter(|cut| local(cut, self.except()) > 1);
        if !innermost(&self.problem.out, flit, &long.collect::<Vec<_>>()) {
            1
        } else if self.choice.has_rows(self.problem) || columns.padded() == columns.size() {
            packet
        } else {
            // Columns end with padding.
            columns.size().min(packet)
        }
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
            ordered.count.div_ceil(self.run_before_order(ordered.packet, flit, &cuts)) + self.stages(STAGES)
        } else if gathered > 1 {
            let flits = bytes(results, out).div_ceil(FLIT_BYTES.min(bytes(run, out).max(1)));
            (flits + 1) * gathered * inside * choice.apart(self.machine) + self.stages(STAGES) - 1
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

/// Returns true if the columns of a packet are windows that begin one element apart.
fn has_near_windows(image: &Image, stream: &Cut) -> bool {
    let last = stream.group().axes.last().map(|axis| Expr::axis(axis));
    let windows = image.windows.slide().into_iter().flatten();
    windows.into_iter().filter(|(term, _)| Some(term) == last.as_ref()).all(|(_, step)| *step == 1)
}

/// True if `cut` is the last of `cuts` in the array.
fn innermost(array: &Array, cut: &Cut, cuts: &[&Cut]) -> bool {
    cuts.iter().filter(|other| other.size() > 1).all(|other| position(array, other) <= position(array, cut))
}

/// Bytes that an access reads of a cut at once in an array that data memory has in its order among `cuts`, at most
/// `wide`; `None` if single elements are apart.
fn access(array: &Array, cut: &Cut, cuts: &[&Cut], wide: u64) -> Option<u64> {
    let long =
        |axis: &Arc<str>| cuts.iter().flat_map(|cut| cut.group().long.iter()).any(|own| own.0 == *axis);
    let from_last = array.axes.iter().rev().filter(|axis| long(axis));
    let mut own = cut.group().long.iter().rev().peekable();
    let mut run = 1;
    for axis in from_last {
        let Some((_, size)) = own.next_if(|(name, _)| name == axis) else { break };
        // Rows of the innermost axis end with padding, which packets of whole rows read too.
        let row = whole_groups(*size, array.dtype);
        let padded = run == 1 && array.joined <= 1 && row != *size;
        run *= if padded && cut.group().row.is_some() { row } else { *size };
        if padded {
            break;
        }
    }
    if own.peek().is_none() {
        return Some(wide);
    }
    let run = bytes(run, array.dtype);
    let sizes = std::iter::successors(Some(wide), |size| Some(size / 2));
    sizes.take_while(|size| *size >= GROUP_BYTES).find(|size| run.is_multiple_of(*size))
}

/// Returns true if the last axis of a cut is the last one of its axes in the array.
fn ends_with(array: &Array, cut: &Cut) -> bool {
    let last = cut.group().axes.last().filter(|_| cut.group().last > 1);
    last.is_none_or(|axis| array.position(axis) == position(array, cut))
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
    let row = layout.batches() * reused * depth;
    let file = bytes(row, dtype) <= machine.trf_row_bytes(choice.row);
    let buffer = machine
        .accumulator(choice.has_rows(problem), choice.row, layout.stream.count(Part::Packet), reused)
        .fits();
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
    whole_groups(held, array.dtype) == held
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
