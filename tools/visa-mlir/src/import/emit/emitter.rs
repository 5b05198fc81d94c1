//! Operations of the tensor level, built one after the other.

use crate::import::emit::axes::{Axes, Axis};
use std::collections::HashMap;
use std::rc::Rc;
use visa_algebra::Expr;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::result_types;
use visa_ir::module::{BlockId, Module, OpId, OpSpec, ValueId};
use visa_ir::span::Span;
use visa_mapping::expression::Expression;
use visa_mapping::ops::cast::Cast;
use visa_mapping::ops::constant::{Constant, Coordinate};
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::gather::Gather;
use visa_mapping::ops::map::Map;
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::ops::rename::{Broadcast, Merge, Rearrange, Rename, Split};
use visa_mapping::ops::restrict::{Concat, Extend, Extract, Restrict};
use visa_mapping::ops::where_::{Compare as CompareOp, Where};
use visa_mapping::tensor::numbers::{Number, Numbers};
use visa_mapping::tensor::value::Value;
use visa_numerics::{Compare, Comparisons, DType, ReduceName};

/// The code of errors about modules that MLIR accepts.
const CODE: &str = "mlir-import";

/// Starts an operation of a view at the place that is being read.
macro_rules! new {
    ($emit:expr, $view:ident $(, $operands:expr)?) => {
        $view::build_at($emit.ctx, $emit.span $(, $operands)?)
    };
}
pub(crate) use new;

/// An operation without clauses of its operands, by its inputs, so that equal ones are built once.
#[derive(PartialEq, Eq, Hash)]
enum Known {
    Cast(ValueId, DType),
    Constant(DType, u64),
    Index(Axis),
}

/// An operation that copies the elements of a value.
pub(crate) enum Copied {
    /// `tm.rearrange`: windows, or another order of the axes.
    Rearranged { from: Expr, to: Expr },
    /// `tm.extend` with zeros.
    Extended { axis: Expr, to: Expr, from: i64 },
}

/// The function that is being built.
pub(crate) struct Emitter<'c> {
    pub(crate) ctx: &'c Context,
    pub(crate) module: Module,
    pub(crate) axes: Axes,
    /// Place of the operation that is being read.
    pub(crate) span: Span,
    /// Name of that operation; empty before the first one.
    pub(crate) operation: String,
    /// That place in MLIR's words, if the input has no text or names another file.
    pub(crate) note: Option<String>,
    block: BlockId,
    known: HashMap<Known, ValueId>,
}

impl<'c> Emitter<'c> {
    pub(crate) fn new(ctx: &'c Context, axes: Axes) -> Self {
        let module = Module::default();
        let block = module.body();
        Self {
            ctx,
            module,
            axes,
            span: Span::default(),
            operation: String::new(),
            note: None,
            block,
            known: HashMap::new(),
        }
    }

    /// An error at the operation that is being read, which it names.
    pub(crate) fn refuse(&self, message: impl Into<String>) -> Diagnostic {
        let (message, name) = (message.into(), format!("`{}`", self.operation));
        let is_named = self.operation.is_empty() || message.contains(&name);
        let error =
            Diagnostic::error(CODE, self.span, if is_named { message } else { format!("{name}: {message}") });
        match &self.note {
            Some(location) => error.note(format!("MLIR location: {location}"), None),
            None => error,
        }
    }

    /// Begins a function, whose operation is appended to the module.
    pub(crate) fn begin(&mut self, func: OpSpec) -> (OpId, BlockId) {
        let func = self.module.append(self.module.body(), func);
        self.block = self.module.add_region(func);
        self.known.clear();
        (func, self.block)
    }

    /// The block of the function that is being built.
    pub(crate) fn block(&self) -> BlockId {
        self.block
    }

    /// Appends an operation with one result.
    ///
    /// # Errors
    /// Those of its inference.
    pub(crate) fn emit(&mut self, spec: OpSpec) -> Result<ValueId, Diagnostic> {
        let id = self.module.append(self.block, spec.without_defaults(self.ctx));
        let op = self.module.op(self.ctx, id);
        let infer = op.decl().and_then(|decl| Some((decl, decl.infer?)));
        let (decl, infer) = infer.ok_or_else(|| op.error("C0", "its result has no type"))?;
        let ty = result_types(op, decl, infer)?.first().copied();
        let ty = ty.ok_or_else(|| op.error("C0", "it has no result"))?;
        Ok(self.module.add_result(id, ty, None, self.span))
    }

