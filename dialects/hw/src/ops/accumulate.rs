//! `hw.accumulate`: the Reducer's temporal accumulator (book 19).

use crate::attrs::PROGRAM;
use crate::build::{Build, verify};
use crate::clauses::{at_least, machine, one_of, takes_max};
use crate::greatest::{Greatest, greatest};
use crate::loops::{Loops, Written};
use crate::number::Number;
use crate::ops::contract::Contract;
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::words::{AccumulatorOrder, ContractionKind};
use visa_engine::{
    Engine, Flow, Map, Mismatch, Operand, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::{Entry, Program, Stride};
use visa_machine::Machine;
use visa_numerics::ROWS;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&ACCUMULATE];

/// `hw.accumulate`.
#[visa_ir::view(Accumulate)]
pub static ACCUMULATE: OpDecl = OpDecl {
    name: "hw.accumulate",
    summary: "adds packets of sums over time",
    doc: "Every packet goes to a slot of the buffer; packets of one slot are added in time order (book 19). \
          `slots` has one step a packet: entries of stride 0 are reduced, the others number the slots in the \
          order they come out. `interleaved` gives, for each slot and each column, a packet of the rows' 8 values \
          (zeros for rows that are not there); `sequential` gives, for each slot and each row, its columns in \
          packets of 8, zeros after the last.",
    constraints: &[
        ("C1", "`slots` has one step for each packet that flows in, and packets of 1"),
        ("C2", "the kept entries of `slots` number the slots 0, 1, 2, ... without gap or overlap"),
        ("C3", "the rows are the aligner's (book 19)"),
        ("C4", "a row gives at least `columns` sums (book 19)"),
        (
            "C5",
            "the kept loops inside the outermost reduced loop fit the buffer: interleaved, at most 128 and \
             align_up(rows, 8) * inner <= 1024; sequential, at most 32 and align_up(columns, 32) * inner <= 1024 \
             (book 19)",
        ),
        ("C6", "`op` is the contraction's"),
    ],
    clauses: &[
        ClauseDecl::lead(
            "kind",
            ClauseKind::word::<AccumulatorOrder>(),
            "Whether a packet out holds the rows or the columns.",
        ),
        ClauseDecl::default(
            "op",
            ClauseKind::word::<ContractionKind>(),
            "add",
            "Reduction of the packets of one slot.",
        ),
        ClauseDecl::required("rows", ClauseKind::Int, "Rows that compute."),
        ClauseDecl::required("columns", ClauseKind::Int, "Sums of a row that are kept."),
        ClauseDecl::required("slots", ClauseKind::body::<Program>(&PROGRAM), "The slot of each packet."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.accumulate interleaved, rows 8, columns 1, slots [2 : 0, 8 : 1] : 1",
    interfaces: &[Interface(&rngd::ACCUMULATE), Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?))))],
    ..OpDecl::BASE
};

struct AccumulateUnit {
    kind: AccumulatorOrder,
    /// True if the greatest is taken instead of a sum.
    max: bool,
    rows: u64,
    columns: u64,
    /// Slots that come out.
    kept: u64,
    /// Values of a packet out.
    lanes: u64,
    slots: Loops,
}

fn read(op: OpRef<'_>) -> Result<AccumulateUnit, Diagnostic> {
    let op = Accumulate::of(op)?;
    let limits = &machine(*op).limits;
    let kind = op.kind()?;
    let rows = one_of(*op, "C3", ("rows", op.rows()?), &limits.row_counts)?;
    let columns = at_least(*op, "C4", ("columns", op.columns()?), 1)?;
    if columns > limits.accumulator_columns {
        let message = format!("`columns` is {columns}, expected at most {}", limits.accumulator_columns);
        return Err(op.clause_error("C4", "columns", message));
    }
    let written = Written::new(*op, "slots", op.slots()?);
    written.sequencer("C1", &[1])?;
    let kept = numbered(&written.program).map_err(|message| written.error("C2", message))?;
    let (lanes, max) = (limits.vector_lanes, takes_max(op.op()?));
    let contraction =
        crate::order::before(*op).and_then(Contract::cast).map(|before| before.op()).transpose()?;
    if contraction.is_some_and(|before| takes_max(before) != max) {
        return Err(op.clause_error("C6", "op", "the contraction before it has another `op`".to_owned()));
    }
    let accumulate = AccumulateUnit { kind, max, rows, columns, kept, lanes, slots: written.loops("C1")? };
    accumulate.check_buffer(*op, &machine(*op))?;
    Ok(accumulate)
}

