//! Runs the host part of a kernel: what is left is its operations, written as text.

use crate::condition::Ranges;
use crate::constant::{Computed, computed};
use crate::emit::Emitter;
use crate::error::{Error, Place};
use crate::host::Host;
use crate::map::{Axes, AxisId};
use crate::program::{Item, ModuleId, Program, Space};
use crate::scalar::Positions;
use crate::value::{Affine, PlaceId, TensorType, Type, Value, View};
use proc_macro2::Span;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use syn::spanned::Spanned;

/// Expressions that the host part of one kernel may run.
pub(crate) const MAX_STEPS: u64 = 1 << 22;

/// Functions that may be in each other.
pub(crate) const MAX_DEPTH: usize = 100;

/// What stops an evaluation.
#[derive(Clone)]
pub(crate) enum Stop {
    /// The input is wrong, or not known here.
    Error(Error),
    /// A number was needed of an index that a loop counts: the loop is written out.
    NeedsNumber(Error),
    /// `return`
    Return(Value),
    /// `break`
    Break,
    /// `continue`
    Continue,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

pub(crate) type Eval<T> = Result<T, Stop>;

/// What is wanted of an expression: its type, as far as it is known, and the name of what it makes.
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

/// What names mean in a function.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) module: ModuleId,
    pub(crate) file: Rc<str>,
    pub(crate) generics: HashMap<String, Generic>,
    pub(crate) scopes: Vec<Scope>,
    /// So many of the scopes are outside of a loop that is read once for all its iterations: their variables stay.
    pub(crate) same_each_time: usize,
    /// So many of the scopes are what a closure sees.
    pub(crate) seen: usize,
}

#[derive(Clone)]
pub(crate) enum Generic {
    Type(Type),
    Const(i128),
}

#[derive(Clone, Default)]
pub(crate) struct Scope {
    pub(crate) locals: HashMap<String, Value>,
    /// Variables whose numbers the kernel computes while it runs.
    pub(crate) computed: HashMap<String, Computed>,
    pub(crate) items: HashMap<String, Rc<syn::Item>>,
}

impl Frame {
    pub(crate) fn new(module: ModuleId, file: Rc<str>) -> Self {
        let scopes = vec![Scope::default()];
        Self { module, file, generics: HashMap::new(), scopes, same_each_time: 0, seen: 0 }
    }

    pub(crate) fn local(&self, name: &str) -> Option<&Value> {
        self.scopes.iter().rev().find_map(|scope| scope.locals.get(name))
    }

    /// Gives a variable another value.
    pub(crate) fn assign(&mut self, name: &str, value: Value, span: Span) -> Eval<()> {
        let scopes = self.scopes.iter().enumerate().rev();
        let depth =
            scopes.filter(|(_, scope)| scope.locals.contains_key(name)).map(|(depth, _)| depth).next();
        let Some(depth) = depth else { return Err(self.error(span, format!("`{name}` is no variable"))) };
        if depth < self.seen {
            return Err(
                self.error(span, format!("a closure that changes what it sees, as `{name}`, is not read"))
            );
        }
        if depth < self.same_each_time {
            let message = format!("`{name}` changes from one iteration to the next");
            return Err(Stop::NeedsNumber(Error::new(self.place(span), message)));
        }
        self.scopes[depth].locals.insert(name.to_owned(), value);
        Ok(())
    }

    pub(crate) fn item(&self, name: &str) -> Option<Rc<syn::Item>> {
        self.scopes.iter().rev().find_map(|scope| scope.items.get(name)).cloned()
    }

    pub(crate) fn bind(&mut self, name: String, value: Value) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.computed.remove(&name);
            scope.locals.insert(name, value);
        }
    }

    /// Why the number of a variable is known only when the kernel runs.
    pub(crate) fn computed(&self, name: &str) -> Option<Computed> {
        let scope = self.scopes.iter().rev().find(|scope| scope.locals.contains_key(name))?;
        scope.computed.get(name).copied()
    }

    /// The number of a variable is known only when the kernel runs.
    pub(crate) fn mark(&mut self, name: Option<String>, why: Option<Computed>) {
        let (Some(name), Some(why)) = (name, why) else { return };
        if let Some(scope) = self.scopes.iter_mut().rev().find(|scope| scope.locals.contains_key(&name)) {
            scope.computed.insert(name, why);
        }
    }

    pub(crate) fn place(&self, span: Span) -> Place {
        Place::of(&self.file, span)
    }

    pub(crate) fn error(&self, span: Span, message: impl Into<String>) -> Stop {
        Stop::Error(Error::new(self.place(span), message))
    }
}

