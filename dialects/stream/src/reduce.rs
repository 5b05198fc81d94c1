//! The reduction within a slice (book 22): which loops over time it reduces, whether it reduces the lanes of a
//! packet, and whether the padding of its axis may take part. Verifier and lowering ask the same questions.

use crate::chain::{check_same, input, positions};
use crate::ops::vector_intra_slice_reduce::VectorIntraSliceReduce;
use crate::ops::{fetch, vector_stash};
use crate::pad::Pad;
use crate::padding::padding_kept;
use crate::plan::TimeLoop;
use crate::vector::{earlier, station};
use std::sync::Arc;
use visa_algebra::{Axes, AxisId, Expr, PadKind, normalize};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_mapping::error::mapping_error;
use visa_mapping::facts::machine;
use visa_mapping::{Dim, Tensor};
use visa_numerics::ReduceName;
use visa_numerics::{Bits, DType, ReduceOp, VectorStage, reduce_op, reduce_ops, to_f64};

/// A term of a mapping, in its order.
pub(crate) struct Factor {
    /// As it is written, aliases written out.
    pub(crate) term: Expr,
    /// Positions.
    pub(crate) size: u64,
    /// True if it belongs to the reduced axis.
    pub(crate) reduced: bool,
}

/// A reduction within a slice.
pub struct Reduction {
    /// The function of the reduction.
    pub row: &'static ReduceOp,
    /// The axis that is reduced.
    pub axis: AxisId,
    /// The loops over time, outermost first.
    pub loops: Vec<TimeLoop>,
    /// True if the lanes of a packet are reduced to one; otherwise each lane is reduced by itself.
    pub tree: bool,
}

/// The axis that `op` names.
///
/// # Errors
/// C2 if its clause is no axis, or a skewed one.
pub fn axis_of(op: OpRef<'_>, axes: &Axes) -> Result<AxisId, Diagnostic> {
    let clause = VectorIntraSliceReduce::of(op)?.axis()?;
    let one =
        |found: String| op.clause_error("C2", "axis", format!("{found}, expected one axis such as `[R]`"));
    let Expr::Axis(name) = &*clause else { return Err(one(format!("found `{clause}`"))) };
    let axis = axes.resolve(name).map_err(|error| mapping_error(error, op.clause_span("axis")))?;
    if axes.skew(axis).is_some() {
        return Err(one(format!("axis `{name}` is skewed")));
    }
    Ok(axis)
}

/// Returns true if a mapping mentions an axis.
pub(crate) fn mentions(map: &Expr, axis: AxisId, axes: &Axes) -> bool {
    map.axis_names(axes).iter().any(|name| **name == *axes.name(axis))
}

/// The terms of a mapping: each of the axis or without it.
///
/// # Errors
/// A term that mixes the axis with others so that it cannot be taken apart.
pub(crate) fn factors(map: &Expr, axis: AxisId, axes: &Axes) -> Result<Vec<Factor>, String> {
    let expanded = map.expanded(axes).map_err(|error| error.message)?;
    let mut found = Vec::new();
    for term in expanded.terms() {
        if only(term, axis, axes) {
            found.push(factor(term, axis, axes)?);
            continue;
        }
        let apart = normalize(term, axes).map_err(|error| error.message)?;
        for part in apart.terms() {
            if !only(part, axis, axes) {
                let name = axes.name(axis);
                return Err(format!(
                    "`{}` mixes {name} with other axes: write them as separate terms",
                    Expr::pair([part.clone()])
                ));
            }
            found.push(factor(part, axis, axes)?);
        }
    }
    Ok(found)
}

fn factor(term: &Expr, axis: AxisId, axes: &Axes) -> Result<Factor, String> {
    let size = term.size(axes).map_err(|error| error.message)?;
    Ok(Factor { term: term.clone(), size, reduced: mentions(term, axis, axes) })
}

/// Returns true if a term belongs to the axis alone, or lacks it.
fn only(term: &Expr, axis: AxisId, axes: &Axes) -> bool {
    let names: Vec<Arc<str>> = term.axis_names(axes);
    let own = names.iter().filter(|name| ***name == *axes.name(axis)).count();
    own == 0 || own == names.len()
}

