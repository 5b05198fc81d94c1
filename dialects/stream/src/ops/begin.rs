//! `stream.begin`: a tensor in data memory enters a context of the Tensor Unit.

use crate::BEGIN;
use crate::chain::{input, with_dims};
use crate::semantics::Semantics;
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_mapping::{Dim, Expr, Unit};

/// `stream.begin`.
#[visa_ir::view(Begin)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.begin",
    summary: "Starts a pipeline of the main or the sub context on a tensor in data memory.",
    doc: "The main context computes; the sub context prefetches into register files meanwhile (book 12, 28).",
    operands: &[OperandDecl::one("tensor", &["tm.dm"])],
    clauses: &[ClauseDecl::lead(
        "context",
        ClauseKind::Word(&["main", "sub"]),
        "which context runs the pipeline",
    )],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(infer),
    example: "%b = stream.begin main %x",
    interfaces: &[Interface(&rngd::NONE), Interface(&Semantics::Same)],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = input(op)?;
    let unit = if op.word("context").as_deref() == Some("sub") { Unit::Sub } else { Unit::Main };
    let given = [(Dim::Time, Expr::Literal(1)), (Dim::Packet, source.dim(Dim::Element))];
    with_dims(op, &BEGIN, Some(unit), source.dtype, &given, &source)
}
