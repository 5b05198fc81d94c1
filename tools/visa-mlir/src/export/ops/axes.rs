//! The same elements under other axes.

use std::sync::Arc;
use visa_algebra::{Expr, PlacedDigit, Placement, digits, place, place_expr};
use visa_ir::module::OpRef;
use visa_mapping::ops::rename::{Merge, Rearrange, Rename, Split, renamed};
use visa_mapping::ops::restrict::{Concat, Extend, around, joined};
use visa_mapping::summed::named;

use crate::export::known::Known;
use crate::export::mlir::builder::{Parts, region};
use crate::export::mlir::formats::{element, number};
use crate::export::mlir::generic::{Access, Loop, generic};
use crate::export::mlir::linear::Linear;
use crate::export::mlir::refusals::{Export, refuse, refuse_clause};
use crate::export::mlir::shape::{Dim, Shape, size};
use crate::export::mlir::value::{Tensor, loops_of};
use crate::export::scope::Scope;
use melior::ir::attribute::{DenseI64ArrayAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Block, Type};

/// The shape of a renamed value.
pub(crate) fn renamed_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let pairs = renamed(Rename::of(op)?)?;
    let dim = |dim: &Dim| {
        let new = pairs.iter().find(|(from, _)| *from == dim.axis);
        Dim { axis: Arc::clone(new.map_or(&dim.axis, |(_, to)| to)), extent: dim.extent }
    };
    Ok(Shape(known.operand(op, 0)?.0.iter().map(dim).collect()))
}

/// `tm.rename`: the same tensor.
pub(crate) fn rename<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    Ok(scope.operand(op, 0)?.renamed(scope.shape(op)?))
}

/// The extents of the operand, and whole axes where it lacks them.
pub(crate) fn widened_shape(known: &Known<'_>, op: OpRef<'_>, changed: &[Arc<str>]) -> Export<Shape> {
    let value = known.operand(op, 0)?;
    Shape::new(&known.result(op)?.axes, |axis| {
        match value.extent(axis).filter(|_| changed.iter().all(|name| **name != *axis)) {
            Some(extent) => Ok(extent),
            None => size(op, axis, known.axes),
        }
    })
}

/// The shape of a split value.
pub(crate) fn split_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    widened_shape(known, op, &named(&*Split::of(op)?.to()?))
}

/// `tm.split`: one dimension becomes several.
pub(crate) fn split<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let (value, shape) = (scope.operand(op, 0)?, scope.shape(op)?);
    let digits = named(&*Split::of(op)?.to()?);
    let value = whole_along(scope, op, &value, &named(&*Split::of(op)?.axis()?))?;
    let groups = groups(&shape, &digits);
    let ty = value.element(scope.builder)?;
    Ok(Tensor { value: scope.builder.expand(value.value, &groups, &shape, ty)?, shape, ..value })
}

/// The shape of a merged value.
pub(crate) fn merged_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    widened_shape(known, op, &named(&*Merge::of(op)?.to()?))
}

/// `tm.merge`: several dimensions become one; they are put next to each other before.
pub(crate) fn merge<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let (value, shape) = (scope.operand(op, 0)?, scope.shape(op)?);
    let (digits, to) = (named(&*Merge::of(op)?.axes()?), named(&*Merge::of(op)?.to()?));
    let mut next = Shape::default();
    for dim in &shape.0 {
        let axes = if to.contains(&dim.axis) { digits.clone() } else { vec![Arc::clone(&dim.axis)] };
        for axis in axes {
            let extent = match digits.contains(&axis) {
                true => size(op, &axis, scope.known.axes)?,
                false => dim.extent,
            };
            next.0.push(Dim { axis, extent });
        }
    }
    let value = value.shaped(scope.builder, &next)?;
    let ty = value.element(scope.builder)?;
    let groups = groups(&next, &digits);
    Ok(Tensor { value: scope.builder.collapse(value.value, &groups, &shape, ty)?, shape, ..value })
}

/// The dimensions of a shape: those of `digits`, which are neighbours, are one group.
fn groups(shape: &Shape, digits: &[Arc<str>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut last_is_digit = false;
    for (at, dim) in shape.0.iter().enumerate() {
        let is_digit = digits.contains(&dim.axis);
        match groups.last_mut().filter(|_| is_digit && last_is_digit) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
        last_is_digit = is_digit;
    }
    groups
}

/// A value with all coordinates of some axes.
fn whole_along<'c>(
    scope: &Scope<'c, '_>,
    op: OpRef<'_>,
    value: &Tensor<'c>,
    axes: &[Arc<str>],
) -> Export<Tensor<'c>> {
    let mut wanted = value.shape.clone();
    for dim in wanted.0.iter_mut().filter(|dim| axes.contains(&dim.axis)) {
        dim.extent = size(op, &dim.axis, scope.known.axes)?;
    }
    value.fitted(scope.builder, &wanted)
}

