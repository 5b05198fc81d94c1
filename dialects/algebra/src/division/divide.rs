//! Division: how to walk a buffer in the order of a stream (book 07).
//!
//! A stream position is a tensor index, and the buffer gives the position of that index. Written in digits both are
//! mixed-radix numbers, so the walk is one loop a stream digit: its stride is that of the buffer digit which counts
//! the same coordinates. A stream digit that runs over several buffer digits is cut at their boundaries; if a cut
//! falls inside a step the two radices have no common refinement and no loop nest exists.
//!
//! The walk starts where the buffer holds the stream's first index. The loops are right only if no digit of the
//! buffer carries into the next: its start and all steps on it stay below its live count. Past the end of an axis
//! there is padding, which may be read as anything, so the topmost digit may run on there.
//!
//! *Relaxed* division is the division of streams: an axis that the tensor does not depend on is broadcast, the stream
//! may
//! be padded, and the unread part of the buffer is the rest. *Exact* division reads each live element of the buffer
//! once.
//!
//! *Law.* Let position i of the stream hold index t, and i = sum of d_k * at_k over the steps. Then the buffer
//! holds t at base + sum of d_k * stride_k.

mod rest;

use crate::expr::PadKind;
use crate::expr::axes::{Axes, AxisId};
use crate::meaning::cell::Index;
use crate::meaning::digits::Digit;
use crate::meaning::placement::{MAX_CHOICES, PlacedDigit, Placement, times};
use rest::{Used, counts_once, leftover};
use std::fmt;
use visa_loops::Stride;
use visa_words::counted;

/// One loop of the walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Iterations, padding included.
    pub extent: u64,
    /// Iterations that reach live positions: the first ones.
    pub live: u64,
    /// Step of each in the stream.
    pub at: i64,
    /// Step of each in the buffer.
    pub movement: Movement,
}

/// Movement of a loop through the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Movement {
    /// By a distance, or to a table's places: an offset for each live iteration, the first is 0 (book 07, indirect
    /// access).
    By(Stride),
    /// No movement: the tensor does not depend on the loop's counter.
    Broadcast,
    /// Anywhere: only its first iteration is live.
    Padding,
}

impl Movement {
    /// The stride of a read in `extent` iterations: a loop that needs no other element reads the same one again, and
    /// so does the padding after the entries of a table.
    #[must_use]
    pub fn read(&self, extent: u64) -> Stride {
        match self {
            Self::Broadcast | Self::Padding => Stride::Fixed(0),
            Self::By(Stride::Table(table)) if table.len() as u64 != extent => {
                let padding = (table.len() as u64..extent).map(|_| 0);
                Stride::Table(table.iter().copied().chain(padding).collect())
            }
            Self::By(stride) => stride.clone(),
        }
    }
}

/// A stream divided by a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// Where the buffer holds the stream's first index.
    pub base: i64,
    /// The loops, minor first.
    pub steps: Vec<Step>,
    /// The unread part of the buffer (book 07, "Buf After"): its digits, each factor that was read as padding `1 # n`.
    /// A slice that is no factor (`= 3` of 4) takes the whole digit along.
    pub rest: Vec<PlacedDigit>,
    /// Reason why the division is relaxed; `None` if it is exact.
    pub relaxed: Option<String>,
}

impl Division {
    /// The unread part of the buffer, in the user's notation, major first.
    #[must_use]
    pub fn left_over(&self, axes: &Axes) -> String {
        let is_padding = |digit: &Digit| digit.axis.is_none() && digit.live == 1;
        let mut factors: Vec<Digit> = Vec::new();
        for placed in self.rest.iter().rev() {
            // The positions read already are padding, and neighbouring padding is one factor.
            match factors.last_mut() {
                Some(above) if is_padding(above) && is_padding(&placed.digit) => {
                    above.extent *= placed.digit.extent
                }
                Some(_) | None => factors.push(placed.digit),
            }
        }
        let factors: Vec<_> = factors.iter().map(|digit| digit_text(digit, axes)).collect();
        if factors.is_empty() { "[1]".to_owned() } else { format!("[{}]", factors.join(", ")) }
    }
}

