//! Interfaces that operations implement and facts about modules ask for.

use visa_ir::module::{OpRef, ValueId};

/// Interface of operations whose results depend on every axis that their types mention, as arguments do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepsAxes;

/// Interface of operations with results that succeed operands: each such result with its operand.
pub struct Succeeds(pub fn(OpRef<'_>) -> Vec<(ValueId, ValueId)>);

/// The results of an operation that succeed operands, each with that operand.
pub(crate) fn succeeded(op: OpRef<'_>) -> Vec<(ValueId, ValueId)> {
    op.decl().and_then(|decl| decl.interface()).map_or_else(Vec::new, |Succeeds(of)| of(op))
}
