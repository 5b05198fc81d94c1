//! `tm.contract`: products of two values, summed along axes.

use crate::facts::{DeclaredAxes, check_mappings};
use crate::summed::{check_kept, check_tree, named};
use crate::tensor::attrs::MAP;
use crate::tensor::value::{Value, union_of_axes, value_result};
use std::rc::Rc;
use visa_algebra::Expr;
use visa_engine::words::ContractionKind;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_numerics::DType;

/// `tm.contract`.
#[visa_ir::view(Contract)]
pub static DECL: OpDecl = OpDecl {
    name: "tm.contract",
    summary: "Multiplies two values element by element, and sums the products along axes.",
    doc: "`tm.contract %a, %b over [K]` is the sum of a * b over the coordinates along K. The result has the other \
          axes of both operands, in `i32` or `f32`, whichever the format accumulates in (book 19).\n\n\
          The order of the sum is part of its semantics. Products are added in the order of the positions of \
          `over`, the last term innermost. With `tree 32`, each 32 neighbouring positions are summed first: \
          neighbours, then these sums, and so on; these partial sums are added one after the other. Padding in \
          `over` adds 0. With `free`, any order is allowed: a result may differ by rounding.\n\n\
          `over [1]` sums nothing: the outer product. An axis of `over` may stay in the result in part: `over [K / \
          8], keep [K % 8]` has eight sums.",
    constraints: &[
        ("C1", "both operands have the same format, and it accumulates (book 19)"),
        ("C2", "each operand has each axis of `over`"),
        ("C3", "`tree` is a power of two, and divides the positions of `over`"),
        ("C4", "`keep` mentions axes of `over` only"),
    ],
    operands: &[OperandDecl::one("left", &["tm.tensor"]), OperandDecl::one("right", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::required(
            "over",
            ClauseKind::body::<Expr>(&MAP),
            "the summed positions, in the order of the sum",
        ),
        ClauseDecl::optional(
            "keep",
            ClauseKind::body::<Expr>(&MAP),
            "the part of the axes of `over` that stays",
        ),
        ClauseDecl::default(
            "tree",
            ClauseKind::Int,
            "1",
            "how many neighbouring positions are summed as a tree",
        ),
        ClauseDecl::default(
            "kind",
            ClauseKind::word::<ContractionKind>(),
            "add",
            "the sum of the products, or the greatest of them",
        ),
        ClauseDecl::optional("free", ClauseKind::Flag, "the sum may be in any order"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(verify),
    example: "%s = tm.contract %a, %b over [K], tree 32",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

/// The format in which a contraction of `dtype` accumulates. The machine's formats have one (book 19); `i32` and `f32`
/// accumulate in themselves.
#[must_use]
pub fn accumulator(dtype: DType) -> Option<DType> {
    let itself = matches!(dtype, DType::I32 | DType::F32).then_some(dtype);
    dtype.accumulator().or(itself)
}

fn operands(op: Contract<'_>) -> Result<[Rc<Value>; 2], Diagnostic> {
    Ok([op.left()?.of_type::<Value>()?, op.right()?.of_type::<Value>()?])
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Contract::of(op)?;
    let [left, right] = operands(op)?;
    let dtype = accumulator(left.dtype).ok_or_else(|| unsummed(*op, left.dtype))?;
    let kept = op.keep()?.map_or_else(Vec::new, |kept| named(&kept));
    let summed = named(&*op.over()?);
    let mut axes = union_of_axes([&*left, &*right]);
    axes.retain(|axis| kept.contains(axis) || !summed.contains(axis));
    value_result(*op, dtype, axes)
}

fn unsummed(op: OpRef<'_>, dtype: DType) -> Diagnostic {
    let all: Vec<&str> =
        DType::all().filter(|dtype| accumulator(*dtype).is_some()).map(DType::name).collect();
    let message = format!("a contraction of `{dtype}`, expected one of `{}`", all.join("`, `"));
    op.error("C1", message).fix("convert the operands with `tm.cast`".to_owned())
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let op = Contract::of(op)?;
    let [left, right] = operands(op)?;
    if left.dtype != right.dtype {
        let message = format!("operands of `{}` and `{}`, expected one format", left.dtype, right.dtype);
        return Err(op.error("C1", message).fix("convert one of them with `tm.cast`".to_owned()));
    }
    check_axes(op, &left, &right)?;
    check_tree(*op, &*op.over()?, op.tree()?, axes)?;
    check_kept(*op, &*op.over()?, op.keep()?.as_deref())
}

/// C2.
fn check_axes(op: Contract<'_>, left: &Value, right: &Value) -> Result<(), Diagnostic> {
    let over = op.over()?;
    for axis in named(&over) {
        let (message, fix) = match (left.has(&axis), right.has(&axis)) {
            (true, true) => continue,
            (true, false) => lacks("right", right, &axis),
            (false, true) => lacks("left", left, &axis),
            (false, false) => {
                let message = format!("the sum is over `{axis}`, an axis of neither operand");
                (message, "name an axis that both have, or write `over [1]` for an outer product".to_owned())
            }
        };
        return Err(op.clause_error("C2", "over", message).fix(fix));
    }
    Ok(())
}

/// The message for an operand without an axis, and the fix.
fn lacks(side: &str, operand: &Value, axis: &str) -> (String, String) {
    let message =
        format!("the sum is over `{axis}`, which the {side} operand of type `!tm.tensor<{operand}>` lacks");
    let fix = format!("if it is the same everywhere along `{axis}`, use `tm.broadcast` on it before");
    (message, fix)
}
