//! Runs the host part of a kernel: the rest is its operations, written as text.

use crate::addresses::AuthorAddress;
use crate::condition::Ranges;
use crate::constant::{Computed, computed};
use crate::device::Size;
use crate::emit::Emitter;
use crate::error::{Error, SourcePosition};
use crate::expand::block_module;
use crate::host::Host;
use crate::integer::{Int, IntTy};
use crate::map::{Axes, AxisId};
use crate::marks::plain;
use crate::place::{Slot, deref};
use crate::program::{AdtId, ModuleId, Program, Unread};
use crate::scalar::Positions;
use crate::value::{Affine, Float, Index, PlaceId, Range, TensorType, Type, Value, View};
use proc_macro2::Span;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use syn::spanned::Spanned;
use visa_ir::context::Context;
use visa_numerics::DType;

pub(crate) use crate::program::names;

/// Expressions that the host part of one kernel may run.
pub(crate) const MAX_STEPS: u64 = 1 << 22;

/// Functions that may be in each other.
pub(crate) const MAX_DEPTH: usize = 100;

/// The reasons that stop an evaluation.
#[derive(Clone)]
pub(crate) enum Stop {
    /// The input is wrong, or not known here.
    Error(Error),
    /// A number was needed of an index that a loop counts: the loop is written out.
    NeedsNumber(Error),
    /// `return`
    Return(Value),
    /// `break`, out of the loop or block of that label, or of the innermost loop.
    Break(Option<String>, Value),
    /// `continue`
    Continue(Option<String>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

pub(crate) type Eval<T> = Result<T, Stop>;

/// The expectation for an expression: the known part of its type, and the name of its result.
#[derive(Clone, Default)]
pub(crate) struct Want {
    pub(crate) ty: Option<Type>,
    pub(crate) name: Option<String>,
}

impl Want {
    pub(crate) fn of(ty: Type) -> Self {
        Self { ty: Some(ty), name: None }
    }

    pub(crate) fn tensor(&self) -> Option<&TensorType> {
        match &self.ty {
            Some(Type::Tensor(tensor)) => Some(tensor),
            Some(_) | None => None,
        }
    }
}

/// The definitions of names in a function.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) module: ModuleId,
    pub(crate) file: Rc<str>,
    /// The type that a method is of.
    pub(crate) of: Option<AdtId>,
    pub(crate) generics: HashMap<String, Generic>,
    /// The variables by their unique names.
    pub(crate) locals: HashMap<String, Rc<Slot>>,
    /// Reasons for the unknown types of some literals.
    pub(crate) unread: Rc<Unread>,
    /// The type of the function's result.
    pub(crate) result: Option<Type>,
}

#[derive(Clone)]
pub(crate) enum Generic {
    Type(Type),
    Const(Value),
}

impl Frame {
    pub(crate) fn new(module: ModuleId, file: Rc<str>) -> Self {
        Self {
            module,
            file,
            of: None,
            generics: HashMap::new(),
            locals: HashMap::new(),
            unread: Rc::default(),
            result: None,
        }
    }

    pub(crate) fn slot(&self, name: &str) -> Option<Rc<Slot>> {
        self.locals.get(name).cloned()
    }

    pub(crate) fn local(&self, name: &str) -> Option<Value> {
        self.locals.get(name).map(|slot| slot.value())
    }

    /// Reason for the number of a variable to be known only when the kernel runs.
    pub(crate) fn computed(&self, name: &str) -> Option<Computed> {
        self.locals.get(name).and_then(|slot| slot.computed())
    }

    /// Notes why the number of a variable is known only when the kernel runs.
    pub(crate) fn mark(&mut self, name: Option<String>, why: Option<Computed>) {
        let (Some(name), Some(why)) = (name, why) else { return };
        if let Some(slot) = self.locals.get(&name) {
            slot.mark(Some(why));
        }
    }

    /// Notes the type that a variable is declared with.
    fn declare(&self, name: Option<&str>, ty: Option<Type>) {
        if let Some(slot) = name.and_then(|name| self.locals.get(name)) {
            slot.declare(ty);
        }
    }

