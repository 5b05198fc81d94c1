//! Iterators of the host: each gives its values one after the other, and closures run when their value is asked for.

use crate::eval::{Eval, Evaluator, Frame};
use crate::integer::{Int, IntOp, IntTy};
use crate::place::{Part, deref};
use crate::value::{Type, Value};
use proc_macro2::Span;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// An iterator and its remaining values.
#[derive(Clone)]
pub(crate) enum Iter {
    /// Integers from the first up to the last, if there are some left; without a last, all of them.
    Numbers(Option<(Int, Option<Int>)>),
    Values(VecDeque<Value>),
    Map(Box<Iter>, Value),
    Filter(Box<Iter>, Value),
    TakeWhile(Option<Box<Iter>>, Value),
    SkipWhile(Box<Iter>, Option<Value>),
    Reversed(Box<Iter>),
    Stepped {
        of: Box<Iter>,
        by: usize,
        started: bool,
    },
    Numbered(Box<Iter>, usize),
    Zip(Box<Iter>, Box<Iter>),
    Chain(Box<Iter>, Box<Iter>),
    Take(Box<Iter>, usize),
    Skip(Box<Iter>, usize),
    Copied(Box<Iter>),
    Cloned(Box<Iter>),
    /// An iterator that is used elsewhere too.
    Shared(Rc<RefCell<Iter>>),
}

