//! Parts of values, and values with parts replaced.

use std::ops::Range;
use std::sync::Arc;
use visa_algebra::{Cell, Expr, Map, digits};
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::coverage::Coverage;
use visa_mapping::ops::number::number;
use visa_mapping::ops::restrict::{Extract, Insert, Restrict};
use visa_mapping::summed::named;

use crate::export::indices::{scaled, sum};
use crate::export::known::Known;
use crate::export::mlir::builder::{Offset, Slice, Val};
use crate::export::mlir::refusals::{Export, refuse, refuse_clause};
use crate::export::mlir::shape::{Dim, Shape, count, signed, size};
use crate::export::mlir::value::Tensor;
use crate::export::scope::Scope;

/// The first coordinates of a part along each axis that is cut.
struct Cut {
    along: Vec<Along>,
}

/// The first coordinate along an axis: a number, and an index times a factor.
struct Along {
    axis: Arc<str>,
    first: u64,
    index: Option<(ValueId, u64)>,
    /// The greatest first coordinate.
    last: u64,
}

impl Cut {
    /// The cut of a dimension, or of several with an index each.
    fn new(known: &Known<'_>, op: OpRef<'_>, along: &Expr, index: i64, first: &[ValueId]) -> Export<Self> {
        let terms = match along {
            Expr::Pair(terms) if first.len() > 1 => terms.clone(),
            along => vec![along.clone()],
        };
        let mut all = Vec::new();
        for (at, term) in terms.iter().enumerate() {
            match first.get(at) {
                Some(&value) => all.push(moving(known, op, term, index, value)?),
                None => all.extend(fixed(known, op, term, index)?),
            }
        }
        Ok(Self { along: all })
    }

    fn last(&self, axis: &str) -> u64 {
        self.along.iter().filter(|own| *own.axis == *axis).map(|own| own.last).sum()
    }

    /// The offset along an axis, counted from a coordinate.
    fn offset<'c>(&self, scope: &Scope<'c, '_>, op: OpRef<'_>, axis: &str, from: u64) -> Export<Offset<'c>> {
        let own: Vec<&Along> = self.along.iter().filter(|own| *own.axis == *axis).collect();
        let base = from + own.iter().map(|own| own.first).sum::<u64>();
        let indices: Vec<(ValueId, u64)> = own.iter().filter_map(|own| own.index).collect();
        if indices.is_empty() {
            return Ok(Offset::Static(base));
        }
        let terms = indices
            .iter()
            .map(|&(value, factor)| scaled(scope.builder, scope.index(op, value)?, signed(op, factor)?));
        let terms: Vec<Val<'c>> = terms.collect::<Export<_>>()?;
        sum(scope.builder, &terms, signed(op, base)?).map(Offset::Dynamic)
    }
}

/// The first coordinates at a position that is a number.
fn fixed(known: &Known<'_>, op: OpRef<'_>, term: &Expr, index: i64) -> Export<Vec<Along>> {
    let outside = || refuse_clause(op, "along", format!("`{term}` has no element at position {index}"));
    let map = Map::new(term, known.axes).map_err(|why| refuse_clause(op, "along", why))?;
    match u64::try_from(index).ok().and_then(|at| map.cell(at)) {
        Some(Cell::Live(at)) => Ok(at
            .iter()
            .map(|(id, first)| Along { axis: known.axes.name(id).into(), first, index: None, last: first })
            .collect()),
        Some(Cell::Shared(_) | Cell::Pad(_)) | None => Err(outside()),
    }
}

