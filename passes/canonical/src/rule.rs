//! A rule about mappings: two sides with metavariables, and tests.
//!
//! Metavariables are numbered slots; [`visa_rules::Scope`] knows their names and sorts. Everything here is evaluated
//! against an environment that maps each slot: to a class of the e-graph while rewriting, to an example while
//! checking.

use visa_algebra::{Axes, Cell, Expr, Map, PadKind, Side, digits, skewed_names};

use super::language::{Piece, group};

/// Rules about mappings as a kind of rules: both sides hold the same cells (`kind.rs`).
#[derive(Clone, Copy, Debug)]
pub struct Mapping;

/// A rule about mappings.
pub type Rule = visa_rules::Rule<Mapping>;

/// The sort of piece that a metavariable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A mapping, or the rest of a group.
    Mapping,
    /// A number.
    Number,
    /// A kind of padding.
    Kind,
    /// An offset table.
    Table,
    /// The rest of a sliding expression.
    Terms,
}

impl visa_rules::Sort for Sort {
    fn describe(self) -> &'static str {
        match self {
            Self::Mapping => "a mapping",
            Self::Number => "a number",
            Self::Kind => "a kind of padding",
            Self::Table => "an offset table",
            Self::Terms => "the rest of a sliding expression",
        }
    }
}

/// A mapping with metavariables.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A metavariable, by slot.
    Var(usize),
    /// A number as a mapping.
    Literal(Num),
    /// Terms, and the rest of the group.
    Group(Vec<Term>, Option<usize>),
    /// A padded term.
    Pad {
        /// The padded term.
        inner: Box<Term>,
        /// Positions after that.
        size: Num,
        /// The kind of padding.
        kind: Kind,
        /// Where.
        side: Side,
    },
    /// An operator with its number.
    Apply(Box<Term>, Operator, Num),
    /// A gather by the offset table in a slot.
    Gather(Box<Term>, usize),
    /// Terms with strides, and the rest.
    Slide(Vec<(Term, Num)>, Option<usize>),
}

/// An operator with one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `E = n`.
    Resize,
    /// `E / n`.
    Stride,
    /// `E % n`.
    Modulo,
    /// `E @ n`.
    Slice,
    /// A table of one entry.
    Pick,
}

/// A kind of padding or a metavariable for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This one.
    Is(PadKind),
    /// A metavariable, by slot.
    Var(usize),
}

/// A number with metavariables.
#[derive(Clone, Debug, PartialEq)]
pub enum Num {
    /// This one.
    Is(u64),
    /// A metavariable, by slot.
    Var(usize),
    /// Positions of a mapping.
    Size(Box<Term>),
    /// First entry of a table.
    First(usize),
    /// Entries of a table.
    Count(usize),
    /// Two numbers and the operation on them.
    Of(Box<Num>, Arithmetic, Box<Num>),
}

/// Checked: a result that is no natural number makes the rule not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a * b`.
    Multiply,
    /// Without remainder.
    Divide,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `a == b`.
    Equal,
    /// `a <= b`.
    AtMost,
    /// `a < b`.
    Less,
    /// `a | b`.
    Divides,
}

/// A test of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Two numbers and how they compare.
    Compare(Num, Relation, Num),
    /// `exact(E / n)`: E has digits that split at n, and starts with the empty index, so `[E / n, E % n]` is E.
    Exact(Term, Num),
    /// Position 0 holds the empty index.
    Anchored(Term),
    /// The table counts up by one.
    Consecutive(usize),
}

/// The piece that a slot stands for, if it is known.
pub type Env<'a, 'p> = &'a dyn Fn(usize) -> Option<&'p Piece>;

