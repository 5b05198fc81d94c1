//! `tm.gather`: the rows of a table that an index chooses.

use melior::ir::Type;
use visa_ir::module::OpRef;
use visa_mapping::ops::gather::Gather;
use visa_mapping::summed::named;

use crate::export::known::Known;
use crate::export::mlir::refusals::{Export, refuse};
use crate::export::mlir::shape::{Shape, size};
use crate::export::mlir::value::{Tensor, elementwise};
use crate::export::ops::elements::loop_index;
use crate::export::scope::Scope;

/// The shape of the chosen rows.
pub(crate) fn gathered_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let (table, index) = (known.operand(op, 0)?, known.operand(op, 1)?);
    Shape::new(&known.result(op)?.axes, |axis| {
        let least = [table.extent(axis), index.extent(axis)].into_iter().flatten().min();
        least.ok_or_else(|| refuse(op, format!("no operand has axis `{axis}`")))
    })
}

/// `tm.gather`: loops over the result that read the table at the index.
pub(crate) fn gather<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let (view, shape) = (Gather::of(op)?, scope.shape(op)?);
    let (along, unit) = (named(&*view.along()?), view.unit()?);
    let (table, index) = (scope.operand(op, 0)?, scope.operand(op, 1)?);
    let mut wanted = table.shape.clone();
    for dim in &mut wanted.0 {
        dim.extent = match along.contains(&dim.axis) {
            true => size(op, &dim.axis, scope.known.axes)?,
            false => dim.extent,
        };
    }
    let table = table.fitted(scope.builder, &wanted)?;
    elementwise(scope.builder, &[&index], &shape, table.dtype, |builder, arguments| {
        let wide = Type::index(builder.context);
        let mut row = builder.op("arith.index_cast", &[arguments[0]], wide)?;
        if unit != 1 {
            row = builder.op("arith.divui", &[row, builder.index(unit)?], wide)?;
        }
        let mut operands = vec![table.value];
        for dim in &table.shape.0 {
            operands.push(match shape.place(&dim.axis) {
                Some(place) => loop_index(builder, place)?,
                None => row,
            });
        }
        builder.op("tensor.extract", &operands, table.element(builder)?)
    })
}
