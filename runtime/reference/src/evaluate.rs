//! Runs a kernel at the tensor level, operation by operation, on tensors as functions.

use std::collections::{BTreeMap, HashMap};

use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpRef, ValueId};
use visa_ir::span::Span;
use visa_ir::verify::Analysis;
use visa_mapping::ArrayLayout;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::index::affine::Indices;
use visa_mapping::ops::func::{RETURN, signature};
use visa_mapping::ops::{control, number};
use visa_mapping::raise::function::{Raised, raise};
use visa_mapping::tensor::scalar::is_scalar;
use visa_numerics::{DType, SumOrder, load, store};

use crate::fast::{Allowed, Slack};
use crate::interface::{Kernel, Port};
use crate::layout::offset;
use crate::tensor::{Axis, Logical, element_count, saturated, unflatten};
use crate::values;

/// The machine's choices in a kernel's semantics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The order in which contractions add.
    pub sum_order: SumOrder,
    /// Computes the bounds of sums that are `free`: the values that they may have in any order.
    pub any_order: bool,
}

/// The arguments of a kernel, by the names of [`crate::interface`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelArguments {
    /// The elements of each argument in C order, little-endian.
    pub tensors: BTreeMap<String, Vec<u8>>,
    /// The number that each scalar is.
    pub scalars: BTreeMap<String, u64>,
}

impl From<BTreeMap<String, Vec<u8>>> for KernelArguments {
    fn from(tensors: BTreeMap<String, Vec<u8>>) -> Self {
        Self { tensors, scalars: BTreeMap::new() }
    }
}

/// A result of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogicalResult {
    /// `out`, or `out0`, `out1` and so on if there are several.
    pub name: String,
    /// Format of the elements.
    pub dtype: DType,
    /// Elements along each axis, outermost first.
    pub shape: Vec<u64>,
    /// The elements in C order, little-endian; an undefined one is zero.
    pub bytes: Vec<u8>,
    /// The defined elements, in C order; `None` if all are. No operation produced the others.
    pub defined: Option<Vec<bool>>,
    /// The values that a lowering may give.
    pub allowed: Allowed,
}

/// The results of a kernel of the memory or the tensor level: `entry` names it (without `@`), and may be left out
/// where the module has only one. A kernel of the memory level is raised first.
///
/// # Errors
/// If there is no such kernel, an argument is missing, has the wrong number of bytes or is no number that it may be, a
/// tensor is too large, or an operation has no semantics.
pub fn evaluate(
    ctx: &Context,
    module: &Module,
    entry: Option<&str>,
    given: &KernelArguments,
    options: Options,
) -> Result<Vec<LogicalResult>, Diagnostic> {
    let axes = DeclaredAxes::build(ctx, module).0;
    let kernel = Kernel::find(ctx, module, entry, &axes)?;
    let Raised { module, func } = raise(ctx, module, kernel.func)?;
    let func = module.op(ctx, func);
    let (arguments, results) = signature(func);
    let mut run = Run::new(&axes, options);
    let scalar = |value: &ValueId| is_scalar(ctx, module.ty(*value));
    let (scalars, tensors): (Vec<ValueId>, Vec<ValueId>) = arguments.iter().partition(|value| scalar(value));
    for ((port, bytes), value) in kernel.arguments.iter().zip(kernel.bind(&given.tensors)?).zip(tensors) {
        run.values.insert(value, argument(port, bytes, kernel.span)?);
    }
    let numbers = kernel.bind_scalars(&given.scalars)?;
    run.indices.extend(scalars.into_iter().zip(numbers).map(|(value, (_, number))| (value, number)));
    for &block in func.regions() {
        run.operations(func, block)?;
    }
    let array = |(port, &value): (&Port, &ValueId)| {
        let allowed = Allowed::of(run.slack.get(&value), |ends| result(port, ends, kernel.span))?;
        let value = run.values.get(&value).ok_or_else(|| func.error("C0", "a result has no value"))?;
        Ok(LogicalResult { allowed, ..result(port, value, kernel.span)? })
    };
    kernel.results.iter().zip(results).map(array).collect()
}

/// A function of the tensor level that is running.
pub(crate) struct Run<'a> {
    pub(crate) axes: &'a Axes,
    pub(crate) options: Options,
    pub(crate) values: HashMap<ValueId, Logical>,
    /// The bounds of the values that depend on a fast expression or on a sum in any order.
    pub(crate) slack: HashMap<ValueId, Slack>,
    /// The iterations of the loops that are running.
    pub(crate) indices: Indices,
}

impl<'a> Run<'a> {
    fn new(axes: &'a Axes, options: Options) -> Self {
        let (values, slack, indices) = (HashMap::new(), HashMap::new(), Indices::new());
        Self { axes, options, values, slack, indices }
    }

    /// The same run before some operation, with these values alone.
    pub(crate) fn with_values(&self, values: HashMap<ValueId, Logical>) -> Self {
        Self { values, indices: self.indices.clone(), ..Self::new(self.axes, self.options) }
    }

    /// Runs the operations of a block.
    fn operations(&mut self, around: OpRef<'_>, block: visa_ir::module::BlockId) -> Result<(), Diagnostic> {
        around.module.ops(block).iter().try_for_each(|&id| self.operation(around.other(id)))
    }

