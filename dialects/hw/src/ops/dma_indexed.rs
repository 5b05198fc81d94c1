//! `hw.dma_indexed`: a transfer of the rows of a table that indices in memory choose (book 07, 34, 35).

use super::dma::{PartCx, engine_count};
use crate::attrs::{PAIRED, PROGRAM, STEPS};
use crate::clauses::{at_least, machine};
use crate::loops::overwrites;
use crate::memories::Memories;
use crate::ops::control::{COMMANDS, steps};
use crate::program;
use visa_engine::Space;
use visa_engine::words::{Direction, IndexMemory};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::{EnginePart, Entry, PairedProgram, Program, Steps, Stride};
use visa_machine::{Medium, TensorMemory};
use visa_words::Word as _;

/// Bytes of an index, an `i32`.
pub const INDEX_BYTES: u64 = 4;

/// `hw.dma_indexed`.
#[visa_ir::view(DmaIndexed)]
pub static DMA_INDEXED: OpDecl = OpDecl {
    name: "hw.dma_indexed",
    summary: "moves the rows of a table in HBM that indices in memory choose",
    doc: "A tensor DMA as `hw.dma`, the same on every chip, whose addresses in the table depend on data (book 07, \
          \"Indirect Access\"; 34, 35). The outermost loops go with those of `indices` but its last, one to one: each \
          of their iterations reads an index. `loops` has the addresses for row 0; an index of n adds n bytes to the \
          table's side if it is in HBM, n times `distance` if it is in scratchpad memory. The run stops at an index \
          that is not the start of one of `count` rows. Indices are read before any row is moved.\n\n\
          A scatter must not write a byte twice; `visa-run --shadow` refuses one that does.",
    constraints: &[
        (
            "C1",
            "a gather moves from HBM to HBM, data memory and scratchpad memory, a scatter from each of them to HBM; \
             indices are in HBM or scratchpad memory",
        ),
        (
            "C2",
            "the loops of an engine fit its sequencer: at most 8 entries of at most 65536, packets of at most 4096 \
             bytes (book 10)",
        ),
        (
            "C3",
            "writes to data memory and scratchpad memory are aligned: base, strides and packet are multiples of 8 \
             bytes (book 10)",
        ),
        (
            "C4",
            "except for rows that indices choose, nothing is written twice: no write stride is 0, and no two \
             offsets of a table are nearer than a packet",
        ),
        ("C5", "every address is in its memory, whichever rows are chosen"),
        (
            "C6",
            "the engines are those of a chip, and as many as the outermost loops have iterations (book 10)",
        ),
        (
            "C7",
            "`indices` has a loop for each of some of the outermost loops, of as many iterations, around one over the \
             4 bytes of an index; none of them is a table",
        ),
        ("C8", "`distance` and `count` are at least 1"),
        (
            "C9",
            "`read_steps`, `write_steps` and `index_steps` have a number for each loop around the transfer at most, a \
             multiple of 8 bytes where bases are",
        ),
    ],
    clauses: &[
        ClauseDecl::lead(
            "direction",
            ClauseKind::word::<Direction>(),
            "Whether the table is read or written.",
        ),
        ClauseDecl::required("from", ClauseKind::word::<Medium>(), "Memory read."),
        ClauseDecl::required("to", ClauseKind::word::<Medium>(), "Memory written."),
        ClauseDecl::required(
            "loops",
            ClauseKind::body::<PairedProgram>(&PAIRED),
            "Byte addresses for row 0, read side and write side.",
        ),
        ClauseDecl::required("index", ClauseKind::word::<IndexMemory>(), "Memory that the indices are in."),
        ClauseDecl::required(
            "indices",
            ClauseKind::body::<Program>(&PROGRAM),
            "Byte addresses of the indices.",
        ),
        ClauseDecl::required(
            "distance",
            ClauseKind::Int,
            "How far the rows of the table are apart, in bytes.",
        ),
        ClauseDecl::required("count", ClauseKind::Int, "The rows of the table."),
        ClauseDecl::optional(
            "engines",
            ClauseKind::Int,
            "How many engines share the transfer: each has an iteration of the outermost loops; 1 if absent.",
        ),
        ClauseDecl::optional(
            "read_steps",
            ClauseKind::body::<Steps>(&STEPS),
            "Step of the source for each `hw.for` around it, the outermost first, in bytes.",
        ),
        ClauseDecl::optional(
            "write_steps",
            ClauseKind::body::<Steps>(&STEPS),
            "The same for the destination.",
        ),
        ClauseDecl::optional("index_steps", ClauseKind::body::<Steps>(&STEPS), "The same of the indices."),
    ],
    traits: &[COMMANDS],
    effects: Effects::Are(&[
        reads(Target::Clause("from")),
        reads(Target::Clause("index")),
        writes(Target::Clause("to")),
    ]),
    verify: Some(|op, _| read(op).map(drop)),
    example: "hw.dma_indexed gather, from hbm, to dm, loops [8 : 0 -> 524288, 64 : 1 -> 1] : 64, index spm, indices \
              [8 : 4, 4 : 1] : 4, distance 64, count 1000, engines 8",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DMA_INDEXED];

