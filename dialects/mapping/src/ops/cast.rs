//! `tm.cast`, `tm.subtract_zero`: a value in another format, and quantised integers from their zero point.

use crate::error::mapping_error;
use crate::facts::{DeclaredAxes, check_mappings};
use crate::summed::named;
use crate::tensor::attrs::{DTYPE, MAP};
use crate::tensor::value::{Value, value_result};
use visa_algebra::Expr;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_numerics::{CastRow, DType, engine_cast, fetch_cast};

/// `tm.cast`.
#[visa_ir::view(Cast)]
pub static DECL: OpDecl = OpDecl {
    name: "tm.cast",
    summary: "Converts each element to another format.",
    doc: "It rounds as the machine does, where the Fetch Adapter or the Cast Engine converts between the two formats \
          (books 08, 26): a cast is a rounding point, and stays where it is. With `bits`, the bits of an element are \
          taken for the other format, of the same size.",
    constraints: &[
        ("C1", "an engine converts between the two formats (books 08, 26)"),
        ("C2", "with `bits`, both formats have the same number of bits"),
    ],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::lead("dtype", ClauseKind::body::<DType>(&DTYPE), "the new format"),
        ClauseDecl::optional("bits", ClauseKind::Flag, "the bits are taken as they are"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(verify),
    example: "%y = tm.cast bf16 %x",
    ..OpDecl::BASE
};

/// `tm.subtract_zero`.
#[visa_ir::view(SubtractZero)]
pub static SUBTRACT_ZERO: OpDecl = OpDecl {
    name: "tm.subtract_zero",
    summary: "Subtracts the zero point of quantised integers.",
    doc: "One zero point for all elements, or one for each coordinate along an axis, as the Fetch Adapter subtracts \
          them (book 08).",
    constraints: &[(
        "C3",
        "there is one number, or with `along` one for each coordinate along an axis of the operand",
    )],
    operands: &[OperandDecl::one("value", &["tm.tensor"])],
    clauses: &[
        ClauseDecl::required("points", ClauseKind::Ints, "the zero points"),
        ClauseDecl::optional("along", ClauseKind::body::<Expr>(&MAP), "the axis that counts them, as `[C]`"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| {
        let value = SubtractZero::of(op)?.value()?.of_type::<Value>()?;
        value_result(op, value.dtype, value.axes.clone())
    }),
    verify: Some(|op, cx| {
        let axes = &cx.analysis::<DeclaredAxes>().0;
        check_mappings(op, axes)?;
        let (op, count) = (SubtractZero::of(op)?, SubtractZero::of(op)?.points()?.len() as u64);
        let wanted = match op.along()? {
            None => 1,
            Some(along) => along.size(axes).map_err(|error| mapping_error(error, op.clause_span("along")))?,
        };
        let value = op.value()?.of_type::<Value>()?;
        let along = op.along()?.map_or_else(Vec::new, |along| named(&along));
        if let Some(missing) = along.iter().find(|axis| !value.has(axis)) {
            let message = format!("the operand of type `!tm.tensor<{value}>` has no axis `{missing}`");
            return Err(op.clause_error("C3", "along", message));
        }
        match count {
            count if count == wanted => Ok(()),
            count => {
                let message = format!("{}, expected {wanted}", counted(count, "zero point"));
                Err(op.clause_error("C3", "points", message))
            }
        }
    }),
    example: "%y = tm.subtract_zero %x points [128]",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL, &SUBTRACT_ZERO];

/// The conversion of elements of `from` to `to`; none if they are the same format, or if no engine converts.
#[must_use]
pub fn conversion(from: DType, to: DType) -> Option<&'static CastRow> {
    fetch_cast(from, to).or_else(|| engine_cast(from, to))
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Cast::of(op)?;
    let axes = op.value()?.of_type::<Value>()?.axes.clone();
    value_result(*op, *op.dtype()?, axes)
}

fn verify(op: OpRef<'_>, _: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let op = Cast::of(op)?;
    let (from, to) = (op.value()?.of_type::<Value>()?.dtype, *op.dtype()?);
    if op.bits() {
        if from.bits() == to.bits() {
            return Ok(());
        }
        let message = format!("`{from}` has {} bits and `{to}` has {}", from.bits(), to.bits());
        return Err(op.clause_error("C2", "dtype", message));
    }
    if from == to || conversion(from, to).is_some() {
        return Ok(());
    }
    let known = DType::all().filter(|to| conversion(from, *to).is_some()).map(DType::name);
    let known: Vec<&str> = known.collect();
    if known.is_empty() {
        let message = format!("no engine converts `{from}` to `{to}` or to another format");
        return Err(op.clause_error("C1", "dtype", message).fix("convert it with `tm.lookup`".to_owned()));
    }
    let message =
        format!("no engine converts `{from}` to `{to}`; `{from}` is converted to `{}`", known.join("`, `"));
    Err(op.clause_error("C1", "dtype", message))
}