/// The reduction that `op` describes, its own constraints checked; that of its padding is another question.
///
/// # Errors
/// C1 to C6.
pub fn reduction(op: OpRef<'_>, axes: &Axes) -> Result<Reduction, Diagnostic> {
    let source = input(op)?;
    let result = op.result_type::<Tensor>(0).ok_or_else(|| op.error("C0", "no tensor type"))?;
    let row = row(op, &source)?;
    let axis = axis_of(op, axes)?;
    let (time, packet) = (source.dim(Dim::Time), source.dim(Dim::Packet));
    if !mentions(&time, axis, axes) && !mentions(&packet, axis, axes) {
        let message = format!("neither time `{time}` nor packet `{packet}` has axis `{}`", axes.name(axis));
        return Err(op.clause_error("C2", "axis", message));
    }
    let factors = factors(&time, axis, axes).map_err(|why| op.clause_error("C3", "time", why))?;
    let kept = kept(&factors);
    check_left(op, axis, &result, axes)?;
    check_same(op, "C3", "time", &result.dim(Dim::Time), &kept, axes)?;
    let tree = check_packet(op, axis, &packet, &result.dim(Dim::Packet), axes)?;
    let loops: Vec<TimeLoop> =
        factors.iter().map(|factor| TimeLoop { limit: factor.size, summed: factor.reduced }).collect();
    check_slots(op, &loops, &factors)?;
    Ok(Reduction { row, axis, loops, tree })
}

/// The rest of time and packet after a reduction of an axis.
///
/// # Errors
/// A term of time that mixes the axis with others so that it cannot be taken apart.
pub fn left(source: &Tensor, axis: AxisId, axes: &Axes) -> Result<(Expr, Expr), String> {
    let (time, packet) = (source.dim(Dim::Time), source.dim(Dim::Packet));
    let time = kept(&factors(&time, axis, axes)?);
    if !mentions(&packet, axis, axes) {
        return Ok((time, packet));
    }
    let lanes = packet.size(axes).map_err(|error| error.message)?;
    Ok((time, Expr::Literal(1).pad(lanes, PadKind::Top)))
}

fn kept(factors: &[Factor]) -> Expr {
    Expr::pair(factors.iter().filter(|factor| !factor.reduced).map(|factor| factor.term.clone()))
}

