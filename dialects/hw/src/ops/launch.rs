//! `hw.launch`: a kernel is started.

use crate::ops::control::COMMANDS;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
use visa_ir::effects::{Effect, Effects, Target, writes};
use visa_machine::Medium;

/// Writes to all memories of a chip; the host's is the first of all.
const WRITES: [Effect; Medium::ALL.len() - 1] = {
    let mut all = [writes(Target::Memory("")); Medium::ALL.len() - 1];
    let mut at = 1;
    while at < Medium::ALL.len() {
        all[at - 1] = writes(Target::Memory(Medium::ALL[at].word()));
        at += 1;
    }
    all
};

/// `hw.launch`.
#[visa_ir::view(Launch)]
pub static LAUNCH: OpDecl = OpDecl {
    name: "hw.launch",
    summary: "starts a kernel",
    doc: "The host starts a kernel when the one before has ended: later commands of the Tensor Unit and the tensor \
          DMA wait for their earlier ones. Transfers over PCIe are the host's and wait for data alone (book 00, \
          01).",
    clauses: &[ClauseDecl::lead("kernel", ClauseKind::Symbol, "The kernel.")],
    traits: &[COMMANDS],
    // It orders all that follows: nothing moves across it.
    effects: Effects::Are(&WRITES),
    example: "hw.launch @step",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&LAUNCH];