/// The first coordinate at a position that an index moves.
fn moving(known: &Known<'_>, op: OpRef<'_>, term: &Expr, index: i64, value: ValueId) -> Export<Along> {
    let refuse = |why: String| refuse_clause(op, "along", why);
    let all = digits(term, known.axes).map_err(|why| refuse(format!("`{term}`: {why}")))?;
    let mut moved = all.iter().filter(|digit| digit.live > 1);
    let digit = match (moved.next(), moved.next()) {
        (first, None) => first,
        (_, Some(_)) => {
            return Err(refuse(format!(
                "an index along several digits of `{term}`: it is no multiple of one"
            )));
        }
    };
    let base = all.offset().first();
    let id = digit.and_then(|digit| digit.axis).or(base.map(|base| base.axis));
    let id = id.or_else(|| named(term).first().and_then(|name| known.axes.id(name)));
    let id = id.ok_or_else(|| refuse(format!("`{term}` has no axis")))?;
    let stride = digit.map_or(0, |digit| digit.stride);
    let numbers = number(op, value, known.axes)?;
    let ends = numbers.iter().map(|case| case.what.range().map(|(_, most)| most));
    let most = ends.collect::<Option<Vec<i64>>>().and_then(|ends| ends.into_iter().max()?.checked_add(index));
    let most = most.ok_or_else(|| refuse(format!("an index along `{term}` exceeds 64 bits")))?;
    let negative = |_| refuse(format!("an index along `{term}` is negative"));
    let (greatest, index) = (u64::try_from(most).map_err(negative)?, u64::try_from(index).map_err(negative)?);
    let first = base.map_or(0, |base| base.coordinate);
    Ok(Along {
        axis: known.axes.name(id).into(),
        first: first + index * stride,
        index: (stride > 0).then_some((value, stride)),
        last: first + greatest * stride,
    })
}

/// The coordinates along an axis that a mapping holds, from the first to the last.
fn held(known: &Known<'_>, op: OpRef<'_>, coverage: &Coverage, axis: &str) -> Export<Option<Range<u64>>> {
    let id = known.axes.id(axis).ok_or_else(|| refuse(op, format!("axis `{axis}` is not declared")))?;
    if !coverage.mentions(id) {
        return Ok(None);
    }
    let held = coverage.held(id, count(op, size(op, axis, known.axes)?)?);
    let (Some(first), Some(last)) = (held.iter().position(|&held| held), held.iter().rposition(|&held| held))
    else {
        return Err(refuse(op, format!("its part has no coordinate along `{axis}`")));
    };
    Ok(Some(first as u64..last as u64 + 1))
}

/// The shape of a restriction: elements outside have no defined contents, and past the last one they are left out.
pub(crate) fn restricted_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let coverage = Coverage::of_map(&*Restrict::of(op)?.to()?, known.axes, op.span())?;
    let value = known.operand(op, 0)?;
    Shape::new(&known.result(op)?.axes, |axis| {
        let own = value.extent(axis).unwrap_or(1);
        Ok(held(known, op, &coverage, axis)?.map_or(own, |held| held.end.min(own)))
    })
}

/// `tm.restrict`: a part from 0 on along each axis.
pub(crate) fn restrict<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let (mut value, shape) = (scope.operand(op, 0)?, scope.shape(op)?);
    for axis in value.shape.axes() {
        if shape.place(&axis).is_none() {
            value = value.at(scope.builder, &axis, 0)?;
        }
    }
    value.fitted(scope.builder, &shape)
}

/// The shape of an extracted part.
pub(crate) fn extracted_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let view = Extract::of(op)?;
    let first: Vec<ValueId> = view.first().map(|value| value.id).collect();
    let cut = Cut::new(known, op, &*view.along()?, view.index()?, &first)?;
    let part = view.part()?.map(|part| Coverage::of_map(&part, known.axes, op.span())).transpose()?;
    let value = known.operand(op, 0)?;
    Shape::new(&known.result(op)?.axes, |axis| {
        let least: u64 = cut.along.iter().filter(|own| *own.axis == *axis).map(|own| own.first).sum();
        let own = value.extent(axis).unwrap_or(1).saturating_sub(least).max(1);
        let part = part.as_ref().map(|part| held(known, op, part, axis)).transpose()?.flatten();
        Ok(part.map_or(own, |part| part.end.min(own)))
    })
}

