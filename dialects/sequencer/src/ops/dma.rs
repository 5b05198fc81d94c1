//! `seq.dma`: a transfer between memories.

use crate::dialect::PAIRED;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, Trait};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_loops::PairedProgram;

const SPACE: &[&str] = &["host", "hbm", "dm", "spm"];

/// `seq.dma`.
#[visa_ir::view(Dma)]
pub static DMA: OpDecl = OpDecl {
    name: "seq.dma",
    summary: "Moves bytes from one memory to another in nested loops that read and write together.",
    doc: "A loop for each digit of the destination, not yet merged (book 10).",
    clauses: &[
        ClauseDecl::lead("engine", ClauseKind::Word(&["tensor", "pcie"]), "which DMA engine"),
        ClauseDecl::required("from", ClauseKind::Word(SPACE), "memory read"),
        ClauseDecl::required("to", ClauseKind::Word(SPACE), "memory written"),
        ClauseDecl::required("loops", ClauseKind::body::<PairedProgram>(&PAIRED), "addresses in bytes"),
    ],
    traits: &[Trait::Inside("hw.program")],
    effects: Effects::Are(&[reads(Target::Clause("from")), writes(Target::Clause("to"))]),
    example: "seq.dma tensor, from hbm, to dm, loops [256 : 4096 -> 524288, 2048 : 2 -> 2, 2 : 1 -> 1] : 1",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DMA];
