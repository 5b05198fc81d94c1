//! `hw.filter`: the filter of the Vector Engine, and the compaction of the kept elements (book 21; book 35, section
//! 2.3).

use crate::attrs::GUARDS;
use crate::build::{Build, verify};
use crate::clauses::{at_least, machine};
use crate::ways::way_bytes;
use visa_engine::place::{Station, rngd};
use visa_engine::shadow::Shadow;
use visa_engine::{Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;
use visa_numerics::{GuardFault, Guards, IdSet, Slot, VectorStage};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&FILTER];

/// `hw.filter`.
#[visa_ir::view(Filter)]
pub static FILTER: OpDecl = OpDecl {
    name: "hw.filter",
    summary: "keeps elements by their execution ids",
    doc: "Elements for whose execution id a guard holds move to the front of their packet, in order; their number \
          is the packet's valid count from now on. The elements after them are zero. Lanes from `lanes` on hold no \
          elements, and are never kept; nor are those beyond the valid count that the packet had.",
    constraints: &[
        ("C1", "the guards of `keep` have no operands"),
        ("C2", "every guard holds for an execution id that no guard before it takes"),
        ("C3", "a packet is 8 elements of 32 bits (book 21)"),
        ("C4", "`lanes` is 1 to 8"),
    ],
    clauses: &[
        ClauseDecl::required(
            "keep",
            ClauseKind::body::<Guards<i32>>(&GUARDS),
            "Which elements are kept, by execution id.",
        ),
        ClauseDecl::default("lanes", ClauseKind::Int, "8", "Leading lanes of a packet that hold elements."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.filter keep [xxx1]",
    interfaces: &[
        Interface(&rngd::FILTER),
        Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?)))),
        Interface(&Station::At(VectorStage::Filter)),
    ],
    ..OpDecl::BASE
};

struct FilterUnit {
    keep: Guards<i32>,
    lanes: usize,
}

fn read(op: OpRef<'_>) -> Result<FilterUnit, Diagnostic> {
    let op = Filter::of(op)?;
    let keep = op.keep()?;
    if keep.0.iter().any(|(_, slot)| *slot != Slot::Apply) {
        return Err(op.clause_error("C1", "keep", "a guard of a filter has no operand"));
    }
    let (lanes, most) = (at_least(*op, "C4", ("lanes", op.lanes()?), 1)?, machine(*op).limits.vector_lanes);
    if lanes > most {
        return Err(op.clause_error("C4", "lanes", format!("`lanes` is {lanes}, expected 1 to {most}")));
    }
    match keep.check(0, IdSet::MAX) {
        Ok(()) => Ok(FilterUnit { keep: (*keep).clone(), lanes: lanes as usize }),
        Err(GuardFault::Slots(message)) => Err(op.clause_error("C1", "keep", message)),
        Err(GuardFault::Dead(message, fix)) => Err(op.clause_error("C2", "keep", message).fix(Some(fix))),
    }
}

/// Moves the elements of `width` items at the places `kept` to the front of a packet; the others become `fill`.
fn compact<T: Copy>(packet: &mut [T], width: usize, kept: &[usize], fill: T) {
    for (to, &from) in kept.iter().enumerate() {
        packet.copy_within(from * width..(from + 1) * width, to * width);
    }
    packet[kept.len() * width..].fill(fill);
}

impl Unit for FilterUnit {
    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        let wanted = way_bytes(VectorStage::Filter, machine);
        if input.packet == wanted && input.dtype.bits() == 32 {
            return Ok(input);
        }
        let message = format!(
            "found packets of {} of {}, expected {} of i32 or f32",
            counted(input.packet, "byte"),
            input.dtype,
            counted(wanted, "byte")
        );
        Err(Mismatch::new("C3", "keep", message))
    }

    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        StageCost { engine: Engine::VECTOR, cycles: input.packets, latency: 0, macs: 0, out: input }
    }
}

impl Map for FilterUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, mut input: Stream) -> Stream {
        input.pass_marks(cx);
        let size = input.packet.max(1);
        let mut lanes = input.lanes.take().unwrap_or_default();
        let valid = std::mem::take(&mut lanes.valid);
        for (number, packet) in input.bytes.chunks_mut(size).enumerate() {
            let first = number * size / 4;
            let live = valid.get(number).map_or(self.lanes, |&valid| self.lanes.min(usize::from(valid)));
            let kept: Vec<usize> =
                (0..live).filter(|&lane| self.keep.slot(lanes.id(first + lane)).is_some()).collect();
            // Positions that no lane holds make no count uncertain.
            lanes
                .id_marks
                .iter_mut()
                .skip(first + live)
                .take(packet.len() / 4 - live)
                .for_each(|mark| *mark = Shadow::DEFINED);
            compact(packet, 4, &kept, 0);
            if let Some(marks) = input.shadow.as_mut().and_then(|marks| marks.get_mut(number * size..)) {
                let length = packet.len().min(marks.len());
                compact(&mut marks[..length], 4, &kept, Shadow::DEFINED);
            }
            lanes.valid.push(kept.len() as u8);
        }
        input.lanes = Some(lanes);
        input
    }
}