/// Reason why a stream cannot be read from a buffer, in the user's notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DivideError {
    /// The buffer does not hold these indices (book 07, "insufficient input").
    Missing {
        /// The factor that is asked for.
        wanted: String,
    },
    /// Two radices of an axis have no common refinement (book 07, "incompatible shapes").
    Incompatible {
        /// The axis.
        axis: String,
        /// Radix of the stream and of the buffer.
        radices: (u64, u64),
    },
    /// Steps of the stream run from one block of the buffer into the next.
    Carry {
        /// The axis.
        axis: String,
        /// Coordinates of a block.
        block: u64,
    },
    /// One side has a skewed axis, the other the axis that it is made of: coordinates wrap (book 03).
    Skewed {
        /// The skewed axis.
        axis: String,
    },
    /// Each chip would read a skewed axis from another address.
    Chips {
        /// The skewed axis.
        axis: String,
    },
    /// Gathered terms are no loops with a table each.
    Gathered {
        /// The terms.
        terms: String,
        /// The obstacle.
        why: String,
    },
    /// Exact division was asked for.
    Inexact {
        /// Reason why it is relaxed.
        why: String,
    },
}

impl fmt::Display for DivideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { wanted } => write!(f, "it does not hold `{wanted}`"),
            Self::Incompatible { axis, radices: (stream, buffer) } => {
                write!(f, "radices {stream} and {buffer} of {axis} have no common refinement")
            }
            Self::Carry { axis, block } => {
                write!(f, "steps along {axis} run from one of its blocks of {block} into the next")
            }
            Self::Skewed { axis } => write!(f, "{axis} is skewed and wraps around, which no loop nest does"),
            Self::Chips { axis } => write!(
                f,
                "{axis} starts at another address on each chip, and a transfer has one for all: leave it to a \
                 fetch"
            ),
            Self::Gathered { terms, why } => write!(f, "`{terms}` cannot be read by offset tables: {why}"),
            Self::Inexact { why } => f.write_str(why),
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
    let whole = axes.size(axis).div_ceil(digit.stride);
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

/// The factor of the stream that a step counts, in the user's notation.
#[must_use]
pub fn step_text(step: &Step, stream: &Placement, axes: &Axes) -> String {
    digit_text(&step_digit(step, stream), axes)
}

/// The digit that a step of a stream counts: a part of a digit, without an axis if it counts none.
#[must_use]
pub fn step_digit(step: &Step, stream: &Placement) -> Digit {
    let counted = stream.digits.iter().filter_map(|placed| {
        let steps = u64::try_from(step.at.checked_div(placed.weight)?).ok()?;
        (1..placed.digit.extent).contains(&steps).then_some((placed, steps))
    });
    let (extent, live) = (step.extent, step.live);
    match counted.max_by_key(|(placed, _)| placed.weight) {
        Some((whole, steps)) => {
            Digit { stride: whole.digit.stride.saturating_mul(steps), extent, live, ..whole.digit }
        }
        None => Digit { axis: None, axis_size: 1, stride: 0, extent, live, kind: PadKind::Top },
    }
}

/// Divides a stream by a buffer, relaxed: the loops that walk the buffer in the order of the stream. Digits of several
/// mappings (time and packet) are joined, not merged, so that loops never run across their boundary. `free` names the
/// axes that the tensor does not depend on: every index along them stands for the same element.
///
/// # Errors
/// The part that the buffer lacks, or holds in a radix that does not fit.
pub fn divide(
    stream: &Placement,
    buffer: &Placement,
    free: &dyn Fn(AxisId) -> bool,
    axes: &Axes,
) -> Result<Division, DivideError> {
    let mut walker = Walker::start(stream, buffer, free, axes)?;
    for placed in &stream.digits {
        let PlacedDigit { digit, weight } = *placed;
        let movement = match digit.axis {
            Some(axis) if !free(axis) => {
                walker.cut(placed, axis)?;
                continue;
            }
            None if digit.live == 1 => Movement::Padding,
            Some(_) | None => Movement::Broadcast,
        };
        walker.steps.push(Step { extent: digit.extent, live: digit.live, at: weight, movement });
    }
    walker.check_carries()?;
    Ok(walker.finish())
}

/// Divides a stream by a buffer so that each live element of the buffer is read once: nothing is left over,
/// repeated or left out. Padding on either side is no element.
///
/// # Errors
/// As [`divide`], with the reason why the division is relaxed.
pub fn divide_exact(
    stream: &Placement,
    buffer: &Placement,
    free: &dyn Fn(AxisId) -> bool,
    axes: &Axes,
) -> Result<Division, DivideError> {
    let division = divide(stream, buffer, free, axes)?;
    match division.relaxed {
        Some(why) => Err(DivideError::Inexact { why }),
        None => Ok(division),
    }
}

