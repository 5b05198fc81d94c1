//! `hw.vector_reduce`: the reduction within a slice, in the Vector Engine (book 22).

use super::accumulate::{inner, numbered};
use crate::attrs::PROGRAM;
use crate::build::{Build, verify};
use crate::clauses::machine;
use crate::loops::{Loops, Written};
use crate::ways::way_bytes;
use visa_engine::place::{Station, rngd};
use visa_engine::shadow::Shadow;
use visa_engine::words::ReducedLanes;
use visa_engine::{
    Engine, Flow, Lanes, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::Program;
use visa_machine::Machine;
use visa_numerics::{Bits, DType, ReduceName, ReduceOp, SliceReduceName, VectorStage, reduce_op};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&VECTOR_REDUCE];

/// `hw.vector_reduce`.
#[visa_ir::view(VectorReduce)]
pub static VECTOR_REDUCE: OpDecl = OpDecl {
    name: "hw.vector_reduce",
    summary: "reduces packets of 4 lanes over time, and the lanes too if asked",
    doc: "Every packet goes to a slot of the accumulator, and packets of one slot are reduced in time order (book \
          22). `slots` has one step a packet: entries of stride 0 are reduced, the others number the slots in the \
          order they come out. `tree` first reduces the lanes, neighbours and then those results, and gives \
          packets whose first lane holds the result, the others undefined; `apart` reduces each lane by itself. \
          An element beyond its packet's valid count counts as the identity element of the operation (book 22). \
          Blocking: nothing comes out before a slot is complete. Valid counts and execution ids end here.",
    constraints: &[
        ("C1", "`slots` has one step for each packet that flows in, and packets of 1"),
        ("C2", "the kept entries of `slots` number the slots 0, 1, 2, ... without gap or overlap"),
        ("C3", "at most 8 slots are kept inside the outermost reduced loop (book 22)"),
        ("C4", "AddSat, Max and Min of i32, Add, Max and Min of f32 (book 22)"),
        ("C5", "packets of 4 lanes (book 22)"),
    ],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<SliceReduceName>(), "Function of two elements."),
        ClauseDecl::required(
            "lanes",
            ClauseKind::word::<ReducedLanes>(),
            "Whether the lanes of a packet are reduced to one.",
        ),
        ClauseDecl::required("slots", ClauseKind::body::<Program>(&PROGRAM), "The slot of each packet."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.vector_reduce Add, lanes tree, slots [2 : 0, 2 : 1] : 1",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?)))),
        Interface(&Station::At(VectorStage::Reduce)),
    ],
    ..OpDecl::BASE
};

struct VectorReduceUnit {
    name: ReduceName,
    tree: bool,
    /// Slots that come out.
    kept: u64,
    /// Packets of a slot.
    summed: u64,
    slots: Loops,
}

fn read(op: OpRef<'_>) -> Result<VectorReduceUnit, Diagnostic> {
    let op = VectorReduce::of(op)?;
    let name = op.op()?.into();
    let tree = match op.lanes()? {
        ReducedLanes::Tree => true,
        ReducedLanes::Apart => false,
    };
    let written = Written::new(*op, "slots", op.slots()?);
    written.sequencer("C1", &[1])?;
    let kept = numbered(&written.program).map_err(|message| written.error("C2", message))?;
    let most = machine(*op).limits.reduce_slots;
    if let Some(slots) = inner(&written.program).filter(|&slots| slots > most) {
        let message = format!(
            "{} are kept inside the outermost reduced loop, expected at most {most}",
            counted(slots, "slot")
        );
        return Err(written.error("C3", message));
    }
    let slots = written.loops("C1")?;
    let summed = slots.steps() / kept.max(1);
    Ok(VectorReduceUnit { name, tree, kept, summed, slots })
}

/// The valid count of each of `packets` packets of `lanes` lanes; all lanes where nothing counts them.
fn valid_counts(stream: &Stream, lanes: usize) -> impl Iterator<Item = usize> + '_ {
    let counts = stream.lanes.as_ref().map_or(&[][..], |beside| &beside.valid);
    (0..stream.bytes.len() / (4 * lanes))
        .map(move |at| counts.get(at).map_or(lanes, |&count| usize::from(count)))
}

