//! Results that take the place of tensors that an operation is given.

use visa_ir::module::{OpRef, ValueId};

/// Interface of an operation some of whose results are what became of operands. It gives each of them with that
/// operand.
pub struct Succeeds(pub fn(OpRef<'_>) -> Vec<(ValueId, ValueId)>);

/// The results of an operation that are what became of operands, each with that operand.
pub(crate) fn succeeded(op: OpRef<'_>) -> Vec<(ValueId, ValueId)> {
    op.decl().and_then(|decl| decl.interface()).map_or_else(Vec::new, |Succeeds(of)| of(op))
}