    pub(crate) fn place(&self, span: Span) -> SourcePosition {
        SourcePosition::of(&self.file, span)
    }

    pub(crate) fn error(&self, span: Span, message: impl Into<String>) -> Stop {
        Stop::Error(Error::new(self.place(span), message))
    }
}

/// Formats with those that they are looked up as.
pub(crate) type Tables = BTreeSet<(DType, DType)>;

/// A tensor at rest, and its current name.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Its name in the text; nothing before it is written first.
    pub(crate) name: Option<String>,
    pub(crate) ty: TensorType,
    /// The author's name for it.
    pub(crate) wanted: Option<String>,
    /// True if it stays where it is: an argument that is changed.
    pub(crate) stays: bool,
    /// Number of writes.
    pub(crate) writes: usize,
    /// The author's address.
    pub(crate) address: AuthorAddress,
    /// Number of operations when it was stored last.
    pub(crate) written: usize,
    /// The tensor that it is by its address.
    pub(crate) alias: Option<View>,
}

impl Cell {
    /// A tensor that nothing has written, or that is given.
    pub(crate) fn new(name: Option<String>, ty: TensorType, wanted: Option<String>) -> Self {
        let address = AuthorAddress::default();
        Self { name, ty, wanted, stays: false, writes: 0, address, written: 0, alias: None }
    }
}

/// The state that changes while a kernel is read.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) out: Emitter,
    pub(crate) cells: Vec<Cell>,
    /// Formats with those that they are looked up as.
    pub(crate) tables: Tables,
    /// The axes of blocks that arguments have, and their sizes.
    pub(crate) blocks: BTreeMap<String, u64>,
    /// The known ranges of indices.
    pub(crate) ranges: Ranges,
    /// Numbers that the kernel is given, and their ranges, limited to those that tiles show.
    pub(crate) scalars: BTreeMap<String, Option<Positions>>,
    /// Ranges of these numbers by comparisons, for those that no tile shows.
    pub(crate) compared: BTreeMap<String, u64>,
    /// The device of the kernel.
    pub(crate) device: Option<Size>,
    /// The known facts of a function that launches kernels.
    pub(crate) host: Option<Host>,
    /// So many branches are around.
    pub(crate) branches: usize,
    /// The positions of dropped addresses.
    pub(crate) dropped: BTreeSet<SourcePosition>,
    /// Notes about the kernel that are no errors.
    pub(crate) remarks: Vec<Error>,
}

pub(crate) struct Evaluator<'a> {
    pub(crate) ctx: &'a Context,
    pub(crate) program: &'a Program,
    pub(crate) state: State,
    pub(crate) sizes: Vec<u64>,
    pub(crate) axis_names: &'a [String],
    /// The axes that the text mentions.
    pub(crate) used: RefCell<BTreeSet<AxisId>>,
    /// True if the call is awaited.
    pub(crate) awaiting: bool,
    /// Variables made so far.
    pub(crate) slots: u64,
    /// Variables made before this one are outside of a loop or branch that is read once for all iterations: they do
    /// not change.
    pub(crate) fixed: u64,
    /// The number of tensors made before the loop or branch.
    pub(crate) fixed_cells: usize,
    steps: u64,
    depth: usize,
}

