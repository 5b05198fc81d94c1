//! Arrays that commands of one slice generate: coordinates, and numbers along an axis.

use crate::array::Array;
use crate::contraction::layout::{FLIT_BYTES, elements};
use crate::cut::{side_by_side, tidy};
use crate::expressions;
use crate::running::{counted, fill, fill_part, first_slice};
use crate::vector;
use crate::writer::{Writer, new};
use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_mapping::ops::transfer::ToHbm;
use visa_stream::ops::cast::Cast;
use visa_stream::ops::commit::Commit;

/// The coordinates along the axis of `out` in HBM, counted by one slice.
///
/// # Errors
/// An axis whose coordinates do not fit a slice.
pub fn coordinates(
    writer: &mut Writer<'_>,
    out: &Array,
    counters: &[Arc<str>; 2],
    axes: &Axes,
    machine: &Machine,
) -> Result<ValueId, Diagnostic> {
    let view = counted(writer, out, counters, &first_slice(machine), axes)?;
    writer.value(new!(writer, ToHbm, [view]).at_auto().element(out.layout(axes)), &out.name)
}

/// Numbers along the axis of `out`: the first one fills the array, and each later run of equal numbers its part.
///
/// # Errors
/// Numbers that do not fit a slice.
pub fn numbers(
    writer: &mut Writer<'_>,
    out: &Array,
    numbers: &[f64],
    axes: &Axes,
    machine: &Machine,
) -> Result<ValueId, Diagnostic> {
    let (name, axis) = (&out.name, Expr::pair(out.axes.iter().map(|axis| Expr::axis(axis))));
    let wide = expressions::computed(out.dtype);
    let [time, packet] = vector::packets(axis.clone(), axes)?;
    let whole = side_by_side([time.clone(), packet.clone()]);
    let mut tensor = None;
    for (first, count) in runs(numbers) {
        let number = numbers[usize::try_from(first).map_err(|_| not_indexed(out))?];
        tensor = Some(match tensor {
            None => fill(writer, name, (number, wide), tidy(&whole, axes), &first_slice(machine))?,
            Some(tensor) => fill_part(writer, (tensor, name), &axis, (first, count), number)?,
        });
    }
    let tensor = tensor.ok_or_else(|| not_indexed(out))?;
    let tensor =
        if wide == out.dtype { tensor } else { narrowed(writer, out, tensor, [time, packet], axes)? };
    writer.value(new!(writer, ToHbm, [tensor]).at_auto().element(out.layout(axes)), name)
}

/// Converts the numbers to the format of `out`.
fn narrowed(
    writer: &mut Writer<'_>,
    out: &Array,
    tensor: ValueId,
    [time, packet]: [Expr; 2],
    axes: &Axes,
) -> Result<ValueId, Diagnostic> {
    let (name, time, packet) = (&out.name, tidy(&time, axes), tidy(&packet, axes));
    let stream = writer.fetch(tensor, [time.clone(), packet.clone()], name)?;
    let stream = writer.collect(stream, [time.clone(), packet.clone()], name)?;
    let flit = packet.clone().pad(elements(FLIT_BYTES, out.dtype), PadKind::Top);
    let op = new!(writer, Cast, [stream]).dtype(out.dtype).packet(tidy(&flit, axes));
    let stream = writer.value(op, name)?;
    let element = tidy(&side_by_side([time, packet]), axes);
    writer.value(new!(writer, Commit, [stream]).at_auto().element(element), name)
}

/// Runs of equal numbers: the first one and the count of each.
#[must_use]
pub fn runs(numbers: &[f64]) -> Vec<(u64, u64)> {
    let mut first = 0;
    let equal = numbers.chunk_by(|one, next| one.to_bits() == next.to_bits());
    equal
        .map(|run| {
            let count = run.len() as u64;
            first += count;
            (first - count, count)
        })
        .collect()
}

/// That a list of numbers has none at a position.
fn not_indexed(out: &Array) -> Diagnostic {
    let message = format!("the constant `{}` has no number at one of its coordinates", out.name);
    Diagnostic::error("plan-kernel", Span::default(), message)
}