/// The function of two elements.
///
/// # Errors
/// C1.
pub fn row(op: OpRef<'_>, source: &Tensor) -> Result<&'static ReduceOp, Diagnostic> {
    let name = VectorIntraSliceReduce::of(op)?.op()?;
    let row = reduce_op(name.into(), source.dtype).filter(|row| row.within_slice);
    row.ok_or_else(|| {
        let able = reduce_ops().filter(|row| row.within_slice && row.dtype == source.dtype);
        let able: Vec<&str> = able.map(|row| row.name.word()).collect();
        let message =
            format!("`{name}` does not reduce `{}`, expected one of `{}`", source.dtype, able.join("`, `"));
        op.clause_error("C1", "op", message)
    })
}

/// C3 and C4: the axis is gone from time and packet.
fn check_left(op: OpRef<'_>, axis: AxisId, result: &Tensor, axes: &Axes) -> Result<(), Diagnostic> {
    for (constraint, dim) in [("C3", Dim::Time), ("C4", Dim::Packet)] {
        let map = result.dim(dim);
        if mentions(&map, axis, axes) {
            let name = axes.name(axis);
            let message =
                format!("{} `{map}` still has axis `{name}`, which is reduced as a whole", dim.name());
            let fix = format!("leave every term of {name} out");
            return Err(op.clause_error(constraint, dim.name(), message).fix(Some(fix)));
        }
    }
    Ok(())
}

/// C4: whether the lanes of a packet are reduced.
fn check_packet(
    op: OpRef<'_>,
    axis: AxisId,
    packet: &Expr,
    result: &Expr,
    axes: &Axes,
) -> Result<bool, Diagnostic> {
    if !mentions(packet, axis, axes) {
        return check_same(op, "C4", "packet", result, packet, axes).map(|()| false);
    }
    let name = axes.name(axis);
    if let Some(other) = packet.axis_names(axes).into_iter().find(|other| **other != *name) {
        let message = format!(
            "packet `{packet}` holds {other} in addition to {name}: the tree reduces all lanes of a packet to one, \
             and a valid count takes leading lanes only"
        );
        let lanes = machine(op).limits.vector_lanes;
        let whole = axes.size(axis).next_multiple_of(lanes);
        let fix = format!(
            "put {other} outside the packet, or let {name} fill it: time `{name} # {whole} / {lanes}`, packet \
             `{name} # {whole} % {lanes}` at the engine's entry"
        );
        return Err(op.error("C4", message).fix(Some(fix)));
    }
    let lanes = positions(op, Dim::Packet, packet, axes)?;
    check_same(op, "C4", "packet", result, &Expr::Literal(1).pad(lanes, PadKind::Top), axes).map(|()| true)
}

/// C5.
fn check_slots(op: OpRef<'_>, loops: &[TimeLoop], factors: &[Factor]) -> Result<(), Diagnostic> {
    let Some(outermost) = loops.iter().position(|time| time.summed && time.limit > 1) else { return Ok(()) };
    let inner = || {
        loops[outermost..]
            .iter()
            .zip(&factors[outermost..])
            .filter(|(time, _)| !time.summed && time.limit > 1)
    };
    let slots = inner().map(|(time, _)| time.limit).fold(1, u64::saturating_mul);
    let most = machine(op).limits.reduce_slots;
    if slots <= most {
        return Ok(());
    }
    let kept = Expr::pair(inner().map(|(_, factor)| factor.term.clone()));
    let outer = Expr::pair([factors[outermost].term.clone()]);
    let message = format!(
        "`{kept}` is within the outermost reduced factor `{outer}`: {}, at most {most}",
        counted(slots, "accumulator slot")
    );
    let fix =
        format!("move factors before `{outer}`, so that at most {} stay after it", counted(most, "position"));
    Err(op.clause_error("C5", "time", message).fix(Some(fix)))
}

/// Returns true if all padding of the axis in the stream that `op` reduces is the identity element of its operation
/// already: the mask value of the fetch, which no operation since has changed (book 22, padding strategy 2).
///
/// # Errors
/// If operand 0 is no tensor, or the fetch's mask clause cannot be read.
pub fn padding_is_identity(op: OpRef<'_>, reduction: &Reduction, axes: &Axes) -> Result<bool, Diagnostic> {
    let source = input(op)?;
    let moved_only = |earlier: OpRef<'_>| match station(earlier) {
        Some(stage) => matches!(stage, VectorStage::Branch | VectorStage::Narrow),
        None => earlier.is(&vector_stash::DECL),
    };
    let masked = earlier(op).last().and_then(|entry| entry.operand_def(0));
    let masked = masked.map(padding_kept).transpose()?.flatten();
    let identity = |kind: PadKind| match (kind, masked) {
        (PadKind::Zero, Some(pad)) => is_identity(op, pad, reduction.row),
        (PadKind::Zero, None) | (PadKind::Top | PadKind::Bottom, _) => false,
    };
    let maps = [Dim::Slice, Dim::Time, Dim::Packet].map(|dim| source.dim(dim));
    Ok(earlier(op).all(moved_only) && maps.iter().all(|map| padding_is(map, reduction.axis, axes, &identity)))
}

/// Returns true if the mask value of a fetch changes no result of a reduction. The least number of a format without
/// infinities is no identity of a maximum: it replaces a NaN.
fn is_identity(op: OpRef<'_>, pad: Pad, row: &ReduceOp) -> bool {
    let endless = |bits: fn(DType) -> Bits| {
        let fetched = std::iter::successors(op.operand_def(0), |before| before.operand_def(0))
            .find(|op| op.is(&fetch::DECL));
        let stored = fetched.and_then(|fetch| fetch.operand_type::<Tensor>(0)).map(|tensor| tensor.dtype);
        stored.is_some_and(|dtype| !dtype.is_float() || to_f64(dtype, bits(dtype)).is_infinite())
    };
    match pad {
        Pad::Zero => row.identity == 0,
        Pad::Lowest => row.name == ReduceName::Max && endless(DType::lowest),
        Pad::Highest => row.name == ReduceName::Min && endless(DType::highest),
    }
}

/// Returns true if every padding of the axis in a mapping is of a kind.
fn padding_is(map: &Expr, axis: AxisId, axes: &Axes, wanted: &dyn Fn(PadKind) -> bool) -> bool {
    let Ok(map) = map.expanded(axes) else { return false };
    let grows = |inner: &Expr, size: u64| inner.size(axes).is_ok_and(|inner| inner < size);
    let own = match &map {
        Expr::Pad { inner, size, kind, .. } if grows(inner, *size) && mentions(inner, axis, axes) => {
            wanted(*kind)
        }
        Expr::Axis(_)
        | Expr::Alias(_)
        | Expr::Literal(_)
        | Expr::Pair(_)
        | Expr::Outer(_)
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
        | Expr::Gather { .. }
        | Expr::Slide(_) => true,
    };
    own && map.children().into_iter().all(|child| padding_is(child, axis, axes, wanted))
}
