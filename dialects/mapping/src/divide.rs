//! Division: how to walk a buffer in the order of a stream (book 07).
//!
//! A stream position is a tensor index, and the buffer says where that index stands. Written in digits both are
//! mixed-radix numbers, so the walk is one loop a stream digit: its stride is that of the buffer digit which counts the
//! same coordinates. A stream digit that runs over several buffer digits is cut at their boundaries; where a cut falls
//! inside a step the two radices have no common refinement and no loop nest exists.

use crate::{Axes, AxisId, Digit, Digits};
use std::fmt;

/// A buffer digit and the distance between its positions, in any unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The digit.
    pub digit: Digit,
    /// Distance between its neighbours.
    pub weight: i64,
}

/// The digits of a contiguous buffer whose positions are `unit` apart.
#[must_use]
pub fn place(digits: &Digits, unit: i64) -> Vec<Placed> {
    let mut weight = unit;
    digits
        .iter()
        .map(|digit| {
            let placed = Placed { digit: *digit, weight };
            weight = weight.saturating_mul(i64::try_from(digit.extent).unwrap_or(i64::MAX));
            placed
        })
        .collect()
}

/// One loop of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Iterations, padding included.
    pub extent: u64,
    /// Iterations that reach live positions: the first ones.
    pub live: u64,
    /// How far each goes.
    pub walk: Walk,
}

/// How a loop moves through the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// By this distance.
    Stride(i64),
    /// Not at all: the tensor does not depend on what the loop counts.
    Broadcast,
    /// Anywhere: only its first iteration is live.
    Padding,
}

/// Why a stream cannot be read from a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DivideError {
    /// The buffer does not hold the indices that the stream asks for (book 07, "insufficient input").
    Missing {
        /// What is asked for, in the user's notation.
        wanted: String,
        /// What the buffer holds of that axis.
        held: Vec<String>,
    },
    /// Two radices of an axis have no common refinement (book 07, "incompatible shapes").
    Incompatible {
        /// What the stream asks for.
        wanted: String,
        /// The buffer's digit that it runs into.
        held: String,
        /// The axis.
        axis: String,
        /// Radix of the stream and of the buffer.
        radices: (u64, u64),
    },
}

impl fmt::Display for DivideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { wanted, held } if held.is_empty() => {
                write!(f, "`{wanted}` is not held there")
            }
            Self::Missing { wanted, held } => {
                write!(
                    f,
                    "`{wanted}` is not held there, which holds only `{}` of that axis",
                    held.join("`, `")
                )
            }
            Self::Incompatible { wanted, held, axis, radices } => {
                let (stream, buffer) = radices;
                write!(
                    f,
                    "`{wanted}` cannot be read from `{held}`: radices {stream} and {buffer} of {axis} have no common refinement"
                )
            }
        }
    }
}

/// A digit in the user's notation, e.g. `J / 8 % 4`.
#[must_use]
pub fn digit_text(digit: &Digit, axes: &Axes) -> String {
    let Some(axis) = digit.axis else {
        let padded = digit.live < digit.extent;
        return if padded { format!("{} # {}", digit.live, digit.extent) } else { digit.extent.to_string() };
    };
    let mut text = axes.name(axis).to_owned();
    if digit.stride > 1 {
        text.push_str(&format!(" / {}", digit.stride));
    }
    let whole = axes.size(axis) / digit.stride;
    if digit.live < whole && digit.live == digit.extent {
        text.push_str(&format!(" % {}", digit.extent));
    } else if digit.live < digit.extent {
        if digit.live < whole {
            text.push_str(&format!(" = {}", digit.live));
        }
        text.push_str(&format!(" # {}", digit.extent));
    }
    text
}

/// The loops, minor first, that walk `buffer` in the order of `stream`. `free` names the axes that the tensor does not
/// depend on: whatever their index, the same element is meant.
///
/// # Errors
/// What the buffer does not hold, or holds in a radix that does not fit.
pub fn divide(
    stream: &Digits,
    buffer: &[Placed],
    free: &dyn Fn(AxisId) -> bool,
    axes: &Axes,
) -> Result<Vec<Step>, DivideError> {
    let mut steps = Vec::new();
    for digit in stream.iter() {
        match digit.axis {
            None if digit.live == 1 => {
                steps.push(Step { extent: digit.extent, live: 1, walk: Walk::Padding });
            }
            None => steps.push(Step { extent: digit.extent, live: digit.live, walk: Walk::Broadcast }),
            Some(axis) if free(axis) => {
                steps.push(Step { extent: digit.extent, live: digit.live, walk: Walk::Broadcast });
            }
            Some(axis) => cut(*digit, axis, buffer, axes, &mut steps)?,
        }
    }
    Ok(steps)
}