/// Number of slots, if the kept entries number them without gap: in ascending order, each stride is the product of the
/// limits below it.
pub(crate) fn numbered(slots: &Program) -> Result<u64, String> {
    let indirect = |entry: &&Entry| entry.stride.table().is_some();
    if let Some(entry) = slots.entries.iter().find(indirect) {
        return Err(format!("entry `{entry}` of `{slots}` has an offset table, expected a stride"));
    }
    let mut kept: Vec<_> =
        slots.entries.iter().filter(|entry| entry.limit > 1 && !is_summed(entry)).collect();
    kept.sort_by_key(|entry| entry.stride.fixed());
    if slots.base != 0 {
        return Err(format!("the first slot of `{slots}` is {}, expected 0", slots.base));
    }
    let mut count = 1_u64;
    for entry in kept {
        if entry.stride.fixed().and_then(|stride| u64::try_from(stride).ok()) != Some(count) {
            return Err(format!(
                "entry `{entry}` of `{slots}` has stride {}, expected {count}",
                entry.stride
            ));
        }
        count *= entry.limit;
    }
    Ok(count)
}

/// Returns true if the iterations of an entry add to the same slots.
fn is_summed(entry: &Entry) -> bool {
    entry.stride == Stride::Fixed(0)
}

/// Kept steps inside the outermost reduced loop; `None` where nothing is reduced.
pub(crate) fn inner(slots: &Program) -> Option<u64> {
    let outermost = slots.entries.iter().position(|entry| entry.limit > 1 && is_summed(entry))?;
    let kept = slots.entries[outermost..].iter().filter(|entry| !is_summed(entry));
    Some(kept.map(|entry| entry.limit).product())
}

impl AccumulateUnit {
    /// C5.
    fn check_buffer(&self, op: OpRef<'_>, machine: &Machine) -> Result<(), Diagnostic> {
        let Some(kept) = inner(&self.slots.program) else { return Ok(()) };
        let interleaved = self.kind == AccumulatorOrder::Interleaved;
        let buffer = machine.accumulator(interleaved, self.rows, self.columns, kept);
        if buffer.fits() {
            return Ok(());
        }
        let message = format!(
            "{} ({kept} slots times {}) are kept inside the outermost reduced loop, expected at most {}",
            counted(buffer.inner, "value"),
            if interleaved { "columns" } else { "rows" },
            buffer.limit()
        );
        Err(op.clause_error("C5", "slots", message))
    }

    /// Packets out for each slot.
    fn packets_a_slot(&self) -> u64 {
        match self.kind {
            AccumulatorOrder::Interleaved => self.columns,
            AccumulatorOrder::Sequential => self.rows * self.columns.div_ceil(self.lanes),
        }
    }

    fn out(&self) -> Flow {
        Flow { packets: self.kept * self.packets_a_slot(), packet: self.lanes * 4 }
    }

    /// For each value out, its place in the buffer (`[slot][row][column]`), or `None` for a zero.
    fn places(&self) -> impl Iterator<Item = Option<usize>> {
        let (rows, columns, lanes) = (self.rows as usize, self.columns as usize, self.lanes as usize);
        let (outer, width, row_step, lane_step, last) = match self.kind {
            AccumulatorOrder::Interleaved => (columns, lanes, 1, columns, rows),
            AccumulatorOrder::Sequential => (rows, columns.next_multiple_of(lanes), columns, 1, columns),
        };
        (0..self.kept as usize).flat_map(move |slot| {
            (0..outer).flat_map(move |index| {
                let start = slot * rows * columns + index * row_step;
                (0..width).map(move |lane| (lane < last).then_some(start + lane * lane_step))
            })
        })
    }

    /// Returns true if [`AccumulateUnit::places`] are those of the buffer, one after the other.
    fn comes_out_in_order(&self) -> bool {
        match self.kind {
            AccumulatorOrder::Interleaved => self.columns == 1 && self.rows == self.lanes,
            AccumulatorOrder::Sequential => self.columns.is_multiple_of(self.lanes),
        }
    }

    /// Consecutive packets that go to the same slot.
    fn run(&self) -> usize {
        let inner = self.slots.program.entries.iter().rev().take_while(|entry| is_summed(entry));
        inner.map(|entry| entry.limit as usize).product()
    }

