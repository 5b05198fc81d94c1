//! Assignments: to variables and their parts, to several at once, and through references to tensors.

use crate::constant::computed;
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Stop, Want};
use crate::marks::plain;
use crate::place::deref;
use crate::value::{Value, View};
use proc_macro2::Span;
use syn::spanned::Spanned;

impl Evaluator<'_> {
    pub(crate) fn assign(&mut self, frame: &mut Frame, assign: &syn::ExprAssign) -> Eval<Value> {
        if let syn::Expr::Path(path) = &*assign.left
            && let Some(name) = path.path.get_ident().map(ToString::to_string)
            && frame.slot(&name).is_none()
        {
            return Err(frame.error(assign.left.span(), format!("`{}` is no variable", plain(&name))));
        }
        let ty = self.type_of_place(frame, &assign.left);
        let name = variable(&assign.left).map(|name| plain(&name).to_owned());
        let reasons = reasons(frame, &assign.left, &assign.right);
        let value = self.expr(frame, &assign.right, &Want { ty, name })?;
        self.assigned_to(frame, &assign.left, value)?;
        for (name, why) in reasons {
            frame.mark(Some(name), Some(why));
        }
        Ok(Value::Nothing)
    }

    /// Gives a place a value; a tuple or an array of places, its parts.
    fn assigned_to(&mut self, frame: &mut Frame, left: &syn::Expr, value: Value) -> Eval<()> {
        let (elems, parts) = match (left, value) {
            (syn::Expr::Infer(_), _) => return Ok(()),
            (syn::Expr::Paren(inner), value) => return self.assigned_to(frame, &inner.expr, value),
            (syn::Expr::Group(inner), value) => return self.assigned_to(frame, &inner.expr, value),
            (syn::Expr::Tuple(tuple), Value::Tuple(parts)) => (&tuple.elems, parts),
            (syn::Expr::Array(array), Value::Array(parts)) => (&array.elems, parts),
            (syn::Expr::Tuple(_) | syn::Expr::Array(_), value) => {
                return Err(frame.error(left.span(), format!("{} does not fit the places", value.kind())));
            }
            (syn::Expr::Struct(_) | syn::Expr::Call(_), _) => {
                let error = Error::new(
                    frame.place(left.span()),
                    "an assignment to the fields of a structure at once is not read",
                );
                return Err(Stop::Error(error.fix("assign the fields one by one")));
            }
            (_, value) => return self.assign_place(frame, left, value),
        };
        let rest = elems.iter().position(is_rest);
        let fits = if rest.is_some() { elems.len() <= parts.len() + 1 } else { elems.len() == parts.len() };
        if !fits {
            let message = format!("{} places are assigned {} values", elems.len(), parts.len());
            return Err(frame.error(left.span(), message));
        }
        for (at, elem) in elems.iter().enumerate().filter(|(at, _)| Some(*at) != rest) {
            let from_end = rest.is_some_and(|rest| at > rest);
            let part = if from_end { parts.len() - (elems.len() - at) } else { at };
            self.assigned_to(frame, elem, parts[part].clone())?;
        }
        Ok(())
    }

    fn assign_place(&mut self, frame: &mut Frame, left: &syn::Expr, value: Value) -> Eval<()> {
        let place = self.place(frame, left)?;
        match place.read() {
            Some(Value::View(old)) if is_target(left) => self.replaced(frame, left.span(), &old, &value),
            Some(_) | None => self.write(frame, left.span(), &place, value),
        }
    }

    /// Makes the content of one tensor that of another one: a reference to a tensor is the tensor here, so that its
    /// owner sees the assigned content.
    pub(crate) fn replaced(&mut self, frame: &Frame, span: Span, old: &View, value: &Value) -> Eval<()> {
        let Value::View(new) = deref(value.clone()) else {
            return Err(frame.error(span, format!("{} is assigned to a tensor", value.kind())));
        };
        self.check_owned(frame, span, old)?;
        if !new.steps.is_empty() {
            return Err(frame.error(span, "a view is assigned to a tensor"));
        }
        let new = self.state.cells[new.place.0].clone();
        let cell = &mut self.state.cells[old.place.0];
        let (wanted, writes) = (cell.wanted.take(), cell.writes + 1);
        *cell = crate::eval::Cell { wanted, writes, ty: cell.ty.clone(), ..new };
        Ok(())
    }

    /// Refuses another content for an argument, which a caller would not see, and for a tensor from before a loop or
    /// branch that is read once for all iterations.
    fn check_owned(&self, frame: &Frame, span: Span, tensor: &View) -> Eval<()> {
        if self.state.cells[tensor.place.0].stays || !tensor.steps.is_empty() {
            let message = "an assignment replaces an argument of the kernel, whose memory the caller has";
            let fix = "write into it, as by `to_hbm_view(.., x.view_mut())`";
            return Err(Stop::Error(Error::new(frame.place(span), message).fix(fix)));
        }
        match tensor.place.0 < self.fixed_cells {
            true => {
                let message = "a tensor is replaced in an iteration";
                Err(Stop::NeedsNumber(Error::new(frame.place(span), message)))
            }
            false => Ok(()),
        }
    }

    /// `mem::swap` and `mem::replace` of tensors: the old content of the first one.
    pub(crate) fn exchanged(
        &mut self,
        frame: &Frame,
        span: Span,
        (one, other): (&View, &Value),
        swaps: bool,
    ) -> Eval<Value> {
        let before = self.state.cells[one.place.0].clone();
        let before = self.cell(before.name.clone(), before.ty, before.wanted);
        self.replaced(frame, span, one, other)?;
        match (swaps, other) {
            (true, Value::View(other)) => {
                self.replaced(frame, span, other, &Value::View(before))?;
                Ok(Value::Nothing)
            }
            (_, _) => Ok(Value::View(before)),
        }
    }
}

/// The variable that an expression names.
fn variable(expr: &syn::Expr) -> Option<String> {
    match expr {
        syn::Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

/// The variables among some places, with the reasons for their numbers to be known only when the kernel runs.
fn reasons(frame: &Frame, left: &syn::Expr, right: &syn::Expr) -> Vec<(String, crate::constant::Computed)> {
    match (left, right) {
        (syn::Expr::Tuple(left), syn::Expr::Tuple(right)) => {
            let pairs = left.elems.iter().zip(&right.elems);
            pairs.flat_map(|(left, right)| reasons(frame, left, right)).collect()
        }
        (_, _) => {
            let why = computed(frame, right).map(|(_, why)| why);
            variable(left).zip(why).into_iter().collect()
        }
    }
}

/// Returns true if an expression is the target of a reference.
fn is_target(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Paren(inner) => is_target(&inner.expr),
        syn::Expr::Group(inner) => is_target(&inner.expr),
        syn::Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)),
        _ => false,
    }
}

/// Returns true for `..` among places.
fn is_rest(expr: &syn::Expr) -> bool {
    matches!(expr, syn::Expr::Range(own) if own.start.is_none() && own.end.is_none())
}
