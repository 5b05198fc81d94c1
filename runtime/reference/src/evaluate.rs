//! Runs a kernel, operation by operation, on tensors as functions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use visa_mapping::ops::indexed::{Indexing, indexing};
use visa_mapping::ops::transfer::is_transfer;

use visa_algebra::{Axes, AxisId, Expr};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::{Module, OpRef, ValueId};
use visa_ir::span::Span;
use visa_ir::verify::Analysis;
use visa_mapping::error::mapping_error;
use visa_mapping::expression::Dag;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::index::affine::Indices;
use visa_mapping::ops::func::signature;
use visa_mapping::ops::to_tile::TileWrite;
use visa_mapping::ops::{call, chip_shuffle, control, empty, number, to_tile};
use visa_mapping::tensor::scalar::SCALAR;
use visa_mapping::view::{Semantics as View, ViewKind};
use visa_mapping::{ArrayLayout, Dim, Tensor};
use visa_numerics::{
    Bits, DType, Guards, LookupTable, ReduceOp, SumOrder, engine_cast, fetch_cast, load, pattern, store,
    subtract_zero_point, to_f64,
};
use visa_stream::adapter::Adapter;
use visa_stream::branch::{BranchMode, GROUP_BIT};
use visa_stream::chain::{coarse, coarse_in_places};
use visa_stream::semantics::{ContractionKind, Function, Reduced, Semantics, Zip};

use crate::contraction::{Contraction, Pair};
use crate::coverage::Coverage;
use crate::fast::{Allowed, Slack};
use crate::interface::{Kernel, Port};
use crate::layout::offset;
use crate::packing::{Kept, Packing};
use crate::reduce::Reduction;
use crate::running::{self, Running};
use crate::slices::Slices;
use crate::sum::contract;
use crate::tensor::{Axis, Logical, element_count, saturated, unflatten, union, union_axes};
use crate::{shuffle, view};

/// The machine's choices in a kernel's semantics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The order in which contractions add.
    pub sum_order: SumOrder,
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

/// The results of a kernel: `entry` names it (without `@`), and may be left out where the module has only one.
///
/// # Errors
/// If there is no such kernel, an argument is missing, has the wrong number of bytes or is no number that it may be, a
/// tensor is too large, or an operation has no logical meaning.
pub fn evaluate(
    ctx: &Context,
    module: &Module,
    entry: Option<&str>,
    given: &KernelArguments,
    options: Options,
) -> Result<Vec<LogicalResult>, Diagnostic> {
    let axes = DeclaredAxes::build(ctx, module).0;
    let kernel = Kernel::find(ctx, module, entry, &axes)?;
    let mut run = Run::new(&axes, options);
    for (port, bytes) in kernel.arguments.iter().zip(kernel.bind(&given.tensors)?) {
        run.values.insert(port.value, Value::Tensor(argument(port, bytes, kernel.span)?));
    }
    run.indices.extend(kernel.bind_scalars(&given.scalars)?);
    for &id in &kernel.ops {
        run.operation(module.op(ctx, id), 0)?;
    }
    kernel
        .results
        .iter()
        .map(|port| {
            let allowed = Allowed::of(run.slack.get(&port.value), |ends| result(port, ends, kernel.span))?;
            Ok(LogicalResult {
                allowed,
                ..result(port, run.tensor_of(port.value, kernel.span)?, kernel.span)?
            })
        })
        .collect()
}

/// A value of the kernel. Products and partial sums are not stored: they exist in their sum only.
#[derive(Clone)]
pub(crate) enum Value {
    Tensor(Logical),
    Pair(Rc<Pair>),
    /// The pair and the type of its sums within each packet, or of its maxima.
    Sums(Rc<Pair>, Rc<Tensor>, ContractionKind),
}

pub(crate) struct Run<'a> {
    pub(crate) axes: &'a Axes,
    options: Options,
    pub(crate) values: HashMap<ValueId, Value>,
    /// The execution ids of a stream in the vector engine; all are 0 if there are none.
    pub(crate) ids: HashMap<ValueId, Logical>,
    /// The bounds of the values that depend on a fast expression.
    pub(crate) slack: HashMap<ValueId, Slack>,
    /// The iterations of the loops that are running.
    pub(crate) indices: Indices,
}

impl<'a> Run<'a> {
    fn new(axes: &'a Axes, options: Options) -> Self {
        Self {
            axes,
            options,
            values: HashMap::new(),
            ids: HashMap::new(),
            slack: HashMap::new(),
            indices: Indices::new(),
        }
    }

