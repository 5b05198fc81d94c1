//! From digits back to an expression: the same text for all mappings that hold the same cells.
//!
//! Digits become the terms of one pair, major to minor, each in one of a few shapes: `A @ o # m / s = l # e` with the
//! parts that do nothing left out, `n # e` for a digit without an axis. Equal mappings have equal digits, so they
//! have equal rebuilt texts (book 03: equivalent mappings).

use crate::error::{MapError, quote};
use crate::expr::axes::{Axes, AxisId};
use crate::expr::{Expr, PadKind};
use crate::limits::MAX_SIZE;
use crate::meaning::digits::{Digit, Digits, Offset};
use visa_words::counted;

/// The expression that the digits spell, major to minor. The axes are those that the digits were made with.
///
/// An offset is on the digit with the largest stride that divides it, or else with the smallest stride. If no digit
/// moves along the axis, it is a separate term, `A @ o = 1`. A skewed axis at coordinate 0 is a separate term too, `B'
/// = 1`.
///
/// # Errors
/// A stride that does not divide its axis is written as `A # m / s` with the next multiple m. An axis of more than
/// half of [`MAX_SIZE`] may have no such m.
pub fn rebuild(digits: &Digits, axes: &Axes) -> Result<Expr, MapError> {
    let carriers: Vec<(usize, Offset)> =
        digits.offset().iter().filter_map(|offset| Some((carrier(digits, *offset)?, *offset))).collect();
    let fixed = digits.offset().iter().filter(|offset| carrier(digits, **offset).is_none());
    let mut terms: Vec<Expr> = fixed.map(|offset| start(offset, axes).resize(1)).collect();
    let moves = |axis: AxisId| {
        let starts = digits.offset().iter().any(|offset| offset.axis == axis);
        starts || digits.iter().any(|digit| digit.axis == Some(axis))
    };
    let still = digits.skewed().iter().filter(|axis| !moves(**axis));
    terms.extend(still.map(|axis| Expr::axis(axes.name(*axis)).resize(1)));
    for (at, digit) in digits.iter().enumerate().rev() {
        let offset = carriers.iter().find(|(carrier, _)| *carrier == at).map(|(_, offset)| *offset);
        terms.push(match (digit.axis, offset) {
            (Some(axis), Some(offset)) => term(digit, axis, Some(offset), axes)?,
            (_, _) => digit_expr(digit, axes)?,
        });
    }
    Ok(Expr::pair(terms))
}

/// The factor that a digit alone spells.
///
/// # Errors
/// As [`rebuild`].
pub fn digit_expr(digit: &Digit, axes: &Axes) -> Result<Expr, MapError> {
    match digit.axis {
        None => Ok(padded(Expr::Literal(digit.live), digit.live, digit)),
        Some(axis) => term(digit, axis, None, axes),
    }
}

/// The digit that the offset is on.
fn carrier(digits: &Digits, offset: Offset) -> Option<usize> {
    let own = || digits.iter().enumerate().filter(|(_, digit)| digit.axis == Some(offset.axis));
    let divides = own().filter(|(_, digit)| offset.coordinate.is_multiple_of(digit.stride));
    let largest = divides.max_by_key(|(_, digit)| digit.stride);
    largest.or_else(|| own().min_by_key(|(_, digit)| digit.stride)).map(|(at, _)| at)
}

/// `A @ o`.
fn start(offset: &Offset, axes: &Axes) -> Expr {
    Expr::axis(axes.name(offset.axis)).slice(offset.coordinate)
}

/// A digit along an axis: its part of the axis by steps of its stride, then its live positions, then its padding.
fn term(digit: &Digit, axis: AxisId, offset: Option<Offset>, axes: &Axes) -> Result<Expr, MapError> {
    let whole = offset.map_or_else(|| Expr::axis(axes.name(axis)), |offset| start(&offset, axes));
    let size = digit.axis_size - offset.map_or(0, |offset| offset.coordinate);
    let (steps, count) = every(whole, size, digit)?;
    let live = match digit.live {
        live if live == count => steps,
        live if count.is_multiple_of(live) => steps.modulo(live),
        live => steps.resize(live),
    };
    Ok(padded(live, digit.live, digit))
}

