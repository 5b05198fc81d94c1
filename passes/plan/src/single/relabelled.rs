//! The elements of an array under other axes: a view, and transfers where the layouts differ.

use crate::array::Array;
use crate::cut::{side_by_side, tidy};
use crate::writer::{Writer, new};
use visa_algebra::{Axes, Equality, Expr, digits, equal};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_mapping::ops::transfer::ToHbm;
use visa_mapping::ops::view::Reshape;

/// Writes the step: `before` and `after` are the same positions under the axes of the input and of the result.
///
/// # Errors
/// A transfer that the machine does not make.
pub fn write(
    writer: &mut Writer<'_>,
    out: &Array,
    (inputs, source): (&[ValueId], &Array),
    [before, after]: [&[Expr]; 2],
    axes: &Axes,
) -> Result<ValueId, Diagnostic> {
    let &[mut value] = inputs else {
        let message = "a relabelling has one operand".to_owned();
        return Err(Diagnostic::error("plan-kernel", writer.span(), message));
    };
    let same = |one: &Expr, other: &Expr| equal(one, other, axes) == Equality::Equal;
    if before == after {
        return writer.value(new!(writer, ToHbm, [value]).at_auto().element(out.layout(axes)), &out.name);
    }
    let view = match view(&source.layout(axes), [before, after], axes) {
        Some(view) => view,
        None => {
            let element = tidy(&side_by_side(before.iter().cloned()), axes);
            value = writer.value(new!(writer, ToHbm, [value]).at_auto().element(element), &source.name)?;
            side_by_side(after.iter().cloned())
        }
    };
    value = writer
        .value(new!(writer, Reshape, [value]).common(|op| op.element(tidy(&view, axes).into())), &out.name)?;
    let layout = out.layout(axes);
    if same(&view, &layout) {
        return Ok(value);
    }
    writer.value(new!(writer, ToHbm, [value]).at_auto().element(layout), &out.name)
}

/// The layout of the result if its elements stay where they are, with the padding of rows; `None` if they move.
fn view(stored: &Expr, [before, after]: [&[Expr]; 2], axes: &Axes) -> Option<Expr> {
    let same = |one: &Expr, other: &Expr| equal(one, other, axes) == Equality::Equal;
    if same(stored, &side_by_side(before.iter().cloned())) {
        return Some(side_by_side(after.iter().cloned()));
    }
    let (last, outer) = before.split_last()?;
    let (new_last, new_outer) = after.split_last()?;
    let terms = stored.terms();
    let Expr::Pad { inner, size, kind, .. } = terms.last()? else { return None };
    let rows = side_by_side(terms[..terms.len() - 1].iter().map(|term| (*term).clone()));
    let stays = same(inner, last) && same(&rows, &side_by_side(outer.iter().cloned()));
    // Digits of the last axis can only be counted through padding of whole digits.
    let padded = new_last.clone().pad(*size, *kind);
    let counts = digits(&padded, axes).is_ok();
    (stays && counts).then(|| side_by_side(new_outer.iter().cloned().chain([padded])))
}
