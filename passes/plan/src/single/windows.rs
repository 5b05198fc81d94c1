//! Windows of an array, each with its own elements: a view of the array, and a transfer within HBM.

use crate::array::Array;
use crate::writer::{Writer, new};
use std::convert::Infallible;
use std::sync::Arc;
use visa_algebra::{Axes, Expr};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_mapping::ops::transfer::ToHbm;
use visa_mapping::ops::view::Window;

/// Writes the step: `slides` pairs axes of the source with the windows along them.
///
/// # Errors
/// A transfer that the machine does not make.
pub fn write(
    writer: &mut Writer<'_>,
    out: &Array,
    (inputs, source): (&[ValueId], &Array),
    slides: &[(Arc<str>, Expr)],
    axes: &Axes,
) -> Result<ValueId, Diagnostic> {
    let &[value] = inputs else {
        let message = "windows are those of one array".to_owned();
        return Err(Diagnostic::error("plan-kernel", writer.span(), message));
    };
    let view = viewed(&source.layout(axes), slides);
    let name = format!("{}_windows", source.name);
    let value = writer.value(new!(writer, Window, [value]).common(|op| op.element(view.into())), &name)?;
    writer.value(new!(writer, ToHbm, [value]).at_auto().element(out.layout(axes)), &out.name)
}

/// A layout with windows in place of the axes that they slide along.
#[must_use]
pub fn viewed(layout: &Expr, slides: &[(Arc<str>, Expr)]) -> Expr {
    let slide = slides.iter().find(|(axis, _)| *layout == Expr::axis(axis));
    match slide {
        Some((_, windows)) => windows.clone(),
        None => match layout.map_children(|inner| Ok::<_, Infallible>(viewed(inner, slides))) {
            Ok(layout) => layout,
            Err(never) => match never {},
        },
    }
}
