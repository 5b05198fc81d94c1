//! `stream.begin`: a tensor in data memory enters a context of the Tensor Unit.

use crate::chain::{input, with_dims};
use crate::lower::NOTHING;
use crate::streams::BEGIN;
use visa_algebra::Expr;
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::view::{WordOf, required};
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::same;
use visa_mapping::{Dim, Unit};

/// The clause with the context that runs a pipeline.
pub const CONTEXT: &str = "context";

/// `stream.begin`.
#[visa_ir::view(Begin)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.begin",
    summary: "Starts a pipeline of a context of the Tensor Unit on a tensor in data memory.",
    doc: "The main context computes; the sub context prefetches into register files meanwhile (book 12, 28). In \
          `dual` both are one, which computes (book 08, dual channel mode): flits have 64 bytes up to the aligner, \
          fetch and switch move as many a cycle, and neither main nor sub runs anything else meanwhile.",
    operands: &[OperandDecl::one("tensor", &["tm.dm"])],
    clauses: &[ClauseDecl::lead(
        "context",
        ClauseKind::word::<Unit>(),
        "which context runs the pipeline; `auto` is main or dual",
    )
    .open()],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(infer),
    example: "%b = stream.begin main %x",
    interfaces: &[Interface(&rngd::NONE), Interface(&Semantics(same)), Interface(&NOTHING)],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = input(op)?;
    let unit = Begin::of(op)?.context()?;
    let given = [(Dim::Time, Expr::Literal(1)), (Dim::Packet, source.dim(Dim::Element))];
    with_dims(op, &BEGIN, Some(unit), source.dtype, &given, &source)
}

/// The context of the pipeline that begins with `first`. Generate mode has no clause for it: it is a command of the
/// sub context (book 09).
///
/// # Errors
/// If the clause is no word.
pub fn context(first: OpRef<'_>) -> Result<Unit, Diagnostic> {
    let declared = first.decl().is_some_and(|decl| decl.clause(CONTEXT).is_some());
    if declared { required::<WordOf<Unit>>(&first, CONTEXT) } else { Ok(Unit::Sub) }
}
