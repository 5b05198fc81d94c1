//! Overlap of accesses in loops, and the pairs of iterations in which they meet.
//!
//! Pairs of iterations in which each index counts by itself are a box, and [`overlap`] decides a box. An earlier and a
//! later iteration of one loop are a triangle: by the highest bit in which the two indices differ it falls into as
//! many boxes as indices have bits, or twice as many.

use std::ops::Range;

use crate::condition::{Condition, boxes};
use crate::overlap::overlap_within;
use crate::program::{Entry, Program};
use crate::steps::{Step, Steps, lcm};

/// The accesses of a command, and its enclosing loops.
#[derive(Clone, Copy, Debug)]
pub struct Moving<'a> {
    /// Its accesses at addresses that have not moved.
    pub program: &'a Program,
    /// Movement of the accesses with the loops.
    pub steps: &'a Steps,
    /// The iterations of each loop that count, the outermost first.
    pub loops: &'a [Range<u64>],
    /// Where it runs.
    pub when: &'a [Condition],
}

impl Moving<'_> {
    fn step(&self, depth: usize) -> Step {
        self.steps.each.get(depth).cloned().unwrap_or_default()
    }
}

/// The pairs of iterations of two commands to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Those that agree in this number of outermost loops, which both commands are in.
    Same(usize),
    /// Those that agree in this number; in the next loop the first command is in an earlier iteration than the second.
    Earlier(usize),
}

/// Returns true if two accesses meet in some of the pairs of iterations; `None` if that cannot be decided within the
/// remaining partial sums. The sums used are subtracted.
#[must_use]
pub fn meet(one: Moving<'_>, other: Moving<'_>, pairs: Pairs, left: &mut usize) -> Option<bool> {
    let mut question = Question { one, other, left, undecided: false };
    let met = match one.when.is_empty() && other.when.is_empty() {
        true => question.anywhere(pairs),
        false => question.where_both_run(pairs),
    };
    if !met && question.undecided { None } else { Some(met) }
}

/// Indices of a loop, or of both commands' loops, that count by themselves: the movement of the accesses with them.
#[derive(Clone, Debug, Default)]
struct Part {
    ones: Vec<Entry>,
    others: Vec<Entry>,
    /// Distance of the first command's addresses from the second's.
    apart: i64,
}

struct Question<'a> {
    one: Moving<'a>,
    other: Moving<'a>,
    /// Remaining number of partial sums.
    left: &'a mut usize,
    /// True if a box could not be decided.
    undecided: bool,
}

