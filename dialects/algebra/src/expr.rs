//! The mapping expression: its shape, its canonical text and its size rules (book 03).

pub(crate) mod axes;
mod parse;
pub(crate) mod skew;

use std::convert::Infallible;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use visa_words::counted;

use crate::effort::count_effort;
use crate::error::{MapError, quote};
use crate::expr::axes::Axes;
use crate::limits::MAX_SIZE;

/// The requirement on a padding position, from strict to loose.
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

/// At which end padding is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// After the last position; the plain `#`.
    High,
    /// Before the first position; `{left}` in the text. Masking needs it (book 08).
    Low,
}

/// A mapping expression, as written. `[A]` is the axis alone: a group of one term is that term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expr {
    /// `A`: every position of the axis, in order. A skewed axis (`B' = B - A`) is a separate axis.
    Axis(Arc<str>),
    /// `{L}`: the mapping that the alias names (book 03, "escape").
    Alias(Arc<str>),
    /// `n`: a broadcast of n positions that all hold the empty index; `1` is the identity.
    Literal(u64),
    /// `[E, F, ...]`: major to minor. Nested groups stay nested.
    Pair(Vec<Expr>),
    /// `E * F`: the outer sum of book 03, `$(E:|F|, F:1)` for any size of F. No two combinations share a position, so
    /// that it holds the cells of `[E, F]`.
    Outer(Vec<Expr>),
    /// `E # size`: padding of that kind from the end of E up to `size` positions in total; with `{left}` before E.
    Pad {
        /// The padded expression.
        inner: Box<Expr>,
        /// Total positions.
        size: u64,
        /// The requirement on the new positions.
        kind: PadKind,
        /// Where the new positions are.
        side: Side,
    },
    /// `E = size`: the first `size` positions.
    Resize {
        /// The truncated expression.
        inner: Box<Expr>,
        /// Positions kept.
        size: u64,
    },
    /// `E / n`: every n-th position, starting with the first.
    Stride {
        /// The split expression.
        inner: Box<Expr>,
        /// Positions to a step.
        n: u64,
    },
    /// `E % n`: the first block of n positions.
    Modulo {
        /// The split expression.
        inner: Box<Expr>,
        /// Positions in a block.
        n: u64,
    },
    /// `E @ offset`: the positions from `offset` on (book 33, segmentation).
    Slice {
        /// The cut expression.
        inner: Box<Expr>,
        /// Positions dropped.
        offset: u64,
    },
    /// `E @ (o, p, ...)`: indirect sequencing (book 03, 07): one position for each entry, with the cell of E there.
    Gather {
        /// The expression that the entries index.
        inner: Box<Expr>,
        /// The offset table, in positions of E.
        table: Arc<[u64]>,
    },
    /// `$(E:m, F:n, ...)`: the linear combination of book 03. Position p holds every union of E(i), F(j), ... with
    /// `p = i * m + j * n + ...`: one position, several indices. A position that no combination reaches is
    /// don't-care.
    Slide(Vec<(Expr, u64)>),
}

/// Number of positions of an expression, and the most indices that share one position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) size: u64,
    pub(crate) shared: u64,
}

