//! `tm.map`: an expression of each element.

use crate::expression::{Dag, EXPRESSION, Expression};
use crate::tensor::value::{Value, union_of_axes, value_result};
use std::rc::Rc;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_numerics::DType;

/// `tm.map`.
#[visa_ir::view(Map)]
pub static DECL: OpDecl = OpDecl {
    name: "tm.map",
    summary: "An expression of the elements with the same coordinates.",
    doc: "The names stand for the operands in their order; along an axis that one lacks it is the same everywhere. \
          The functions are those of the vector engine, in `i32` and `f32`, with its roundings (book 21, \
          docs/numerics.md). With `fast`, a lowering may round otherwise (docs/choosing.md).",
    constraints: &[
        ("C1", "there is a name for each operand, and there are 1 to 16"),
        ("C2", "every function takes its arguments' format, and numbers are in it; 64 operations at most"),
    ],
    operands: &[OperandDecl::variadic("values", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::lead("expression", ClauseKind::body::<Expression>(&EXPRESSION), "the expression"),
        ClauseDecl::optional("fast", ClauseKind::Flag, "rewrites that round otherwise are allowed"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(|op, _| computation(Map::of(op)?).map(drop)),
    example: "%y = tm.map [x, b: max(x + b, 0)] %x, %b",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

/// Most operands of an expression.
const MAX_OPERANDS: usize = 16;

fn values(op: Map<'_>) -> Result<Vec<Rc<Value>>, Diagnostic> {
    let value =
        |at: usize| op.operand_type::<Value>(at).ok_or_else(|| op.error("C1", "an operand is no value"));
    (0..op.operands().len()).map(value).collect()
}

/// The function of one element of each operand.
///
/// # Errors
/// C1 and C2.
pub fn computation(op: Map<'_>) -> Result<Dag, Diagnostic> {
    let (expression, values) = (op.expression()?, values(op)?);
    let (names, operands) = (expression.names.len(), values.len());
    if names != operands || operands == 0 {
        let message =
            format!("the expression names {}, the operation has {operands}", counted(names, "operand"));
        return Err(op.clause_error("C1", "expression", message));
    }
    if operands > MAX_OPERANDS {
        let message = format!("{}, expected at most {MAX_OPERANDS}", counted(operands, "operand"));
        return Err(op.clause_error("C1", "expression", message));
    }
    let dtypes: Vec<DType> = values.iter().map(|value| value.dtype).collect();
    Dag::new(&expression, &dtypes)
        .map_err(|error| op.clause_error("C2", "expression", error.message).fix(error.fix))
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Map::of(op)?;
    let (dag, values) = (computation(op)?, values(op)?);
    let dtype =
        dag.dtype().ok_or_else(|| op.clause_error("C2", "expression", "it has no result".to_owned()))?;
    value_result(*op, dtype, union_of_axes(values.iter().map(|value| &**value)))
}
