//! Overlap of programs.
//!
//! Two programs meet where the address of a step of one is that of a step of the other: where a sum of strides, each
//! times an index, is the distance of their bases. Each stride is made positive, by counting its loop from the other
//! end, so that the sum is one of numbers that are not negative.

use crate::program::Program;
use std::collections::{BTreeMap, HashSet};

/// Most partial sums that are looked at before a question is given up.
pub const MAX_SUMS: usize = 1 << 21;

/// Partial sums that a question counts as, however few it looks at.
const QUESTION: usize = 16;

/// The first two of `programs` that touch a unit both. Programs of which that cannot be told within a bounded time
/// count as apart.
#[must_use]
pub fn first_overlap(programs: &[Program]) -> Option<(usize, usize)> {
    let mut pairs = (1..programs.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    pairs.find(|&(one, other)| overlap(&programs[one], &programs[other]) == Some(true))
}

/// Returns true if two programs touch the same unit; `None` if that cannot be decided by 2^21 partial sums.
#[must_use]
pub fn overlap(one: &Program, other: &Program) -> Option<bool> {
    let mut left = MAX_SUMS + QUESTION;
    overlap_within(one, other, &mut left)
}

/// The same by `left` partial sums, from which the used ones are subtracted: for several questions with a common
/// limit. A question takes a few in any case.
#[must_use]
pub fn overlap_within(one: &Program, other: &Program, left: &mut usize) -> Option<bool> {
    take(left, QUESTION)?;
    let ((start, end), (other_start, other_end)) = (one.extent().ok()?, other.extent().ok()?);
    if end <= other_start || other_end <= start {
        return Some(false);
    }
    if one.steps() == Some(0) || other.steps() == Some(0) {
        return Some(false);
    }
    let mut sums = Sums { wanted: i128::from(other.base) - i128::from(one.base), ..Sums::default() };
    // The sum that one adds to its base must be the sum that the other adds, and the distance of the bases.
    sums.add(one, 1);
    sums.add(other, -1);
    sums.reached(left)
}

/// Subtracts from the remaining sums. If they are too few, none remain.
fn take(left: &mut usize, sums: usize) -> Option<()> {
    let rest = left.checked_sub(sums);
    *left = left.saturating_sub(sums);
    rest.map(drop)
}

/// Sums of numbers, each times a count from 0 up to a greatest one.
#[derive(Default)]
struct Sums {
    /// The numbers, greater than 0, each with its greatest count.
    terms: BTreeMap<i128, i128>,
    /// Lists, one number of each of which is added.
    tables: Vec<Vec<i128>>,
    /// The sum in question.
    wanted: i128,
}

impl Sums {
    /// Adds the loops of a program, their strides times `sign`.
    fn add(&mut self, program: &Program, sign: i128) {
        for entry in &program.entries {
            let last = i128::from(entry.limit) - 1;
            match entry.stride.fixed() {
                Some(stride) => {
                    let stride = i128::from(stride) * sign;
                    // From the other end, the stride is positive and the base further.
                    if stride < 0 {
                        self.wanted -= stride * last;
                    }
                    if stride != 0 && last > 0 {
                        *self.terms.entry(stride.abs()).or_default() += last;
                    }
                }
                None => {
                    self.tables.push(entry.stride.numbers().iter().map(|&at| i128::from(at) * sign).collect())
                }
            }
        }
    }

    /// Returns true if the wanted sum is one; `None` if deciding takes too long.
    fn reached(&self, left: &mut usize) -> Option<bool> {
        let mut wanted = HashSet::from([self.wanted]);
        for table in &self.tables {
            let sums = wanted.len().checked_mul(table.len()).filter(|&sums| sums <= MAX_SUMS)?;
            take(left, sums)?;
            wanted = wanted.iter().flat_map(|sum| table.iter().map(move |at| sum - at)).collect();
        }
        let mut search = Search { terms: Term::all(&self.terms), failed: HashSet::new(), left };
        let terms = search.terms.len();
        for sum in wanted {
            if search.reach(terms, sum)? {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// A number with its greatest count, and the properties of the sums of it and those before it.
struct Term {
    number: i128,
    most: i128,
    /// All sums are multiples of this.
    divisor: i128,
    /// The greatest sum.
    reach: i128,
    /// True if all multiples up to there are sums.
    dense: bool,
}

impl Term {
    /// The terms, the least number first.
    fn all(terms: &BTreeMap<i128, i128>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::with_capacity(terms.len());
        for (&number, &most) in terms {
            let before = all.last().map_or((0, 0, true), |term| (term.divisor, term.reach, term.dense));
            let (divisor, reach, dense) = before;
            all.push(Self {
                number,
                most,
                divisor: gcd(divisor, number),
                reach: reach + number * most,
                // The sums that one more of the number adds begin where the sums before it end, or sooner.
                dense: dense && (divisor == 0 || number % divisor == 0 && number <= reach + divisor),
            });
        }
        all
    }
}

struct Search<'a> {
    terms: Vec<Term>,
    /// The sums that a number of terms does not make.
    failed: HashSet<(usize, i128)>,
    /// Remaining number of sums.
    left: &'a mut usize,
}

impl Search<'_> {
    /// Returns true if the first terms make a sum; `None` if deciding takes too long.
    fn reach(&mut self, terms: usize, sum: i128) -> Option<bool> {
        take(self.left, 1)?;
        let Some(&Term { number, most, divisor, reach, dense }) = self.terms[..terms].last() else {
            return Some(sum == 0);
        };
        if sum < 0 || sum > reach || sum % divisor != 0 {
            return Some(false);
        }
        if dense {
            return Some(true);
        }
        if self.failed.contains(&(terms, sum)) {
            return Some(false);
        }
        // Counts that leave a sum that the terms before can reach and that their divisor divides.
        let before = &self.terms[terms - 2];
        let first = (sum - before.reach + number - 1).div_euclid(number).max(0);
        let last = (sum / number).min(most);
        let period = before.divisor / divisor;
        let one = (sum / divisor % period) * inverse(number / divisor, period) % period;
        let mut count = first + (one - first).rem_euclid(period);
        while count <= last {
            if self.reach(terms - 1, sum - count * number)? {
                return Some(true);
            }
            count += period;
        }
        self.failed.insert((terms, sum));
        Some(false)
    }
}

fn gcd(one: i128, other: i128) -> i128 {
    if other == 0 { one } else { gcd(other, one % other) }
}

/// The number that `number` times is 1, but for multiples of `modulus`, which has no divisor in common with it.
fn inverse(number: i128, modulus: i128) -> i128 {
    let (mut rest, mut next) = (modulus, number % modulus);
    let (mut factor, mut next_factor) = (0, 1);
    while next != 0 {
        let times = rest / next;
        (rest, next) = (next, rest - times * next);
        (factor, next_factor) = (next_factor, factor - times * next_factor);
    }
    factor.rem_euclid(modulus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Entry;

    fn overlaps(one: &str, other: &str) -> Option<bool> {
        overlap(&one.parse().expect(one), &other.parse().expect(other))
    }

    /// Rows of 3840 bytes: three engines write the first 3072 bytes of each, a fourth goes on from there (book 10,
    /// example 6).
    #[test]
    fn rows_that_are_shared() {
        let three = "[3 : 1024, 2 : 256, 32 : 3840, 2 : 512, 256 : 1] : 256";
        assert_eq!(overlaps(three, "[2 : 256, 32 : 3840, 256 : 1] : 256 @ 3072"), Some(false));
        assert_eq!(overlaps(three, "[2 : 256, 32 : 3840, 256 : 1] : 256 @ 3071"), Some(true));
        // To the end of a row, and a byte into the next one.
        assert_eq!(overlaps(three, "[2 : 256, 32 : 3840, 257 : 1] : 1 @ 3327"), Some(false));
        assert_eq!(overlaps(three, "[2 : 256, 32 : 3840, 257 : 1] : 1 @ 3328"), Some(true));
    }

    /// However many steps there are, that no multiple of 6 is an odd number is told at once.
    #[test]
    fn many_steps_take_no_longer() {
        let far = "[1000000000 : 6] : 1";
        assert_eq!(overlaps(far, "[1000000000 : 10] : 1 @ 3"), Some(false));
        assert_eq!(overlaps(far, "[1000000000 : 10] : 1 @ 4"), Some(true));
        assert_eq!(overlaps("[100000 : 7, 3 : 1] : 1", "[100000 : 11, 2 : 1] : 1 @ 3"), Some(true));
        assert_eq!(overlaps("[100000 : 7, 3 : 1] : 1", "[2 : 11, 2 : 1] : 1 @ 700000"), Some(false));
    }

    /// Tables of 2^10 offsets each: the sums of two are looked at, those of three are too many.
    #[test]
    fn what_would_take_too_long_is_not_told() {
        let table = Entry { limit: 1024, stride: (0..1024).map(|at| at * 3).collect::<Vec<i64>>().into() };
        let tables = |count: usize| Program { entries: vec![table.clone(); count], packet: 1, base: 0 };
        let one = Program { entries: vec![Entry::new(2, 3)], packet: 1, base: 1 };
        assert_eq!(overlap(&tables(2), &one), Some(false));
        assert_eq!(overlap(&tables(3), &one), None);
    }

    /// Several questions have a common limit: the sums that remain after one of them limit the next.
    #[test]
    fn questions_that_share_their_sums() {
        let [one, other]: [Program; 2] =
            ["[100000 : 7, 3 : 1] : 1", "[2 : 11, 2 : 1] : 1 @ 700000"].map(|text| text.parse().expect(text));
        let mut left = 64;
        assert_eq!(overlap_within(&one, &other, &mut left), Some(false));
        assert!(left <= 64 - QUESTION);
        left = QUESTION - 1;
        assert_eq!(overlap_within(&one, &other, &mut left), None);
        assert_eq!(left, 0);
    }

    #[test]
    fn loops_that_run_backwards() {
        assert_eq!(overlaps("[4 : -8] : 1 @ 24", "[2 : 3] : 1 @ 5"), Some(true));
        assert_eq!(overlaps("[4 : -8] : 1 @ 24", "[2 : 4] : 1 @ 2"), Some(false));
    }
}
