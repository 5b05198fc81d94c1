//! Methods of arrays and slices.

use super::{HostCall, panics};
use crate::eval::{Eval, Evaluator, Frame};
use crate::integer::Int;
use crate::iterate::Iter;
use crate::place::{Part, deref};
use crate::value::Value;
use std::cell::RefCell;
use std::rc::Rc;

impl Evaluator<'_> {
    /// The value of a method; `None` if arrays have none of that name that is read.
    pub(super) fn array_method(
        &mut self,
        frame: &mut Frame,
        all: Vec<Value>,
        call: &HostCall<'_>,
    ) -> Eval<Option<Value>> {
        let iter = |iter| Some(Value::Iter(Rc::new(RefCell::new(iter))));
        let at = |value: &Value| value.integer().and_then(|at| usize::try_from(at).ok());
        let args = call.plain();
        Ok(match (call.name, &*args) {
            ("len", []) => Some(Value::Int(Int::size(all.len()))),
            ("is_empty", []) => Some(Value::Bool(all.is_empty())),
            ("clone" | "to_vec" | "to_owned", []) => {
                Some(self.cloned(frame, call.span, Value::Array(all))?)
            }
            ("as_slice" | "as_ref", []) => Some(Value::Array(all)),
            ("iter" | "into_iter", []) => iter(Iter::Values(all.into())),
            ("iter_mut", []) => {
                self.change(frame, call.span, &call.place, |_| ())?;
                let part = |at| call.place.part(Part::Element(at)).borrowed();
                iter(Iter::Values((0..all.len()).map(part).collect()))
            }
            ("first", []) => Some(Value::option(all.first().cloned())),
            ("last", []) => Some(Value::option(all.last().cloned())),
            ("get", [own @ Value::Int(_)]) => {
                Some(Value::option(at(own).and_then(|at| all.get(at).cloned())))
            }
            ("get", [Value::Index(_)]) => return Err(self.needs_number(frame, call.span)),
            ("contains", [own]) => {
                let equal = syn::BinOp::Eq(Default::default());
                for value in all {
                    if self.compares(frame, call.span, &equal, value, own.clone())? {
                        return Ok(Some(Value::Bool(true)));
                    }
                }
                Some(Value::Bool(false))
            }
            ("swap", [one, other]) => match at(one).zip(at(other)) {
                Some((one, other)) if one.max(other) < all.len() => {
                    let mut all = all;
                    all.swap(one, other);
                    self.write(frame, call.span, &call.place, Value::Array(all))?;
                    Some(Value::Nothing)
                }
                Some(_) | None => return Err(panics(frame, call.span, "swap")),
            },
            ("reverse", []) => {
                let all = all.into_iter().rev().collect();
                self.write(frame, call.span, &call.place, Value::Array(all))?;
                Some(Value::Nothing)
            }
            ("fill", [value]) => {
                let value = self.cloned(frame, call.span, value.clone())?;
                let all = vec![value.clone(); all.len()];
                self.write(frame, call.span, &call.place, Value::Array(all))?;
                Some(Value::Nothing)
            }
            ("sort" | "sort_unstable", []) => {
                let all = self.sorted(frame, call, all)?;
                self.write(frame, call.span, &call.place, Value::Array(all))?;
                Some(Value::Nothing)
            }
            ("windows" | "chunks" | "chunks_exact", [size]) => {
                let Some(size) = at(size).filter(|&size| size > 0) else {
                    return Err(panics(frame, call.span, call.name));
                };
                let parts: Vec<&[Value]> = match call.name {
                    "windows" => all.windows(size).collect(),
                    "chunks" => all.chunks(size).collect(),
                    _ => all.chunks_exact(size).collect(),
                };
                iter(Iter::Values(parts.into_iter().map(|part| Value::Array(part.to_vec())).collect()))
            }
            ("map", [closure]) => {
                let mut made = Vec::new();
                for value in all {
                    made.push(self.apply(frame, call.span, closure, vec![value])?);
                }
                Some(Value::Array(made))
            }
            (_, _) => None,
        })
    }

    /// Values in their order, equal ones as they were.
    fn sorted(&mut self, frame: &mut Frame, call: &HostCall<'_>, all: Vec<Value>) -> Eval<Vec<Value>> {
        let less = syn::BinOp::Lt(Default::default());
        let mut sorted: Vec<Value> = Vec::with_capacity(all.len());
        for value in all.into_iter().map(deref) {
            let mut at = sorted.len();
            while at > 0 {
                if !self.compares(frame, call.span, &less, value.clone(), sorted[at - 1].clone())? {
                    break;
                }
                at -= 1;
            }
            sorted.insert(at, value);
        }
        Ok(sorted)
    }
}
