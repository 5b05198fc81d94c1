//! `tm.rename`, `tm.split`, `tm.merge`, `tm.rearrange`, `tm.broadcast`: the same elements under other axes.

use crate::error::mapping_error;
use crate::facts::{DeclaredAxes, check_mappings};
use crate::summed::named;
use crate::tensor::attrs::MAP;
use crate::tensor::value::{Value, axis_list, one_axis, value_result};
use std::sync::Arc;
use visa_algebra::{Axes, Expr};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;

/// `tm.rename`.
#[visa_ir::view(Rename)]
pub static RENAME: OpDecl = OpDecl {
    name: "tm.rename",
    summary: "Gives axes other names.",
    doc: "`tm.rename %x axes [A, B], to [B, A]` transposes: the element at A = a, B = b is that of `%x` at A = b, \
          B = a. A new axis has the size of the old one.",
    constraints: &[
        ("C1", "both lists have as many axes, and no axis of the result is there twice"),
        ("C2", "the operand has each of `axes`"),
        ("C3", "an axis and its new name have the same size"),
    ],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::required("axes", ClauseKind::body::<Expr>(&MAP), "the axes"),
        ClauseDecl::required("to", ClauseKind::body::<Expr>(&MAP), "their new names, in the same order"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer_rename),
    verify: Some(verify_rename),
    example: "%t = tm.rename %x axes [A, B], to [B, A]",
    ..OpDecl::BASE
};

/// `tm.split`.
#[visa_ir::view(Split)]
pub static SPLIT: OpDecl = OpDecl {
    name: "tm.split",
    summary: "Counts one axis by several: its digits.",
    doc: "`tm.split %x axis [M], to [A, B]` has at A = a, B = b the element at M = a |B| + b.",
    constraints: &[
        ("C1", "`axis` is one axis, which the operand has; it has none of `to`"),
        ("C2", "the sizes of `to` multiply to the size of the axis"),
    ],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::required("axis", ClauseKind::body::<Expr>(&MAP), "the axis, as `[M]`"),
        ClauseDecl::required("to", ClauseKind::body::<Expr>(&MAP), "its digits, outermost first"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let split = Split::of(op)?;
        exchanged(op, &*split.axis()?, &*split.to()?)
    }),
    verify: Some(|op, cx| {
        let split = Split::of(op)?;
        let (axis, to) = (split.axis()?, split.to()?);
        check_one(op, "axis", &axis)?;
        check_digits(op, cx, (&axis, &to), ("axis", "to"))
    }),
    example: "%y = tm.split %x axis [M], to [A, B]",
    ..OpDecl::BASE
};

/// `tm.merge`.
#[visa_ir::view(Merge)]
pub static MERGE: OpDecl = OpDecl {
    name: "tm.merge",
    summary: "Counts several axes by one.",
    doc: "`tm.merge %x axes [A, B], to [M]` has at M = a |B| + b the element at A = a, B = b: the opposite of \
          `tm.split`.",
    constraints: &[
        ("C1", "`to` is one axis; the operand has each of `axes`, and not that one"),
        ("C2", "the sizes of `axes` multiply to the size of the new axis"),
    ],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::required("axes", ClauseKind::body::<Expr>(&MAP), "the digits, outermost first"),
        ClauseDecl::required("to", ClauseKind::body::<Expr>(&MAP), "the axis, as `[M]`"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let merge = Merge::of(op)?;
        exchanged(op, &*merge.axes()?, &*merge.to()?)
    }),
    verify: Some(|op, cx| {
        let merge = Merge::of(op)?;
        let (axes, to) = (merge.axes()?, merge.to()?);
        check_one(op, "to", &to)?;
        check_digits(op, cx, (&axes, &to), ("axes", "to"))
    }),
    example: "%y = tm.merge %x axes [A, B], to [M]",
    ..OpDecl::BASE
};

/// `tm.rearrange`.
#[visa_ir::view(Rearrange)]
pub static REARRANGE: OpDecl = OpDecl {
    name: "tm.rearrange",
    summary: "Counts elements by other axes, as two mappings pair them.",
    doc: "The element that `from` holds at a position is, in the result, at the index that `to` holds there. So \
          `from [$(W:1, F:1)]` and the like read windows; `tm.split` and `tm.merge` are the plain cases. Where \
          `from` has padding, the result is undefined.",
    constraints: &[("C1", "both mappings have as many positions")],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::required("from", ClauseKind::body::<Expr>(&MAP), "the operand's index at each position"),
        ClauseDecl::required("to", ClauseKind::body::<Expr>(&MAP), "the result's"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let op = Rearrange::of(op)?;
        let (value, old, new) = (op.value()?.of_type::<Value>()?, named(&*op.from()?), named(&*op.to()?));
        let mut axes = value.axes.clone();
        axes.retain(|axis| !old.contains(axis));
        for axis in new {
            if !axes.contains(&axis) {
                axes.push(axis);
            }
        }
        value_result(*op, value.dtype, axes)
    }),
    verify: Some(verify_rearrange),
    example: "%y = tm.rearrange %x from [Y], to [$(W:1, F:1)]",
    ..OpDecl::BASE
};

