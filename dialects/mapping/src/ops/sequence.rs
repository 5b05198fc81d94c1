//! `tm.pack`, `tm.scan`: results that depend on the order in which a stream brings elements.

use crate::expression::{Dag, EXPRESSION, Expression};
use crate::facts::{DeclaredAxes, check_mappings};
use crate::summed::named;
use crate::tensor::attrs::MAP;
use crate::tensor::value::{Value, axis_list, one_axis, union_of_axes, value_result};
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_numerics::DType;

/// The places that work by themselves.
#[visa_ir::clause]
const OUTER: ClauseDecl = ClauseDecl::required(
    "outer",
    ClauseKind::body::<Expr>(&MAP),
    "the places that are gone through separately; `[1]` for one",
);
/// The steps of a place.
#[visa_ir::clause]
const STEPS: ClauseDecl =
    ClauseDecl::required("steps", ClauseKind::body::<Expr>(&MAP), "the steps of a place, in their order");
/// The elements of a step.
#[visa_ir::clause]
const WITHIN: ClauseDecl =
    ClauseDecl::required("within", ClauseKind::body::<Expr>(&MAP), "the elements of a step, in their order");

/// `tm.pack`.
#[visa_ir::view(Pack)]
pub static PACK: OpDecl = OpDecl {
    name: "tm.pack",
    summary: "Moves the elements that are kept together, in their order.",
    doc: "Along the axis `to`, each place of `outer` has the elements that it keeps, one after the other: those whose \
          element of `kept` is not 0, or with `counts` the leading ones of each step, as many as `kept` is there \
          (book 09). After an undefined `kept` no element has a position.",
    constraints: &[("C1", "`kept` is `i32`"), ("C2", "`to` is one axis that the value lacks")],
    operands: &[OperandDecl::one("value", &["tm.tensor"]), OperandDecl::one("kept", &["tm.tensor"])],
    clauses: &[
        OUTER,
        STEPS,
        WITHIN,
        ClauseDecl::required("to", ClauseKind::body::<Expr>(&MAP), "the axis of the result, as `[E]`"),
        ClauseDecl::optional("counts", ClauseKind::Flag, "`kept` counts the leading elements of a step"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer_pack),
    verify: Some(verify_pack),
    example: "%p = tm.pack %x, %k outer [1], steps [A / 8], within [A % 8], to [E]",
    ..OpDecl::BASE
};

/// `tm.scan`.
#[visa_ir::view(Scan)]
pub static SCAN: OpDecl = OpDecl {
    name: "tm.scan",
    summary: "An expression whose results later elements read: running sums.",
    doc: "Each place of `outer` goes through its elements step by step. The second name of the expression is the \
          state at the element's coordinates along `keys`. Where bit 0 of `mode` is not set, the element itself is \
          the result; where bit 1 is set, the result becomes the state there (book 35).",
    constraints: &[
        ("C1", "the expression has two names, of the format of both values"),
        ("C2", "every function takes the format, and numbers are in it"),
        ("C3", "`mode` is `i32`"),
    ],
    operands: &[
        OperandDecl::one("value", &["tm.tensor"]),
        OperandDecl::one("state", &["tm.tensor"]),
        OperandDecl::one("mode", &["tm.tensor"]),
    ],
    clauses: &[
        ClauseDecl::lead("expression", ClauseKind::body::<Expression>(&EXPRESSION), "the expression"),
        OUTER,
        STEPS,
        WITHIN,
        ClauseDecl::required("keys", ClauseKind::body::<Expr>(&MAP), "the axes of the state, as `[A, B]`"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer_scan),
    verify: Some(verify_scan),
    example: "%s = tm.scan [x, s: x + s] %x, %z, %m outer [1], steps [A], within [1], keys [1]",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&PACK, &SCAN];

/// The axis that a packing counts its elements by.
///
/// # Errors
/// C2.
pub fn packed_axis(op: Pack<'_>) -> Result<Arc<str>, Diagnostic> {
    one_axis(*op, "C2", "to", &*op.to()?)
}

fn infer_pack(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Pack::of(op)?;
    let (value, kept) = (op.value()?.of_type::<Value>()?, op.kept()?.of_type::<Value>()?);
    let (outer, to) = (named(&*op.outer()?), packed_axis(op)?);
    if value.has(&to) {
        return Err(op.clause_error("C2", "to", format!("the value has axis `{to}` already")));
    }
    let mut axes = union_of_axes([&*value, &*kept]);
    axes.retain(|axis| outer.contains(axis));
    axes.push(to);
    value_result(*op, value.dtype, axes)
}

fn verify_pack(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    check_mappings(op, &cx.analysis::<DeclaredAxes>().0)?;
    let kept = Pack::of(op)?.kept()?.of_type::<Value>()?.dtype;
    if kept == DType::I32 {
        return Ok(());
    }
    Err(op.error("C1", format!("`kept` is `{kept}`, expected `i32`")))
}

/// The function of an element and of the state.
///
/// # Errors
/// C1 and C2.
pub fn step(op: Scan<'_>) -> Result<Dag, Diagnostic> {
    let (expression, value) = (op.expression()?, op.value()?.of_type::<Value>()?);
    let state = op.state()?.of_type::<Value>()?;
    if expression.names.len() != 2 || value.dtype != state.dtype {
        let message = format!(
            "an expression of {} for a value of `{}` and a state of `{}`, expected two names and one format",
            counted(expression.names.len(), "name"),
            value.dtype,
            state.dtype
        );
        return Err(op.clause_error("C1", "expression", message));
    }
    Dag::new(&expression, &[value.dtype, state.dtype])
        .map_err(|error| op.clause_error("C2", "expression", error.message).fix(error.fix))
}

fn infer_scan(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Scan::of(op)?;
    let (value, state) = (op.value()?.of_type::<Value>()?, op.state()?.of_type::<Value>()?);
    let mode = op.mode()?.of_type::<Value>()?;
    let mut axes = union_of_axes([&*value, &*state, &*mode]);
    for axis in named(&*op.steps()?).into_iter().chain(named(&*op.within()?)) {
        if !axes.contains(&axis) {
            axes.push(axis);
        }
    }
    value_result(*op, value.dtype, axes)
}

fn verify_scan(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    check_mappings(op, &cx.analysis::<DeclaredAxes>().0)?;
    let scan = Scan::of(op)?;
    step(scan)?;
    axis_list(&*scan.keys()?).map_err(|why| op.clause_error("C1", "keys", why))?;
    let mode = scan.mode()?.of_type::<Value>()?.dtype;
    if mode == DType::I32 {
        return Ok(());
    }
    Err(op.error("C3", format!("`mode` is `{mode}`, expected `i32`")))
}