struct Walker<'a> {
    stream: &'a Placement,
    buffer: &'a Placement,
    axes: &'a Axes,
    base: i64,
    used: Vec<Used>,
    steps: Vec<Step>,
}

impl<'a> Walker<'a> {
    /// Finds the stream's first index in the buffer.
    fn start(
        stream: &'a Placement,
        buffer: &'a Placement,
        free: &dyn Fn(AxisId) -> bool,
        axes: &'a Axes,
    ) -> Result<Self, DivideError> {
        let mut used = vec![Used::default(); buffer.digits.len()];
        let mut base = buffer.base;
        let offsets = || stream.origin.iter().chain(&buffer.origin).map(|offset| offset.axis);
        for axis in stream.digits.iter().filter_map(|placed| placed.digit.axis).chain(offsets()) {
            check_skew(axis, free, axes)?;
        }
        let mut starts: Vec<AxisId> = offsets().filter(|&axis| !free(axis)).collect();
        starts.sort();
        starts.dedup();
        for axis in starts {
            let (wanted, held) = (stream.start(axis), buffer.start(axis));
            let missing = |end| DivideError::Missing { wanted: range_text(axis, wanted, end, axes) };
            let distance = wanted.checked_sub(held).ok_or_else(|| missing(Some(held)))?;
            let values = buffer.reach(axis, distance).ok_or_else(|| missing(None))?;
            for (at, value) in values {
                used[at].start = value;
                base = base.saturating_add(times(buffer.digits[at].weight, value));
            }
        }
        Ok(Self { stream, buffer, axes, base, used, steps: Vec::new() })
    }

    /// Cuts one stream digit at the boundaries of the buffer digits of its axis.
    fn cut(&mut self, stream: &PlacedDigit, axis: AxisId) -> Result<(), DivideError> {
        let PlacedDigit { digit: mut rest, weight: mut at } = *stream;
        loop {
            let (number, placed) = self.holder(&rest, axis).ok_or_else(|| self.missing(rest, axis))?;
            let incompatible =
                |radices| DivideError::Incompatible { axis: self.axes.name(axis).to_owned(), radices };
            let held_digit = placed.digit;
            let end = held_digit.stride.saturating_mul(held_digit.live);
            if !rest.stride.is_multiple_of(held_digit.stride) {
                return Err(incompatible((rest.stride, held_digit.stride)));
            }
            let factor = rest.stride / held_digit.stride;
            let movement = Movement::By(Stride::Fixed(times(placed.weight, factor)));
            let held = end.div_ceil(rest.stride);
            if rest.live <= held {
                self.used[number].steps.push((factor, rest.live));
                self.steps.push(Step { extent: rest.extent, live: rest.live, at, movement });
                return Ok(());
            }
            if !end.is_multiple_of(rest.stride) {
                return Err(incompatible((rest.stride, end)));
            }
            let goes_on = |placed: &PlacedDigit| placed.digit.stride >= end;
            if !rest.live.is_multiple_of(held)
                && !self.buffer.of_axis(axis).any(|(_, placed)| goes_on(placed))
            {
                let from = self.buffer.start(axis).saturating_add(end);
                return Err(DivideError::Missing { wanted: range_text(axis, from, None, self.axes) });
            }
            if !rest.live.is_multiple_of(held) || !rest.extent.is_multiple_of(held) {
                return Err(incompatible((rest.stride.saturating_mul(rest.live), end)));
            }
            self.used[number].steps.push((factor, held));
            self.steps.push(Step { extent: held, live: held, at, movement });
            let (extent, live) = (rest.extent / held, rest.live / held);
            rest = Digit { stride: rest.stride * held, extent, live, ..rest };
            at = times(at, held);
        }
    }

    /// The part of the stream's digit that no digit of the buffer counts: the digit up to the start of the next one.
    /// After an offset the buffer may still hold all of its coordinates, in blocks that its steps cross.
    fn missing(&self, digit: Digit, axis: AxisId) -> DivideError {
        let strides = self.buffer.of_axis(axis).map(|(_, placed)| placed.digit.stride);
        let block = strides.filter(|stride| *stride > digit.stride).min();
        if let Some(block) = block.filter(|_| self.holds(digit, axis)) {
            return DivideError::Carry { axis: self.axes.name(axis).to_owned(), block };
        }
        let above = self.buffer.of_axis(axis).map(|(_, placed)| placed.digit.stride);
        let next = above.filter(|stride| *stride > digit.stride && stride.is_multiple_of(digit.stride)).min();
        let wanted = match next.map(|next| next / digit.stride) {
            Some(count) if count < digit.live => Digit { extent: count, live: count, ..digit },
            Some(_) | None => digit,
        };
        DivideError::Missing { wanted: digit_text(&wanted, self.axes) }
    }

