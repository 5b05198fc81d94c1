//! `stream.cast`: the cast engine narrows elements (book 26).

use crate::chain::{axes, check_same, ends, input, next};
use crate::lower::{LowerStage, StageCx};
use crate::pipeline;
use crate::streams::CAST;
use visa_algebra::{Expr, PadKind};
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, OpSpec, TypeId};
use visa_ir::verify::VerifyCx;
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::same;
use visa_mapping::tensor::attrs::{DTYPE, MAP};
use visa_mapping::{Dim, Tensor};
use visa_numerics::{CAST_ENGINE, DType, cast_targets, engine_cast};

/// `stream.cast`.
#[visa_ir::view(Cast)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.cast",
    summary: "Converts each element to a narrower format and pads the flit back to 32 bytes.",
    doc: "Time is unchanged (book 26). The sub context has it too, between collect and commit: a copy within data \
          memory that converts.",
    constraints: &[
        (
            "C1",
            "the cast engine converts i32 to i4, i8 and i16, and f32 to f8e4m3, f8e5m2, f16 and bf16 (book 26)",
        ),
        ("C2", "the packet is the input's, padded to 32 bytes of the new format (book 26)"),
    ],
    operands: &[OperandDecl::accepting("stream", pipeline::after!(&rngd::CAST))],
    clauses: &[
        ClauseDecl::lead("dtype", ClauseKind::body::<DType>(&DTYPE), "the new format"),
        ClauseDecl::required("packet", ClauseKind::body::<Expr>(&MAP), "mapping of the elements of a flit")
            .open(),
    ],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(verify),
    example: "%n = stream.cast bf16 %a packet [1 # 16]",
    interfaces: &[Interface(&rngd::CAST), Interface(&Semantics(same)), Interface(&LowerStage(lower))],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    next(op, &CAST, Some(*Cast::of(op)?.dtype()?))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    if engine_cast(source.dtype, result.dtype).is_none() {
        let targets: Vec<_> = cast_targets(CAST_ENGINE, source.dtype).map(DType::name).collect();
        let known =
            if targets.is_empty() { "nothing".to_owned() } else { format!("`{}`", targets.join("`, `")) };
        let message = format!(
            "the cast engine does not convert {} to {}; it converts {} to {known}",
            source.dtype, result.dtype, source.dtype
        );
        return Err(op.clause_error("C1", "dtype", message));
    }
    let elements = result.dtype.elements(machine(op).limits.flit_bytes);
    let wanted = source.dim(Dim::Packet).pad(elements, PadKind::Top);
    check_same(op, "C2", "packet", &result.dim(Dim::Packet), &wanted, axes)
}

fn lower(_: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = ends(op)?;
    Ok(Some(hw::cast::Cast::build(op).dtype(result.dtype).spec()))
}
