//! Sums that may be in any order, where a user allows that for a whole kernel.

use crate::order::without_order;
use visa_algebra::{Axes, Expr};
use visa_ir::context::{Attr, Context};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::verify::Analysis as _;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::tensor::value::Value;
use visa_numerics::{DType, ReduceName};

/// Makes each sum of `f32` of a function of the tensor level `free`. Sums of integers wrap, so their order is free
/// already; saturating sums keep their order. Sums of `f32`, maxima and minima leave out padding, which is the
/// identity of their function.
///
/// # Errors
/// A clause of another kind than is declared.
pub fn free_sums(ctx: &Context, module: &mut Module, func: OpId) -> Result<(), Diagnostic> {
    let axes = DeclaredAxes::build(ctx, module).0;
    let regions = module.op(ctx, func).regions().to_vec();
    let inside: Vec<OpId> = regions.into_iter().flat_map(|block| module.walk(block)).collect();
    for id in inside {
        let op = module.op(ctx, id);
        let (adds, over) = (is_sum(op)?, without_padding(op, &axes)?);
        if adds {
            module.set_clause(id, "tree", None);
            module.set_clause(id, "free", Some(ctx.attr(Attr::Unit)));
        }
        if let Some(over) = over {
            module.set_clause(id, "over", Some(ctx.body_attr(&MAP, over)));
        }
    }
    Ok(())
}

/// The positions of a sum of `f32`, a maximum or a minimum without padding; `None` for other operations, and for those
/// that keep a part of the positions.
fn without_padding(op: OpRef<'_>, axes: &Axes) -> Result<Option<Expr>, Diagnostic> {
    let (over, keeps) = match (Reduce::cast(op), Contract::cast(op)) {
        (Some(reduce), _) if matches!(reduce.op()?, ReduceName::Max | ReduceName::Min) || is_sum(op)? => {
            (reduce.over()?, reduce.keep()?.is_some())
        }
        (None, Some(contract)) if is_sum(op)? => (contract.over()?, contract.keep()?.is_some()),
        (Some(_), _) | (None, Some(_) | None) => return Ok(None),
    };
    Ok(if keeps { None } else { without_order(&over, axes, false) })
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
