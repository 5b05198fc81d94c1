//! `stream.vector_init`, `stream.vector_branch`, `stream.vector_final`: into the vector engine and out of it (book 20, 21).

use crate::chain::{axes, input, main_only, next, packet_bytes};
use crate::lower::LowerStage;
use crate::meaning::Meaning;
use crate::ops::vector_inter;
use crate::vector::Station;
use crate::{FINAL, INIT, VECTOR};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::verify::VerifyCx;
use visa_numerics::{DType, VectorStage};

/// `stream.vector_init`.
pub static INIT_DECL: OpDecl = OpDecl {
    name: "stream.vector_init",
    summary: "Enters the vector engine.",
    doc: "From the collect engine, or from the contraction engine (book 20).",
    constraints: &[
        ("C1", "the format is i32 or f32 (book 20)"),
        ("C2", "main context only (book 12)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.collect", "stream.accumulate"])],
    results: &["stream"],
    infer: Some(|op| next(op, &INIT, None)),
    verify: Some(verify_init),
    example: "%i = stream.vector_init %c",
    interfaces: &[Interface(&Meaning::Same), Interface(&LowerStage(|_, _| Ok(None)))],
    ..OpDecl::BASE
};

/// `stream.vector_branch`.
pub static BRANCH_DECL: OpDecl = OpDecl {
    name: "stream.vector_branch",
    summary: "Chooses how elements get their execution ids.",
    doc: "`unconditional` gives every element id 0: every operation applies to every element (book 21).",
    constraints: &[("C1", "not behind an inter-slice reduction that stands behind stages of its pass (book 20)")],
    operands: &[OperandDecl::one("stream", &["stream.init", "stream.inter"])],
    clauses: &[ClauseDecl::lead("mode", ClauseKind::Word(&["unconditional"]), "the branch mode")],
    results: &["stream"],
    infer: Some(|op| next(op, &VECTOR, None)),
    verify: Some(|op, _| verify_branch(op)),
    example: "%b = stream.vector_branch unconditional %i",
    interfaces: &[
        Interface(&Meaning::Same),
        Interface(&Station(VectorStage::Branch)),
        Interface(&LowerStage(|_, _| Ok(None))),
    ],
    ..OpDecl::BASE
};

/// `stream.vector_final`.
pub static FINAL_DECL: OpDecl = OpDecl {
    name: "stream.vector_final",
    summary: "Leaves the vector engine.",
    doc: "The stream goes on to the cast engine, the transpose engine or the commit engine (book 21).",
    operands: &[OperandDecl::one("stream", &["stream.vector", "stream.inter"])],
    results: &["stream"],
    infer: Some(|op| next(op, &FINAL, None)),
    example: "%o = stream.vector_final %x",
    interfaces: &[Interface(&Meaning::Same), Interface(&LowerStage(|_, _| Ok(None)))],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&INIT_DECL, &BRANCH_DECL, &FINAL_DECL];

fn verify_branch(op: OpRef<'_>) -> Result<(), Diagnostic> {
    match op.operand_def(0).filter(|&before| vector_inter::stands_last(before)) {
        None => Ok(()),
        Some(before) => {
            let message = "the pass has been through its stages, and then through the inter-slice block";
            let fix = "go on with `stream.vector_final`, or reduce between slices first, right behind `stream.vector_init`";
            Err(op.error("C1", message).note("the slices are reduced here", Some(before.span())).fix(Some(fix.to_owned())))
        }
    }
}

fn verify_init(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    main_only(op, "C2")?;
    let source = input(op)?;
    if !matches!(source.dtype, DType::I32 | DType::F32) {
        let wide = if source.dtype.is_float() { "f32" } else { "i32" };
        let message = format!("`{}` cannot enter the vector engine, which takes `i32` and `f32`", source.dtype);
        return Err(op.error("C1", message).fix(Some(format!("convert at the fetch: `dtype {wide}`"))));
    }
    packet_bytes(op, &source, &axes(cx).0).map(drop)
}
