//! Refuses formats that the vector engine does not compute with (books 20, 22).

use crate::expressions;
use std::collections::BTreeSet;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::tensor::value::Value;
use visa_numerics::{DType, reduce_op, reduce_ops};

/// Refuses operands of a computation that are neither of `i32` nor of `f32`.
///
/// # Errors
/// Such an operand.
pub(crate) fn check_operands(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let dtypes =
        (0..op.operands().len()).filter_map(|at| op.operand_type::<Value>(at)).map(|value| value.dtype);
    let narrow: BTreeSet<DType> = dtypes.filter(|dtype| expressions::computed(*dtype) != *dtype).collect();
    let Some(&dtype) = narrow.first() else { return Ok(()) };
    let wide = expressions::computed(dtype);
    let message = format!("`{op}` of `{dtype}`: the vector engine computes `i32` and `f32`");
    let fix = format!("convert the operand before, with `tm.cast {wide}`, and the result back");
    Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix))
}

/// Refuses a reduction of a kind that the vector engine does not have for its format.
///
/// # Errors
/// Such a reduction.
pub(crate) fn check_reduction(op: Reduce<'_>) -> Result<(), Diagnostic> {
    check_operands(*op)?;
    let (name, dtype) = (op.op()?, op.operand_type::<Value>(0).map(|value| value.dtype));
    let Some(dtype) = dtype.filter(|dtype| !reduce_op(name, *dtype).is_some_and(|row| row.within_slice))
    else {
        return Ok(());
    };
    let able = reduce_ops().filter(|row| row.within_slice && row.dtype == dtype);
    let able = able.map(|row| row.name.word()).collect::<Vec<_>>().join("`, `");
    let message = format!("a reduction `{name}` of `{dtype}`: the vector engine has `{able}`");
    let fix = "reduce by one of these; `AddSat` is the same sum where none leaves the range of the format"
        .to_owned();
    Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix))
}