    /// The same run before some operation, with nothing known yet but the execution ids.
    pub(crate) fn with_values(&self, values: HashMap<ValueId, Value>) -> Self {
        Self {
            values,
            ids: self.ids.clone(),
            indices: self.indices.clone(),
            ..Self::new(self.axes, self.options)
        }
    }
}

/// Most functions that are running at the same time, each called by the one before.
const MAX_CALL_DEPTH: usize = 128;

impl Run<'_> {
    /// Runs an operation.
    fn operation(&mut self, op: OpRef<'_>, depth: usize) -> Result<(), Diagnostic> {
        if call::calling(op).is_some() {
            return self.call(op, depth + 1);
        }
        if op.is(&control::FOR) {
            return self.repeat(op, depth);
        }
        if let Some(branch) = control::If::cast(op) {
            return self.branch(branch, depth);
        }
        if op.is(&number::AFFINE) || op.is(&number::SELECT) {
            // An index is worked out where it is used.
            return Ok(());
        }
        if let [result] = op.results() {
            // A function that is called again forgets its result of the last time.
            self.forget(*result);
            if let Some(ids) = self.ids(op)? {
                self.ids.insert(*result, ids);
            }
            let value = self.value(op)?;
            self.values.insert(*result, value);
            if let Some(slack) = self.slack(op)? {
                self.slack.insert(*result, slack);
            }
        }
        Ok(())
    }

    /// Runs a function on tensors of the caller: its arguments are these tensors, its results the caller's.
    fn call(&mut self, op: OpRef<'_>, depth: usize) -> Result<(), Diagnostic> {
        if depth > MAX_CALL_DEPTH {
            return Err(op.error("C0", format!("more than {MAX_CALL_DEPTH} functions call one another")));
        }
        let callee = call::callee(op)?;
        let (arguments, results) = signature(callee);
        let given = arguments.iter().copied().zip(op.operands().iter().copied());
        let is_scalar = |value: &ValueId| op.ctx.type_name(op.module.ty(*value)) == SCALAR.name;
        let (numbers, tensors): (Vec<_>, Vec<_>) = given.partition(|(argument, _)| is_scalar(argument));
        let numbers = numbers.into_iter().map(|(argument, value)| Ok((argument, self.number(op, value)?)));
        let numbers: Vec<(ValueId, u64)> = numbers.collect::<Result<_, Diagnostic>>()?;
        self.indices.extend(numbers);
        let (arguments, operands): (Vec<_>, Vec<_>) = tensors.into_iter().unzip();
        self.bind(&arguments, &operands, op)?;
        for &id in callee.regions().iter().flat_map(|&block| op.module.ops(block)) {
            self.operation(op.other(id), depth)?;
        }
        self.bind(op.results(), results, op)
    }

    /// The value of an index or a scalar in the current iteration.
    fn number(&self, op: OpRef<'_>, value: ValueId) -> Result<u64, Diagnostic> {
        let numbers = number::number(op, value, self.axes)?;
        let number = numbers.at(&self.indices).and_then(|number| number.at(&self.indices));
        let number = number.and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| op.error("C2", "a number is negative, or does not fit 64 bits"))
    }

    /// Runs a loop: each iteration on the results of the one before.
    fn repeat(&mut self, op: OpRef<'_>, depth: usize) -> Result<(), Diagnostic> {
        let Some(&body) = op.regions().first() else { return Ok(()) };
        let (carried, given) = (control::arguments(op), control::yielded(op));
        let times = control::times(control::For::of(op)?, self.axes)?;
        self.bind(carried, op.operands(), op)?;
        for index in 0..times {
            self.indices.extend(op.module.args(body).first().map(|&argument| (argument, index)));
            for &id in op.module.ops(body) {
                self.operation(op.other(id), depth)?;
            }
            self.bind(carried, given, op)?;
        }
        self.bind(op.results(), carried, op)
    }

    /// Runs a branch if its condition holds: else its tensors keep their values.
    fn branch(&mut self, branch: control::If<'_>, depth: usize) -> Result<(), Diagnostic> {
        let op = *branch;
        let condition = number::condition(branch, self.axes)?;
        let overflow = || op.error("C0", "the number does not fit 64 bits");
        let bound = condition.at(&self.indices).ok_or_else(overflow)?;
        if !bound.holds(&self.indices).ok_or_else(overflow)? {
            return self.bind(op.results(), control::initial(op), op);
        }
        for &id in op.regions().iter().flat_map(|&block| op.module.ops(block)) {
            self.operation(op.other(id), depth)?;
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
        self.ids.remove(&value);
        self.slack.remove(&value);
    }

    /// The result of an operation.
    pub(crate) fn value(&self, op: OpRef<'_>) -> Result<Value, Diagnostic> {
        let to = op.result_type::<Tensor>(0).ok_or_else(|| op.error("C0", "the result is no tensor"))?;
        if let Some(kind) = visa_mapping::view::kind(op) {
            return self.view(op, kind, &to).map(Value::Tensor);
        }
        match indexing(op) {
            Some(Indexing::Gather) => return self.gathered(op, &to).map(Value::Tensor),
            Some(Indexing::Scatter) => return self.scattered(op, &to).map(Value::Tensor),
            None => {}
        }
        if op.is(&empty::EMPTY) {
            return Ok(Value::Tensor(Logical::partial(to.dtype, Vec::new(), vec![0], vec![false])));
        }
        if let Some(write) = TileWrite::cast(op) {
            return self.tiled(write, &to).map(Value::Tensor);
        }
        if op.is(&chip_shuffle::CHIP_SHUFFLE) {
            let shuffle = chip_shuffle::shuffle(op, self.axes)?;
            let held = Coverage::new(&to, self.axes, op.span())?;
            return shuffle::shuffled(&self.held(op, 0, &to)?, &shuffle, &held, self.axes, op.span())
                .map(Value::Tensor);
        }
        Ok(match meaning(op)? {
            Semantics::Same => Value::Tensor(converted(op, self.held(op, 0, &to)?, to.dtype)?),
            Semantics::Reinterpret => Value::Tensor(self.held(op, 0, &to)?.map(to.dtype, |bits| bits)),
            Semantics::Constant(bits) => Value::Tensor(Logical::new(to.dtype, Vec::new(), vec![bits(op)?])),
            Semantics::Fetch(adapter) => Value::Tensor(self.fetched(op, &to, &adapter(op)?)?),
            Semantics::Pack(filter) => Value::Tensor(self.packed(op, &to, filter(op)?)?),
            Semantics::Ids => Value::Tensor(self.logged(op, &to)?),
            Semantics::Interleave(axis) => Value::Tensor(self.interleaved(op, &to, &axis(op)?)?),
            Semantics::Pair => {
                let (left, right) = (self.factor(op, 0, &to)?, self.factor(op, 1, &to)?);
                Value::Pair(Rc::new(Pair { left, right, tensor: to }))
            }
            Semantics::SumPacket(reduction) => match self.operand(op, 0)? {
                Value::Pair(pair) => Value::Sums(Rc::clone(pair), to, reduction(op)?),
                Value::Tensor(_) | Value::Sums(..) => {
                    return Err(op.error("C0", "the operand is no pair of tensors"));
                }
            },
            Semantics::SumTime => match self.operand(op, 0)? {
                Value::Sums(pair, sums, reduction) => {
                    let (axes, span) = (self.axes, op.span());
                    let contraction =
                        Contraction { pair, sums, reduction: *reduction, result: &to, axes, span };
                    Value::Tensor(contract(&contraction, self.options.sum_order)?)
                }
                Value::Tensor(_) | Value::Pair(_) => {
                    return Err(op.error("C0", "the operand is no partial sums"));
                }
            },
            Semantics::Overwrite(part) => {
                let part = part(op)?;
                let tensors = [self.held(op, 0, &part)?, self.held(op, 1, &to)?];
                Value::Tensor(self.overwritten(op, &to, &part, tensors)?)
            }
            Semantics::OverwriteWith(replaced) => {
                let (part, bits) = replaced(op)?;
                let number = Logical::new(to.dtype, Vec::new(), vec![bits]);
                Value::Tensor(self.overwritten(op, &to, &part, [number, self.held(op, 0, &to)?])?)
            }
            Semantics::ReduceSlices(reduction) => {
                Value::Tensor(self.slices_reduced(op, &to, reduction(op)?)?)
            }
            Semantics::Elementwise(function) => Value::Tensor(self.elementwise(op, &to, &function(op)?)?),
            Semantics::Expression(dag) => Value::Tensor(self.expression(op, &to, &dag(op)?)?),
            Semantics::Zip(zip) => Value::Tensor(self.zipped(op, &to, &zip(op)?)?),
            Semantics::Branch(_) => Value::Tensor(self.with_ids(op, &to)?),
            Semantics::Reduce(reduced) => Value::Tensor(self.reduced(op, &to, reduced(op, self.axes)?)?),
        })
    }

    /// A view: the operand under the indices of the result.
    fn view(&self, op: OpRef<'_>, kind: ViewKind, to: &Tensor) -> Result<Logical, Diagnostic> {
        let Some(&source) = op.operands().first() else {
            return Err(op.error("C0", format!("`{}` lacks operand 0", op)));
        };
        let source = self.tensor_of(source, op.span())?;
        let span = op.span();
        let coverage = Coverage::new(to, self.axes, span)?;
        let seen = match visa_mapping::view::meaning(op, kind, self.axes, &self.indices)? {
            View::Same => source.clone(),
            View::Shifted(shift) => view::shifted(source, &shift, &coverage, span)?,
            View::Renamed(pairs) => view::renamed(source, &pairs, span)?,
            View::Relabelled(pairs) => pairs.iter().try_fold(source.clone(), |tensor, (old, new)| {
                view::relabelled(&tensor, old, new, self.axes, span)
            })?,
        };
        seen.narrow(&coverage, span)
    }

    /// The tensor with a tile of it replaced, whose coordinates are counted from the tile's first.
    fn tiled(&self, op: TileWrite<'_>, to: &Tensor) -> Result<Logical, Diagnostic> {
        let tiles = to_tile::tile(op, self.axes)?;
        let tile =
            tiles.at(&self.indices).ok_or_else(|| op.error("C3", "no tile is there in this iteration"))?;
        let shift = tile.shift(&tile.at(&self.indices)?)?;
        let part = to_tile::part(op, self.axes)?;
        let (new, old) = (self.held(*op, 0, &part)?, self.held(*op, 1, to)?);
        let span = op.span();
        let (part, whole) = (Coverage::new(&part, self.axes, span)?, Coverage::new(to, self.axes, span)?);
        // Along an axis that neither has, the result differs only where the tile begins or ends.
        let cut = |&id: &AxisId| {
            let size = saturated(self.axes.size(id));
            shift.get(id) > 0 || part.held(id, size) != whole.held(id, size)
        };
        let own = old.axes.iter().chain(&new.axes).map(|axis| axis.id).chain(whole.axes().filter(cut));
        let own: BTreeSet<_> = own.collect();
        let axis = |id| Axis { id, held: whole.held(id, saturated(self.axes.size(id))) };
        let axes: Vec<Axis> = own.into_iter().map(axis).collect();
        // Of each axis, where the tile begins, and which of its coordinates it holds.
        let first: Vec<usize> = axes.iter().map(|axis| saturated(shift.get(axis.id))).collect();
        let inside = |axis: &Axis| Axis { id: axis.id, held: part.held(axis.id, axis.held.len()) };
        let inside: Vec<Axis> = axes.iter().map(inside).collect();
        let (news, olds) = (new.under(&inside), old.under(&axes));
        Logical::where_defined(to.dtype, axes.clone(), span, |at| {
            let own = at.iter().zip(&first).zip(&inside).map(|((&at, &first), axis)| {
                at.checked_sub(first).filter(|at| axis.held.get(*at) == Some(&true))
            });
            match own.collect::<Option<Vec<usize>>>() {
                Some(own) => news.get(&own),
                None => olds.get(at),
            }
        })
    }

    /// The new tensor where `part` holds the element, the old one where it does not.
    fn overwritten(
        &self,
        op: OpRef<'_>,
        to: &Tensor,
        part: &Tensor,
        [new, old]: [Logical; 2],
    ) -> Result<Logical, Diagnostic> {
        let span = op.span();
        let (part, whole) = (Coverage::new(part, self.axes, span)?, Coverage::new(to, self.axes, span)?);
        let mut axes = old.axes.clone();
        // Along an axis along which the old tensor is the same everywhere, the result differs where the new one does,
        // or where the part ends.
        for id in part.axes().chain(new.axes.iter().map(|axis| axis.id)) {
            let held = whole.held(id, saturated(self.axes.size(id)));
            let differs = new.axis(id).is_some() || part.held(id, held.len()) != held;
            if differs && axes.iter().all(|axis| axis.id != id) {
                axes.push(Axis { id, held });
            }
        }
        for axis in &mut axes {
            axis.held = whole.held(axis.id, saturated(self.axes.size(axis.id)));
        }
        let inside: Vec<Vec<bool>> = axes.iter().map(|axis| part.held(axis.id, axis.held.len())).collect();
        let (news, olds) = (new.under(&axes), old.under(&axes));
        Logical::where_defined(to.dtype, axes.clone(), span, |at| {
            match inside.iter().zip(at).all(|(held, &coordinate)| held[coordinate]) {
                true => news.get(at),
                false => olds.get(at),
            }
        })
    }

    /// Operand 0, each element looked up, converted, and its zero point subtracted.
    fn fetched(&self, op: OpRef<'_>, to: &Tensor, adapter: &Adapter) -> Result<Logical, Diagnostic> {
        let mut tensor = self.held(op, 0, to)?;
        if let Some(table) = &adapter.table {
            self.check_indices(op, &tensor, table)?;
            let from = tensor.dtype;
            // Elements that are still outside the table are undefined, and stay so.
            tensor = tensor.map(table.to, |bits| table.get(from, bits).unwrap_or(0));
        }
        let tensor = converted(op, tensor, to.dtype)?;
        if adapter.zero.is_empty() {
            return Ok(tensor);
        }
        // One zero point is for all coordinates.
        let axis = adapter.axis.as_deref().filter(|_| adapter.zero.len() > 1);
        let axis = axis.and_then(|name| self.axes.id(name));
        let at = axis.and_then(|id| tensor.axes.iter().position(|axis| axis.id == id));
        if at.is_some_and(|at| tensor.axes[at].held.len() > adapter.zero.len()) {
            return Err(op.error("C0", "there is no zero point for each coordinate"));
        }
        let strides = tensor.strides(tensor.axes.iter().map(|axis| axis.id));
        Logical::where_defined(to.dtype, tensor.axes.clone(), op.span(), |index| {
            let which = at.map_or(0, |at| index[at]);
            let bits = tensor.element(offset(&strides, index))?;
            Some(subtract_zero_point(to.dtype, bits, adapter.zero[which]))
        })
    }

    /// Every element of the tensor has an entry in the table.
    fn check_indices(&self, op: OpRef<'_>, tensor: &Logical, table: &LookupTable) -> Result<(), Diagnostic> {
        let outside = |&bits: &Bits| table.get(tensor.dtype, bits).is_none();
        let mut at = Vec::new();
        for (flat, &bits) in tensor.elements().iter().enumerate().filter(|(_, bits)| outside(bits)) {
            if !tensor.locate(flat, &mut at) || !tensor.is_defined(flat) {
                continue;
            }
            let names = tensor.axes.iter().map(|axis| self.axes.name(axis.id));
            let index: Vec<String> = names.zip(&at).map(|(name, at)| format!("{name} = {at}")).collect();
            let (value, entry) = (to_f64(tensor.dtype, bits), pattern(tensor.dtype, bits));
            let place = if index.is_empty() { String::new() } else { format!(" at {}", index.join(", ")) };
            let count = table.entries.len();
            let message = format!(
                "the element{place} is {value}, index {entry}, outside the table of {}",
                counted(count, "value")
            );
            return Err(Diagnostic::error("outside-table", op.clause_span("table"), message));
        }
        Ok(())
    }

    /// The preserved elements of operand 0, by the counts in operand 1 or by a filter's guards.
    fn packed(
        &self,
        op: OpRef<'_>,
        to: &Tensor,
        filter: Option<Guards<Bits>>,
    ) -> Result<Logical, Diagnostic> {
        let lacking = || op.error("C0", "an operand is no tensor");
        let stream = op.operand_type::<Tensor>(0).ok_or_else(lacking)?;
        let tensor = self.held(op, 0, &stream)?;
        let kept = match filter {
            Some(guards) => {
                let ids = op.operands().first().and_then(|stream| self.ids.get(stream)).cloned();
                Kept::Where(ids.unwrap_or_else(no_ids), guards)
            }
            None => Kept::Counted(self.held(op, 1, &*op.operand_type::<Tensor>(1).ok_or_else(lacking)?)?),
        };
        let element = to.dim(Dim::Element);
        let Expr::Axis(name) = &element else {
            return Err(op.clause_error("C4", "element", format!("`{element}` is no axis")));
        };
        let onto = self.axes.resolve(name).map_err(|error| mapping_error(error, op.span()))?;
        Packing { stream: &stream, kept: &kept, onto, axes: self.axes, span: op.span() }.pack(&tensor)
    }

    /// Operand 0 at the first coordinate along the axis called `name`, operand 1 at the second.
    fn interleaved(&self, op: OpRef<'_>, to: &Tensor, name: &str) -> Result<Logical, Diagnostic> {
        let id = self.axes.resolve(name).map_err(|error| mapping_error(error, op.span()))?;
        let (first, second) = (self.held(op, 0, to)?, self.held(op, 1, to)?);
        let mut axes = union(&first, &second);
        axes.push(Axis { id, held: vec![true; 2] });
        let (first, second) = (first.under(&axes), second.under(&axes));
        Logical::where_defined(to.dtype, axes.clone(), op.span(), |at| match at.last() {
            Some(0) => first.get(at),
            Some(_) | None => second.get(at),
        })
    }

    /// Operand 0, reduced along the slices that the result lacks.
    fn slices_reduced(
        &self,
        op: OpRef<'_>,
        to: &Tensor,
        reduction: &ReduceOp,
    ) -> Result<Logical, Diagnostic> {
        let source =
            op.operand_type::<Tensor>(0).ok_or_else(|| op.error("C0", "the operand is no tensor"))?;
        let tensor = self.held(op, 0, &source)?;
        Slices { source: &source, result: to, axes: self.axes, span: op.span() }.reduce(&tensor, reduction)
    }

    /// A function of each element; where no guard holds for its execution id, the element itself.
    fn elementwise(&self, op: OpRef<'_>, to: &Tensor, function: &Function) -> Result<Logical, Diagnostic> {
        let left = self.held(op, 0, to)?;
        if function.write_back.is_some() {
            return self.running(op, to, function, &left);
        }
        let rights = (1..op.operands().len())
            .map(|index| self.value_of(op, index, to))
            .collect::<Result<Vec<_>, _>>()?;
        let conditional = function.guards.is_some();
        let ids = op.operands().first().and_then(|stream| self.ids.get(stream)).filter(|_| conditional);
        let axes = rights.iter().chain(ids).fold(left.axes.clone(), union_axes);
        let (left, ids) = (left.under(&axes), ids.map(|ids| ids.under(&axes)));
        let rights: Vec<_> = rights.iter().map(|right| right.under(&axes)).collect();
        Logical::where_defined(to.dtype, axes.clone(), op.span(), |at| {
            let id = ids.as_ref().map_or(Some(0), |ids| ids.get(at))? as u8;
            let value = |number: usize| {
                rights
                    .get(number)
                    .expect("the verifier wants an operand for each value that is no constant")
                    .get(at)
            };
            running::result(function, left.get(at)?, id, value)
        })
    }

    /// An operand of the vector engine: the content of a register file for a block is that of all of the block.
    fn value_of(&self, op: OpRef<'_>, index: usize, to: &Tensor) -> Result<Logical, Diagnostic> {
        let held = self.held(op, index, to)?;
        let Some(file) = op.operand_type::<Tensor>(index).filter(|own| !own.kind.stream) else {
            return Ok(held);
        };
        self.spread_over(op, held, coarse(&file, self.axes), to)
    }

    /// A function of one element of each operand.
    fn expression(&self, op: OpRef<'_>, to: &Tensor, dag: &Dag) -> Result<Logical, Diagnostic> {
        let operands = (0..op.operands().len()).map(|index| self.value_of(op, index, to));
        self.of_each(op, to, &operands.collect::<Result<Vec<_>, _>>()?, |elements| {
            dag.eval(elements).expect("the verifier reads the expression with these operands")
        })
    }

    /// A function of one element of each of `tensors`.
    pub(crate) fn of_each(
        &self,
        op: OpRef<'_>,
        to: &Tensor,
        tensors: &[Logical],
        function: impl Fn(&[Bits]) -> Bits + Sync,
    ) -> Result<Logical, Diagnostic> {
        let axes = tensors.iter().fold(Vec::new(), union_axes);
        let tensors: Vec<_> = tensors.iter().map(|tensor| tensor.under(&axes)).collect();
        Logical::where_defined(to.dtype, axes.clone(), op.span(), |at| {
            let elements: Option<Vec<Bits>> = tensors.iter().map(|tensor| tensor.get(at)).collect();
            elements.map(|elements| function(&elements))
        })
    }

    /// An elementwise function whose results replace elements of the register file that later packets read.
    fn running(
        &self,
        op: OpRef<'_>,
        to: &Tensor,
        function: &Function,
        left: &Logical,
    ) -> Result<Logical, Diagnostic> {
        let lacking = || op.error("C0", "there is no register file");
        let file = op.operand_type::<Tensor>(1).ok_or_else(lacking)?;
        let ids =
            op.operands().first().and_then(|stream| self.ids.get(stream)).cloned().unwrap_or_else(no_ids);
        let initial = self.held(op, 1, to)?;
        Running { stream: to, file: &file, function, ids: &ids, axes: self.axes, span: op.span() }
            .run(left, &initial)
    }

    /// Operand 0 at the first coordinate along the axis of the groups, with the same at the second.
    fn zipped(&self, op: OpRef<'_>, to: &Tensor, zip: &Zip) -> Result<Logical, Diagnostic> {
        let lacking = || op.error("C0", "the operand is no tensor");
        let source = op.operand_type::<Tensor>(0).ok_or_else(lacking)?;
        let pair = self.held(op, 0, &source)?;
        let group = self.axes.resolve(&zip.axis).map_err(|error| mapping_error(error, op.span()))?;
        let axes: Vec<Axis> = pair.axes.iter().filter(|axis| axis.id != group).cloned().collect();
        let both: Vec<Axis> = axes.iter().cloned().chain([Axis { id: group, held: vec![true; 2] }]).collect();
        let pair = pair.under(&both);
        let Function { apply, mode, .. } = &zip.function;
        let zipped = Logical::where_defined(to.dtype, axes, op.span(), |at| {
            let of = |group: usize| pair.get(&[at, &[group]].concat());
            Some(apply.eval(*mode, of(0)?, [of(1)?, 0]))
        })?;
        zipped.narrow(&Coverage::new(to, self.axes, op.span())?, op.span())
    }

    /// The execution ids of the result of `op`: new ones, or those of its stream.
    fn ids(&self, op: OpRef<'_>) -> Result<Option<Logical>, Diagnostic> {
        let Some(to) = op.result_type::<Tensor>(0).filter(|to| to.kind.stream) else { return Ok(None) };
        let mode = match op.decl().and_then(|decl| decl.interface::<Semantics>()) {
            Some(Semantics::Branch(mode)) => mode(op)?,
            // One element of several has none of their ids.
            Some(Semantics::Reduce(_)) => return Ok(None),
            Some(_) | None => {
                let before = op.operands().first().and_then(|stream| self.ids.get(stream));
                let Some(ids) = before else { return Ok(None) };
                return ids.narrow(&Coverage::new(&to, self.axes, op.span())?, op.span()).map(Some);
            }
        };
        let of_elements =
            |of: &(dyn Fn(DType, Bits) -> Bits + Sync), index: usize| -> Result<Logical, Diagnostic> {
                let tensor = self.held(op, index, &to)?;
                Ok(tensor.map(DType::I32, |bits| of(tensor.dtype, bits)))
            };
        Ok(match mode {
            BranchMode::Unconditional => None,
            BranchMode::ValidCount => Some(Logical::new(DType::I32, Vec::new(), vec![1])),
            BranchMode::Comparison(list) => Some(of_elements(&|dtype, bits| list.id(dtype, bits).into(), 0)?),
            BranchMode::RegisterFile => Some(of_elements(&|_, bits| bits & 15, 1)?),
            BranchMode::AxisToggle(name) => {
                let id = self.axes.resolve(&name).map_err(|error| mapping_error(error, op.span()))?;
                let extent = saturated(self.axes.size(id));
                let axis = Axis { id, held: vec![true; element_count(&[extent], op.span())?] };
                let groups = (0..extent).map(|coordinate| (coordinate as Bits % 2) << GROUP_BIT).collect();
                Some(Logical::new(DType::I32, vec![axis], groups))
            }
        })
    }

    /// The execution ids of operand 0, where its elements are.
    fn logged(&self, op: OpRef<'_>, to: &Tensor) -> Result<Logical, Diagnostic> {
        let tensor = self.held(op, 0, to)?;
        let ids =
            op.operands().first().and_then(|stream| self.ids.get(stream)).cloned().unwrap_or_else(no_ids);
        let axes = union(&tensor, &ids);
        let ids = ids.under(&axes);
        Logical::where_defined(DType::I32, axes.clone(), op.span(), |at| ids.get(at))
    }

    /// Operand 0, where its execution ids, those of the result, are defined.
    fn with_ids(&self, op: OpRef<'_>, to: &Tensor) -> Result<Logical, Diagnostic> {
        let tensor = self.held(op, 0, to)?;
        let Some(ids) = op.results().first().and_then(|result| self.ids.get(result)) else {
            return Ok(tensor);
        };
        let axes = union(&tensor, ids);
        let (tensor, ids) = (tensor.under(&axes), ids.under(&axes));
        Logical::where_defined(to.dtype, axes.clone(), op.span(), |at| {
            ids.get(at).and_then(|_| tensor.get(at))
        })
    }

    /// Operand 0 without the part of an axis that time and packet hold.
    fn reduced(&self, op: OpRef<'_>, to: &Tensor, reduced: Reduced) -> Result<Logical, Diagnostic> {
        let stream =
            op.operand_type::<Tensor>(0).ok_or_else(|| op.error("C0", "the operand is no stream"))?;
        let tensor = self.held(op, 0, &stream)?;
        Reduction { reduced, stream: &stream, to, axes: self.axes, span: op.span() }.evaluate(&tensor)
    }

    fn operand(&self, op: OpRef<'_>, index: usize) -> Result<&Value, Diagnostic> {
        let value = op.operands().get(index).and_then(|value| self.values.get(value));
        value.ok_or_else(|| op.error("C0", format!("`{}` lacks operand {index}", op)))
    }

    /// The part of an operand that the type `to` holds.
    pub(crate) fn held(&self, op: OpRef<'_>, index: usize, to: &Tensor) -> Result<Logical, Diagnostic> {
        match self.operand(op, index)? {
            Value::Tensor(tensor) => tensor.narrow(&Coverage::new(to, self.axes, op.span())?, op.span()),
            Value::Pair(_) | Value::Sums(..) => Err(op.error("C0", "the operand is no tensor")),
        }
    }

    /// An operand of a product, with all that both its type and that of the product hold: the rest is undefined.
    fn factor(&self, op: OpRef<'_>, index: usize, to: &Tensor) -> Result<Logical, Diagnostic> {
        let lacking = || op.error("C0", format!("operand {index} is no tensor"));
        let own = op.operand_type::<Tensor>(index).ok_or_else(lacking)?;
        let both = [&*own, to].map(|tensor| Coverage::new(tensor, self.axes, op.span()));
        let [own, product] = both;
        let (own, product) = (own?, product?);
        let held = |axis: &Axis| {
            let size = saturated(self.axes.size(axis.id)).max(axis.held.len());
            let both = own.held(axis.id, size).into_iter().zip(product.held(axis.id, size));
            own.mentions(axis.id).then(|| both.map(|(own, product)| own && product).collect())
        };
        let tensor = self.held(op, index, to)?;
        // The values that a file holds for a place alone are those of everything that the place computes.
        let file = op.operand_type::<Tensor>(index).filter(|own| !own.kind.stream);
        let tensor = match file {
            Some(file) => self.spread_over(op, tensor, coarse_in_places(&file, self.axes), to)?,
            None => tensor,
        };
        tensor.filled(held, op.span())
    }

    /// A tensor that holds one element for all coordinates up to the next multiple of a number, with all of those that
    /// a type holds.
    fn spread_over(
        &self,
        op: OpRef<'_>,
        tensor: Logical,
        coarse: Vec<(AxisId, u64)>,
        to: &Tensor,
    ) -> Result<Logical, Diagnostic> {
        coarse.into_iter().try_fold(tensor, |held, (axis, step)| {
            held.spread(axis, saturated(step), saturated(self.axes.size(axis)), op.span())?
                .narrow(&Coverage::new(to, self.axes, op.span())?, op.span())
        })
    }

    pub(crate) fn tensor_of(&self, value: ValueId, span: Span) -> Result<&Logical, Diagnostic> {
        match self.values.get(&value) {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            Some(Value::Pair(_) | Value::Sums(..)) | None => {
                Err(Diagnostic::error("no-meaning", span, "a result of the kernel is no tensor"))
            }
        }
    }
}

