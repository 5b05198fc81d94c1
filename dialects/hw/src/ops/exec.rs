//! `hw.exec`: a run of a Tensor Unit context (books 12, 28).

use crate::MAX_STREAM_BYTES;
use crate::clauses::{machine, word};
use crate::program::{self, Context};
use super::filter::FILTER;
use super::vector::VECTOR;
use super::vector_inter_reduce::VECTOR_INTER_REDUCE;
use super::vector_stash::VECTOR_STASH;
use super::vector_zip::VECTOR_ZIP;
use crate::stage::{Build, Mismatch, Stage, StandsFor, Station, Wire};
use std::collections::BTreeMap;
use std::ops::Range;
use visa_ir::effects::{Effects};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_numerics::{Alu, VectorStage, alu_ops, alu_stage};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&EXEC];

/// `hw.exec`.
#[visa_ir::view(Exec)]
pub static EXEC: OpDecl = OpDecl {
    name: "hw.exec",
    summary: "runs a pipeline of the Tensor Unit on every active slice",
    doc: "The stages inside run one behind the other, from a fetch to a store (book 12), on every active slice of every \
          chip in lockstep. Slices are counted through the chip's clusters.",
    constraints: &[
        ("C1", "`slices` is pairs of start and end, in order, apart, not empty, within the chip"),
        (
            "C2",
            "the stages are generate alone, or fetch, [switch], collect, then store_trf or store_vrf, or [align, contract, accumulate], \
             [vector ...], then store_ids, or filter and commit_packed, or [cast], [transpose], commit; or commit_packed right behind \
             collect (books 09, 12, 21)",
        ),
        (
            "C3",
            "the sub context has no align, contract, accumulate, vector, cast or transpose, the main context no generate \
             and commit_packed behind filter only (books 09, 12)",
        ),
        (
            "C4",
            "the stages of the Vector Engine stand in their order, each ALU works once a pass, the stash is read once, and a pass with \
             two groups has neither stash nor filter (book 21); slices are reduced once a pass, in front of all its stages or behind them (books 20, 25)",
        ),
        ("C5", "a stream of a slice has at most 64 MiB (ours: it bounds the interpreter's memory)"),
    ],
    clauses: &[
        ClauseDecl::lead("context", ClauseKind::Word(&["main", "sub"]), "The context that runs."),
        ClauseDecl::required(
            "slices",
            ClauseKind::Ints,
            "Active slices: start, end (one past), start, end, ...",
        ),
    ],
    traits: &[Trait::Inside("hw.program"), Trait::Region],
    effects: Effects::OfBody,
    verify: Some(|op, _| verify(op)),
    example: "hw.exec sub, slices [0, 256] {\n  hw.fetch i8, packet 32, loops [32 : 1] : 8\n  hw.collect flits 1\n  \
              hw.store_vrf at 0\n}",
    ..OpDecl::BASE
};

/// What may follow each operation; nothing follows the last stages.
const NEXT: &[(&str, &[&str])] = &[
    ("hw.exec", &["hw.fetch", "hw.generate"]),
    ("hw.fetch", &["hw.switch", "hw.collect"]),
    ("hw.switch", &["hw.collect"]),
    (
        "hw.collect",
        &[
            "hw.store_trf",
            "hw.store_vrf",
            "hw.align",
            "hw.vector",
            "hw.filter",
            "hw.store_ids",
            "hw.cast",
            "hw.transpose",
            "hw.commit",
            "hw.commit_packed",
        ],
    ),
    ("hw.align", &["hw.contract"]),
    ("hw.contract", &["hw.accumulate"]),
    ("hw.accumulate", &["hw.vector", "hw.filter", "hw.store_ids", "hw.cast", "hw.transpose", "hw.commit"]),
    ("hw.vector", &["hw.vector", "hw.filter", "hw.store_ids", "hw.cast", "hw.transpose", "hw.commit"]),
    ("hw.filter", &["hw.commit_packed"]),
    ("hw.cast", &["hw.transpose", "hw.commit"]),
    ("hw.transpose", &["hw.commit"]),
];

