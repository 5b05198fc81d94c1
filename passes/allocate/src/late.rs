//! Loads of the vector register file where they are first read. An author who loads early holds the file for longer
//! than he needs it.

use visa_ir::context::Context;
use visa_ir::module::{Module, OpId, OpRef, ValueId};
use visa_mapping::{Tensor, operand, view};
use visa_stream::COLLECT;
use visa_stream::ops::store::TO_VRF;

/// A load, and before which operation it may stand.
struct Late {
    /// The operations of its pipeline, in order.
    pipeline: Vec<OpId>,
    anchor: OpId,
}

/// Moves each load of the body of a function right before the pipeline that reads it first. Whether one moved.
pub(crate) fn load_late(ctx: &Context, module: &mut Module, func: OpId) -> bool {
    let bodies = module.op(ctx, func).regions().to_vec();
    let ops = bodies.iter().flat_map(|&body| module.ops(body).to_vec());
    let loads: Vec<OpId> = ops.filter(|&op| is_load(module.op(ctx, op))).collect();
    let mut moved = false;
    for load in loads {
        let Some(Late { pipeline, anchor }) = late(ctx, module, load) else { continue };
        for op in pipeline {
            module.move_before(op, anchor);
        }
        moved = true;
    }
    moved
}

/// Returns true if an operation ends a load of the file. A pass through the vector engine that ends there is none: it
/// would hold its own operands for longer.
fn is_load(op: OpRef<'_>) -> bool {
    op.is(&TO_VRF) && operand(op, 0).is_some_and(|stream| stream.is(&COLLECT))
}

/// Where a load may stand later than it does.
fn late(ctx: &Context, module: &Module, load: OpId) -> Option<Late> {
    let pipeline = pipeline(module.op(ctx, load));
    let ops = module.ops(module.op(ctx, load).block());
    let at = |op: OpId| ops.iter().position(|own| *own == op);
    let &file = module.op(ctx, load).results().first()?;
    let start = at(load)? + 1;
    let reader = ops[start..].iter().copied().find(|&op| reads(module.op(ctx, op), file))?;
    let anchor = *self::pipeline(module.op(ctx, reader)).first()?;
    let between = ops.get(start..at(anchor)?)?;
    let own = sources(module.op(ctx, *pipeline.first()?));
    // Writes over loaded bytes must stay after the load. Pipelines and views only read them.
    let replaces = |&op: &OpId| {
        let op = module.op(ctx, op);
        let streams = op.result_type::<Tensor>(0).is_some_and(|tensor| tensor.kind.stream);
        !streams && view::kind(op).is_none() && own.iter().any(|&value| reads(op, value))
    };
    (!between.is_empty() && !between.iter().any(replaces)).then_some(Late { pipeline, anchor })
}

/// The operations of a pipeline up to one of them; of any other operation, itself.
pub(crate) fn pipeline(last: OpRef<'_>) -> Vec<OpId> {
    let mut all = vec![last.id];
    let mut op = last;
    while let Some(before) = op.operand_def(0) {
        let streams = before.result_type::<Tensor>(0).is_some_and(|tensor| tensor.kind.stream);
        if !streams {
            break;
        }
        all.push(before.id);
        op = before;
    }
    all.reverse();
    all
}

/// Returns true if an operation, or one in its regions, reads a value.
fn reads(op: OpRef<'_>, value: ValueId) -> bool {
    let mut below = op.regions().iter().flat_map(|&region| op.module.walk(region));
    op.operands().contains(&value) || below.any(|inner| op.other(inner).operands().contains(&value))
}

/// The tensor that a pipeline begins with, and the tensors that it is a view of.
pub(crate) fn sources(begin: OpRef<'_>) -> Vec<ValueId> {
    let mut all = begin.operands().to_vec();
    let mut op = begin.operand_def(0);
    while let Some(seen) = op.filter(|op| view::kind(*op).is_some()) {
        all.extend(seen.operands().first());
        op = seen.operand_def(0);
    }
    all
}
