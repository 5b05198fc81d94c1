//! Movement of addresses with the loops around a command.

use std::ops::Range;

use crate::program::Entry;
use crate::stride::Stride;

/// Movement of addresses with one loop: a number of bytes times its index, and the offsets of a list one after the
/// other, for rotating buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Step {
    /// Factor of the index.
    pub by: i64,
    /// Offsets that are added in one iteration after the other, and then again from the first one on; may be empty.
    pub turns: Vec<i64>,
}

impl Step {
    /// Movement of addresses up to an iteration. Wraps, if they are in no memory.
    #[must_use]
    pub fn at(&self, index: u64) -> i64 {
        self.by.wrapping_mul(index.cast_signed()).wrapping_add(self.turn(index))
    }

    /// The offset of an iteration, in addition to the index times its factor.
    fn turn(&self, index: u64) -> i64 {
        let turn = index.checked_rem(self.turns.len() as u64).unwrap_or_default();
        self.turns.get(turn as usize).copied().unwrap_or_default()
    }

    /// Number of iterations after which the offsets repeat.
    #[must_use]
    pub fn period(&self) -> u64 {
        self.turns.len().max(1) as u64
    }

    /// Returns true if addresses are the same in all iterations.
    #[must_use]
    pub fn is_still(&self) -> bool {
        self.by == 0 && self.turns.iter().all(|turn| Some(turn) == self.turns.first())
    }

    /// Some iterations in parts: those in which all offsets occur equally often, and the rest.
    #[must_use]
    pub fn whole_turns(&self, iterations: &Range<u64>) -> Vec<Range<u64>> {
        let Range { start, end } = *iterations;
        let (times, period) = (end.saturating_sub(start), self.period());
        let left = times % period;
        let whole = if times < period { end } else { end - left };
        [start..whole, whole..end].into_iter().filter(|part| part.start < part.end).collect()
    }

    /// Loops over how far addresses are, in some iterations, from where they are in the first of these. Of turns that
    /// are cut off, those that are left out count too.
    #[must_use]
    pub fn entries(&self, iterations: &Range<u64>) -> Vec<Entry> {
        let (times, first) = (iterations.end.saturating_sub(iterations.start), self.at(iterations.start));
        let period = self.period();
        if period == 1 {
            return if self.by == 0 { Vec::new() } else { vec![Entry::new(times, self.by)] };
        }
        let turns = times.min(period);
        let offsets = (0..turns).map(|turn| self.at(iterations.start + turn).wrapping_sub(first));
        let around = Entry::new(times.div_ceil(period), self.by.saturating_mul(period.cast_signed()));
        vec![around, Entry { limit: turns, stride: Stride::from(offsets.collect::<Vec<_>>()) }]
    }
}

/// Movement of addresses with each scalar of a program, and then with each loop around a command, the outermost first.
/// If there are fewer numbers than those, they do not move with the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Steps {
    /// The step of each.
    pub each: Vec<Step>,
    /// Movement of addresses if all scalars and indices are 0.
    pub plus: i64,
}

impl Steps {
    /// Steps that are numbers of bytes.
    #[must_use]
    pub fn by(numbers: &[i64]) -> Self {
        let step = |&by: &i64| Step { by, turns: Vec::new() };
        Self { each: numbers.iter().map(step).collect(), plus: 0 }
    }

    /// Movement of addresses. Wraps, if they are in no memory.
    #[must_use]
    pub fn at(&self, indices: &[u64]) -> i64 {
        let moved = self.each.iter().zip(indices).map(|(step, &index)| step.at(index));
        moved.fold(self.plus, i64::wrapping_add)
    }

    /// Step per iteration of the loop at `depth`.
    #[must_use]
    pub fn of(&self, depth: usize) -> i64 {
        self.each.get(depth).map_or(0, |step| step.by)
    }

    /// Number of iterations of the loop at `depth` after which its offsets repeat.
    #[must_use]
    pub fn period(&self, depth: usize) -> u64 {
        self.each.get(depth).map_or(1, Step::period)
    }

    /// The remaining steps once `scalars` scalars are known.
    #[must_use]
    pub fn after(&self, scalars: usize) -> Self {
        Self { each: self.each.get(scalars..).unwrap_or_default().to_vec(), ..*self }
    }

    /// Returns true if addresses are the same in all iterations.
    #[must_use]
    pub fn is_still(&self) -> bool {
        self.each.iter().all(Step::is_still)
    }

