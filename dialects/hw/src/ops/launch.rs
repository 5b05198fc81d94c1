//! `hw.launch`: a kernel is started.

use crate::ops::control::COMMANDS;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
use visa_ir::effects::{Effect, Effects, Target, writes};
use visa_machine::Medium;

/// Writes to all memories of a chip.
const WRITES: [Effect; Medium::OF_A_CHIP.len()] = {
    let mut all = [writes(Target::Memory(Medium::Hbm.word())); Medium::OF_A_CHIP.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = writes(Target::Memory(Medium::OF_A_CHIP[at].word()));
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