    fn ty(&self, value: ValueId) -> Result<Rc<Value>, Diagnostic> {
        let ty = self.ctx.type_value(self.module.ty(value));
        ty.ok_or_else(|| self.refuse("an operand has become no value of the tensor level"))
    }

    /// The axes of a value.
    ///
    /// # Errors
    /// A value of another level.
    pub(crate) fn axes_of(&self, value: ValueId) -> Result<Vec<Axis>, Diagnostic> {
        Ok(self.ty(value)?.axes.clone())
    }

    /// The format of a value.
    ///
    /// # Errors
    /// A value of another level.
    pub(crate) fn dtype(&self, value: ValueId) -> Result<DType, Diagnostic> {
        Ok(self.ty(value)?.dtype)
    }

    /// The size of an axis.
    ///
    /// # Errors
    /// An axis that the module lacks.
    pub(crate) fn size(&self, axis: &Axis) -> Result<u64, Diagnostic> {
        let size = self.axes.size(axis);
        size.ok_or_else(|| self.refuse(format!("the module lacks the axis `{axis}`")))
    }

    /// Number of coordinates along all of these axes.
    ///
    /// # Errors
    /// An axis that the module lacks.
    pub(crate) fn count(&self, axes: &[Axis]) -> Result<i64, Diagnostic> {
        axes.iter().try_fold(1_i64, |count, axis| Ok(count.saturating_mul(self.size(axis)?.cast_signed())))
    }

    fn once(
        &mut self,
        key: Known,
        build: impl FnOnce(&mut Self) -> Result<ValueId, Diagnostic>,
    ) -> Result<ValueId, Diagnostic> {
        if let Some(&value) = self.known.get(&key) {
            return Ok(value);
        }
        let value = build(self)?;
        self.known.insert(key, value);
        Ok(value)
    }

    /// A value in another format.
    pub(crate) fn cast(&mut self, value: ValueId, to: DType) -> Result<ValueId, Diagnostic> {
        if self.dtype(value)? == to {
            return Ok(value);
        }
        self.once(Known::Cast(value, to), |emit| emit.emit(new!(emit, Cast, [value]).dtype(to).spec()))
    }

    /// The bits of a value in another format of the same size.
    pub(crate) fn cast_bits(&mut self, value: ValueId, to: DType) -> Result<ValueId, Diagnostic> {
        self.emit(new!(self, Cast, [value]).dtype(to).bits(true).spec())
    }

    /// A number that is the same everywhere.
    pub(crate) fn constant(&mut self, dtype: DType, number: f64) -> Result<ValueId, Diagnostic> {
        self.once(Known::Constant(dtype, number.to_bits()), |emit| {
            let new = new!(emit, Constant).dtype(dtype);
            // The text of numbers has no NaN, but any pattern of bits.
            let spec = if number.is_nan() {
                let bits = visa_numerics::from_f64(dtype, number);
                new.values(Numbers(vec![f64::from(bits)])).bits(true).spec()
            } else {
                new.values(Numbers(vec![shortest(dtype, number)])).spec()
            };
            emit.emit(spec)
        })
    }

    /// Numbers along an axis.
    pub(crate) fn constants(
        &mut self,
        dtype: DType,
        numbers: Vec<f64>,
        bits: bool,
        along: &Axis,
    ) -> Result<ValueId, Diagnostic> {
        let new = new!(self, Constant).dtype(dtype).values(Numbers(numbers)).along(Some(Expr::axis(along)));
        self.emit(new.bits(bits).spec())
    }

    /// The coordinate along an axis.
    pub(crate) fn index(&mut self, axis: &Axis) -> Result<ValueId, Diagnostic> {
        self.once(Known::Index(Axis::clone(axis)), |emit| {
            emit.emit(new!(emit, Coordinate).axis(Expr::axis(axis)).spec())
        })
    }

    pub(crate) fn map(
        &mut self,
        expression: Expression,
        operands: Vec<ValueId>,
    ) -> Result<ValueId, Diagnostic> {
        self.emit(new!(self, Map, operands).expression(expression).spec())
    }

    /// Renames axes, given as pairs of the old and the new name.
    pub(crate) fn rename(&mut self, value: ValueId, pairs: &[(Axis, Axis)]) -> Result<ValueId, Diagnostic> {
        let pairs: Vec<_> = pairs.iter().filter(|(old, new)| old != new).collect();
        if pairs.is_empty() {
            return Ok(value);
        }
        let old = list(pairs.iter().map(|(old, _)| old));
        let to = list(pairs.iter().map(|(_, new)| new));
        self.emit(new!(self, Rename, [value]).axes(old).to(to).spec())
    }