/// The transfer that the operation describes.
pub(crate) fn read(op: OpRef<'_>) -> Result<program::Indexed, Diagnostic> {
    (*op.ctx.once_of(op, || read_now(op))).clone()
}

fn read_now(op: OpRef<'_>) -> Result<program::Indexed, Diagnostic> {
    let op = DmaIndexed::of(op)?;
    let machine = machine(*op);
    let direction = op.direction()?;
    let (from, to) = (op.from()?.into(), op.to()?.into());
    memories(op, direction, from, to)?;
    let loops = op.loops()?;
    let engines = 0..engine_count(*op, op.engines()?)?;
    let cx = PartCx { op: *op, clause: "loops", machine: &machine, pcie: false, from, to };
    let part = cx.part(&EnginePart { engines, loops: (*loops).clone() })?;
    let indices = op.indices()?;
    check_indices(op, &indices, &loops)?;
    let moving = cx.moving("C9", [("read_steps", op.read_steps()?), ("write_steps", op.write_steps()?)])?;
    let [reads, writes] = moving;
    let moved = steps(*op, "C9", "index_steps", op.index_steps()?)?;
    let indexed = program::Indexed {
        from,
        to,
        part,
        direction,
        index: Medium::from(op.index()?).into(),
        indices: (*indices).clone(),
        distance: at_least(*op, "C8", ("distance", op.distance()?), 1)?,
        count: at_least(*op, "C8", ("count", op.count()?), 1)?,
        steps: [reads.steps.clone(), writes.steps.clone(), moved.steps.clone()],
    };
    check_writes(op, &indexed)?;
    let all = Memories { op: *op, machine: &machine, chips: 1, per_byte: 1 };
    let inside = |clause: &str, touched: Vec<Program>, space: Space| {
        let inside = |side: &Program| all.inside(side, space);
        touched.iter().try_for_each(inside).map_err(|message| op.clause_error("C5", clause, message))
    };
    inside("loops", reads.reaches(&indexed.reads()), from)?;
    inside("loops", writes.reaches(&indexed.writes()), to)?;
    inside("indices", moved.reaches(&indices), indexed.index)?;
    all.no_more_than_fits(&[loops.write()], to, "loops")?;
    Ok(indexed)
}

/// C1.
fn memories(op: DmaIndexed<'_>, direction: Direction, from: Space, to: Space) -> Result<(), Diagnostic> {
    let (table, clause, other, other_clause) = match direction {
        Direction::Gather => (from, "from", to, "to"),
        Direction::Scatter => (to, "to", from, "from"),
    };
    if table != Space::HBM {
        let message = format!("the table of a {} is in {table:?}, expected HBM", op.direction()?);
        return Err(op.clause_error("C1", clause, message).fix("move the table to HBM".to_owned()));
    }
    if other.medium().and_then(TensorMemory::of).is_some() {
        return Ok(());
    }
    let reached: Vec<_> = TensorMemory::WORDS.iter().map(|word| format!("`{word}`")).collect();
    let message = format!("a tensor DMA does not reach {other:?}: expected one of {}", reached.join(", "));
    Err(op.clause_error("C1", other_clause, message))
}

/// C7.
fn check_indices(op: DmaIndexed<'_>, indices: &Program, loops: &PairedProgram) -> Result<(), Diagnostic> {
    let refused = |message: String| Err(op.clause_error("C7", "indices", message));
    let Some((last, outer)) = indices.entries.split_last() else {
        return refused(format!("`{indices}` has no loop over the {INDEX_BYTES} bytes of an index"));
    };
    if *last != Entry::new(INDEX_BYTES, 1) || indices.packet != INDEX_BYTES {
        return refused(format!(
            "`{indices}` ends with `{last}` in packets of {}, expected `{INDEX_BYTES} : 1` in packets of \
             {INDEX_BYTES}: an index is an `i32`",
            indices.packet
        ));
    }
    if outer.len() >= loops.entries.len() {
        return refused(format!(
            "`{indices}` has {} over indices, and `{loops}` has {} around its packets",
            counted(outer.len(), "loop"),
            loops.entries.len().saturating_sub(1)
        ));
    }
    for (at, (index, entry)) in outer.iter().zip(&loops.entries).enumerate() {
        if index.limit != entry.limit {
            return refused(format!(
                "loop {at} of `{indices}` has {}, that of `{loops}` has {}",
                counted(index.limit, "iteration"),
                entry.limit
            ));
        }
        if index.stride.fixed().is_none() {
            return refused(format!("loop {at} of `{indices}` is a table: indices are evenly apart"));
        }
    }
    Ok(())
}

/// C4: loops that read other indices write at the addresses of those indices; the others write side by side.
fn check_writes(op: DmaIndexed<'_>, indexed: &program::Indexed) -> Result<(), Diagnostic> {
    let mut write = indexed.part.loops.write();
    if indexed.direction == Direction::Scatter {
        let mut strides = indexed.indices.entries.iter().take(indexed.index_loops());
        write.entries.retain(|_| strides.next().is_none_or(|entry| entry.stride == Stride::Fixed(0)));
    }
    match overwrites(&write) {
        Some(message) => Err(op.clause_error("C4", "loops", message)),
        None => Ok(()),
    }
}
