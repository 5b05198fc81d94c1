//! `tm.skew`, `tm.exchange`: elements that move along an axis, by another axis or by a list.

use crate::facts::{DeclaredAxes, check_mappings};
use crate::tensor::attrs::MAP;
use crate::tensor::value::{Value, one_axis, value_result};
use crate::transfer::shuffle::Shuffle;
use std::sync::Arc;
use visa_algebra::{Axes, Expr};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;

/// `tm.skew`.
#[visa_ir::view(Skew)]
pub static SKEW: OpDecl = OpDecl {
    name: "tm.skew",
    summary: "Counts an axis by a skewed one, or the other way round.",
    doc: "With `B' = B - A`, `tm.skew %x axis [B], to [B'], by [A]` has at A = a, B' = b the element at A = a, \
          B = (b + a) mod |B| (book 03). From `[B']` to `[B]` it is the opposite.",
    constraints: &[
        ("C1", "each clause is one axis, and the operand has the first"),
        ("C2", "one of `axis` and `to` is the difference of the other and `by`"),
    ],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::required("axis", ClauseKind::body::<Expr>(&MAP), "the axis"),
        ClauseDecl::required("to", ClauseKind::body::<Expr>(&MAP), "the axis that counts it now"),
        ClauseDecl::required("by", ClauseKind::body::<Expr>(&MAP), "the axis that one is moved by"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer_skew),
    verify: Some(verify_skew),
    example: "%y = tm.skew %x axis [B], to [B'], by [A]",
    ..OpDecl::BASE
};

/// `tm.exchange`.
#[visa_ir::view(Exchange)]
pub static EXCHANGE: OpDecl = OpDecl {
    name: "tm.exchange",
    summary: "The parts of a dimension change places.",
    doc: "The part at position i of `along` is, in the operand, that at position `from`[i] (book 32).",
    constraints: &[
        ("C1", "the operand has each axis of `along`"),
        ("C2", "`from` lists a position for each position of `along`; equal parts stay equal"),
    ],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::required("along", ClauseKind::body::<Expr>(&MAP), "the dimension"),
        ClauseDecl::required("from", ClauseKind::Ints, "where each part comes from"),
        ClauseDecl::optional(
            "part",
            ClauseKind::body::<Expr>(&MAP),
            "the indices that the operand holds, if they do not begin at 0",
        ),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let value = Exchange::of(op)?.value()?.of_type::<Value>()?;
        value_result(op, value.dtype, value.axes.clone())
    }),
    verify: Some(|op, cx| {
        let axes = &cx.analysis::<DeclaredAxes>().0;
        check_mappings(op, axes)?;
        shuffle(Exchange::of(op)?, axes).map(drop)
    }),
    example: "%y = tm.exchange %x along [C], from [1, 2, 3, 0]",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&SKEW, &EXCHANGE];

/// The exchange as a function of positions.
///
/// # Errors
/// C1 and C2.
pub fn shuffle(op: Exchange<'_>, axes: &Axes) -> Result<Shuffle, Diagnostic> {
    let (along, value) = (op.along()?, op.value()?.of_type::<Value>()?);
    if let Some(missing) = along.axis_names(axes).iter().find(|axis| !value.has(axis)) {
        let message = format!("the operand of type `!tm.tensor<{value}>` has no axis `{missing}`");
        return Err(op.clause_error("C1", "along", message));
    }
    let from = op.from()?;
    let from: Option<Vec<u64>> = from.iter().map(|&from| u64::try_from(from).ok()).collect();
    let size =
        along.size(axes).map_err(|error| crate::error::mapping_error(error, op.clause_span("along")))?;
    let from = from.filter(|from| from.len() as u64 == size && from.iter().all(|&from| from < size));
    let from = from.ok_or_else(|| {
        let message = format!("expected {}, each from 0 to {}", counted(size, "position"), size - 1);
        op.clause_error("C2", "from", message)
    })?;
    Shuffle::new(&along, from, axes).map_err(|why| op.clause_error("C2", "from", why))
}

/// The three axes of a skew: from, to, by.
fn of_skew(op: Skew<'_>) -> Result<[Arc<str>; 3], Diagnostic> {
    let one = |clause: &str, list: &Expr| one_axis(*op, "C1", clause, list);
    Ok([one("axis", &*op.axis()?)?, one("to", &*op.to()?)?, one("by", &*op.by()?)?])
}

fn infer_skew(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Skew::of(op)?;
    let ([from, to, by], value) = (of_skew(op)?, op.value()?.of_type::<Value>()?);
    if !value.has(&from) {
        let message = format!("the operand of type `!tm.tensor<{value}>` has no axis `{from}`");
        return Err(op.clause_error("C1", "axis", message));
    }
    let mut axes: Vec<Arc<str>> =
        value.axes.iter().map(|axis| Arc::clone(if *axis == from { &to } else { axis })).collect();
    if !axes.contains(&by) {
        axes.push(by);
    }
    value_result(*op, value.dtype, axes)
}

fn verify_skew(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let op = Skew::of(op)?;
    let [from, to, by] = of_skew(op)?;
    let is_skew = |axis: &str, of: &str| {
        let skew = axes.id(axis).and_then(|axis| axes.skew(axis));
        skew.is_some_and(|skew| axes.id(of) == Some(skew.of) && axes.id(&by) == Some(skew.by))
    };
    if is_skew(&to, &from) || is_skew(&from, &to) {
        return Ok(());
    }
    let message =
        format!("`{to}` is not declared as the difference of `{from}` and `{by}`, nor the other way round");
    Err(op.clause_error("C2", "to", message))
}