    /// A value with further axes, along which it is the same everywhere.
    pub(crate) fn broadcast(&mut self, value: ValueId, axes: &[Axis]) -> Result<ValueId, Diagnostic> {
        let has = self.axes_of(value)?;
        let further: Vec<_> = axes.iter().filter(|axis| !has.contains(axis)).collect();
        if further.is_empty() {
            return Ok(value);
        }
        self.emit(new!(self, Broadcast, [value]).along(list(further)).spec())
    }

    /// A value at coordinate 0 along all axes but some.
    pub(crate) fn without(&mut self, value: ValueId, dropped: &[Axis]) -> Result<ValueId, Diagnostic> {
        if dropped.is_empty() {
            return Ok(value);
        }
        let axes = self.axes_of(value)?;
        let stay = list(axes.iter().filter(|axis| !dropped.contains(axis)));
        self.emit(new!(self, Restrict, [value]).to(stay).spec())
    }

    /// A value from one coordinate along an axis on.
    pub(crate) fn extract(&mut self, value: ValueId, axis: &Axis, at: u64) -> Result<ValueId, Diagnostic> {
        let new = new!(self, Extract, [value]).along(Expr::axis(axis).into()).index(at.cast_signed());
        self.emit(new.spec())
    }

    /// The rows of a table that an index chooses along an axis.
    pub(crate) fn gather(
        &mut self,
        table: ValueId,
        index: ValueId,
        along: &Axis,
    ) -> Result<ValueId, Diagnostic> {
        self.emit(new!(self, Gather, [table, index]).along(Expr::axis(along).into()).spec())
    }

    pub(crate) fn rearrange(&mut self, value: ValueId, from: Expr, to: Expr) -> Result<ValueId, Diagnostic> {
        self.emit(new!(self, Rearrange, [value]).from(from).to(to).spec())
    }

    /// The value whose elements windows and zeros around them copy, and these copies, the first one first.
    ///
    /// # Errors
    /// A clause of another kind.
    pub(crate) fn before_copies(&self, mut value: ValueId) -> Result<(ValueId, Vec<Copied>), Diagnostic> {
        let mut copies = Vec::new();
        while let Some(op) = self.module.def_op(value).map(|op| self.module.op(self.ctx, op)) {
            if let Some(windows) = Rearrange::cast(op) {
                let (from, to) = ((*windows.from()?).clone(), (*windows.to()?).clone());
                copies.push(Copied::Rearranged { from, to });
            } else if let Some(zeros) =
                Extend::cast(op).filter(|op| op.with().is_ok_and(|with| with.0 == 0.0))
            {
                let (axis, to) = ((*zeros.axis()?).clone(), (*zeros.to()?).clone());
                copies.push(Copied::Extended { axis, to, from: zeros.from()? });
            } else {
                break;
            }
            value = op.operands()[0];
        }
        copies.reverse();
        Ok((value, copies))
    }

    /// A value with copies of its elements.
    pub(crate) fn copied(&mut self, value: ValueId, copies: &[Copied]) -> Result<ValueId, Diagnostic> {
        copies.iter().try_fold(value, |value, copy| match copy {
            Copied::Rearranged { from, to } => self.rearrange(value, from.clone(), to.clone()),
            Copied::Extended { axis, to, from } => {
                let new = new!(self, Extend, [value]).axis(axis.clone()).to(to.clone()).from(*from);
                self.emit(new.with(Number(0.0)).spec())
            }
        })
    }

    /// A value along a longer axis, whose elements begin at `from`, with a number around them.
    pub(crate) fn extended(
        &mut self,
        value: ValueId,
        (axis, to): (&Axis, &Axis),
        from: u64,
        number: f64,
    ) -> Result<ValueId, Diagnostic> {
        let new =
            new!(self, Extend, [value]).axis(Expr::axis(axis)).to(Expr::axis(to)).from(from.cast_signed());
        self.emit(new.with(Number(number)).spec())
    }

    /// A value that `tm.extend` made along an axis, extended to a shorter one; `None` for other values, and if the
    /// elements do not fit.
    pub(crate) fn extended_less(
        &mut self,
        value: ValueId,
        axis: &Axis,
        to: &Axis,
    ) -> Option<Result<ValueId, Diagnostic>> {
        let op = Extend::cast(self.module.op(self.ctx, self.module.def_op(value)?))?;
        let (source, from, with) = (op.operands()[0], op.from().ok()?, op.with().ok()?.0);
        let own = (*op.axis().ok()?).clone();
        let (Expr::Axis(name), true) = (&own, *op.to().ok()? == Expr::axis(axis)) else { return None };
        let end = u64::try_from(from).ok()? + self.axes.size(name)?;
        if end > self.axes.size(to)? {
            return None;
        }
        let new = new!(self, Extend, [source]).axis(own).to(Expr::axis(to)).from(from);
        Some(self.emit(new.with(Number(with)).spec()))
    }