impl Term {
    /// The mapping; `None` where a slot is not known or a number cannot be computed.
    pub fn build(&self, env: Env<'_, '_>, axes: &Axes) -> Option<Expr> {
        Some(match self {
            Self::Var(slot) => env(*slot)?.mapping()?.clone(),
            Self::Literal(n) => Expr::Literal(n.value(env, axes)?),
            Self::Group(terms, rest) => {
                let end = match rest {
                    Some(slot) => env(*slot)?.mapping()?.clone(),
                    None => Expr::Literal(1),
                };
                let terms = terms.iter().map(|term| term.build(env, axes)).collect::<Option<Vec<_>>>()?;
                terms.into_iter().rev().fold(end, |rest, first| group(first, &rest))
            }
            Self::Pad { inner, size, kind, side } => {
                let kind = match kind {
                    Kind::Is(kind) => *kind,
                    Kind::Var(slot) => match env(*slot)? {
                        Piece::Kind(kind) => *kind,
                        Piece::Number(_) | Piece::Table(_) | Piece::Mapping(_) | Piece::Terms(_) => {
                            return None;
                        }
                    },
                };
                let (inner, size) = (Box::new(inner.build(env, axes)?), size.value(env, axes)?);
                Expr::Pad { inner, size, kind, side: *side }
            }
            Self::Apply(inner, operator, n) => operator.apply(inner.build(env, axes)?, n.value(env, axes)?),
            Self::Gather(inner, table) => inner.build(env, axes)?.gather(env(*table)?.table()?.clone()),
            Self::Slide(terms, rest) => {
                let term =
                    |(term, stride): &(Term, Num)| Some((term.build(env, axes)?, stride.value(env, axes)?));
                let mut all = terms.iter().map(term).collect::<Option<Vec<_>>>()?;
                if let Some(slot) = rest {
                    let Piece::Terms(rest) = env(*slot)? else { return None };
                    all.extend(rest.iter().cloned());
                }
                Expr::Slide(all)
            }
        })
    }
}

impl Operator {
    /// The operator on a mapping.
    pub fn apply(self, inner: Expr, n: u64) -> Expr {
        match self {
            Self::Resize => inner.resize(n),
            Self::Stride => inner.stride(n),
            Self::Modulo => inner.modulo(n),
            Self::Slice => inner.slice(n),
            Self::Pick => inner.gather([n]),
        }
    }
}

impl Num {
    /// The number; `None` where a slot is not known, a mapping is broken or the result is no natural number of 64
    /// bits.
    pub fn value(&self, env: Env<'_, '_>, axes: &Axes) -> Option<u64> {
        match self {
            Self::Is(n) => Some(*n),
            Self::Var(slot) => env(*slot)?.number(),
            Self::Size(term) => match &**term {
                Term::Var(slot) => env(*slot)?.mapping()?.size(axes).ok(),
                _ => term.build(env, axes)?.size(axes).ok(),
            },
            Self::First(slot) => env(*slot)?.table()?.first().copied(),
            Self::Count(slot) => Some(env(*slot)?.table()?.len() as u64),
            Self::Of(left, operation, right) => {
                let (left, right) = (left.value(env, axes)?, right.value(env, axes)?);
                match operation {
                    Arithmetic::Add => left.checked_add(right),
                    Arithmetic::Subtract => left.checked_sub(right),
                    Arithmetic::Multiply => left.checked_mul(right),
                    Arithmetic::Divide => (right > 0 && left.is_multiple_of(right)).then(|| left / right),
                }
            }
        }
    }
}

impl Test {
    /// Returns true if the test holds; `None` if a slot is not known yet, or a number cannot be computed.
    pub fn holds(&self, env: Env<'_, '_>, axes: &Axes) -> Option<bool> {
        Some(match self {
            Self::Compare(left, relation, right) => {
                let (left, right) = (left.value(env, axes)?, right.value(env, axes)?);
                match relation {
                    Relation::Equal => left == right,
                    Relation::AtMost => left <= right,
                    Relation::Less => left < right,
                    Relation::Divides => left > 0 && right.is_multiple_of(left),
                }
            }
            Self::Exact(term, n) => {
                let (expr, n) = (term.build(env, axes)?, n.value(env, axes)?);
                digits(&expr, axes).is_ok_and(|digits| digits.offset().is_empty() && digits.split(n).is_ok())
            }
            Self::Anchored(term) => anchored(&term.build(env, axes)?, axes),
            Self::Consecutive(slot) => {
                let table = env(*slot)?.table()?;
                table.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
            }
        })
    }
}

/// Returns true if position 0 holds the empty index: not so after a slice or left padding, nor with a skewed axis, for
/// which position 0 means that its two axes are equal.
fn anchored(expr: &Expr, axes: &Axes) -> bool {
    if !skewed_names(expr, axes).is_empty() {
        return false;
    }
    let first = Map::new(expr, axes).ok().and_then(|map| map.cell(0));
    matches!(first, Some(Cell::Live(index)) if index.is_empty())
}