impl Axes for Evaluator<'_> {
    fn name(&self, id: AxisId) -> String {
        self.used.borrow_mut().insert(id);
        self.axis_names[id.0].clone()
    }

    fn size(&self, id: AxisId) -> u64 {
        self.sizes[id.0]
    }
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(
        ctx: &'a Context,
        program: &'a Program,
        sizes: Vec<u64>,
        axis_names: &'a [String],
    ) -> Self {
        Self {
            ctx,
            program,
            state: State::default(),
            sizes,
            axis_names,
            used: RefCell::default(),
            awaiting: false,
            slots: 0,
            fixed: 0,
            fixed_cells: 0,
            steps: 0,
            depth: 0,
        }
    }

    pub(crate) fn frame(&self, module: ModuleId) -> Frame {
        Frame::new(module, Rc::clone(&self.program.modules[module.0].file))
    }

    /// The value of an expression.
    pub(crate) fn expr(&mut self, frame: &mut Frame, expr: &syn::Expr, want: &Want) -> Eval<Value> {
        match expr {
            syn::Expr::Field(field) => self.field(frame, field),
            syn::Expr::Index(_) => {
                let place = self.place(frame, expr)?;
                place.read().ok_or_else(|| frame.error(expr.span(), "an element that is not there"))
            }
            other => self.expr_value(frame, other, want),
        }
    }

    /// The value of an expression that is no part of a variable.
    pub(crate) fn expr_value(&mut self, frame: &mut Frame, expr: &syn::Expr, want: &Want) -> Eval<Value> {
        self.step(frame, expr.span())?;
        match expr {
            syn::Expr::Lit(lit) => self.literal(frame, &lit.lit, false),
            syn::Expr::Paren(inner) => self.expr(frame, &inner.expr, want),
            syn::Expr::Group(inner) => self.expr(frame, &inner.expr, want),
            syn::Expr::Reference(inner) => self.reference(frame, inner, want),
            syn::Expr::Unsafe(inner) => self.block(frame, &inner.block, want),
            syn::Expr::Const(inner) => self.block(frame, &inner.block, want),
            syn::Expr::Block(inner) => {
                let found = self.block(frame, &inner.block, want);
                Self::labelled(inner.label.as_ref(), found)
            }
            syn::Expr::Path(path) => self.path(frame, path),
            syn::Expr::Unary(unary) => self.unary(frame, unary, want),
            syn::Expr::Binary(binary) => self.binary(frame, binary),
            syn::Expr::Cast(cast) => self.cast(frame, cast),
            syn::Expr::Tuple(tuple) => self.tuple(frame, tuple, want),
            syn::Expr::Array(array) => {
                let wanted = match &want.ty {
                    Some(Type::Array(wanted, _)) => Want::of((**wanted).clone()),
                    Some(_) | None => Want::default(),
                };
                let values = array.elems.iter().map(|own| self.expr(frame, own, &wanted));
                Ok(Value::Array(values.collect::<Eval<_>>()?))
            }
            syn::Expr::Repeat(repeat) => {
                let value = self.expr(frame, &repeat.expr, &Want::default())?;
                let count = self.number(frame, &repeat.len)?;
                let count = usize::try_from(count).ok().filter(|&count| count <= MAX_ELEMENTS);
                let count = count.ok_or_else(|| {
                    frame.error(repeat.len.span(), format!("an array of more than {MAX_ELEMENTS} elements"))
                })?;
                Ok(Value::Array(vec![value; count]))
            }
            syn::Expr::Struct(of) => self.structure(frame, of),
            syn::Expr::Field(field) => self.field(frame, field),
            syn::Expr::Index(_) => self.expr(frame, expr, want),
            syn::Expr::Range(range) => self.range(frame, range),
            syn::Expr::Let(own) => self.let_condition(frame, own),
            syn::Expr::If(own) => self.branch(frame, own, want),
            syn::Expr::ForLoop(own) => self.for_loop(frame, own),
            syn::Expr::While(own) => self.while_loop(frame, own),
            syn::Expr::Loop(own) => self.endless(frame, own, want),
            syn::Expr::Match(own) => self.matched(frame, own, want),
            syn::Expr::Assign(assign) => self.assign(frame, assign),
            syn::Expr::Call(call) => self.call(frame, call, want),
            syn::Expr::MethodCall(call) => self.method(frame, call, want),
            syn::Expr::Return(own) => {
                let want = frame.result.clone().map_or_else(Want::default, Want::of);
                let value = own.expr.as_ref().map(|value| self.expr(frame, value, &want));
                Err(Stop::Return(value.transpose()?.unwrap_or(Value::Nothing)))
            }
            syn::Expr::Break(own) => {
                let value = own.expr.as_ref().map(|value| self.expr(frame, value, want));
                let label = own.label.as_ref().map(|label| label.ident.to_string());
                Err(Stop::Break(label, value.transpose()?.unwrap_or(Value::Nothing)))
            }
            syn::Expr::Continue(own) => {
                Err(Stop::Continue(own.label.as_ref().map(|label| label.ident.to_string())))
            }
            syn::Expr::Closure(item) => Ok(self.closure(frame, item)),
            syn::Expr::Await(own) if self.state.host.is_some() => self.awaited(frame, own, want),
            syn::Expr::Try(own) => self.tried_value(frame, own, want),
            syn::Expr::Macro(own) => self.macro_call(frame, &own.mac),
            other => Err(frame.error(other.span(), format!("{} is not read in a kernel", kind_of(other)))),
        }
    }

    /// Counts a step.
    pub(crate) fn step(&mut self, frame: &Frame, span: Span) -> Eval<()> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            let message =
                format!("the host part takes more than {MAX_STEPS} steps: does a loop or a call end?");
            return Err(frame.error(span, message));
        }
        Ok(())
    }

    fn tuple(&mut self, frame: &mut Frame, tuple: &syn::ExprTuple, want: &Want) -> Eval<Value> {
        let wanted = match &want.ty {
            Some(Type::Tuple(wanted)) => wanted.clone(),
            Some(_) | None => Vec::new(),
        };
        let value = |(at, own): (usize, &syn::Expr)| {
            let want = wanted.get(at).cloned().map_or_else(Want::default, Want::of);
            self.expr(frame, own, &want)
        };
        let values = tuple.elems.iter().enumerate().map(value).collect::<Eval<Vec<_>>>()?;
        Ok(if values.is_empty() { Value::Nothing } else { Value::Tuple(values) })
    }

    pub(crate) fn block(&mut self, frame: &mut Frame, block: &syn::Block, want: &Want) -> Eval<Value> {
        let outside = frame.module;
        frame.module = block_module(&block.stmts).unwrap_or(outside);
        let found = self.statements(frame, &block.stmts, want);
        frame.module = outside;
        found
    }

    fn statements(&mut self, frame: &mut Frame, all: &[syn::Stmt], want: &Want) -> Eval<Value> {
        let mut last = Value::Nothing;
        for (at, stmt) in all.iter().enumerate() {
            let ends = at + 1 == all.len();
            last = Value::Nothing;
            match stmt {
                // The marker of the block's items.
                syn::Stmt::Item(_) => {}
                syn::Stmt::Local(local) => self.local(frame, local, (&all[at + 1..], want))?,
                syn::Stmt::Expr(expr, None) if ends => last = self.expr(frame, expr, want)?,
                syn::Stmt::Expr(expr, _) => {
                    self.expr(frame, expr, &Want::default())?;
                }
                syn::Stmt::Macro(own) => {
                    self.macro_call(frame, &own.mac)?;
                }
            }
        }
        Ok(last)
    }

    /// A variable, the statements that follow it, and the expectation for the block that they are in.
    fn local(
        &mut self,
        frame: &mut Frame,
        local: &syn::Local,
        (rest, of_block): (&[syn::Stmt], &Want),
    ) -> Eval<()> {
        let (pat, ty) = match &local.pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(self.ty(frame, &typed.ty)?)),
            other => (other, None),
        };
        let name = match pat {
            syn::Pat::Ident(ident) => Some(ident.ident.to_string()),
            _ => None,
        };
        let Some(init) = &local.init else {
            self.bind(frame, pat, Value::Nothing)?;
            frame.declare(name.as_deref(), ty);
            return Ok(());
        };
        let used = match (&ty, &name) {
            (None, Some(name)) if takes_type(&init.expr) => {
                self.type_by_use(frame, name, rest, of_block.ty.as_ref())
            }
            (_, _) => None,
        };
        let why = computed(frame, &init.expr).map(|(_, why)| why);
        let wanted = name.as_deref().map(|name| plain(name).to_owned());
        let want = Want { ty: ty.clone().or(used), name: wanted };
        let value = self.expr(frame, &init.expr, &want)?;
        // A tensor that follows from an index is none.
        let why = why.filter(|_| !matches!(value, Value::View(_) | Value::Stream(_)));
        match &init.diverge {
            None => self.bind(frame, pat, value)?,
            Some((_, other)) => {
                if !self.fits(frame, pat, value)? {
                    self.expr(frame, other, &Want::default())?;
                    return Err(frame.error(other.span(), "what is after `else` goes on"));
                }
            }
        }
        frame.declare(name.as_deref(), ty);
        frame.mark(name, why);
        Ok(())
    }

    fn range(&mut self, frame: &mut Frame, range: &syn::ExprRange) -> Eval<Value> {
        let mut bound = |own: &Option<Box<syn::Expr>>| {
            let value = own.as_ref().map(|own| self.expr(frame, own, &Want::default()));
            value.transpose().map(|value| value.map(deref))
        };
        let (start, end) = (bound(&range.start)?, bound(&range.end)?);
        let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
        Ok(Value::Range(Box::new(Range { start, end, inclusive })))
    }

    pub(crate) fn needs_number(&self, frame: &Frame, span: Span) -> Stop {
        let message = "a number is needed here, but an index of a loop, or a number that the kernel is given, is \
                       known only when the kernel runs";
        Stop::NeedsNumber(Error::new(frame.place(span), message))
    }

    /// The truth of a value; an error for one that changes with the iterations of a loop.
    pub(crate) fn truth(&self, frame: &Frame, span: Span, value: Value) -> Eval<bool> {
        match deref(value) {
            Value::Bool(truth) => Ok(truth),
            Value::Index(_) | Value::Condition(_) => Err(self.needs_number(frame, span)),
            other => Err(frame.error(span, format!("{} is no condition", other.kind()))),
        }
    }

    /// Compares two values by an operator.
    pub(crate) fn compares(
        &mut self,
        frame: &mut Frame,
        span: Span,
        op: &syn::BinOp,
        left: Value,
        right: Value,
    ) -> Eval<bool> {
        let found = self.operated(frame, span, op, left, right)?;
        self.truth(frame, span, found)
    }

    /// A number that is known.
    pub(crate) fn number(&mut self, frame: &mut Frame, expr: &syn::Expr) -> Eval<i128> {
        match deref(self.expr(frame, expr, &Want::default())?) {
            Value::Int(number) => number
                .number()
                .ok_or_else(|| frame.error(expr.span(), format!("{number} is more than 127 bits hold"))),
            Value::Index(index) => match index.sum.number() {
                Some(number) => Ok(number.into()),
                None => Err(self.needs_number(frame, expr.span())),
            },
            other => Err(frame.error(expr.span(), format!("{}, expected an integer", other.kind()))),
        }
    }

    /// Runs the body of a function with its arguments.
    pub(crate) fn enter<T>(
        &mut self,
        frame: &Frame,
        span: Span,
        run: impl FnOnce(&mut Self) -> Eval<T>,
    ) -> Eval<T> {
        if self.depth >= MAX_DEPTH {
            let message =
                format!("functions or types use each other without end: more than {MAX_DEPTH} deep");
            return Err(frame.error(span, message));
        }
        self.depth += 1;
        let found = run(self);
        self.depth -= 1;
        found
    }

    /// A new tensor at rest.
    pub(crate) fn cell(&mut self, name: Option<String>, ty: TensorType, wanted: Option<String>) -> View {
        let place = PlaceId(self.state.cells.len());
        self.state.cells.push(Cell::new(name, ty.clone(), wanted));
        View { place, steps: Vec::new(), ty }
    }
}

