//! The mapping expression: its shape, its canonical text and its size rules (book 03).

use std::fmt;
use std::sync::Arc;

use crate::axes::{Axes, MAX_SIZE};
use crate::error::{MapError, quote};

/// What a padding position demands, from strict to loose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PadKind {
    /// Must not be written; `{!}` in the text.
    Bottom,
    /// Holds zero; `{0}` in the text.
    Zero,
    /// Don't care: anything may be there; the plain `#`.
    Top,
}

impl fmt::Display for PadKind {
    /// As messages call it: `padding`, `zero padding`, `must-not-write padding`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PadKind::Bottom => "must-not-write padding",
            PadKind::Zero => "zero padding",
            PadKind::Top => "padding",
        })
    }
}

/// A mapping expression, as written. `[A]` is the axis alone: a group of one term is that term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// `A`: every position of the axis, in order.
    Axis(Arc<str>),
    /// `n`: a broadcast of n positions that all hold the empty index; `1` is the identity.
    Literal(u64),
    /// `[E, F, ...]`: major to minor. Nested groups stay nested.
    Pair(Vec<Expr>),
    /// `E # size`: padding of that kind from the end of E up to `size` positions in total.
    Pad {
        /// What is padded.
        inner: Box<Expr>,
        /// Total positions.
        size: u64,
        /// What the new positions demand.
        kind: PadKind,
    },
    /// `E = size`: the first `size` positions.
    Resize {
        /// What is truncated.
        inner: Box<Expr>,
        /// Positions kept.
        size: u64,
    },
    /// `E / n`: every n-th position, starting with the first.
    Stride {
        /// What is split.
        inner: Box<Expr>,
        /// Positions to a step.
        n: u64,
    },
    /// `E % n`: the first block of n positions.
    Modulo {
        /// What is split.
        inner: Box<Expr>,
        /// Positions in a block.
        n: u64,
    },
}

impl Expr {
    /// The axis of that name.
    pub fn axis(name: &str) -> Expr {
        Expr::Axis(name.into())
    }

    /// The terms, major to minor: one term is itself, no term is the identity `1`.
    pub fn pair(terms: impl IntoIterator<Item = Expr>) -> Expr {
        let mut terms: Vec<Expr> = terms.into_iter().collect();
        match terms.len() {
            0 => Expr::Literal(1),
            1 => terms.remove(0),
            _ => Expr::Pair(terms),
        }
    }

    /// `self # size` with padding of that kind.
    pub fn pad(self, size: u64, kind: PadKind) -> Expr {
        Expr::Pad { inner: Box::new(self), size, kind }
    }

    /// `self = size`.
    pub fn resize(self, size: u64) -> Expr {
        Expr::Resize { inner: Box::new(self), size }
    }

    /// `self / n`.
    pub fn stride(self, n: u64) -> Expr {
        Expr::Stride { inner: Box::new(self), n }
    }

    /// `self % n`.
    pub fn modulo(self, n: u64) -> Expr {
        Expr::Modulo { inner: Box::new(self), n }
    }

    /// Positions of the mapping: at least 1, at most [`MAX_SIZE`], or the rule that it breaks. `/ n` and
    /// `% n` need n to divide the size, `= n` needs n <= size and `# n` needs n >= size.
    pub fn size(&self, axes: &Axes) -> Result<u64, MapError> {
        match self {
            Expr::Axis(name) => Ok(axes.size(axes.resolve(name)?)),
            Expr::Literal(n) => positive(*n, self),
            Expr::Pair(terms) => terms.iter().try_fold(1, |size, term| self.times(size, term.size(axes)?)),
            Expr::Pad { inner, .. }
            | Expr::Resize { inner, .. }
            | Expr::Stride { inner, .. }
            | Expr::Modulo { inner, .. } => self.applied(inner, inner.size(axes)?),
        }
    }

