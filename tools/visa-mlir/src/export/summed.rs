//! The axes of a sum: the positions of `over` and `keep` as extents along each axis.

use std::sync::Arc;
use visa_algebra::{Axes, Digit, Digits, Expr, digits};
use visa_ir::module::OpRef;
use visa_mapping::summed::named;

use crate::export::mlir::refusals::{Export, refuse_clause};
use crate::export::mlir::shape::{Shape, size};

/// The coordinates of one axis that a sum goes through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Summed {
    pub(crate) axis: Arc<str>,
    /// Coordinates that are summed, and the distance between them.
    pub(crate) over: Range,
    /// Coordinates at which the result has a sum of those from there on; `None` if the axis is gone.
    pub(crate) keep: Option<Range>,
}

/// Coordinates along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) step: u64,
}

impl Summed {
    /// The coordinates of the operand that the sum reads, all of them summed or kept: from 0 on.
    pub(crate) fn reach(&self) -> u64 {
        let end = |range: &Range| (range.count - 1) * range.step;
        self.over.first + end(&self.over) + self.keep.as_ref().map_or(0, end) + 1
    }

    /// The extent of the result along the axis; `None` if it is gone.
    pub(crate) fn kept_extent(&self) -> Option<u64> {
        self.keep.map(|keep| (keep.count - 1) * keep.step + 1)
    }
}

/// The axes of a sum, in the order of `over`.
///
/// # Errors
/// Positions that are no range of each axis: MLIR's loops have no such order.
pub(crate) fn summed(op: OpRef<'_>, over: &Expr, keep: Option<&Expr>, axes: &Axes) -> Export<Vec<Summed>> {
    let all = digits(over, axes).map_err(|why| {
        refuse_clause(op, "over", format!("`{over}` is no range of positions along each axis ({why})"))
    })?;
    if let Some(copies) = all.iter().find(|digit| digit.axis.is_none() && digit.live > 1) {
        return Err(refuse_clause(op, "over", format!("`{over}` adds each element {} times", copies.live)));
    }
    let kept = keep.map(|keep| digits(keep, axes)).transpose().map_err(|why| {
        refuse_clause(op, "keep", format!("it is no range of positions along each axis ({why})"))
    })?;
    let one = |axis: Arc<str>| {
        let extent = size(op, &axis, axes)?;
        let own = range(&all, &axis, axes, extent);
        let own = own.ok_or_else(|| {
            let message = format!("`{over}` is no range of positions along `{axis}`");
            refuse_clause(op, "over", message)
        })?;
        let mentions = keep.is_some_and(|keep| named(keep).contains(&axis));
        let keep = match kept.as_ref().filter(|_| mentions) {
            None => None,
            Some(kept) => Some(kept_range(op, kept, &axis, axes, (own, extent))?),
        };
        Ok(Summed { axis, over: own, keep })
    };
    named(over).into_iter().map(one).collect()
}

/// The part of an axis that is kept: with the summed part it counts the axis.
fn kept_range(
    op: OpRef<'_>,
    kept: &Digits,
    axis: &str,
    axes: &Axes,
    (over, extent): (Range, u64),
) -> Export<Range> {
    let refuse = || {
        let message = format!("summed and kept positions do not count `{axis}` together");
        refuse_clause(op, "keep", message)
    };
    let keep = range(kept, axis, axes, extent).ok_or_else(refuse)?;
    let (inner, outer) = if keep.step < over.step { (keep, over) } else { (over, keep) };
    let counts = inner.step == 1 && inner.count == outer.step && inner.count * outer.count <= extent;
    if counts && keep.first == 0 && over.first == 0 { Ok(keep) } else { Err(refuse()) }
}

/// The coordinates along an axis, if they are a range; those past the axis are padding.
fn range(all: &Digits, axis: &str, axes: &Axes, extent: u64) -> Option<Range> {
    let id = axes.id(axis)?;
    let mut own: Vec<&Digit> = all.iter().filter(|digit| digit.axis == Some(id)).collect();
    own.sort_by_key(|digit| digit.stride);
    let first = all.offset().iter().find(|offset| offset.axis == id).map_or(0, |offset| offset.coordinate);
    let Some((least, outer)) = own.split_first() else { return Some(Range { first, count: 1, step: 1 }) };
    let mut whole = Range { first, count: least.live, step: least.stride };
    for digit in outer {
        if digit.stride != whole.count * whole.step {
            return None;
        }
        whole.count *= digit.live;
    }
    let inside = (extent - first).div_ceil(whole.step);
    Some(Range { count: whole.count.min(inside), ..whole })
}

/// The shape of a sum's result.
///
/// # Errors
/// Those of [`summed`].
pub(crate) fn result_shape(all: &[Summed], axes: &[Arc<str>], operands: &[&Shape]) -> Export<Shape> {
    Shape::new(axes, |axis| {
        let kept = all.iter().find(|own| *own.axis == *axis).and_then(Summed::kept_extent);
        let least = operands.iter().filter_map(|shape| shape.extent(axis)).min();
        Ok(kept.or(least).unwrap_or(1))
    })
}
