//! Zero padding that travels with its elements (book 08, masking).
//!
//! `E # n {0}` means that zeros are around the elements of E. A stream may cut such a term anywhere, by `/` and `%`
//! between time and packet: `B # 92 {left 0} # 96 {0}` into three packets of 32. Position by position, the parts read
//! differently from the term: `/ 32` of it starts with padding, and padding of a major part has precedence over the
//! minor terms. So a stream reads a padded term as an *opaque axis* of n positions: its parts count those positions,
//! and a position holds the term's content there. With the axis instead of the term, the ordinary algebra does the
//! rest.
//!
//! The same goes for don't-care padding that falls inside a digit, such as `[A, B, C] # 32` of 30 elements: it has
//! no digit form, and one axis of 32 positions has.
//!
//! A sliding term whose positions hold several indices, such as `$(W:1, F:1)`, is a third case: cut by collect,
//! its parts count positions of the window, which the aligner takes apart (book 15, shift-reuse).

use crate::equality::equal::{Equality, equal};
use crate::error::MapError;
use crate::expr::axes::{Axes, AxisId};
use crate::expr::{Expr, PadKind};
use crate::meaning::cell::{Cell, Index, map};
use crate::meaning::padded::{Padded, padded_terms};

/// Mappings with an opaque axis in place of each of some padded terms.
#[derive(Clone, Debug)]
pub struct Opaque {
    /// The axes, opaque ones included.
    pub axes: Axes,
    terms: Vec<(Padded, AxisId)>,
}

impl Opaque {
    /// Gives each term an axis, named as the term is written.
    #[must_use]
    pub fn new(terms: Vec<Padded>, axes: &Axes) -> Self {
        let mut axes = axes.clone();
        let stand_in = |term: Padded| {
            let axis = axes.stand_in(&term.text, term.size);
            (term, axis)
        };
        let terms = terms.into_iter().map(stand_in).collect();
        Self { axes, terms }
    }

    /// The axis of a term.
    #[must_use]
    pub fn axis(&self, term: &Padded) -> Option<AxisId> {
        self.terms.iter().find(|(known, _)| known.term == term.term).map(|(_, axis)| *axis)
    }

    /// A mapping with the terms' axes in their place. Other aliases are written out.
    ///
    /// # Errors
    /// A mapping that breaks a size rule.
    pub fn view(&self, expr: &Expr) -> Result<Expr, MapError> {
        self.replaced(expr, &|_, axis| Expr::axis(self.axes.name(axis)))
    }

    /// An answer about views, with the cells that the terms hold in place of their positions.
    fn read(&self, answer: Equality) -> Equality {
        match answer {
            Equality::Different { at, left, right } => Equality::Different {
                at,
                left: left.and_then(|cell| self.cell(cell)),
                right: right.and_then(|cell| self.cell(cell)),
            },
            Equality::Equal | Equality::Unknown { .. } => answer,
        }
    }

    /// The content of the terms at the positions that a cell names.
    fn cell(&self, cell: Cell) -> Option<Cell> {
        let Cell::Live(index) = cell else { return Some(cell) };
        let is_opaque = |axis: AxisId| self.terms.iter().any(|(_, own)| *own == axis);
        let mut named: Index = index.iter().filter(|&(axis, _)| !is_opaque(axis)).collect();
        for (term, axis) in &self.terms {
            match map(&term.term, &self.axes, index.get(*axis))? {
                Cell::Live(elements) => named.add_index(&elements),
                // A message shows the content of the window; the rest of the index is the same for all of it.
                shown @ (Cell::Pad(_) | Cell::Shared(_)) => return Some(shown),
            }
        }
        Some(Cell::Live(named))
    }

    fn replaced(&self, expr: &Expr, with: &dyn Fn(&Padded, AxisId) -> Expr) -> Result<Expr, MapError> {
        let padded = Padded::of(expr, &self.axes)?;
        let known = padded.and_then(|padded| self.terms.iter().find(|(known, _)| known.term == padded.term));
        if let Some((known, axis)) = known {
            return Ok(with(known, *axis));
        }
        match expr {
            Expr::Alias(name) => self.replaced(self.axes.alias(name)?, with),
            Expr::Axis(_)
            | Expr::Literal(_)
            | Expr::Pair(_)
            | Expr::Outer(_)
            | Expr::Pad { .. }
            | Expr::Resize { .. }
            | Expr::Stride { .. }
            | Expr::Modulo { .. }
            | Expr::Slice { .. }
            | Expr::Gather { .. }
            | Expr::Slide(_) => expr.map_children(|child| self.replaced(child, with)),
        }
    }
}

/// A mapping with don't-care padding for zero padding: its content without the zeros. Aliases are written out.
///
/// # Errors
/// An alias that is not defined.
pub fn without_zeros(expr: &Expr, axes: &Axes) -> Result<Expr, MapError> {
    let loosened = expr.expanded(axes)?.map_children(|child| without_zeros(child, axes))?;
    let Expr::Pad { inner, size, kind: PadKind::Zero, side } = loosened else { return Ok(loosened) };
    Ok(Expr::Pad { inner, size, kind: PadKind::Top, side })
}

