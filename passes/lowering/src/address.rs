//! Where tensors at rest are.

use crate::{StageCx, buffers};
use std::collections::HashMap;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_ir::view::ValueRef;
use visa_mapping::facts::{DeclaredAxes, mapping_error, written_place};
use visa_mapping::ops::func::Func;
use visa_mapping::{Dim, HBM, HOST, Tensor, ops, view};

/// Host tensors are placed one after the other at multiples of this, in bytes.
const HOST_ALIGN: i64 = 4096;

/// The address of every tensor at rest: as written, for host tensors one after the other, and for a view some
/// positions into its source. One whose address is open has none.
///
/// # Errors
/// Mappings that are not legal, and host tensors that end beyond what a signed 64-bit integer counts.
pub fn all(func: OpRef<'_>, axes: &DeclaredAxes) -> Result<HashMap<ValueId, i64>, Diagnostic> {
    let mut addresses = HashMap::new();
    let mut host = 0_i64;
    let mut place = |addresses: &mut HashMap<ValueId, i64>, value: ValueId, given: Option<i64>| {
        let Some(tensor) = func.ctx.type_value::<Tensor>(func.module.ty(value)) else { return Ok(()) };
        if tensor.is(&HOST) {
            addresses.insert(value, host);
            host = after(func, value, &tensor, host, axes)?;
        } else if let Some(address) = given {
            addresses.insert(value, address);
        }
        Ok(())
    };
    let Some(&block) = func.regions().first() else { return Ok(addresses) };
    let written = ops::func::addresses(Func::of(func)?)?;
    let mut hbm = written.into_iter().flatten();
    for &arg in func.module.args(block) {
        let in_hbm = func.value(arg).of_type::<Tensor>()?.is(&HBM);
        place(&mut addresses, arg, if in_hbm { hbm.next().flatten() } else { None })?;
    }
    for &id in func.module.ops(block) {
        let op = func.other(id);
        let address = if view::kind(op).is_some() {
            buffers::view_address(op, &addresses, axes)
        } else if let Some(before) = view::changed(op) {
            addresses.get(&before).copied()
        } else {
            written_place(op)?.0
        };
        for &result in op.results() {
            place(&mut addresses, result, address)?;
        }
    }
    Ok(addresses)
}

/// Where the host tensor after `tensor` is, which is at `host`.
fn after(
    func: OpRef<'_>,
    value: ValueId,
    tensor: &Tensor,
    host: i64,
    axes: &DeclaredAxes,
) -> Result<i64, Diagnostic> {
    let span = func.module.value_span(value);
    let positions = tensor.dim(Dim::Element).size(&axes.0).map_err(|error| mapping_error(error, span))?;
    let bytes = tensor.bytes(positions).and_then(|bytes| i64::try_from(bytes).ok());
    let end = bytes.and_then(|bytes| host.checked_add(bytes)?.checked_add(HOST_ALIGN - 1));
    end.map(|end| end / HOST_ALIGN * HOST_ALIGN).ok_or_else(|| {
        let message = "the host tensors take more bytes than a signed 64-bit address counts";
        Diagnostic::error("lower-to-seq", span, message)
    })
}

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