    /// Returns true if the buffer holds every coordinate that a stream digit reaches, among those within the bound.
    fn holds(&self, digit: Digit, axis: AxisId) -> bool {
        let others = self.buffer.origin.iter().filter(|offset| offset.axis != axis);
        let others: Index = others.map(|offset| (offset.axis, offset.coordinate)).collect();
        let first = self.stream.start(axis);
        (0..digit.live.min(MAX_CHOICES as u64)).all(|step| {
            let mut index = others.clone();
            index.add(axis, first.saturating_add(digit.stride.saturating_mul(step)));
            self.buffer.address(&index).is_some()
        })
    }

    /// The buffer digit in whose range of coordinates the stream digit starts to count.
    fn holder(&self, digit: &Digit, axis: AxisId) -> Option<(usize, PlacedDigit)> {
        let counts = |placed: &PlacedDigit| {
            let Digit { stride, live, .. } = placed.digit;
            stride <= digit.stride && digit.stride < stride.saturating_mul(live)
        };
        self.buffer.of_axis(axis).find(|(_, placed)| counts(placed)).map(|(number, placed)| (number, *placed))
    }

    /// Checks that no digit of the buffer runs past its live positions, unless the axis ends there.
    fn check_carries(&self) -> Result<(), DivideError> {
        for (placed, used) in self.buffer.digits.iter().zip(&self.used) {
            let Some(axis) = placed.digit.axis else { continue };
            let steps = used.steps.iter().map(|&(factor, live)| factor.saturating_mul(live - 1));
            let last = steps.fold(used.start, u64::saturating_add);
            let block = placed.digit.stride.saturating_mul(placed.digit.live);
            let end = self.buffer.start(axis).saturating_add(block);
            if last < placed.digit.live || end >= placed.digit.axis_size {
                continue;
            }
            let topmost =
                self.buffer.of_axis(axis).all(|(_, other)| other.digit.stride <= placed.digit.stride);
            return Err(match topmost {
                true => DivideError::Missing { wanted: range_text(axis, end, None, self.axes) },
                false => DivideError::Carry { axis: self.axes.name(axis).to_owned(), block },
            });
        }
        Ok(())
    }

    fn finish(self) -> Division {
        let mut rest = Vec::new();
        let mut relaxed = self
            .steps
            .iter()
            .find(|step| step.movement == Movement::Broadcast)
            .map(|step| format!("it is repeated {}", counted(step.live, "time")));
        for (placed, used) in self.buffer.digits.iter().zip(&self.used) {
            let left = leftover(placed, used);
            let partial = match left.iter().find(|left| left.digit.live > 1) {
                Some(left) => Some(format!("`{}` is left over", digit_text(&left.digit, self.axes))),
                None if !counts_once(placed.digit, used) => {
                    Some(format!("not each of `{}` is read once", digit_text(&placed.digit, self.axes)))
                }
                None => None,
            };
            relaxed = relaxed.or(partial);
            rest.extend(left);
        }
        Division { base: self.base, steps: self.steps, rest, relaxed }
    }
}

/// Refuses to read one axis of a skewed pair where the tensor depends on the other.
fn check_skew(axis: AxisId, free: &dyn Fn(AxisId) -> bool, axes: &Axes) -> Result<(), DivideError> {
    if !free(axis) {
        return Ok(());
    }
    let of = axes.skew(axis).filter(|skew| !free(skew.of)).map(|_| axis);
    let made_of = || {
        axes.iter()
            .map(|(id, ..)| id)
            .find(|&id| axes.skew(id).is_some_and(|skew| skew.of == axis) && !free(id))
    };
    match of.or_else(made_of) {
        Some(skewed) => Err(DivideError::Skewed { axis: axes.name(skewed).to_owned() }),
        None => Ok(()),
    }
}

/// The coordinates of an axis from one on, up to another, in the user's notation.
fn range_text(axis: AxisId, from: u64, end: Option<u64>, axes: &Axes) -> String {
    let name = axes.name(axis);
    match end {
        Some(end) if from == 0 => format!("{name} = {end}"),
        Some(end) => format!("{name} @ {from} = {}", end - from),
        None => format!("{name} @ {from}"),
    }
}

#[cfg(test)]
mod tests;
