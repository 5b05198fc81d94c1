//! `stream.vector_stash`: keeps the stream for an operand further on (book 21).

use crate::chain::{input, next_same};
use crate::lower::LowerStage;
use crate::ops::vector_pair::unzip;
use crate::vector::{earlier, stage_before};
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::OpRef;
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::same;
use visa_numerics::VectorStage;

/// `stream.vector_stash`.
#[visa_ir::view(VectorStash)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.vector_stash",
    summary: "Keeps the stream for an operand further on.",
    doc: "The stream goes on unchanged. An operation further on in the same pass takes the result of this one as \
          its second operand and so reads the stashed elements, one by one, also if packets have become narrower or \
          wider since: split and joined, or trimmed and padded (book 21).",
    constraints: &[
        ("C1", "the stash is written once a pass (book 21)"),
        ("C2", "after branch, logic, fxp, narrow, fp, fp_div or clip (book 21)"),
        ("C3", "not in two-group mode, nor after it in the same pass (book 21)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.vector", "stream.vector4"])],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(next_same),
    verify: Some(|op, _| verify(op)),
    example: "%s = stream.vector_stash %b",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(same)),
        Interface(&LowerStage(|_, op| Ok(Some(hw::vector_stash::VectorStash::build(op).spec())))),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

/// The stages whose output the stash can take (book 21).
const STASHABLE: [VectorStage; 7] = [
    VectorStage::Branch,
    VectorStage::Logic,
    VectorStage::Fxp,
    VectorStage::Narrow,
    VectorStage::Float,
    VectorStage::FpDiv,
    VectorStage::Clip,
];

fn verify(op: OpRef<'_>) -> Result<(), Diagnostic> {
    input(op)?;
    if let Some(first) = earlier(op).find(|earlier| earlier.is(&DECL)) {
        let message = "the stash already holds an earlier stream of this pass";
        return Err(op.error("C1", message).note("which was stashed here", Some(first.span())));
    }
    if let Some(unzip) = unzip(op) {
        let error = op.error("C3", "there is no stash in two-group mode, nor after it");
        return Err(error.note("which begins here", Some(unzip.span())));
    }
    match stage_before(op) {
        Some(stage) if !STASHABLE.contains(&stage) => {
            let message = format!("the stash cannot take the stream of the stage {stage}");
            let fix =
                "stash before it, or after the next operation of logic, fxp, narrow, fp, fp_div or clip";
            Err(op.error("C2", message).fix(Some(fix.to_owned())))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks that operand `index` of `op` is a stash of its pass that no operation before has read, nor `op` itself
/// as the operand before: C7.
///
/// # Errors
/// A violation of C7.
pub fn check_stashed(op: OpRef<'_>, index: usize) -> Result<(), Diagnostic> {
    let stashed = op.operands().get(index).copied();
    if !earlier(op).any(|earlier| earlier.is(&DECL) && earlier.results().first().copied() == stashed) {
        let fix = "stash it before in this pass: `%s = stream.vector_stash %x`".to_owned();
        return Err(op.error("C7", "this stream was not stashed in this pass").fix(Some(fix)));
    }
    let reads = |op: &OpRef<'_>, most: usize| {
        op.operands().iter().take(most).skip(1).any(|&value| Some(value) == stashed)
    };
    let itself = std::iter::once(op).filter(|op| reads(op, index));
    match itself.chain(earlier(op).filter(|earlier| reads(earlier, usize::MAX))).next() {
        None => Ok(()),
        Some(first) => {
            Err(op.error("C7", "the stash is read a second time").note("it is read here", Some(first.span())))
        }
    }
}
