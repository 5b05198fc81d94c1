//! `stream.vector_reinterpret`: the same bits as numbers of another format (book 21).

use crate::chain::{ends, input, next};
use crate::lower::{LowerStage, StageCx};
use crate::raise::result;
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, OpSpec, TypeId};
use visa_mapping::ops::cast::Cast;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::attrs::DTYPE;
use visa_numerics::DType;

/// `stream.vector_reinterpret`.
#[visa_ir::view(VectorReinterpret)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.vector_reinterpret",
    summary: "The same bits as numbers of another format.",
    doc: "The following stages read the words of the stream as i32 or as f32: `BitAnd` of f32 with 0x7fffffff, \
          written as an integer, is the absolute value. Nothing is computed: it takes no stage and no cycle (w).",
    constraints: &[("C1", "the format is i32 or f32 (book 20)")],
    operands: &[OperandDecl::one(
        "stream",
        &["stream.vector", "stream.vector4", "stream.pair", "stream.pair4"],
    )],
    clauses: &[ClauseDecl::lead(
        "dtype",
        ClauseKind::body::<DType>(&DTYPE),
        "format of the words from here on",
    )],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(|op, _| verify(op)),
    example: "%i = stream.vector_reinterpret i32 %x",
    interfaces: &[Interface(&rngd::VECTOR), Interface(&Semantics(raised)), Interface(&LowerStage(lower))],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    next(op, input(op)?.kind, Some(*VectorReinterpret::of(op)?.dtype()?))
}

fn verify(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let to = *VectorReinterpret::of(op)?.dtype()?;
    if matches!(to, DType::I32 | DType::F32) {
        return Ok(());
    }
    let message = format!("the vector engine works on i32 and f32, found {to}");
    Err(op.clause_error("C1", "dtype", message))
}

/// The same bits, taken for the result's format.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let to = result(op)?;
    let known = cx.held(op, 0, &to)?;
    let spec = Cast::build(op, [known.value]).dtype(to.dtype).bits(true).spec();
    let known = cx.emit(spec, known.held)?;
    cx.bind(op, known)
}

fn lower(_: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = ends(op)?;
    Ok(Some(hw::vector_reinterpret::VectorReinterpret::build(op).dtype(result.dtype).spec()))
}
