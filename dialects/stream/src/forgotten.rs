//! Axes that a result lacks although elements differ along them: no operation reduces, slices or masks the axis, and
//! the result holds its first coordinate. Legal, and nearly always a mistake of the mapping.

use std::sync::Arc;
use visa_algebra::{Axes, AxisId, Expr, place_expr};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::OpRef;
use visa_mapping::facts::{Support, written};
use visa_mapping::ops::control::carries;
use visa_mapping::ops::indexed::{Indexing, along, indexing};
use visa_mapping::{Tensor, view};

/// The code of the warning.
pub const CODE: &str = "forgotten-axis";

/// Clauses that give a result its axes, the one first that a lacking axis is added to.
const CLAUSES: [&str; 3] = ["element", "time", "packet"];

/// An operation that makes one element of several along axes that its result lacks, declared as an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropsAxes {
    /// It adds elements up or takes the greatest of them, padding included.
    BySum,
    /// It preserves some elements, or combines those of two groups.
    BySelection,
}

/// The way in which an operation drops axes; `None` if it preserves them.
fn drops_axes(op: OpRef<'_>) -> Option<DropsAxes> {
    op.decl()?.interface::<DropsAxes>().copied()
}

/// Returns true if an operation adds elements up or takes the greatest of them, padding included.
#[must_use]
pub fn sums(op: OpRef<'_>) -> bool {
    drops_axes(op) == Some(DropsAxes::BySum)
}

/// A warning for each axis along which the elements of an operand differ and which no mapping of the result
/// mentions. `A = 1` mentions it.
#[must_use]
pub fn warnings(op: OpRef<'_>, support: &Support, axes: &Axes) -> Vec<Diagnostic> {
    let Some(result) = op.result_type::<Tensor>(0).filter(|_| !takes_axes_away(op)) else {
        return Vec::new();
    };
    let mentioned = result.axis_names(axes);
    let mut found: Vec<(Arc<str>, usize)> = Vec::new();
    for (index, &operand) in op.operands().iter().enumerate() {
        let (Some(tensor), Some(names)) = (op.operand_type::<Tensor>(index), support.axes(operand)) else {
            continue;
        };
        let lacking = names.iter().filter(|name| {
            !says(&mentioned, name, axes) && tells_apart(&tensor, name, axes) && !is_chosen(op, name, axes)
        });
        for name in lacking {
            if found.iter().all(|(other, _)| other != name) {
                found.push((name.clone(), index));
            }
        }
    }
    found.into_iter().map(|(axis, operand)| warning(op, &axis, operand)).collect()
}

/// Returns true if mappings that mention these axes give the positions of elements along `name`: with `B' = B - A`,
/// each of B and B' gives it for both.
fn says(mentioned: &[Arc<str>], name: &str, axes: &Axes) -> bool {
    let of = |name: &str| axes.id(name).map(|id| axes.skew(id).map_or(id, |skew| skew.of));
    of(name).is_some_and(|id| mentioned.iter().any(|other| of(other) == Some(id)))
}

/// Returns true if an index gives the positions of elements along the axis.
fn is_chosen(op: OpRef<'_>, name: &str, axes: &Axes) -> bool {
    let chosen = |along: AxisId| axes.name(along) == name;
    match indexing(op) {
        Some(Indexing::Gather) => along(op, axes).is_ok_and(chosen),
        // Its verifier looks after the axes of rows and index.
        Some(Indexing::Scatter) => true,
        None => false,
    }
}

/// Returns true if the operation makes one element of several, is an explicit part of its operand or other axes for
/// it, or has several operands that become a result each.
fn takes_axes_away(op: OpRef<'_>) -> bool {
    drops_axes(op).is_some() || view::kind(op).is_some() || carries(op)
}

/// Returns true if a tensor holds more than one coordinate of the axis. A term without digits that mentions it does.
fn tells_apart(tensor: &Tensor, axis: &str, axes: &Axes) -> bool {
    let counts = |term: &Expr| match place_expr(term, axes, 1) {
        Ok(placed) => axes.id(axis).is_some_and(|id| placed.of_axis(id).next().is_some()),
        Err(_) => term.axis_names(axes).iter().any(|name| **name == *axis),
    };
    tensor.maps.iter().any(|map| match map {
        Expr::Pair(terms) => terms.iter().any(counts),
        term => counts(term),
    })
}

fn warning(op: OpRef<'_>, axis: &str, operand: usize) -> Diagnostic {
    let value = op.operands().get(operand).and_then(|&value| op.module.value_name(value));
    let from = value.map_or_else(|| format!("operand {operand}"), |name| format!("`%{name}`"));
    let message =
        format!("elements of {from} differ along `{axis}`, which the result lacks: only the first is kept");
    let clause = CLAUSES.into_iter().find_map(|clause| Some((clause, written(op, clause)?)));
    let (span, fix) = match clause {
        Some((clause, map)) => {
            let with = |term: Expr| Expr::pair(map.counting().cloned().chain([term]));
            let (whole, first) = (with(Expr::axis(axis)), with(Expr::axis(axis).resize(1)));
            (
                op.clause_span(clause),
                format!("keep it, say `{clause} {whole}`, or write `{clause} {first}` if one index is meant"),
            )
        }
        None => {
            (op.span(), format!("keep it in the stream, or give {from} `{axis} = 1` if one index is meant"))
        }
    };
    let mut warning = Diagnostic::error(CODE, span, message).fix(Some(fix));
    warning.severity = Severity::Warning;
    warning
}