impl VectorReduceUnit {
    fn row(&self, dtype: DType) -> Option<&'static ReduceOp> {
        reduce_op(self.name, dtype).filter(|row| row.within_slice)
    }

    fn out(&self, packet: u64) -> Flow {
        Flow { packets: self.kept, packet }
    }

    /// The lanes of each slot: one for a tree, else as many as a packet has.
    fn values(&self, row: &ReduceOp, input: &Stream) -> Vec<Bits> {
        let lanes = input.packet / 4;
        let width = if self.tree { 1 } else { lanes };
        let (elements, _) = input.bytes.as_chunks::<4>();
        let mut slots: Vec<Option<Bits>> = vec![None; self.kept as usize * width];
        let packets = elements.chunks_exact(lanes).zip(valid_counts(input, lanes));
        let mut values = vec![0; lanes];
        for ((packet, valid), &slot) in packets.zip(self.slots.addresses().iter()) {
            for (lane, (value, element)) in values.iter_mut().zip(packet).enumerate() {
                *value = if lane < valid { Bits::from_le_bytes(*element) } else { row.identity };
            }
            let tree = [row.tree(&values)];
            let values = if self.tree { &tree[..] } else { &values };
            for (held, &value) in slots[slot as usize * width..][..width].iter_mut().zip(values) {
                *held = Some(held.map_or(value, |held| (row.apply)(held, value)));
            }
        }
        slots.into_iter().map(|held| held.unwrap_or(row.identity)).collect()
    }

    /// One mark for each of [`Self::values`]: of the elements that count.
    fn marks(&self, input: &Stream, marks: &[Shadow]) -> Vec<Shadow> {
        let lanes = input.packet / 4;
        let width = if self.tree { 1 } else { lanes };
        let mut slots = vec![Shadow::DEFINED; self.kept as usize * width];
        let packets = marks.chunks_exact(input.packet).zip(valid_counts(input, lanes));
        for ((packet, valid), &slot) in packets.zip(self.slots.addresses().iter()) {
            let slot = &mut slots[slot as usize * width..][..width];
            for (lane, element) in packet.chunks_exact(4).enumerate().take(valid) {
                let held = &mut slot[if self.tree { 0 } else { lane }];
                *held = held.or(Shadow::all(element));
            }
        }
        slots
    }

    /// Values as packets: a tree's has one in its first lane.
    fn packets<T: Copy>(&self, values: Vec<T>, lanes: usize, rest: T) -> Vec<T> {
        if !self.tree {
            return values;
        }
        let packet = |value| std::iter::once(value).chain(std::iter::repeat_n(rest, lanes - 1));
        values.into_iter().flat_map(packet).collect()
    }
}

impl Unit for VectorReduceUnit {
    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if self.row(input.dtype).is_none() {
            let message = format!("{} of {} is no reduction within a slice", self.name, input.dtype);
            return Err(Mismatch::new("C4", "op", message));
        }
        let wanted = way_bytes(VectorStage::Reduce, machine);
        if input.packet != wanted {
            let message = format!("found packets of {}, expected {wanted}", counted(input.packet, "byte"));
            return Err(Mismatch::new("C5", "lanes", message));
        }
        if self.slots.steps() != input.packets {
            let message = format!(
                "`slots` has {}, expected {}, one a packet",
                counted(self.slots.steps(), "step"),
                input.packets
            );
            return Err(Mismatch::new("C1", "slots", message));
        }
        Ok(Wire { packets: self.kept, ..input })
    }

    /// Where packets are reduced over time, the first result waits for its packets (book 22).
    fn streaming(&self) -> u64 {
        if self.summed > 1 { self.summed } else { 0 }
    }

    /// The tree takes a packet a cycle.
    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let latency = machine.timing.alu_latency_cycles;
        StageCost {
            engine: Engine::VECTOR,
            cycles: input.packets,
            latency,
            macs: 0,
            out: self.out(input.packet),
        }
    }

    fn excludes(&self) -> Option<&'static str> {
        Some("a mask of the fetch, or hw.vector_valid_count, keeps padding out of a reduction")
    }
}

impl Map for VectorReduceUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, input: Stream) -> Stream {
        let Some(row) = self.row(input.dtype) else { return input };
        let lanes = input.packet / 4;
        let values = self.packets(self.values(row, &input), lanes, 0);
        let shadow = input.shadow.as_ref().zip(cx.marker()).map(|(marks, mut marker)| {
            let mut marks = self.packets(self.marks(&input, marks), lanes, Shadow::NEVER_WRITTEN);
            marker.through_all(&mut marks);
            marks.into_iter().flat_map(|mark| [mark; 4]).collect()
        });
        let stash = input.lanes.and_then(|beside| beside.stash);
        Stream {
            packet: input.packet,
            bytes: values.into_iter().flat_map(Bits::to_le_bytes).collect(),
            shadow,
            lanes: stash.map(|stash| Box::new(Lanes { stash: Some(stash), ..Lanes::default() })),
            ..Stream::empty(input.dtype)
        }
    }
}
