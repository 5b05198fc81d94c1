//! `tm.where`, `tm.compare`: one of two values, element by element, and conditions.

use crate::tensor::attrs::COMPARISONS;
use crate::tensor::numbers::Number;
use crate::tensor::value::{Value, union_of_axes, value_result};
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_numerics::{Bits, Comparisons, DType, from_number};

/// `tm.where`.
#[visa_ir::view(Where)]
pub static DECL: OpDecl = OpDecl {
    name: "tm.where",
    summary: "Chooses between two values element by element.",
    doc: "`tm.where %c, %a, %b` is a where c is not 0, and b where it is. The element that is not chosen may be \
          undefined.",
    constraints: &[("C1", "the condition is `i32`"), ("C2", "the two values have the same format")],
    operands: &[
        OperandDecl::one("condition", &["tm.tensor"]),
        OperandDecl::one("then", &["tm.tensor"]),
        OperandDecl::one("otherwise", &["tm.tensor"]),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(verify),
    example: "%y = tm.where %c, %a, %b",
    ..OpDecl::BASE
};

/// `tm.compare`.
#[visa_ir::view(Compare)]
pub static COMPARE: OpDecl = OpDecl {
    name: "tm.compare",
    summary: "Compares each element with numbers.",
    doc: "Bit n of the result is set where the n-th comparison holds (book 21): `tm.compare %x with [less 0]` is 1 \
          where x is negative, and 0 elsewhere.",
    constraints: &[("C3", "the value is `i32` or `f32`, and the numbers are in its format (book 21)")],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[ClauseDecl::required(
        "with",
        ClauseKind::body::<Comparisons<Number>>(&COMPARISONS),
        "the comparisons, bit 0 first",
    )],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let axes = Compare::of(op)?.value()?.of_type::<Value>()?.axes.clone();
        value_result(op, DType::I32, axes)
    }),
    verify: Some(|op, _| comparisons(Compare::of(op)?).map(drop)),
    example: "%c = tm.compare %x with [less 0]",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL, &COMPARE];

/// The comparisons, with numbers in the value's format.
///
/// # Errors
/// C3.
pub fn comparisons(op: Compare<'_>) -> Result<Comparisons<Bits>, Diagnostic> {
    let dtype = op.value()?.of_type::<Value>()?.dtype;
    if !matches!(dtype, DType::I32 | DType::F32) {
        let message = format!("a value of `{dtype}`, expected `i32` or `f32`");
        return Err(op.error("C3", message).fix("convert it with `tm.cast`".to_owned()));
    }
    let number = |number: &Number| {
        from_number(dtype, number.0)
            .ok_or_else(|| op.clause_error("C3", "with", format!("{number} is no `{dtype}`")))
    };
    op.with()?.try_map(number)
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Where::of(op)?;
    let condition = op.condition()?.of_type::<Value>()?;
    let (then, otherwise) = (op.then()?.of_type::<Value>()?, op.otherwise()?.of_type::<Value>()?);
    let axes = union_of_axes([&*then, &*otherwise, &*condition]);
    value_result(*op, then.dtype, axes)
}

fn verify(op: OpRef<'_>, _: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let op = Where::of(op)?;
    let condition = op.condition()?.of_type::<Value>()?.dtype;
    if condition != DType::I32 {
        let message = format!("a condition of `{condition}`, expected `i32`");
        return Err(op.error("C1", message).fix("compute it with `tm.map`, or convert it".to_owned()));
    }
    let (then, otherwise) = (op.then()?.of_type::<Value>()?.dtype, op.otherwise()?.of_type::<Value>()?.dtype);
    if then == otherwise {
        return Ok(());
    }
    let message = format!("values of `{then}` and `{otherwise}`, expected one format");
    Err(op.error("C2", message).fix("convert one of them with `tm.cast`".to_owned()))
}
