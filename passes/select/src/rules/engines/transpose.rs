//! The transpose engine: rows and columns of small matrices are exchanged, so that elements in time come to be in
//! flits (book 27).

use crate::rules::rule::{Proposal, Rule, Site};
use visa_algebra::{Cell, Digit, Expr, Map, PadKind};
use visa_machine::TransposeShape;
use visa_mapping::Dim;
use visa_stream::ops;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&MATRIX];

/// Matrices of every size that the engine takes.
pub(super) static MATRIX: Rule = Rule {
    name: "matrix",
    equation: "transpose of [T], [P] is [T / (m n), T % m, P = w], [T / m % n # flit] for n rows of m flits, w \
               being what the engine takes of a flit",
    op: &ops::transpose::DECL,
    propose: matrices,
};

fn matrices(site: &Site<'_>) -> Vec<Proposal> {
    let shape = site.machine.transpose(u64::from(site.source.dtype.bits()));
    let Ok(steps) = site.dim(Dim::Time).size(site.axes) else { return Vec::new() };
    let packets = shape.columns.iter().map(|columns| columns / shape.elements);
    let sizes = packets.flat_map(|packets| (2..=shape.rows).map(move |rows| (packets, rows)));
    let whole = sizes.filter(|(packets, rows)| steps.is_multiple_of(packets * rows));
    whole.filter_map(|(packets, rows)| transposed(site, &shape, packets, rows)).collect()
}

/// The matrix of the given numbers of rows and of flits a row, without the columns that hold nothing at its end; none
/// where it cuts through a digit.
fn transposed(site: &Site<'_>, shape: &TransposeShape, packets: u64, rows: u64) -> Option<Proposal> {
    let (time, packet) = (site.dim(Dim::Time), site.dim(Dim::Packet));
    let row = time.clone().stride(packets).modulo(rows);
    let columns = Expr::pair([time.clone().modulo(packets), packet.resize(shape.elements)]);
    let outer = time.stride(packets * rows);
    site.digits(&outer).filter(|_| fits_layout(site, &row))?;
    let map = Map::new(&columns, site.axes).ok()?;
    let live = |at: &u64| matches!(map.cell(*at), Some(Cell::Live(_) | Cell::Shared(_)));
    let trimmed = columns.clone().resize((0..map.size()).rev().find(live)? + 1);
    // Where the last one is within a row of padded flits, no digits state the remainder: all are kept.
    let columns = if site.digits(&trimmed).is_some() { trimmed } else { columns };
    Some(site.cut(Expr::pair([outer, columns]), row.pad(shape.alignment, PadKind::Top)))
}

/// Returns true if the rows may be in flits. The innermost part of the stream must then be that of the result's
/// layout, because a write has at least 8 bytes that are side by side (book 09).
fn fits_layout(site: &Site<'_>, row: &Expr) -> bool {
    let digits = |map: &Expr| -> Vec<Digit> {
        let digits = site.digits(map);
        let own = digits.iter().flat_map(|digits| digits.iter().copied());
        own.filter(|digit| digit.axis.is_some() && digit.live > 1).collect()
    };
    let Some(layout) = &site.task.constraints.layout else { return true };
    let stream = digits(&Expr::pair([site.dim(Dim::Time), site.dim(Dim::Packet)]));
    let held = |digit: &&Digit| stream.iter().any(|own| own.axis == digit.axis);
    let layout = digits(layout);
    let Some(wanted) = layout.iter().find(held) else { return true };
    let first = stream.iter().filter(|own| own.axis == wanted.axis).map(|own| own.stride).min();
    digits(row).first().is_some_and(|own| own.axis == wanted.axis && Some(own.stride) == first)
}