/// What only the main context has.
const MAIN_ONLY: &[&str] = &[
    "hw.align",
    "hw.contract",
    "hw.accumulate",
    "hw.vector",
    "hw.filter",
    "hw.store_ids",
    "hw.cast",
    "hw.transpose",
];

/// What only the sub context has.
const SUB_ONLY: &[&str] = &["hw.generate", "hw.commit_packed"];

/// Stages that are wrong in themselves are left to their own verifiers.
fn verify(op: OpRef<'_>) -> Result<(), Diagnostic> {
    slices(op, "C1")?;
    order(op)?;
    match stages(op) {
        Ok(stages) => connect(op, &stages).map(drop),
        Err(_) => Ok(()),
    }
}

/// The run that the operation describes.
pub(crate) fn read(op: OpRef<'_>) -> Result<program::Exec, Diagnostic> {
    let context = if &*word(op, "context")? == "sub" { Context::Sub } else { Context::Main };
    let slices = slices(op, "C1")?;
    order(op)?;
    let stages = stages(op)?;
    connect(op, &stages)?;
    Ok(program::Exec { context, slices, stages })
}

/// The ranges of the clause `slices`, which `constraint` wants to be pairs in order, apart, not empty, within the chip.
pub(crate) fn slices(op: OpRef<'_>, constraint: &str) -> Result<Vec<Range<usize>>, Diagnostic> {
    let numbers = op.ints("slices");
    let most = machine(op).slices_per_chip();
    let error = |message| Err(op.clause_error(constraint, "slices", message));
    let (pairs, []) = numbers.as_chunks::<2>() else {
        return error(format!("`slices` has {}, expected pairs of start and end", counted(numbers.len(), "number")));
    };
    if pairs.is_empty() {
        return error("`slices` is empty, expected at least one pair of start and end".into());
    }
    let mut ranges = Vec::with_capacity(pairs.len());
    let mut free = 0;
    for &[start, end] in pairs {
        if start < free || end <= start || end.cast_unsigned() > most {
            return error(format!("slices {start} to {end} are empty, out of order or outside {free} to {most}"));
        }
        ranges.push(start as usize..end as usize);
        free = end;
    }
    Ok(ranges)
}

