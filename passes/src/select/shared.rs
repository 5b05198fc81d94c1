//! A register file is made by one pipeline and read by another, and its layout decides what both cost. It is chosen with them: every
//! layout that the contraction can read is tried, and the cheapest pair wins. That is exact, as the layout is all that they share.

use super::aim::Aim;
use super::digit_lists::{mapping, orders};
use super::padded::whole_flits;
use super::rule::Rule;
use super::{chain, choose};
use std::rc::Rc;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::open::is_open;
use visa_ir::verify::Analysis;
use visa_machine::Machine;
use visa_mapping::attrs::MAP;
use visa_mapping::facts::{DeclaredAxes, machine};
use visa_mapping::{Axes, Digit, Dim, Expr, Tensor, digits};
use visa_numerics::DType;
use visa_stream::ops::contract::ALIGN_DECL;
use visa_stream::ops::store::TO_TRF;

/// The layout of a register file, and what it costs.
pub struct Layout {
    /// What each row holds.
    pub row: Expr,
    /// What a row holds, in order.
    pub element: Expr,
    /// Cycles of the pipeline that loads it and of the one that reads it.
    pub cycles: u64,
    /// Layouts that were tried.
    pub tried: usize,
}

/// The load of a register file whose layout is open, if the pipeline reads one.
pub fn open_load(ctx: &Context, module: &Module, reader: &[OpId]) -> Option<OpId> {
    let aligns = reader.iter().map(|&id| module.op(ctx, id)).filter(|op| op.is(&ALIGN_DECL));
    let mut loads = aligns.filter_map(|align| align.operand_def(1));
    loads.find(|load| is_open_load(*load)).map(|load| load.id)
}

/// Whether an operation loads a register file whose layout is open.
pub fn is_open_load(op: OpRef<'_>) -> bool {
    op.is(&TO_TRF) && (is_open(op, "row") || is_open(op, "element"))
}

/// The best layout of the register file that `load` fills and the pipeline `reader` reads.
///
/// # Errors
/// That no layout lets both be, with what the last one broke.
pub fn choose_layout(
    ctx: &Context,
    module: &Module,
    (load, reader): (OpId, &[OpId]),
    rules: &[&'static Rule],
) -> Result<Layout, Diagnostic> {
    let axes = DeclaredAxes::build(ctx, module).0;
    let op = module.op(ctx, load);
    let ops: Vec<OpRef<'_>> = reader.iter().map(|&id| module.op(ctx, id)).collect();
    let aim = Aim::of(&ops, &axes);
    let loaded = chain(op);
    let loaded_ops = loaded.iter().map(|&id| module.op(ctx, id));
    let converted = loaded_ops.filter_map(|op| op.body::<DType>("dtype")).last().map(|dtype| *dtype);
    let candidates = layouts(module.op(ctx, loaded[0]), converted, &aim, &axes, &machine(ctx));
    let (mut best, mut refused): (Option<Layout>, Option<Diagnostic>) = (None, None);
    let tried = candidates.len();
    for (row, element) in candidates {
        if !agrees(op, "row", &row) || !agrees(op, "element", &element) {
            continue;
        }
        let mut module = module.clone();
        write(ctx, &mut module, load, &row, &element)?;
        match both(ctx, &mut module, &loaded, reader, rules) {
            Ok(cycles) if best.as_ref().is_none_or(|best| cycles < best.cycles) => {
                best = Some(Layout { row, element, cycles, tried });
            }
            Ok(_) => {}
            Err(error) => refused = Some(error),
        }
    }
    best.ok_or_else(|| {
        let message =
            format!("no layout of this register file lets its contraction be chosen; {tried} were tried");
        let error = Diagnostic::error("select-configs", op.span(), message);
        match refused {
            Some(last) => error.note(format!("the last one: {}", last.message), Some(last.span)),
            None => error,
        }
    })
}

/// Writes a layout.
///
/// # Errors
/// What inference says of the module.
pub fn write(
    ctx: &Context,
    module: &mut Module,
    load: OpId,
    row: &Expr,
    element: &Expr,
) -> Result<(), Diagnostic> {
    module.set_clause(load, "row", Some(ctx.body_attr(&MAP, row.clone())));
    module.set_clause(load, "element", Some(ctx.body_attr(&MAP, element.clone())));
    infer_all(ctx, module)
}

/// Whether a clause is open or says this.
fn agrees(op: OpRef<'_>, name: &str, value: &Expr) -> bool {
    is_open(op, name) || op.body::<Expr>(name).is_some_and(|written| *written == *value)
}

/// Cycles of the load and of the pipeline that reads it, one behind the other.
fn both(
    ctx: &Context,
    module: &mut Module,
    load: &[OpId],
    reader: &[OpId],
    rules: &[&'static Rule],
) -> Result<u64, Diagnostic> {
    let loaded = choose(ctx, module, load, rules)?;
    loaded.apply(ctx, module)?;
    let read = choose(ctx, module, reader, rules)?;
    Ok(loaded.best.time.cycles().saturating_add(read.best.time.cycles()))
}

/// Most digits whose every order is tried.
const MOST_ORDERED: usize = 3;

/// Layouts that a contraction can read: in rows the inner or outer part of an axis that is kept, in each row the rest of what is kept and
/// innermost, where packets are contiguous, what is summed.
fn layouts(
    begin: OpRef<'_>,
    converted: Option<DType>,
    aim: &Aim,
    axes: &Axes,
    machine: &Machine,
) -> Vec<(Expr, Expr)> {
    let source: Option<Rc<Tensor>> = begin.result_type(0).filter(|source: &Rc<Tensor>| source.kind.stream);
    let Some(source) = source else { return Vec::new() };
    let (dtype, held) = (converted.unwrap_or(source.dtype), digits(&source.dim(Dim::Packet), axes).ok());
    let held: Vec<Digit> = held.iter().flat_map(|held| held.iter().rev().copied()).collect();
    let held = held.into_iter().filter(|digit| digit.axis.is_some() && digit.live > 1);
    let held: Vec<Digit> = held.map(|digit| Digit { extent: digit.live, ..digit }).collect();
    let (kept, summed): (Vec<Digit>, Vec<Digit>) = held
        .into_iter()
        .partition(|digit| digit.axis.is_some_and(|axis| aim.knows_sums() && !aim.sums_over(axis)));
    let mut found = Vec::new();
    for &rows in &machine.limits.row_counts {
        for (row, rest) in row_choices(&kept, rows) {
            for rest in orders(&rest, MOST_ORDERED) {
                for inner in orders(&summed, MOST_ORDERED) {
                    let parts = mapping(rest.iter(), axes).zip(mapping(inner.iter(), axes));
                    let elements = parts.map(|parts| whole_flits(parts, dtype, machine, axes));
                    let row = mapping(row.iter(), axes);
                    let all = elements.into_iter().flatten().filter_map(|element| Some((row.clone()?, element)));
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
