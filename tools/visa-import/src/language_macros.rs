//! Calls of the language's macros: output, which is left out, assertions and panics.

use crate::constant::{Computed, computed};
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Want};
use crate::expand::arguments;
use crate::host::not_of_host;
use crate::place::deref;
use crate::program::last_name;
use crate::value::Value;
use syn::spanned::Spanned;

impl Evaluator<'_> {
    /// A macro of the language.
    pub(crate) fn macro_call(&mut self, frame: &mut Frame, mac: &syn::Macro) -> Eval<Value> {
        let name = last_name(&mac.path);
        match name.as_str() {
            "print" | "println" | "eprint" | "eprintln" => {
                self.silent(frame, mac, &name);
                Ok(Value::Nothing)
            }
            "dbg" => {
                self.silent(frame, mac, &name);
                let list = arguments(mac).map_err(|why| frame.error(mac.span(), why.to_string()))?;
                let values = list.iter().map(|own| self.expr(frame, own, &Want::default()));
                let values: Vec<Value> = values.collect::<Eval<_>>()?;
                Ok(match <[Value; 1]>::try_from(values) {
                    Ok([value]) => value,
                    Err(values) if values.is_empty() => Value::Nothing,
                    Err(values) => Value::Tuple(values),
                })
            }
            "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => {
                self.assertion(frame, mac, name.trim_start_matches("debug_"))
            }
            "panic" | "unimplemented" | "todo" | "unreachable" => {
                Err(frame.error(mac.span(), format!("the kernel reaches `{name}!`")))
            }
            _ if self.state.host.is_some() => Err(not_of_host(frame, mac.span(), &format!("{name}!"))),
            _ => Err(frame.error(mac.span(), format!("`{name}!` is not read in a kernel"))),
        }
    }

    /// Notes that the output of a macro is left out.
    fn silent(&mut self, frame: &Frame, mac: &syn::Macro, name: &str) {
        let message = format!("`{name}!` is left out: a kernel and a host program of visa print nothing");
        let remark = Error::new(frame.place(mac.span()), message);
        if !self.state.remarks.contains(&remark) {
            self.state.remarks.push(remark);
        }
    }

    /// A condition that must hold while a kernel is read; none on an index of a loop can be decided.
    fn assertion(&mut self, frame: &mut Frame, mac: &syn::Macro, name: &str) -> Eval<Value> {
        let list = arguments(mac).map_err(|why| frame.error(mac.span(), why.to_string()))?;
        let condition = match (name, list.iter().collect::<Vec<_>>().as_slice()) {
            ("assert", [condition, ..]) => (*condition).clone(),
            ("assert_eq", [left, right, ..]) => syn::parse_quote!((#left) == (#right)),
            ("assert_ne", [left, right, ..]) => syn::parse_quote!((#left) != (#right)),
            (_, _) => return Err(frame.error(mac.span(), format!("`{name}!` without what must hold"))),
        };
        // A condition on an index is one on a number that the kernel counts, also where it always holds.
        let counted = matches!(computed(frame, &condition), Some((_, Computed::Index)));
        match deref(self.expr(frame, &condition, &Want::default())?) {
            Value::Bool(false) => Err(frame.error(mac.span(), format!("`{name}!` does not hold"))),
            Value::Bool(true) if !counted => Ok(Value::Nothing),
            Value::Bool(true) | Value::Condition(_) => {
                let message =
                    format!("`{name}!` of a value known only at run time: the kernel does not stop");
                Err(frame.error(mac.span(), message))
            }
            other => Err(frame.error(mac.span(), format!("{} is no condition", other.kind()))),
        }
    }
}