    /// Movement of addresses in the first of some iterations, and loops over their distances from there in all of
    /// them: at least one of each index.
    #[must_use]
    pub fn reach(&self, iterations: &[Range<u64>]) -> (i64, Vec<Entry>) {
        let firsts: Vec<u64> = iterations.iter().map(|range| range.start).collect();
        let entries = self.each.iter().zip(iterations).flat_map(|(step, range)| step.entries(range));
        (self.at(&firsts), entries.collect())
    }

    /// Movement of addresses relative to others in the same iteration.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        self.with(other, -1)
    }

    /// Movement of these addresses plus that of others, times a factor.
    #[must_use]
    pub fn with(&self, other: &Self, factor: i64) -> Self {
        let none = Step::default();
        let count = self.each.len().max(other.each.len());
        let step = |depth: usize| {
            let (own, theirs) =
                (self.each.get(depth).unwrap_or(&none), other.each.get(depth).unwrap_or(&none));
            let period = match (own.period(), theirs.period()) {
                (1, 1) => 0,
                (own, theirs) => lcm(own, theirs),
            };
            let sum = |one: i64, other: i64| one.wrapping_add(other.wrapping_mul(factor));
            let turns = (0..period).map(|turn| sum(own.turn(turn), theirs.turn(turn)));
            Step { by: sum(own.by, theirs.by), turns: turns.collect() }
        };
        Self {
            each: (0..count).map(step).collect(),
            plus: self.plus.wrapping_add(other.plus.wrapping_mul(factor)),
        }
    }
}

/// The greatest number that divides both.
#[must_use]
pub fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

/// The least number that two numbers of iterations divide, neither of which is 0.
#[must_use]
pub fn lcm(one: u64, other: u64) -> u64 {
    (one / gcd(one, other)).saturating_mul(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Program;

    fn steps(text: &str) -> Steps {
        text.parse().expect(text)
    }

    /// The positions of a program at 0 in all iterations of some ranges, by its addresses.
    fn reached(steps: &Steps, iterations: &[Range<u64>]) -> Vec<i64> {
        let (base, entries) = steps.reach(iterations);
        let mut all: Vec<i64> = Program { entries, packet: 1, base }.addresses().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn three_buffers_in_turn() {
        let three = steps("[(0, 100, 250)]");
        let moved: Vec<i64> = (0..7).map(|index| three.at(&[index])).collect();
        assert_eq!(moved, [0, 100, 250, 0, 100, 250, 0]);
        assert_eq!((three.period(0), three.period(1)), (3, 1));
        assert_eq!(reached(&three, std::slice::from_ref(&(0..7))), [0, 100, 250]);
        assert_eq!(reached(&three, std::slice::from_ref(&(1..3))), [100, 250]);
        assert_eq!(reached(&three, std::slice::from_ref(&(4..5))), [100]);
    }

    #[test]
    fn turns_beside_a_stride() {
        let both = steps("[1000, 8 + (0, 100)]");
        assert_eq!(both.at(&[2, 3]), 2000 + 24 + 100);
        assert_eq!(reached(&both, &[0..2, 0..4]), [0, 16, 108, 124, 1000, 1016, 1108, 1124]);
    }

    #[test]
    fn buffers_beside_others() {
        // Two buffers and three: every pair comes within six iterations.
        let (two, three) = (steps("[(0, 1)]"), steps("[(0, 10, 20)]"));
        let apart = two.beside(&three);
        for index in 0..12 {
            assert_eq!(apart.at(&[index]), two.at(&[index]) - three.at(&[index]));
        }
        assert_eq!(apart.period(0), 6);
    }

    #[test]
    fn what_is_still() {
        assert!(steps("[0, 0]").is_still() && steps("[(5, 5)]").is_still() && steps("[]").is_still());
        assert!(!steps("[0, (0, 5)]").is_still() && !steps("[1]").is_still());
    }

    #[test]
    fn text_is_printed_as_it_is_read() {
        for text in ["[]", "[0, -512]", "[(0, 4096), 8 + (0, -4096, 16)]"] {
            assert_eq!(steps(text).to_string(), text);
        }
        for wrong in ["[", "[1, ]", "[()]", "[1 +]", "[+ (1, 2)]", "[9223372036854775808]", "[(0, 1) + 8]"] {
            assert!(wrong.parse::<Steps>().is_err(), "{wrong}");
        }
    }
}
