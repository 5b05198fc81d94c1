//! Coordinates by a running sum (book 20): lanes begin at negative numbers, and each step adds their count.

use crate::array::Array;
use crate::cut::side_by_side;
use crate::writer::{Writer, new};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_ir::span::Span;
use visa_machine::{Machine, Unit};
use visa_mapping::ops::view::Relabel;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{DType, FxpName, Guards, Slot};
use visa_stream::branch::IdSource;
use visa_stream::ops::begin::Begin;
use visa_stream::ops::collect::Collect;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::fetch::Fetch;
use visa_stream::ops::fill::FillTensor;
use visa_stream::ops::fill_view::FillView;
use visa_stream::ops::store::ToVrf;
use visa_stream::ops::vector::{VectorFinal, VectorInit};
use visa_stream::ops::vector_alu::VectorFxp;
use visa_stream::ops::vector_branch::VectorBranch;

/// Lanes that count, those of the vector engine.
const LANES: u64 = 8;
/// [`LANES`] as a number.
const STEP: f64 = 8.0;

/// The mappings of the clusters and of the slices that hold a tensor.
pub type Slices = [Expr; 2];

/// The first slice of the first cluster.
#[must_use]
pub fn first_slice(machine: &Machine) -> Slices {
    [machine.topology.clusters_per_chip, machine.topology.slices_per_cluster]
        .map(|count| Expr::Literal(1).pad(count, PadKind::Top))
}

/// Fills data memory of some slices with a number.
///
/// # Errors
/// A layout that a fill does not write.
pub fn fill(
    writer: &mut Writer<'_>,
    name: &str,
    (number, dtype): (f64, DType),
    element: Expr,
    [cluster, slice]: &Slices,
) -> Result<ValueId, Diagnostic> {
    let op = new!(writer, FillTensor).value(Number(number)).at_auto().dtype(dtype);
    writer.value(op.cluster(cluster.clone()).slice(slice.clone()).element(element), name)
}

/// Fills `count` elements of a tensor from number `first` of its axis on.
///
/// # Errors
/// A layout that a fill does not write.
pub fn fill_part(
    writer: &mut Writer<'_>,
    (tensor, name): (ValueId, &str),
    axis: &Expr,
    (first, count): (u64, u64),
    number: f64,
) -> Result<ValueId, Diagnostic> {
    let element = axis.clone().slice(first).resize(count);
    writer.value(new!(writer, FillView, [tensor]).value(Number(number)).element(element), name)
}

/// The layout of counted coordinates along the axis of `out` in a slice: whole steps of eight lanes.
///
/// # Errors
/// An axis without a size.
pub fn counted_layout(out: &Array, axes: &Axes) -> Result<Expr, Diagnostic> {
    let axis = out.axes.first().map_or(Expr::Literal(1), |axis| Expr::axis(axis));
    let size = axis.size(axes).map_err(|why| visa_mapping::error::mapping_error(why, Span::default()))?;
    let whole = size.next_multiple_of(LANES);
    Ok(if whole == size { axis } else { axis.pad(whole, PadKind::Top) })
}

/// The coordinates along the axis of `out` in data memory, counted by each of some slices: eight lanes from -8 to -1,
/// to which each step adds 8.
///
/// # Errors
/// An axis whose coordinates do not fit a slice.
pub fn counted(
    writer: &mut Writer<'_>,
    out: &Array,
    counters: &[Arc<str>; 2],
    slices: &Slices,
    axes: &Axes,
) -> Result<ValueId, Diagnostic> {
    let (name, [steps, lanes]) = (&out.name, counters.clone().map(|axis| Expr::axis(&axis)));
    let start = starts(writer, name, &lanes, slices)?;
    let all = side_by_side([steps.clone(), lanes.clone()]);
    let eights = fill(writer, name, (STEP, DType::I8), all.clone(), slices)?;
    let begin = writer.value(new!(writer, Begin, [eights]).context(Unit::Main), name)?;
    let op = new!(writer, Fetch, [begin]).dtype(Some(DType::I32));
    let stream = writer.value(op.time(steps.clone()).packet(lanes.clone()), name)?;
    let stream = writer.value(new!(writer, Collect, [stream]).time(steps).packet(lanes), name)?;
    let stream = writer.value(new!(writer, VectorInit, [stream]), name)?;
    let branch = new!(writer, VectorBranch, [stream]).mode(IdSource::Unconditional);
    let stream = writer.value(branch, name)?;
    let op = new!(writer, VectorFxp, [stream, start]).op(FxpName::AddFxp);
    let stream = writer.value(op.write_back(Some(Rc::new(always()?))), name)?;
    let stream = writer.value(new!(writer, VectorFinal, [stream]), name)?;
    let counted = writer.value(new!(writer, Commit, [stream]).at_auto().element(all), name)?;
    let element = Some(Rc::new(counted_layout(out, axes)?));
    writer.value(new!(writer, Relabel, [counted]).element(element), name)
}

/// The register of a running sum that counts from 0 by eights: each lane is 8 less than its number.
fn starts(writer: &mut Writer<'_>, name: &str, lanes: &Expr, slices: &Slices) -> Result<ValueId, Diagnostic> {
    let name = format!("{name}_lanes");
    let mut number = -STEP;
    let mut tensor = fill(writer, &name, (number, DType::I32), lanes.clone(), slices)?;
    for lane in 1..LANES {
        number += 1.0;
        tensor = fill_part(writer, (tensor, &name), lanes, (lane, 1), number)?;
    }
    let maps = [Expr::Literal(1), lanes.clone()];
    let stream = writer.fetch(tensor, maps.clone(), &name)?;
    let stream = writer.collect(stream, maps, &name)?;
    writer.value(new!(writer, ToVrf, [stream]).at_auto().element(lanes.clone()), &name)
}

/// The guard that always holds.
fn always() -> Result<Guards<Number>, Diagnostic> {
    let refuse = |why: String| Diagnostic::error("plan-kernel", Span::default(), why);
    Ok(Guards(vec![("xxxx".parse().map_err(refuse)?, Slot::Apply)]))
}
