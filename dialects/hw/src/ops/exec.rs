//! `hw.exec`: a run of a Tensor Unit context (books 12, 28).

use crate::attrs::STEPS;
use crate::build::{Build, KnowsSlices, Moves};
use crate::clauses::machine;
use crate::limits::MAX_STREAM_BYTES;
use crate::ops::control::{COMMANDS, Moving, steps};
use crate::order::{self, at, inside};
use crate::program::{self, Context, PlacedStage};
use std::ops::Range;
use std::rc::Rc;
use visa_engine::place::Slot;
use visa_engine::{Mismatch, Space, Wire};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::OpRef;
use visa_loops::{Entry, Program, Steps};
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&EXEC];

/// `hw.exec`.
#[visa_ir::view(Exec)]
pub static EXEC: OpDecl = OpDecl {
    name: "hw.exec",
    summary: "runs a pipeline of the Tensor Unit on every active slice",
    doc: "The stages inside run one after the other, from a fetch to a store (book 12), on every active slice of \
          every chip in lockstep. Slices are counted through the chip's clusters.",
    constraints: &[
        ("C1", "`slices` is pairs of start and end, in order, apart, not empty, within the chip"),
        (
            "C2",
            "the stages are generate alone, or fetch, [switch], collect, then store_trf or store_vrf, or [align, \
             contract, accumulate], [vector ...], then store_ids, or store_vrf after a vector stage, or filter and \
             commit_packed, or [cast], [transpose], commit; or commit_packed right after collect (books 09, 12, 21)",
        ),
        (
            "C3",
            "the sub context has no align, contract, accumulate, vector or transpose, and a cast only between \
             collect and commit; main and dual have no generate, and commit_packed after filter only (books 09, 12)",
        ),
        (
            "C4",
            "the stages of the Vector Engine stand in their order, each ALU works once a pass, the stash is read \
             once, and a pass with two groups has neither stash nor filter (book 21); slices are reduced once a \
             pass, in front of all its stages or after them (books 20, 25)",
        ),
        ("C5", "a stream of a slice has at most 256 MiB (ours: it bounds the interpreter's memory)"),
        (
            "C6",
            "`steps` has a number for each scalar and each loop around the run at most, 0 for scalars: only transfers \
             move with them",
        ),
        (
            "C7",
            "a run that goes from slices to others is the same on each: nothing in it goes from slice to slice, \
             begins elsewhere in each or counts by them (`hw.switch`, `hw.vector_inter_reduce`, `starts` of a fetch, \
             `hw.vector_valid_count`)",
        ),
        ("C8", "flits of 64 bytes go to the aligner; the other engines take 32 at once (books 08, 17)"),
        (
            "C9",
            "`store_vrf` does not store into the bytes of the register file that stages of its run read: their \
             order is undefined",
        ),
    ],
    clauses: &[
        ClauseDecl::lead(
            "context",
            ClauseKind::word::<Context>(),
            "The context that runs; `dual` is main and sub as one.",
        ),
        ClauseDecl::required(
            "slices",
            ClauseKind::Ints,
            "Active slices: start, end (one past), start, end, ...",
        ),
        ClauseDecl::optional(
            "steps",
            ClauseKind::body::<Steps>(&STEPS),
            "How many slices the run is further with each `hw.scalar` and then each `hw.for` around it, the outermost \
             first.",
        ),
    ],
    traits: &[COMMANDS, Trait::Region],
    effects: Effects::OfBody,
    verify: Some(|op, _| verify(op)),
    example: "hw.exec sub, slices [0, 256] {\n  hw.fetch i8, packet 32, loops [32 : 1] : 8\n  hw.collect flits \
              1\n  hw.store_vrf at 0\n}",
    ..OpDecl::BASE
};

/// Stages that are wrong in themselves are left to their own verifiers.
fn verify(op: OpRef<'_>) -> Result<(), Diagnostic> {
    active(op)?;
    check_alike(op)?;
    order::check(op, context(op)?)?;
    let is_built = |child: &OpRef<'_>| child.decl().is_some_and(|decl| decl.interface::<Build>().is_some());
    if !inside(op).all(|child| is_built(&child)) {
        // Some stages are of another level still, so there is no pipeline to connect.
        return Ok(());
    }
    match &*stages(op) {
        Ok(_) | Err(Unbuilt::Stage(_)) => Ok(()),
        Err(Unbuilt::Wire(error)) => Err(error.clone()),
    }
}

/// The context of a run.
fn context(op: OpRef<'_>) -> Result<Context, Diagnostic> {
    Exec::of(op)?.context()
}

