//! Operations on elements one by one, and values that depend on no other.

use melior::ir::attribute::{DenseElementsAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type};
use visa_ir::module::OpRef;
use visa_mapping::expression::Dag;
use visa_mapping::ops::cast::{Cast, SubtractZero};
use visa_mapping::ops::constant::{Constant, elements};
use visa_mapping::ops::map::{Map, computation};
use visa_mapping::ops::where_::{Compare, comparisons};
use visa_numerics::{Bits, DType};

use crate::export::known::Known;
use crate::export::mlir::builder::{Builder, Parts, Val};
use crate::export::mlir::formats::{element, number};
use crate::export::mlir::refusals::{Export, refuse};
use crate::export::mlir::scalars::Scalars;
use crate::export::mlir::shape::{Shape, size, whole};
use crate::export::mlir::value::{Tensor, elementwise};
use crate::export::scope::Scope;

/// The elements that all operands have.
pub(crate) fn common_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let operands = known.operands(op)?;
    let least = |axis: &str| operands.iter().filter_map(|shape| shape.extent(axis)).min();
    Shape::new(&known.result(op)?.axes, |axis| {
        least(axis).ok_or_else(|| refuse(op, format!("no operand has axis `{axis}`")))
    })
}

/// `tm.map`: its expression in `arith` and `math`.
pub(crate) fn map<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let dag: Dag = computation(Map::of(op)?)?;
    let dtype = dag.dtype().ok_or_else(|| refuse(op, "its expression has no result"))?;
    let operands = scope.operands(op)?;
    let operands: Vec<&Tensor<'c>> = operands.iter().collect();
    elementwise(scope.builder, &operands, &scope.shape(op)?, dtype, |builder, arguments| {
        Scalars::new(builder).expression(&dag, arguments)
    })
}

/// `tm.cast`: the conversion that rounds as the engine does.
pub(crate) fn cast<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let view = Cast::of(op)?;
    let (value, to) = (scope.operand(op, 0)?, *view.dtype()?);
    if value.dtype == to {
        return Ok(value);
    }
    let (from, bits) = (value.dtype, view.bits());
    elementwise(scope.builder, &[&value], &scope.shape(op)?, to, |builder, arguments| {
        let ty = element(builder.context, builder.source, to)?;
        let direct = |name: &str| builder.op(name, &[arguments[0]], ty);
        match (bits, from.is_float(), to.is_float(), from_width(from) < from_width(to)) {
            (true, ..) => direct("arith.bitcast"),
            (false, false, false, true) => direct("arith.extsi"),
            (false, false, false, false) => direct("arith.trunci"),
            (false, true, true, true) => direct("arith.extf"),
            (false, true, true, false) => narrowed(builder, arguments[0], from, to, ty),
            (false, true, false, _) | (false, false, true, _) => {
                Err(refuse(builder.source, format!("no engine converts `{from}` to `{to}`")))
            }
        }
    })
}

/// Bits of a value of a format.
fn from_width(dtype: DType) -> u32 {
    dtype.info().value_bits
}

/// MLIR's number of the rounding to nearest, ties away from zero.
const TO_NEAREST_AWAY: i64 = 4;

/// A narrower float: `f8e4m3` saturates, which `arith.truncf` does not, and `f8e5m2` rounds ties away from zero.
fn narrowed<'c>(
    builder: Builder<'c, '_>,
    x: Val<'c>,
    from: DType,
    to: DType,
    ty: Type<'c>,
) -> Export<Val<'c>> {
    match to {
        DType::F16 | DType::Bf16 => builder.op("arith.truncf", &[x], ty),
        DType::F8e5m2 => {
            let wide = IntegerType::new(builder.context, 32).into();
            let mode = IntegerAttribute::new(wide, TO_NEAREST_AWAY).into();
            let parts = Parts {
                operands: &[x],
                attributes: &[("roundingmode", mode)],
                results: &[ty],
                ..Parts::default()
            };
            builder.one("arith.truncf", parts)
        }
        DType::F8e4m3 => {
            let (wide, scalars) = (element(builder.context, builder.source, from)?, Scalars::new(builder));
            let [most, least] = [448.0_f32, -448.0].map(|end| scalars.number(DType::F32, end.to_bits()));
            // A NaN stays one: these two return it.
            let below = builder.op("arith.minimumf", &[x, most?], wide)?;
            let inside = builder.op("arith.maximumf", &[below, least?], wide)?;
            builder.op("arith.truncf", &[inside], ty)
        }
        DType::I4
        | DType::I5
        | DType::I8
        | DType::I9
        | DType::I16
        | DType::I32
        | DType::U8
        | DType::F4e2m1
        | DType::F32 => Err(refuse(builder.source, format!("no engine converts `{from}` to `{to}`"))),
    }
}

