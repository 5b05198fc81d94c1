//! The exported values that an operation may use.

use std::collections::HashMap;
use visa_ir::module::{OpRef, ValueId};

use crate::export::known::Known;
use crate::export::mlir::builder::{Builder, Val};
use crate::export::mlir::refusals::{Export, refuse};
use crate::export::mlir::shape::Shape;
use crate::export::mlir::value::Tensor;

/// The value of a kernel in MLIR.
#[derive(Clone)]
pub(crate) enum Exported<'c> {
    /// A value with elements.
    Tensor(Tensor<'c>),
    /// A number of type `index`: of a loop, or an argument.
    Index(Val<'c>),
}

/// The values before an operation, and the place where it is written.
pub(crate) struct Scope<'c, 'b> {
    pub(crate) builder: Builder<'c, 'b>,
    pub(crate) known: &'b Known<'b>,
    pub(crate) values: &'b HashMap<ValueId, Exported<'c>>,
}

impl<'c> Scope<'c, '_> {
    /// The tensor of a value.
    ///
    /// # Errors
    /// An index, or a value that was not exported.
    pub(crate) fn tensor(&self, op: OpRef<'_>, value: ValueId) -> Export<Tensor<'c>> {
        match self.values.get(&value) {
            Some(Exported::Tensor(tensor)) => Ok(tensor.clone()),
            Some(Exported::Index(_)) | None => Err(refuse(op, "an operand is no value of the tensor level")),
        }
    }

    /// The tensor of an operand.
    ///
    /// # Errors
    /// As of [`Scope::tensor`].
    pub(crate) fn operand(&self, op: OpRef<'_>, number: usize) -> Export<Tensor<'c>> {
        let value = op.operands().get(number);
        self.tensor(op, *value.ok_or_else(|| refuse(op, format!("it lacks operand {number}")))?)
    }

    /// The tensors of all operands.
    ///
    /// # Errors
    /// As of [`Scope::tensor`].
    pub(crate) fn operands(&self, op: OpRef<'_>) -> Export<Vec<Tensor<'c>>> {
        (0..op.operands().len()).map(|number| self.operand(op, number)).collect()
    }

    /// The number that a value is.
    ///
    /// # Errors
    /// A tensor, or a value that was not exported.
    pub(crate) fn index(&self, op: OpRef<'_>, value: ValueId) -> Export<Val<'c>> {
        match self.values.get(&value) {
            Some(Exported::Index(index)) => Ok(*index),
            Some(Exported::Tensor(_)) | None => Err(refuse(op, "an operand is no index")),
        }
    }

    /// The shape of the result.
    ///
    /// # Errors
    /// No result.
    pub(crate) fn shape(&self, op: OpRef<'_>) -> Export<Shape> {
        let result = op.results().first();
        self.known.shape(op, *result.ok_or_else(|| refuse(op, "it has no result"))?).cloned()
    }
}