/// Most indices that may share a position: the combinations of the terms of a sliding expression, without the
/// largest.
pub const MAX_SHARED: u64 = 1 << 16;

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

    /// The terms of a mapping, those of nested groups and outer sums too, major to minor: without any it is its
    /// own term.
    pub fn terms(&self) -> Vec<&Expr> {
        match self {
            Expr::Pair(terms) | Expr::Outer(terms) => terms.iter().flat_map(Expr::terms).collect(),
            Expr::Axis(_)
            | Expr::Alias(_)
            | Expr::Literal(_)
            | Expr::Pad { .. }
            | Expr::Resize { .. }
            | Expr::Stride { .. }
            | Expr::Modulo { .. }
            | Expr::Slice { .. }
            | Expr::Gather { .. }
            | Expr::Slide(_) => vec![self],
        }
    }

    /// The terms that count something: all but `1`.
    pub fn counting(&self) -> impl Iterator<Item = &Expr> {
        self.terms().into_iter().filter(|term| **term != Expr::Literal(1))
    }

    /// The terms of a sliding expression, a mapping and its stride each (book 03). Padding or cutting it does not
    /// change them.
    pub fn slide(&self) -> Option<&[(Expr, u64)]> {
        match self {
            Expr::Slide(terms) => Some(terms),
            Expr::Pad { inner, .. }
            | Expr::Resize { inner, .. }
            | Expr::Stride { inner, .. }
            | Expr::Modulo { inner, .. } => inner.slide(),
            Expr::Axis(_)
            | Expr::Alias(_)
            | Expr::Literal(_)
            | Expr::Pair(_)
            | Expr::Outer(_)
            | Expr::Slice { .. }
            | Expr::Gather { .. } => None,
        }
    }

    /// The outer sum of the terms, major to minor: one term is itself.
    pub fn outer(terms: impl IntoIterator<Item = Expr>) -> Expr {
        let mut terms: Vec<Expr> = terms.into_iter().collect();
        if terms.len() > 1 { Expr::Outer(terms) } else { terms.pop().unwrap_or(Expr::Literal(1)) }
    }

    /// `self # size` with padding of that kind.
    pub fn pad(self, size: u64, kind: PadKind) -> Expr {
        Expr::Pad { inner: Box::new(self), size, kind, side: Side::High }
    }

    /// `self # size {left}` with padding of that kind.
    pub fn pad_left(self, size: u64, kind: PadKind) -> Expr {
        Expr::Pad { inner: Box::new(self), size, kind, side: Side::Low }
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

    /// `self @ offset`.
    pub fn slice(self, offset: u64) -> Expr {
        Expr::Slice { inner: Box::new(self), offset }
    }

    /// `self @ (o, p, ...)`.
    pub fn gather(self, table: impl Into<Arc<[u64]>>) -> Expr {
        Expr::Gather { inner: Box::new(self), table: table.into() }
    }

    /// The expressions that this one is made of, as written: terms of a group, the operand of an operator.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Axis(_) | Expr::Alias(_) | Expr::Literal(_) => Vec::new(),
            Expr::Pair(terms) | Expr::Outer(terms) => terms.iter().collect(),
            Expr::Slide(terms) => terms.iter().map(|(term, _)| term).collect(),
            Expr::Pad { inner, .. }
            | Expr::Resize { inner, .. }
            | Expr::Stride { inner, .. }
            | Expr::Modulo { inner, .. }
            | Expr::Slice { inner, .. }
            | Expr::Gather { inner, .. } => vec![inner],
        }
    }

    /// The same expression with each child replaced by the result of `with`.
    pub fn map_children<E>(&self, mut with: impl FnMut(&Expr) -> Result<Expr, E>) -> Result<Expr, E> {
        Ok(match self {
            Expr::Axis(_) | Expr::Alias(_) | Expr::Literal(_) => self.clone(),
            Expr::Pair(terms) => Expr::Pair(terms.iter().map(with).collect::<Result<_, E>>()?),
            Expr::Outer(terms) => Expr::Outer(terms.iter().map(with).collect::<Result<_, E>>()?),
            Expr::Slide(terms) => {
                let terms = terms.iter().map(|(term, stride)| Ok((with(term)?, *stride)));
                Expr::Slide(terms.collect::<Result<_, E>>()?)
            }
            Expr::Pad { inner, size, kind, side } => {
                Expr::Pad { inner: Box::new(with(inner)?), size: *size, kind: *kind, side: *side }
            }
            Expr::Resize { inner, size } => with(inner)?.resize(*size),
            Expr::Stride { inner, n } => with(inner)?.stride(*n),
            Expr::Modulo { inner, n } => with(inner)?.modulo(*n),
            Expr::Slice { inner, offset } => with(inner)?.slice(*offset),
            Expr::Gather { inner, table } => with(inner)?.gather(table.clone()),
        })
    }

    /// The same expression with the names for its aliases that `with` returns; `None` if it returns none.
    pub fn renamed(&self, with: &mut dyn FnMut(&str) -> Option<Rc<str>>) -> Option<Expr> {
        if let Expr::Alias(name) = self {
            return with(name).map(|new| Expr::Alias((*new).into()));
        }
        let mut any = false;
        let renamed = self.map_children(|child| {
            let new = child.renamed(with);
            any |= new.is_some();
            Ok::<_, Infallible>(new.unwrap_or_else(|| child.clone()))
        });
        renamed.ok().filter(|_| any)
    }

    /// The same expression without aliases, and with the pairs that outer sums are.
    ///
    /// # Errors
    /// An alias that is not defined.
    pub fn expanded(&self, axes: &Axes) -> Result<Expr, MapError> {
        if let Expr::Alias(name) = self {
            return axes.alias(name).cloned();
        }
        Ok(match self.map_children(|child| child.expanded(axes))? {
            Expr::Outer(terms) => Expr::Pair(terms),
            other => other,
        })
    }

    /// The names of the axes that it mentions, through aliases too, in order and each as often as it is there.
    /// An alias that is not defined mentions none.
    pub fn axis_names(&self, axes: &Axes) -> Vec<Arc<str>> {
        match self {
            Expr::Axis(name) => vec![name.clone()],
            Expr::Alias(name) => axes.alias(name).map(|mapping| mapping.axis_names(axes)).unwrap_or_default(),
            Expr::Literal(_)
            | Expr::Pair(_)
            | Expr::Outer(_)
            | Expr::Pad { .. }
            | Expr::Resize { .. }
            | Expr::Stride { .. }
            | Expr::Modulo { .. }
            | Expr::Slice { .. }
            | Expr::Gather { .. }
            | Expr::Slide(_) => {
                self.children().into_iter().flat_map(|child| child.axis_names(axes)).collect()
            }
        }
    }

    /// Axes, numbers, groups and operators, aliases counted as one.
    pub fn nodes(&self) -> usize {
        let table = if let Expr::Gather { table, .. } = self { table.len() } else { 0 };
        1 + table + self.children().into_iter().map(Expr::nodes).sum::<usize>()
    }

    /// Levels of nesting: a group and an operator is one each.
    pub fn depth(&self) -> usize {
        let below = self.children().into_iter().map(Expr::depth).max();
        below.map_or(0, |depth| depth + 1)
    }

    /// Positions of the mapping: at least 1, at most [`MAX_SIZE`], or the rule that it breaks. `/ n` and
    /// `% n` need n to divide the size, `= n` needs n <= size and `# n` needs n >= size.
    pub fn size(&self, axes: &Axes) -> Result<u64, MapError> {
        self.extent(axes).map(|extent| extent.size)
    }

    /// Its positions, and how many indices may share one.
    fn extent(&self, axes: &Axes) -> Result<Extent, MapError> {
        count_effort(1);
        let alone = |size: u64| Extent { size, shared: 1 };
        Ok(match self {
            Expr::Axis(name) => alone(axes.size(axes.resolve(name)?)),
            Expr::Alias(name) => axes.alias(name)?.extent(axes)?,
            Expr::Literal(n) => alone(positive(*n, self)?),
            Expr::Pair(terms) | Expr::Outer(terms) => {
                let mut all = alone(1);
                for term in terms {
                    let term = term.extent(axes)?;
                    all.size = self.times(all.size, term.size)?;
                    all.shared = self.share(all.shared, term.shared)?;
                }
                all
            }
            Expr::Slide(terms) => {
                let terms = terms.iter().map(|(term, _)| term.extent(axes)).collect::<Result<Vec<_>, _>>()?;
                self.slid(&terms)?
            }
            Expr::Pad { inner, .. }
            | Expr::Resize { inner, .. }
            | Expr::Stride { inner, .. }
            | Expr::Modulo { inner, .. }
            | Expr::Slice { inner, .. }
            | Expr::Gather { inner, .. } => {
                let inside = inner.extent(axes)?;
                Extent { size: self.applied(inner, inside.size)?, ..inside }
            }
        })
    }

    /// The size so far of the group `self`, one term further.
    pub(crate) fn times(&self, size: u64, term: u64) -> Result<u64, MapError> {
        let product = size.checked_mul(term).filter(|product| *product <= MAX_SIZE);
        product.ok_or_else(|| self.too_large())
    }

    fn too_large(&self) -> MapError {
        let message = format!("{} has more than {MAX_SIZE} (2^62) positions", self.quoted());
        MapError::new("map-size-overflow", message)
    }

    /// The sliding expression `self` whose terms are these: one position more than the sum of the steps.
    pub(crate) fn slid(&self, parts: &[Extent]) -> Result<Extent, MapError> {
        let mut all = Extent { size: 1, shared: 1 };
        let Expr::Slide(terms) = self else { return Ok(all) };
        for ((term, stride), part) in terms.iter().zip(parts) {
            if *stride == 0 {
                let message =
                    format!("{}: {} slides by 0; a stride is 1 or more", self.quoted(), term.quoted());
                return Err(MapError::new("map-slide-stride", message));
            }
            let steps = (part.size - 1).checked_mul(*stride).and_then(|steps| all.size.checked_add(steps));
            all.size = steps.filter(|size| *size <= MAX_SIZE).ok_or_else(|| self.too_large())?;
            all.shared = self.share(all.shared, part.shared)?;
        }
        // The position and all terms but one settle the last term.
        let largest = parts.iter().enumerate().max_by_key(|(_, part)| part.size).map(|(at, _)| at);
        for (at, part) in parts.iter().enumerate() {
            if Some(at) != largest {
                all.shared = self.share(all.shared, part.size)?;
            }
        }
        Ok(all)
    }

    /// The product of two numbers of indices that share a position of `self`.
    pub(crate) fn share(&self, a: u64, b: u64) -> Result<u64, MapError> {
        a.checked_mul(b).filter(|shared| *shared <= MAX_SHARED).ok_or_else(|| {
            let message = format!("{}: more than {MAX_SHARED} indices may share a position", self.quoted());
            MapError::new("map-slide-wide", message)
        })
    }

    /// The size of the operator `self` on `inner` of that size.
    pub(crate) fn applied(&self, inner: &Expr, size: u64) -> Result<u64, MapError> {
        match *self {
            Expr::Axis(_)
            | Expr::Alias(_)
            | Expr::Literal(_)
            | Expr::Pair(_)
            | Expr::Outer(_)
            | Expr::Slide(_) => Ok(size),
            Expr::Slice { offset, .. } if offset >= size => {
                let (name, inner_name) = (self.quoted(), inner.quoted());
                let message = format!(
                    "{name}: {offset} is outside {inner_name}, which has {}",
                    counted(size, "position")
                );
                Err(MapError::new("map-slice", message))
            }
            Expr::Slice { offset, .. } => Ok(size - offset),
            Expr::Gather { ref table, .. } => match table.iter().position(|offset| *offset >= size) {
                Some(at) => {
                    let (inner_name, offset) = (inner.quoted(), table[at]);
                    let message = format!(
                        "entry {at} of the offset table, {offset}, is outside {inner_name}, which has {}",
                        counted(size, "position")
                    );
                    Err(MapError::new("map-gather", message))
                }
                None => positive(table.len() as u64, self),
            },
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

    /// Checks that n divides the size of `inner`; if not, the fix pads `inner` up to the next multiple.
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

/// `n`, which must be a possible size, in the expression that contains it.
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
            | Expr::Alias(_)
            | Expr::Literal(_)
            | Expr::Outer(_)
            | Expr::Pad { .. }
            | Expr::Resize { .. }
            | Expr::Stride { .. }
            | Expr::Modulo { .. }
            | Expr::Slice { .. }
            | Expr::Gather { .. }
            | Expr::Slide(_) => write!(f, "[{}]", Term(self)),
        }
    }
}

