//! Methods of `Option`, `Result` and `Ordering`.

use super::{HostCall, panics};
use crate::eval::{Eval, Evaluator, Frame};
use crate::place::Part;
use crate::value::{Value, Variant};
use std::cmp::Ordering;

/// `Ok(value)` or `Err(value)`.
pub(crate) fn result(value: Result<Value, Value>) -> Value {
    match value {
        Ok(value) => Value::variant(vec!["Ok".to_owned()], vec![value]),
        Err(value) => Value::variant(vec!["Err".to_owned()], vec![value]),
    }
}

/// A value of `std::cmp::Ordering`.
pub(super) fn order(order: Ordering) -> Value {
    let name = match order {
        Ordering::Less => "Less",
        Ordering::Equal => "Equal",
        Ordering::Greater => "Greater",
    };
    Value::variant(vec![name.to_owned()], Vec::new())
}

/// A method of an order.
pub(super) fn of_order(own: &str, name: &str) -> Option<Value> {
    let own = match own {
        "Less" => Ordering::Less,
        "Equal" => Ordering::Equal,
        "Greater" => Ordering::Greater,
        _ => return None,
    };
    Some(match name {
        "is_lt" => Value::Bool(own.is_lt()),
        "is_le" => Value::Bool(own.is_le()),
        "is_gt" => Value::Bool(own.is_gt()),
        "is_ge" => Value::Bool(own.is_ge()),
        "is_eq" => Value::Bool(own.is_eq()),
        "is_ne" => Value::Bool(own.is_ne()),
        "reverse" => order(own.reverse()),
        _ => return None,
    })
}

impl Evaluator<'_> {
    /// The value of a method; `None` if there is none of that name that is read.
    pub(super) fn option_method(
        &mut self,
        frame: &mut Frame,
        own: Variant,
        call: &HostCall<'_>,
    ) -> Eval<Option<Value>> {
        let is_result = matches!(own.name(), "Ok" | "Err");
        let inner = own.args.first().cloned();
        let (value, error) = match own.name() {
            "Some" | "Ok" => (inner, None),
            _ => (None, inner),
        };
        // The same kind of value with another content.
        let wrapped = |value: Option<Value>, error: Option<Value>| match (is_result, value, error) {
            (false, value, _) => Value::option(value),
            (true, Some(value), _) => result(Ok(value)),
            (true, None, error) => result(Err(error.unwrap_or(Value::Nothing))),
        };
        let span = call.span;
        Ok(Some(match (call.name, &*call.args, value) {
            ("is_some", [], value) if !is_result => Value::Bool(value.is_some()),
            ("is_none", [], value) if !is_result => Value::Bool(value.is_none()),
            ("is_ok", [], value) if is_result => Value::Bool(value.is_some()),
            ("is_err", [], value) if is_result => Value::Bool(value.is_none()),
            ("unwrap", [], Some(value)) | ("expect", [_], Some(value)) => value,
            ("unwrap", [], None) | ("expect", [_], None) => return Err(panics(frame, span, call.name)),
            ("unwrap_err" | "expect_err", _, None) if is_result => match error {
                Some(error) => error,
                None => return Ok(None),
            },
            ("unwrap_or", [_], Some(value)) => value,
            ("unwrap_or", [other], None) => other.clone(),
            ("unwrap_or_else", [_], Some(value)) => value,
            ("unwrap_or_else", [closure], None) => {
                self.apply(frame, span, closure, error.into_iter().collect())?
            }
            ("map", [closure], Some(value)) => {
                wrapped(Some(self.apply(frame, span, closure, vec![value])?), None)
            }
            ("map", [_], None) => wrapped(None, error),
            ("map_err", [_], Some(value)) => wrapped(Some(value), None),
            ("map_err", [closure], None) => {
                let error = self.apply(frame, span, closure, error.into_iter().collect())?;
                wrapped(None, Some(error))
            }
            ("map_or", [_, closure], Some(value)) => self.apply(frame, span, closure, vec![value])?,
            ("map_or", [other, _], None) => other.clone(),
            ("map_or_else", [_, closure], Some(value)) => self.apply(frame, span, closure, vec![value])?,
            ("map_or_else", [closure, _], None) => {
                self.apply(frame, span, closure, error.into_iter().collect())?
            }
            ("and_then", [closure], Some(value)) => self.apply(frame, span, closure, vec![value])?,
            ("and_then" | "and", [_], None) => wrapped(None, error),
            ("and", [other], Some(_)) => other.clone(),
            ("or" | "or_else", [_], Some(value)) => wrapped(Some(value), None),
            ("or", [other], None) => other.clone(),
            ("or_else", [closure], None) => self.apply(frame, span, closure, error.into_iter().collect())?,
            ("filter", [closure], Some(value)) if !is_result => {
                let stays = self.decides(frame, span, closure, value.clone())?;
                Value::option(stays.then_some(value))
            }
            ("filter", [_], None) if !is_result => Value::option(None),
            ("is_some_and" | "is_ok_and", [closure], Some(value)) => {
                Value::Bool(self.decides(frame, span, closure, value)?)
            }
            ("is_some_and" | "is_ok_and", [_], None) => Value::Bool(false),
            ("ok", [], value) if is_result => Value::option(value),
            ("err", [], _) if is_result => Value::option(error),
            ("ok_or", [_], Some(value)) if !is_result => result(Ok(value)),
            ("ok_or", [error], None) if !is_result => result(Err(error.clone())),
            ("ok_or_else", [_], Some(value)) if !is_result => result(Ok(value)),
            ("ok_or_else", [closure], None) if !is_result => {
                result(Err(self.apply(frame, span, closure, Vec::new())?))
            }
            ("clone" | "cloned", [], value) => {
                let mut own = |value: Option<Value>| {
                    value.map(|value| self.cloned(frame, span, crate::place::deref(value))).transpose()
                };
                wrapped(own(value)?, own(error)?)
            }
            ("as_mut", [], value) => {
                let part = call.place.part(Part::Field("0".to_owned())).borrowed();
                wrapped(value.map(|_| part.clone()), error.map(|_| part))
            }
            ("as_ref" | "copied", [], value) => {
                let own = |value: Option<Value>| value.map(crate::place::deref);
                wrapped(own(value), own(error))
            }
            ("take", [], value) if !is_result => {
                self.write(frame, span, &call.place, Value::option(None))?;
                Value::option(value)
            }
            ("replace", [new], value) if !is_result => {
                self.write(frame, span, &call.place, Value::option(Some(new.clone())))?;
                Value::option(value)
            }
            (_, _, _) => return Ok(None),
        }))
    }
}
