//! Variables and their parts: the targets of assignments and of `&mut`.

use crate::constant::{Computed, chosen};
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Stop};
use crate::value::{Type, Unit, Value};
use proc_macro2::Span;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use syn::spanned::Spanned;

/// A variable. A new one is made each time its `let` runs.
pub(crate) struct Slot {
    /// Its number among all, in the order in which they are made.
    serial: u64,
    value: RefCell<Value>,
    /// Reason for its number to be known only when the kernel runs.
    computed: Cell<Option<Computed>>,
    /// The type that it is declared with.
    declared: RefCell<Option<Type>>,
}

impl Slot {
    pub(crate) fn new(serial: u64, value: Value) -> Rc<Self> {
        Rc::new(Self {
            serial,
            value: RefCell::new(value),
            computed: Cell::new(None),
            declared: RefCell::default(),
        })
    }

    pub(crate) fn value(&self) -> Value {
        self.value.borrow().clone()
    }

    pub(crate) fn computed(&self) -> Option<Computed> {
        self.computed.get()
    }

    pub(crate) fn mark(&self, why: Option<Computed>) {
        self.computed.set(why);
    }

    pub(crate) fn declared(&self) -> Option<Type> {
        self.declared.borrow().clone()
    }

    pub(crate) fn declare(&self, ty: Option<Type>) {
        *self.declared.borrow_mut() = ty;
    }
}

/// A step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A field by its name; that of a tuple by its position.
    Field(String),
    /// An element of an array.
    Element(usize),
}

/// A variable, or a part of one.
#[derive(Clone)]
pub(crate) struct Reference {
    slot: Rc<Slot>,
    path: Vec<Part>,
    /// True if it names a copy of some elements of an array: a change would be lost.
    is_copy: bool,
}

impl Reference {
    pub(crate) fn of(slot: Rc<Slot>) -> Self {
        Self { slot, path: Vec::new(), is_copy: false }
    }

    /// Elements of an array, which are only read.
    fn of_copy(slot: Rc<Slot>) -> Self {
        Self { is_copy: true, ..Self::of(slot) }
    }

    pub(crate) fn part(&self, part: Part) -> Self {
        let mut own = self.clone();
        own.path.push(part);
        own
    }

    /// Runs a function on the value.
    pub(crate) fn with<T>(&self, run: impl FnOnce(&Value) -> T) -> Option<T> {
        let value = self.slot.value.borrow();
        let part = self.path.iter().try_fold(&*value, |value, part| part_of(value, part))?;
        Some(run(part))
    }

    pub(crate) fn read(&self) -> Option<Value> {
        self.with(Value::clone)
    }

    /// Runs a function that changes the value.
    pub(crate) fn change<T>(&self, run: impl FnOnce(&mut Value) -> T) -> Option<T> {
        let mut value = self.slot.value.borrow_mut();
        let part = self.path.iter().try_fold(&mut *value, |value, part| part_of_mut(value, part))?;
        Some(run(part))
    }

    /// The value that a reference to it is here: a value of the device is one in any case.
    pub(crate) fn borrowed(self) -> Value {
        let of_device = self.with(|value| match value {
            Value::Context | Value::Unit(_) | Value::View(_) | Value::Stream(_) => Some(value.clone()),
            Value::Ref(_) => Some(value.clone()),
            _ => None,
        });
        of_device.flatten().unwrap_or(Value::Ref(self))
    }
}

fn part_of<'v>(value: &'v Value, part: &Part) -> Option<&'v Value> {
    match (value, part) {
        (Value::Struct(own), Part::Field(name)) => own.fields.get(name),
        (Value::Tuple(all), Part::Field(name)) => all.get(name.parse::<usize>().ok()?),
        (Value::Variant(own), Part::Field(name)) => match own.fields.get(name) {
            Some(found) => Some(found),
            None => own.args.get(name.parse::<usize>().ok()?),
        },
        (Value::Array(all), Part::Element(at)) => all.get(*at),
        (_, _) => None,
    }
}

fn part_of_mut<'v>(value: &'v mut Value, part: &Part) -> Option<&'v mut Value> {
    match (value, part) {
        (Value::Struct(own), Part::Field(name)) => own.fields.get_mut(name),
        (Value::Tuple(all), Part::Field(name)) => all.get_mut(name.parse::<usize>().ok()?),
        (Value::Variant(own), Part::Field(name)) => match own.fields.contains_key(name) {
            true => own.fields.get_mut(name),
            false => own.args.get_mut(name.parse::<usize>().ok()?),
        },
        (Value::Array(all), Part::Element(at)) => all.get_mut(*at),
        (_, _) => None,
    }
}

