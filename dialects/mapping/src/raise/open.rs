//! The types of a kernel with open clauses that depend on these.

use crate::tensor::{Dim, Tensor};
use std::collections::HashMap;
use visa_ir::module::{OpRef, ValueId};

/// The dimensions of values whose mappings depend on an open clause.
#[derive(Clone, Debug, Default)]
pub struct OpenTypes(HashMap<ValueId, Vec<Dim>>);

impl OpenTypes {
    /// Returns true if the type of a value states which elements it holds.
    #[must_use]
    pub fn is_explicit(&self, value: ValueId) -> bool {
        self.of(value).is_empty()
    }

    /// Returns true if an open clause decides that mapping of a value.
    #[must_use]
    pub fn is_open(&self, value: ValueId, dim: Dim) -> bool {
        self.of(value).contains(&dim)
    }

    /// Records the open dimensions of a value.
    pub(crate) fn insert(&mut self, value: ValueId, dims: Vec<Dim>) {
        self.0.insert(value, dims);
    }

    fn of(&self, value: ValueId) -> &[Dim] {
        self.0.get(&value).map_or(&[], Vec::as_slice)
    }

    /// The dimensions of a type of the operation `op` whose mappings depend on one of its clauses that were open, or
    /// on one of an operand's.
    pub(crate) fn of_type(&self, op: OpRef<'_>, tensor: &Tensor, opened: &[&str]) -> Vec<Dim> {
        let has = |dim: Dim| op.clauses().iter().any(|written| *written.name == *dim.name());
        // A switch in front of an open stream exchanges the contents of time and slices.
        let is_moved =
            |dim: Dim| dim == Dim::Slice && tensor.kind.stream && opened.contains(&Dim::Time.name());
        let is_open = |dim: &Dim| match has(*dim) {
            true => opened.contains(&dim.name()),
            false => is_moved(*dim) || self.takes_over(op, *dim),
        };
        tensor.kind.dims.iter().copied().filter(is_open).collect()
    }

    /// Returns true if an operand has an open mapping of that dimension; or, where none has the dimension, an open one
    /// of another: all that a memory holds becomes a packet.
    fn takes_over(&self, op: OpRef<'_>, dim: Dim) -> bool {
        let has_dim =
            |index: usize| op.operand_type::<Tensor>(index).is_some_and(|own| own.map(dim).is_some());
        let operands = op.operands().iter().enumerate();
        let with: Vec<ValueId> =
            operands.filter(|(index, _)| has_dim(*index)).map(|(_, &operand)| operand).collect();
        match with[..] {
            [] => op.operands().first().is_some_and(|&first| !self.is_explicit(first)),
            [..] => with.iter().any(|&operand| self.is_open(operand, dim)),
        }
    }
}