impl Evaluator<'_> {
    /// The iterator that a loop makes of a value.
    pub(crate) fn iterator(&mut self, frame: &Frame, span: Span, value: Value) -> Eval<Rc<RefCell<Iter>>> {
        let own = match value {
            Value::Iter(own) => return Ok(own),
            // The elements of a changed array are changed one by one.
            Value::Ref(of) => match of.read() {
                Some(Value::Array(all)) => {
                    let part = |at| of.part(Part::Element(at)).borrowed();
                    Iter::Values((0..all.len()).map(part).collect())
                }
                Some(Value::Iter(own)) => Iter::Shared(own),
                Some(range @ Value::Range(_)) => {
                    // A range that is gone through by reference has fewer numbers then.
                    let own = self.iterator(frame, span, range)?;
                    self.write(frame, span, &of, Value::Iter(Rc::clone(&own)))?;
                    Iter::Shared(own)
                }
                Some(other) => return self.iterator(frame, span, other),
                None => return Err(frame.error(span, "nothing that a loop goes through")),
            },
            Value::Array(all) => Iter::Values(all.into()),
            Value::Range(range) => match (&range.start, &range.end) {
                (Some(Value::Int(start)), end @ (Some(Value::Int(_)) | None)) => {
                    let end = match end {
                        Some(Value::Int(end)) => Some(*end),
                        Some(_) | None => None,
                    };
                    Iter::numbers(*start, end, range.inclusive)
                        .ok_or_else(|| frame.error(span, "a range of two types"))?
                }
                (Some(Value::Char(start)), Some(Value::Char(end))) => {
                    let all = (*start..=*end).filter(|own| range.inclusive || own != end);
                    Iter::Values(all.map(Value::Char).collect())
                }
                (_, _) => return Err(self.needs_number(frame, span)),
            },
            Value::Variant(own) if matches!(own.name(), "Some" | "None") => Iter::Values(own.args.into()),
            other => {
                return Err(
                    frame.error(span, format!("{} is nothing that a loop goes through", other.kind()))
                );
            }
        };
        Ok(Rc::new(RefCell::new(own)))
    }

    /// The next value.
    pub(crate) fn next(
        &mut self,
        frame: &mut Frame,
        span: Span,
        iter: &Rc<RefCell<Iter>>,
    ) -> Eval<Option<Value>> {
        let mut own = std::mem::replace(&mut *iter.borrow_mut(), Iter::Values(VecDeque::new()));
        let found = self.advance(frame, span, &mut own, false);
        *iter.borrow_mut() = own;
        found
    }

    /// The next value from the front or from the back.
    pub(crate) fn advance(
        &mut self,
        frame: &mut Frame,
        span: Span,
        iter: &mut Iter,
        back: bool,
    ) -> Eval<Option<Value>> {
        self.step(frame, span)?;
        match iter {
            Iter::Numbers(left) => Ok(number_of(left, back)),
            Iter::Values(all) => Ok(if back { all.pop_back() } else { all.pop_front() }),
            Iter::Map(of, closure) => match self.advance(frame, span, of, back)? {
                Some(value) => self.apply(frame, span, &closure.clone(), vec![value]).map(Some),
                None => Ok(None),
            },
            Iter::Filter(of, closure) => {
                while let Some(value) = self.advance(frame, span, of, back)? {
                    if self.decides(frame, span, &closure.clone(), value.clone())? {
                        return Ok(Some(value));
                    }
                }
                Ok(None)
            }
            Iter::Reversed(of) => self.advance(frame, span, of, !back),
            Iter::Take(_, 0) => Ok(None),
            Iter::Chain(first, second) => {
                let (first, second) = if back { (second, first) } else { (first, second) };
                match self.advance(frame, span, first, back)? {
                    Some(value) => Ok(Some(value)),
                    None => self.advance(frame, span, second, back),
                }
            }
            Iter::Copied(of) => Ok(self.advance(frame, span, of, back)?.map(deref)),
            Iter::Cloned(of) => {
                let found = self.advance(frame, span, of, back)?;
                found.map(|value| self.cloned(frame, span, deref(value))).transpose()
            }
            Iter::Shared(of) => {
                let of = Rc::clone(of);
                let mut own = std::mem::replace(&mut *of.borrow_mut(), Iter::Values(VecDeque::new()));
                let found = self.advance(frame, span, &mut own, back);
                *of.borrow_mut() = own;
                found
            }
            other if back => self.backward(frame, span, other),
            other => self.forward(frame, span, other),
        }
    }

    /// The next value from the back of an iterator that counts from its front, which must know how many there are.
    fn backward(&mut self, frame: &mut Frame, span: Span, iter: &mut Iter) -> Eval<Option<Value>> {
        let Some(count) = iter.count() else {
            return Err(frame.error(span, "an iterator of this kind from its back is not read"));
        };
        if count == 0 {
            return Ok(None);
        }
        match iter {
            Iter::Numbered(of, at) => {
                let number = *at + count - 1;
                let value = self.advance(frame, span, of, true)?;
                Ok(value.map(|value| Value::Tuple(vec![Value::Int(Int::size(number)), value])))
            }
            Iter::Take(of, left) => {
                while of.count().is_some_and(|own| own > *left) {
                    self.advance(frame, span, of, true)?;
                }
                *left -= 1;
                self.advance(frame, span, of, true)
            }
            Iter::Skip(of, _) => self.advance(frame, span, of, true),
            Iter::Stepped { of, by, started } => {
                let rest = of.count().unwrap_or_default() % *by;
                let skipped = match (*started, rest) {
                    (true, rest) => rest,
                    (false, 0) => *by - 1,
                    (false, rest) => rest - 1,
                };
                for _ in 0..skipped {
                    self.advance(frame, span, of, true)?;
                }
                self.advance(frame, span, of, true)
            }
            Iter::Zip(one, other) => {
                for own in [&mut *one, &mut *other] {
                    while own.count().is_some_and(|own| own > count) {
                        self.advance(frame, span, own, true)?;
                    }
                }
                let (left, right) =
                    (self.advance(frame, span, one, true)?, self.advance(frame, span, other, true)?);
                Ok(left.zip(right).map(|(left, right)| Value::Tuple(vec![left, right])))
            }
            _ => Err(frame.error(span, "an iterator of this kind from its back is not read")),
        }
    }

    /// The next value of an iterator that counts from its front.
    fn forward(&mut self, frame: &mut Frame, span: Span, iter: &mut Iter) -> Eval<Option<Value>> {
        match iter {
            Iter::TakeWhile(of, closure) => {
                let Some(inner) = of else { return Ok(None) };
                let value = self.advance(frame, span, inner, false)?;
                let Some(value) = value else { return Ok(None) };
                if self.decides(frame, span, &closure.clone(), value.clone())? {
                    return Ok(Some(value));
                }
                *of = None;
                Ok(None)
            }
            Iter::SkipWhile(of, closure) => {
                while let Some(value) = self.advance(frame, span, of, false)? {
                    let skips = match closure {
                        Some(closure) => self.decides(frame, span, &closure.clone(), value.clone())?,
                        None => false,
                    };
                    if !skips {
                        *closure = None;
                        return Ok(Some(value));
                    }
                }
                Ok(None)
            }
            Iter::Stepped { of, by, started } => {
                let skipped = if std::mem::replace(started, true) { *by - 1 } else { 0 };
                for _ in 0..skipped {
                    if self.advance(frame, span, of, false)?.is_none() {
                        return Ok(None);
                    }
                }
                self.advance(frame, span, of, false)
            }
            Iter::Numbered(of, at) => {
                let value = self.advance(frame, span, of, false)?;
                *at += 1;
                Ok(value.map(|value| Value::Tuple(vec![Value::Int(Int::size(*at - 1)), value])))
            }
            Iter::Zip(one, other) => {
                let Some(left) = self.advance(frame, span, one, false)? else { return Ok(None) };
                let Some(right) = self.advance(frame, span, other, false)? else { return Ok(None) };
                Ok(Some(Value::Tuple(vec![left, right])))
            }
            Iter::Take(of, left) => {
                *left -= 1;
                self.advance(frame, span, of, false)
            }
            Iter::Skip(of, left) => {
                while *left > 0 {
                    *left -= 1;
                    if self.advance(frame, span, of, false)?.is_none() {
                        return Ok(None);
                    }
                }
                self.advance(frame, span, of, false)
            }
            Iter::Numbers(_)
            | Iter::Values(_)
            | Iter::Map(..)
            | Iter::Filter(..)
            | Iter::Reversed(_)
            | Iter::Copied(_)
            | Iter::Cloned(_)
            | Iter::Shared(_)
            | Iter::Chain(..) => self.advance(frame, span, iter, false),
        }
    }

    /// The decision of a closure on a value.
    pub(crate) fn decides(
        &mut self,
        frame: &mut Frame,
        span: Span,
        closure: &Value,
        value: Value,
    ) -> Eval<bool> {
        let found = self.apply(frame, span, closure, vec![value])?;
        self.truth(frame, span, found)
    }

    /// A method of an iterator; `None` if it has none of that name.
    pub(crate) fn iterator_method(
        &mut self,
        frame: &mut Frame,
        span: Span,
        (name, ty, of): (&str, Option<Type>, &Rc<RefCell<Iter>>),
        mut args: Vec<Value>,
    ) -> Eval<Option<Value>> {
        let count = |value: &Value| value.integer().and_then(|own| usize::try_from(own).ok());
        let arg = (!args.is_empty()).then(|| args.remove(0));
        let taken = || Box::new(of.borrow().clone());
        let made = match (name, arg) {
            ("map", Some(closure)) => Iter::Map(taken(), closure),
            ("filter", Some(closure)) => Iter::Filter(taken(), closure),
            ("take_while", Some(closure)) => Iter::TakeWhile(Some(taken()), closure),
            ("skip_while", Some(closure)) => Iter::SkipWhile(taken(), Some(closure)),
            ("rev", None) => Iter::Reversed(taken()),
            ("enumerate", None) => Iter::Numbered(taken(), 0),
            ("step_by", Some(by)) => match count(&by).filter(|&by| by > 0) {
                Some(by) => Iter::Stepped { of: taken(), by, started: false },
                None => return Err(frame.error(span, "`step_by` of 0: Rust panics")),
            },
            ("take", Some(own)) => match count(&own) {
                Some(own) => Iter::Take(taken(), own),
                None => return Err(self.needs_number(frame, span)),
            },
            ("skip", Some(own)) => match count(&own) {
                Some(own) => Iter::Skip(taken(), own),
                None => return Err(self.needs_number(frame, span)),
            },
            ("zip", Some(other)) => {
                let other = self.iterator(frame, span, other)?;
                let other = other.borrow().clone();
                Iter::Zip(taken(), Box::new(other))
            }
            ("chain", Some(other)) => {
                let other = self.iterator(frame, span, other)?;
                let other = other.borrow().clone();
                Iter::Chain(taken(), Box::new(other))
            }
            ("iter" | "into_iter", None) => return Ok(Some(Value::Iter(Rc::clone(of)))),
            ("by_ref", None) => Iter::Shared(Rc::clone(of)),
            ("copied", None) => Iter::Copied(taken()),
            ("cloned", None) => Iter::Cloned(taken()),
            ("next", None) => return Ok(Some(Value::option(self.next(frame, span, of)?))),
            (_, arg) => {
                return self.consumed(frame, span, (name, ty, of), arg.into_iter().chain(args).collect());
            }
        };
        Ok(Some(Value::Iter(Rc::new(RefCell::new(made)))))
    }

    /// All values that are left.
    pub(crate) fn all(&mut self, frame: &mut Frame, span: Span, of: &Rc<RefCell<Iter>>) -> Eval<Vec<Value>> {
        let mut all = Vec::new();
        while let Some(value) = self.next(frame, span, of)? {
            all.push(value);
        }
        Ok(all)
    }

    /// A method that goes through an iterator.
    fn consumed(
        &mut self,
        frame: &mut Frame,
        span: Span,
        (name, ty, of): (&str, Option<Type>, &Rc<RefCell<Iter>>),
        args: Vec<Value>,
    ) -> Eval<Option<Value>> {
        Ok(Some(match (name, &*args) {
            ("count", []) => Value::Int(Int::size(self.all(frame, span, of)?.len())),
            ("last", []) => Value::option(self.all(frame, span, of)?.pop()),
            ("collect", []) => Value::Array(self.all(frame, span, of)?),
            ("nth", [at]) => {
                let Some(at) = at.integer() else { return Err(self.needs_number(frame, span)) };
                for _ in 0..at {
                    self.next(frame, span, of)?;
                }
                Value::option(self.next(frame, span, of)?)
            }
            ("fold", [first, closure]) => {
                let mut found = first.clone();
                while let Some(value) = self.next(frame, span, of)? {
                    found = self.apply(frame, span, closure, vec![found, value])?;
                }
                found
            }
            ("for_each", [closure]) => {
                while let Some(value) = self.next(frame, span, of)? {
                    self.apply(frame, span, closure, vec![value])?;
                }
                Value::Nothing
            }
            ("any" | "all", [closure]) => {
                let wanted = name == "any";
                while let Some(value) = self.next(frame, span, of)? {
                    if self.decides(frame, span, closure, value)? == wanted {
                        return Ok(Some(Value::Bool(wanted)));
                    }
                }
                Value::Bool(!wanted)
            }
            ("find", [closure]) => {
                while let Some(value) = self.next(frame, span, of)? {
                    if self.decides(frame, span, closure, value.clone())? {
                        return Ok(Some(Value::option(Some(value))));
                    }
                }
                Value::option(None)
            }
            ("position", [closure]) => {
                let mut at = 0;
                while let Some(value) = self.next(frame, span, of)? {
                    if self.decides(frame, span, closure, value)? {
                        return Ok(Some(Value::option(Some(Value::Int(Int::size(at))))));
                    }
                    at += 1;
                }
                Value::option(None)
            }
            ("min" | "max", []) => {
                let mut best: Option<Value> = None;
                while let Some(value) = self.next(frame, span, of)? {
                    let value = deref(value);
                    best = Some(match best {
                        Some(best) => self.extreme(frame, span, name == "max", best, value)?,
                        None => value,
                    });
                }
                Value::option(best)
            }
            ("sum" | "product", []) => return self.total(frame, span, (name == "sum", ty), of),
            (_, _) => return Ok(None),
        }))
    }

    /// The sum or the product of integers or floats, from the first on; that of none has the type that the call names.
    fn total(
        &mut self,
        frame: &mut Frame,
        span: Span,
        (sum, ty): (bool, Option<Type>),
        of: &Rc<RefCell<Iter>>,
    ) -> Eval<Option<Value>> {
        let op = if sum { syn::BinOp::Add(Default::default()) } else { syn::BinOp::Mul(Default::default()) };
        let mut found: Option<Value> = None;
        while let Some(value) = self.next(frame, span, of)? {
            let value = deref(value);
            found = Some(match found {
                Some(found) => self.operated(frame, span, &op, found, value)?,
                None => value,
            });
        }
        let of_none = || match ty {
            Some(Type::Number(name)) => {
                IntTy::named(&name).map(|ty| Value::Int(Int::wrapped(ty, (!sum).into())))
            }
            Some(_) | None => None,
        };
        match found.or_else(of_none) {
            Some(found) => Ok(Some(found)),
            None => Err(frame.error(span, "the sum or product of nothing is not read")),
        }
    }

    /// The greater or the lesser of two values: of equal ones the last and the first, as Rust has it.
    pub(crate) fn extreme(
        &mut self,
        frame: &mut Frame,
        span: Span,
        max: bool,
        left: Value,
        right: Value,
    ) -> Eval<Value> {
        let op = syn::BinOp::Lt(Default::default());
        let right_is_less = self.compares(frame, span, &op, right.clone(), left.clone())?;
        Ok(if right_is_less == max { left } else { right })
    }
}

