//! `hw.vector_reinterpret`: the same bits as numbers of another format (book 21).

use crate::attrs::DTYPE;
use crate::build::{Build, verify};
use visa_engine::place::rngd;
use visa_engine::{Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;
use visa_numerics::DType;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&VECTOR_REINTERPRET];

/// `hw.vector_reinterpret`.
#[visa_ir::view(VectorReinterpret)]
pub static VECTOR_REINTERPRET: OpDecl = OpDecl {
    name: "hw.vector_reinterpret",
    summary: "the same words as numbers of another format",
    doc: "The stages that follow take the words of the stream for i32 or for f32. Nothing is computed, and it takes \
          no cycle (w).",
    constraints: &[
        ("C1", "the format is i32 or f32 (book 20)"),
        ("C2", "the stream's elements are i32 or f32"),
    ],
    clauses: &[ClauseDecl::lead(
        "dtype",
        ClauseKind::body::<DType>(&DTYPE),
        "Format of the words from here on.",
    )],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.vector_reinterpret i32",
    interfaces: &[Interface(&rngd::VECTOR), Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?))))],
    ..OpDecl::BASE
};

struct ReinterpretUnit(DType);

/// The formats of the vector engine.
fn is_word(dtype: DType) -> bool {
    matches!(dtype, DType::I32 | DType::F32)
}

fn read(op: OpRef<'_>) -> Result<ReinterpretUnit, Diagnostic> {
    let op = VectorReinterpret::of(op)?;
    let to = *op.dtype()?;
    if is_word(to) {
        return Ok(ReinterpretUnit(to));
    }
    Err(op.clause_error("C1", "dtype", format!("found {to}, expected i32 or f32")))
}

impl Unit for ReinterpretUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if !is_word(input.dtype) {
            let message = format!("the stream's elements are {}, expected i32 or f32", input.dtype);
            return Err(Mismatch::new("C2", "dtype", message));
        }
        Ok(Wire { dtype: self.0, ..input })
    }

    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        StageCost { engine: Engine::VECTOR, cycles: input.packets, latency: 0, macs: 0, out: input }
    }
}

impl Map for ReinterpretUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, mut input: Stream) -> Stream {
        input.pass_marks(cx);
        input.dtype = self.0;
        input
    }
}
