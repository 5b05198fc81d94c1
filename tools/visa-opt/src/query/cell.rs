//! Cells as JSON: an object of non-zero coordinates, an array of objects where indices share the position, `"top"`,
//! `"zero"` or `"bottom"` for padding, `null` for nothing.

use serde_json::{Map, Value};
use visa_algebra::{Axes, Cell, Index, PadKind};

/// A cell.
pub(super) fn json(cell: Option<&Cell>, axes: &Axes) -> Value {
    match cell {
        None => Value::Null,
        Some(Cell::Live(index)) => coordinates(index, axes),
        Some(Cell::Shared(indices)) => indices.iter().map(|index| coordinates(index, axes)).collect(),
        Some(Cell::Pad(kind)) => word(*kind).into(),
    }
}

/// The non-zero coordinates by axis.
pub(super) fn coordinates(index: &Index, axes: &Axes) -> Value {
    let entries = index.iter().map(|(axis, at)| (axes.name(axis).to_owned(), at.into()));
    Value::Object(entries.collect::<Map<_, _>>())
}

/// The short name of a kind of padding.
pub(super) fn word(kind: PadKind) -> &'static str {
    match kind {
        PadKind::Bottom => "bottom",
        PadKind::Zero => "zero",
        PadKind::Top => "top",
    }
}
