//! `hw.vector_lanes`: the Narrow and Widen stages of the Vector Engine, and their effect on valid counts (books 21,
//! 24).

use crate::build::{Build, verify};
use crate::ways::way_bytes;
use visa_engine::place::{Station, rngd};
use visa_engine::shadow::Shadow;
use visa_engine::words::LaneChange;
use visa_engine::{
    Engine, Flow, Lanes, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire,
};
use visa_ir::Word as _;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;
use visa_numerics::VectorStage;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&VECTOR_LANES];

/// `hw.vector_lanes`.
#[visa_ir::view(VectorLanes)]
pub static VECTOR_LANES: OpDecl = OpDecl {
    name: "hw.vector_lanes",
    summary: "changes between packets of 8 lanes and of 4",
    doc: "`split` makes two packets of 4 lanes of each of 8, `concat` undoes it; `trim` drops the upper 4 lanes \
          of each packet, `pad` adds 4 that are undefined (book 21). Of a valid count v, `split` gives min(v, 4) \
          and max(v - 4, 0), `concat` the sum; `trim` and `pad` keep it (book 24).",
    constraints: &[
        (
            "C1",
            "`split` and `trim` take packets of 8 lanes, `concat` and `pad` of 4, of 32 bits each (book 21)",
        ),
        ("C2", "`concat` takes an even number of packets"),
    ],
    clauses: &[ClauseDecl::lead("how", ClauseKind::word::<LaneChange>(), "Change of the lanes.")],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.vector_lanes split",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?)))),
        Interface(&Station::Word("how", |word| LaneChange::from_word(word).map(LaneChange::stage))),
    ],
    ..OpDecl::BASE
};

/// The change that makes packets of one flow those of another; `None` if there is none.
pub(crate) fn between(from: Flow, to: Flow) -> Option<LaneChange> {
    let whole = |change: &LaneChange| *change != LaneChange::Concat || from.packets.is_multiple_of(2);
    LaneChange::ALL.iter().copied().filter(whole).find(|change| change.out(from) == to)
}

/// The effect of a change of lanes on a stream.
pub(crate) trait ChangesLanes: Sized {
    /// The output flow for a flow whose packets have the size that it takes.
    fn out(self, flow: Flow) -> Flow;
    /// `items` in packets of `size` items each, `fill` where lanes are new.
    fn items<T: Copy>(self, items: Vec<T>, size: usize, fill: T) -> Vec<T>;
    /// Valid counts of the packets after it, of those with `narrow` lanes at most.
    fn valid(self, counts: Vec<u8>, narrow: u8) -> Vec<u8>;
}

impl ChangesLanes for LaneChange {
    fn out(self, Flow { packets, packet }: Flow) -> Flow {
        match self {
            Self::Split => Flow { packets: packets * 2, packet: packet / 2 },
            Self::Trim => Flow { packets, packet: packet / 2 },
            Self::Concat => Flow { packets: packets / 2, packet: packet * 2 },
            Self::Pad => Flow { packets, packet: packet * 2 },
        }
    }

    fn items<T: Copy>(self, items: Vec<T>, size: usize, fill: T) -> Vec<T> {
        match self {
            Self::Split | Self::Concat => items,
            Self::Trim => {
                items.chunks(size).flat_map(|packet| &packet[..packet.len() / 2]).copied().collect()
            }
            Self::Pad => {
                let padded =
                    |packet: &[T]| packet.iter().copied().chain(vec![fill; size]).collect::<Vec<_>>();
                items.chunks(size).flat_map(padded).collect()
            }
        }
    }

    fn valid(self, counts: Vec<u8>, narrow: u8) -> Vec<u8> {
        match self {
            Self::Split => {
                counts.into_iter().flat_map(|v| [v.min(narrow), v.saturating_sub(narrow)]).collect()
            }
            Self::Concat => counts.chunks(2).map(|pair| pair.iter().sum()).collect(),
            Self::Trim => counts.into_iter().map(|v| v.min(narrow)).collect(),
            Self::Pad => counts,
        }
    }
}

struct VectorLanesUnit {
    how: LaneChange,
}

fn read(op: OpRef<'_>) -> Result<VectorLanesUnit, Diagnostic> {
    let op = VectorLanes::of(op)?;
    Ok(VectorLanesUnit { how: op.how()? })
}

impl Unit for VectorLanesUnit {
    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        let wide = way_bytes(VectorStage::Branch, machine);
        let wanted = if self.how.stage() == VectorStage::Narrow { wide } else { wide / 2 };
        if input.packet != wanted || input.dtype.bits() != 32 {
            let message = format!(
                "found packets of {} of {}, expected {} of i32 or f32",
                counted(input.packet, "byte"),
                input.dtype,
                counted(wanted, "byte")
            );
            return Err(Mismatch::new("C1", "how", message));
        }
        if self.how == LaneChange::Concat && !input.packets.is_multiple_of(2) {
            let message = format!("found {}, expected an even number", counted(input.packets, "packet"));
            return Err(Mismatch::new("C2", "how", message));
        }
        let out = self.how.out(input.flow());
        Ok(Wire { packets: out.packets, packet: out.packet, ..input })
    }

    /// Wires only: the stages after it run at half the rate, with twice the packets.
    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        let out = self.how.out(input);
        StageCost { engine: Engine::VECTOR, cycles: input.packets.max(out.packets), latency: 0, macs: 0, out }
    }
}

impl Map for VectorLanesUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, input: Stream) -> Stream {
        let (size, lanes) = (input.packet, input.packet / 4);
        let shadow = input.shadow.map(|mut marks| {
            let Some(mut marker) = cx.marker() else { return marks };
            marker.through_all(&mut marks);
            let fill = marker.through(Shadow::NEVER_WRITTEN);
            self.how.items(marks, size, fill)
        });
        let narrow = (cx.machine.limits.vector_lanes / 2) as u8;
        let beside = input.lanes.map(|beside| {
            let Lanes { ids, id_marks, valid, stash, written } = *beside;
            let (ids, id_marks) =
                (self.how.items(ids, lanes, 0), self.how.items(id_marks, lanes, Shadow::DEFINED));
            Box::new(Lanes { ids, id_marks, valid: self.how.valid(valid, narrow), stash, written })
        });
        let packet = self.how.out(Flow { packets: 0, packet: size as u64 }).packet as usize;
        Stream {
            packet,
            bytes: self.how.items(input.bytes, size, 0),
            shadow,
            lanes: beside,
            ..Stream::empty(input.dtype)
        }
    }
}
