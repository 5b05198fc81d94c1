//! Branches and loops of the host: `if`, `match`, `while`, `loop`, and where `break` and `continue` go.

use crate::eval::{Eval, Evaluator, Frame, MAX_STEPS, Stop, Want};
use crate::place::deref;
use crate::value::{Type, Value};
use syn::spanned::Spanned;

/// The result of one iteration.
pub(crate) enum Iteration {
    /// The next one follows.
    Next,
    /// The loop ends with a value.
    Ends(Value),
}

impl Evaluator<'_> {
    /// The value of a block that has a label, of which a `break` may be the value.
    pub(crate) fn labelled(label: Option<&syn::Label>, found: Eval<Value>) -> Eval<Value> {
        match found {
            Err(Stop::Break(Some(to), value)) if is_label(label, &to) => Ok(value),
            other => other,
        }
    }

    /// The continuation after the body of a loop with a label.
    pub(crate) fn iterated(label: Option<&syn::Label>, found: Eval<Value>) -> Eval<Iteration> {
        match found {
            Ok(_) => Ok(Iteration::Next),
            Err(Stop::Continue(to)) if to.as_ref().is_none_or(|to| is_label(label, to)) => {
                Ok(Iteration::Next)
            }
            Err(Stop::Break(to, value)) if to.as_ref().is_none_or(|to| is_label(label, to)) => {
                Ok(Iteration::Ends(value))
            }
            Err(other) => Err(other),
        }
    }

    /// `let PATTERN = value` as a condition.
    pub(crate) fn let_condition(&mut self, frame: &mut Frame, own: &syn::ExprLet) -> Eval<Value> {
        let value = self.scrutinee(frame, &own.expr)?;
        self.fits(frame, &own.pat, value).map(Value::Bool)
    }

    /// The value that patterns are tested on.
    fn scrutinee(&mut self, frame: &mut Frame, expr: &syn::Expr) -> Eval<Value> {
        self.expr(frame, expr, &Want::default())
    }

    pub(crate) fn branch(&mut self, frame: &mut Frame, own: &syn::ExprIf, want: &Want) -> Eval<Value> {
        match deref(self.expr(frame, &own.cond, &Want::default())?) {
            Value::Bool(true) => self.block(frame, &own.then_branch, want),
            Value::Bool(false) => match &own.else_branch {
                Some((_, other)) => self.expr(frame, other, want),
                None => Ok(Value::Nothing),
            },
            Value::Condition(condition) => self.branch_on(frame, own, &condition, want),
            other => Err(frame.error(own.cond.span(), format!("{} is no condition", other.kind()))),
        }
    }

    pub(crate) fn matched(&mut self, frame: &mut Frame, own: &syn::ExprMatch, want: &Want) -> Eval<Value> {
        let value = self.scrutinee(frame, &own.expr)?;
        for arm in &own.arms {
            if !self.fits(frame, &arm.pat, value.clone())? {
                continue;
            }
            if let Some((_, guard)) = &arm.guard {
                let found = self.expr(frame, guard, &Want::default())?;
                if !self.truth(frame, guard.span(), found)? {
                    continue;
                }
            }
            return self.expr(frame, &arm.body, want);
        }
        Err(frame.error(own.span(), "no arm fits"))
    }

    pub(crate) fn while_loop(&mut self, frame: &mut Frame, own: &syn::ExprWhile) -> Eval<Value> {
        loop {
            self.step(frame, own.span())?;
            match deref(self.expr(frame, &own.cond, &Want::default())?) {
                Value::Bool(false) => return Ok(Value::Nothing),
                Value::Bool(true) => {}
                Value::Condition(_) => return Err(self.needs_number(frame, own.cond.span())),
                other => {
                    return Err(frame.error(own.cond.span(), format!("{} is no condition", other.kind())));
                }
            }
            let found = self.block(frame, &own.body, &Want::default());
            match Self::iterated(own.label.as_ref(), found)? {
                Iteration::Next => {}
                Iteration::Ends(_) => return Ok(Value::Nothing),
            }
        }
    }

    pub(crate) fn endless(&mut self, frame: &mut Frame, own: &syn::ExprLoop, want: &Want) -> Eval<Value> {
        loop {
            self.step(frame, own.span()).map_err(|_| {
                frame.error(own.span(), format!("a loop of more than {MAX_STEPS} steps: does it end?"))
            })?;
            let found = self.block(frame, &own.body, want);
            match Self::iterated(own.label.as_ref(), found)? {
                Iteration::Next => {}
                Iteration::Ends(value) => return Ok(value),
            }
        }
    }

    /// `value?`: the value in `Some` or `Ok`; another value is that of the function.
    pub(crate) fn tried_value(&mut self, frame: &mut Frame, own: &syn::ExprTry, want: &Want) -> Eval<Value> {
        if let Some(result) = self.awaited_result(frame, &own.expr, "?", want) {
            return result;
        }
        let within = want.ty.clone().map_or_else(Want::default, |ty| Want::of(Type::Within(ty.into())));
        match deref(self.expr(frame, &own.expr, &within)?) {
            Value::Variant(variant) => match (variant.name(), &*variant.args) {
                ("Some" | "Ok", [value]) => Ok(value.clone()),
                ("None", []) | ("Err", [_]) => Err(Stop::Return(Value::Variant(variant))),
                (_, _) => Err(frame.error(own.span(), "`?` is of an `Option` or a `Result`")),
            },
            other if self.launched_result(&other, "?").is_some() => Ok(other),
            other => Err(frame.error(own.span(), format!("`?` of {} is not read in a kernel", other.kind()))),
        }
    }
}

fn is_label(label: Option<&syn::Label>, name: &str) -> bool {
    label.is_some_and(|label| label.name.ident == name)
}