/// The context that runs a stage.
///
/// # Errors
/// If it is inside no `hw.exec`, or inside one that does not specify its context.
pub fn context_of(op: OpRef<'_>) -> Result<Context, Diagnostic> {
    let run = op.parent().ok_or_else(|| {
        Diagnostic::error("structure", op.span(), format!("`{op}` is not inside `{}`", EXEC.name))
    })?;
    context(run)
}

/// The run that the operation describes.
pub(crate) fn read(op: OpRef<'_>) -> Result<program::Exec, Diagnostic> {
    let context = context(op)?;
    let slices = active(op)?;
    check_alike(op)?;
    order::check(op, context)?;
    let stages = match &*stages(op) {
        Ok(stages) => stages.clone(),
        Err(Unbuilt::Stage(error) | Unbuilt::Wire(error)) => return Err(error.clone()),
    };
    Ok(program::Exec { context, slices, steps: moving(op)?.after_first(), stages })
}

/// The active slices of a run, where it runs first.
pub(crate) fn active(op: OpRef<'_>) -> Result<Vec<Range<usize>>, Diagnostic> {
    slices(op, "C1", &Exec::of(op)?.slices()?, &moving(op)?)
}

/// C6: how the slices of a run move with the loops around it.
pub(crate) fn moving(op: OpRef<'_>) -> Result<Moving, Diagnostic> {
    let moving = steps(op, "C6", "steps", Exec::of(op)?.steps()?)?;
    if moving.with_scalars() {
        let message = "the slices of a run move with a scalar, but only transfers can".to_owned();
        return Err(op.clause_error("C6", "steps", message));
    }
    Ok(moving)
}

/// C7.
fn check_alike(op: OpRef<'_>) -> Result<(), Diagnostic> {
    if moving(op)?.steps.is_still() {
        return Ok(());
    }
    let knows_slices = |child: &OpRef<'_>| {
        let knows = child.decl().and_then(|decl| decl.interface::<KnowsSlices>());
        knows.is_some_and(|KnowsSlices(knows)| knows(*child))
    };
    match inside(op).into_iter().find(knows_slices) {
        Some(child) => {
            let message =
                format!("the run goes from slices to others, and `{child}` depends on which they are");
            Err(at(op, child, "C7", message))
        }
        None => Ok(()),
    }
}

/// The ranges that the clause `slices` lists as `numbers`, which `constraint` wants to be pairs in order, apart, not
/// empty, within the chip, where a run that moves so runs first.
pub(crate) fn slices(
    op: OpRef<'_>,
    constraint: &str,
    numbers: &[i64],
    moving: &Moving,
) -> Result<Vec<Range<usize>>, Diagnostic> {
    let most = machine(op).slices_per_chip();
    let error = |message| Err(op.clause_error(constraint, "slices", message));
    let (pairs, []) = numbers.as_chunks::<2>() else {
        return error(format!(
            "`slices` has {}, expected pairs of start and end",
            counted(numbers.len(), "number")
        ));
    };
    if pairs.is_empty() {
        return error("`slices` is empty, expected at least one pair of start and end".into());
    }
    let mut ranges = Vec::with_capacity(pairs.len());
    let mut free = 0;
    for pair in pairs {
        let [start, end] = pair.map(|slice| slice.saturating_add(moving.first()));
        if start < free || end <= start || end.cast_unsigned() > most {
            return error(format!(
                "slices {start} to {end} are empty, out of order or outside {free} to {most}"
            ));
        }
        let all = Program { entries: vec![Entry::new(end.abs_diff(start), 1)], packet: 1, base: pair[0] };
        for touched in moving.reaches(&all) {
            let (least, past) = touched.extent().unwrap_or((i64::MIN, i64::MAX));
            if least < 0 || past.cast_unsigned() > most {
                return error(format!(
                    "in some iteration slices {least} to {past} are among those of the run, expected 0 to {most}"
                ));
            }
        }
        ranges.push(start as usize..end as usize);
        free = end;
    }
    Ok(ranges)
}

/// The bytes of the stream that flows into a store, which `constraint` bounds.
pub(crate) fn bytes(op: OpRef<'_>, constraint: &str, input: &Wire) -> Result<u64, Diagnostic> {
    input.bytes().ok_or_else(|| {
        let (packets, packet) = (counted(input.packets, "packet"), counted(input.packet, "byte"));
        op.error(constraint, format!("the stream is {packets} of {packet}, more than any memory holds"))
    })
}

