//! `hw.vector_zip`: makes one stream of two groups whose packets alternate (book 21, two-group mode).

use crate::build::{Build, verify};
use crate::clauses::one_of;
use crate::ways::way_bytes;
use visa_engine::place::{Station, rngd};
use visa_engine::shadow::Shadow;
use visa_engine::{
    Engine, Flow, Lanes, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire,
};
use visa_ir::Word as _;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;
use visa_numerics::{AluName, AluStage, ArgMode, Bits, DType, VectorStage, alu_op, alu_ops, default_mode};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&VECTOR_ZIP];

/// `hw.vector_zip`.
#[visa_ir::view(VectorZip)]
pub static VECTOR_ZIP: OpDecl = OpDecl {
    name: "hw.vector_zip",
    summary: "applies one ALU to the elements of two groups, which become one",
    doc: "`apart` packets of group 0 come first, then as many of group 1, and so on; of each two with the same \
          place, element by element, one packet goes on. `mode` assigns the groups to the arguments (book 21). \
          Execution ids are 0 from here on; of two valid counts the smaller goes on.",
    constraints: &[
        (
            "C1",
            "the stage has the operation, with two arguments, for elements of the stream's format (book 21)",
        ),
        ("C2", "the mode has two arguments (book 21)"),
        ("C3", "apart is 1, or 2 after packets that were split"),
        ("C4", "the packets are pairs at the distance `apart`"),
        ("C5", "a packet is 8 elements, in the stages fp and fp_div 4 (book 21)"),
    ],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<AluName>(), "Function of the ALU."),
        ClauseDecl::required("stage", ClauseKind::word::<AluStage>(), "The stage that holds the ALU."),
        ClauseDecl::optional(
            "mode",
            ClauseKind::word::<ArgMode>(),
            "The arguments; if absent group 0, then group 1.",
        ),
        ClauseDecl::required("apart", ClauseKind::Int, "Packets of a group that are together."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.vector_zip AddFxp, stage clip, apart 1",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?)))),
        Interface(&Station::Word("stage", |word| AluStage::from_word(word).map(AluStage::stage))),
    ],
    ..OpDecl::BASE
};

struct VectorZipUnit {
    name: AluName,
    stage: VectorStage,
    mode: ArgMode,
    /// Packets of a group that are together.
    apart: usize,
}

fn read(op: OpRef<'_>) -> Result<VectorZipUnit, Diagnostic> {
    let op = VectorZip::of(op)?;
    let stage = op.stage()?.stage();
    let name = op.op()?;
    let row = alu_ops().find(|row| row.stage == stage && row.name == name && row.apply.arity() == 2);
    let row = row.ok_or_else(|| {
        op.clause_error("C1", "op", format!("the stage {stage} has no `{name}` of two arguments"))
    })?;
    let mode = match op.mode()? {
        None => default_mode(2),
        Some(mode) if mode.args().len() == 2 => mode,
        Some(mode) => {
            return Err(op.clause_error("C2", "mode", format!("`{mode}` has not two arguments")));
        }
    };
    let apart = one_of(*op, "C3", ("apart", op.apart()?), &[1, 2])? as usize;
    Ok(VectorZipUnit { name: row.name, stage, mode, apart })
}

impl VectorZipUnit {
    /// The results of `both` for the first and the second of each two blocks of `size` items, item by item.
    fn merge<T: Copy>(items: &[T], size: usize, both: impl Fn(T, T) -> T) -> Vec<T> {
        let pairs = items.chunks_exact(size.max(1) * 2).map(|pair| pair.split_at(size));
        pairs.flat_map(|(zero, one)| zero.iter().zip(one).map(|(&zero, &one)| both(zero, one))).collect()
    }

    fn marks(&self, cx: RunCx<'_>, marks: &[Shadow], size: usize) -> Vec<Shadow> {
        let reads = [self.mode.reads_stream(), self.mode.operands()[0]];
        let read = |mark, at: usize| if reads[at] { mark } else { Shadow::DEFINED };
        let mut merged = Self::merge(marks, size, |zero, one| read(zero, 0).or(read(one, 1)));
        if let Some(mut marker) = cx.marker() {
            for element in merged.chunks_mut(4) {
                element.fill(marker.through(Shadow::all(element)));
            }
        }
        merged
    }
}

impl Unit for VectorZipUnit {
    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if alu_op(self.stage, self.name, input.dtype).is_none() {
            let able =
                DType::all().filter(|&dtype| alu_op(self.stage, self.name, dtype).is_some()).map(DType::name);
            let able = able.collect::<Vec<_>>().join(" and ");
            let message = format!("{} works on {able}, the stream's elements are {}", self.name, input.dtype);
            return Err(Mismatch::new("C1", "op", message));
        }
        let wanted = way_bytes(self.stage, machine);
        if input.packet != wanted {
            let message = format!(
                "the stage {} takes packets of {}, found {}",
                self.stage,
                counted(wanted, "byte"),
                input.packet
            );
            return Err(Mismatch::new("C5", "stage", message));
        }
        if !input.packets.is_multiple_of(2 * self.apart as u64) {
            let message = format!(
                "found {}, expected a multiple of 2 * {}",
                counted(input.packets, "packet"),
                self.apart
            );
            return Err(Mismatch::new("C4", "apart", message));
        }
        Ok(Wire { packets: input.packets / 2, stash: None, ..input })
    }

    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let out = Flow { packets: input.packets / 2, ..input };
        let latency = machine.timing.alu_latency_cycles;
        StageCost { engine: Engine::VECTOR, cycles: input.packets, latency, macs: 0, out }
    }
}

impl Map for VectorZipUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, input: Stream) -> Stream {
        let Some(row) = alu_op(self.stage, self.name, input.dtype) else { return input };
        let bytes = self.apart * input.packet;
        let (elements, _) = input.bytes.as_chunks::<4>();
        let elements: Vec<Bits> = elements.iter().map(|element| Bits::from_le_bytes(*element)).collect();
        let merged = Self::merge(&elements, bytes / 4, |zero, one| row.apply.eval(self.mode, zero, [one, 0]));
        let shadow = input.shadow.map(|marks| self.marks(cx, &marks, bytes));
        let lanes = input.lanes.map(|lanes| {
            let valid = Self::merge(&lanes.valid, self.apart, u8::min);
            Box::new(Lanes { valid, ..Lanes::default() })
        });
        let bytes = merged.into_iter().flat_map(Bits::to_le_bytes).collect();
        Stream { packet: input.packet, bytes, shadow, lanes, ..Stream::empty(row.to) }
    }
}
