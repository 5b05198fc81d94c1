//! Loops over an index: one of ours, or each iteration by itself.

use crate::constant::Computed;
use crate::control::Iteration;
use crate::emit::new;
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Stop, Want};
use crate::integer::Int;
use crate::marks::plain;
use crate::value::{Affine, Index, PlaceId, Range, Value};
use syn::spanned::Spanned;
use visa_algebra::Expr;
use visa_ir::open;
use visa_mapping::ops::control::For;

/// Iterations of a loop that are written out.
pub(crate) const MAX_WRITTEN_OUT: i128 = 4096;

impl Evaluator<'_> {
    pub(crate) fn for_loop(&mut self, frame: &mut Frame, own: &syn::ExprForLoop) -> Eval<Value> {
        let over = self.expr(frame, &own.expr, &Want::default())?;
        let unrolls = own
            .attrs
            .iter()
            .any(|attr| attr.path().segments.last().is_some_and(|last| last.ident == "unroll"));
        if unrolls {
            self.check_unrolled(frame, own, &over)?;
        }
        if let Value::Range(range) = &over
            && let Some((start, end)) = self.bounds(frame, own, range)?
        {
            return self.counted(frame, own, start, end, unrolls);
        }
        let iter = self.iterator(frame, own.expr.span(), over)?;
        while let Some(value) = self.next(frame, own.expr.span(), &iter)? {
            if let Iteration::Ends(_) = self.written_out(frame, own, value, None)? {
                break;
            }
        }
        Ok(Value::Nothing)
    }

    /// Refuses `#[unroll]` of a loop whose iterations are not known, or that has none: the attribute writes out each.
    fn check_unrolled(&self, frame: &Frame, own: &syn::ExprForLoop, over: &Value) -> Eval<()> {
        let Value::Range(range) = over else { return Ok(()) };
        let (Some(Value::Int(start)), Some(Value::Int(end))) = (&range.start, &range.end) else {
            let message = "`#[unroll]` of a range that is known only when the kernel runs";
            return Err(frame.error(own.expr.span(), message));
        };
        let order = start.compare(*end);
        match if range.inclusive { order.is_gt() } else { order.is_ge() } {
            true => Err(frame.error(own.expr.span(), "`#[unroll]` of an empty range")),
            false => Ok(()),
        }
    }

    /// The first number of a loop and the one after its last; `None` for a loop that no index counts.
    fn bounds(&self, frame: &Frame, own: &syn::ExprForLoop, range: &Range) -> Eval<Option<(Int, i128)>> {
        let refused = || {
            let message = "a loop over a range that is known only when the kernel runs";
            let fix = "go through all positions, and do in the loop what is to be done `if i < n`";
            Stop::NeedsNumber(Error::new(frame.place(own.expr.span()), message).fix(fix))
        };
        match (&range.start, &range.end) {
            (Some(Value::Int(start)), Some(Value::Int(end))) => {
                let ty = start.ty.common(end.ty);
                let ty = ty.ok_or_else(|| frame.error(own.expr.span(), "a range of two types"))?;
                let last = end.number().zip(start.number());
                let Some((end, first)) = last else { return Ok(None) };
                let start = Int::new(ty, first).ok_or_else(refused)?;
                let end = if range.inclusive { end.checked_add(1) } else { Some(end) };
                Ok(end.map(|end| (start, end)))
            }
            (Some(Value::Char(_)), Some(Value::Char(_))) => Ok(None),
            (Some(Value::Int(_)), None) => Ok(None),
            (_, _) => Err(refused()),
        }
    }

    /// One iteration with its value.
    fn written_out(
        &mut self,
        frame: &mut Frame,
        own: &syn::ExprForLoop,
        value: Value,
        why: Option<Computed>,
    ) -> Eval<Iteration> {
        self.step(frame, own.span())?;
        self.bind(frame, &own.pat, value)?;
        frame.mark(pattern_name(&own.pat), why);
        let found = self.block(frame, &own.body, &Want::default());
        Self::iterated(own.label.as_ref(), found)
    }

    /// A loop over numbers: one of ours, unless something in it needs the number.
    fn counted(
        &mut self,
        frame: &mut Frame,
        own: &syn::ExprForLoop,
        start: Int,
        end: i128,
        unrolls: bool,
    ) -> Eval<Value> {
        let first = start.number().unwrap_or_default();
        let count = end.saturating_sub(first);
        if count <= 0 {
            return Ok(Value::Nothing);
        }
        let before = (self.state.clone(), frame.clone());
        if count > 1 && !unrolls {
            match self.as_loop(frame, own, start, end) {
                Err(Stop::NeedsNumber(_)) => {}
                Ok(()) => return Ok(Value::Nothing),
                Err(other) => return Err(other),
            }
        }
        (self.state, *frame) = before;
        let lines = self.state.out.acts();
        for number in first..end {
            let value = Int::new(start.ty, number).map(Value::Int);
            let value = value
                .ok_or_else(|| frame.error(own.span(), format!("{number} is past the type of the index")))?;
            if let Iteration::Ends(_) = self.written_out(frame, own, value, Some(Computed::Index))? {
                break;
            }
            // The rest of an iteration is text; a loop of the host alone leaves none.
            if number - first >= MAX_WRITTEN_OUT && self.state.out.acts() != lines {
                let message = format!("a loop of {count} iterations whose index is needed as a number");
                return Err(frame.error(own.span(), message));
            }
        }
        Ok(Value::Nothing)
    }

    fn as_loop(&mut self, frame: &mut Frame, own: &syn::ExprForLoop, start: Int, end: i128) -> Eval<()> {
        let before = (self.state.clone(), frame.clone());
        let wanted = pattern_name(&own.pat).map(|name| plain(&name).to_owned());
        let index = self.state.out.name(wanted.as_deref());
        // Which tensors does it change? All that this writes is undone.
        self.state.out.argument(&index, open::unknown(self.ctx));
        self.iteration(frame, own, &index, (start, end))?;
        let changed = before.0.changed_by(&self.state);
        (self.state, *frame) = before;
        for &at in &changed {
            self.current(frame, own.span(), PlaceId(at))?;
        }
        let index = self.state.out.name(wanted.as_deref());
        let initial = self.state.names(&changed);
        let (carried, results) = (self.new_names(&changed), self.new_names(&changed));
        for (&at, name) in changed.iter().zip(&carried) {
            self.state.cells[at].name = Some(name.clone());
        }
        let count = end - start.number().unwrap_or_default();
        let count = u64::try_from(count).map_err(|_| self.needs_number(frame, own.span()))?;
        let new = new!(self.ctx, For, self.values(&initial)).over(Expr::Literal(count));
        self.state.out.open(self.ctx, new.into(), &results);
        for name in std::iter::once(&index).chain(&carried) {
            self.state.out.argument(name, open::unknown(self.ctx));
        }
        self.iteration(frame, own, &index, (start, end))?;
        self.close(frame, own.span(), &changed, results);
        Ok(())
    }

    /// The body once for all iterations.
    fn iteration(
        &mut self,
        frame: &mut Frame,
        own: &syn::ExprForLoop,
        index: &str,
        (start, end): (Int, i128),
    ) -> Eval<()> {
        let first = start.number().unwrap_or_default();
        let (Ok(last), Ok(first)) = (i64::try_from(end - first - 1), i64::try_from(first)) else {
            return Err(self.needs_number(frame, own.span()));
        };
        self.state.ranges.insert(index.to_owned(), (0, last));
        let number = Index { sum: Affine { plus: first, ..Affine::index(index) }, ty: start.ty };
        let outside = std::mem::replace(&mut self.fixed, self.slots);
        let cells = std::mem::replace(&mut self.fixed_cells, self.state.cells.len());
        let bound = self.bind(frame, &own.pat, Value::Index(number));
        frame.mark(pattern_name(&own.pat), Some(Computed::Index));
        let found = bound.and_then(|()| self.block(frame, &own.body, &Want::default()));
        self.fixed = outside;
        self.fixed_cells = cells;
        match found {
            Ok(_) => Ok(()),
            Err(Stop::Break(..) | Stop::Continue(_) | Stop::Return(_)) => {
                Err(self.needs_number(frame, own.span()))
            }
            // The fault may be that the index is no number.
            Err(other) => Err(other),
        }
    }
}

/// The name of the variable that a pattern is.
pub(crate) fn pattern_name(pat: &syn::Pat) -> Option<String> {
    match pat {
        syn::Pat::Ident(ident) => Some(ident.ident.to_string()),
        syn::Pat::Type(typed) => pattern_name(&typed.pat),
        syn::Pat::Paren(inner) => pattern_name(&inner.pat),
        _ => None,
    }
}
