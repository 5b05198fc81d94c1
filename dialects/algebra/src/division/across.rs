//! Division across a skewed axis (book 03): a stream written in `B' = B - A` read from a buffer written in B, or
//! the other way round.
//!
//! If A is fixed, as in one slice or on one chip, B is B' and a number, and the stream is an ordinary one with another
//! start. If A also runs in the stream, each of its iterations has another start: the stream is divided once for each,
//! as with the entries of an offset table ([`crate::Gathers`]), and evenly spaced starts are a stride. Coordinates
//! wrap at |B|. A run along B' that wraps is a table if it wraps at the same position throughout; if not, no loop nest
//! reads it.

use crate::division::divide::{DivideError, Division, Step};
use crate::division::gather::{MAX_PICKS, mixed, movement};
use crate::expr::axes::{Axes, AxisId};
use crate::expr::skew::Crossing;
use crate::meaning::digits::{Digit, Offset};
use crate::meaning::placement::{PlacedDigit, Placement, times};
use visa_loops::{Entry, Stride};

/// Divides a placement.
pub type Divide<'a> = &'a dyn Fn(&Placement) -> Result<Division, DivideError>;

/// Divides a stream by the buffer of `divide`, across skewed axes. `at` is the position of the reader, a slice or a
/// chip, along the axis that each crossing subtracts.
///
/// # Errors
/// As `divide`, and [`DivideError::Skewed`] where the walk is no loop nest.
pub fn divide_across(
    stream: &Placement,
    crossings: &[Crossing],
    at: &[u64],
    divide: Divide<'_>,
    axes: &Axes,
) -> Result<Division, DivideError> {
    let across = Across { stream, crossings, at, divide, axes };
    if crossings.iter().any(|crossing| !crossing.anchored) {
        return Err(across.refuse());
    }
    let runs = |axis: AxisId| crossings.iter().any(|crossing| crossing.by == axis);
    let moves = |axis: AxisId| runs(axis) || crossings.iter().any(|crossing| crossing.stream() == axis);
    match across.counting(&runs) {
        Err(DivideError::Skewed { .. }) => across.counting(&moves),
        found => found,
    }
}

impl Crossing {
    /// The axis that the stream is written in.
    fn stream(&self) -> AxisId {
        if self.into { self.axis } else { self.of }
    }

    /// The axis that the buffer is written in.
    fn buffer(&self) -> AxisId {
        if self.into { self.of } else { self.axis }
    }

    /// The coordinate along the buffer's axis, given those along the stream's and along the one that is subtracted.
    fn coordinate(&self, own: u64, by: u64, size: u64) -> u64 {
        let (own, by) = (own % size, by % size);
        if self.into { (own + by) % size } else { (own + size - by) % size }
    }
}

struct Across<'a> {
    stream: &'a Placement,
    crossings: &'a [Crossing],
    at: &'a [u64],
    divide: Divide<'a>,
    axes: &'a Axes,
}

impl Across<'_> {
    /// The division in which each digit of the axes that are `counted` is a loop that starts elsewhere in each
    /// iteration.
    fn counting(&self, counted: &dyn Fn(AxisId) -> bool) -> Result<Division, DivideError> {
        let is_counter = |placed: &&PlacedDigit| placed.digit.axis.is_some_and(counted);
        let counters: Vec<PlacedDigit> = self.stream.digits.iter().filter(is_counter).copied().collect();
        let mut rest = self.stream.clone();
        rest.digits.retain(|placed| !is_counter(&placed));
        let lives: Vec<u64> = counters.iter().map(|counter| counter.digit.live).collect();
        let picks = lives.iter().try_fold(1_u64, |all, live| all.checked_mul(*live));
        let picks = picks.filter(|picks| *picks <= MAX_PICKS).ok_or_else(|| self.refuse())?;
        let base = |numbers: &[u64], first: Option<&Division>| -> Result<Division, DivideError> {
            let found = (self.divide)(&self.started(&rest, &counters, numbers)?)?;
            match first.is_none_or(|first| first.steps == found.steps) {
                true => Ok(found),
                false => Err(self.refuse()),
            }
        };
        let zeros = vec![0; lives.len()];
        let mut division = base(&zeros, None)?;
        let mut tables = Vec::new();
        for (counter, &live) in lives.iter().enumerate() {
            let mut table = Vec::new();
            for number in 0..live {
                let mut numbers = zeros.clone();
                numbers[counter] = number;
                table.push(base(&numbers, Some(&division))?.base.saturating_sub(division.base));
            }
            tables.push(table);
        }
        for number in if tables.len() > 1 { 0..picks } else { 0..0 } {
            let numbers = mixed(number, &lives);
            let sum = tables
                .iter()
                .zip(&numbers)
                .map(|(table, &at)| table[at as usize])
                .fold(0, i64::saturating_add);
            if base(&numbers, Some(&division))?.base.saturating_sub(division.base) != sum {
                return Err(self.refuse());
            }
        }
        for (counter, table) in counters.iter().zip(tables) {
            let PlacedDigit { digit: Digit { extent, live, .. }, weight } = *counter;
            division.steps.push(Step { extent, live, at: weight, movement: movement(table) });
        }
        division.steps.sort_by_key(|step| step.at);
        Ok(division)
    }

    fn refuse(&self) -> DivideError {
        let axis =
            self.crossings.first().map_or(String::new(), |crossing| self.axes.name(crossing.axis).to_owned());
        DivideError::Skewed { axis }
    }

    /// The rest of the stream without its counters, as the buffer is written, from the position at which the counters
    /// have these numbers.
    fn started(
        &self,
        rest: &Placement,
        counters: &[PlacedDigit],
        numbers: &[u64],
    ) -> Result<Placement, DivideError> {
        let counted = |axis: AxisId| {
            let own = counters.iter().zip(numbers).filter(|(counter, _)| counter.digit.axis == Some(axis));
            let steps = own.map(|(counter, number)| counter.digit.stride.saturating_mul(*number));
            steps.fold(self.stream.start(axis), u64::saturating_add)
        };
        let mut started = rest.clone();
        let mut starts: Vec<(AxisId, u64)> = Vec::new();
        for (crossing, at) in self.crossings.iter().zip(self.at) {
            let (own, held) = (crossing.stream(), crossing.buffer());
            let size = self.axes.size(crossing.axis);
            let by = counted(crossing.by);
            let start = crossing.coordinate(counted(own), by.saturating_add(*at), size);
            for placed in started.digits.iter_mut().filter(|placed| placed.digit.axis == Some(own)) {
                placed.digit.axis = Some(held);
            }
            let reach = started.of_axis(held).map(|(_, placed)| placed.digit);
            let reach = reach
                .map(|digit| digit.stride.saturating_mul(digit.live - 1))
                .fold(start, u64::saturating_add);
            if reach >= size {
                return Err(self.refuse());
            }
            starts.extend([(own, 0), (held, start), (crossing.by, by)]);
        }
        for (axis, coordinate) in starts {
            started.origin.retain(|offset| offset.axis != axis);
            if coordinate > 0 {
                started.origin.push(Offset { axis, coordinate, axis_size: self.axes.size(axis) });
            }
        }
        started.origin.sort_by_key(|offset| offset.axis);
        Ok(started)
    }
}

