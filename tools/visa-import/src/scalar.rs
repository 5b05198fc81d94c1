//! Numbers that a kernel is given: each is a position, and the tiles that begin there show the number of positions.

use crate::condition::{Condition, range};
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, State, Stop};
use crate::integer::IntTy;
use crate::map::Map;
use crate::value::{Affine, Index, MAX_POSITION, Value};
use proc_macro2::Span;
use visa_algebra::Expr;
use visa_ir::context::Context;
use visa_ir::decl::make_type;
use visa_ir::open;
use visa_mapping::tensor::scalar::{self, SCALAR};

/// Number of values of an argument, and the dimension whose positions they are.
#[derive(Clone, Debug)]
pub(crate) struct Positions {
    count: u64,
    dimension: Expr,
}

/// An argument that is a number.
pub(crate) struct Scalar {
    /// The name in the text.
    name: String,
    span: Span,
}

impl Evaluator<'_> {
    /// An argument that is a number. Its range is known when the body has been read.
    pub(crate) fn scalar(
        &mut self,
        frame: &Frame,
        (name, format): (&str, &str),
        span: Span,
    ) -> Eval<(Scalar, Value)> {
        if format == "bool" {
            return Ok(self.flag(name, span));
        }
        let Some(ty) = IntTy::named(format).filter(|ty| !matches!(ty, IntTy::I128 | IntTy::U128)) else {
            let message = format!(
                "`{name}` is a number of type `{format}`, expected an integer: a number that a \
                 kernel is given says where tiles begin"
            );
            let fix = "make it a constant, or give it as a tensor";
            return Err(Stop::Error(Error::new(frame.place(span), message).fix(fix)));
        };
        let text = self.state.out.name(Some(name));
        self.state.out.argument(&text, open::unknown(self.ctx));
        self.state.ranges.insert(text.clone(), (0, MAX_POSITION));
        self.state.scalars.insert(text.clone(), None);
        let value = Value::Index(Index { sum: Affine::index(&text), ty });
        Ok((Scalar { name: text, span }, value))
    }

    /// An argument that is a truth value: 1 is true, 0 is false.
    fn flag(&mut self, name: &str, span: Span) -> (Scalar, Value) {
        let text = self.state.out.name(Some(name));
        self.state.out.argument(&text, open::unknown(self.ctx));
        self.state.ranges.insert(text.clone(), (0, 1));
        self.state.scalars.insert(text.clone(), Some(Positions { count: 2, dimension: Expr::Literal(2) }));
        let (own, one) = (Affine::index(&text), Affine::of(1));
        let eq = syn::BinOp::Eq(Default::default());
        let truth = Condition::compare(&eq, &own, &one, &self.state.ranges);
        let truth = truth.map_or(Value::Bool(false), Condition::value);
        (Scalar { name: text, span }, truth)
    }

    /// Takes from a comparison the range of a number that no tile shows: one more than the greatest number that it
    /// distinguishes.
    pub(crate) fn compared_with(&mut self, left: &Affine, right: &Affine) {
        let Some(of) = left.add(right, -1) else { return };
        let mut own = of.terms.iter().filter(|(name, _)| self.state.scalars.contains_key(*name));
        let (Some((name, &factor @ (1 | -1))), None) = (own.next(), own.next()) else { return };
        let mut rest = of.clone();
        rest.terms.remove(name);
        let Some((least, greatest)) = range(&rest, &self.state.ranges) else { return };
        let most = if factor == 1 { least.checked_neg() } else { Some(greatest) };
        let Some(count) = most.and_then(|most| u64::try_from(most.checked_add(2)?.max(1)).ok()) else {
            return;
        };
        let known = self.state.compared.entry(name.clone()).or_default();
        *known = (*known).max(count);
    }

    /// Takes from a tile the range of the number that it begins at. Under a condition it may be more elsewhere.
    pub(crate) fn begins(&mut self, along: &Map, size: u64, first: &Affine) {
        let mut own = first.terms.iter().filter(|(name, _)| self.state.scalars.contains_key(*name));
        let (Some((name, &factor)), None, 0) = (own.next(), own.next(), self.state.branches) else { return };
        let Some(found) = self.positions(along, size, (first, name, factor)) else { return };
        if let Some(known) = self.state.scalars.get_mut(name)
            && known.as_ref().is_none_or(|known| found.count < known.count)
        {
            *known = Some(found);
        }
    }

    fn positions(
        &self,
        along: &Map,
        size: u64,
        (first, name, factor): (&Affine, &str, i64),
    ) -> Option<Positions> {
        let all = i64::try_from(along.size(self)?).ok()?;
        let mut rest = first.clone();
        rest.terms.remove(name);
        let (_, most) = range(&rest, &self.state.ranges)?;
        let last = all.checked_sub(i64::try_from(size).ok()?)?.checked_sub(most)?;
        let count =
            u64::try_from(last.checked_div_euclid(factor).filter(|_| factor > 0)?.checked_add(1)?).ok()?;
        let whole = rest == Affine::default() && factor == 1 && size == 1;
        let dimension = if whole { self.mapping(along) } else { Expr::Literal(count) };
        (count > 0).then_some(Positions { count, dimension })
    }
}

impl State {
    /// Gives the numbers among the arguments their types.
    pub(crate) fn declare(&mut self, ctx: &Context, frame: &Frame, scalars: &[Scalar]) -> Eval<()> {
        for Scalar { name, span } in scalars {
            let compared = self.compared.get(name).filter(|&&count| count <= MAX_POSITION as u64);
            let compared = compared.map(|&count| Positions { count, dimension: Expr::Literal(count) });
            let Some(found) = self.scalars.get(name).cloned().flatten().or(compared) else {
                let message = format!(
                    "`{}` is a number that is known when the kernel starts, and no tile or comparison shows its range",
                    name.trim_start_matches('%')
                );
                let fix = "let a tile begin there, outside of conditions, as in `x.view().tile::<m![S], 1, _>(n)`, \
                           compare it with a number, or make it a constant";
                return Err(Stop::Error(Error::new(frame.place(*span), message).fix(fix)));
            };
            let ty = make_type(ctx, &SCALAR, scalar::Scalar { of: found.dimension.clone() });
            self.out.set_type(name, ty);
        }
        Ok(())
    }
}
