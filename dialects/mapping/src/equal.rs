//! Equality of mappings: same size and the same cell at every position (book 03).
//!
//! First by the digit normal form, which decides at any size; where one side has none, position by
//! position up to a bound. Past the bound the answer is *unknown*, never a guess.

use crate::axes::Axes;
use crate::cell::{Cell, Map};
use crate::digits::{Digit, Digits, DigitsError, digits};
use crate::expr::Expr;

/// Most positions that are compared one by one.
pub const ENUMERATION_BOUND: u64 = 1 << 16;

/// The answer of [`equal()`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equality {
    /// Same size and the same cells.
    Equal,
    /// Not the same.
    Different {
        /// The first position that differs; for different sizes, the smaller size.
        at: u64,
        /// What the left side holds there.
        left: Option<Cell>,
        /// What the right side holds there.
        right: Option<Cell>,
    },
    /// Not decided.
    Unknown {
        /// What stood in the way: the error of a broken mapping, or the ragged place and the bound.
        why: String,
    },
}

/// Whether two mappings hold the same cells. A mapping that breaks a size rule equals nothing and differs
/// from nothing: the answer is [`Equality::Unknown`] with the rule.
pub fn equal(a: &Expr, b: &Expr, axes: &Axes) -> Equality {
    let (left, right) = match (Map::new(a, axes), Map::new(b, axes)) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(error), _) | (_, Err(error)) => return Equality::Unknown { why: error.message },
    };
    if left.size() != right.size() {
        return different(&left, &right, left.size().min(right.size()));
    }
    if a == b {
        return Equality::Equal;
    }
    match (digits(a, axes), digits(b, axes)) {
        (Ok(a), Ok(b)) => match first_difference(&a, &b) {
            Some(at) => different(&left, &right, at),
            None => Equality::Equal,
        },
        (Err(ragged), _) | (_, Err(ragged)) => enumerate(&left, &right, &ragged),
    }
}

fn different(left: &Map, right: &Map, at: u64) -> Equality {
    Equality::Different { at, left: left.cell(at), right: right.cell(at) }
}

/// Compares the first positions one by one, for mappings of one size.
fn enumerate(left: &Map, right: &Map, ragged: &DigitsError) -> Equality {
    let positions = left.size().min(ENUMERATION_BOUND);
    if let Some(at) = (0..positions).find(|&i| left.cell(i) != right.cell(i)) {
        return different(left, right, at);
    }
    if positions == left.size() {
        return Equality::Equal;
    }
    let size = left.size();
    let compared = format!("the first {ENUMERATION_BOUND} of {size} positions are equal");
    Equality::Unknown { why: format!("{ragged}; {compared}, the others were not compared") }
}

/// The first position at which two canonical forms of one size differ.
///
/// Below the first unequal digit everything agrees, so the position is that digit's weight times the
/// place where the two digits part. Why they part exactly there is the uniqueness argument of the
/// `digits` module.
fn first_difference(a: &Digits, b: &Digits) -> Option<u64> {
    if a.offset() != b.offset() {
        return Some(0);
    }
    let mut weight = 1;
    for (a, b) in a.iter().zip(b.iter()) {
        if a != b {
            return Some(weight * parting(a, b));
        }
        weight *= a.extent;
    }
    None
}

