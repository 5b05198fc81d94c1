//! A function of the memory level as one of the tensor level: its operations in program order, with calls inlined.

use crate::coverage::Coverage;
use crate::facts::DeclaredAxes;
use crate::index::{INDEX, Index};
use crate::ops::control::{self, Yield};
use crate::ops::func::{ALIAS, AXES, Func, RETURN, Return, argument_name, signature};
use crate::ops::{call, number};
use crate::raise::close::closed;
use crate::raise::open::OpenTypes;
use crate::raise::sets::Set;
use crate::raise::{Known, Meaning, Raising, Semantics};
use crate::tensor::Tensor;
use crate::tensor::scalar::is_scalar;
use crate::tensor::value::{Value, value_type};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::AxisId;
use visa_ir::build::NewOp;
use visa_ir::context::Context;
use visa_ir::decl::make_type;
use visa_ir::diag::Diagnostic;
use visa_ir::level::Level;
use visa_ir::module::{Module, OpId, OpRef, ValueId};
use visa_ir::verify::Analysis;

/// Most functions that are running at the same time, each called by the one before.
const MAX_CALL_DEPTH: usize = 128;

/// Most operations of the tensor level that a function is raised to.
const MAX_OPERATIONS: usize = 1 << 20;

/// A function at the tensor level.
pub struct Raised {
    /// A module with the axes and this function alone.
    pub module: Module,
    /// The function.
    pub func: OpId,
}

/// A function at the tensor level, by axes.
pub struct RaisedByAxes {
    /// The function.
    pub raised: Raised,
    /// The value of each tensor of the memory level that the function makes.
    pub values: HashMap<ValueId, ValueId>,
    /// The error for the first result that is not computed: its elements depend on an open clause, or it is no
    /// array.
    pub incomplete: Option<Diagnostic>,
}

/// The function `func` at the tensor level. Its arguments have the axes of the arrays that data files give, and its
/// results those of the tensors.
///
/// # Errors
/// An operation that has no semantics, a mapping that is wrong, or more than 2^20 operations.
pub fn raise(ctx: &Context, module: &Module, func: OpId) -> Result<Raised, Diagnostic> {
    raised(ctx, module, func, None).map(|by_axes| by_axes.raised)
}

/// The function `func` at the tensor level, by axes: its clauses may be open. The orders of its sums are free, because
/// open clauses decide them.
///
/// # Errors
/// As of [`raise`]; and an axis that elements of an open mapping differ along, and that the result lacks.
pub fn raise_by_axes(ctx: &Context, module: &Module, func: OpId) -> Result<RaisedByAxes, Diagnostic> {
    let (closed, types) = closed(ctx, module)?;
    raised(ctx, &closed, func, Some(Rc::new(types)))
}

fn raised(
    ctx: &Context,
    module: &Module,
    func: OpId,
    open: Option<Rc<OpenTypes>>,
) -> Result<RaisedByAxes, Diagnostic> {
    let axes = DeclaredAxes::build(ctx, module).0;
    let func = module.op(ctx, func);
    let mut raised = Module::default();
    let top = raised.body();
    for &id in module.ops(module.body()) {
        let op = module.op(ctx, id);
        if op.is(&AXES) || op.is(&ALIAS) {
            raised.append(top, NewOp::copied(op).spec());
        }
    }
    let name = Func::of(func)?.name()?;
    let new = raised.append(top, Func::build(func).name(name).spec());
    let block = raised.add_region(new);
    let mut raising = Raising {
        ctx,
        axes: &axes,
        module: raised,
        block,
        meanings: HashMap::new(),
        numbers: HashMap::new(),
        emitted: 0,
        open,
        incomplete: None,
    };
    raising.function(func)?;
    let known = raising.meanings.iter().filter_map(|(&value, meaning)| match meaning {
        Meaning::Known(known) => Some((value, known.value)),
        Meaning::Deferred(_) => None,
    });
    let values = known.collect();
    let raised = Raised { module: raising.module, func: new };
    Ok(RaisedByAxes { raised, values, incomplete: raising.incomplete })
}

/// The type of a value that a loop carries.
enum ValueType {
    /// Of the memory level.
    Tensor(Rc<Tensor>),
    /// Of the tensor level.
    Value,
}