/// Formats with those that they are looked up as.
pub(crate) type Tables = BTreeSet<(&'static str, &'static str)>;

/// A tensor at rest, and what it is called now.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Its name in the text; nothing before it is written first.
    pub(crate) name: Option<String>,
    pub(crate) ty: TensorType,
    /// What the author calls it.
    pub(crate) wanted: Option<String>,
    /// Whether it stays where it is: an argument that is changed.
    pub(crate) stays: bool,
    /// How often it was written.
    pub(crate) writes: usize,
}

/// What changes while a kernel is read.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) out: Emitter,
    pub(crate) cells: Vec<Cell>,
    /// Formats with those that they are looked up as.
    pub(crate) tables: Tables,
    /// The axes of blocks that arguments have, and their sizes.
    pub(crate) blocks: BTreeMap<String, u64>,
    /// What indices may be, as far as it is known.
    pub(crate) ranges: Ranges,
    /// Numbers that the kernel is given, and what they may be as far as tiles say.
    pub(crate) scalars: BTreeMap<String, Option<Positions>>,
    /// Of a function that launches kernels: what is known of it.
    pub(crate) host: Option<Host>,
    /// So many branches are around.
    pub(crate) branches: usize,
}

pub(crate) struct Evaluator<'a> {
    pub(crate) program: &'a Program,
    pub(crate) state: State,
    pub(crate) sizes: Vec<u64>,
    pub(crate) axis_names: &'a [String],
    /// The axes that the text mentions.
    pub(crate) used: RefCell<BTreeSet<AxisId>>,
    /// Whether what is called now is awaited.
    pub(crate) awaiting: bool,
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
    pub(crate) fn new(program: &'a Program, sizes: Vec<u64>, axis_names: &'a [String]) -> Self {
        Self {
            program,
            state: State::default(),
            sizes,
            axis_names,
            used: RefCell::default(),
            awaiting: false,
            steps: 0,
            depth: 0,
        }
    }

    pub(crate) fn frame(&self, module: ModuleId) -> Frame {
        Frame::new(module, Rc::clone(&self.program.modules[module.0].file))
    }

    pub(crate) fn expr(&mut self, frame: &mut Frame, expr: &syn::Expr, want: &Want) -> Eval<Value> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            let message =
                format!("the host part takes more than {MAX_STEPS} steps: does a loop or a call end?");
            return Err(frame.error(expr.span(), message));
        }
        match expr {
            syn::Expr::Lit(lit) => literal(frame, &lit.lit),
            syn::Expr::Paren(inner) => self.expr(frame, &inner.expr, want),
            syn::Expr::Group(inner) => self.expr(frame, &inner.expr, want),
            syn::Expr::Reference(inner) => self.expr(frame, &inner.expr, want),
            syn::Expr::Unsafe(inner) => self.block(frame, &inner.block, want),
            syn::Expr::Const(inner) => self.block(frame, &inner.block, want),
            syn::Expr::Block(inner) => self.block(frame, &inner.block, want),
            syn::Expr::Path(path) => self.path(frame, path),
            syn::Expr::Unary(unary) => self.unary(frame, unary, want),
            syn::Expr::Binary(binary) => self.binary(frame, binary),
            syn::Expr::Cast(cast) => self.cast(frame, cast),
            syn::Expr::Tuple(tuple) => {
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
            syn::Expr::Array(array) => {
                let values = array.elems.iter().map(|own| self.expr(frame, own, &Want::default()));
                Ok(Value::Array(values.collect::<Eval<_>>()?))
            }
            syn::Expr::Repeat(repeat) => {
                let value = self.expr(frame, &repeat.expr, &Want::default())?;
                let count = self.number(frame, &repeat.len)?;
                let count = usize::try_from(count).ok().filter(|&count| count <= 1 << 20);
                let count =
                    count.ok_or_else(|| frame.error(repeat.len.span(), "an array of so many elements"))?;
                Ok(Value::Array(vec![value; count]))
            }
            syn::Expr::Struct(of) => self.structure(frame, of),
            syn::Expr::Field(field) => self.field(frame, field),
            syn::Expr::Index(index) => self.element(frame, index),
            syn::Expr::Range(range) => self.range(frame, range),
            syn::Expr::Let(_) => Err(frame.error(expr.span(), "`let` in a condition is not read here")),
            syn::Expr::If(own) => self.branch(frame, own, want),
            syn::Expr::ForLoop(own) => self.for_loop(frame, own),
            syn::Expr::While(own) => self.while_loop(frame, own),
            syn::Expr::Loop(own) => self.endless(frame, own),
            syn::Expr::Match(own) => self.matched(frame, own, want),
            syn::Expr::Assign(assign) => self.assign(frame, assign),
            syn::Expr::Call(call) => self.call(frame, call, want),
            syn::Expr::MethodCall(call) => self.method(frame, call, want),
            syn::Expr::Return(own) => {
                let value = own.expr.as_ref().map(|value| self.expr(frame, value, want));
                Err(Stop::Return(value.transpose()?.unwrap_or(Value::Nothing)))
            }
            syn::Expr::Break(_) => Err(Stop::Break),
            syn::Expr::Continue(_) => Err(Stop::Continue),
            syn::Expr::Closure(item) => Ok(Value::Closure(Rc::new(crate::value::Closure {
                item: Rc::new(item.clone()),
                frame: frame.clone(),
            }))),
            syn::Expr::Await(own) if self.state.host.is_some() => self.awaited(frame, own, want),
            syn::Expr::Macro(own) => self.macro_call(frame, &own.mac, want),
            other => Err(frame.error(other.span(), format!("{} is not read in a kernel", kind_of(other)))),
        }
    }

    pub(crate) fn block(&mut self, frame: &mut Frame, block: &syn::Block, want: &Want) -> Eval<Value> {
        frame.scopes.push(Scope::default());
        let found = self.statements(frame, &block.stmts, want);
        frame.scopes.pop();
        found
    }

    fn statements(&mut self, frame: &mut Frame, all: &[syn::Stmt], want: &Want) -> Eval<Value> {
        for stmt in all {
            if let (syn::Stmt::Item(item), Some(scope)) = (stmt, frame.scopes.last_mut())
                && let Some(name) = item_name(item)
            {
                scope.items.insert(name, Rc::new(item.clone()));
            }
        }
        let mut last = Value::Nothing;
        for (at, stmt) in all.iter().enumerate() {
            let ends = at + 1 == all.len();
            last = Value::Nothing;
            match stmt {
                syn::Stmt::Item(_) => {}
                syn::Stmt::Local(local) => self.local(frame, local, (&all[at + 1..], want))?,
                syn::Stmt::Expr(expr, None) if ends => last = self.expr(frame, expr, want)?,
                syn::Stmt::Expr(expr, _) => {
                    self.expr(frame, expr, &Want::default())?;
                }
                syn::Stmt::Macro(own) => {
                    let value = self.macro_call(frame, &own.mac, want)?;
                    if ends && own.semi_token.is_none() {
                        last = value;
                    }
                }
            }
        }
        Ok(last)
    }

    /// A variable, the statements that follow it, and what is wanted of the block that they are in.
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
            return self.bind(frame, pat, Value::Nothing);
        };
        let used = match (&ty, &name) {
            (None, Some(name)) => self
                .type_by_use(frame, name, rest)
                .or_else(|| crate::ending::type_by_end(name, rest, of_block.ty.as_ref()?)),
            (_, _) => None,
        };
        let why = computed(frame, &init.expr).map(|(_, why)| why);
        let want = Want { ty: ty.clone().or(used), name: name.clone() };
        let value = self.expr(frame, &init.expr, &want)?;
        let value = match (ty, value) {
            // `let x: f32 = 1.into()` and the like keep their kind; an integer of a float's type is one.
            (Some(Type::Number(name)), Value::Int(number)) if is_float(&name) => Value::Float(number as f64),
            (_, value) => value,
        };
        // A tensor that follows from an index is none.
        let why = why.filter(|_| !matches!(value, Value::View(_) | Value::Stream(_)));
        self.bind(frame, pat, value)?;
        frame.mark(name, why);
        Ok(())
    }

    pub(crate) fn bind(&mut self, frame: &mut Frame, pat: &syn::Pat, value: Value) -> Eval<()> {
        match pat {
            syn::Pat::Ident(ident) => {
                frame.bind(ident.ident.to_string(), value);
                Ok(())
            }
            syn::Pat::Wild(_) => Ok(()),
            syn::Pat::Type(typed) => self.bind(frame, &typed.pat, value),
            syn::Pat::Reference(inner) => self.bind(frame, &inner.pat, value),
            syn::Pat::Paren(inner) => self.bind(frame, &inner.pat, value),
            syn::Pat::Tuple(tuple) => {
                let (Value::Tuple(values) | Value::Array(values)) = value else {
                    return Err(frame.error(pat.span(), format!("{} is no tuple", value.kind())));
                };
                if values.len() != tuple.elems.len() {
                    let message = format!("a tuple of {}, expected {}", values.len(), tuple.elems.len());
                    return Err(frame.error(pat.span(), message));
                }
                for (pat, value) in tuple.elems.iter().zip(values) {
                    self.bind(frame, pat, value)?;
                }
                Ok(())
            }
            syn::Pat::Slice(slice) => {
                let Value::Array(values) = value else {
                    return Err(frame.error(pat.span(), format!("{} is no array", value.kind())));
                };
                for (pat, value) in slice.elems.iter().zip(values) {
                    self.bind(frame, pat, value)?;
                }
                Ok(())
            }
            syn::Pat::Struct(of) => {
                let Value::Struct(mut fields) = value else {
                    return Err(frame.error(pat.span(), format!("{} is no structure", value.kind())));
                };
                for field in &of.fields {
                    let syn::Member::Named(name) = &field.member else { continue };
                    if let Some(value) = fields.remove(&name.to_string()) {
                        self.bind(frame, &field.pat, value)?;
                    }
                }
                Ok(())
            }
            other => Err(frame.error(other.span(), "a pattern of this kind is not read in a kernel")),
        }
    }

    fn range(&mut self, frame: &mut Frame, range: &syn::ExprRange) -> Eval<Value> {
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return Err(frame.error(range.span(), "a range has a start and an end"));
        };
        let start = self.expr(frame, start, &Want::default())?;
        let mut end = self.expr(frame, end, &Want::default())?;
        if let (syn::RangeLimits::Closed(_), Value::Int(number)) = (&range.limits, &mut end) {
            *number += 1;
        }
        Ok(Value::Range(Box::new(start), Box::new(end)))
    }

    fn structure(&mut self, frame: &mut Frame, of: &syn::ExprStruct) -> Eval<Value> {
        let mut fields = BTreeMap::new();
        for field in &of.fields {
            let syn::Member::Named(name) = &field.member else { continue };
            fields.insert(name.to_string(), self.expr(frame, &field.expr, &Want::default())?);
        }
        let path = names(&of.path);
        let known = self.program.find(frame.module, &path, Space::Types);
        Ok(match known {
            Some(Item::Struct(..)) => Value::Struct(fields),
            Some(_) | None => {
                Value::Variant(Box::new(crate::value::Variant { path, args: Vec::new(), fields }))
            }
        })
    }

    fn field(&mut self, frame: &mut Frame, field: &syn::ExprField) -> Eval<Value> {
        let base = self.expr(frame, &field.base, &Want::default())?;
        let name = match &field.member {
            syn::Member::Named(name) => name.to_string(),
            syn::Member::Unnamed(index) => index.index.to_string(),
        };
        let found = match (&base, name.as_str()) {
            (Value::Context, "main") => Some(Value::Unit(crate::value::Unit::Main)),
            (Value::Context, "sub") => Some(Value::Unit(crate::value::Unit::Sub)),
            (Value::Context, "tdma" | "pdma" | "dma") => Some(Value::Unit(crate::value::Unit::Dma)),
            (Value::Struct(fields), name) => fields.get(name).cloned(),
            (Value::Tuple(values), name) => name.parse::<usize>().ok().and_then(|at| values.get(at)).cloned(),
            (_, _) => None,
        };
        found.ok_or_else(|| frame.error(field.span(), format!("{} has no `{name}`", base.kind())))
    }

    fn element(&mut self, frame: &mut Frame, index: &syn::ExprIndex) -> Eval<Value> {
        let base = self.expr(frame, &index.expr, &Want::default())?;
        let at = self.expr(frame, &index.index, &Want::default())?;
        match (base, at) {
            (Value::Array(values), Value::Int(at)) => {
                let found = usize::try_from(at).ok().and_then(|at| values.get(at)).cloned();
                let message = || format!("element {at} of an array of {}", values.len());
                found.ok_or_else(|| frame.error(index.span(), message()))
            }
            (Value::Array(_), Value::Index(_)) => Err(self.needs_number(frame, index.span())),
            (base, _) => Err(frame.error(index.span(), format!("{} has no elements", base.kind()))),
        }
    }

    pub(crate) fn needs_number(&self, frame: &Frame, span: Span) -> Stop {
        let message = "a number is needed here, but an index of a loop, or a number that the kernel is given, is \
                       known only when the kernel runs";
        Stop::NeedsNumber(Error::new(frame.place(span), message))
    }

    /// A number that is known.
    pub(crate) fn number(&mut self, frame: &mut Frame, expr: &syn::Expr) -> Eval<i128> {
        match self.expr(frame, expr, &Want::default())? {
            Value::Int(number) => Ok(number),
            Value::Index(index) => match index.number() {
                Some(number) => Ok(number.into()),
                None => Err(self.needs_number(frame, expr.span())),
            },
            other => Err(frame.error(expr.span(), format!("{}, expected an integer", other.kind()))),
        }
    }

    fn assign(&mut self, frame: &mut Frame, assign: &syn::ExprAssign) -> Eval<Value> {
        let syn::Expr::Path(path) = &*assign.left else {
            return Err(frame.error(assign.left.span(), "what is assigned to is a name here"));
        };
        let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
        // A tensor takes the place of one of the same type.
        let ty = match frame.local(&name) {
            Some(Value::View(view)) if view.steps.is_empty() => Some(Type::Tensor(view.ty.clone())),
            Some(_) | None => None,
        };
        let want = Want { ty, name: Some(name.clone()) };
        let why = computed(frame, &assign.right).map(|(_, why)| why);
        let value = self.expr(frame, &assign.right, &want)?;
        frame.assign(&name, value, path.span())?;
        frame.mark(Some(name), why);
        Ok(Value::Nothing)
    }

    fn branch(&mut self, frame: &mut Frame, own: &syn::ExprIf, want: &Want) -> Eval<Value> {
        match self.expr(frame, &own.cond, &Want::default())? {
            Value::Bool(true) => self.block(frame, &own.then_branch, want),
            Value::Bool(false) => match &own.else_branch {
                Some((_, other)) => self.expr(frame, other, want),
                None => Ok(Value::Nothing),
            },
            Value::Condition(condition) => self.branch_on(frame, own, &condition, want),
            other => Err(frame.error(own.cond.span(), format!("{} is no condition", other.kind()))),
        }
    }

    fn matched(&mut self, frame: &mut Frame, own: &syn::ExprMatch, want: &Want) -> Eval<Value> {
        let value = self.expr(frame, &own.expr, &Want::default())?;
        for arm in &own.arms {
            let fits = match (&arm.pat, &value) {
                (syn::Pat::Wild(_), _) => true,
                (syn::Pat::Lit(lit), Value::Int(number)) => {
                    matches!(literal(frame, &lit.lit)?, Value::Int(own) if own == *number)
                }
                (syn::Pat::Lit(lit), Value::Bool(truth)) => {
                    matches!(literal(frame, &lit.lit)?, Value::Bool(own) if own == *truth)
                }
                (_, Value::Index(_)) => return Err(self.needs_number(frame, own.expr.span())),
                (pat, _) => {
                    return Err(frame.error(pat.span(), "a pattern of this kind is not read in a kernel"));
                }
            };
            if fits && arm.guard.is_none() {
                return self.expr(frame, &arm.body, want);
            }
        }
        Err(frame.error(own.span(), "no arm fits"))
    }

    fn while_loop(&mut self, frame: &mut Frame, own: &syn::ExprWhile) -> Eval<Value> {
        loop {
            match self.expr(frame, &own.cond, &Want::default())? {
                Value::Bool(false) => return Ok(Value::Nothing),
                Value::Bool(true) => {}
                Value::Condition(_) => return Err(self.needs_number(frame, own.cond.span())),
                other => {
                    return Err(frame.error(own.cond.span(), format!("{} is no condition", other.kind())));
                }
            }
            match self.block(frame, &own.body, &Want::default()) {
                Err(Stop::Break) => return Ok(Value::Nothing),
                Ok(_) | Err(Stop::Continue) => {}
                Err(other) => return Err(other),
            }
        }
    }

    fn endless(&mut self, frame: &mut Frame, own: &syn::ExprLoop) -> Eval<Value> {
        loop {
            match self.block(frame, &own.body, &Want::default()) {
                Err(Stop::Break) => return Ok(Value::Nothing),
                Ok(_) => self.steps += 1,
                Err(Stop::Continue) => {}
                Err(other) => return Err(other),
            }
            if self.steps > MAX_STEPS {
                return Err(frame.error(own.span(), format!("a loop of more than {MAX_STEPS} steps")));
            }
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
        self.state.cells.push(Cell { name, ty: ty.clone(), wanted, stays: false, writes: 0 });
        View { place, steps: Vec::new(), ty }
    }
}