/// The stages of a run, or why there are none: built once for a state of the module ([`Context::once_of`]).
///
/// [`Context::once_of`]: visa_ir::context::Context::once_of
pub type Built = Result<Vec<PlacedStage>, Unbuilt>;

/// Reason for a run without stages.
#[derive(Debug)]
pub enum Unbuilt {
    /// A stage is wrong in itself.
    Stage(Diagnostic),
    /// A stage does not take the output of the one before.
    Wire(Diagnostic),
}

/// The stage of an operation, which takes the wire `input`.
fn stage(op: OpRef<'_>, input: &Wire) -> Result<PlacedStage, Diagnostic> {
    let build = op.decl().and_then(|decl| Some((decl.name, decl.interface::<Build>()?)));
    match build {
        Some((name, build)) => {
            let moves = op.decl().and_then(|decl| decl.interface::<Moves>());
            let steps = moves.map_or(Ok(Steps::default()), |moves| (moves.0)(op))?;
            let stage = build.stage(op, input)?;
            Ok(PlacedStage { name, span: op.span(), stage, entering: input.clone(), steps })
        }
        None => Err(Diagnostic::error("structure", op.span(), format!("`{}` is no stage of hw.exec", op))),
    }
}

fn stages(op: OpRef<'_>) -> Rc<Built> {
    op.ctx.once_of(op, || build(op))
}

/// The stages, each of which takes the output of the one before.
fn build(op: OpRef<'_>) -> Built {
    let machine = machine(op);
    let (mut wire, mut stages) = (Wire::NOTHING, Vec::new());
    for child in inside(op) {
        let stage = stage(child, &wire).map_err(Unbuilt::Stage)?;
        wire = connect(op, child, &stage, &machine, wire).map_err(Unbuilt::Wire)?;
        check_own_reads(op, child, &stage, &stages).map_err(Unbuilt::Wire)?;
        stages.push(stage);
    }
    Ok(stages)
}

/// C8: the output of a collect goes to an engine that takes it.
fn check_flits(op: OpRef<'_>, child: OpRef<'_>, machine: &Machine, input: &Wire) -> Result<(), Diagnostic> {
    let (found, most) = (input.packet, machine.limits.flit_bytes);
    let collected = order::before(child).is_some_and(|before| order::is_in(before, Slot::COLLECT));
    if !collected || found <= most || order::is_in(child, Slot::ALIGN) {
        return Ok(());
    }
    let message = format!("flits of {} flow into `{child}`, which takes {most}", counted(found, "byte"));
    Err(at(op, child, "C8", message).fix("write `halves` after the flits of `hw.collect`".to_owned()))
}

/// C9: the last write of a run to the vector register file is disjoint from the reads of the stages `before` it there.
fn check_own_reads(
    op: OpRef<'_>,
    child: OpRef<'_>,
    stage: &PlacedStage,
    before: &[PlacedStage],
) -> Result<(), Diagnostic> {
    let in_file = |stage: &PlacedStage, write: bool| {
        let own = stage.accesses().into_iter();
        own.filter(move |access| access.space == Space::Vrf && access.write == write)
    };
    if !stage.stores_apart() {
        return Ok(());
    }
    for written in in_file(stage, true).map(|access| access.range) {
        for (reader, read) in
            before.iter().flat_map(|own| in_file(own, false).map(move |read| (own, read.range)))
        {
            if written.start < read.end && read.start < written.end {
                let message = format!(
                    "bytes {} to {} of the vector register file are stored, and this run reads {} to {}",
                    written.start, written.end, read.start, read.end
                );
                return Err(at(op, child, "C9", message).note("it reads them here", Some(reader.span)));
            }
        }
    }
    Ok(())
}

/// The output wire of a stage, which takes the wire `input`.
fn connect(
    op: OpRef<'_>,
    child: OpRef<'_>,
    stage: &PlacedStage,
    machine: &Machine,
    input: Wire,
) -> Result<Wire, Diagnostic> {
    check_flits(op, child, machine, &input)?;
    let wire = stage.connect(machine, input).map_err(|mismatch| {
        let Mismatch { constraint, clause, message } = mismatch;
        child.clause_error(constraint, clause, message)
    })?;
    if wire.bytes().is_some_and(|bytes| bytes <= MAX_STREAM_BYTES) {
        return Ok(wire);
    }
    let message = format!(
        "`{}` gives {} of {}, more than {MAX_STREAM_BYTES} bytes a slice",
        child,
        counted(wire.packets, "packet"),
        counted(wire.packet, "byte")
    );
    Err(at(op, child, "C5", message))
}
