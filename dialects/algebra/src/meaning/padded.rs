//! Terms of a mapping that are read as one: padded ones without digits, and sliding ones.

use crate::error::MapError;
use crate::expr::axes::Axes;
use crate::expr::{Expr, PadKind, Side};
use crate::meaning::digits::{Digit, DigitsError, digits};

/// A term that is read as one: with padding after its elements, before them, or both; or a sliding one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padded {
    /// The term, aliases written out.
    pub term: Expr,
    /// As it was first written, for messages.
    pub text: String,
    /// The elements.
    pub inner: Expr,
    /// Positions before the elements.
    pub left: u64,
    /// Positions of the elements.
    pub live: u64,
    /// Positions in total.
    pub size: u64,
    /// True if some of the padding is zero.
    pub zero: bool,
    /// True if it is a sliding term, whose positions hold several indices.
    pub slides: bool,
    /// True if `/` or `%` cut it somewhere.
    pub split: bool,
}

impl Padded {
    /// The padded term that `expr` is: one with zero padding, or one without a digit form whose elements have one.
    /// Other padding inside or before belongs to the term; don't-care padding around it does not. Or the sliding
    /// term, if it has no digit form.
    pub(crate) fn of(expr: &Expr, axes: &Axes) -> Result<Option<Self>, MapError> {
        if !matches!(expr, Expr::Pad { .. } | Expr::Alias(_) | Expr::Slide(_)) {
            return Ok(None);
        }
        let term = expr.expanded(axes)?;
        if let Expr::Slide(terms) = &term {
            return Self::sliding(terms, expr, axes);
        }
        let (mut inner, mut left, mut zero) = (&term, 0, false);
        while let Expr::Pad { inner: padded, size, kind: kind @ (PadKind::Zero | PadKind::Top), side } = inner
        {
            let amount = size.saturating_sub(padded.size(axes)?);
            left += if *side == Side::Low { amount } else { 0 };
            zero |= *kind == PadKind::Zero && amount > 0;
            inner = padded;
        }
        let ragged = |map: &Expr| matches!(digits(map, axes), Err(DigitsError::Ragged(_)));
        if let Expr::Pad { inner: inside, kind: PadKind::Top, side: Side::High, .. } = &term
            && (zero || ragged(inside))
        {
            return Ok(None);
        }
        // Zeros inside are a separate term, which is cut there.
        if !zero && (!ragged(&term) || digits(inner, axes).is_err() || has_zeros(inner, axes)?) {
            return Ok(None);
        }
        let (live, size) = (inner.size(axes)?, term.size(axes)?);
        let text = expr.quoted().trim_matches('`').to_owned();
        Ok(Some(Self {
            inner: inner.clone(),
            term,
            text,
            left,
            live,
            size,
            zero,
            slides: false,
            split: false,
        }))
    }

    /// A sliding term, written as `expr`. The order of its terms does not matter, so that here it is that of their
    /// strides.
    fn sliding(terms: &[(Expr, u64)], expr: &Expr, axes: &Axes) -> Result<Option<Self>, MapError> {
        let mut terms = terms.to_vec();
        terms.sort_by(|(one, near), (two, far)| far.cmp(near).then_with(|| one.cmp(two)));
        let term = Expr::Slide(terms);
        if digits(&term, axes).is_ok() {
            return Ok(None);
        }
        let size = term.size(axes)?;
        let text = expr.quoted().trim_matches('`').to_owned();
        let (left, zero, slides, split) = (0, false, true, false);
        Ok(Some(Self { inner: term.clone(), term, text, left, live: size, size, zero, slides, split }))
    }

    /// Returns true if the separate positions of a cut term read like the whole, except for padding that becomes
    /// don't-care. That is so if each digit of the elements starts and ends with its axis, because then the parts
    /// count no element past the end. Otherwise they could count an element that the term does not hold. Padding
    /// before the elements is another matter. The parts of a sliding term never count elements.
    #[must_use]
    pub fn ends_axes(&self, axes: &Axes) -> bool {
        if self.slides {
            return true;
        }
        let ends = |digit: &Digit| match digit.axis {
            Some(_) => digit.stride.saturating_mul(digit.live) >= digit.axis_size,
            None => digit.live == 1,
        };
        digits(&self.inner, axes).is_ok_and(|digits| digits.offset().is_empty() && digits.iter().all(ends))
    }

    /// The same term with don't-care padding.
    pub(crate) fn loosened(&self) -> Expr {
        let end = self.left + self.live;
        let inner =
            if self.left == 0 { self.inner.clone() } else { self.inner.clone().pad_left(end, PadKind::Top) };
        inner.pad(self.size, PadKind::Top)
    }
}

/// Returns true if a mapping without aliases has zero padding anywhere.
fn has_zeros(expr: &Expr, axes: &Axes) -> Result<bool, MapError> {
    if let Expr::Pad { inner, size, kind: PadKind::Zero, .. } = expr
        && inner.size(axes)? < *size
    {
        return Ok(true);
    }
    for child in expr.children() {
        if has_zeros(child, axes)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The padded terms of some mappings, each once, in order of appearance. One inside another is not listed.
///
/// # Errors
/// A mapping that breaks a size rule.
pub fn padded_terms(maps: &[&Expr], axes: &Axes) -> Result<Vec<Padded>, MapError> {
    let mut found = Vec::new();
    maps.iter().try_for_each(|map| collect(map, false, axes, &mut found))?;
    Ok(found)
}

fn collect(expr: &Expr, split: bool, axes: &Axes, found: &mut Vec<Padded>) -> Result<(), MapError> {
    if let Some(padded) = Padded::of(expr, axes)? {
        match found.iter_mut().find(|known| known.term == padded.term) {
            Some(known) => known.split |= split,
            None => found.push(Padded { split, ..padded }),
        }
        return Ok(());
    }
    if let Expr::Alias(name) = expr {
        return collect(axes.alias(name)?, split, axes, found);
    }
    let split = split || matches!(expr, Expr::Stride { .. } | Expr::Modulo { .. });
    expr.children().into_iter().try_for_each(|child| collect(child, split, axes, found))
}