/// `tm.subtract_zero`: wraps in the format of the elements.
pub(crate) fn subtract_zero<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let view = SubtractZero::of(op)?;
    let (value, points) = (scope.operand(op, 0)?, view.points()?);
    let bits: Vec<Bits> = points.iter().map(|&point| (point as i32).cast_unsigned()).collect();
    let axes = view.along()?.map_or_else(Vec::new, |along| visa_mapping::summed::named(&along));
    let shape = Shape::new(&axes, |axis| size(op, axis, scope.known.axes))?;
    let points = dense(scope.builder, value.dtype, &bits, shape)?;
    elementwise(scope.builder, &[&value, &points], &scope.shape(op)?, value.dtype, |builder, arguments| {
        let ty = element(builder.context, builder.source, value.dtype)?;
        builder.op("arith.subi", &arguments[..2], ty)
    })
}

/// The shape of a choice: elements that are not chosen may be undefined.
pub(crate) fn where_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let operands = known.operands(op)?;
    let [condition, then, otherwise] = operands.as_slice() else {
        return Err(refuse(op, "it has no three operands"));
    };
    Shape::new(&known.result(op)?.axes, |axis| {
        let either = then.extent(axis).max(otherwise.extent(axis));
        let extent = condition.extent(axis).or(either);
        extent.ok_or_else(|| refuse(op, format!("no operand has axis `{axis}`")))
    })
}

/// `tm.where`: one of two elements.
pub(crate) fn choose<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let operands = scope.operands(op)?;
    let dtype = scope.known.result(op)?.dtype;
    let operands: Vec<&Tensor<'c>> = operands.iter().collect();
    elementwise(scope.builder, &operands, &scope.shape(op)?, dtype, |builder, arguments| {
        let scalars = Scalars::new(builder);
        scalars.select(scalars.holds(arguments[0])?, arguments[1], arguments[2])
    })
}

/// `tm.compare`: a bit for each comparison.
pub(crate) fn compare<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let (value, list) = (scope.operand(op, 0)?, comparisons(Compare::of(op)?)?);
    elementwise(scope.builder, &[&value], &scope.shape(op)?, DType::I32, |builder, arguments| {
        Scalars::new(builder).comparisons(&list, value.dtype, arguments[0])
    })
}

/// All coordinates of the result's axes.
pub(crate) fn whole_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    whole(op, &known.result(op)?, known.axes)
}

/// `tm.constant`: a dense constant.
pub(crate) fn constant<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let view = Constant::of(op)?;
    dense(scope.builder, *view.dtype()?, &elements(view)?, scope.shape(op)?)
}

/// A constant tensor.
fn dense<'c>(builder: Builder<'c, '_>, dtype: DType, bits: &[Bits], shape: Shape) -> Export<Tensor<'c>> {
    let ty = element(builder.context, builder.source, dtype)?;
    let numbers: Vec<Attribute<'c>> =
        bits.iter().map(|&bits| number(builder.context, ty, dtype, bits)).collect();
    let whole = builder.tensor(&shape, ty);
    let dense = builder.built(DenseElementsAttribute::new(whole, &numbers))?;
    Ok(Tensor { value: builder.constant(dense.into(), whole)?, dtype, shape })
}

/// `tm.index`: the index of the loop along the axis.
pub(crate) fn coordinate<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    elementwise(scope.builder, &[], &scope.shape(op)?, DType::I32, |builder, _| {
        let index = loop_index(builder, 0)?;
        let ty = element(builder.context, builder.source, DType::I32)?;
        builder.op("arith.index_cast", &[index], ty)
    })
}

/// The index of a loop around the body that is written.
pub(crate) fn loop_index<'c>(builder: Builder<'c, '_>, number: usize) -> Export<Val<'c>> {
    let wide = IntegerType::new(builder.context, 64).into();
    let attributes = &[("dim", IntegerAttribute::new(wide, number as i64).into())];
    let results = &[Type::index(builder.context)];
    builder.one("linalg.index", Parts { attributes, results, ..Parts::default() })
}

/// `tm.undefined`: a tensor whose contents nothing states.
pub(crate) fn undefined<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let (shape, dtype) = (scope.shape(op)?, scope.known.result(op)?.dtype);
    let ty = element(scope.builder.context, op, dtype)?;
    Ok(Tensor { value: scope.builder.empty(&shape, ty)?, dtype, shape })
}
