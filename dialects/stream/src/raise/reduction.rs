//! The semantics of the reductions of the vector engine: within a slice, and between slices.

use super::contraction::{Held, cells_without_zeros, live};
use crate::raise::{by_axes, result};
use std::collections::BTreeSet;
use visa_algebra::{AxisId, Cell, Expr, Index, Map};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::coverage::{Coverage, complement, coordinates};
use visa_mapping::error::mapping_error;
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::raise::order::order_expr;
use visa_mapping::raise::sets::Set;
use visa_mapping::raise::{Known, Raising};
use visa_mapping::{Dim, Tensor, operand};
use visa_numerics::ReduceOp;

/// Operand 0 without the part of an axis that time and packet hold.
pub fn within_slice(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    row: &ReduceOp,
    axis: AxisId,
) -> Result<(), Diagnostic> {
    let stream = operand(op, 0).ok_or_else(|| op.error("C0", "the operand is no stream"))?;
    let to = result(op)?;
    let known = cx.held(op, 0, &stream)?;
    if cx.open_types().is_some() {
        let reduced = by_axes::within_slice(cx, op, known, row, axis)?;
        let reduced = cx.narrow(op, reduced, &Coverage::new(&to, cx.axes, op.span())?)?;
        cx.bind_with(op, reduced, None);
        return Ok(());
    }
    let (order, lanes) = steps(cx, op, &stream, &to, axis)?;
    let kept = Coverage::new(&to, cx.axes, op.span())?;
    let size = Set::all(cx.axes, axis, op.span())?.len();
    let keep = kept.mentions(axis).then(|| Set::of(&kept.held(axis, size)));
    let keep: Vec<(AxisId, Set)> = keep.into_iter().map(|set| (axis, set)).collect();
    let known = cx.broadcast(op, known, std::iter::once(axis))?;
    // An element that the stream does not hold takes no part.
    let holds = Coverage::new(&stream, cx.axes, op.span())?.held(axis, size);
    let order: Vec<Option<Index>> = match keep.is_empty() {
        true => order.into_iter().map(|index| index.filter(|index| has(&holds, index.get(axis)))).collect(),
        false => order,
    };
    let reduced = reduced(cx, op, known, row, &order, lanes, &keep)?;
    let reduced = cx.narrow(op, reduced, &kept)?;
    // One element of several has none of their execution ids.
    cx.bind_with(op, reduced, None);
    Ok(())
}

fn has(holds: &[bool], coordinate: u64) -> bool {
    usize::try_from(coordinate).is_ok_and(|at| holds.get(at) == Some(&true))
}

/// The contributions of time and packet along the axis, and how many lanes each step has.
fn steps(
    cx: &Raising<'_>,
    op: OpRef<'_>,
    stream: &Tensor,
    to: &Tensor,
    axis: AxisId,
) -> Result<(Vec<Option<Index>>, usize), Diagnostic> {
    let cells = |map: &Expr| cells_without_zeros(map, cx.axes, op.span());
    let (time, packet) = (stream.dim(Dim::Time), stream.dim(Dim::Packet));
    let all = cells(&time)?;
    let idle_or_kept = all.len() as u64;
    let indices: Vec<Index> = all.into_iter().filter_map(live).collect();
    let others =
        |index: &Index| -> Vec<(AxisId, u64)> { index.iter().filter(|(id, _)| *id != axis).collect() };
    let first = indices.first().map(others).unwrap_or_default();
    let (mut added, mut seen) = (Vec::new(), BTreeSet::new());
    for index in indices.iter().filter(|index| others(index) == first) {
        if seen.insert(index.get(axis)) {
            added.push(index.get(axis));
        }
    }
    let results = cells(&to.dim(Dim::Time))?.len() as u64;
    let idle = idle_or_kept / results.max(1) > added.len() as u64;
    let holds = packet.axis_names(cx.axes).iter().any(|name| **name == *cx.axes.name(axis));
    let lane = |cell: Cell| live(cell).map(|index| index.get(axis));
    let lanes: Vec<Option<u64>> =
        if holds { cells(&packet)?.into_iter().map(lane).collect() } else { vec![Some(0)] };
    let position = |time: u64, lane: Option<u64>| {
        let mut index = Index::new();
        index.add(axis, time + lane?);
        Some(index)
    };
    let steps = added.iter().flat_map(|&time| lanes.iter().map(move |&lane| position(time, lane)));
    let mut order: Vec<Option<Index>> = steps.collect();
    if idle || order.is_empty() {
        order.extend(lanes.iter().map(|_| None));
    }
    Ok((order, lanes.len()))
}