/// An index, or a number as one.
pub(crate) fn affine(value: &Value) -> Option<Affine> {
    match value {
        Value::Int(number) => i64::try_from(*number).ok().map(Affine::of),
        Value::Index(index) => Some(index.clone()),
        _ => None,
    }
}

/// A number as `f32` has it.
pub(crate) fn single(number: f64) -> f64 {
    (number as f32).into()
}

pub(crate) fn is_float(name: &str) -> bool {
    name.starts_with('f') || name.starts_with("bf")
}

pub(crate) fn names(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

fn item_name(item: &syn::Item) -> Option<String> {
    match item {
        syn::Item::Fn(item) => Some(item.sig.ident.to_string()),
        syn::Item::Const(item) => Some(item.ident.to_string()),
        syn::Item::Type(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

pub(crate) fn literal(frame: &Frame, lit: &syn::Lit) -> Eval<Value> {
    match lit {
        syn::Lit::Int(int) if is_float(int.suffix()) => {
            let number: f64 =
                int.base10_parse::<u64>().map_err(|why| frame.error(lit.span(), why.to_string()))? as f64;
            Ok(Value::Float(number))
        }
        syn::Lit::Int(int) => {
            let number = int.base10_digits().parse::<i128>();
            number.map(Value::Int).map_err(|why| frame.error(lit.span(), why.to_string()))
        }
        syn::Lit::Float(float) => {
            let number = float.base10_digits().parse::<f64>();
            let number = number.map_err(|why| frame.error(lit.span(), why.to_string()))?;
            // Kernels count in f32 where nothing else is written.
            Ok(Value::Float(if float.suffix() == "f64" { number } else { single(number) }))
        }
        syn::Lit::Bool(truth) => Ok(Value::Bool(truth.value)),
        other => Err(frame.error(other.span(), "a literal of this kind is not read in a kernel")),
    }
}

fn kind_of(expr: &syn::Expr) -> &'static str {
    match expr {
        syn::Expr::Async(_) | syn::Expr::Await(_) => "`async`",
        syn::Expr::Try(_) | syn::Expr::TryBlock(_) => "`?`",
        syn::Expr::Yield(_) => "`yield`",
        syn::Expr::RawAddr(_) => "a raw address",
        syn::Expr::Infer(_) => "`_`",
        _ => "an expression of this kind",
    }
}
