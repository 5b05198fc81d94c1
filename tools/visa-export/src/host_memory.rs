//! Tensors in host memory.

use visa_ir::module::{OpRef, ValueId};
use visa_mapping::ops::func::{Func, signature};
use visa_mapping::{HOST, Tensor};

/// Returns true if a value is a tensor in host memory.
pub(crate) fn in_host_memory(op: OpRef<'_>, value: ValueId) -> bool {
    op.value(value).of_type::<Tensor>().is_ok_and(|tensor| tensor.is(&HOST))
}

/// Returns true if a function has tensors of the host.
pub(crate) fn has_host_tensors(func: Func<'_>) -> bool {
    let (arguments, results) = signature(*func);
    arguments.iter().chain(results).any(|&value| in_host_memory(*func, value))
}
