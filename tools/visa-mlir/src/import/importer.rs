//! A module that is being imported: the values so far, and the place that is being read.

use crate::import::emit::axes::{Axes, Axis};
use crate::import::emit::emitter::Emitter;
use crate::import::read::attributes::{Key, key, name};
use crate::import::read::place::{Origin, position};
use crate::import::read::resources::Resources;
use crate::import::read::types;
use crate::import::structure::Dims;
use crate::import::tensor::Tensor;
use melior::ir::Value;
use melior::ir::operation::{OperationLike as _, OperationRef};
use std::collections::{HashMap, HashSet};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_ir::words;

words! {
    /// The formats in which `f32` operands are multiplied.
    pub enum Precision {
        /// Operands round to `bf16`.
        Bf16 = "bf16",
        /// Operands are sums of two `bf16` numbers, of whose products the least is left out.
        Bf16x3 = "bf16x3",
    }
}

/// An array that a function takes or gives.
#[derive(Clone)]
pub(crate) struct Array {
    pub(crate) kind: types::Kind,
    pub(crate) shape: Vec<u64>,
    pub(crate) axes: Vec<Axis>,
}

/// An imported function.
#[derive(Clone)]
pub(crate) struct Signature {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Array>,
    pub(crate) results: Vec<Array>,
}

/// A module that is being imported.
pub(crate) struct Importer<'c, 's> {
    pub(crate) emit: Emitter<'c>,
    origin: &'s Origin<'s>,
    precision: Option<Precision>,
    dims: Dims,
    values: HashMap<Key, Tensor>,
    pub(crate) signatures: HashMap<String, Signature>,
    pub(crate) names: HashSet<String>,
    /// Iterations of loops so far.
    pub(crate) iterations: usize,
    /// The resources of the file, once a constant needs them.
    resources: Option<Resources>,
}

impl<'c, 's> Importer<'c, 's> {
    pub(crate) fn new(
        ctx: &'c Context,
        origin: &'s Origin<'s>,
        precision: Option<Precision>,
        (dims, axes): (Dims, Axes),
    ) -> Self {
        let (values, signatures, names) = (HashMap::new(), HashMap::new(), HashSet::new());
        Self {
            emit: Emitter::new(ctx, axes),
            origin,
            precision,
            dims,
            values,
            signatures,
            names,
            iterations: 0,
            resources: None,
        }
    }

    /// The finished module: its axes and functions.
    pub(crate) fn finish(self) -> (Module, Vec<(Axis, u64)>) {
        (self.emit.module, self.emit.axes.sizes)
    }

    /// Moves to an operation, which errors name.
    pub(crate) fn at(&mut self, op: OperationRef<'_, '_>) {
        (self.emit.span, self.emit.note) = self.origin.place(op.location());
        self.emit.operation = self.name(op);
    }

    /// The name of an operation, before it became a `linalg.generic`.
    pub(crate) fn name(&self, op: OperationRef<'_, '_>) -> String {
        let named = position(op.location()).and_then(|at| self.origin.named.get(&at));
        named.cloned().unwrap_or_else(|| name(op))
    }

    /// The resources of the file that an operation is of.
    pub(crate) fn resources(&mut self, op: OperationRef<'_, '_>) -> &Resources {
        self.resources.get_or_insert_with(|| Resources::of(op))
    }

    pub(crate) fn precision(&self) -> Option<Precision> {
        self.precision
    }

    /// Number of uses of a value.
    pub(crate) fn uses(&self, value: Key) -> usize {
        self.dims.uses.get(&value).copied().unwrap_or(0)
    }

    /// Returns true if something uses a result of an operation.
    pub(crate) fn is_used(&self, op: OperationRef<'_, '_>, result: usize) -> bool {
        op.result(result).is_ok_and(|result| self.uses(key(result)) > 0)
    }

    pub(crate) fn known(&self, value: Key) -> Option<&Tensor> {
        self.values.get(&value)
    }

    /// The tensor of an operand, whose dimensions may have several axes.
    ///
    /// # Errors
    /// A value that is not known.
    pub(crate) fn whole_operand(&self, op: OperationRef<'_, '_>, at: usize) -> Result<Tensor, Diagnostic> {
        let tensor = op.operand(at).ok().and_then(|operand| self.values.get(&key(operand)));
        tensor.cloned().ok_or_else(|| self.emit.refuse(format!("operand {at} is not known")))
    }

    /// The proposed axis, or a new one if a value has it already.
    pub(crate) fn free_axis(&mut self, proposed: Option<Axis>, size: u64, taken: &[Axis]) -> Axis {
        proposed.filter(|axis| !taken.contains(axis)).unwrap_or_else(|| self.emit.axes.fresh("D", size))
    }

    pub(crate) fn bind(&mut self, value: Key, tensor: Tensor) {
        self.values.insert(value, tensor);
    }

    /// The axes of an operation's loops.
    pub(crate) fn loop_axes(&mut self, op: Key) -> Vec<Option<Axis>> {
        let dims = self.dims.loops.get(&op).cloned().unwrap_or_default();
        dims.into_iter().map(|dim| dim.map(|dim| self.emit.axes.name(dim))).collect()
    }

    /// The proposed axis of each dimension of a value; `None` for one coordinate.
    pub(crate) fn value_axes(&mut self, value: Key) -> Vec<Option<Axis>> {
        let dims = self.dims.values.get(&value).cloned().unwrap_or_default();
        dims.into_iter().map(|dim| dim.map(|dim| self.emit.axes.name(dim))).collect()
    }
}

/// The first result of an operation, if it has one.
pub(crate) fn result_of<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    op.results().next().map(Value::from)
}