/// The operations inside, in order.
fn inside(op: OpRef<'_>) -> impl Iterator<Item = OpRef<'_>> {
    let block = op.regions().first();
    block.into_iter().flat_map(move |&block| op.module.ops(block)).map(move |&id| op.other(id))
}

/// The operation right before this one.
pub(crate) fn before(op: OpRef<'_>) -> Option<OpRef<'_>> {
    let ops = op.module.ops(op.block());
    let at = ops.iter().position(|&id| id == op.id)?;
    Some(op.other(ops[at.checked_sub(1)?]))
}

/// C2, C3 and C4.
fn order(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let sub = &*word(op, "context")? == "sub";
    let mut last = op;
    let mut vector = VectorOrder::default();
    for stage in inside(op) {
        follows(op, last, Some(stage))?;
        let (context, others) = if sub { ("sub", MAIN_ONLY) } else { ("main", SUB_ONLY) };
        // Behind a filter there is packing in the main context too.
        let filtered = family(last) == "hw.filter";
        if others.contains(&family(stage).as_str()) && !filtered {
            let message = format!("`{}` stands in the {context} context, which does not have it", stage.name());
            return Err(at(op, stage, "C3", message));
        }
        vector.take(op, stage)?;
        last = stage;
    }
    follows(op, last, None)
}

/// What a pass through the Vector Engine has used so far: C4.
#[derive(Default)]
struct VectorOrder {
    last: Option<(VectorStage, Span)>,
    alus: BTreeMap<Alu, Span>,
    stash_read: Option<Span>,
    reduced: Option<Span>,
    /// The first stage of the pass.
    first: Option<Span>,
    inter_reduce: Option<Span>,
    /// Where two groups become one.
    zip: Option<Span>,
    /// Where the stream is kept, in the stash or by a filter.
    kept: Option<Span>,
}

impl VectorOrder {
    fn take(&mut self, op: OpRef<'_>, stage: OpRef<'_>) -> Result<(), Diagnostic> {
        self.take_inter_reduce(op, stage)?;
        self.take_groups(op, stage)?;
        let Some(now) = station(stage) else { return Ok(()) };
        let span = stage.span();
        if let Some((before, place)) = self.last.replace((now, span))
            && before > now
        {
            let message = format!("the stage {now} stands behind {before}");
            return Err(at(op, stage, "C4", message).note("which stands here", Some(place)));
        }
        if now == VectorStage::Reduce
            && let Some(first) = self.reduced.replace(span)
        {
            let message = "the stage reduce works a second time".to_owned();
            return Err(at(op, stage, "C4", message).note("it works here", Some(first)));
        }
        let name = stage.word("op").unwrap_or_default();
        let row = alu_ops().find(|row| row.stage == now && *row.name == *name);
        if let Some(row) = row
            && let Some(first) = self.alus.insert(row.alu, span)
        {
            let message = format!("`{name}` needs {}, which is in use in this pass", row.alu);
            return Err(at(op, stage, "C4", message).note("it is used here", Some(first)));
        }
        for _ in ["stash", "stash1"].into_iter().filter(|clause| stage.flag(clause)) {
            if let Some(first) = self.stash_read.replace(span) {
                let message = "the stash is read a second time".to_owned();
                return Err(at(op, stage, "C4", message).note("it is read here", Some(first)));
            }
        }
        Ok(())
    }
}

impl VectorOrder {
    /// A pass with two groups has neither stash nor filter, before they become one and behind that.
    fn take_groups(&mut self, op: OpRef<'_>, stage: OpRef<'_>) -> Result<(), Diagnostic> {
        let (merges, keeps) = (stage.is(&VECTOR_ZIP), stage.is(&VECTOR_STASH) || stage.is(&FILTER));
        if merges {
            self.zip = Some(stage.span());
        }
        if keeps {
            self.kept = Some(stage.span());
        }
        let (Some(zip), Some(kept)) = (self.zip, self.kept) else { return Ok(()) };
        let message = "a pass with two groups has neither stash nor filter".to_owned();
        let (note, place) = if merges { ("the stream is kept here", kept) } else { ("they become one here", zip) };
        Err(at(op, stage, "C4", message).note(note, Some(place)))
    }

    /// The inter-slice block comes first or last: behind it stands nothing if something stands in front.
    fn take_inter_reduce(&mut self, op: OpRef<'_>, stage: OpRef<'_>) -> Result<(), Diagnostic> {
        if family(stage) != VECTOR.name {
            return Ok(());
        }
        let span = stage.span();
        let first = *self.first.get_or_insert(span);
        let refuse = |message: &str, note: &str, place| Err(at(op, stage, "C4", message.to_owned()).note(note, Some(place)));
        let reduces = role(stage) == VECTOR_INTER_REDUCE.name;
        match self.inter_reduce {
            Some(before) if reduces => refuse("slices are reduced a second time", "they are reduced here", before),
            Some(before) if before != first => {
                refuse("a stage stands behind the reduction of slices, which has stages in front", "it stands here", before)
            }
            Some(_) => Ok(()),
            None => {
                self.inter_reduce = reduces.then_some(span);
                Ok(())
            }
        }
    }
}

/// The stage of the Vector Engine at which `op` works, or would once it is lowered.
fn station(op: OpRef<'_>) -> Option<VectorStage> {
    let own = op.decl().and_then(|decl| decl.interface::<Station>());
    match own {
        Some(Station(stage)) => stage(op),
        None if role(op) == VECTOR.name => alu_stage(&op.word("stage")?),
        None => None,
    }
}

/// The hw operation in whose place this one stands: what its declaration says, its hw counterpart for an operation of
/// the sequencer level, which is lowered to it, and itself otherwise.
fn role(op: OpRef<'_>) -> String {
    match op.decl().and_then(|decl| decl.interface::<StandsFor>()) {
        Some(StandsFor(name)) => (*name).to_owned(),
        None => op.name().strip_prefix("seq.").map_or_else(|| op.name().to_owned(), |name| format!("hw.{name}")),
    }
}

/// The entry of [`NEXT`] that `op` falls under: the operations of the Vector Engine share one, their own order is [`VectorOrder`].
fn family(op: OpRef<'_>) -> String {
    let role = role(op);
    if role.starts_with(VECTOR.name) { VECTOR.name.to_owned() } else { role }
}

/// C2: whether `stage` (`None`: the end) may follow `last`.
fn follows(op: OpRef<'_>, last: OpRef<'_>, stage: Option<OpRef<'_>>) -> Result<(), Diagnostic> {
    let next = NEXT.iter().find(|(name, _)| *name == family(last)).map_or(&[] as &[&str], |(_, next)| next);
    let (found, place) = match stage {
        Some(stage) if next.contains(&family(stage).as_str()) => return Ok(()),
        None if next.is_empty() => return Ok(()),
        Some(stage) => (format!("`{}`", stage.name()), stage),
        None => ("the end".to_owned(), last),
    };
    let expected = if next.is_empty() { "the end".to_owned() } else { format!("`{}`", next.join("`, `")) };
    let message = format!("found {found} behind `{}`, expected {expected}", last.name());
    Err(at(op, place, "C2", message))
}

/// An error of the run's constraint, at one of its stages.
fn at(op: OpRef<'_>, stage: OpRef<'_>, constraint: &str, message: String) -> Diagnostic {
    Diagnostic { span: stage.span(), ..op.error(constraint, message) }
}

fn stage(op: OpRef<'_>) -> Result<Box<dyn Stage>, Diagnostic> {
    match op.decl().and_then(|decl| decl.interface::<Build>()) {
        Some(build) => (build.0)(op),
        None => Err(Diagnostic::error("structure", op.span(), format!("`{}` is no stage of hw.exec", op.name()))),
    }
}

fn stages(op: OpRef<'_>) -> Result<Vec<Box<dyn Stage>>, Diagnostic> {
    inside(op).map(stage).collect()
}

/// Checks that each stage takes what the one before gives.
fn connect(op: OpRef<'_>, stages: &[Box<dyn Stage>]) -> Result<Wire, Diagnostic> {
    let machine = machine(op);
    let mut wire = Wire::NOTHING;
    for (child, stage) in inside(op).zip(stages) {
        wire = stage.connect(&machine, wire).map_err(|mismatch| {
            let Mismatch { constraint, clause, message } = mismatch;
            child.clause_error(constraint, clause, message)
        })?;
        if wire.bytes().is_none_or(|bytes| bytes > MAX_STREAM_BYTES) {
            let message = format!(
                "`{}` gives {} of {}, more than {MAX_STREAM_BYTES} bytes a slice",
                child.name(),
                counted(wire.packets, "packet"),
                counted(wire.packet, "byte"));
            return Err(at(op, child, "C5", message));
        }
    }
    Ok(wire)
}

/// What flows into `op`, if the stages before it agree.
pub(crate) fn wire_into(op: OpRef<'_>) -> Option<Wire> {
    let machine = machine(op);
    let mut wire = Wire::NOTHING;
    for child in inside(op.parent()?).take_while(|child| child.id != op.id) {
        wire = stage(child).ok()?.connect(&machine, wire).ok()?;
    }
    Some(wire)
}