    /// The buffer after all packets, `[slot][row][column]`.
    fn values<T: Number>(&self, input: &Stream, operand: &Operand) -> Vec<T> {
        let numbers = input.bytes.as_chunks().0;
        let (rows, columns, terms) = (self.rows as usize, self.columns as usize, operand.terms);
        let groups = input.packet / (4 * rows * terms);
        let (size, run) = (rows * groups * terms, self.run());
        let mut buffer = vec![T::IDENTITY; self.kept as usize * rows * columns];
        let slots = self.slots.addresses().iter().step_by(run);
        if let (true, (lanes, [])) = (size == ROWS && terms == 1 && columns == groups, buffer.as_chunks_mut())
        {
            add_runs(lanes, &slots.copied().collect::<Vec<_>>(), numbers.as_chunks().0, run);
            return buffer;
        }
        for (packets, &slot) in numbers.chunks_exact(size * run).zip(slots) {
            let sums = &mut buffer[slot as usize * rows * columns..][..rows * columns];
            let packets = packets.chunks_exact(size);
            if columns == groups && terms == 1 {
                add_whole(sums, packets);
                continue;
            }
            for packet in packets {
                for (sums, packet) in sums.chunks_exact_mut(columns).zip(packet.chunks_exact(groups * terms))
                {
                    for (sum, values) in sums.iter_mut().zip(packet.chunks_exact(terms)) {
                        *sum = values.iter().fold(*sum, |sum, &value| sum.sum(T::read(value)));
                    }
                }
            }
        }
        buffer
    }

    /// The same with the greatest of each in place of the sum.
    fn maxima<T: Greatest>(&self, input: &Stream, operand: &Operand) -> Vec<T> {
        let mut numbers = Vec::new();
        if T::decode(input.dtype, &input.bytes, &mut numbers).is_err() {
            return Vec::new();
        }
        let slots = (&self.slots.addresses()[..], self.kept as usize);
        greatest(&numbers, input.packet / 4, slots, self.columns as usize, operand.terms)
    }

    fn bytes<T: Greatest>(&self, input: &Stream, operand: &Operand) -> Vec<u8> {
        let buffer =
            if self.max { self.maxima::<T>(input, operand) } else { self.values::<T>(input, operand) };
        let out = self.out();
        let mut bytes = Vec::with_capacity((out.packets * out.packet) as usize);
        if self.comes_out_in_order() {
            buffer.iter().for_each(|value| bytes.extend_from_slice(&value.bytes()));
            return bytes;
        }
        for place in self.places() {
            let value = place.and_then(|place| buffer.get(place).copied());
            bytes.extend_from_slice(&value.unwrap_or(T::ZERO).bytes());
        }
        bytes
    }

    /// One mark a value, on its 4 bytes.
    fn marks(&self, cx: RunCx<'_>, input: &Stream, operand: &Operand) -> Option<Vec<Shadow>> {
        let (mut marker, marks) = (cx.marker()?, input.shadow.as_ref()?);
        let (rows, columns) = (self.rows as usize, self.columns as usize);
        let row_bytes = input.packet / rows;
        let value_bytes = 4 * operand.terms;
        let mut buffer = vec![Shadow::DEFINED; self.kept as usize * rows * columns];
        for (packet, &slot) in marks.chunks_exact(input.packet).zip(self.slots.addresses().iter()) {
            let sums = &mut buffer[slot as usize * rows * columns..][..rows * columns];
            for (sums, row) in sums.chunks_exact_mut(columns).zip(packet.chunks_exact(row_bytes)) {
                for (sum, value) in sums.iter_mut().zip(row.chunks_exact(value_bytes)) {
                    *sum = sum.or(Shadow::all(value));
                }
            }
        }
        let mark =
            |place: Option<usize>| place.map_or(Shadow::DEFINED, |place| marker.through(buffer[place]));
        Some(self.places().map(mark).flat_map(|mark| [mark; 4]).collect())
    }
}

/// Adds runs of packets that are eight values each to the slots of the runs, four runs at a time where their slots
/// differ: a sum waits for the one before, and the processor has the others to do meanwhile.
fn add_runs<T: Number>(lanes: &mut [[T; ROWS]], slots: &[u32], packets: &[[[u8; 4]; ROWS]], run: usize) {
    const RUNS: usize = 4;
    let (mut fours, mut runs) = (slots.chunks_exact(RUNS), packets.chunks_exact(run * RUNS));
    for (four, packets) in fours.by_ref().zip(runs.by_ref()) {
        let places: [usize; RUNS] = std::array::from_fn(|at| four[at] as usize);
        match lanes.get_disjoint_mut(places) {
            Ok(sums) => {
                let steps = (0..run).map(|step| std::array::from_fn(|at| &packets[at * run + step]));
                let totals = T::sum_lanes(sums.each_ref().map(|sums| **sums), steps);
                sums.into_iter().zip(totals).for_each(|(sums, total)| *sums = total);
            }
            Err(_) => add_each(lanes, four, packets, run),
        }
    }
    add_each(lanes, fours.remainder(), runs.remainder(), run);
}

