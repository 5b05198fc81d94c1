//! Matches a mapping with metavariables against a mapping as it is written. A group is flat for that: `[E, ...R]`
//! takes `[A, B, C]` apart into A and `[B, C]`, a mapping that is no group is a group of one, and `1` is one of none.

use std::rc::Rc;
use visa_algebra::Expr;
use visa_canonical::language::Piece;
use visa_canonical::rule::{Kind, Num, Operator, Term};

/// The values of the metavariables; `None` where not yet known.
pub(super) type Slots = Vec<Option<Piece>>;

/// Returns true if the mapping has that shape; then its metavariables are known.
pub(super) fn matches(term: &Term, expr: &Expr, slots: &mut Slots) -> bool {
    match (term, expr) {
        (Term::Var(slot), _) => bind(*slot, Piece::Mapping(Rc::new(expr.clone())), slots),
        (Term::Group(terms, rest), _) => group(terms, *rest, expr, slots),
        (Term::Literal(n), Expr::Literal(found)) => number(n, *found, slots),
        (
            Term::Pad { inner, size, kind, side },
            Expr::Pad { inner: own, size: found, kind: padding, side: at },
        ) => {
            let kind = match kind {
                Kind::Is(kind) => kind == padding,
                Kind::Var(slot) => bind(*slot, Piece::Kind(*padding), slots),
            };
            kind && side == at && number(size, *found, slots) && matches(inner, own, slots)
        }
        (Term::Apply(inner, operator, n), _) => match operand(expr, *operator) {
            Some((own, found)) => number(n, found, slots) && matches(inner, own, slots),
            None => false,
        },
        (Term::Gather(inner, slot), Expr::Gather { inner: own, table }) => {
            bind(*slot, Piece::Table(table.clone()), slots) && matches(inner, own, slots)
        }
        (Term::Slide(terms, rest), Expr::Slide(own)) => slide(terms, *rest, own, slots),
        (Term::Literal(_) | Term::Pad { .. } | Term::Gather(..) | Term::Slide(..), _) => false,
    }
}

/// Returns true if a number is the one that is written.
pub(super) fn number(wanted: &Num, found: u64, slots: &mut Slots) -> bool {
    match wanted {
        Num::Is(n) => *n == found,
        Num::Var(slot) => bind(*slot, Piece::Number(found), slots),
        // The parser allows no computed number on the left side.
        Num::Size(_) | Num::First(_) | Num::Count(_) | Num::Of(..) => false,
    }
}

fn bind(slot: usize, piece: Piece, slots: &mut Slots) -> bool {
    match &slots[slot] {
        Some(known) => *known == piece,
        None => {
            slots[slot] = Some(piece);
            true
        }
    }
}

fn group(terms: &[Term], rest: Option<usize>, expr: &Expr, slots: &mut Slots) -> bool {
    let flat: &[Expr] = match expr {
        Expr::Literal(1) => &[],
        Expr::Pair(terms) | Expr::Outer(terms) => terms,
        other => std::slice::from_ref(other),
    };
    let Some((own, others)) = flat.split_at_checked(terms.len()) else { return false };
    let fits = terms.iter().zip(own).all(|(term, own)| matches(term, own, slots));
    fits && match rest {
        Some(slot) => bind(slot, Piece::Mapping(Rc::new(Expr::pair(others.iter().cloned()))), slots),
        None => others.is_empty(),
    }
}

fn slide(terms: &[(Term, Num)], rest: Option<usize>, own: &[(Expr, u64)], slots: &mut Slots) -> bool {
    let Some((own, others)) = own.split_at_checked(terms.len()) else { return false };
    let fits = terms
        .iter()
        .zip(own)
        .all(|((term, stride), (own, found))| number(stride, *found, slots) && matches(term, own, slots));
    fits && match rest {
        Some(slot) => bind(slot, Piece::Terms(others.into()), slots),
        None => others.is_empty(),
    }
}

/// The operand of an operator, and its number.
fn operand(expr: &Expr, operator: Operator) -> Option<(&Expr, u64)> {
    match (operator, expr) {
        (Operator::Resize, Expr::Resize { inner, size }) => Some((inner, *size)),
        (Operator::Stride, Expr::Stride { inner, n }) | (Operator::Modulo, Expr::Modulo { inner, n }) => {
            Some((inner, *n))
        }
        (Operator::Slice, Expr::Slice { inner, offset }) => Some((inner, *offset)),
        (Operator::Pick, Expr::Gather { inner, table }) if table.len() == 1 => Some((inner, table[0])),
        (Operator::Resize | Operator::Stride | Operator::Modulo | Operator::Slice | Operator::Pick, _) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn e(text: &str) -> Expr {
        Expr::parse(text).expect("a mapping")
    }

    /// Binds slots 0 and 1 to the parts of a group.
    fn split(text: &str) -> Option<(String, String)> {
        let mut slots = vec![None, None];
        let shape = Term::Group(vec![Term::Var(0)], Some(1));
        let shown = |piece: &Option<Piece>| piece.as_ref()?.mapping().map(ToString::to_string);
        matches(&shape, &e(text), &mut slots).then(|| Some((shown(&slots[0])?, shown(&slots[1])?)))?
    }

    #[test]
    fn a_group_is_flat_and_one_is_empty() {
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(split("[A, B, C]"), pair("[A]", "[B, C]"));
        assert_eq!(split("[A % 8]"), pair("[A % 8]", "[1]"));
        assert_eq!(split("[1]"), None);
    }

    #[test]
    fn a_name_that_stands_twice_must_be_the_same() {
        let twice = Term::Group(vec![Term::Var(0), Term::Var(0)], None);
        assert!(matches(&twice, &e("[A, A]"), &mut vec![None]));
        assert!(!matches(&twice, &e("[A, B]"), &mut vec![None]));
        assert!(!matches(&twice, &e("[A, A, A]"), &mut vec![None]));
    }

    #[test]
    fn operators_and_numbers_are_as_written() {
        let padded = |size: Num| Term::Pad {
            inner: Box::new(Term::Var(0)),
            size,
            kind: Kind::Is(visa_algebra::PadKind::Zero),
            side: visa_algebra::Side::High,
        };
        assert!(matches(&padded(Num::Is(8)), &e("[A # 8 {0}]"), &mut vec![None]));
        assert!(!matches(&padded(Num::Is(8)), &e("[A # 16 {0}]"), &mut vec![None]));
        assert!(!matches(&padded(Num::Is(8)), &e("[A # 8]"), &mut vec![None]));
        let stride = Term::Apply(Box::new(Term::Var(0)), Operator::Stride, Num::Var(1));
        let mut slots = vec![None, None];
        assert!(matches(&stride, &e("[A / 4]"), &mut slots));
        assert_eq!(slots[1], Some(Piece::Number(4)));
        assert!(!matches(&stride, &e("[A % 4]"), &mut vec![None, None]));
    }
}