impl Raising<'_> {
    fn function(&mut self, func: OpRef<'_>) -> Result<(), Diagnostic> {
        let (arguments, results) = signature(func);
        for (number, &argument) in arguments.iter().enumerate() {
            let (ty, span) = (func.module.ty(argument), func.module.value_span(argument));
            let name: Option<Rc<str>> = Some(argument_name(func, number).into());
            if is_scalar(self.ctx, ty) {
                let new = self.module.add_arg(self.block, ty, name, span);
                self.numbers.insert(argument, new);
                continue;
            }
            let known = self.argument(func, argument, name)?;
            self.meanings.insert(argument, Meaning::Known(known));
        }
        let Some(&body) = func.regions().first() else { return Ok(()) };
        self.operations(func, body, 0)?;
        let end = func.module.ops(body).last().map(|&id| func.other(id)).filter(|end| end.is(&RETURN));
        let end = end.ok_or_else(|| func.error("C0", "the kernel does not end with `tm.return`"))?;
        let mut given = Vec::new();
        for index in 0..results.len() {
            let known = self.operand(end, index)?;
            let ty = end.operand_type::<Tensor>(index);
            let known = match ty {
                Some(tensor) => self.returned(end, known, &tensor)?,
                None => known,
            };
            given.push(known.value);
        }
        self.module.append(self.block, Return::build(end, given).spec());
        Ok(())
    }

    /// An argument: a tensor of the tensor level as it is, another with the axes of its array.
    fn argument(
        &mut self,
        func: OpRef<'_>,
        argument: ValueId,
        name: Option<Rc<str>>,
    ) -> Result<Known, Diagnostic> {
        let (ty, span) = (func.module.ty(argument), func.module.value_span(argument));
        let refuse = |why: String| Diagnostic::error("array-layout", span, why);
        if let Some(value) = self.ctx.type_value::<Value>(ty) {
            let new = self.module.add_arg(self.block, ty, name, span);
            let axes = self.ids_of(&value, span)?;
            return self.whole(new, value.dtype, &axes, func);
        }
        let tensor = self.ctx.type_value::<Tensor>(ty).ok_or_else(|| refuse("no tensor".to_owned()))?;
        let layout = crate::tensor::array::array_layout(&tensor, self.axes).map_err(refuse)?;
        let mut ids: Vec<AxisId> = layout.dims.iter().map(|&(axis, _)| axis).collect();
        // A skewed axis that the array has at 0 only states where the elements are.
        let still = crate::tensor::skewed_axes(&tensor, self.axes);
        ids.extend(still.into_iter().filter(|axis| layout.dims.iter().all(|&(own, _)| own != *axis)));
        let names: Vec<Arc<str>> = ids.iter().map(|&axis| self.axes.name(axis).into()).collect();
        let ty = value_type(self.ctx, tensor.dtype, names);
        let new = self.module.add_arg(self.block, ty, name, span);
        let mut known = self.whole(new, tensor.dtype, &ids, func)?;
        let held = Coverage::new(&tensor, self.axes, span)?;
        for (&axis, set) in &mut known.held {
            *set = Set::of(&held.held(axis, set.len()));
        }
        Ok(known)
    }

    /// A result: as an array, if it has to be one.
    fn returned(&mut self, op: OpRef<'_>, known: Known, tensor: &Tensor) -> Result<Known, Diagnostic> {
        match (self.as_array(op, known.clone(), tensor), &self.open) {
            (Err(refused), Some(_)) => {
                self.incomplete.get_or_insert(refused);
                Ok(known)
            }
            (made, _) => made,
        }
    }

    /// A result: with each axis of its array.
    fn as_array(&mut self, op: OpRef<'_>, known: Known, tensor: &Tensor) -> Result<Known, Diagnostic> {
        let refuse = |why: String| Diagnostic::error("array-layout", op.span(), why);
        let layout = crate::tensor::array::array_layout(tensor, self.axes).map_err(refuse)?;
        let known = self.narrow(op, known, &Coverage::new(tensor, self.axes, op.span())?)?;
        self.broadcast(op, known, layout.dims.iter().map(|&(axis, _)| axis))
    }

    fn whole(
        &self,
        value: ValueId,
        dtype: visa_numerics::DType,
        axes: &[AxisId],
        op: OpRef<'_>,
    ) -> Result<Known, Diagnostic> {
        let held = axes.iter().map(|&axis| Ok((axis, Set::all(self.axes, axis, op.span())?)));
        Ok(Known { value, dtype, held: held.collect::<Result<_, Diagnostic>>()?, ids: None })
    }

    /// The operations of a block.
    fn operations(
        &mut self,
        around: OpRef<'_>,
        block: visa_ir::module::BlockId,
        depth: usize,
    ) -> Result<(), Diagnostic> {
        for &id in around.module.ops(block) {
            self.operation(around.other(id), depth)?;
            if self.emitted > MAX_OPERATIONS {
                let message = format!("more than {MAX_OPERATIONS} operations on values, calls inlined");
                return Err(Diagnostic::error("too-large", around.span(), message));
            }
        }
        Ok(())
    }

    fn operation(&mut self, op: OpRef<'_>, depth: usize) -> Result<(), Diagnostic> {
        if op.is(&RETURN) || op.is(&control::YIELD) {
            return Ok(());
        }
        if call::calling(op).is_some() {
            return self.call(op, depth + 1);
        }
        if op.is(&control::FOR) {
            return self.repeat(op, depth);
        }
        if op.is(&control::IF) {
            return self.branch(op, depth);
        }
        if op.results().is_empty() {
            // It changes no tensor.
            return Ok(());
        }
        if op.is(&number::AFFINE) || op.is(&number::SELECT) {
            let operands: Vec<ValueId> =
                op.operands().iter().map(|&value| self.number(op, value)).collect::<Result<_, _>>()?;
            let id = self.module.append(self.block, NewOp::copied(op).operands(operands).spec());
            let ty = make_type(self.ctx, &INDEX, Index);
            let new = self.module.add_result(id, ty, None, op.span());
            self.numbers.extend(op.results().first().map(|&result| (result, new)));
            return Ok(());
        }
        if op.level() == Level::Tensor {
            return self.copy(op);
        }
        let Some(Semantics(build)) = op.decl().and_then(|decl| decl.interface::<Semantics>()) else {
            let message =
                format!("`{op}` has no logical meaning: only tm and stream operations can be evaluated");
            return Err(Diagnostic::error("no-meaning", op.span(), message));
        };
        build(self, op)
    }

    /// An operation of the tensor level as it is.
    fn copy(&mut self, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let operand = |cx: &Self, value: ValueId| match cx.numbers.get(&value) {
            Some(&number) => Ok(number),
            None => cx.known(op, value).map(|known| known.value),
        };
        let operands: Vec<ValueId> =
            op.operands().iter().map(|&value| operand(self, value)).collect::<Result<_, _>>()?;
        let known = self.emit(NewOp::copied(op).operands(operands).spec(), BTreeMap::new())?;
        self.bind_with(op, known, None);
        Ok(())
    }

    /// Inlines a function: its arguments are the caller's tensors, its results become the caller's.
    fn call(&mut self, op: OpRef<'_>, depth: usize) -> Result<(), Diagnostic> {
        if depth > MAX_CALL_DEPTH {
            return Err(op.error("C0", format!("more than {MAX_CALL_DEPTH} functions call one another")));
        }
        let callee = call::callee(op)?;
        let (arguments, results) = signature(callee);
        for (&argument, &given) in arguments.iter().zip(op.operands()) {
            if is_scalar(op.ctx, op.module.ty(argument)) {
                let number = self.number(op, given)?;
                self.numbers.insert(argument, number);
            } else {
                let meaning = self.meaning(op, given)?;
                self.meanings.insert(argument, meaning);
            }
        }
        for &block in callee.regions() {
            self.operations(callee, block, depth)?;
        }
        let given: Vec<Meaning> =
            results.iter().map(|&result| self.meaning(op, result)).collect::<Result<_, _>>()?;
        self.meanings.extend(op.results().iter().copied().zip(given));
        Ok(())
    }

    fn meaning(&self, op: OpRef<'_>, value: ValueId) -> Result<Meaning, Diagnostic> {
        self.meanings.get(&value).cloned().ok_or_else(|| op.error("C0", "a value is not known"))
    }

    fn known(&self, op: OpRef<'_>, value: ValueId) -> Result<Known, Diagnostic> {
        match self.meaning(op, value)? {
            Meaning::Known(known) => Ok(known),
            Meaning::Deferred(_) => Err(op.error("C0", "a value is no tensor")),
        }
    }

    /// The part of a value that a type holds, without execution ids.
    fn within(&mut self, op: OpRef<'_>, known: Known, ty: ValueType) -> Result<Known, Diagnostic> {
        let known = Known { ids: None, ..known };
        match ty {
            ValueType::Tensor(tensor) => {
                let held = Coverage::new(&tensor, self.axes, op.span())?;
                self.narrow(op, known, &held)
            }
            ValueType::Value => Ok(known),
        }
    }

    /// The values that a loop or a branch is given, or that its body yields, inside of the types that it carries.
    fn carried(&mut self, op: OpRef<'_>, values: &[ValueId]) -> Result<Vec<Known>, Diagnostic> {
        let mut all = Vec::new();
        for (&value, &initial) in values.iter().zip(control::initial(op)) {
            let known = self.known(op, value)?;
            let tensor = op.ctx.type_value::<Tensor>(op.module.ty(initial));
            all.push(self.within(op, known, tensor.map_or(ValueType::Value, ValueType::Tensor))?);
        }
        Ok(all)
    }

    /// Raises a loop or a branch. The carried values have the axes that the initial values and those of the body
    /// depend on: if the body adds some, it is raised again with them.
    fn around(
        &mut self,
        op: OpRef<'_>,
        depth: usize,
        start: impl Fn(&mut Self, &[Known]) -> Result<OpId, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let initial = self.carried(op, control::initial(op))?;
        let mut axes: Vec<BTreeSet<AxisId>> =
            initial.iter().map(|known| known.held.keys().copied().collect()).collect();
        let before = (self.meanings.clone(), self.numbers.clone(), self.block);
        loop {
            let given = self.spread(op, initial.clone(), &axes)?;
            let new = start(self, &given)?;
            let yielded = self.body(op, depth)?;
            let wanted: Vec<BTreeSet<AxisId>> = axes
                .iter()
                .zip(&yielded)
                .map(|(axes, known)| axes.iter().chain(known.held.keys()).copied().collect())
                .collect();
            if wanted == axes {
                let yielded = self.spread(op, yielded, &axes)?;
                let values: Vec<ValueId> = yielded.iter().map(|known| known.value).collect();
                self.module.append(self.block, Yield::build(op, values).spec());
                self.block = before.2;
                let whole = self.anywhere(op, &yielded)?;
                self.results(op, new, &whole, &given);
                return Ok(());
            }
            self.module.erase(new);
            (self.meanings, self.numbers, self.block) = before.clone();
            axes = wanted;
        }
    }

    /// Values with these axes.
    fn spread(
        &mut self,
        op: OpRef<'_>,
        values: Vec<Known>,
        axes: &[BTreeSet<AxisId>],
    ) -> Result<Vec<Known>, Diagnostic> {
        let each = values.into_iter().zip(axes);
        each.map(|(known, axes)| self.broadcast(op, known, axes.iter().copied())).collect()
    }

    /// Values that a loop or a branch carries: along their axes they may be defined wherever their types are.
    fn anywhere(&self, op: OpRef<'_>, values: &[Known]) -> Result<Vec<Known>, Diagnostic> {
        let mut all = Vec::new();
        for (known, &initial) in values.iter().zip(control::initial(op)) {
            let tensor = op.ctx.type_value::<Tensor>(op.module.ty(initial));
            let held = tensor.map(|tensor| Coverage::new(&tensor, self.axes, op.span())).transpose()?;
            let mut known = known.clone();
            for (&axis, set) in &mut known.held {
                *set = match &held {
                    Some(held) => Set::of(&held.held(axis, set.len())),
                    None => Set::all(self.axes, axis, op.span())?,
                };
            }
            all.push(known);
        }
        Ok(all)
    }

    fn repeat(&mut self, op: OpRef<'_>, depth: usize) -> Result<(), Diagnostic> {
        self.around(op, depth, |cx, initial| {
            let operands = initial.iter().map(|known| known.value);
            let new = cx.module.append(cx.block, NewOp::copied(op).operands(operands).spec());
            cx.block = cx.module.add_region(new);
            let index = cx.module.add_arg(cx.block, make_type(cx.ctx, &INDEX, Index), None, op.span());
            if let Some(&old) = op.regions().first().and_then(|&body| op.module.args(body).first()) {
                cx.numbers.insert(old, index);
            }
            let whole = cx.anywhere(op, initial)?;
            for (&argument, known) in control::arguments(op).iter().zip(whole) {
                let ty = cx.module.ty(known.value);
                let value = cx.module.add_arg(cx.block, ty, None, op.span());
                cx.meanings.insert(argument, Meaning::Known(Known { value, ..known }));
            }
            Ok(new)
        })
    }

    fn branch(&mut self, op: OpRef<'_>, depth: usize) -> Result<(), Diagnostic> {
        let condition = *op.operands().first().ok_or_else(|| op.error("C0", "it has no condition"))?;
        let number = self.number(op, condition)?;
        self.around(op, depth, |cx, initial| {
            let operands = std::iter::once(number).chain(initial.iter().map(|known| known.value));
            let new = cx.module.append(cx.block, NewOp::copied(op).operands(operands).spec());
            cx.block = cx.module.add_region(new);
            Ok(new)
        })
    }

    /// Raises the body of a loop or of a branch, and returns the yielded values.
    fn body(&mut self, op: OpRef<'_>, depth: usize) -> Result<Vec<Known>, Diagnostic> {
        for &block in op.regions() {
            self.operations(op, block, depth)?;
        }
        self.carried(op, control::yielded(op))
    }

    /// The results of a loop or of a branch, which have the types of the initial values.
    fn results(&mut self, op: OpRef<'_>, new: OpId, given: &[Known], initial: &[Known]) {
        for ((&result, known), initial) in op.results().iter().zip(given).zip(initial) {
            let ty = self.module.ty(initial.value);
            let value = self.module.add_result(new, ty, None, op.span());
            self.meanings.insert(result, Meaning::Known(Known { value, ..known.clone() }));
        }
    }
}