/// [`add_runs`], one at a time.
fn add_each<T: Number>(lanes: &mut [[T; ROWS]], slots: &[u32], packets: &[[[u8; 4]; ROWS]], run: usize) {
    for (&slot, packets) in slots.iter().zip(packets.chunks_exact(run)) {
        let sums = &mut lanes[slot as usize];
        [*sums] = T::sum_lanes([*sums], packets.iter().map(|packet| [packet]));
    }
}

/// Adds packets that have a value for each sum, eight sums at a time: they stay in registers.
fn add_whole<'a, T: Number>(sums: &mut [T], packets: impl Iterator<Item = &'a [[u8; 4]]> + Clone) {
    let (lanes, rest) = sums.as_chunks_mut::<ROWS>();
    for (at, lanes) in lanes.iter_mut().enumerate() {
        let values = packets.clone().filter_map(|packet| packet.as_chunks().0.get(at));
        [*lanes] = T::sum_lanes([*lanes], values.map(|values| [values]));
    }
    for packet in packets {
        let values = packet.as_chunks::<ROWS>().1;
        rest.iter_mut().zip(values).for_each(|(sum, &value)| *sum = sum.sum(T::read(value)));
    }
}

impl Unit for AccumulateUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if input.rows != Some(self.rows) {
            let aligner = input
                .rows
                .map_or_else(|| "there is no aligner".to_owned(), |rows| format!("the aligner has {rows}"));
            let message = format!("`rows` is {}, {aligner}", self.rows);
            return Err(Mismatch::new("C3", "rows", message));
        }
        let groups = input.packet / (4 * self.rows);
        if self.columns > groups {
            let message = format!("`columns` is {}, a row gives {groups}", self.columns);
            return Err(Mismatch::new("C4", "columns", message));
        }
        if self.slots.steps() != input.packets {
            let message = format!(
                "`slots` has {}, expected {}, one a packet",
                counted(self.slots.steps(), "step"),
                input.packets
            );
            return Err(Mismatch::new("C1", "slots", message));
        }
        let out = self.out();
        Ok(Wire { dtype: input.dtype, packets: out.packets, packet: out.packet, rows: None, ..Wire::NOTHING })
    }

    /// The input side costs nothing extra: it matches the throughput of the trees.
    fn cost(&self, _machine: &Machine, _input: Flow) -> StageCost {
        let out = self.out();
        StageCost { engine: Engine::CONTRACTION, cycles: out.packets, latency: 1, macs: 0, out }
    }
}

impl Map for AccumulateUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, input: Stream) -> Stream {
        let Some(operand) = &input.operand else { return Stream::empty(input.dtype) };
        let bytes = match input.dtype.is_float() {
            true => self.bytes::<f32>(&input, operand),
            false => self.bytes::<i32>(&input, operand),
        };
        let shadow = self.marks(cx, &input, operand);
        Stream {
            dtype: input.dtype,
            packet: self.out().packet as usize,
            bytes,
            shadow,
            operand: None,
            lanes: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six runs of three packets: four that differ, then two of one slot; and the other way round, so that four
    /// clash.
    #[test]
    fn runs_are_added_in_their_order() {
        // The sum of a lane depends on its order: a 1 after 2^24 is lost, two before it are not.
        let value = |packet: usize, lane: usize| if packet % 3 == lane % 3 { 16_777_216.0 } else { 1.0_f32 };
        let packets: Vec<[[u8; 4]; ROWS]> =
            (0..18).map(|packet| std::array::from_fn(|lane| value(packet, lane).to_le_bytes())).collect();
        for slots in [[0, 2, 1, 3, 3, 3], [1, 1, 0, 1, 2, 3]] {
            let mut found = [[f32::IDENTITY; ROWS]; 4];
            add_runs(&mut found, &slots, &packets, 3);
            let mut expected = [[-0.0; ROWS]; 4];
            for (packet, slot) in slots.iter().flat_map(|slot| [slot; 3]).enumerate() {
                for (lane, sum) in expected[*slot as usize].iter_mut().enumerate() {
                    *sum += value(packet, lane);
                }
            }
            assert_eq!(found, expected, "{slots:?}");
        }
    }
}
