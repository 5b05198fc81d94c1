//! Reductions between slices (book 25): which elements become one, and in which order.
//!
//! As in a contraction, a coordinate that the operand's type holds is in one way the sum of a coordinate that the
//! result's type *keeps* and one that is *reduced*. The slices say in which order: what the first one contributes
//! comes first.

use std::collections::BTreeSet;

use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_mapping::facts::mapping_error;
use visa_mapping::{Axes, AxisId, Cell, Dim, Index, Map, Tensor};
use visa_numerics::ReduceOp;

use crate::MAX_ELEMENTS;
use crate::coverage::{Coverage, complement, coordinates};
use crate::tensor::{Axis, Logical, offset};

/// A reduction of `source`, a factor of whose slices is not in `result`.
pub(crate) struct Slices<'a> {
    pub(crate) source: &'a Tensor,
    pub(crate) result: &'a Tensor,
    pub(crate) axes: &'a Axes,
    pub(crate) span: Span,
}

/// How the coordinates along one axis divide.
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
    /// What a slice with this coordinate contributes.
    fn contribution(&self, coordinate: u64) -> Option<usize> {
        let from_start = usize::try_from(coordinate.checked_sub(self.start)?).ok()?;
        let least = self.reduced.first()?;
        let first = self.kept.iter().position(|&kept| kept)?;
        let rest = |reduced: &usize| (first + from_start).checked_sub(reduced - least);
        let kept = |rest: usize| self.kept.get(rest).copied().unwrap_or(false);
        self.reduced.iter().copied().find(|reduced| rest(reduced).is_some_and(kept))
    }
}

impl Slices<'_> {
    /// The reduced tensor.
    pub(crate) fn reduce(&self, tensor: &Logical, op: &ReduceOp) -> Result<Logical, Diagnostic> {
        let parts = self.parts()?;
        let order = self.order(&parts)?;
        let strides = tensor.strides(parts.iter().map(|part| part.id));
        let members: Vec<usize> = order.iter().map(|member| offset(&strides, member)).collect();
        let kept = Coverage::new(self.result, self.axes, self.span)?;
        let outputs: Vec<Axis> = tensor
            .axes
            .iter()
            .filter(|axis| kept.mentions(axis.id))
            .map(|axis| output(axis, &parts))
            .collect();
        let strides = tensor.strides(outputs.iter().map(|axis| axis.id));
        Logical::where_defined(tensor.dtype, outputs, self.span, |at| {
            let first = offset(&strides, at);
            let elements: Option<Vec<_>> =
                members.iter().map(|member| tensor.element(first + member)).collect();
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

    /// What is added to a kept index to name the elements that become one, in the order of the slices.
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
