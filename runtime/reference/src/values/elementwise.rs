//! The operations on elements one by one, and the values that depend on no other.

use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_mapping::expression::Steps;
use visa_mapping::ops::cast::{Cast, SubtractZero, conversion};
use visa_mapping::ops::constant::{Constant, Coordinate, Undefined, elements};
use visa_mapping::ops::map::{Map, computation};
use visa_mapping::ops::where_::{Compare, comparisons};
use visa_mapping::tensor::value::Value;
use visa_numerics::{Bits, DType, subtract_zero_point};

use crate::evaluate::Run;
use crate::layout::offset;
use crate::tensor::{Axis, Logical, element_count, saturated, union_axes};

/// The function of one element of each operand, where all of them are defined.
pub(crate) fn of_each(
    run: &Run<'_>,
    op: OpRef<'_>,
    dtype: DType,
    function: impl Fn(&[Bits]) -> Option<Bits> + Sync,
) -> Result<Logical, Diagnostic> {
    let operands = (0..op.operands().len()).map(|index| run.given(op, index));
    of_all(&operands.collect::<Result<Vec<_>, _>>()?, dtype, op.span(), function)
}

/// The function of one element of each value.
pub(crate) fn of_all(
    operands: &[&Logical],
    dtype: DType,
    span: Span,
    function: impl Fn(&[Bits]) -> Option<Bits> + Sync,
) -> Result<Logical, Diagnostic> {
    let axes = operands.iter().fold(Vec::new(), |axes, value| union_axes(axes, value));
    let seen: Vec<_> = operands.iter().map(|value| value.under(&axes)).collect();
    Logical::where_defined(dtype, axes.clone(), span, |at| match &*seen {
        [one] => function(&[one.get(at)?]),
        [one, other] => function(&[one.get(at)?, other.get(at)?]),
        several => {
            let elements: Option<Vec<Bits>> = several.iter().map(|value| value.get(at)).collect();
            function(&elements?)
        }
    })
}

/// `tm.map`: an expression of the elements.
pub(crate) fn map(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let dag = computation(Map::of(op)?)?;
    let dtype = dag.dtype().ok_or_else(|| op.error("C2", "the expression has no result"))?;
    let steps = Steps::of(&dag).ok_or_else(|| op.error("C2", "a function does not take its format"))?;
    of_each(run, op, dtype, |elements| steps.eval(elements))
}

/// `tm.cast`: each element in another format.
pub(crate) fn cast(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let op = Cast::of(op)?;
    let (value, to) = (run.given(*op, 0)?, *op.dtype()?);
    if op.bits() {
        return Ok(value.map(to, |bits| bits));
    }
    if value.dtype == to {
        return Ok(value.clone());
    }
    match conversion(value.dtype, to) {
        Some(row) => Ok(value.map(to, row.apply)),
        None => Err(op.error("C1", format!("no engine converts {} to {to}", value.dtype))),
    }
}

/// `tm.subtract_zero`: each element less the zero point of its coordinate.
pub(crate) fn subtract_zero(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let subtract = SubtractZero::of(op)?;
    let (value, points) = (run.given(op, 0)?, subtract.points()?);
    let axis = subtract.along()?.map(|axis| run.axis(op, &axis)).transpose()?;
    let at = axis.and_then(|id| value.axes.iter().position(|axis| axis.id == id));
    if at.is_some_and(|at| value.axes[at].held.len() > points.len()) || points.is_empty() {
        return Err(op.error("C3", "there is no zero point for each coordinate"));
    }
    let (points, strides) = (&*points, value.strides(value.axes.iter().map(|axis| axis.id)));
    Logical::where_defined(value.dtype, value.axes.clone(), op.span(), |index| {
        let point = points[at.map_or(0, |at| index[at])];
        let bits = value.element(offset(&strides, index))?;
        Some(subtract_zero_point(value.dtype, bits, i32::try_from(point).ok()?))
    })
}

/// `tm.where`: one of two elements.
pub(crate) fn choose(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let [condition, then, otherwise] = [0, 1, 2].map(|index| run.given(op, index));
    let (condition, then, otherwise) = (condition?, then?, otherwise?);
    // The result is undefined outside of the condition alone: the other two may lack what is not chosen.
    let mut axes = condition.axes.clone();
    for value in [then, otherwise] {
        for own in &value.axes {
            match axes.iter_mut().find(|axis| axis.id == own.id) {
                Some(axis) if condition.axis(own.id).is_none() => axis.held = either(&axis.held, &own.held),
                Some(_) => {}
                None => axes.push(own.clone()),
            }
        }
    }
    let [condition, then, otherwise] = [condition, then, otherwise].map(|value| value.under(&axes));
    let dtype = op.result_type::<Value>(0).ok_or_else(|| op.error("C2", "the result has no type"))?.dtype;
    Logical::where_defined(dtype, axes.clone(), op.span(), |at| match condition.get(at)? {
        0 => otherwise.get(at),
        _ => then.get(at),
    })
}

/// `tm.compare`: a bit for each comparison.
pub(crate) fn compare(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let (value, list) = (run.given(op, 0)?, comparisons(Compare::of(op)?)?);
    Ok(value.map(DType::I32, |bits| list.id(value.dtype, bits).into()))
}

/// The coordinates that one of two holds.
fn either(left: &[bool], right: &[bool]) -> Vec<bool> {
    let held = |at: usize| left.get(at) == Some(&true) || right.get(at) == Some(&true);
    (0..left.len().max(right.len())).map(held).collect()
}

/// `tm.constant`: a number, or one for each coordinate along an axis.
pub(crate) fn constant(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let op = Constant::of(op)?;
    let (dtype, elements) = (*op.dtype()?, elements(op)?);
    let value = op.result_type::<Value>(0).ok_or_else(|| op.error("C2", "the result has no type"))?;
    let axis = value.axes.first().and_then(|name| run.axes.id(name));
    let axes = axis.map(|id| Axis { id, held: vec![true; elements.len()] });
    Ok(Logical::new(dtype, axes.into_iter().collect(), elements))
}

/// `tm.index`: each element is its own coordinate.
pub(crate) fn coordinate(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let id = run.axis(op, &*Coordinate::of(op)?.axis()?)?;
    let size = element_count(&[saturated(run.axes.size(id))], op.span())?;
    let all = (0..size).map(|coordinate| coordinate as Bits).collect();
    Ok(Logical::new(DType::I32, vec![Axis { id, held: vec![true; size] }], all))
}

/// `tm.undefined`: no element is defined.
pub(crate) fn undefined(_: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let dtype = *Undefined::of(op)?.dtype()?;
    Ok(Logical::partial(dtype, Vec::new(), vec![0], vec![false]))
}
