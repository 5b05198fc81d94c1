//! The complement of a mapping: the rest of its axes.
//!
//! *Law.* `[complement(f), f]` holds each index of the axes of f once. `complement([B % 64])` is `[B / 64]`; that
//! of a mapping which holds its axes whole is `[1]`.
//!
//! It answers which dimension is still to be placed (which chips, slices or time steps the rest of a tensor needs when
//! f is the layout within one of them), and over which positions a sum or a broadcast over "the rest of the axis"
//! runs.

use crate::expr::PadKind;
use crate::expr::axes::{Axes, AxisId};
use crate::factors::common::FactorError;
use crate::meaning::digits::{Digit, Digits, DigitsError};

/// Reason why a mapping has no complement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComplementError {
    /// It is no factor of its axes.
    Factor(FactorError),
    /// The result has more positions than a mapping can have.
    Digits(DigitsError),
}

impl std::fmt::Display for ComplementError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Factor(error) => error.fmt(f),
            Self::Digits(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ComplementError {}

/// The digits of the axes of `map` that it does not hold: axes in order of declaration, major first.
///
/// # Errors
/// If it starts at an offset, holds an index several times, or leaves a gap that is no factor.
pub fn complement(map: &Digits, axes: &Axes) -> Result<Digits, ComplementError> {
    let name = |axis: AxisId| axes.name(axis).to_owned();
    let refuse = |error| Err(ComplementError::Factor(error));
    if let Some(offset) = map.offset().first() {
        return refuse(FactorError::Offset { axis: name(offset.axis), from: offset.coordinate });
    }
    let copies = map.iter().filter(|digit| digit.axis.is_none()).map(|digit| digit.live).product();
    if copies > 1 {
        return refuse(FactorError::Broadcast { copies });
    }
    let mut all = Digits::unit();
    for (axis, held) in map.axes().into_iter().rev() {
        for digit in missing(axis, held, axes).map_err(ComplementError::Factor)? {
            all = Digits::concat(&Digits::of(digit), &all).map_err(ComplementError::Digits)?;
        }
    }
    // Of the skewed axes, those that something is left of.
    Ok(all.written_in(map.skewed()).without_offset())
}

/// The factors of an axis between and above the digits that are held, minor first.
fn missing(axis: AxisId, mut held: Vec<Digit>, axes: &Axes) -> Result<Vec<Digit>, FactorError> {
    held.sort_by_key(|digit| digit.stride);
    let size = axes.size(axis);
    let factor = |stride: u64, live: u64| {
        let kind = PadKind::Top;
        Digit { axis: Some(axis), stride, extent: live, live, kind, axis_size: size }
    };
    let mut factors = Vec::new();
    let mut done = 1;
    for digit in held {
        let name = || axes.name(axis).to_owned();
        if digit.stride < done {
            return Err(FactorError::Overlap { axis: name() });
        }
        if !digit.stride.is_multiple_of(done) {
            return Err(FactorError::Radices { axis: name(), radices: (digit.stride, done) });
        }
        factors.push(factor(done, digit.stride / done));
        done = digit.stride.saturating_mul(digit.live);
    }
    if done < size {
        // The last block may be cut off by the end of the axis.
        factors.push(factor(done, size.div_ceil(done)));
    }
    Ok(factors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::meaning::digits::digits;

    fn read(text: &str) -> (Axes, Digits) {
        let mut axes = Axes::new();
        for (name, size) in [("A", 8), ("B", 512), ("K", 61)] {
            axes.declare(name, size).unwrap();
        }
        let found = digits(&Expr::parse(text).unwrap(), &axes).unwrap();
        (axes, found)
    }

    #[test]
    fn worked_out_by_hand() {
        for (map, rest) in [
            ("[B % 64]", "[B / 64]"),
            ("[B / 64]", "[B % 64]"),
            ("[B]", "[1]"),
            ("[1 # 8]", "[1]"),
            ("[B / 8 % 4]", "[B / 32, B % 8]"),
            ("[B % 64, A % 2 # 16]", "[A / 2, B / 64]"),
            ("[A = 1, B]", "[1]"),
            ("[K # 64 % 16]", "[K # 64 / 16]"),
            ("[K = 50]", "[K # 100 / 50]"),
        ] {
            let (axes, map) = read(map);
            assert_eq!(complement(&map, &axes), Ok(read(rest).1), "{rest}");
        }
    }

    #[test]
    fn mappings_without_complement() {
        for (map, why) in [
            ("[B @ 64]", "it holds B from 64 on, expected from 0 on"),
            ("[3, B]", "it holds each index 3 times, expected once"),
            ("[B, B]", "two digits count the same coordinates of B"),
            ("[B / 2, B % 4]", "two digits count the same coordinates of B"),
            ("[B / 4, B % 4 = 3]", "radices 4 and 3 of B have no common refinement"),
        ] {
            let (axes, map) = read(map);
            assert_eq!(complement(&map, &axes).unwrap_err().to_string(), why);
        }
    }
}
