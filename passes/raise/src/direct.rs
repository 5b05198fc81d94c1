//! The function of a kernel as it is raised, before any rule: by axes if clauses are open.

use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, ValueId};
use visa_ir::open::{self, Opening};
use visa_mapping::ops::func::{RETURN, Return};
use visa_mapping::ops::rename::Rearrange;
use visa_mapping::raise::function::{Raised, RaisedByAxes, raise, raise_by_axes};
use visa_mapping::tensor::value::{Value, value_type};

/// Returns true if clauses of a function are open that decide where elements are.
#[must_use]
pub(crate) fn is_open(ctx: &Context, module: &Module, func: OpId) -> bool {
    open::first_below(ctx, module, func, |kind| kind == Opening::Configuration).is_some()
}

/// The function of a kernel. Open clauses decide the order of its sums, and must decide nothing else.
///
/// # Errors
/// As of [`raise`]; and a result that depends on an open clause.
pub(crate) fn direct(ctx: &Context, module: &Module, func: OpId) -> Result<Raised, Diagnostic> {
    if !is_open(ctx, module, func) {
        return raise(ctx, module, func);
    }
    let RaisedByAxes { raised, incomplete, .. } = raise_by_axes(ctx, module, func)?;
    incomplete.map_or(Ok(raised), Err)
}

/// Gives the results of a function their axes in another order.
///
/// # Errors
/// A function without an end.
pub(crate) fn order_results(
    ctx: &Context,
    raised: &mut Raised,
    wanted: &[Vec<Arc<str>>],
) -> Result<(), Diagnostic> {
    let func = raised.module.op(ctx, raised.func);
    let (body, span) = (func.regions().first().copied(), func.span());
    let end = body.and_then(|body| raised.module.ops(body).last().copied());
    let end = end.filter(|&end| raised.module.op(ctx, end).is(&RETURN));
    let (Some(body), Some(end)) = (body, end) else { return Err(func.error("C0", "it has no end")) };
    let results: Vec<ValueId> = raised.module.op(ctx, end).operands().to_vec();
    let mut ordered = Vec::new();
    for (result, wanted) in results.into_iter().zip(wanted) {
        let ty = raised.module.ty(result);
        let value: Option<Rc<Value>> = ctx.type_value(ty);
        let other = value.filter(|value| {
            let same = value.axes.len() == wanted.len() && wanted.iter().all(|axis| value.has(axis));
            same && value.axes.iter().zip(wanted).any(|(axis, wanted)| axis != wanted)
        });
        let Some(value) = other else {
            ordered.push(result);
            continue;
        };
        let axes = Expr::pair(wanted.iter().map(|axis| Expr::axis(axis)));
        let new = Rearrange::build_at(ctx, span, [result]).from(axes.clone()).to(axes);
        let id = raised.module.insert_before(end, new.spec());
        let ty = value_type(ctx, value.dtype, wanted.clone());
        ordered.push(raised.module.add_result(id, ty, None, span));
    }
    raised.module.erase(end);
    raised.module.append(body, Return::build_at(ctx, span, ordered).spec());
    Ok(())
}