    fn operation(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        if op.is(&control::FOR) {
            return self.repeat(op);
        }
        if let Some(branch) = control::If::cast(op) {
            return self.branch(branch);
        }
        // An index is worked out where it is used, and an end is read by what it ends.
        if [&number::AFFINE, &number::SELECT, &control::YIELD, &RETURN].iter().any(|decl| op.is(decl)) {
            return Ok(());
        }
        let [result] = op.results() else { return Err(op.error("C0", "it has no result")) };
        self.forget(*result);
        let value = values::evaluate(self, op)?;
        self.values.insert(*result, value);
        if let Some(slack) = self.slack(op)? {
            self.slack.insert(*result, slack);
        }
        Ok(())
    }

    /// Runs a loop: each iteration on the results of the one before.
    fn repeat(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let Some(&body) = op.regions().first() else { return Ok(()) };
        let (carried, given) = (control::arguments(op), control::yielded(op));
        let times = control::times(control::For::of(op)?, self.axes)?;
        self.bind(carried, op.operands(), op)?;
        for index in 0..times {
            self.indices.extend(op.module.args(body).first().map(|&argument| (argument, index)));
            self.operations(op, body)?;
            self.bind(carried, given, op)?;
        }
        self.bind(op.results(), carried, op)
    }

    /// Runs a branch if its condition holds: else its values stay as they are.
    fn branch(&mut self, branch: control::If<'_>) -> Result<(), Diagnostic> {
        let op = *branch;
        let condition = number::condition(branch, self.axes)?;
        let overflow = || op.error("C0", "the number does not fit 64 bits");
        let bound = condition.at(&self.indices).ok_or_else(overflow)?;
        if !bound.holds(&self.indices).ok_or_else(overflow)? {
            return self.bind(op.results(), control::initial(op), op);
        }
        for &block in op.regions() {
            self.operations(op, block)?;
        }
        self.bind(op.results(), control::yielded(op), op)
    }

    /// Assigns values to others, all at once: an argument may be assigned to another one.
    fn bind(&mut self, values: &[ValueId], sources: &[ValueId], op: OpRef<'_>) -> Result<(), Diagnostic> {
        let known =
            |source| self.values.get(source).cloned().map(|known| (known, self.slack.get(source).cloned()));
        let known: Option<Vec<_>> = sources.iter().map(known).collect();
        let known = known.ok_or_else(|| op.error("C0", "a value is not known"))?;
        for (&value, (known, slack)) in values.iter().zip(known) {
            self.forget(value);
            self.values.insert(value, known);
            self.slack.extend(slack.map(|slack| (value, slack)));
        }
        Ok(())
    }

    fn forget(&mut self, value: ValueId) {
        self.values.remove(&value);
        self.slack.remove(&value);
    }
}

fn argument(port: &Port, bytes: &[u8], span: Span) -> Result<Logical, Diagnostic> {
    let extents = extents(&port.layout);
    let count = element_count(&extents, span)?;
    let axes = port.layout.dims.iter().zip(&extents);
    let axes = axes.map(|(&(id, _), &extent)| Axis { id, held: vec![true; extent] });
    // A skewed axis that the array has at 0 only states where the elements are.
    let still = port.still.iter().map(|&id| Axis { id, held: vec![true] });
    let axes = axes.chain(still).collect();
    let dtype = port.info.dtype;
    Ok(Logical::new(dtype, axes, (0..count).map(|at| load(dtype, bytes, at)).collect()))
}

/// The extents of the axes that the array counts.
fn extents(layout: &ArrayLayout) -> Vec<usize> {
    layout.dims.iter().map(|&(_, extent)| saturated(extent)).collect()
}

/// The array of a result: repeated along axes that the tensor does not depend on, undefined where nothing is held.
fn result(port: &Port, tensor: &Logical, span: Span) -> Result<LogicalResult, Diagnostic> {
    let extents = extents(&port.layout);
    let count = element_count(&extents, span)?;
    let ids = || port.layout.dims.iter().map(|&(id, _)| id);
    let strides = tensor.strides(ids());
    let held: Vec<Option<&Axis>> = ids().map(|id| tensor.axis(id)).collect();
    let dtype = port.info.dtype;
    let bytes = dtype.bytes(count as u64).and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(|| {
        let message =
            format!("the result `{}` takes no whole number of bytes: {count} of {dtype}", port.info.name);
        Diagnostic::error("result-size", span, message)
    })?;
    let mut bytes = vec![0; bytes];
    let mut defined = vec![false; count];
    let mut at = Vec::new();
    for (flat, defined) in defined.iter_mut().enumerate() {
        unflatten(flat, &extents, &mut at);
        let holds = |(axis, &coordinate): (&Option<&Axis>, &usize)| {
            axis.is_none_or(|axis| axis.held.get(coordinate).copied().unwrap_or(false))
        };
        *defined = held.iter().zip(&at).all(holds) && tensor.is_defined(offset(&strides, &at));
        if *defined {
            store(dtype, &mut bytes, flat, tensor.at(offset(&strides, &at)));
        }
    }
    let defined = defined.contains(&false).then_some(defined);
    let info = port.info.clone();
    Ok(LogicalResult { name: info.name, dtype, shape: info.shape, bytes, defined, allowed: Allowed::Same })
}