impl Question<'_> {
    /// Returns true if the accesses meet in iterations in which both always run.
    fn anywhere(&mut self, pairs: Pairs) -> bool {
        let (one, other) = (self.one, self.other);
        let mut all: Vec<Vec<Part>> = Vec::new();
        let (Pairs::Same(mut own) | Pairs::Earlier(mut own)) = pairs;
        for depth in 0..own {
            let both = both(&one.loops[depth], &other.loops[depth]);
            all.push(together(&both, &one.step(depth), &other.step(depth)));
        }
        if let Pairs::Earlier(depth) = pairs {
            let ranges = [&one.loops[depth], &other.loops[depth]];
            all.push(earlier(ranges, &one.step(depth), &other.step(depth)));
            own += 1;
        }
        for depth in own..one.loops.len() {
            all.push(alone(&one.loops[depth], &one.step(depth), true));
        }
        for depth in own..other.loops.len() {
            all.push(alone(&other.loops[depth], &other.step(depth), false));
        }
        self.product(&all, &Part::default())
    }

    /// Returns true if the accesses meet in iterations in which the conditions of both hold.
    fn where_both_run(&mut self, pairs: Pairs) -> bool {
        let (one, other) = (self.one, self.other);
        let (Pairs::Same(shared) | Pairs::Earlier(shared)) = pairs;
        // The indices that both share, then those of the first command, then those of the second.
        let rest = one.loops.len() - shared;
        let own = one.loops.iter().enumerate().map(|(depth, range)| match depth < shared {
            true => both(range, &other.loops[depth]),
            false => range.clone(),
        });
        let ranges: Vec<Range<u64>> = own.chain(other.loops[shared..].iter().cloned()).collect();
        let times: Vec<u64> = ranges.iter().map(|range| range.end).collect();
        let of_other = |depth: usize| if depth < shared { depth } else { depth + rest };
        let mut conditions: Vec<Condition> = one.when.to_vec();
        conditions.extend(other.when.iter().map(|condition| {
            let mut factors = vec![0; times.len()];
            for (depth, &factor) in condition.factors.iter().enumerate().take(other.loops.len()) {
                factors[of_other(depth)] = factor;
            }
            Condition { factors, ..condition.clone() }
        }));
        if let Pairs::Earlier(depth) = pairs {
            let mut factors = vec![0; times.len()];
            (factors[depth], factors[of_other(depth)]) = (1, -1);
            conditions.push(Condition::new(factors, None, Some(0)));
        }
        for (at, range) in ranges.iter().enumerate().filter(|(_, range)| range.start > 0) {
            let factors = (0..times.len()).map(|index| i64::from(index == at)).collect();
            let range = i128::from(range.start)..i128::from(range.end);
            conditions.push(Condition { factors, range });
        }
        let mut met = false;
        let all = boxes(&times, &conditions, &mut |part| {
            let ranges = part.iter().enumerate();
            let parts = ranges.map(|(at, range)| match (at < shared, at < one.loops.len()) {
                (true, _) => together(range, &one.step(at), &other.step(at)),
                (false, true) => alone(range, &one.step(at), true),
                (false, false) => alone(range, &other.step(at - rest), false),
            });
            met = self.product(&parts.collect::<Vec<_>>(), &Part::default());
            !met
        });
        self.undecided |= !all && !met;
        met
    }

    /// Returns true if the accesses meet with one part of each of the lists.
    fn product(&mut self, lists: &[Vec<Part>], taken: &Part) -> bool {
        let Some((first, rest)) = lists.split_first() else { return self.decide(taken) };
        first.iter().any(|part| {
            let mut taken = taken.clone();
            taken.ones.extend_from_slice(&part.ones);
            taken.others.extend_from_slice(&part.others);
            taken.apart = taken.apart.wrapping_add(part.apart);
            self.product(rest, &taken)
        })
    }

    fn decide(&mut self, part: &Part) -> bool {
        let program = |of: &Moving<'_>, around: &[Entry], apart: i64| Program {
            entries: around.iter().chain(&of.program.entries).cloned().collect(),
            packet: of.program.packet,
            base: of.program.base.wrapping_add(of.steps.plus).wrapping_add(apart),
        };
        let one = program(&self.one, &part.ones, part.apart);
        let other = program(&self.other, &part.others, 0);
        let met = overlap_within(&one, &other, self.left);
        self.undecided |= met.is_none();
        met == Some(true)
    }
}

/// The indices of both.
fn both(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    one.start.max(other.start)..one.end.min(other.end)
}

/// The first of each class of indices that are a period apart, and how many it has.
fn classes(range: &Range<u64>, period: u64) -> impl Iterator<Item = (u64, u64)> {
    let times = range.end.saturating_sub(range.start);
    let start = range.start;
    (0..times.min(period)).map(move |turn| (start + turn, (times - turn).div_ceil(period)))
}

/// A step over a period.
fn stride(by: i64, period: u64) -> i64 {
    by.wrapping_mul(period.cast_signed())
}

/// Indices of a loop that both commands are in, in the same iteration.
fn together(range: &Range<u64>, one: &Step, other: &Step) -> Vec<Part> {
    let period = lcm(one.period(), other.period());
    let part = |(first, count)| Part {
        ones: vec![Entry::new(count, stride(one.by.wrapping_sub(other.by), period))],
        others: Vec::new(),
        apart: one.at(first).wrapping_sub(other.at(first)),
    };
    classes(range, period).map(part).collect()
}

/// Indices of a loop around one of the commands, of which the other knows nothing.
fn alone(range: &Range<u64>, step: &Step, first_command: bool) -> Vec<Part> {
    let part = |(first, count)| {
        let entries = vec![Entry::new(count, stride(step.by, step.period()))];
        match first_command {
            true => Part { ones: entries, others: Vec::new(), apart: step.at(first) },
            false => Part { ones: Vec::new(), others: entries, apart: step.at(first).wrapping_neg() },
        }
    };
    classes(range, step.period()).map(part).collect()
}

/// Pairs of an earlier and a later iteration of a loop that both commands are in.
fn earlier([ones, others]: [&Range<u64>; 2], one: &Step, other: &Step) -> Vec<Part> {
    let period = lcm(one.period(), other.period());
    let mut parts = Vec::new();
    // The iterations before all later ones are a box with them; the rest begins where these do.
    let start = ones.start.max(others.start);
    for before in alone(&(ones.start..ones.end.min(others.start)), one, true) {
        for after in alone(others, other, false) {
            let apart = before.apart.wrapping_add(after.apart);
            parts.push(Part { ones: before.ones.clone(), others: after.others, apart });
        }
    }
    for (first, count) in classes(&(start..ones.end), period) {
        for (later, others) in classes(&(start..others.end), period) {
            let steps = [stride(one.by, period), stride(other.by, period)];
            let apart = one.at(first).wrapping_sub(other.at(later));
            // In the same period.
            if first < later {
                let both = Entry::new(count.min(others), steps[0].wrapping_sub(steps[1]));
                parts.push(Part { ones: vec![both], others: Vec::new(), apart });
            }
            parts.extend(
                triangle([count, others], steps)
                    .into_iter()
                    .map(|part| Part { apart: apart.wrapping_add(part.apart), ..part }),
            );
        }
    }
    parts
}

