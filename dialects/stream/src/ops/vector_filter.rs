//! `stream.vector_filter`: drops elements by their execution ids (book 21).

use crate::attrs::GUARDS;
use crate::chain::{axes, ends, input, next};
use crate::lower::{LowerStage, StageCx};
use crate::ops::vector_pair::unzip;
use crate::plan::digits_of;
use crate::streams::FILTERED;
use crate::vector::{Station, ids_before};
use visa_algebra::Cell;
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, OpSpec};
use visa_ir::verify::VerifyCx;
use visa_loops::distance;
use visa_mapping::Dim;
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::same;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{Bits, GuardFault, Guards, Slot, VectorStage};

/// `stream.vector_filter`.
#[visa_ir::view(VectorFilter)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.vector_filter",
    summary: "Drops elements by their execution ids, and leaves the vector engine.",
    doc: "Elements for whose id one of the guards holds are kept. How many those are depends on the data: in each \
          packet they move to the front, and `stream.commit_packed` writes them without gaps (book 21; book 35, \
          section 2.3).",
    constraints: &[
        ("C1", "the guards of `keep` have no operands"),
        (
            "C2",
            "every guard holds for an execution id that the branch mode gives and that no guard before it takes",
        ),
        ("C3", "the live elements of a packet are its first"),
        ("C4", "not after two-group mode in the same pass (book 21)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.vector"])],
    clauses: &[ClauseDecl::required(
        "keep",
        ClauseKind::body::<Guards<Number>>(&GUARDS),
        "which elements are kept, by execution id",
    )],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next(op, &FILTERED, None)),
    verify: Some(verify),
    example: "%f = stream.vector_filter %x keep [xxx1]",
    interfaces: &[
        Interface(&rngd::FILTER),
        Interface(&Semantics(same)),
        Interface(&LowerStage(lower)),
        Interface(&Station(VectorStage::Filter)),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

/// The guards of a filter.
///
/// # Errors
/// If it has none.
pub fn kept(op: OpRef<'_>) -> Result<Guards<Bits>, Diagnostic> {
    VectorFilter::of(op)?
        .keep()?
        .try_map(|_| Err(op.clause_error("C1", "keep", "a guard of a filter has no operand")))
}

/// C3.
fn check_packet(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let packet = input(op)?.dim(Dim::Packet);
    let digits = digits_of(&packet, &axes(cx).0).map_err(|why| op.error("C3", why))?;
    let live =
        (0..digits.size()).take_while(|&at| matches!(digits.cell(at), Some(Cell::Live(_)))).count() as u64;
    if digits.live_count() == Some(live) {
        return Ok(());
    }
    Err(op.error("C3", format!("packet `{packet}` has padding before live elements")))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    check_packet(op, cx)?;
    if let Some(unzip) = unzip(op) {
        let error = op.error("C4", "there is no filter in two-group mode, nor after it");
        return Err(error.note("which begins here", Some(unzip.span())));
    }
    let keep = kept(op)?;
    if keep.0.iter().any(|(_, slot)| *slot != Slot::Apply) {
        return Err(op.clause_error("C1", "keep", "a guard of a filter has no operand"));
    }
    match keep.check(0, ids_before(op)) {
        Ok(()) => Ok(()),
        Err(GuardFault::Slots(message)) => Err(op.clause_error("C1", "keep", message)),
        Err(GuardFault::Dead(message, fix)) => Err(op.clause_error("C2", "keep", message).fix(Some(fix))),
    }
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let keep = kept(op)?.try_map(|bits| Ok::<_, Diagnostic>(bits.cast_signed()))?;
    let (source, _) = ends(op)?;
    let digits = digits_of(&source.dim(Dim::Packet), cx.axes).map_err(|why| op.error("C3", why))?;
    let lanes = cx.machine.limits.vector_lanes;
    let live = digits.live_count().ok_or_else(|| op.error("C3", "no count of the packet's live elements"))?;
    Ok(Some(hw::filter::Filter::build(op).keep(keep).lanes_unless_default(distance(live.min(lanes))).spec()))
}
