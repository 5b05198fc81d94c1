//! Methods of the host's values: of integers, floats, arrays, `Option` and `Result`, and those that the input
//! implements.

mod array;
mod float;
mod integer;
mod option;

use crate::eval::{Eval, Evaluator, Frame, Stop};
use crate::place::{Reference, deref};
use crate::program::Item;
use crate::value::{Index, Type, Value};
use proc_macro2::Span;

pub(crate) use option::result;

/// A call of a method of the host's.
pub(crate) struct HostCall<'c> {
    pub(crate) name: &'c str,
    pub(crate) span: Span,
    /// The variable that the receiver is, or is in.
    pub(crate) place: Reference,
    pub(crate) args: Vec<Value>,
    /// The types between `::<` and `>`.
    pub(crate) types: &'c [Type],
}

impl HostCall<'_> {
    /// The arguments without references.
    fn plain(&self) -> Vec<Value> {
        self.args.iter().cloned().map(deref).collect()
    }
}

impl Evaluator<'_> {
    /// The value of a method whose receiver is no tensor.
    pub(crate) fn host_method(&mut self, frame: &mut Frame, of: Value, call: HostCall<'_>) -> Eval<Value> {
        let kind = of.kind();
        let of = if call.name == "clone" { self.cloned(frame, call.span, of)? } else { of };
        let found = match of {
            Value::Int(own) => integer::method(frame, own, &call)?,
            Value::Float(own) => float::method(own, &call),
            Value::Array(all) => self.array_method(frame, all, &call)?,
            Value::Variant(own) if matches!(own.name(), "Some" | "None" | "Ok" | "Err") => {
                self.option_method(frame, *own, &call)?
            }
            Value::Variant(own) if own.path.len() == 1 => option::of_order(own.name(), call.name),
            Value::Iter(own) => {
                // The items that an iterator has left change.
                self.change(frame, call.span, &call.place, |_| ())?;
                let types = call.types.first().cloned();
                let args = call.args.clone();
                self.iterator_method(frame, call.span, (call.name, types, &own), args)?
            }
            Value::Range(range) => {
                let name = call.name;
                match (name, &range.start, &range.end, &*call.plain()) {
                    ("contains", Some(Value::Int(start)), Some(Value::Int(end)), [Value::Int(of)]) => {
                        let below =
                            if range.inclusive { of.compare(*end).is_le() } else { of.compare(*end).is_lt() };
                        Some(Value::Bool(start.compare(*of).is_le() && below))
                    }
                    _ => {
                        let iter = self.iterator(frame, call.span, Value::Range(range.clone()))?;
                        // The items left afterwards are the variable's.
                        self.write(frame, call.span, &call.place, Value::Iter(std::rc::Rc::clone(&iter)))?;
                        let (types, args) = (call.types.first().cloned(), call.args.clone());
                        self.iterator_method(frame, call.span, (name, types, &iter), args)?
                    }
                }
            }
            Value::Bool(truth) => match (call.name, &*call.args) {
                ("clone" | "into", []) => Some(Value::Bool(truth)),
                ("then", [closure]) => {
                    let value = match truth {
                        true => Some(self.apply(frame, call.span, closure, Vec::new())?),
                        false => None,
                    };
                    Some(Value::option(value))
                }
                ("then_some", [value]) => Some(Value::option(truth.then(|| value.clone()))),
                (_, _) => None,
            },
            value @ (Value::Char(_) | Value::Tuple(_) | Value::Function(_) | Value::Closure(_)) => {
                (call.name == "clone" && call.args.is_empty()).then_some(value)
            }
            Value::Struct(own) => {
                let derived = &self.program.adts[own.of.0].derived;
                let clones = call.name == "clone" && derived.iter().any(|name| name == "Clone");
                (clones && call.args.is_empty()).then_some(Value::Struct(own))
            }
            // Of the same number, either is.
            Value::Index(index)
                if matches!(call.name, "min" | "max")
                    && call.args.first().and_then(Index::of).as_ref() == Some(&index) =>
            {
                Some(Value::Index(index))
            }
            Value::Index(_) | Value::Condition(_) => return Err(self.needs_number(frame, call.span)),
            Value::Nothing
            | Value::Variant(_)
            | Value::Ref(_)
            | Value::Constructor(..)
            | Value::Context
            | Value::Unit(_)
            | Value::View(_)
            | Value::Stream(_)
            | Value::Deferred(_) => None,
        };
        found.ok_or_else(|| {
            frame.error(call.span, format!("`{}` of {kind} is not read in a kernel", call.name))
        })
    }

    /// The copy that `Clone` makes of a value; none of a value that runs code of the input or has a state elsewhere.
    pub(crate) fn cloned(&mut self, frame: &Frame, span: Span, value: Value) -> Eval<Value> {
        let mut value = value;
        let parts: Vec<&mut Value> = match &mut value {
            Value::Struct(own) => {
                let implemented = &self.program.adts[own.of.0].implemented;
                if implemented.iter().any(|name| name == "Clone") {
                    let message = "`clone` of what contains a `Clone` of the input is not read";
                    return Err(frame.error(span, message));
                }
                own.fields.values_mut().collect()
            }
            Value::Tuple(all) | Value::Array(all) => all.iter_mut().collect(),
            Value::Variant(own) => own.args.iter_mut().chain(own.fields.values_mut()).collect(),
            Value::Closure(own) => {
                if own.item.capture.is_some() {
                    for slot in own.frame.locals.values() {
                        self.cloned(frame, span, slot.value())?;
                    }
                }
                return Ok(self.copied(own));
            }
            Value::Iter(_) => return Err(frame.error(span, "`clone` of an iterator is not read")),
            Value::Nothing
            | Value::Int(_)
            | Value::Float(_)
            | Value::Bool(_)
            | Value::Char(_)
            | Value::Range(_)
            | Value::Ref(_)
            | Value::Function(_)
            | Value::Constructor(..)
            | Value::Index(_)
            | Value::Condition(_)
            | Value::Context
            | Value::Unit(_)
            | Value::View(_)
            | Value::Stream(_)
            | Value::Deferred(_) => Vec::new(),
        };
        for part in parts {
            *part = self.cloned(frame, span, part.clone())?;
        }
        Ok(value)
    }

    /// Calls a closure or a function on values.
    pub(crate) fn apply(
        &mut self,
        frame: &mut Frame,
        span: Span,
        of: &Value,
        args: Vec<Value>,
    ) -> Eval<Value> {
        match of {
            Value::Closure(closure) => self.run_closure(frame, span, closure, args),
            Value::Function(id) => self.run_fn(frame, span, *id, args),
            Value::Constructor(of, variant) => self.construct(frame, span, (*of, *variant), args),
            Value::Ref(own) => match own.read() {
                Some(inner) => self.apply(frame, span, &inner, args),
                None => Err(frame.error(span, "a reference to nothing is called")),
            },
            Value::Variant(own) if own.args.is_empty() => {
                let mut own = own.clone();
                own.args = args;
                Ok(Value::Variant(own))
            }
            other => Err(frame.error(span, format!("{} is not called", other.kind()))),
        }
    }

    /// A method that the input implements, if the receiver has one of that name.
    pub(crate) fn own_method(&self, of: &Value, name: &str) -> Option<crate::program::FnId> {
        let Value::Struct(own) = of else { return None };
        match self.program.adts[own.of.0].item(name) {
            Some(Item::Fn(id)) => Some(id),
            Some(_) | None => None,
        }
    }
}

/// The place where Rust panics.
pub(crate) fn panics(frame: &Frame, span: Span, name: &str) -> Stop {
    frame.error(span, format!("`{name}` panics here"))
}
