//! Where tensors at rest are.

use crate::StageCx;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::view::ValueRef;
use visa_mapping::Tensor;

/// The address of a tensor at rest that `op` takes or gives, in bytes.
///
/// # Errors
/// If it has none.
pub fn of(cx: &StageCx<'_>, op: OpRef<'_>, tensor: ValueRef<'_>) -> Result<i64, Diagnostic> {
    cx.addresses.get(&tensor.id).copied().ok_or_else(|| {
        let name = tensor.module().value_name(tensor.id);
        let name = name.map_or_else(|| "a tensor".to_owned(), |name| format!("`%{name}`"));
        let message = format!("`{op}` needs the address of {name}, which has none");
        let fix = "write it, or run `allocate` before".to_owned();
        Diagnostic::error("lower-to-seq", tensor.module().value_span(tensor.id), message).fix(fix)
    })
}

/// The same in elements.
///
/// # Errors
/// If it has none.
pub fn in_elements(cx: &StageCx<'_>, op: OpRef<'_>, tensor: ValueRef<'_>) -> Result<i64, Diagnostic> {
    let dtype = tensor.of_type::<Tensor>()?.dtype;
    Ok(of(cx, op, tensor)?.saturating_mul(8) / i64::from(dtype.bits()))
}

/// The memory of a tensor, as clauses have it.
pub(crate) fn space(tensor: &Tensor) -> &'static str {
    tensor.kind.def.name.trim_start_matches("tm.")
}
