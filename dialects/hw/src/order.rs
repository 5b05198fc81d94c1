//! The order of the stages of a run, from the places that they declare (books 09, 12, 21): rules C2, C3 and C4 of
//! `hw.exec`.

use crate::build::Build;
use crate::ops::filter::FILTER;
use crate::ops::vector::Vector;
use crate::ops::vector_inter_reduce::VECTOR_INTER_REDUCE;
use crate::ops::vector_stash::VECTOR_STASH;
use crate::ops::vector_zip::{VECTOR_ZIP, VectorZip};
use std::collections::BTreeMap;
use visa_engine::place::{Place, Places, Slot, Station, Then};
use visa_ir::context::Context;
use visa_ir::decl::OpDecl;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_ir::view::{Text, required};
use visa_machine::Unit;
use visa_numerics::AluName;
use visa_numerics::{Alu, VectorStage, alu_ops};

/// The operations inside a run, in order.
pub(crate) fn inside(op: OpRef<'_>) -> impl Iterator<Item = OpRef<'_>> {
    let block = op.regions().first();
    block.into_iter().flat_map(move |&block| op.module.ops(block)).map(move |&id| op.other(id))
}

/// The operation right before this one.
pub(crate) fn before(op: OpRef<'_>) -> Option<OpRef<'_>> {
    let ops = op.module.ops(op.block());
    let at = ops.iter().position(|&id| id == op.id)?;
    Some(op.other(ops[at.checked_sub(1)?]))
}

/// An error of the run's constraint, at one of its stages.
pub(crate) fn at(op: OpRef<'_>, stage: OpRef<'_>, constraint: &str, message: String) -> Diagnostic {
    Diagnostic { span: stage.span(), ..op.error(constraint, message) }
}

/// Checks that the stages inside `op`, a run of that context, are in their order.
///
/// # Errors
/// The first stage that may not be where it is.
pub(crate) fn check(op: OpRef<'_>, unit: Unit) -> Result<(), Diagnostic> {
    let (mut last, mut place) = (op, None);
    let mut vector = VectorOrder::default();
    for stage in inside(op) {
        place = Some(placed(op, (last, place), stage, unit)?);
        vector.take(op, stage)?;
        last = stage;
    }
    match place {
        Some(Place { then: Then::Nothing, .. }) => Ok(()),
        Some(_) | None => Err(out_of_order(op, (last, place), None)),
    }
}

/// The places that a stage declares.
fn places(op: OpRef<'_>) -> &'static [Place] {
    op.decl().and_then(|decl| decl.interface::<Places>()).map_or(&[], |Places(places)| places)
}

/// Returns true if a stage may be in a slot.
pub(crate) fn is_in(op: OpRef<'_>, slot: Slot) -> bool {
    places(op).iter().any(|place| place.slot == slot)
}

/// The place that a stage has after another.
fn placed(
    op: OpRef<'_>,
    before: (OpRef<'_>, Option<&'static Place>),
    stage: OpRef<'_>,
    unit: Unit,
) -> Result<&'static Place, Diagnostic> {
    let mut fitting = places(stage).iter().filter(|place| place.follows(before.1)).peekable();
    if fitting.peek().is_none() {
        return Err(out_of_order(op, before, Some(stage)));
    }
    fitting.find(|place| place.contexts.has(unit)).ok_or_else(|| {
        let message = format!("`{stage}` is in the {} context, which does not have it", unit);
        at(op, stage, "C3", message)
    })
}

/// C2: `stage` (`None`: the end) may not be after the one before.
fn out_of_order(
    op: OpRef<'_>,
    (last, place): (OpRef<'_>, Option<&'static Place>),
    stage: Option<OpRef<'_>>,
) -> Diagnostic {
    let (found, span_of) =
        stage.map_or_else(|| ("the end".to_owned(), last), |stage| (format!("`{stage}`"), stage));
    let message = format!("found {found} after `{last}`, expected {}", expected(op.ctx, place));
    at(op, span_of, "C2", message)
}

/// The stages that may be after one in `place`, in pipeline order, whichever dialect declares them.
fn expected(ctx: &Context, place: Option<&Place>) -> String {
    let declared = ctx.dialects().flat_map(|dialect| dialect.ops.iter().copied().flatten());
    let slot = |decl: &OpDecl| {
        decl.interface::<Build>()?;
        let Places(places) = decl.interface()?;
        places.iter().find(|next| next.follows(place)).map(|next| next.slot)
    };
    let mut next: Vec<(Slot, &str)> = declared.filter_map(|decl| Some((slot(decl)?, decl.name))).collect();
    next.sort_by_key(|(slot, _)| *slot);
    let names: Vec<_> = next.into_iter().map(|(_, name)| format!("`{name}`")).collect();
    if names.is_empty() { "the end".to_owned() } else { names.join(", ") }
}

/// Returns true if a stage works in the Vector Engine.
fn in_vector_engine(stage: OpRef<'_>) -> bool {
    places(stage).iter().any(|place| place.slot == Slot::VECTOR)
}

/// The stage of the Vector Engine at which `op` works.
fn station(op: OpRef<'_>) -> Option<VectorStage> {
    match op.decl()?.interface::<Station>()? {
        Station::At(stage) => Some(*stage),
        Station::Word(clause, stage) => stage(&required::<Text>(&op, clause).ok()?),
    }
}

/// The operation that the ALU of a stage computes, if it is one.
fn alu(stage: OpRef<'_>) -> Option<AluName> {
    let name = Vector::cast(stage)
        .map(|vector| vector.op())
        .or_else(|| VectorZip::cast(stage).map(|zip| zip.op()))?;
    name.ok()
}

/// The units that a pass through the Vector Engine has used so far: C4.
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
            let message = format!("the stage {now} comes after {before}");
            return Err(at(op, stage, "C4", message).note("which is here", Some(place)));
        }
        if now == VectorStage::Reduce
            && let Some(first) = self.reduced.replace(span)
        {
            let message = "the stage reduce works a second time".to_owned();
            return Err(at(op, stage, "C4", message).note("it works here", Some(first)));
        }
        let row = alu(stage).and_then(|name| alu_ops().find(|row| row.stage == now && row.name == name));
        if let Some(row) = row
            && let Some(first) = self.alus.insert(row.alu, span)
        {
            let message = format!("`{}` needs {}, which is in use in this pass", row.name, row.alu);
            return Err(at(op, stage, "C4", message).note("it is used here", Some(first)));
        }
        let reads = Vector::cast(stage).map(|vector| [vector.stash(), vector.stash1()]);
        for _ in reads.into_iter().flatten().filter(|reads| *reads) {
            if let Some(first) = self.stash_read.replace(span) {
                let message = "the stash is read a second time".to_owned();
                return Err(at(op, stage, "C4", message).note("it is read here", Some(first)));
            }
        }
        Ok(())
    }
}

impl VectorOrder {
    /// A pass with two groups has neither stash nor filter, before they become one and after that.
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
        let (note, place) =
            if merges { ("the stream is kept here", kept) } else { ("they become one here", zip) };
        Err(at(op, stage, "C4", message).note(note, Some(place)))
    }

    /// The inter-slice block comes first or last: nothing may follow it if something comes before it.
    fn take_inter_reduce(&mut self, op: OpRef<'_>, stage: OpRef<'_>) -> Result<(), Diagnostic> {
        if !in_vector_engine(stage) {
            return Ok(());
        }
        let span = stage.span();
        let first = *self.first.get_or_insert(span);
        let refuse = |message: &str, note: &str, place| {
            Err(at(op, stage, "C4", message.to_owned()).note(note, Some(place)))
        };
        let reduces = stage.is(&VECTOR_INTER_REDUCE);
        match self.inter_reduce {
            Some(before) if reduces => {
                refuse("slices are reduced a second time", "they are reduced here", before)
            }
            Some(before) if before != first => refuse(
                "a stage comes after the reduction of slices, which has stages before it",
                "it is here",
                before,
            ),
            Some(_) => Ok(()),
            None => {
                self.inter_reduce = reduces.then_some(span);
                Ok(())
            }
        }
    }
}
