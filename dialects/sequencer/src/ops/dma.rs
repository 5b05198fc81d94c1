//! `seq.dma`, `seq.dma_indexed`: transfers between memories.

use crate::dialect::{DTYPE, ENGINES, PAIRED, PROGRAM, SEGMENTS, STEPS};
use visa_engine::words::{Direction, DmaEngine, IndexMemory};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::{EngineTable, PairedProgram, Program, Segments, Steps};
use visa_machine::{Machine, Medium};
use visa_numerics::DType;

/// `seq.dma`.
#[visa_ir::view(Dma)]
pub static DMA: OpDecl = OpDecl {
    name: "seq.dma",
    summary: "Moves elements from one memory to another in nested loops that read and write together.",
    doc: "A loop for each digit of the destination, not yet merged (book 10). With `loops` the lowering chooses the \
          engines' parts and their order; `table` is the kernel's choice.",
    constraints: &[
        ("C1", "there are either `loops` or a `table`"),
        ("C2", "`queue` is a cluster of the chip, by tensor DMA, with `loops`"),
    ],
    clauses: &[
        ClauseDecl::lead("engine", ClauseKind::word::<DmaEngine>(), "which DMA engine"),
        ClauseDecl::required("from", ClauseKind::word::<Medium>(), "memory read"),
        ClauseDecl::required("to", ClauseKind::word::<Medium>(), "memory written"),
        ClauseDecl::optional(
            "dtype",
            ClauseKind::body::<DType>(&DTYPE),
            "the format of an element; without it, loops count bytes",
        ),
        ClauseDecl::optional("loops", ClauseKind::body::<Segments>(&SEGMENTS), "addresses in elements"),
        ClauseDecl::optional(
            "queue",
            ClauseKind::Int,
            "the cluster whose engines share the loops; all if absent",
        ),
        ClauseDecl::optional(
            "table",
            ClauseKind::body::<EngineTable>(&ENGINES),
            "addresses in elements, of each engine, in the order in which it moves",
        ),
        ClauseDecl::optional(
            "read_steps",
            ClauseKind::body::<Steps>(&STEPS),
            "step of the source for each `hw.for` around it, the outermost first, in bytes",
        ),
        ClauseDecl::optional(
            "write_steps",
            ClauseKind::body::<Steps>(&STEPS),
            "the same for the destination",
        ),
    ],
    traits: &[Trait::InsideOneOf(&["hw.program", "hw.for", "hw.if"])],
    effects: Effects::Are(&[reads(Target::Clause("from")), writes(Target::Clause("to"))]),
    verify: Some(|op, _| {
        queue(op)?;
        work(op).map(drop)
    }),
    example: "seq.dma tensor, from hbm, to dm, dtype bf16, loops [256 : 2048 -> 262144, 2048 : 1 -> 1] : 1",
    ..OpDecl::BASE
};

/// `seq.dma_indexed`.
#[visa_ir::view(DmaIndexed)]
pub static DMA_INDEXED: OpDecl = OpDecl {
    name: "seq.dma_indexed",
    summary: "Moves the rows of a table in HBM that indices in memory choose.",
    doc: "A loop for each digit of the destination, not yet merged (book 07, 10). The outermost loops go with those \
          of `indices` but its last one, one to one.",
    clauses: &[
        ClauseDecl::lead(
            "direction",
            ClauseKind::word::<Direction>(),
            "whether the table is read or written",
        ),
        ClauseDecl::required("from", ClauseKind::word::<Medium>(), "memory read"),
        ClauseDecl::required("to", ClauseKind::word::<Medium>(), "memory written"),
        ClauseDecl::required(
            "loops",
            ClauseKind::body::<PairedProgram>(&PAIRED),
            "addresses in bytes, for row 0 of the table",
        ),
        ClauseDecl::required("index", ClauseKind::word::<IndexMemory>(), "memory that the indices are in"),
        ClauseDecl::required(
            "indices",
            ClauseKind::body::<Program>(&PROGRAM),
            "where the indices are, in bytes",
        ),
        ClauseDecl::required("distance", ClauseKind::Int, "how far the rows are apart, in bytes"),
        ClauseDecl::required("count", ClauseKind::Int, "the rows of the table"),
        ClauseDecl::optional(
            "read_steps",
            ClauseKind::body::<Steps>(&STEPS),
            "step of the source for each `hw.for` around it, the outermost first, in bytes",
        ),
        ClauseDecl::optional(
            "write_steps",
            ClauseKind::body::<Steps>(&STEPS),
            "the same for the destination",
        ),
        ClauseDecl::optional("index_steps", ClauseKind::body::<Steps>(&STEPS), "the same of the indices"),
    ],
    traits: &[Trait::InsideOneOf(&["hw.program", "hw.for", "hw.if"])],
    effects: Effects::Are(&[
        reads(Target::Clause("from")),
        reads(Target::Clause("index")),
        writes(Target::Clause("to")),
    ]),
    example: "seq.dma_indexed gather, from hbm, to dm, loops [8 : 0 -> 524288, 32 : 2 -> 2, 2 : 1 -> 1] : 1, index \
              spm, indices [8 : 4, 4 : 1] : 4 @ 0, distance 64, count 1000",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DMA, &DMA_INDEXED];

/// The engines of a transfer, and the part of each.
#[derive(Clone, Debug)]
pub enum DmaWork {
    /// Whichever engines.
    Any(Segments),
    /// These engines.
    Assigned(EngineTable),
}

/// The cluster whose engines share the loops of a `seq.dma`; `None` for those of all clusters.
///
/// # Errors
/// A queue that is no cluster of the chip, of a table or of PCIe.
pub fn queue(op: OpRef<'_>) -> Result<Option<u64>, Diagnostic> {
    let dma = Dma::of(op)?;
    let Some(found) = dma.queue()? else { return Ok(None) };
    let clusters = op.ctx.data::<Machine>().topology.clusters_per_chip;
    let cluster = u64::try_from(found).ok().filter(|cluster| *cluster < clusters);
    if cluster.is_none() || dma.table()?.is_some() || dma.engine()? == DmaEngine::Pcie {
        let message =
            format!("`queue {found}`, expected one of {clusters} clusters, of a tensor DMA with `loops`");
        return Err(op.clause_error("C2", "queue", message));
    }
    Ok(cluster)
}

/// The work of a `seq.dma`.
///
/// # Errors
/// If it has neither `loops` nor a `table`, or both.
pub fn work(op: OpRef<'_>) -> Result<DmaWork, Diagnostic> {
    let op = Dma::of(op)?;
    match (op.loops()?, op.table()?) {
        (Some(loops), None) => Ok(DmaWork::Any((*loops).clone())),
        (None, Some(table)) => Ok(DmaWork::Assigned((*table).clone())),
        (Some(_), Some(_)) => {
            Err(op.clause_error("C1", "table", "`loops` specifies the moved elements already".to_owned()))
        }
        (None, None) => {
            Err(op.error("C1", "neither `loops` nor `table` specifies the moved elements".to_owned()))
        }
    }
}
