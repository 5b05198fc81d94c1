//! The interface of a kernel at the memory level: the types of its arguments and results, and the axes of their
//! arrays.

use crate::direct::is_open;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, TypeId, ValueId};
use visa_ir::verify::Analysis as _;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::signature;
use visa_mapping::raise::close::closed;
use visa_mapping::tensor::value::Value;
use visa_mapping::{Tensor, array_layout};

/// The types of a kernel's arguments and results.
pub struct Interface {
    /// The types of the arguments.
    pub arguments: Vec<TypeId>,
    /// The types of the results.
    pub results: Vec<TypeId>,
    /// The axes of the array of each result, outermost first.
    pub result_axes: Vec<Vec<Arc<str>>>,
}

impl Interface {
    /// The interface of a kernel, whose clauses may be open.
    ///
    /// # Errors
    /// A result that is no array.
    pub fn of(ctx: &Context, module: &Module, func: OpId) -> Result<Self, Diagnostic> {
        // Types of an open kernel by axes stand for all choices.
        let types = if is_open(ctx, module, func) { Some(closed(ctx, module)?.0) } else { None };
        let module = types.as_ref().unwrap_or(module);
        let (arguments, results) = signature(module.op(ctx, func));
        let types = |values: &[ValueId]| values.iter().map(|&value| module.ty(value)).collect();
        let result_axes = result_axes(ctx, module, func, &DeclaredAxes::build(ctx, module).0)?;
        Ok(Self { arguments: types(arguments), results: types(results), result_axes })
    }
}

/// The axes of the array of each result, outermost first.
///
/// # Errors
/// A result that is no array.
pub(crate) fn result_axes(
    ctx: &Context,
    module: &Module,
    func: OpId,
    axes: &Axes,
) -> Result<Vec<Vec<Arc<str>>>, Diagnostic> {
    let func = module.op(ctx, func);
    let of = |&value: &ValueId| {
        let ty = module.ty(value);
        if let Some(value) = ctx.type_value::<Value>(ty) {
            return Ok(value.axes.clone());
        }
        let tensor = ctx.type_value::<Tensor>(ty).ok_or_else(|| func.error("C0", "a result is no tensor"))?;
        let layout = array_layout(&tensor, axes).map_err(|why| func.error("C0", why))?;
        Ok(layout.dims.iter().map(|&(axis, _)| axes.name(axis).into()).collect())
    };
    signature(func).1.iter().map(of).collect()
}
