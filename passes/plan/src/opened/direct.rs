//! Transfers of a plan by way of HBM that are made direct: rows that a step stores only to move them into a part of
//! another tensor, and rows that are gathered into HBM only to load them.

use std::rc::Rc;
use visa_ir::build::NewOp;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::verify::verify;
use visa_mapping::ops::indexed::{GATHER_TO_HBM, GatherToDm, GatherToHbm, SCATTER};
use visa_mapping::ops::to_tile::TO_TILE;
use visa_mapping::ops::transfer::{TO_DM, TO_HBM};
use visa_mapping::{Dim, Tensor};

/// Makes the transfers of a kernel direct, each if the kernel verifies afterwards.
///
/// # Errors
/// A tensor whose mappings are not known.
pub fn make_direct(ctx: &Context, module: &mut Module, func: OpId) -> Result<(), Diagnostic> {
    let body = module.op(ctx, func).regions().to_vec();
    let all: Vec<OpId> = body.into_iter().flat_map(|block| module.walk(block)).collect();
    for id in all {
        if module.is_erased(id) {
            continue;
        }
        let mut changed = module.clone();
        let is_changed = match pair(module.op(ctx, id)) {
            Some(Pair::Stored(user)) => {
                let source = module.op(ctx, id).operands()[0];
                changed.set_operand(user, 0, source);
                changed.erase(id);
                true
            }
            Some(Pair::Gathered(load)) => gathered_to_dm(ctx, &mut changed, [id, load])?,
            None => false,
        };
        let verifies = || verify(ctx, &changed).iter().all(|error| error.severity != Severity::Error);
        if is_changed && verifies() {
            *module = changed;
        }
    }
    Ok(())
}

/// A transfer to HBM, and the only operation that reads its result.
enum Pair {
    /// It moves the rows into a part of another tensor.
    Stored(OpId),
    /// It loads rows that are gathered.
    Gathered(OpId),
}

/// The pair that an operation begins, in one block.
fn pair(op: OpRef<'_>) -> Option<Pair> {
    let &result = op.results().first()?;
    let &[user] = op.module.uses(result) else { return None };
    let user = op.other(user);
    let once = user.operands().iter().filter(|own| **own == result).count() == 1;
    let is_first = once && user.operands().first() == Some(&result);
    if !is_first || user.block() != op.block() {
        return None;
    }
    let moves = user.is(&TO_TILE) || user.is(&SCATTER);
    if op.is(&TO_HBM) && moves {
        return Some(Pair::Stored(user.id));
    }
    (op.is(&GATHER_TO_HBM) && user.is(&TO_DM)).then_some(Pair::Gathered(user.id))
}

/// Gathers rows into data memory, where a load puts them. Returns false if the load moves a part of the rows.
fn gathered_to_dm(ctx: &Context, module: &mut Module, [gather, load]: [OpId; 2]) -> Result<bool, Diagnostic> {
    let (from, to) = (module.op(ctx, gather), module.op(ctx, load));
    let Some(tensor) = to.result_type::<Tensor>(0) else { return Ok(false) };
    let &[table, index] = from.operands() else { return Ok(false) };
    let along = GatherToHbm::of(from)?.along()?;
    let new: NewOp<'_> = GatherToDm::build_at(ctx, to.span(), [table, index])
        .along(Rc::clone(&along))
        .at_auto()
        .cluster(tensor.dim(Dim::Cluster))
        .slice(tensor.dim(Dim::Slice))
        .element(tensor.dim(Dim::Element))
        .into();
    let result = to.results()[0];
    let (ty, name) = (module.ty(result), module.value_name(result).cloned());
    let id = module.insert_before(load, new.result(ty, name).spec());
    let value = module.op(ctx, id).results()[0];
    module.replace_uses(result, value);
    module.erase(load);
    module.erase(gather);
    Ok(true)
}
