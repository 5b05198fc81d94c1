//! The pipeline of a reduction: within a slice in four lanes (book 22), and between the slices of a group (book 25).

use crate::cut::tidy;
use crate::region::lanes::ReducedLanes;
use crate::writer::{Writer, new};
use std::rc::Rc;
use visa_algebra::{Axes, Expr};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_numerics::{ReduceName, SliceReduceName};
use visa_stream::branch::IdSource;
use visa_stream::ops::vector::VectorInit;
use visa_stream::ops::vector_branch::VectorBranch;
use visa_stream::ops::vector_inter::VectorInterSliceReduce;
use visa_stream::ops::vector_intra_slice_reduce::VectorIntraSliceReduce;
use visa_stream::ops::vector_lanes::{VectorConcat, VectorPad, VectorSplit, VectorTrim};

/// Reduces a stream of `lanes` along an axis within each slice. The result has eight lanes.
///
/// # Errors
/// Lanes that the vector engine refuses.
pub fn reduced_within(
    writer: &mut Writer<'_>,
    stream: ValueId,
    lanes: &ReducedLanes,
    (op, axis): (SliceReduceName, &str),
    (name, axes): (&str, &Axes),
) -> Result<ValueId, Diagnostic> {
    let stream = writer.value(new!(writer, VectorInit, [stream]), name)?;
    let branch = new!(writer, VectorBranch, [stream]).mode(IdSource::Unconditional);
    let stream = writer.value(branch, name)?;
    let [time, packet] = lanes.narrowed().map(|map| Rc::new(tidy(&map, axes)));
    let stream = if lanes.are_few() {
        writer.value(new!(writer, VectorTrim, [stream]).packet(packet), name)?
    } else {
        writer.value(new!(writer, VectorSplit, [stream]).time(time).packet(packet), name)?
    };
    let [time, packet] = lanes.reduced().map(|map| tidy(&map, axes));
    let new_op = new!(writer, VectorIntraSliceReduce, [stream]).op(op);
    let stream = writer.value(new_op.axis(Expr::axis(axis)).time(time).packet(packet), name)?;
    let [time, packet] = lanes.widened().map(|map| Rc::new(tidy(&map, axes)));
    if lanes.are_padded() {
        return writer.value(new!(writer, VectorPad, [stream]).packet(packet), name);
    }
    writer.value(new!(writer, VectorConcat, [stream]).time(time).packet(packet), name)
}

/// Reduces the results of the slices of a group. `slices` is the mapping of the slices after it.
///
/// # Errors
/// Slices that the engine refuses.
pub fn between_slices(
    writer: &mut Writer<'_>,
    stream: ValueId,
    (op, slices): (ReduceName, Expr),
    name: &str,
) -> Result<ValueId, Diagnostic> {
    let op = new!(writer, VectorInterSliceReduce, [stream]).op(op).slice(slices);
    writer.value(op, name)
}