/// The value without the references to it.
pub(crate) fn deref(value: Value) -> Value {
    let mut value = value;
    while let Value::Ref(reference) = &value {
        match reference.read() {
            Some(inner) => value = inner,
            None => break,
        }
    }
    value
}

impl Evaluator<'_> {
    /// A new variable.
    pub(crate) fn slot(&mut self, value: Value) -> Rc<Slot> {
        self.slots += 1;
        Slot::new(self.slots, value)
    }

    /// The variable or part that an expression names; the value of another expression is in a variable without a name.
    pub(crate) fn place(&mut self, frame: &mut Frame, expr: &syn::Expr) -> Eval<Reference> {
        match expr {
            syn::Expr::Paren(inner) => self.place(frame, &inner.expr),
            syn::Expr::Group(inner) => self.place(frame, &inner.expr),
            syn::Expr::Path(path) => {
                match path.path.get_ident().and_then(|name| frame.slot(&name.to_string())) {
                    Some(slot) => Ok(Reference::of(slot)),
                    None => self.temporary(frame, expr),
                }
            }
            syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr: inner, .. }) => {
                let own = self.place(frame, inner)?;
                Ok(match own.read() {
                    Some(Value::Ref(target)) => target,
                    Some(_) | None => own,
                })
            }
            syn::Expr::Field(field) => {
                let base = self.place(frame, &field.base)?;
                let part = followed(base.clone()).part(Part::Field(member(&field.member)));
                match part.with(|_| ()) {
                    Some(()) => Ok(part),
                    None => self.temporary(frame, expr),
                }
            }
            syn::Expr::Index(index) => {
                let base = followed(self.place(frame, &index.expr)?);
                self.check_one_index(frame, &base, &index.index)?;
                let at = self.expr(frame, &index.index, &Default::default())?;
                match (base.with(|value| matches!(value, Value::Array(_))), deref(at)) {
                    (Some(true), Value::Int(at)) => self.element_of(frame, index.span(), base, at.number()),
                    (Some(true), Value::Range(range)) => {
                        let value = self.slice(frame, index.span(), &base, &range)?;
                        Ok(Reference::of_copy(self.slot(value)))
                    }
                    (Some(true), Value::Index(_)) => Err(self.needs_number(frame, index.span())),
                    (_, at) => {
                        let kind = base.with(Value::kind).unwrap_or("nothing".into());
                        let message = format!("{kind} has no element at {}", at.kind());
                        Err(frame.error(index.span(), message))
                    }
                }
            }
            _ => self.temporary(frame, expr),
        }
    }

    /// The value of an expression as a variable without a name.
    fn temporary(&mut self, frame: &mut Frame, expr: &syn::Expr) -> Eval<Reference> {
        match self.expr_value(frame, expr, &Default::default())? {
            Value::Ref(reference) => Ok(reference),
            value => Ok(Reference::of(self.slot(value))),
        }
    }

    /// Refuses a choice by the index of a loop among tensors of an array: the vendor's compiler wants one index.
    fn check_one_index(&self, frame: &Frame, base: &Reference, index: &syn::Expr) -> Eval<()> {
        let is_number =
            |own: &Value| matches!(own, Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Char(_));
        let tensors = base.with(|value| matches!(value, Value::Array(all) if !all.iter().all(is_number)));
        match chosen(frame, index).filter(|_| tensors == Some(true)) {
            None => Ok(()),
            Some(span) => {
                let message = "the index of an array is a choice by the index of a loop, expected a constant or \
                               the index itself";
                let fix = "write one access in each arm";
                Err(Stop::Error(Error::new(frame.place(span), message).fix(fix)))
            }
        }
    }

    fn element_of(&self, frame: &Frame, span: Span, base: Reference, at: Option<i128>) -> Eval<Reference> {
        let count = base.with(|value| match value {
            Value::Array(all) => all.len(),
            _ => 0,
        });
        let count = count.unwrap_or_default();
        match at.and_then(|at| usize::try_from(at).ok()).filter(|&at| at < count) {
            Some(at) => Ok(base.part(Part::Element(at))),
            None => {
                let at = at.map_or_else(|| "a large number".to_owned(), |at| at.to_string());
                Err(frame.error(span, format!("element {at} of an array of {count}: Rust panics")))
            }
        }
    }

    /// Some elements of an array.
    fn slice(&self, frame: &Frame, span: Span, base: &Reference, range: &crate::value::Range) -> Eval<Value> {
        let Some(Value::Array(all)) = base.read() else { return Err(frame.error(span, "no array")) };
        let of = |bound: &Option<Value>, other: usize| match bound {
            Some(value) => value.integer().and_then(|at| usize::try_from(at).ok()),
            None => Some(other),
        };
        let start = of(&range.start, 0);
        let end = of(&range.end, all.len()).and_then(|end| end.checked_add(range.inclusive.into()));
        let part = start.zip(end).and_then(|(start, end)| all.get(start..end));
        match part {
            Some(part) => Ok(Value::Array(part.to_vec())),
            None => {
                Err(frame.error(span, format!("a range that an array of {} lacks: Rust panics", all.len())))
            }
        }
    }

    /// Gives a variable or a part of one another value. A variable outside of a loop that is read once for all its
    /// iterations does not change there.
    pub(crate) fn write(&self, frame: &Frame, span: Span, place: &Reference, value: Value) -> Eval<()> {
        self.change(frame, span, place, |own| *own = value)
    }

    /// Changes a variable or a part of one.
    pub(crate) fn change<T>(
        &self,
        frame: &Frame,
        span: Span,
        place: &Reference,
        run: impl FnOnce(&mut Value) -> T,
    ) -> Eval<T> {
        if place.is_copy {
            let message = "a change of a part of an array, as `a[1..3]`, is not read";
            return Err(Stop::Error(
                Error::new(frame.place(span), message).fix("change the elements one by one"),
            ));
        }
        if place.slot.serial <= self.fixed {
            let message = "a variable changes from one iteration to the next";
            return Err(Stop::NeedsNumber(Error::new(frame.place(span), message)));
        }
        place.change(run).ok_or_else(|| frame.error(span, "a part that the variable lacks now"))
    }

    pub(crate) fn field(&mut self, frame: &mut Frame, field: &syn::ExprField) -> Eval<Value> {
        let base = followed(self.place(frame, &field.base)?);
        let name = member(&field.member);
        if let Some(found) = base.part(Part::Field(name.clone())).read() {
            return Ok(found);
        }
        let kind = base.with(|value| match (value, name.as_str()) {
            (Value::Context, "main") => Ok(Unit::Main),
            (Value::Context, "sub") => Ok(Unit::Sub),
            (Value::Context, "tdma" | "pdma" | "dma") => Ok(Unit::Dma),
            (value, _) => Err(value.kind()),
        });
        match kind {
            Some(Ok(unit)) => Ok(Value::Unit(unit)),
            Some(Err(kind)) => Err(frame.error(field.span(), format!("{kind} has no `{name}`"))),
            None => Err(frame.error(field.span(), format!("nothing has no `{name}`"))),
        }
    }

    /// `&x` and `&mut x`.
    pub(crate) fn reference(
        &mut self,
        frame: &mut Frame,
        own: &syn::ExprReference,
        want: &crate::eval::Want,
    ) -> Eval<Value> {
        // A place that is only read stays the same as long as it is borrowed: its value is as good.
        if own.mutability.is_none() {
            return Ok(deref(self.expr(frame, &own.expr, want)?));
        }
        match &*own.expr {
            syn::Expr::Path(_) | syn::Expr::Field(_) | syn::Expr::Index(_) | syn::Expr::Unary(_) => {
                Ok(self.place(frame, &own.expr)?.borrowed())
            }
            other => {
                let value = self.expr(frame, other, want)?;
                Ok(Reference::of(self.slot(value)).borrowed())
            }
        }
    }
}

/// The final target of a place, through the references in it.
pub(crate) fn followed(place: Reference) -> Reference {
    let mut place = place;
    let inner = |place: &Reference| {
        let found = place.with(|value| match value {
            Value::Ref(inner) => Some(inner.clone()),
            _ => None,
        });
        found.flatten()
    };
    while let Some(next) = inner(&place) {
        place = next;
    }
    place
}

/// The name of a field.
pub(crate) fn member(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(name) => crate::marks::plain(&name.to_string()).to_owned(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}
