//! `hw.launch`: a kernel is started.

use crate::ops::control::COMMANDS;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
use visa_ir::effects::{Effects, Target, writes};

/// `hw.launch`.
#[visa_ir::view(Launch)]
pub static LAUNCH: OpDecl = OpDecl {
    name: "hw.launch",
    summary: "starts a kernel",
    doc: "The host starts a kernel when the one before has ended: what the Tensor Unit and the tensor DMA do after it \
          waits for what they do before it. Transfers over PCIe are the host's and wait for data alone (book 00, 01).",
    clauses: &[ClauseDecl::lead("kernel", ClauseKind::Symbol, "The kernel.")],
    traits: &[COMMANDS],
    // It orders all that follows: nothing moves across it.
    effects: Effects::Are(&[
        writes(Target::Memory("hbm")),
        writes(Target::Memory("dm")),
        writes(Target::Memory("spm")),
    ]),
    example: "hw.launch @step",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&LAUNCH];