    /// A value whose axes are these, in this order.
    pub(crate) fn in_order(&mut self, value: ValueId, axes: &[Axis]) -> Result<ValueId, Diagnostic> {
        let value = self.broadcast(value, axes)?;
        if self.axes_of(value)? == axes {
            return Ok(value);
        }
        self.rearrange(value, list(axes), list(axes))
    }

    pub(crate) fn split(&mut self, value: ValueId, axis: &Axis, to: &[Axis]) -> Result<ValueId, Diagnostic> {
        self.emit(new!(self, Split, [value]).axis(Expr::axis(axis)).to(list(to)).spec())
    }

    pub(crate) fn merge(&mut self, value: ValueId, axes: &[Axis], to: &Axis) -> Result<ValueId, Diagnostic> {
        self.emit(new!(self, Merge, [value]).axes(list(axes)).to(Expr::axis(to)).spec())
    }

    /// Values one after the other along an axis. Each has its own axis there, given with it, and all others.
    pub(crate) fn concat(&mut self, values: &[(ValueId, Axis)], to: &Axis) -> Result<ValueId, Diagnostic> {
        let operands: Vec<ValueId> = values.iter().map(|(value, _)| *value).collect();
        let axes = list(values.iter().map(|(_, axis)| axis));
        self.emit(new!(self, Concat, operands).axes(axes).to(Expr::axis(to)).spec())
    }

    /// Reduces a value along axes, all of which it gets first. The order of a sum is free.
    pub(crate) fn reduce(
        &mut self,
        op: ReduceName,
        value: ValueId,
        over: &[Axis],
    ) -> Result<ValueId, Diagnostic> {
        if over.is_empty() {
            return Ok(value);
        }
        let value = self.broadcast(value, over)?;
        let ordered = match op {
            ReduceName::Add | ReduceName::Mul => self.dtype(value)?.is_float(),
            ReduceName::AddSat => true,
            ReduceName::Max | ReduceName::Min => false,
        };
        self.emit(new!(self, Reduce, [value]).op(op).over(list(over)).free(ordered).spec())
    }

    /// Multiplies two values and sums the products along axes, in any order.
    pub(crate) fn contract(
        &mut self,
        left: ValueId,
        right: ValueId,
        over: &[Axis],
    ) -> Result<ValueId, Diagnostic> {
        let left = self.broadcast(left, over)?;
        let right = self.broadcast(right, over)?;
        let ordered = self.dtype(left)?.is_float() && !over.is_empty();
        self.emit(new!(self, Contract, [left, right]).over(list(over)).free(ordered).spec())
    }

    pub(crate) fn choose(
        &mut self,
        condition: ValueId,
        then: ValueId,
        otherwise: ValueId,
    ) -> Result<ValueId, Diagnostic> {
        self.emit(new!(self, Where, [condition, then, otherwise]).spec())
    }

    /// Bit n of the result is set where the n-th comparison with `number` holds.
    pub(crate) fn compare(
        &mut self,
        value: ValueId,
        comparisons: &[Compare],
        number: f64,
    ) -> Result<ValueId, Diagnostic> {
        let with = comparisons.iter().map(|&compare| (compare, Some(Number(number)))).collect();
        self.emit(new!(self, CompareOp, [value]).with(Comparisons(with)).spec())
    }
}

/// The shortest decimal that rounds to the same element.
pub(crate) fn shortest(dtype: DType, number: f64) -> f64 {
    if !number.is_finite() || !dtype.is_float() {
        return number;
    }
    let short: Option<f64> = (number as f32).to_string().parse().ok();
    let is_same =
        |short: f64| visa_numerics::from_number(dtype, short) == visa_numerics::from_number(dtype, number);
    short.filter(|&short| is_same(short)).unwrap_or(number)
}

/// A list of axes.
pub(crate) fn list<'a>(axes: impl IntoIterator<Item = &'a Axis>) -> Expr {
    let terms: Vec<Expr> = axes.into_iter().map(|axis| Expr::axis(axis)).collect();
    if terms.is_empty() { Expr::Literal(1) } else { Expr::pair(terms) }
}