/// The id of every element where no operation gave any.
fn no_ids() -> Logical {
    Logical::new(DType::I32, Vec::new(), vec![0])
}

/// The semantics of an operation. The transfers of the tm dialect are below the stream dialect, which defines the
/// type.
pub(crate) fn meaning(op: OpRef<'_>) -> Result<Semantics, Diagnostic> {
    let declared = op.decl().and_then(|decl| decl.interface::<Semantics>()).copied();
    let transfer = is_transfer(op).then_some(Semantics::Same);
    declared.or(transfer).ok_or_else(|| {
        let message =
            format!("`{}` has no logical meaning: only tm and stream operations can be evaluated", op);
        Diagnostic::error("no-meaning", op.span(), message)
    })
}

/// The tensor in another format, as the fetch adapter (book 08) or the cast engine (book 26) converts; where both do,
/// they do the same.
fn converted(op: OpRef<'_>, tensor: Logical, to: DType) -> Result<Logical, Diagnostic> {
    if tensor.dtype == to {
        return Ok(tensor);
    }
    let row = fetch_cast(tensor.dtype, to).or_else(|| engine_cast(tensor.dtype, to));
    let row = row.ok_or_else(|| op.error("C0", format!("no engine converts {} to {to}", tensor.dtype)))?;
    Ok(tensor.map(to, row.apply))
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