/// The shape of a broadcast value.
pub(crate) fn broadcast_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    widened_shape(known, op, &[])
}

/// `tm.broadcast`: a copy along further dimensions.
pub(crate) fn broadcast<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    scope.operand(op, 0)?.shaped(scope.builder, &scope.shape(op)?)
}

/// The shape of a rearranged value.
pub(crate) fn rearranged_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let view = Rearrange::of(op)?;
    let to = placement(known, op, &*view.to()?)?;
    let value = known.operand(op, 0)?;
    let names = named(&*view.to()?);
    Shape::new(&known.result(op)?.axes, |axis| {
        if let Some(extent) = value.extent(axis).filter(|_| names.iter().all(|name| **name != *axis)) {
            return Ok(extent);
        }
        let own = known.axes.id(axis).map_or_else(Vec::new, |id| to.of_axis(id).collect::<Vec<_>>());
        let last: u64 = own.iter().map(|(_, placed)| (placed.digit.live - 1) * placed.digit.stride).sum();
        let size = size(op, axis, known.axes)?;
        let start = known.axes.id(axis).map_or(0, |id| to.start(id));
        if start != 0 {
            return Err(refuse_clause(op, "to", format!("it begins in the middle of `{axis}`")));
        }
        Ok((last + 1).min(size))
    })
}

/// The positions of the indices that the result has.
fn placement(known: &Known<'_>, op: OpRef<'_>, map: &Expr) -> Export<Placement> {
    let placed = place_expr(map, known.axes, 1).map_err(|why| {
        refuse_clause(op, "to", format!("`{map}` has positions that loops do not count ({why})"))
    })?;
    match placed.base == 0 && placed.digits.iter().all(|placed| placed.weight > 0) {
        true => Ok(placed),
        false => Err(refuse_clause(op, "to", format!("`{map}` does not count positions up from 0"))),
    }
}

/// `tm.rearrange`: loops over the result that read the operand at an affine function of their indices.
pub(crate) fn rearrange<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let view = Rearrange::of(op)?;
    let (value, shape, builder) = (scope.operand(op, 0)?, scope.shape(op)?, scope.builder);
    let (from, to) = (&*view.from()?, &*view.to()?);
    let from_digits = digits(from, scope.known.axes).map_err(|why| {
        refuse_clause(op, "from", format!("`{from}` has positions that loops do not count ({why})"))
    })?;
    let (from_placed, to_placed) = (place(&from_digits, 1), placement(scope.known, op, to)?);
    if to_placed.digits.iter().any(|placed| placed.digit.axis.is_none() && placed.digit.live > 1) {
        return Err(refuse_clause(op, "to", format!("`{to}` has several positions of each element")));
    }
    let position = position(scope, op, &shape, &to_placed)?;
    let mut wanted = value.shape.clone();
    let mut coordinates = Vec::new();
    for dim in &mut wanted.0 {
        if !named(from).contains(&dim.axis) {
            let place = shape.place(&dim.axis);
            let place = place.ok_or_else(|| refuse(op, format!("axis `{}` is lost", dim.axis)))?;
            coordinates.push(format!("d{place}"));
            dim.extent = shape.0[place].extent;
            continue;
        }
        let id = scope.known.axes.id(&dim.axis);
        let own: Vec<&PlacedDigit> =
            id.map_or_else(Vec::new, |id| from_placed.of_axis(id).map(|(_, placed)| placed).collect());
        let start = id.map_or(0, |id| from_placed.start(id));
        let coordinate = coordinate(&position, &own);
        coordinates.push(if start > 0 { format!("{coordinate} + {start}") } else { coordinate.to_string() });
        dim.extent = coordinate.most() + start + 1;
    }
    let value = value.fitted(builder, &wanted)?;
    let element = value.element(builder)?;
    let axes = shape.axes();
    let output =
        Access { value: builder.empty(&shape, element)?, element, coordinates: loops_of(&shape, &axes) };
    let input = value.access(builder, coordinates)?;
    let loops = vec![Loop::Parallel; axes.len()];
    let result = generic(builder, &loops, &[input], &output, |_, arguments| Ok(arguments[0]))?;
    Ok(Tensor { value: result, dtype: value.dtype, shape })
}

