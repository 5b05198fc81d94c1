//! The shapes of all values of a function. Those that a loop carries are the largest of all iterations.

use std::collections::HashMap;
use visa_algebra::Axes;
use visa_ir::module::{BlockId, OpRef, ValueId};
use visa_mapping::index::INDEX;
use visa_mapping::ops::call::CALL;
use visa_mapping::ops::control::{self, FOR, IF};
use visa_mapping::ops::func::RETURN;
use visa_mapping::ops::number::{AFFINE, SELECT};
use visa_mapping::tensor::scalar::is_scalar;

use crate::export::known::Known;
use crate::export::mlir::refusals::Export;
use crate::export::mlir::shape::{Shape, value_type, whole};
use crate::export::ops;

/// The shapes of the values of a function.
///
/// # Errors
/// Operations without a counterpart, at their lines.
pub(crate) fn shapes<'a>(func: OpRef<'_>, axes: &'a Axes) -> Export<Known<'a>> {
    let mut known = Known { axes, shapes: HashMap::new() };
    for &block in func.regions() {
        for &argument in func.module.args(block) {
            if !is_scalar(func.ctx, func.module.ty(argument)) {
                let ty = value_type(func, argument)?;
                known.shapes.insert(argument, whole(func, &ty, axes)?);
            }
        }
        operations(&mut known, func, block)?;
    }
    Ok(known)
}

fn operations(known: &mut Known<'_>, around: OpRef<'_>, block: BlockId) -> Export<()> {
    around.module.ops(block).iter().try_for_each(|&id| operation(known, around.other(id)))
}

fn operation(known: &mut Known<'_>, op: OpRef<'_>) -> Export<()> {
    if op.is(&FOR) || op.is(&IF) {
        return carried(known, op);
    }
    if op.is(&CALL) {
        for &result in op.results() {
            let shape = whole(op, &value_type(op, result)?, known.axes)?;
            known.shapes.insert(result, shape);
        }
        return Ok(());
    }
    if [&AFFINE, &SELECT, &control::YIELD, &RETURN].iter().any(|decl| op.is(decl)) {
        return Ok(());
    }
    let shape = ops::shape(known, op)?;
    known.shapes.extend(op.results().iter().map(|&result| (result, shape.clone())));
    Ok(())
}

/// A loop or a branch: its values have the larger extent of those before and those that the body yields, until the
/// extents stay the same.
fn carried(known: &mut Known<'_>, op: OpRef<'_>) -> Export<()> {
    let typed = |value: ValueId, shape: &Shape| {
        Shape::new(&value_type(op, value)?.axes, |axis| Ok(shape.extent(axis).unwrap_or(1)))
    };
    let all = control::carried(op);
    let mut shapes: Vec<Shape> = Vec::new();
    for carried in &all {
        shapes.push(known.shape(op, carried.initial)?.clone());
    }
    loop {
        for (carried, shape) in all.iter().zip(&shapes) {
            for value in [carried.argument, carried.result].into_iter().flatten() {
                known.shapes.insert(value, typed(value, shape)?);
            }
        }
        for &block in op.regions() {
            operations(known, op, block)?;
        }
        let mut next = Vec::new();
        for (carried, shape) in all.iter().zip(&shapes) {
            let yielded = carried.yielded.map(|yielded| known.shape(op, yielded)).transpose()?;
            next.push(yielded.map_or_else(|| shape.clone(), |yielded| shape.join(yielded)));
        }
        if next == shapes {
            return Ok(());
        }
        shapes = next;
    }
}

/// Returns true if a value is a number of the loops around it.
pub(crate) fn is_index(op: OpRef<'_>, value: ValueId) -> bool {
    let ty = op.module.ty(value);
    op.ctx.type_name(ty) == INDEX.name || is_scalar(op.ctx, ty)
}