impl Iter {
    /// The numbers of a range; `None` for one of two types.
    pub(crate) fn numbers(start: Int, end: Option<Int>, inclusive: bool) -> Option<Self> {
        let ty = end.map_or(Some(start.ty), |end| start.ty.common(end.ty))?;
        let start = start.cast(ty);
        let Some(end) = end.map(|end| end.cast(ty)) else { return Some(Self::Numbers(Some((start, None)))) };
        let one = Int::wrapped(ty, 1);
        let last = if inclusive { Some(end) } else { end.checked(IntOp::Sub, one) };
        let last =
            last.filter(|last| start.compare(*last).is_le() && (inclusive || start.compare(end).is_lt()));
        Some(Self::Numbers(last.map(|last| (start, Some(last)))))
    }

    /// Number of values left, if that is known before they are made.
    fn count(&self) -> Option<usize> {
        match self {
            Self::Numbers(None) => Some(0),
            Self::Numbers(Some((start, last))) => {
                let count = (*last)?.number()?.checked_sub(start.number()?)?.checked_add(1)?;
                usize::try_from(count).ok()
            }
            Self::Values(all) => Some(all.len()),
            Self::Shared(of) => of.borrow().count(),
            Self::Map(of, _)
            | Self::Reversed(of)
            | Self::Numbered(of, _)
            | Self::Copied(of)
            | Self::Cloned(of) => of.count(),
            Self::Stepped { of, by, started } => {
                let count = of.count()?;
                Some(if *started { count / by } else { count.div_ceil(*by) })
            }
            Self::Zip(one, other) => Some(one.count()?.min(other.count()?)),
            Self::Take(of, left) => Some(of.count()?.min(*left)),
            Self::Skip(of, left) => Some(of.count()?.saturating_sub(*left)),
            Self::Filter(..) | Self::TakeWhile(..) | Self::SkipWhile(..) | Self::Chain(..) => None,
        }
    }
}

fn number_of(left: &mut Option<(Int, Option<Int>)>, back: bool) -> Option<Value> {
    let (start, last) = (*left)?;
    let one = Int::wrapped(start.ty, 1);
    if let Some(last) = last {
        let next = if back {
            last.checked(IntOp::Sub, one).map(|end| (start, Some(end)))
        } else {
            start.checked(IntOp::Add, one).map(|own| (own, Some(last)))
        };
        *left = next.filter(|_| start.compare(last).is_lt());
        return Some(Value::Int(if back { last } else { start }));
    }
    *left = start.checked(IntOp::Add, one).map(|own| (own, None));
    Some(Value::Int(start))
}