/// The fewest loops for a list of starts, outermost first, as limit and stride: the smallest innermost loop over which
/// the starts are a sum with those of the outer loops, and so on. Starts that are `None` are free.
#[must_use]
pub fn loops_of(starts: &[Option<i64>]) -> Vec<Entry> {
    let mut loops: Vec<Entry> = Vec::new();
    let mut left = starts.to_vec();
    while left.len() > 1 {
        let divisors = (2..=left.len()).filter(|inner| left.len().is_multiple_of(*inner));
        let Some((inner, outer)) = divisors.map(|inner| sum(&left, inner)).find_map(|found| found) else {
            break;
        };
        left = outer;
        let limit = inner.len() as u64;
        match (loops.last_mut(), stride(inner)) {
            // It counts on where the loop inside ends.
            (Some(below), Stride::Fixed(stride))
                if below.stride.fixed().is_some_and(|step| times(step, below.limit) == stride) =>
            {
                below.limit *= limit
            }
            (_, stride) => loops.push(Entry { limit, stride }),
        }
    }
    loops.reverse();
    loops
}

fn stride(starts: Vec<i64>) -> Stride {
    let step = starts.get(1).copied().unwrap_or_default();
    let evenly = (0_i64..).zip(&starts).all(|(at, start)| at.checked_mul(step) == Some(*start));
    if evenly { Stride::Fixed(step) } else { Stride::Table(starts.into()) }
}

/// The starts as sums of those within a run of `count`, and those of the runs, the first of which is 0.
fn sum(starts: &[Option<i64>], count: usize) -> Option<(Vec<i64>, Vec<Option<i64>>)> {
    let (mut inner, mut outer) = (vec![None; count], vec![None; starts.len() / count]);
    let known =
        || starts.iter().enumerate().filter_map(|(at, start)| Some((at / count, at % count, (*start)?)));
    loop {
        let mut settled = false;
        for (run, at, start) in known() {
            match (outer[run], inner[at]) {
                (Some(first), None) => inner[at] = Some(start - first),
                (None, Some(step)) => outer[run] = Some(start - step),
                (Some(first), Some(step)) if first + step != start => return None,
                (Some(_), Some(_)) | (None, None) => continue,
            }
            settled = true;
        }
        let open = known().find(|(run, _, _)| outer[*run].is_none());
        match (settled, open) {
            (true, _) => {}
            (false, Some((run, _, start))) => outer[run] = Some(start),
            (false, None) => break,
        }
    }
    let first = outer.iter().flatten().min().copied().unwrap_or_default();
    let inner = inner.into_iter().map(|step| step.unwrap_or_default() + first).collect();
    Some((inner, outer.into_iter().map(|start: Option<i64>| Some(start? - first)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_few_loops() {
        let some = |starts: &[i64]| starts.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(loops_of(&some(&[0, 0, 0, 0])), [Entry::new(4, 0)]);
        assert_eq!(loops_of(&some(&[0, 8, 16, 24])), [Entry::new(4, 8)]);
        assert_eq!(
            loops_of(&some(&[24, 0, 8, 16])),
            [Entry { limit: 4, stride: Stride::from(vec![24, 0, 8, 16]) }]
        );
        assert_eq!(
            loops_of(&some(&[0, 0, 8, 8, 0, 0, 8, 8])),
            [Entry::new(2, 0), Entry::new(2, 8), Entry::new(2, 0)]
        );
        // Positions that hold nothing start anywhere.
        let padded = [Some(0), Some(8), None, None, None, None, None, None];
        assert_eq!(loops_of(&padded), [Entry::new(4, 0), Entry::new(2, 8)]);
        let clusters = [Some(0), Some(8), None, None, Some(16), Some(24), None, None];
        assert_eq!(loops_of(&clusters), [Entry::new(2, 16), Entry::new(2, 0), Entry::new(2, 8)]);
        assert_eq!(loops_of(&[None, None]), [Entry::new(2, 0)]);
    }
}
