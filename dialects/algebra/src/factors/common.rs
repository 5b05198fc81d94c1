//! Common factors of two mappings (book 07: inner, intersection, outer).
//!
//! A digit of f counts the coordinates of an axis from its stride s up to its end s * live; so does one of g. If the
//! two ranges overlap, the overlap is a *common factor*: f and g are `[outer, factor, inner]` there. It exists if
//! every boundary of one that is inside the other divides it: otherwise the radices have no common refinement, and
//! neither mapping can be walked in the order of the other. Offsets and padding do not matter here:
//! [`crate::divide()`] handles the start of a walk and the skipped positions.
//!
//! *Laws.* `common(f, f)` are the digits of f along axes. `common(f, g) = common(g, f)`. A factor divides a digit
//! of f and a digit of g: its stride is a multiple of theirs, its end divides theirs (the end of an axis is
//! divided by anything). It is maximal: it begins where one of the two digits begins and ends where one of them ends.

use crate::expr::PadKind;
use crate::expr::axes::{Axes, AxisId};
use crate::meaning::digits::{Digit, Digits};
use std::fmt;
use visa_words::counted;

/// Reason why mappings have no common factors, or no complement, in the user's notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactorError {
    /// Two radices of an axis have no common refinement.
    Radices {
        /// The axis.
        axis: String,
        /// One of each side.
        radices: (u64, u64),
    },
    /// Digits of one mapping count the same coordinates twice.
    Overlap {
        /// The axis.
        axis: String,
    },
    /// The mapping does not start at coordinate 0.
    Offset {
        /// The axis.
        axis: String,
        /// Where it starts.
        from: u64,
    },
    /// The mapping holds each index several times.
    Broadcast {
        /// Number of copies.
        copies: u64,
    },
}

impl fmt::Display for FactorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Radices { axis, radices: (left, right) } => {
                write!(f, "radices {left} and {right} of {axis} have no common refinement")
            }
            Self::Overlap { axis } => write!(f, "two digits count the same coordinates of {axis}"),
            Self::Offset { axis, from } => write!(f, "it holds {axis} from {from} on, expected from 0 on"),
            Self::Broadcast { copies } => {
                write!(f, "it holds each index {}, expected once", counted(*copies, "time"))
            }
        }
    }
}

impl std::error::Error for FactorError {}

/// The end of a digit's coordinates; none where the axis ends first.
fn end(digit: &Digit) -> Option<u64> {
    digit.stride.checked_mul(digit.live).filter(|&end| end < digit.axis_size)
}

/// The common factors of two mappings, in order of axis, those of an axis from the smallest stride up. Each is
/// full: extent and live count agree.
///
/// # Errors
/// The axis and two radices, one of each side, that have no common refinement; or an axis that one side counts twice.
pub fn common(left: &Digits, right: &Digits, axes: &Axes) -> Result<Vec<Digit>, FactorError> {
    let (left, right) = (left.axes(), right.axes());
    let mut factors = Vec::new();
    for (&axis, ours) in left.iter() {
        let Some(theirs) = right.get(&axis) else { continue };
        let (ours, theirs) = (apart(axis, ours, axes)?, apart(axis, theirs, axes)?);
        for one in &ours {
            for other in &theirs {
                factors.extend(overlap(one, other, axis, axes)?);
            }
        }
    }
    Ok(factors)
}

/// The digits of one axis by stride, which must not count the same coordinates.
fn apart(axis: AxisId, digits: &[Digit], axes: &Axes) -> Result<Vec<Digit>, FactorError> {
    let mut digits = digits.to_vec();
    digits.sort_by_key(|digit| digit.stride);
    let overlaps = |pair: &[Digit]| end(&pair[0]).is_none_or(|end| end > pair[1].stride);
    match digits.windows(2).any(overlaps) {
        true => Err(FactorError::Overlap { axis: axes.name(axis).to_owned() }),
        false => Ok(digits),
    }
}

/// The coordinates that two digits of an axis both count.
fn overlap(one: &Digit, other: &Digit, axis: AxisId, axes: &Axes) -> Result<Option<Digit>, FactorError> {
    let (ends, start) = ((end(one), end(other)), one.stride.max(other.stride));
    let last = match ends {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    if last.is_some_and(|last| last <= start) {
        return Ok(None);
    }
    for left in [Some(one.stride), ends.0].into_iter().flatten() {
        for right in [Some(other.stride), ends.1].into_iter().flatten() {
            if !left.max(right).is_multiple_of(left.min(right)) {
                let axis = axes.name(axis).to_owned();
                return Err(FactorError::Radices { axis, radices: (left, right) });
            }
        }
    }
    let live = last.unwrap_or(one.axis_size).div_ceil(start);
    Ok((live > 1).then_some(Digit { stride: start, extent: live, live, kind: PadKind::Top, ..*one }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::division::divide::digit_text;
    use crate::expr::Expr;
    use crate::meaning::digits::digits;

    fn factors(left: &str, right: &str) -> Result<Vec<String>, String> {
        let mut axes = Axes::new();
        for (name, size) in [("A", 15), ("B", 512), ("K", 61), ("T", 24)] {
            axes.declare(name, size).unwrap();
        }
        let read = |text: &str| digits(&Expr::parse(text).unwrap(), &axes).unwrap();
        let found = common(&read(left), &read(right), &axes).map_err(|error| error.to_string())?;
        Ok(found.iter().map(|digit| digit_text(digit, &axes)).collect())
    }

    #[test]
    fn worked_out_by_hand() {
        let cases: [(&str, &str, &[&str]); 8] = [
            ("[B]", "[B]", &["B"]),
            ("[B / 64, A, B % 64]", "[B]", &["B % 64", "B / 64"]),
            ("[B / 64, A, B % 64]", "[B % 16, B / 16]", &["B % 16", "B / 16 % 4", "B / 64"]),
            ("[B % 64]", "[B / 16]", &["B / 16 % 4"]),
            ("[B % 64]", "[B / 64]", &[]),
            ("[A]", "[B]", &[]),
            ("[K # 64]", "[K # 64 / 16, A, K # 64 % 16]", &["K % 16", "K / 16"]),
            ("[B, 2]", "[B # 1024 {0}]", &["B"]),
        ];
        for (left, right, expected) in cases {
            let expected: Vec<String> = expected.iter().map(|&factor| factor.to_owned()).collect();
            assert_eq!(factors(left, right), Ok(expected.clone()), "{left} {right}");
            assert_eq!(factors(right, left), Ok(expected), "{right} {left}");
        }
    }

    #[test]
    fn radices_that_do_not_fit() {
        let cases = [
            ("[A % 5, A / 5]", "[A % 3, A / 3]", "radices 5 and 3 of A have no common refinement"),
            ("[A / 5]", "[A / 3]", "radices 5 and 3 of A have no common refinement"),
            ("[A]", "[B, A = 4]", "no factor"),
            ("[T % 6]", "[T % 4]", "radices 6 and 4 of T have no common refinement"),
            ("[T % 6, T / 6]", "[T % 8]", "radices 6 and 8 of T have no common refinement"),
            ("[B / 2, B % 4]", "[B]", "two digits count the same coordinates of B"),
            ("[B]", "[B, B]", "two digits count the same coordinates of B"),
        ];
        for (left, right, why) in cases {
            match factors(left, right) {
                Err(error) => assert_eq!(error, why, "{left} {right}"),
                // 4 divides no end of A, but A ends with the axis.
                Ok(found) => assert_eq!((found, why), (vec!["A % 4".to_owned()], "no factor")),
            }
        }
    }
}
