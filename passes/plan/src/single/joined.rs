//! Parts of an array along an axis, one after the other: inputs, and numbers around them.

use crate::array::Array;
use crate::running::{fill, first_slice};
use crate::single::Part;
use crate::writer::{Writer, new};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind};
use visa_engine::words::TensorMemory;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_machine::Machine;
use visa_mapping::ops::empty::Empty;
use visa_mapping::ops::to_tile::ToTile;
use visa_mapping::ops::view::{Relabel, Tile};

/// Most numbers that a slice is filled with for whole rows.
const MOST_FILLED: u64 = 4096;

/// Writes the parts of `out` along `axis`.
///
/// # Errors
/// A transfer that the machine does not make.
pub fn write(
    writer: &mut Writer<'_>,
    out: &Array,
    inputs: &[ValueId],
    (axis, parts): (&Arc<str>, &[Part]),
    (axes, machine): (&Axes, &Machine),
) -> Result<ValueId, Diagnostic> {
    let op = new!(writer, Empty).memory(TensorMemory::Hbm).dtype(out.dtype).at_auto();
    let mut whole = writer.value(op.element(out.layout(axes)), &out.name)?;
    let mut first = 0;
    for part in parts {
        let (source, count) = match part {
            Part::Input { input, array, axis: old } => {
                let source = (inputs[*input], &**array);
                (relabelled(writer, source, [old, axis], axes)?, size(old, axes))
            }
            Part::Tile { input, array, first, count } => {
                let (index, size) = (i64::try_from(*first), i64::try_from(*count));
                let (Ok(index), Ok(size)) = (index, size) else { return Err(lacking(writer)) };
                let element = Rc::new(tile(array, axis, *count, axes));
                let op = new!(writer, Tile, [inputs[*input]]).along(Rc::new(Expr::axis(axis)));
                let op = op.size(size).index(index).element(Some(element));
                (writer.value(op, &array.name)?, *count)
            }
            Part::Number(number, count) => {
                let element = filled(out, axis, *count, axes);
                (fill(writer, &out.name, (*number, out.dtype), element, &first_slice(machine))?, *count)
            }
        };
        let at = i64::try_from(first).map_err(|_| lacking(writer))?;
        let positions = i64::try_from(count).map_err(|_| lacking(writer))?;
        let op = new!(writer, ToTile, [source, whole]).along(Rc::new(Expr::axis(axis)));
        let element = Rc::new(tile(out, axis, count, axes));
        whole = writer.value(op.size(positions).index(at).element(Some(element)), &out.name)?;
        first += count;
    }
    Ok(whole)
}

fn size(axis: &str, axes: &Axes) -> u64 {
    axes.id(axis).map_or(1, |id| axes.size(id))
}

/// The input with the axis `to` instead of `from`, as the first part of it.
fn relabelled(
    writer: &mut Writer<'_>,
    (value, array): (ValueId, &Array),
    [from, to]: [&Arc<str>; 2],
    axes: &Axes,
) -> Result<ValueId, Diagnostic> {
    let layout = array.layout(axes);
    let part = Expr::axis(to).resize(size(from, axes));
    let terms = layout.terms().into_iter().map(|term| renamed(term, &Expr::axis(from), &part));
    let element = Rc::new(Expr::pair(terms.collect::<Vec<_>>()));
    writer.value(new!(writer, Relabel, [value]).element(Some(element)), &array.name)
}

/// A term with `part` instead of the axis `from`.
fn renamed(term: &Expr, from: &Expr, part: &Expr) -> Expr {
    match term {
        Expr::Pad { inner, size, kind, .. } => renamed(inner, from, part).pad(*size, *kind),
        Expr::Pair(terms) => Expr::pair(terms.iter().map(|term| renamed(term, from, part))),
        term if term == from => part.clone(),
        term => term.clone(),
    }
}

/// The layout of `out` in which `count` positions of `axis` are a tile.
fn tile(out: &Array, axis: &str, count: u64, axes: &Axes) -> Expr {
    let (layout, own) = (out.layout(axes), Expr::axis(axis));
    let whole = size(axis, axes);
    let terms = layout.terms().into_iter().map(|term| match term {
        term if *term == own => own.clone().resize(count).pad(whole, PadKind::Top),
        term => renamed(term, &own, &own.clone().resize(count)),
    });
    Expr::pair(terms.collect::<Vec<_>>())
}

/// The layout of `count` numbers in data memory, in whole groups of 8 bytes: for each element of the rows within the
/// axis too, so that a store writes whole rows, unless these are long.
fn filled(out: &Array, axis: &str, count: u64, axes: &Axes) -> Expr {
    let tile = tile(out, axis, count, axes);
    let inner =
        tile.terms().into_iter().skip_while(|term| !term.axis_names(axes).iter().any(|own| **own == *axis));
    let rows: Vec<Expr> = inner.skip(1).cloned().collect();
    let part = Expr::axis(axis).resize(count);
    let long = rows.iter().try_fold(count, |size, term| Some(size * term.size(axes).ok()?));
    if !rows.is_empty() && long.is_some_and(|size| size <= MOST_FILLED) {
        return Expr::pair(std::iter::once(part).chain(rows));
    }
    let whole = crate::array::whole_groups(count, out.dtype);
    if whole == count { part } else { part.pad(whole, PadKind::Top) }
}

/// That a step lacks operands.
fn lacking(writer: &Writer<'_>) -> Diagnostic {
    let message = "an array of parts has too few of them".to_owned();
    Diagnostic::error("plan-kernel", writer.span(), message)
}