/// A reduction in this order, `tree` positions at a time as a tree, of which these parts of axes stay.
fn reduced(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    known: Known,
    row: &ReduceOp,
    order: &[Option<Index>],
    tree: usize,
    keep: &[(AxisId, Set)],
) -> Result<Known, Diagnostic> {
    let over = order_expr(order, cx.axes);
    let terms = keep.iter().map(|(axis, set)| set.expr(*axis, cx.axes));
    let kept = if keep.is_empty() { None } else { Some(Expr::pair(terms)) };
    let built =
        Reduce::build(op, [known.value]).op(row.name).over(over).keep(kept).tree_unless_default(tree as i64);
    let mut held: Held = known.held;
    held.extend(keep.iter().cloned());
    cx.emit(built.spec(), held)
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

/// Operand 0, reduced along the slices that the result lacks, in the order of the slices.
pub fn between_slices(cx: &mut Raising<'_>, op: OpRef<'_>, row: &ReduceOp) -> Result<(), Diagnostic> {
    let source = operand(op, 0).ok_or_else(|| op.error("C0", "the operand is no tensor"))?;
    let to = result(op)?;
    let known = cx.held(op, 0, &source)?;
    if cx.open_types().is_some() {
        let reduced = by_axes::between_slices(cx, op, known, row)?;
        let reduced = cx.narrow(op, reduced, &Coverage::new(&to, cx.axes, op.span())?)?;
        return cx.bind(op, reduced);
    }
    let parts = parts(cx, op, &source, &to)?;
    let order = order(cx, op, &source, &parts)?;
    let kept = Coverage::new(&to, cx.axes, op.span())?;
    // Where an axis has one coordinate alone that becomes one, it is reduced if the result lacks it.
    let is_summed = |part: &&Part| {
        let lacks = known.held.contains_key(&part.id) && !kept.mentions(part.id);
        lacks || order.iter().any(|index| index.get(part.id) > 0)
    };
    let summed: Vec<&Part> = parts.iter().filter(is_summed).collect();
    let known = cx.broadcast(op, known.clone(), summed.iter().map(|part| part.id))?;
    let keep: Vec<(AxisId, Set)> = summed
        .iter()
        .filter(|part| kept.mentions(part.id))
        .map(|part| (part.id, Set::of(&part.kept)))
        .collect();
    if summed.is_empty() {
        let known = cx.narrow(op, known, &kept)?;
        return cx.bind(op, known);
    }
    let order: Vec<Option<Index>> = order.into_iter().map(Some).collect();
    let reduced = reduced(cx, op, known, row, &order, 1, &keep)?;
    let reduced = cx.narrow(op, reduced, &kept)?;
    cx.bind(op, reduced)
}

fn parts(cx: &Raising<'_>, op: OpRef<'_>, source: &Tensor, to: &Tensor) -> Result<Vec<Part>, Diagnostic> {
    let refuse = |message: String| Diagnostic::error("slices", op.span(), message);
    let before = Coverage::new(source, cx.axes, op.span())?;
    let after = Coverage::new(to, cx.axes, op.span())?;
    let slices = Coverage::of(source, &[Dim::Slice], cx.axes, op.span())?;
    let part = |id| {
        let size = Set::all(cx.axes, id, op.span())?.len();
        let kept = after.held(id, size);
        let reduced = complement(&before.held(id, size), &kept).ok_or_else(|| {
            let why = "the coordinates of the result are no part of those of the operand";
            refuse(format!("axis `{}`: {why}", cx.axes.name(id)))
        })?;
        Ok(Part { id, kept, reduced: coordinates(&reduced), start: slices.start(id) })
    };
    before.axes().map(part).collect()
}

/// The offsets of a kept index to the elements that are reduced to one, in the order of the slices.
fn order(cx: &Raising<'_>, op: OpRef<'_>, source: &Tensor, parts: &[Part]) -> Result<Vec<Index>, Diagnostic> {
    let refuse = |message: String| Diagnostic::error("slices", op.span(), message);
    let slice = source.dim(Dim::Slice);
    let slices = Map::new(&slice, cx.axes).map_err(|error| mapping_error(error, op.span()))?;
    let contribution = |index: &Index| -> Option<Vec<usize>> {
        parts.iter().map(|part| part.contribution(index.get(part.id))).collect()
    };
    let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
    for position in 0..slices.size() {
        let Some(Cell::Live(index)) = slices.cell(position) else { continue };
        let member = contribution(&index)
            .ok_or_else(|| refuse(format!("slice {position} of `{slice}` holds no part of the result")))?;
        if seen.insert(member.clone()) {
            order.push(parts.iter().zip(member).map(|(part, at)| (part.id, at as u64)).collect());
        }
    }
    let wanted: usize = parts.iter().map(|part| part.reduced.len()).product();
    if order.len() == wanted {
        return Ok(order);
    }
    Err(refuse(format!("slice `{slice}` holds {} of {wanted} elements that become one", order.len())))
}
