//! Orders whose register tensors fit: a register file has two halves (book 18) or few bytes (book 20). An order that
//! is found without regard to them may need more at the same time.

use visa_ir::context::Context;
use visa_ir::module::{Module, OpId};
use visa_ir::open::is_open;
use visa_mapping::{TRF, Tensor, VRF};
use visa_select::price::allocated;

/// The module with the parts of the register files that its tensors have in their present order. Orders that keep the
/// dependences of this module fit. `None` if it cannot be allocated, or has no open register tensor.
pub(crate) fn pinned(ctx: &Context, module: &Module, func: OpId) -> Option<Module> {
    let regions = module.op(ctx, func).regions().to_vec();
    let ops = regions.into_iter().flat_map(|block| module.walk(block));
    let open: Vec<OpId> = ops.filter(|&id| has_open_register(ctx, module, id)).collect();
    if open.is_empty() {
        return None;
    }
    let chosen = allocated(ctx, module).ok()?;
    let mut pinned = module.clone();
    for id in open {
        let place = chosen.op(ctx, id).attr("at")?;
        pinned.set_clause(id, "at", Some(ctx.attr(place)));
    }
    Some(pinned)
}

/// Returns true if an operation makes a tensor of a register file whose address or half is open.
fn has_open_register(ctx: &Context, module: &Module, id: OpId) -> bool {
    let op = module.op(ctx, id);
    let made = op.result_type::<Tensor>(0);
    made.is_some_and(|tensor| tensor.is(&TRF) || tensor.is(&VRF)) && is_open(op, "at")
}