/// An index, or a number as one.
pub(crate) fn affine(value: &Value) -> Option<Affine> {
    Index::of(value).map(|index| index.sum)
}

pub(crate) fn is_float(name: &str) -> bool {
    name.starts_with('f') || name.starts_with("bf")
}

impl Evaluator<'_> {
    /// The value of a literal, whose suffix inference has written; `negative` if a minus is before it.
    pub(crate) fn literal(&self, frame: &Frame, lit: &syn::Lit, negative: bool) -> Eval<Value> {
        match lit {
            syn::Lit::Int(int) => {
                let digits = int.base10_digits();
                let (digits, negative) = match digits.strip_prefix('-') {
                    Some(digits) => (digits, !negative),
                    None => (digits, negative),
                };
                if is_float(int.suffix()) {
                    return self.float(frame, lit.span(), (digits, int.suffix()), negative);
                }
                self.unread(frame, lit.span(), int.suffix())?;
                let ty = IntTy::named(int.suffix()).unwrap_or(IntTy::Toolchain);
                let number =
                    digits.parse::<u128>().ok().and_then(|digits| Int::literal(ty, digits, negative));
                number.map(Value::Int).ok_or_else(|| {
                    frame.error(lit.span(), format!("`{digits}` is no number of type `{}`", ty.name()))
                })
            }
            syn::Lit::Float(float) => {
                let digits = float.base10_digits();
                let (digits, negative) = match digits.strip_prefix('-') {
                    Some(digits) => (digits, !negative),
                    None => (digits, negative),
                };
                self.unread(frame, lit.span(), float.suffix())?;
                self.float(frame, lit.span(), (digits, float.suffix()), negative)
            }
            syn::Lit::Bool(truth) => Ok(Value::Bool(truth.value)),
            syn::Lit::Char(own) => Ok(Value::Char(own.value())),
            syn::Lit::Byte(own) => Ok(Value::Int(Int::wrapped(IntTy::U8, own.value().into()))),
            other => Err(frame.error(other.span(), "a literal of this kind is not read in a kernel")),
        }
    }

    /// A floating-point literal, rounded once to its format. Kernels count in `f32` where the toolchain alone fixes
    /// the type.
    fn float(
        &self,
        frame: &Frame,
        span: Span,
        (digits, suffix): (&str, &str),
        negative: bool,
    ) -> Eval<Value> {
        let wrong = |_| frame.error(span, format!("`{digits}` is no number"));
        Ok(Value::Float(match suffix {
            "f64" => {
                let number = digits.parse::<f64>().map_err(wrong)?;
                Float::F64(if negative { -number } else { number })
            }
            "f32" | "toolchain" | "" => {
                let number = digits.parse::<f32>().map_err(wrong)?;
                Float::F32(if negative { -number } else { number })
            }
            other => return Err(frame.error(span, format!("a number of type `{other}` is not read"))),
        }))
    }

    /// Refuses a literal whose type follows from code that inference does not read.
    fn unread(&self, frame: &Frame, span: Span, suffix: &str) -> Eval<()> {
        let Some(number) = suffix.strip_prefix("unread") else { return Ok(()) };
        let why = number.parse::<usize>().ok().and_then(|number| frame.unread.get(number));
        let why = why.map_or_else(
            || "something that is not read".to_owned(),
            |(place, what)| format!("{what} ({place})"),
        );
        let message = format!("the type of this number depends on {why}");
        Err(Stop::Error(Error::new(frame.place(span), message).fix("write its type, such as `8i32`")))
    }
}

/// Most elements of an array.
pub(crate) const MAX_ELEMENTS: usize = 1 << 20;

fn kind_of(expr: &syn::Expr) -> &'static str {
    match expr {
        syn::Expr::Async(_) | syn::Expr::Await(_) => "`async`",
        syn::Expr::TryBlock(_) => "`try`",
        syn::Expr::Yield(_) => "`yield`",
        syn::Expr::RawAddr(_) => "a raw address",
        syn::Expr::Infer(_) => "`_`",
        _ => "an expression of this kind",
    }
}

/// Returns true if the value of an expression may depend on the type that is wanted of it.
pub(crate) fn takes_type(expr: &syn::Expr) -> bool {
    !matches!(
        expr,
        syn::Expr::Lit(_)
            | syn::Expr::Path(_)
            | syn::Expr::Binary(_)
            | syn::Expr::Unary(_)
            | syn::Expr::Cast(_)
            | syn::Expr::Field(_)
            | syn::Expr::Index(_)
            | syn::Expr::Range(_)
            | syn::Expr::Closure(_)
    )
}
