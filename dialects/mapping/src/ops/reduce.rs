//! `tm.reduce`: one element of all along some axes.

use crate::facts::{DeclaredAxes, check_mappings};
use crate::summed::{check_kept, check_tree, named};
use crate::tensor::attrs::MAP;
use crate::tensor::value::{Value, value_result};
use visa_algebra::Expr;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_numerics::{ReduceName, ReduceOp, reduce_op, reduce_ops};

/// `tm.reduce`.
#[visa_ir::view(Reduce)]
pub static DECL: OpDecl = OpDecl {
    name: "tm.reduce",
    summary: "Reduces a value along axes: their sum, the greatest, the least.",
    doc: "`tm.reduce Add %x over [N]` adds the elements along N, in the order of the positions of `over`: the first, \
          then the second to it. With `tree 4`, each four neighbouring positions become one first, neighbours \
          before their results. Padding in `over` counts as the identity of the function (book 22).",
    constraints: &[
        ("C1", "the function has elements of the format (books 22, 25)"),
        ("C2", "the operand has each axis of `over`, and `over` has one"),
        ("C3", "`tree` is a power of two, and divides the positions of `over`"),
        ("C4", "`keep` mentions axes of `over` only"),
    ],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<ReduceName>(), "the function of two elements"),
        ClauseDecl::required("over", ClauseKind::body::<Expr>(&MAP), "the reduced positions, in order"),
        ClauseDecl::optional(
            "keep",
            ClauseKind::body::<Expr>(&MAP),
            "the part of the axes of `over` that stays",
        ),
        ClauseDecl::default(
            "tree",
            ClauseKind::Int,
            "1",
            "how many neighbouring positions are reduced as a tree",
        ),
        ClauseDecl::optional("free", ClauseKind::Flag, "the order may be any"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(verify),
    example: "%m = tm.reduce Max %x over [N]",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

/// The function of two elements.
///
/// # Errors
/// C1.
pub fn function(op: Reduce<'_>) -> Result<&'static ReduceOp, Diagnostic> {
    let (name, dtype) = (op.op()?, op.value()?.of_type::<Value>()?.dtype);
    reduce_op(name, dtype).ok_or_else(|| {
        let rows = reduce_ops().filter(|row| row.name == name).map(|row| row.dtype.name());
        let takes = rows.collect::<Vec<_>>().join("` and `");
        let message = format!("`{name}` of `{dtype}`, expected elements of `{takes}`");
        op.clause_error("C1", "op", message).fix("convert the operand with `tm.cast`".to_owned())
    })
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Reduce::of(op)?;
    let value = op.value()?.of_type::<Value>()?;
    let kept = op.keep()?.map_or_else(Vec::new, |kept| named(&kept));
    let over = named(&*op.over()?);
    let mut axes = value.axes.clone();
    axes.retain(|axis| kept.contains(axis) || !over.contains(axis));
    value_result(*op, value.dtype, axes)
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let op = Reduce::of(op)?;
    function(op)?;
    let (value, over) = (op.value()?.of_type::<Value>()?, op.over()?);
    let names = named(&over);
    if names.is_empty() {
        return Err(op.clause_error(
            "C2",
            "over",
            format!("`{over}` names no axis, expected one of the operand's"),
        ));
    }
    if let Some(missing) = names.iter().find(|axis| !value.has(axis)) {
        let message = format!("the operand of type `!tm.tensor<{value}>` has no axis `{missing}`");
        return Err(op.clause_error("C2", "over", message));
    }
    check_tree(*op, &over, op.tree()?, axes)?;
    check_kept(*op, &over, op.keep()?.as_deref())
}