/// [`equal()`] for mappings of a stream: decides if `found` may describe `wanted`. Padded terms that either of them
/// cuts are opaque. `found` may claim less: don't-care padding for the zeros after the elements.
#[must_use]
pub fn equal_streams(found: &Expr, wanted: &Expr, axes: &Axes) -> Equality {
    let unknown = |error: MapError| Equality::Unknown { why: error.message };
    let terms = match padded_terms(&[found, wanted], axes) {
        Ok(terms) => terms.into_iter().filter(|term| term.split || term.slides).collect::<Vec<_>>(),
        Err(error) => return unknown(error),
    };
    if terms.is_empty() {
        return equal(found, wanted, axes);
    }
    let claimed = match padded_terms(&[found], axes) {
        Ok(claimed) => claimed,
        Err(error) => return unknown(error),
    };
    let claims = |term: &Padded| term.zero && claimed.iter().any(|own| own.term == term.term);
    let strict = terms.iter().any(|term| claims(term) || term.slides || term.left > 0);
    let opaque = Opaque::new(terms, axes);
    let views = opaque.view(found).and_then(|found| Ok((found, opaque.view(wanted)?)));
    match views.map(|(found, wanted)| opaque.read(equal(&found, &wanted, &opaque.axes))) {
        Err(error) => unknown(error),
        Ok(answer) if strict || answer == Equality::Equal => answer,
        Ok(_) => {
            let elements = opaque.replaced(wanted, &|term, _| term.loosened());
            elements.map_or_else(unknown, |wanted| equal(found, &wanted, axes))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 4), ("B", 90)] {
            axes.declare(name, size).unwrap();
        }
        axes.define("P", &parse("[B # 92 {left 0} # 96 {0}]")).unwrap();
        axes
    }

    fn parse(text: &str) -> Expr {
        Expr::parse(text).unwrap()
    }

    fn terms(text: &str) -> Vec<(String, u64, u64, u64, bool)> {
        let found = padded_terms(&[&parse(text)], &axes()).unwrap();
        found.into_iter().map(|term| (term.text, term.left, term.live, term.size, term.split)).collect()
    }

    #[test]
    fn padded_terms_are_found_whole() {
        assert_eq!(terms("[A, B # 96]"), []);
        assert_eq!(terms("[A # 4 {0}]"), [], "nothing is added");
        assert_eq!(terms("[A, B # 96 {!}]"), []);
        assert_eq!(terms("[A, {P} / 32, {P} % 32]"), [("{P}".into(), 2, 90, 96, true)]);
        assert_eq!(terms("[B # 96 {0} # 128, A]"), [("B # 96 {0}".into(), 0, 90, 96, false)]);
        assert_eq!(terms("[B # 92 {left} # 96 {0}]"), [("B # 92 {left} # 96 {0}".into(), 2, 90, 96, false)]);
        assert_eq!(terms("[A # 8 {0}, B # 96 {0} % 32]").len(), 2);
        // Don't-care padding around a part of it is no separate term.
        assert_eq!(terms("[B # 96 {0} % 96 # 100]"), [("B # 96 {0}".into(), 0, 90, 96, true)]);
        // Without a digit form: 360 elements in 400, and don't-care padding before.
        assert_eq!(terms("[[A, B] # 400 / 2]"), [("[A, B] # 400".into(), 0, 360, 400, true)]);
        assert_eq!(terms("[[A, B] # 400 # 512]"), [("[A, B] # 400".into(), 0, 360, 400, false)]);
        assert_eq!(terms("[B # 92 {left}]"), [("B # 92 {left}".into(), 2, 90, 92, false)]);
        assert_eq!(terms("[[A, B] # 540, [[A, B] # 400 / 8] # 128]").len(), 1);
    }

    #[test]
    fn zeros_are_forgotten() {
        let loosened = |text: &str| without_zeros(&parse(text), &axes()).unwrap().to_string();
        assert_eq!(loosened("[A # 8 {!}, {P} / 32]"), "[A # 8 {!}, B # 92 {left} # 96 / 32]");
    }

    #[test]
    fn the_end_of_the_axis_is_seen() {
        let ends = |text: &str| padded_terms(&[&parse(text)], &axes()).unwrap()[0].ends_axes(&axes());
        assert!(ends("[B # 96 {0}]") && ends("[[A, B] # 400 {0}]") && ends("[1 # 4 {0}]"));
        assert!(!ends("[B % 30 # 32 {0}]") && !ends("[B @ 30 # 64 {0}]"));
        assert!(!ends("[[A % 2, B] # 184 {0}]") && !ends("[[A, B % 30] # 128 {0}]"));
    }

    #[test]
    fn parts_of_a_padded_term_make_it_up() {
        let same = |found: &str, wanted: &str| equal_streams(&parse(found), &parse(wanted), &axes());
        assert_eq!(same("[A, {P} / 32, {P} % 32]", "[A, {P}]"), Equality::Equal);
        assert_eq!(same("[A, {P} / 48, {P} / 16 % 3, {P} % 16]", "[A, {P} / 32, {P} % 32]"), Equality::Equal);
        // Zeros after the elements may be forgotten, zeros before them may not, and none may be made up.
        let zeros = "[B # 96 {0} / 32, B # 96 {0} % 32]";
        assert_eq!(same("[B # 96 / 32, B # 96 % 32]", zeros), Equality::Equal);
        let refused = [
            ("[B # 96]", "[{P} / 32, {P} % 32]"),
            (zeros, "[B # 96]"),
            (zeros, "[B # 96 / 32, B # 96 % 32]"),
        ];
        for (found, wanted) in refused {
            assert!(matches!(same(found, wanted), Equality::Different { .. }), "{found} {wanted}");
        }
    }
}
