//! Conditions on the indices of loops: a sum of them, each times a factor, is in a range. They narrow the loops.

use std::ops::Range;

/// A condition: the sum of indices, each times its factor, is in a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The factor of each index, those of the outermost loops first. Further indices do not count.
    pub factors: Vec<i64>,
    /// The allowed range of the sum.
    pub range: Range<i128>,
}

/// Beyond all sums: 2^32 iterations of 2^32 loops, each with a factor of 64 bits, stay inside.
const FAR: i128 = 1 << 126;

/// Passes over all conditions after which indices are not narrowed further. A narrower range would be right, too.
const MAX_PASSES: usize = 256;

/// Boxes of iterations that are looked at for a count.
const MAX_BOXES: usize = 1 << 16;

impl Condition {
    /// The condition that a sum is at least `from`, and less than `below`; a bound that is `None` does not apply.
    #[must_use]
    pub fn new(factors: Vec<i64>, from: Option<i64>, below: Option<i64>) -> Self {
        let range = from.map_or(-FAR, i128::from)..below.map_or(FAR, i128::from);
        Self { factors, range }
    }

    /// Returns true if it holds in an iteration.
    #[must_use]
    pub fn holds(&self, indices: &[u64]) -> bool {
        let terms = self.factors.iter().zip(indices);
        self.range.contains(&terms.map(|(&factor, &index)| i128::from(factor) * i128::from(index)).sum())
    }

    /// Returns true if it holds in all of some iterations, none of which is empty.
    #[must_use]
    pub fn always(&self, indices: &[Range<u64>]) -> bool {
        let (least, most) = self.sums(indices);
        self.range.start <= least && most < self.range.end
    }

    /// The condition on the other indices where the first ones are known.
    #[must_use]
    pub fn after(&self, known: &[u64]) -> Self {
        let terms = self.factors.iter().zip(known);
        let sum: i128 = terms.map(|(&factor, &index)| i128::from(factor) * i128::from(index)).sum();
        let factors = self.factors.get(known.len()..).unwrap_or_default().to_vec();
        Self { factors, range: self.range.start - sum..self.range.end - sum }
    }

    /// The factor of an index.
    #[must_use]
    pub fn factor(&self, index: usize) -> i64 {
        self.factors.get(index).copied().unwrap_or_default()
    }

    /// The least and the greatest sum of some iterations, none of which is empty.
    fn sums(&self, indices: &[Range<u64>]) -> (i128, i128) {
        let terms = self.factors.iter().zip(indices).map(|(&factor, range)| term(factor, range));
        terms.fold((0, 0), |(least, most), (low, high)| (least + low, most + high))
    }

    /// Narrows an index to the range in which the condition may hold, for any values of the others.
    fn narrow(&self, index: usize, indices: &mut [Range<u64>]) {
        let factor = i128::from(self.factors[index]);
        if factor == 0 {
            return;
        }
        let (least, most) = self.sums(indices);
        let (low, high) = term(self.factors[index], &indices[index]);
        // The least and the greatest sum that the index adds, if the others add as much, or as little, as they can.
        let (from, to) = (self.range.start - (most - high), self.range.end - 1 - (least - low));
        let (first, last) = match factor > 0 {
            true => (ceiling(from, factor), to.div_euclid(factor)),
            false => (ceiling(-to, -factor), (-from).div_euclid(-factor)),
        };
        let own = &mut indices[index];
        let (start, end) = (i128::from(own.start).max(first), i128::from(own.end).min(last + 1));
        *own = match start < end {
            // Between the earlier bounds, which fit.
            true => start as u64..end as u64,
            false => 0..0,
        };
    }
}

/// The least and greatest contribution of an index.
fn term(factor: i64, range: &Range<u64>) -> (i128, i128) {
    let at = |index: u64| i128::from(factor) * i128::from(index);
    let (first, last) = (at(range.start), at(range.end.saturating_sub(1)));
    (first.min(last), first.max(last))
}

fn ceiling(of: i128, by: i128) -> i128 {
    -(-of).div_euclid(by)
}

/// The indices of loops with `times` iterations, each by itself, for which all conditions may hold; `None` if they
/// hold in no iteration. With one index in each condition they hold if each index is in its range.
#[must_use]
pub fn narrowed(times: &[u64], conditions: &[Condition]) -> Option<Vec<Range<u64>>> {
    narrow(times.iter().map(|&times| 0..times).collect(), conditions)
}

fn narrow(mut indices: Vec<Range<u64>>, conditions: &[Condition]) -> Option<Vec<Range<u64>>> {
    for _ in 0..MAX_PASSES {
        let before = indices.clone();
        for condition in conditions {
            if indices.iter().any(Range::is_empty) {
                return None;
            }
            let (least, most) = condition.sums(&indices);
            if most < condition.range.start || least >= condition.range.end {
                return None;
            }
            for index in 0..condition.factors.len().min(indices.len()) {
                condition.narrow(index, &mut indices);
                if indices[index].is_empty() {
                    return None;
                }
            }
        }
        if indices == before {
            break;
        }
    }
    Some(indices).filter(|indices| !indices.iter().any(Range::is_empty))
}

/// Number of iterations of nested loops in which all conditions hold; `None` if counting takes too long.
#[must_use]
pub fn iterations(times: &[u64], conditions: &[Condition]) -> Option<u128> {
    let mut count = 0_u128;
    let all = boxes(times, conditions, &mut |part| {
        let sizes = part.iter().map(|range| u128::from(range.end - range.start));
        count = count.saturating_add(sizes.fold(1, u128::saturating_mul));
        true
    });
    all.then_some(count)
}

/// An iteration of nested loops in which all conditions hold; `None` if there is none, or if none was found in time.
#[must_use]
pub fn some_iteration(times: &[u64], conditions: &[Condition]) -> Option<Vec<u64>> {
    let mut found = None;
    boxes(times, conditions, &mut |part| {
        found = Some(part.iter().map(|range| range.start).collect());
        false
    });
    found
}

/// Visits boxes of iterations in all of which all conditions hold, until `next` returns false. Returns true if these
/// are all.
pub(crate) fn boxes(
    times: &[u64],
    conditions: &[Condition],
    next: &mut dyn FnMut(&[Range<u64>]) -> bool,
) -> bool {
    let Some(all) = narrowed(times, conditions) else { return true };
    let mut left = vec![all];
    for _ in 0..MAX_BOXES {
        let Some(part) = left.pop() else { return true };
        let Some(part) = narrow(part, conditions) else { continue };
        let holds = |condition: &Condition| condition.always(&part);
        let longest = (0..part.len()).max_by_key(|&index| part[index].end - part[index].start);
        match longest.filter(|_| !conditions.iter().all(holds)) {
            None if !next(&part) => return false,
            None => {}
            Some(index) => {
                let middle = part[index].start + (part[index].end - part[index].start).div_ceil(2);
                let (mut low, mut high) = (part.clone(), part);
                low[index].end = middle;
                high[index].start = middle;
                // The lower half first.
                left.extend([high, low]);
            }
        }
    }
    false
}