/// An expression as a term of a group: without brackets unless it is a group.
pub(crate) struct Term<'a>(pub(crate) &'a Expr);

impl fmt::Display for Term<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expr::Axis(name) => f.write_str(name),
            Expr::Alias(name) => write!(f, "{{{name}}}"),
            Expr::Literal(n) => write!(f, "{n}"),
            Expr::Pair(terms) => group(terms, f),
            Expr::Outer(terms) => {
                let factors: Vec<String> = terms.iter().map(|term| Atom(term).to_string()).collect();
                f.write_str(&factors.join(" * "))
            }
            Expr::Pad { inner, size, kind, side } => {
                let mark = match (side, kind) {
                    (Side::High, PadKind::Bottom) => " {!}",
                    (Side::High, PadKind::Zero) => " {0}",
                    (Side::High, PadKind::Top) => "",
                    (Side::Low, PadKind::Bottom) => " {left !}",
                    (Side::Low, PadKind::Zero) => " {left 0}",
                    (Side::Low, PadKind::Top) => " {left}",
                };
                write!(f, "{} # {size}{mark}", Atom(inner))
            }
            Expr::Slice { inner, offset } => write!(f, "{} @ {offset}", Atom(inner)),
            Expr::Gather { inner, table } => {
                let entries: Vec<String> = table.iter().map(u64::to_string).collect();
                write!(f, "{} @ ({})", Atom(inner), entries.join(", "))
            }
            Expr::Slide(terms) => {
                f.write_str("$(")?;
                for (i, (term, stride)) in terms.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{}:{stride}", Term(term))?;
                }
                f.write_str(")")
            }
            Expr::Resize { inner, size } => write!(f, "{} = {size}", Atom(inner)),
            Expr::Stride { inner, n } => write!(f, "{} / {n}", Atom(inner)),
            Expr::Modulo { inner, n } => write!(f, "{} % {n}", Atom(inner)),
        }
    }
}

/// The operand of an operator, or a factor of an outer sum: an outer sum in brackets.
struct Atom<'a>(&'a Expr);

impl fmt::Display for Atom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expr::Outer(_) => write!(f, "[{}]", Term(self.0)),
            other => Term(other).fmt(f),
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
            ("[Bb]", "map-undeclared-axis", "axis `Bb` is not declared", "B"),
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