/// Cuts one stream digit at the boundaries of the buffer digits of its axis.
fn cut(
    digit: Digit,
    axis: AxisId,
    buffer: &[Placed],
    axes: &Axes,
    steps: &mut Vec<Step>,
) -> Result<(), DivideError> {
    let whole = digit;
    let mut rest = digit;
    loop {
        let placed = holder(&rest, axis, buffer).ok_or_else(|| DivideError::Missing {
            wanted: digit_text(&whole, axes),
            held: of_axis(axis, buffer).map(|placed| digit_text(&placed.digit, axes)).collect(),
        })?;
        let incompatible = || DivideError::Incompatible {
            wanted: digit_text(&whole, axes),
            held: digit_text(&placed.digit, axes),
            axis: axes.name(axis).to_owned(),
            radices: (rest.stride, placed.digit.stride * placed.digit.live),
        };
        let reach = placed.digit.stride * placed.digit.live;
        if !rest.stride.is_multiple_of(placed.digit.stride) {
            return Err(incompatible());
        }
        let factor = i64::try_from(rest.stride / placed.digit.stride).unwrap_or(i64::MAX);
        let walk = Walk::Stride(placed.weight.saturating_mul(factor));
        let held = reach.div_ceil(rest.stride);
        if rest.live <= held {
            steps.push(Step { extent: rest.extent, live: rest.live, walk });
            return Ok(());
        }
        let exact = reach.is_multiple_of(rest.stride) && rest.live.is_multiple_of(held);
        if !exact || !rest.extent.is_multiple_of(held) {
            return Err(incompatible());
        }
        steps.push(Step { extent: held, live: held, walk });
        rest =
            Digit { stride: rest.stride * held, extent: rest.extent / held, live: rest.live / held, ..rest };
    }
}

fn of_axis(axis: AxisId, buffer: &[Placed]) -> impl Iterator<Item = &Placed> {
    buffer.iter().filter(move |placed| placed.digit.axis == Some(axis))
}

/// The buffer digit in whose range of coordinates the stream digit starts to count.
fn holder<'b>(digit: &Digit, axis: AxisId, buffer: &'b [Placed]) -> Option<&'b Placed> {
    of_axis(axis, buffer).find(|placed| {
        placed.digit.stride <= digit.stride && digit.stride < placed.digit.stride * placed.digit.live
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expr, digits};

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 8), ("B", 8), ("C", 8), ("N", 2048), ("F", 15), ("T", 4)] {
            axes.declare(name, size).unwrap();
        }
        axes
    }

    fn walk(buffer: &str, stream: &str) -> Result<Vec<(u64, Walk)>, String> {
        let axes = axes();
        let read = |text: &str| digits(&Expr::parse(text).unwrap(), &axes).unwrap();
        let buffer = place(&read(buffer), 1);
        let held: Vec<_> = buffer.iter().filter_map(|placed| placed.digit.axis).collect();
        let steps = divide(&read(stream), &buffer, &|axis| !held.contains(&axis), &axes);
        steps
            .map(|steps| steps.iter().rev().map(|step| (step.extent, step.walk)).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn book_07_rearranging() {
        let entries = walk("[A, B, C # 32]", "[B, A, C # 16]").unwrap();
        assert_eq!(entries, [(8, Walk::Stride(32)), (8, Walk::Stride(256)), (16, Walk::Stride(1))]);
    }

    #[test]
    fn book_07_splitting() {
        let entries = walk("[A, B, C # 8]", "[A % 2, B % 4, A / 2, B / 4, C # 32]").unwrap();
        let strides = [(2, 64), (4, 8), (4, 128), (2, 32), (32, 1)].map(|(n, s)| (n, Walk::Stride(s)));
        assert_eq!(entries, strides);
    }

    #[test]
    fn a_stream_digit_is_cut_where_the_buffer_changes_order() {
        let entries = walk("[N % 512, N / 512]", "[N]").unwrap();
        assert_eq!(entries, [(4, Walk::Stride(1)), (512, Walk::Stride(4))]);
    }

    #[test]
    fn axes_the_tensor_does_not_depend_on_broadcast() {
        assert_eq!(walk("[A]", "[T, A]").unwrap(), [(4, Walk::Broadcast), (8, Walk::Stride(1))]);
    }

    #[test]
    fn missing_and_incompatible_are_named() {
        assert_eq!(
            walk("[N % 512]", "[N / 512, N % 512]").unwrap_err(),
            "`N` is not held there, which holds only `N % 512` of that axis"
        );
        assert_eq!(
            walk("[F % 5, F / 5]", "[F % 3, F / 3]").unwrap_err(),
            "`F / 3` cannot be read from `F % 5`: radices 3 and 5 of F have no common refinement"
        );
    }

    /// The walk against enumeration: position i of the stream must be read where the buffer holds its index.
    #[test]
    fn walks_agree_with_enumeration() {
        let axes = axes();
        let cases = [
            ("[A, B]", "[B, A]"),
            ("[A / 2, B, A % 2]", "[A, B % 4, B / 4]"),
            ("[B / 4, A, B % 4]", "[A % 4, B, A / 4]"),
            ("[A # 16, B]", "[B / 2, A # 16, B % 2]"),
        ];
        for (buffer, stream) in cases {
            let read = |text: &str| digits(&Expr::parse(text).unwrap(), &axes).unwrap();
            let (held, order) = (read(buffer), read(stream));
            let steps = divide(&order, &place(&held, 1), &|_| false, &axes).unwrap();
            for position in 0..order.size() {
                let Some(crate::Cell::Live(index)) = order.cell(position) else { continue };
                let (mut rest, mut address) = (position, 0);
                for step in &steps {
                    let Walk::Stride(stride) = step.walk else { continue };
                    address += stride * (rest % step.extent) as i64;
                    rest /= step.extent;
                }
                assert_eq!(
                    held.cell(address as u64),
                    Some(crate::Cell::Live(index)),
                    "{stream} at {position}"
                );
            }
        }
    }
}