    /// The size so far of the group `self`, one term further.
    pub(crate) fn times(&self, size: u64, term: u64) -> Result<u64, MapError> {
        let product = size.checked_mul(term).filter(|product| *product <= MAX_SIZE);
        product.ok_or_else(|| {
            let message = format!("{} has more than {MAX_SIZE} (2^62) positions", self.quoted());
            MapError::new("map-size-overflow", message)
        })
    }

    /// The size of the operator `self` on `inner` of that size.
    pub(crate) fn applied(&self, inner: &Expr, size: u64) -> Result<u64, MapError> {
        match *self {
            Expr::Axis(_) | Expr::Literal(_) | Expr::Pair(_) => Ok(size),
            Expr::Stride { n, .. } => {
                self.divides(inner, n, size, "map-stride", Expr::stride).map(|()| size / n)
            }
            Expr::Modulo { n, .. } => self.divides(inner, n, size, "map-modulo", Expr::modulo).map(|()| n),
            Expr::Resize { size: n, .. } if n > size => {
                let (name, inner_name) = (self.quoted(), inner.quoted());
                let message = format!("{name}: {n} is more than {size}, the size of {inner_name}");
                let fix = inner.clone().pad(n, PadKind::Top);
                Err(MapError::new("map-resize", message).with_fix(Term(&fix).to_string()))
            }
            Expr::Pad { size: n, .. } if n < size => {
                let (name, inner_name) = (self.quoted(), inner.quoted());
                let message = format!("{name}: {n} is less than {size}, the size of {inner_name}");
                let error = MapError::new("map-pad", message);
                Err(match n {
                    0 => error,
                    _ => error.with_fix(Term(&inner.clone().resize(n)).to_string()),
                })
            }
            Expr::Resize { size: n, .. } | Expr::Pad { size: n, .. } => positive(n, self),
        }
    }

    /// Whether n divides the size of `inner`; if not, the fix pads `inner` up to the next multiple.
    fn divides(
        &self,
        inner: &Expr,
        n: u64,
        size: u64,
        code: &'static str,
        split: fn(Expr, u64) -> Expr,
    ) -> Result<(), MapError> {
        positive(n, self)?;
        if size.is_multiple_of(n) {
            return Ok(());
        }
        let (name, inner_name) = (self.quoted(), inner.quoted());
        let message = format!("{name}: {n} does not divide {size}, the size of {inner_name}");
        let fix = split(inner.clone().pad(size.next_multiple_of(n), PadKind::Top), n);
        Err(MapError::new(code, message).with_fix(Term(&fix).to_string()))
    }

    /// The expression as a term, for messages.
    pub(crate) fn quoted(&self) -> String {
        quote(Term(self))
    }
}

/// `n`, which must be a possible size, in the expression that says it.
fn positive(n: u64, place: &Expr) -> Result<u64, MapError> {
    if (1..=MAX_SIZE).contains(&n) {
        return Ok(n);
    }
    let message = format!("{}: {n} is not a size; it must be 1 to {MAX_SIZE} (2^62)", place.quoted());
    Err(MapError::new("map-size", message))
}

impl fmt::Display for Expr {
    /// The canonical text, always in brackets; it parses back to the same expression.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Pair(terms) => group(terms, f),
            Expr::Axis(_)
            | Expr::Literal(_)
            | Expr::Pad { .. }
            | Expr::Resize { .. }
            | Expr::Stride { .. }
            | Expr::Modulo { .. } => write!(f, "[{}]", Term(self)),
        }
    }
}

/// An expression as a term of a group: without brackets of its own unless it is a group.
struct Term<'a>(&'a Expr);

impl fmt::Display for Term<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expr::Axis(name) => f.write_str(name),
            Expr::Literal(n) => write!(f, "{n}"),
            Expr::Pair(terms) => group(terms, f),
            Expr::Pad { inner, size, kind } => {
                let mark = match kind {
                    PadKind::Bottom => " {!}",
                    PadKind::Zero => " {0}",
                    PadKind::Top => "",
                };
                write!(f, "{} # {size}{mark}", Term(inner))
            }
            Expr::Resize { inner, size } => write!(f, "{} = {size}", Term(inner)),
            Expr::Stride { inner, n } => write!(f, "{} / {n}", Term(inner)),
            Expr::Modulo { inner, n } => write!(f, "{} % {n}", Term(inner)),
        }
    }
}