/// Pairs of two counts, the first one less than the second, as boxes.
fn triangle([ones, others]: [u64; 2], [step, other]: [i64; 2]) -> Vec<Part> {
    if others < 2 || ones == 0 {
        return Vec::new();
    }
    if step == other {
        // How far they are apart is all that counts.
        let distance = Entry::new(others - 1, step);
        return vec![Part { ones: Vec::new(), others: vec![distance], apart: step.wrapping_neg() }];
    }
    let mut parts = Vec::new();
    // The bits above the bit are equal; in the bit the second one is greater; the bits below it are free.
    for bit in (0..64 - others.leading_zeros()).map(|bit| 1_u64 << bit) {
        let whole = (ones / (2 * bit)).min(others / (2 * bit));
        let part = |highs: u64, high: u64, free: [u64; 2]| {
            let moved = |step: i64, by: u64| step.wrapping_mul(by.cast_signed());
            let high = high.wrapping_mul(2 * bit);
            Part {
                ones: vec![
                    Entry::new(highs, moved(step.wrapping_sub(other), 2 * bit)),
                    Entry::new(free[0], step),
                ],
                others: vec![Entry::new(free[1], other)],
                apart: moved(step, high).wrapping_sub(moved(other, high + bit)),
            }
        };
        if whole > 0 {
            parts.push(part(whole, 0, [bit, bit]));
        }
        // At the end fewer are there.
        for high in whole..=whole + 1 {
            let start = high * 2 * bit;
            let free = [ones.saturating_sub(start).min(bit), others.saturating_sub(start + bit).min(bit)];
            if free.iter().all(|&count| count > 0) {
                parts.push(part(1, high, free));
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving<'a>(program: &'a Program, steps: &'a Steps, loops: &'a [Range<u64>]) -> Moving<'a> {
        Moving { program, steps, loops, when: &[] }
    }

    fn asked(one: Moving<'_>, other: Moving<'_>, pairs: Pairs) -> Option<bool> {
        meet(one, other, pairs, &mut (1 << 20))
    }

    /// Rotating buffers: an iteration meets the one after the next, and none in between.
    #[test]
    fn buffers_in_turn_meet_when_it_is_their_turn() {
        let program: Program = "[64 : 1] : 64".parse().expect("a program");
        let two: Steps = "[(0, 64)]".parse().expect("steps");
        let three: Steps = "[(0, 64, 128)]".parse().expect("steps");
        let at = |times: u64, steps: &Steps| {
            let loops = vec![0..times; 1];
            asked(moving(&program, steps, &loops), moving(&program, steps, &loops), Pairs::Earlier(0))
        };
        assert_eq!([at(2, &two), at(3, &two)], [Some(false), Some(true)]);
        assert_eq!([at(3, &three), at(4, &three)], [Some(false), Some(true)]);
    }

    /// Tiles of 64 bytes that are 60 bytes apart overlap the next one; from 64 on they do not, however many there are.
    #[test]
    fn tiles_of_a_later_iteration() {
        let program: Program = "[64 : 1] : 64".parse().expect("a program");
        let times = vec![0..1 << 32; 1];
        for (by, met) in [(64, false), (63, true), (-64, false), (0, true)] {
            let steps = Steps::by(&[by]);
            let own = moving(&program, &steps, &times);
            assert_eq!(asked(own, own, Pairs::Earlier(0)), Some(met), "{by}");
            assert_eq!(asked(own, own, Pairs::Same(1)), Some(true), "{by}");
        }
    }

    /// An access that moves twice as fast is at the same address as a later iteration of the other one.
    #[test]
    fn different_strides_meet_in_one_order_only() {
        let program: Program = "[1 : 1] : 1".parse().expect("a program");
        let (fast, slow) = (Steps::by(&[2]), Steps::by(&[1]));
        let times = vec![0..1 << 20; 1];
        let (fast, slow) = (moving(&program, &fast, &times), moving(&program, &slow, &times));
        // 2 i = i' has i < i', 2 i' = i with i < i' has none.
        assert_eq!(asked(fast, slow, Pairs::Earlier(0)), Some(true));
        assert_eq!(asked(slow, fast, Pairs::Earlier(0)), Some(false));
    }
}
