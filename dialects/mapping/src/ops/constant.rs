//! `tm.constant`, `tm.index`, `tm.undefined`: values that depend on no other.

use crate::facts::{DeclaredAxes, check_mappings};
use crate::tensor::attrs::{DTYPE, MAP};
use crate::tensor::numbers::{NUMBERS, Numbers};
use crate::tensor::value::{one_axis, value_result};
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_numerics::{Bits, DType, from_number};

/// `tm.constant`.
#[visa_ir::view(Constant)]
pub static CONSTANT: OpDecl = OpDecl {
    name: "tm.constant",
    summary: "A number, or a list of numbers along an axis.",
    doc: "`tm.constant f32, values [0.5]` is one number, the same along every axis. \
          `tm.constant i8, values [1, 2, 3], along [C]` has an element for each coordinate along C. With `bits`, the \
          numbers are the bits of elements.",
    constraints: &[
        ("C1", "each number is in the format"),
        ("C2", "there is one number, or one for each coordinate along the axis"),
    ],
    clauses: &[
        ClauseDecl::lead("dtype", ClauseKind::body::<DType>(&DTYPE), "format of the elements"),
        ClauseDecl::required("values", ClauseKind::body::<Numbers>(&NUMBERS), "the numbers"),
        ClauseDecl::optional("along", ClauseKind::body::<Expr>(&MAP), "the axis that counts them, as `[C]`"),
        ClauseDecl::optional("bits", ClauseKind::Flag, "the numbers are patterns of bits"),
    ],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer_constant),
    verify: Some(verify_constant),
    example: "%c = tm.constant f32, values [0.5]",
    ..OpDecl::BASE
};

/// `tm.index`.
#[visa_ir::view(Coordinate)]
pub static INDEX: OpDecl = OpDecl {
    name: "tm.index",
    summary: "The coordinate along an axis: an element's own index.",
    doc: "`tm.index [M]` is an `i32` value over M that is m at coordinate m. Masks and positions are made of it.",
    constraints: &[("C1", "`axis` is one axis, of at most 2^31 coordinates")],
    clauses: &[ClauseDecl::lead("axis", ClauseKind::body::<Expr>(&MAP), "the axis, as `[M]`")],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(infer_index),
    verify: Some(verify_index),
    example: "%m = tm.index [M]",
    ..OpDecl::BASE
};

/// `tm.undefined`.
#[visa_ir::view(Undefined)]
pub static UNDEFINED: OpDecl = OpDecl {
    name: "tm.undefined",
    summary: "A value without a defined element.",
    doc: "A tensor before anything is written into it. An operation on an undefined element gives an undefined one.",
    clauses: &[ClauseDecl::lead("dtype", ClauseKind::body::<DType>(&DTYPE), "format of the elements")],
    results: &["value"],
    effects: Effects::PURE,
    infer: Some(|op| value_result(op, *Undefined::of(op)?.dtype()?, Vec::new())),
    example: "%u = tm.undefined f32",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&CONSTANT, &INDEX, &UNDEFINED];

/// The axis that counts the numbers of a constant.
fn along(op: Constant<'_>) -> Result<Option<Arc<str>>, Diagnostic> {
    op.along()?.map(|list| one_axis(*op, "C2", "along", &list)).transpose()
}

/// The bits of the numbers of a constant.
///
/// # Errors
/// C1.
pub fn elements(op: Constant<'_>) -> Result<Vec<Bits>, Diagnostic> {
    let dtype = *op.dtype()?;
    let is_bits = op.bits();
    let pattern = |number: f64| {
        let whole = number.fract() == 0.0 && (0.0..=f64::from(Bits::MAX)).contains(&number);
        whole.then_some(number as Bits)
    };
    let element = |&number: &f64| {
        let bits = if is_bits { pattern(number) } else { from_number(dtype, number) };
        bits.ok_or_else(|| {
            let wanted = if is_bits { "pattern of bits".to_owned() } else { format!("`{dtype}`") };
            op.clause_error("C1", "values", format!("{number} is no {wanted}"))
        })
    };
    op.values()?.0.iter().map(element).collect()
}

fn infer_constant(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Constant::of(op)?;
    value_result(*op, *op.dtype()?, along(op)?.into_iter().collect())
}

fn verify_constant(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let op = Constant::of(op)?;
    let count = elements(op)?.len() as u64;
    let axis = along(op)?.and_then(|name| axes.id(&name));
    let wanted = axis.map_or(1, |axis| axes.size(axis));
    if count == wanted {
        return Ok(());
    }
    let message = format!("{}, expected {wanted}", counted(count, "number"));
    Err(op.clause_error("C2", "values", message))
}

/// The axis of a coordinate.
fn axis(op: Coordinate<'_>) -> Result<Arc<str>, Diagnostic> {
    one_axis(*op, "C1", "axis", &*op.axis()?)
}

fn infer_index(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    value_result(op, DType::I32, vec![axis(Coordinate::of(op)?)?])
}

fn verify_index(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let name = axis(Coordinate::of(op)?)?;
    let size = axes.id(&name).map_or(0, |axis| axes.size(axis));
    if size <= 1 << 31 {
        return Ok(());
    }
    Err(op.clause_error("C1", "axis", format!("axis `{name}` has {size} coordinates, expected at most 2^31")))
}
