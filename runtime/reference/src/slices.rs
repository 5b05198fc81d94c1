//! Reductions between slices (book 25): which elements become one, and in which order.
//!
//! As in a contraction, a coordinate that the operand's type holds is in one way the sum of a coordinate that the
//! result's type *keeps* and one that is *reduced*. The slices give the order: the contribution of the first one comes
//! first.

use std::collections::BTreeSet;

use visa_algebra::{Axes, AxisId, Cell, Index, Map};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_mapping::error::mapping_error;
use visa_mapping::{Dim, Tensor};
use visa_numerics::ReduceOp;

use crate::coverage::{Coverage, complement, coordinates};
use crate::layout::Stride;
use crate::limits::MAX_ELEMENTS;
use crate::tensor::{Axis, Logical};

/// A reduction of `source`, a factor of whose slices is not in `result`.
pub(crate) struct Slices<'a> {
    pub(crate) source: &'a Tensor,
    pub(crate) result: &'a Tensor,
    pub(crate) axes: &'a Axes,
    pub(crate) span: Span,
}

/// Division of the coordinates along one axis.
struct Part {
    id: AxisId,
    /// Those of the result.
    kept: Vec<bool>,
    /// Those that are reduced, ascending.
    reduced: Vec<usize>,
    /// The first coordinate of a slice.
    start: u64,
}

impl Part {
    /// The contribution of a slice with this coordinate.
    fn contribution(&self, coordinate: u64) -> Option<usize> {
        let from_start = usize::try_from(coordinate.checked_sub(self.start)?).ok()?;
        let least = self.reduced.first()?;
        let first = self.kept.iter().position(|&kept| kept)?;
        let rest = |reduced: &usize| (first + from_start).checked_sub(reduced - least);
        let kept = |rest: usize| self.kept.get(rest).copied().unwrap_or(false);
        self.reduced.iter().copied().find(|reduced| rest(reduced).is_some_and(kept))
    }
}

/// An axis along which distances in the operand are no multiple of the coordinate.
struct Ranked {
    stride: Stride,
    /// Its index among the parts.
    part: usize,
    /// Its index among the result's axes, if it is one.
    output: Option<usize>,
}

impl Ranked {
    /// The distance of the element that `member` adds to the result at `at`.
    fn offset(&self, at: &[usize], member: &[usize]) -> usize {
        self.stride.offset(self.output.map_or(0, |output| at[output]) + member[self.part])
    }
}

/// The distance of coordinates along the axes on which it is a multiple of the coordinate.
fn linear(strides: &[Stride], at: &[usize]) -> usize {
    strides.iter().zip(at).map(|(stride, coordinate)| stride.linear() * coordinate).sum()
}

impl Slices<'_> {
    /// The reduced tensor.
    pub(crate) fn reduce(&self, tensor: &Logical, op: &ReduceOp) -> Result<Logical, Diagnostic> {
        let parts = self.parts()?;
        let order = self.order(&parts)?;
        let strides = tensor.strides(parts.iter().map(|part| part.id));
        let members: Vec<usize> = order.iter().map(|member| linear(&strides, member)).collect();
        let kept = Coverage::new(self.result, self.axes, self.span)?;
        let outputs: Vec<Axis> = tensor
            .axes
            .iter()
            .filter(|axis| kept.mentions(axis.id))
            .map(|axis| output(axis, &parts))
            .collect();
        let place = |part: &Part| outputs.iter().position(|axis| axis.id == part.id);
        let ranked: Vec<Ranked> = (strides.into_iter().enumerate().filter(|(_, stride)| stride.is_ranked()))
            .map(|(part, stride)| Ranked { stride, part, output: place(&parts[part]) })
            .collect();
        // Along an axis that the result lacks, each of its elements is made of the same coordinates.
        let lacks = |part: &Part| place(part).is_none();
        let held = |(part, &at): (&Part, &usize)| {
            !lacks(part) || tensor.axis(part.id).is_none_or(|axis| axis.held.get(at) == Some(&true))
        };
        let whole = order.iter().all(|member| parts.iter().zip(member).all(held));
        let strides = tensor.strides(outputs.iter().map(|axis| axis.id));
        Logical::where_defined(tensor.dtype, outputs, self.span, |at| {
            if !whole {
                return None;
            }
            let first = linear(&strides, at);
            let element = |(offset, member): (&usize, &Vec<usize>)| {
                let ranked: usize = ranked.iter().map(|axis| axis.offset(at, member)).sum();
                tensor.element(first + offset + ranked)
            };
            let elements: Option<Vec<_>> = members.iter().zip(&order).map(element).collect();
            Some(elements?.into_iter().reduce(op.apply).unwrap_or(op.identity))
        })
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("slices", self.span, message)
    }

    fn parts(&self) -> Result<Vec<Part>, Diagnostic> {
        let before = Coverage::new(self.source, self.axes, self.span)?;
        let after = Coverage::new(self.result, self.axes, self.span)?;
        let slices = Coverage::of(self.source, &[Dim::Slice], self.axes, self.span)?;
        let part = |id| {
            let named = |why: String| self.error(format!("axis `{}`: {why}", self.axes.name(id)));
            let size = usize::try_from(self.axes.size(id)).ok().filter(|&size| size as u64 <= MAX_ELEMENTS);
            let size = size.ok_or_else(|| {
                named(format!("more than {MAX_ELEMENTS} coordinates, the most that are evaluated"))
            })?;
            let kept = after.held(id, size);
            let reduced = complement(&before.held(id, size), &kept).ok_or_else(|| {
                named("the coordinates of the result are no part of those of the operand".to_owned())
            })?;
            Ok(Part { id, kept, reduced: coordinates(&reduced), start: slices.start(id) })
        };
        before.axes().map(part).collect()
    }

    /// The offsets of a kept index to the elements that are reduced to one, in the order of the slices.
    fn order(&self, parts: &[Part]) -> Result<Vec<Vec<usize>>, Diagnostic> {
        let slice = self.source.dim(Dim::Slice);
        let slices = Map::new(&slice, self.axes).map_err(|error| mapping_error(error, self.span))?;
        let contribution = |index: &Index| -> Option<Vec<usize>> {
            parts.iter().map(|part| part.contribution(index.get(part.id))).collect()
        };
        let mut seen = BTreeSet::new();
        let mut order = Vec::new();
        for position in 0..slices.size() {
            let Some(Cell::Live(index)) = slices.cell(position) else { continue };
            let member = contribution(&index).ok_or_else(|| {
                self.error(format!("slice {position} of `{slice}` holds no part of the result"))
            })?;
            if seen.insert(member.clone()) {
                order.push(member);
            }
        }
        let wanted: usize = parts.iter().map(|part| part.reduced.len()).product();
        if order.len() == wanted {
            return Ok(order);
        }
        Err(self.error(format!("slice `{slice}` holds {} of {wanted} elements that become one", order.len())))
    }
}

/// An axis of the result: the coordinates that it keeps, if the operand holds all that becomes one there.
fn output(axis: &Axis, parts: &[Part]) -> Axis {
    let Some(part) = parts.iter().find(|part| part.id == axis.id) else { return axis.clone() };
    let holds = |at: usize| axis.held.get(at).copied().unwrap_or(false);
    let all = |at: usize| part.reduced.iter().all(|reduced| holds(at + reduced));
    let held = part.kept.iter().enumerate().map(|(at, &kept)| kept && all(at)).collect();
    Axis { id: axis.id, held }
}