/// The position of a result's element, in the indices of the loops.
fn position(scope: &Scope<'_, '_>, op: OpRef<'_>, shape: &Shape, to: &Placement) -> Export<Linear> {
    let mut position = Linear::default();
    for (at, dim) in shape.0.iter().enumerate() {
        let Some(id) = scope.known.axes.id(&dim.axis) else { continue };
        for (_, PlacedDigit { digit, weight }) in to.of_axis(id) {
            let weight = u64::try_from(*weight).map_err(|_| refuse(op, "positions count down"))?;
            let own = Linear::index(at, dim.extent).divided(digit.stride);
            let is_outermost = digit.stride * digit.live >= dim.extent;
            let own = if is_outermost { own } else { own.remainder(digit.live) };
            position = position.plus(own.times(weight));
        }
    }
    Ok(position)
}

/// The coordinate of the operand along an axis at a position.
fn coordinate(position: &Linear, own: &[&PlacedDigit]) -> Linear {
    let digit = |PlacedDigit { digit, weight }: &PlacedDigit| {
        let own = position.clone().divided(weight.unsigned_abs()).remainder(digit.extent);
        own.times(digit.stride)
    };
    own.iter().map(|placed| digit(placed)).fold(Linear::default(), Linear::plus)
}

/// The shape of an extended value.
pub(crate) fn extended_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    widened_shape(known, op, &named(&*Extend::of(op)?.to()?))
}

/// `tm.extend`: `tensor.pad` along one dimension.
pub(crate) fn extend<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let (view, shape, builder) = (Extend::of(op)?, scope.shape(op)?, scope.builder);
    let (axis, to) = (named(&*view.axis()?), named(&*view.to()?));
    let value = whole_along(scope, op, &scope.operand(op, 0)?, &axis)?;
    let from = u64::try_from(view.from()?).map_err(|_| refuse_clause(op, "from", "it is negative"))?;
    let (mut low, mut high) = (vec![0; shape.0.len()], vec![0; shape.0.len()]);
    for ((own, whole), (low, high)) in value.shape.0.iter().zip(&shape.0).zip(low.iter_mut().zip(&mut high)) {
        if to.contains(&whole.axis) {
            (*low, *high) = (from as i64, (whole.extent - own.extent - from) as i64);
        }
    }
    let element = value.element(builder)?;
    let index = Type::index(builder.context);
    let body = Block::new(&vec![(index, builder.location); shape.0.len()]);
    let inner = builder.inside(&body);
    let pad = builder.constant(number(builder.context, element, value.dtype, around(view)?), element)?;
    inner.all("tensor.yield", Parts { operands: &[pad], ..Parts::default() })?;
    let array = |numbers: &[i64]| DenseI64ArrayAttribute::new(builder.context, numbers).into();
    let attributes = &[
        ("static_low", array(&low)),
        ("static_high", array(&high)),
        ("operandSegmentSizes", builder.segments(&[1, 0, 0])),
    ];
    let results = &[builder.tensor(&shape, element)];
    let parts = Parts { operands: &[value.value], attributes, results, regions: vec![region(body)] };
    Ok(Tensor { value: builder.one("tensor.pad", parts)?, shape, ..value })
}

/// The shape of a concatenation.
pub(crate) fn concat_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let (_, to) = joined(Concat::of(op)?)?;
    let operands = known.operands(op)?;
    Shape::new(&known.result(op)?.axes, |axis| {
        if *to == *axis {
            return size(op, axis, known.axes);
        }
        let most = operands.iter().filter_map(|shape| shape.extent(axis)).max();
        most.ok_or_else(|| refuse(op, format!("no operand has axis `{axis}`")))
    })
}

/// `tm.concat`: each operand is inserted after those before it.
pub(crate) fn concat<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let (names, to) = joined(Concat::of(op)?)?;
    let (shape, builder) = (scope.shape(op)?, scope.builder);
    let place = shape.place(&to).ok_or_else(|| refuse(op, format!("axis `{to}` is lost")))?;
    let dtype = scope.known.result(op)?.dtype;
    let mut pieces = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let own = size(op, name, scope.known.axes)?;
        let mut part = shape.clone();
        part.0[place] = Dim { axis: Arc::clone(name), extent: own };
        pieces.push(scope.operand(op, number)?.shaped(builder, &part)?.value);
    }
    let ty = element(builder.context, op, dtype)?;
    let wide = IntegerType::new(builder.context, 64).into();
    let attributes = &[("dim", IntegerAttribute::new(wide, place as i64).into())];
    let results = &[builder.tensor(&shape, ty)];
    let value =
        builder.one("tensor.concat", Parts { operands: &pieces, attributes, results, ..Parts::default() })?;
    Ok(Tensor { value, dtype, shape })
}
