//! The layouts of a tensor register file that a contraction can read.

use super::aim::Aim;
use super::digit_lists::{mapping, orders};
use super::padded::whole_flits;
use std::rc::Rc;
use visa_ir::module::OpRef;
use visa_ir::open::is_open;
use visa_machine::Machine;
use visa_mapping::{Axes, Digit, Dim, Expr, Tensor, digits};
use visa_numerics::DType;
use visa_stream::ops::store::TO_TRF;

/// Whether an operation loads a register file whose layout is open.
pub fn is_open_load(op: OpRef<'_>) -> bool {
    op.is(&TO_TRF) && (is_open(op, "row") || is_open(op, "element"))
}

/// Whether a clause is open or says this.
pub fn agrees(op: OpRef<'_>, name: &str, value: &Expr) -> bool {
    is_open(op, name) || op.body::<Expr>(name).is_some_and(|written| *written == *value)
}

/// Most digits whose every order is tried.
const MOST_ORDERED: usize = 3;

/// Layouts that a contraction can read: in rows the inner or outer part of an axis that is kept, in each row the rest of what is kept and
/// innermost, where packets are contiguous, what is summed.
pub fn layouts(
    begin: OpRef<'_>,
    converted: Option<DType>,
    aim: &Aim,
    axes: &Axes,
    machine: &Machine,
) -> Vec<(Expr, Expr)> {
    let source: Option<Rc<Tensor>> = begin.result_type(0).filter(|source: &Rc<Tensor>| source.kind.stream);
    let Some(source) = source else { return Vec::new() };
    let dtype = converted.unwrap_or(source.dtype);
    let Ok(held) = digits(&source.dim(Dim::Packet), axes) else { return Vec::new() };
    let held: Vec<Digit> = held.iter().rev().copied().collect();
    let held = held.into_iter().filter(|digit| digit.axis.is_some() && digit.live > 1);
    let held: Vec<Digit> = held.map(|digit| Digit { extent: digit.live, ..digit }).collect();
    let (kept, summed): (Vec<Digit>, Vec<Digit>) = held
        .into_iter()
        .partition(|digit| digit.axis.is_some_and(|axis| aim.knows_sums() && !aim.sums_over(axis)));
    // What no row has room for need not be tried.
    let fits = |element: &Expr| {
        let bytes = element.size(axes).ok().and_then(|elements| dtype.bytes(elements));
        bytes.is_some_and(|bytes| bytes <= machine.memory.trf_bytes_per_row)
    };
    let mut found = Vec::new();
    for &rows in &machine.limits.row_counts {
        for (row, rest) in row_choices(&kept, rows) {
            for rest in orders(&rest, MOST_ORDERED) {
                for inner in orders(&summed, MOST_ORDERED) {
                    let parts = mapping(rest.iter(), axes).zip(mapping(inner.iter(), axes));
                    let elements = parts.map(|parts| whole_flits(parts, dtype, machine, axes));
                    let row = mapping(row.iter(), axes);
                    let elements = elements.into_iter().flatten().filter(fits);
                    let all = elements.filter_map(|element| Some((row.clone()?, element)));
                    for layout in all {
                        if !found.contains(&layout) {
                            found.push(layout);
                        }
                    }
                }
            }
        }
    }
    found
}

/// Ways to put `rows` positions of one digit into rows, with what is left.
fn row_choices(kept: &[Digit], rows: u64) -> Vec<(Option<Digit>, Vec<Digit>)> {
    if rows == 1 {
        return vec![(None, kept.to_vec())];
    }
    let mut choices = Vec::new();
    for (at, digit) in kept.iter().enumerate().filter(|(_, digit)| digit.live.is_multiple_of(rows)) {
        let left = digit.live / rows;
        let parts = [
            (
                Digit { extent: rows, live: rows, ..*digit },
                Digit { stride: digit.stride * rows, extent: left, live: left, ..*digit },
            ),
            (
                Digit { stride: digit.stride * left, extent: rows, live: rows, ..*digit },
                Digit { extent: left, live: left, ..*digit },
            ),
        ];
        for (row, rest) in parts {
            let mut others = kept.to_vec();
            others[at] = rest;
            others.retain(|digit| digit.extent > 1);
            choices.push((Some(row), others));
        }
    }
    choices
}