/// `tm.extract`: a slice from the first coordinates on.
pub(crate) fn extract<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let (view, shape) = (Extract::of(op)?, scope.shape(op)?);
    let first: Vec<ValueId> = view.first().map(|value| value.id).collect();
    let cut = Cut::new(scope.known, op, &*view.along()?, view.index()?, &first)?;
    let value = scope.operand(op, 0)?;
    let reach = value.shape.with(|axis| {
        let end = cut.last(axis) + shape.extent(axis)?;
        Some(value.shape.extent(axis)?.max(end))
    });
    let value = value.fitted(scope.builder, &reach)?;
    let mut slice = Slice::first(shape.extents());
    for (offset, dim) in slice.offsets.iter_mut().zip(&shape.0) {
        *offset = cut.offset(scope, op, &dim.axis, 0)?;
    }
    value.part(scope.builder, &slice, shape)
}

/// The coordinates of a part that an insertion replaces, along each axis of the result.
fn replaced(known: &Known<'_>, op: OpRef<'_>, cut: &Cut) -> Export<Vec<(Arc<str>, Range<u64>)>> {
    let part = Coverage::of_map(&*Insert::of(op)?.part()?, known.axes, op.span())?;
    let own = |axis: Arc<str>| {
        let whole = size(op, &axis, known.axes)?;
        let range = match held(known, op, &part, &axis)? {
            Some(range) => {
                let id = known.axes.id(&axis);
                let size = count(op, whole)?;
                let replaced =
                    id.map_or(0, |id| part.held(id, size).into_iter().filter(|held| *held).count());
                if replaced as u64 != range.end - range.start {
                    let message = format!("it replaces coordinates along `{axis}` that are not adjacent");
                    return Err(refuse_clause(op, "part", message));
                }
                range
            }
            None => 0..whole - cut.last(&axis).min(whole - 1),
        };
        Ok((axis, range))
    };
    known.result(op)?.axes.into_iter().map(own).collect()
}

/// The shape of a value with a part replaced.
pub(crate) fn inserted_shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    let view = Insert::of(op)?;
    let first: Vec<ValueId> = view.first().map(|value| value.id).collect();
    let cut = Cut::new(known, op, &*view.along()?, view.index()?, &first)?;
    let old = known.operand(op, 1)?;
    let dim = |(axis, part): (Arc<str>, Range<u64>)| {
        let own = match old.extent(&axis) {
            Some(own) => own,
            None => size(op, &axis, known.axes)?,
        };
        Ok(Dim { extent: own.max(cut.last(&axis) + part.end), axis })
    };
    Ok(Shape(replaced(known, op, &cut)?.into_iter().map(dim).collect::<Export<_>>()?))
}

/// `tm.insert`: a slice replaced.
pub(crate) fn insert<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    let (view, shape) = (Insert::of(op)?, scope.shape(op)?);
    let first: Vec<ValueId> = view.first().map(|value| value.id).collect();
    let cut = Cut::new(scope.known, op, &*view.along()?, view.index()?, &first)?;
    let old = scope.operand(op, 1)?.shaped(scope.builder, &shape)?;
    let ranges = replaced(scope.known, op, &cut)?;
    let end = Shape(ranges.iter().map(|(axis, range)| dim(axis, range.end)).collect());
    let size = Shape(ranges.iter().map(|(axis, range)| dim(axis, range.end - range.start)).collect());
    let mut new = scope.operand(op, 0)?.shaped(scope.builder, &end)?;
    if end != size {
        let mut slice = Slice::first(size.extents());
        slice.offsets = ranges.iter().map(|(_, range)| Offset::Static(range.start)).collect();
        new = new.part(scope.builder, &slice, size.clone())?;
    }
    let mut slice = Slice::first(size.extents());
    for (offset, (axis, range)) in slice.offsets.iter_mut().zip(&ranges) {
        *offset = cut.offset(scope, op, axis, range.start)?;
    }
    let value = scope.builder.insert(new.value, old.value, &slice)?;
    Ok(Tensor { value, ..old })
}

fn dim(axis: &Arc<str>, extent: u64) -> Dim {
    Dim { axis: Arc::clone(axis), extent }
}
