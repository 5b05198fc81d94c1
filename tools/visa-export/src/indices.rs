//! Numbers that depend on loops and arguments, as expressions of `usize`.

use crate::body::Body;
use crate::refusals::{Export, refuse};
use crate::values::Linear;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::ops::number::{Select, Sum};

impl Body<'_, '_> {
    /// The number that a value is.
    pub(crate) fn number(&self, op: OpRef<'_>, value: ValueId) -> Export<Linear> {
        self.numbers.get(&value).cloned().ok_or_else(|| refuse(op, "its index is no number of the kernel"))
    }

    /// `tm.affine`.
    pub(crate) fn sum(&mut self, op: OpRef<'_>) -> Export<()> {
        let sum = Sum::of(op)?;
        let mut all = Linear { terms: Vec::new(), plus: sum.plus()? };
        for (index, &by) in sum.indices().zip(sum.by()?.iter()) {
            let own = self.number(op, index.id)?;
            all = all.add(&own, by).ok_or_else(|| refuse(op, "the number has more than 64 bits"))?;
        }
        self.numbers.insert(sum.result_index()?.id, all);
        Ok(())
    }

    /// `tm.select`.
    pub(crate) fn select(&mut self, op: OpRef<'_>) -> Export<()> {
        let select = Select::of(op)?;
        let number = self.number(op, select.number()?.id)?;
        let condition = condition(op, &number, (select.from()?, select.below()?))?;
        let [inside, outside] =
            [select.inside()?.id, select.outside()?.id].map(|value| self.number(op, value));
        let (inside, outside) = (inside?.expression(op)?, outside?.expression(op)?);
        let result = select.result_index()?.id;
        let comments = self.comments_of(op);
        self.comment(&comments);
        let name = self.name_of(op, result);
        self.statement(quote!(let #name = if #condition { #inside } else { #outside };));
        self.numbers.insert(result, Linear { terms: vec![(name.to_string(), 1)], plus: 0 });
        Ok(())
    }
}

/// The condition that a number is in a range.
pub(crate) fn condition(
    op: OpRef<'_>,
    number: &Linear,
    (from, below): (Option<i64>, Option<i64>),
) -> Export<TokenStream> {
    let refused = || refuse(op, "a bound of the number has more than 64 bits");
    let side = |bound: i64, is_least: bool| -> Export<TokenStream> {
        let rest = Linear { plus: number.plus.checked_sub(bound).ok_or_else(refused)?, ..number.clone() };
        let (left, right) = rest.sides();
        Ok(if is_least { quote!(#left >= #right) } else { quote!(#left < #right) })
    };
    match (from, below) {
        (Some(from), Some(below)) => {
            let (least, most) = (side(from, true)?, side(below, false)?);
            Ok(quote!(#least && #most))
        }
        (Some(from), None) => side(from, true),
        (None, Some(below)) => side(below, false),
        (None, None) => Err(refuse(op, "the range of its number is not given")),
    }
}

impl Linear {
    /// A number.
    pub(crate) fn of(plus: i64) -> Self {
        Self { terms: Vec::new(), plus }
    }

    /// Adds another one, times a factor; `None` on overflow.
    pub(crate) fn add(mut self, other: &Self, by: i64) -> Option<Self> {
        self.plus = self.plus.checked_add(other.plus.checked_mul(by)?)?;
        for (name, factor) in &other.terms {
            let added = factor.checked_mul(by)?;
            match self.terms.iter_mut().find(|(own, _)| own == name) {
                Some((_, own)) => *own = own.checked_add(added)?,
                None => self.terms.push((name.clone(), added)),
            }
        }
        self.terms.retain(|(_, factor)| *factor != 0);
        Some(self)
    }

    /// The number as an expression.
    pub(crate) fn expression(&self, op: OpRef<'_>) -> Export<TokenStream> {
        let (positive, negative) = self.parts();
        if positive.is_empty() && negative.is_empty() {
            return Ok(quote!(0));
        }
        if positive.is_empty() {
            return Err(refuse(op, "its index is below 0, and an index of the language is `usize`"));
        }
        Ok(quote!(#(#positive)+* #(- #negative)*))
    }

    /// The number as two sides of a comparison with 0, neither of which is below 0.
    fn sides(&self) -> (TokenStream, TokenStream) {
        let side = |parts: Vec<TokenStream>| if parts.is_empty() { quote!(0) } else { quote!(#(#parts)+*) };
        let (positive, negative) = self.parts();
        (side(positive), side(negative))
    }

    /// The summands above and below 0.
    fn parts(&self) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let (mut positive, mut negative) = (Vec::new(), Vec::new());
        for (name, factor) in &self.terms {
            let (name, by) = (crate::names::ident(name.trim_start_matches("r#")), factor.unsigned_abs());
            let literal = Literal::u64_unsuffixed(by);
            let term = if by == 1 { quote!(#name) } else { quote!(#name * #literal) };
            if *factor > 0 { positive.push(term) } else { negative.push(term) }
        }
        let literal = Literal::u64_unsuffixed(self.plus.unsigned_abs());
        match self.plus {
            0 => {}
            1.. => positive.push(quote!(#literal)),
            _ => negative.push(quote!(#literal)),
        }
        (positive, negative)
    }
}