/// Every stride-th position of `whole`, and how many there are: at least the live ones.
fn every(whole: Expr, size: u64, digit: &Digit) -> Result<(Expr, u64), MapError> {
    let stride = digit.stride;
    if stride == 1 {
        return Ok((whole, size));
    }
    if size.is_multiple_of(stride) {
        return Ok((whole.stride(stride), size / stride));
    }
    let up_to = stride * digit.live.min(size / stride);
    if digit.live <= size / stride {
        return Ok((whole.resize(up_to).stride(stride), digit.live));
    }
    // The last step starts inside the axis and ends past it.
    let Some(multiple) = up_to.checked_add(stride).filter(|multiple| *multiple <= MAX_SIZE) else {
        let message = format!(
            "{} has {}: the next multiple of {stride} is more than {MAX_SIZE} (2^62)",
            quote(&whole),
            counted(size, "position")
        );
        return Err(MapError::new("map-size-overflow", message));
    };
    Ok((whole.pad(multiple, PadKind::Top).stride(stride), digit.live))
}

/// The padding of a digit, unless it is full.
fn padded(live: Expr, size: u64, digit: &Digit) -> Expr {
    if digit.extent == size { live } else { live.pad(digit.extent, digit.kind) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::digits::digits;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 8), ("B", 512), ("F", 5), ("K", 61), ("H", MAX_SIZE - 1)] {
            axes.declare(name, size).unwrap();
        }
        axes
    }

    fn rebuilt(text: &str) -> Result<String, MapError> {
        let axes = axes();
        let before = digits(&Expr::parse(text).unwrap(), &axes).unwrap();
        let after = rebuild(&before, &axes)?;
        assert_eq!(digits(&after, &axes), Ok(before), "{text} {after}");
        Ok(after.to_string())
    }

    #[test]
    fn texts_worked_out_by_hand() {
        for (text, expected) in [
            ("[1]", "[1]"),
            ("[[A, 1], [1, B]]", "[A, B]"),
            ("[B / 64, B / 8 % 8, B % 8]", "[B]"),
            ("[B / 32 % 2]", "[B / 32 % 2]"),
            ("[B % 4 = 3]", "[B = 3]"),
            ("[2, 3]", "[6]"),
            ("[2 # 8 {0}]", "[2 # 8 {0}]"),
            ("[1 # 2, A]", "[A # 16]"),
            ("[K # 64 / 16, K # 64 % 16]", "[K # 64]"),
            ("[K # 64 % 16]", "[K = 16]"),
            ("[K # 64 / 16 # 6 {!}]", "[K # 64 / 16 # 6 {!}]"),
            ("[K # 64 / 16 = 3]", "[K = 48 / 16]"),
            ("[A / 4, 4]", "[A / 4, 4]"),
        ] {
            assert_eq!(rebuilt(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn offsets_stand_on_one_term() {
        for (text, expected) in [
            ("[B @ 64]", "[B @ 64]"),
            ("[A, B @ 64 % 64]", "[A, B @ 64 % 64]"),
            ("[B / 64 @ 2, A, B % 64]", "[B @ 128 / 64, A, B % 64]"),
            ("[B / 64 = 6, A, B % 64 @ 3]", "[B / 64 = 6, A, B @ 3 = 61]"),
            ("[A, B @ 7 = 1]", "[B @ 7 = 1, A]"),
            ("[K @ 5 # 64 / 8]", "[K @ 5 / 8 # 8]"),
            ("[K @ 6 # 56 / 8]", "[K @ 6 # 56 / 8]"),
        ] {
            assert_eq!(rebuilt(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_stride_past_the_largest_size_is_an_error() {
        // 2^62 - 1 is a multiple of 3 but not of 2; its next multiple of 2 is the largest size.
        assert_eq!(rebuilt("[H # 4611686018427387904 / 2]").as_deref(), Ok("[H # 4611686018427387904 / 2]"));
        // Every third of them, then every other: 6 does not divide 2^62 - 1, and the next multiple is past 2^62.
        assert_eq!((MAX_SIZE - 1) % 6, 3);
        let error = rebuilt("[H / 3 # 1537228672809129302 / 2]").unwrap_err();
        assert_eq!(error.code, "map-size-overflow");
    }
}