/// `tm.broadcast`.
#[visa_ir::view(Broadcast)]
pub static BROADCAST: OpDecl = OpDecl {
    name: "tm.broadcast",
    summary: "Gives a value further axes, along which it is the same everywhere.",
    doc: "Most operations broadcast without it. A contraction asks for it: an axis of a sum that one operand lacks is \
          more often a mistake.",
    constraints: &[("C1", "the operand has none of the axes")],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[ClauseDecl::required("along", ClauseKind::body::<Expr>(&MAP), "the further axes")],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let op = Broadcast::of(op)?;
        let value = op.value()?.of_type::<Value>()?;
        let mut axes = value.axes.clone();
        for axis in list(*op, "along", &*op.along()?)? {
            if value.has(&axis) {
                return Err(op.clause_error("C1", "along", format!("the operand has axis `{axis}` already")));
            }
            axes.push(axis);
        }
        value_result(*op, value.dtype, axes)
    }),
    verify: Some(|op, cx| check_mappings(op, &cx.analysis::<DeclaredAxes>().0)),
    example: "%y = tm.broadcast %x along [K]",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&RENAME, &SPLIT, &MERGE, &REARRANGE, &BROADCAST];

/// The axes that a clause lists.
fn list(op: OpRef<'_>, clause: &str, list: &Expr) -> Result<Vec<Arc<str>>, Diagnostic> {
    axis_list(list).map_err(|why| op.clause_error("C1", clause, why))
}

/// An axis, and its new name.
pub type NewName = (Arc<str>, Arc<str>);

/// The axes of a renaming, and their new names.
///
/// # Errors
/// C1 and C2.
pub fn renamed(op: Rename<'_>) -> Result<Vec<NewName>, Diagnostic> {
    let (from, to) = (list(*op, "axes", &*op.axes()?)?, list(*op, "to", &*op.to()?)?);
    if from.len() != to.len() {
        let message = format!(
            "{} for {}, expected one for each",
            counted(to.len(), "name"),
            counted(from.len(), "axis")
        );
        return Err(op.clause_error("C1", "to", message));
    }
    let value = op.value()?.of_type::<Value>()?;
    if let Some(missing) = from.iter().find(|axis| !value.has(axis)) {
        return Err(op.clause_error("C2", "axes", lacks(&value, missing)));
    }
    Ok(from.into_iter().zip(to).collect())
}

fn lacks(value: &Value, axis: &str) -> String {
    format!("the operand of type `!tm.tensor<{value}>` has no axis `{axis}`")
}

fn infer_rename(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Rename::of(op)?;
    let pairs = renamed(op)?;
    let value = op.value()?.of_type::<Value>()?;
    let name = |axis: &Arc<str>| {
        let new = pairs.iter().find(|(from, _)| from == axis);
        Arc::clone(new.map_or(axis, |(_, to)| to))
    };
    let axes: Vec<Arc<str>> = value.axes.iter().map(name).collect();
    let twice = axes.iter().enumerate().find(|(at, axis)| axes[..*at].contains(axis));
    match twice {
        Some((_, axis)) => Err(op.clause_error("C1", "to", format!("the result would have `{axis}` twice"))),
        None => value_result(*op, value.dtype, axes),
    }
}

fn verify_rename(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    for (from, to) in renamed(Rename::of(op)?)? {
        let (old, new) = (size(&from, axes), size(&to, axes));
        if old != new {
            let message = format!("`{from}` has {}, `{to}` has {new}", counted(old, "coordinate"));
            return Err(op.clause_error("C3", "to", message));
        }
    }
    Ok(())
}

fn size(axis: &str, axes: &Axes) -> u64 {
    axes.id(axis).map_or(0, |axis| axes.size(axis))
}

/// The type with the axes of one list replaced by those of another, where the first of them was.
fn exchanged(op: OpRef<'_>, from: &Expr, to: &Expr) -> Result<Vec<TypeId>, Diagnostic> {
    let value = op.operand_type::<Value>(0).ok_or_else(|| op.error("C1", "the operand is no value"))?;
    let (from, to) = (list(op, "axis", from)?, list(op, "to", to)?);
    if let Some(missing) = from.iter().find(|axis| !value.has(axis)) {
        return Err(op.error("C1", lacks(&value, missing)));
    }
    let at = value.axes.iter().position(|axis| from.contains(axis)).unwrap_or(0);
    let mut axes: Vec<Arc<str>> = value.axes.iter().filter(|axis| !from.contains(axis)).cloned().collect();
    if let Some(twice) = to.iter().find(|axis| axes.contains(axis)) {
        return Err(op.clause_error("C1", "to", format!("the operand has axis `{twice}` already")));
    }
    let at = at.min(axes.len());
    axes.splice(at..at, to);
    value_result(op, value.dtype, axes)
}

fn check_one(op: OpRef<'_>, clause: &str, written: &Expr) -> Result<(), Diagnostic> {
    one_axis(op, "C1", clause, written).map(drop)
}

/// C2 of a split and of a merge.
fn check_digits(
    op: OpRef<'_>,
    cx: &VerifyCx<'_>,
    (from, to): (&Expr, &Expr),
    (_, clause): (&str, &str),
) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let count = |map: &Expr| map.size(axes).map_err(|error| mapping_error(error, op.span()));
    let (old, new) = (count(from)?, count(to)?);
    if old == new {
        return Ok(());
    }
    let message = format!("`{from}` has {}, `{to}` has {new}", counted(old, "coordinate"));
    Err(op.clause_error("C2", clause, message))
}

fn verify_rearrange(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let op = Rearrange::of(op)?;
    let count = |map: &Expr| map.size(axes).map_err(|error| mapping_error(error, op.span()));
    let (from, to) = (op.from()?, op.to()?);
    let (old, new) = (count(&from)?, count(&to)?);
    if old == new {
        return Ok(());
    }
    let message = format!("`{from}` has {}, `{to}` has {new}", counted(old, "position"));
    Err(op.clause_error("C1", "to", message))
}
