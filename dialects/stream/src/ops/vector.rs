//! `stream.vector_init`, `stream.vector_final`: into the vector engine and out of it (book 20, 21).

use crate::chain::{axes, input, main_only, next, packet_bytes};
use crate::lower::NOTHING;
use crate::pipeline;
use crate::streams::{FINAL, INIT};
use visa_engine::place::rngd;
use visa_ir::decl::{Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::OpRef;
use visa_ir::verify::VerifyCx;
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::same;
use visa_numerics::DType;

/// `stream.vector_init`.
#[visa_ir::view(VectorInit)]
pub static INIT_DECL: OpDecl = OpDecl {
    name: "stream.vector_init",
    summary: "Enters the vector engine.",
    doc: "From the collect engine, or from the contraction engine (book 20).",
    constraints: &[("C1", "the format is i32 or f32 (book 20)"), ("C2", "main context only (book 12)")],
    operands: &[OperandDecl::accepting("stream", pipeline::after!(&rngd::ENTRY))],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next(op, &INIT, None)),
    verify: Some(verify_init),
    example: "%i = stream.vector_init %c",
    interfaces: &[Interface(&rngd::ENTRY), Interface(&Semantics(same)), Interface(&NOTHING)],
    ..OpDecl::BASE
};

/// `stream.vector_final`.
#[visa_ir::view(VectorFinal)]
pub static FINAL_DECL: OpDecl = OpDecl {
    name: "stream.vector_final",
    summary: "Leaves the vector engine.",
    doc: "The stream goes on to the cast engine, the transpose engine or the commit engine (book 21).",
    operands: &[OperandDecl::one("stream", &["stream.vector", "stream.inter"])],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next(op, &FINAL, None)),
    example: "%o = stream.vector_final %x",
    interfaces: &[Interface(&rngd::VECTOR), Interface(&Semantics(same)), Interface(&NOTHING)],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&INIT_DECL, &FINAL_DECL];

fn verify_init(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    main_only(op, "C2")?;
    let source = input(op)?;
    if !matches!(source.dtype, DType::I32 | DType::F32) {
        let wide = if source.dtype.is_float() { "f32" } else { "i32" };
        let message =
            format!("`{}` cannot enter the vector engine, which takes `i32` and `f32`", source.dtype);
        return Err(op.error("C1", message).fix(Some(format!("convert at the fetch: `dtype {wide}`"))));
    }
    packet_bytes(op, &source, &axes(cx).0).map(drop)
}
