//! Optional engines of a pipeline. Unless explicit clauses prevent it they are inserted into the pipeline, with all
//! their clauses open; one e-graph holds the ways with them and without, and those that the best way lacks are removed
//! again.

use crate::config::graph::open_clauses;
use crate::rules::ruleset::RuleSet;
use std::collections::BTreeSet;
use visa_engine::place::rngd;
use visa_ir::context::Context;
use visa_ir::decl::OpDecl;
use visa_ir::module::{Module, OpId, OpRef, OpSpec, ValueId};
use visa_ir::open::{unknown, untyped};
use visa_machine::Unit;
use visa_stream::ops::begin::context;
use visa_stream::ops::switch::{self, Switch};
use visa_stream::ops::transpose::{self, Transpose};
use visa_stream::ops::{collect, commit, fetch};
use visa_stream::pipeline;

/// An engine that may be added.
struct Engine {
    decl: &'static OpDecl,
    /// Builds it for a stream, in front of the operation `after`, with open clauses.
    build: fn(after: OpRef<'_>, stream: ValueId) -> OpSpec,
    /// Returns true if it may be between two operations of a pipeline.
    fits: fn(pipeline: &[OpRef<'_>], before: OpRef<'_>, after: OpRef<'_>) -> bool,
}

const ENGINES: [Engine; 2] = [
    Engine {
        decl: &switch::DECL,
        build: |after, stream| {
            Switch::build(after, [stream]).topology_auto().result(unknown(after.ctx), None).spec()
        },
        fits: switches,
    },
    Engine {
        decl: &transpose::DECL,
        build: |after, stream| {
            let transpose = Transpose::build(after, [stream]).time_auto().packet_auto();
            transpose.result(unknown(after.ctx), None).spec()
        },
        fits: transposes,
    },
];

/// Between fetch and collect, if both are open and the content of the slices is specified: by a tensor that the stream
/// meets, or a layout at the end.
fn switches(pipeline: &[OpRef<'_>], before: OpRef<'_>, after: OpRef<'_>) -> bool {
    let open = |op: OpRef<'_>| open_clauses(op).next().is_some();
    let meets = pipeline.iter().skip(1).any(|op| op.operands().len() > 1);
    let placed = pipeline
        .last()
        .is_some_and(|end| end.is(&commit::DECL) && open_clauses(*end).all(|name| name != "element"));
    before.is(&fetch::DECL) && after.is(&collect::DECL) && open(before) && open(after) && (meets || placed)
}

/// In front of a commit of a context that computes, where the stream depends on something open (book 27).
fn transposes(pipeline: &[OpRef<'_>], before: OpRef<'_>, after: OpRef<'_>) -> bool {
    let unit = pipeline.first().and_then(|begin| context(*begin).ok());
    let takes = pipeline::may_be_after(&rngd::TRANSPOSE, before);
    unit.is_some_and(Unit::computes) && takes && after.is(&commit::DECL) && untyped(before)
}

/// The choice for an operation of a pipeline.
#[derive(Clone)]
pub enum At {
    /// One that is written.
    Written(OpId),
    /// An engine that the pipeline gets, in front of another operation.
    Added(&'static OpDecl, OpId),
}

/// Puts engines into the pipeline `chain`: its operations with them, and the numbers of those.
pub(crate) fn insert(
    ctx: &Context,
    module: &mut Module,
    chain: &[OpId],
    rules: &RuleSet,
) -> (Vec<OpId>, BTreeSet<usize>) {
    let (mut longer, mut added) = (chain.to_vec(), BTreeSet::new());
    for engine in ENGINES.iter().filter(|engine| rules.covers_all_of(engine.decl)) {
        let ops: Vec<OpRef<'_>> = longer.iter().map(|&id| module.op(ctx, id)).collect();
        if ops.iter().any(|op| op.is(engine.decl)) {
            continue;
        }
        let place = ops.windows(2).position(|pair| (engine.fits)(&ops, pair[0], pair[1]));
        let Some(place) = place else { continue };
        let Some(id) = put(ctx, module, engine.decl, longer[place + 1]) else { continue };
        longer.insert(place + 1, id);
        added.insert(place + 1);
    }
    (longer, added)
}

/// Puts an engine in front of an operation of a pipeline, with all its clauses open.
pub(crate) fn put(ctx: &Context, module: &mut Module, decl: &'static OpDecl, before: OpId) -> Option<OpId> {
    let engine = ENGINES.iter().find(|engine| std::ptr::eq(engine.decl, decl))?;
    let after = module.op(ctx, before);
    let &source = after.operands().first()?;
    let spec = (engine.build)(after, source);
    let id = module.insert_before(before, spec);
    let made = module.op(ctx, id).results()[0];
    module.set_operand(before, 0, made);
    Some(id)
}

/// Takes an operation out of its pipeline: the following one takes its operand.
pub(crate) fn remove(ctx: &Context, module: &mut Module, id: OpId) {
    let op = module.op(ctx, id);
    let (source, made) = (op.operands()[0], op.results()[0]);
    module.replace_uses(made, source);
    module.erase(id);
}
