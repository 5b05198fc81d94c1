//! Sums that may be in any order, where a user allows that for a whole kernel.

use visa_ir::context::{Attr, Context};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef};
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::tensor::value::Value;
use visa_numerics::{DType, ReduceName};

/// Makes each sum of `f32` of a function of the tensor level `free`. Sums of integers wrap, so their order is free
/// already; saturating sums keep their order.
///
/// # Errors
/// A clause of another kind than is declared.
pub fn free_sums(ctx: &Context, module: &mut Module, func: OpId) -> Result<(), Diagnostic> {
    let regions = module.op(ctx, func).regions().to_vec();
    let inside: Vec<OpId> = regions.into_iter().flat_map(|block| module.walk(block)).collect();
    for id in inside {
        if is_sum(module.op(ctx, id))? {
            module.set_clause(id, "tree", None);
            module.set_clause(id, "free", Some(ctx.attr(Attr::Unit)));
        }
    }
    Ok(())
}

/// Returns true if an operation adds numbers of `f32`.
fn is_sum(op: OpRef<'_>) -> Result<bool, Diagnostic> {
    let adds = match Reduce::cast(op) {
        Some(reduce) => reduce.op()? == ReduceName::Add,
        None => Contract::cast(op).is_some(),
    };
    let result = op.results().first().map(|&result| op.module.ty(result));
    let value = result.and_then(|ty| op.ctx.type_value::<Value>(ty));
    Ok(adds && value.is_some_and(|value| value.dtype == DType::F32))
}