/// Where two unequal digits part. A full digit beside a padded one parts at its extent, which is its live
/// range.
fn parting(a: &Digit, b: &Digit) -> u64 {
    if (a.axis, a.stride) != (b.axis, b.stride) {
        1
    } else if a.live != b.live {
        a.live.min(b.live)
    } else if a.kind != b.kind {
        a.live
    } else {
        a.extent.min(b.extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::describe;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 8), ("B", 512), ("C", 13), ("D", 61), ("E", 1 << 20)] {
            axes.declare(name, size).unwrap();
        }
        axes
    }

    fn compare(a: &str, b: &str) -> Equality {
        equal(&Expr::parse(a).unwrap(), &Expr::parse(b).unwrap(), &axes())
    }

    /// `at: left / right` of an inequality.
    fn witness(a: &str, b: &str) -> String {
        match compare(a, b) {
            Equality::Different { at, left, right } => {
                let axes = axes();
                format!("{at}: {} / {}", describe(left.as_ref(), &axes), describe(right.as_ref(), &axes))
            }
            other => panic!("{a} {b}: {other:?}"),
        }
    }

    #[test]
    fn m4_and_m6_the_listed_equivalences() {
        for (a, b) in [
            ("[B / 64, B % 64]", "[B]"),
            ("[A, 1]", "[A]"),
            ("[1, A]", "[A]"),
            ("[[A, B] / 512]", "[A]"),
            ("[[A, B] % 512]", "[B]"),
            ("[A, B, C]", "[[A, B], C]"),
            ("[A, B, C]", "[A, [B, C]]"),
            ("[B / 1]", "[B]"),
            ("[B # 512]", "[B]"),
            ("[B = 512]", "[B]"),
            ("[B % 1]", "[1]"),
            ("[B % 64]", "[B = 64]"),
        ] {
            assert_eq!(compare(a, b), Equality::Equal, "{a} {b}");
        }
    }

    #[test]
    fn a_difference_has_its_first_witness() {
        assert_eq!(witness("[A, B]", "[B, A]"), "1: B=1 / A=1");
        assert_eq!(witness("[A]", "[B]"), "8: nothing / B=8");
        assert_eq!(witness("[A # 16]", "[A # 16 {0}]"), "8: padding / zero padding");
        assert_eq!(witness("[A # 16 {!}]", "[2, A]"), "8: must-not-write padding / the empty index");
        assert_eq!(witness("[C, D # 64]", "[C, D # 64 {0}]"), "61: padding / zero padding");
        assert_eq!(witness("[A, B = 256 # 512]", "[A, B]"), "256: padding / B=256");
        assert_eq!(witness("[A # 16 {0} # 64]", "[A # 32 {0} # 64]"), "16: padding / zero padding");
    }

    #[test]
    fn digits_find_differences_far_beyond_enumeration() {
        assert_eq!(witness("[E, E % 4, B]", "[E, 4, B]"), "512: E=1 / the empty index");
        assert_eq!(witness("[B # 1024, E]", "[B # 1024 {0}, E]"), "536870912: padding / zero padding");
        assert_eq!(compare("[E / 1024, E % 1024, B]", "[E, B]"), Equality::Equal);
    }

    #[test]
    fn ragged_mappings_are_compared_one_by_one_up_to_the_bound() {
        assert_eq!(compare("[[A, C] # 128]", "[[A, C] # 112 # 128]"), Equality::Equal);
        assert_eq!(witness("[[A, C] # 128]", "[[A, C] # 112 {0} # 128]"), "104: padding / zero padding");
        // Inside and just outside: 65536 positions, then 65537.
        assert_eq!(compare("[[A, C] # 65536]", "[[A, C] # 107 # 65536]"), Equality::Equal);
        let Equality::Unknown { why } = compare("[[A, C] # 65537]", "[[A, C] # 107 # 65537]") else {
            panic!("decided past the bound");
        };
        assert!(why.starts_with("`[A, C] # 65537`") && why.contains("first 65536 of 65537"), "{why}");
        assert_eq!(compare("[[A, C] # 65537]", "[[A, C] # 65537]"), Equality::Equal);
        assert_eq!(witness("[[A, C] # 65537]", "[[C, A] # 65537]"), "1: C=1 / A=1");
    }

    #[test]
    fn a_broken_mapping_is_unknown() {
        let unknown = |a, b| matches!(compare(a, b), Equality::Unknown { .. });
        assert!(unknown("[A / 3]", "[A / 3]"));
        assert!(unknown("[A]", "[Q]"));
        assert_eq!(
            compare("[B / 48]", "[B]"),
            Equality::Unknown { why: "`B / 48`: 48 does not divide 512, the size of `B`".to_owned() }
        );
    }

    #[test]
    fn stride_and_modulo_need_a_whole_block_to_rebuild_an_expression() {
        // `B = 3 # 4` ends inside a block of two: its halves put B = 3 where the padding was.
        assert_eq!(witness("[[B = 3 # 4] / 2, [B = 3 # 4] % 2]", "[B = 3 # 4]"), "3: B=3 / padding");
    }
}
