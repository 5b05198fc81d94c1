//! The shapes of the values of a function, before anything is written.

use std::collections::HashMap;
use visa_algebra::Axes;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::tensor::value::Value;

use crate::export::mlir::refusals::{Export, refuse};
use crate::export::mlir::shape::{Shape, value_type};

/// The axes of a module, and the shapes known so far.
pub(crate) struct Known<'a> {
    pub(crate) axes: &'a Axes,
    pub(crate) shapes: HashMap<ValueId, Shape>,
}

impl Known<'_> {
    /// The shape of a value.
    ///
    /// # Errors
    /// A value that no operation at the tensor level gives.
    pub(crate) fn shape(&self, op: OpRef<'_>, value: ValueId) -> Export<&Shape> {
        self.shapes.get(&value).ok_or_else(|| refuse(op, "an operand has no value of the tensor level"))
    }

    /// The shape of an operand.
    ///
    /// # Errors
    /// As of [`Known::shape`].
    pub(crate) fn operand(&self, op: OpRef<'_>, number: usize) -> Export<&Shape> {
        let value = op.operands().get(number);
        self.shape(op, *value.ok_or_else(|| refuse(op, format!("it lacks operand {number}")))?)
    }

    /// The shapes of all operands.
    ///
    /// # Errors
    /// As of [`Known::shape`].
    pub(crate) fn operands(&self, op: OpRef<'_>) -> Export<Vec<&Shape>> {
        (0..op.operands().len()).map(|number| self.operand(op, number)).collect()
    }

    /// The type of the result.
    ///
    /// # Errors
    /// No result, or one in a memory.
    pub(crate) fn result(&self, op: OpRef<'_>) -> Export<Value> {
        let result = op.results().first();
        value_type(op, *result.ok_or_else(|| refuse(op, "it has no result"))?)
    }
}