/// A bracketed list; the empty list is the identity.
fn group(terms: &[Expr], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some((first, rest)) = terms.split_first() else {
        return f.write_str("[1]");
    };
    write!(f, "[{}", Term(first))?;
    for term in rest {
        write!(f, ", {}", Term(term))?;
    }
    f.write_str("]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        axes.declare("A", 8).unwrap();
        axes.declare("B", 512).unwrap();
        axes.declare("Huge", MAX_SIZE).unwrap();
        axes
    }

    fn size(text: &str) -> Result<u64, MapError> {
        Expr::parse(text).unwrap().size(&axes())
    }

    #[test]
    fn sizes_follow_the_operators() {
        let cases = [
            ("[A]", 8),
            ("[A, B]", 4096),
            ("[1]", 1),
            ("[1 # 256]", 256),
            ("[A / 4, 4]", 8),
            ("[B % 4 = 3]", 3),
            ("[[A, B] # 8192 / 64]", 128),
            ("[Huge]", MAX_SIZE),
            ("[A = 8 # 8]", 8),
            ("[Huge / 4611686018427387904]", 1),
        ];
        for (text, expected) in cases {
            assert_eq!(size(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn broken_rules_name_the_subexpression_and_the_fix() {
        let cases = [
            (
                "[A, B / 48]",
                "map-stride",
                "`B / 48`: 48 does not divide 512, the size of `B`",
                "B # 528 / 48",
            ),
            (
                "[B / 4 % 3]",
                "map-modulo",
                "`B / 4 % 3`: 3 does not divide 128, the size of `B / 4`",
                "B / 4 # 129 % 3",
            ),
            ("[A = 9]", "map-resize", "`A = 9`: 9 is more than 8, the size of `A`", "A # 9"),
            (
                "[[A, B] # 4095]",
                "map-pad",
                "`[A, B] # 4095`: 4095 is less than 4096, the size of `[A, B]`",
                "[A, B] = 4095",
            ),
            ("[C]", "map-undeclared-axis", "axis `C` is not declared", "A"),
        ];
        for (text, code, message, fix) in cases {
            let error = size(text).unwrap_err();
            assert_eq!((error.code, &*error.message, error.fix.as_deref()), (code, message, Some(fix)));
        }
    }

    #[test]
    fn zero_is_never_a_size() {
        for text in ["[0]", "[A / 0]", "[A % 0]", "[A = 0]", "[B, A # 0]"] {
            let error = size(text).unwrap_err();
            assert!(matches!(error.code, "map-size" | "map-pad"), "{text}: {error:?}");
            assert_eq!(error.fix, None, "{text}");
        }
    }

    #[test]
    fn sizes_never_wrap() {
        assert_eq!(size("[Huge, 1, 1]"), Ok(MAX_SIZE));
        for text in ["[Huge, 2]", "[Huge, 4]", "[Huge, Huge]", "[A, [B, Huge] = 1]"] {
            assert_eq!(size(text).unwrap_err().code, "map-size-overflow", "{text}");
        }
        let too_large = Expr::axis("A").pad(MAX_SIZE + 1, PadKind::Top);
        assert_eq!(too_large.size(&axes()).unwrap_err().code, "map-size");
        assert_eq!(Expr::axis("A").pad(MAX_SIZE, PadKind::Top).size(&axes()), Ok(MAX_SIZE));
    }

    #[test]
    fn builders_collapse_trivial_groups() {
        assert_eq!(Expr::pair([]), Expr::Literal(1));
        assert_eq!(Expr::pair([Expr::axis("A")]), Expr::axis("A"));
        let nested = Expr::pair([Expr::pair([Expr::axis("A"), Expr::Literal(2)]), Expr::axis("B")]);
        assert_eq!(nested.clone().stride(2).to_string(), "[[[A, 2], B] / 2]");
        assert_eq!(nested.to_string(), "[[A, 2], B]");
    }
}
