//! Proof, by strides, that a program touches all units of another one.

use crate::program::{Entry, Program};

/// Most programs that the tables of one are written out to.
const MAX_PLAIN: usize = 256;

/// Returns true if `outer` touches every unit that `inner` touches. `false` if its strides do not prove it: then it
/// may be so.
#[must_use]
pub fn contains(outer: &Program, inner: &Program) -> bool {
    if inner.entries.iter().any(|entry| entry.limit == 0) {
        return true;
    }
    let Some(digits) = digits(outer) else { return false };
    let Some(parts) = plain(inner) else { return false };
    parts.iter().all(|part| fits(outer_base(outer), &digits, part))
}

/// Returns true if all iterations of one loop of `inner`, with any start, may be in `outer`, judged by its strides. If
/// they cannot, no part of `inner` with two of them is proved to be contained.
#[must_use]
pub fn may_contain(outer: &Program, inner: &Entry) -> bool {
    let (Some(digits), Some(stride)) = (digits(outer), inner.stride.fixed()) else { return true };
    let steps = i128::from(inner.limit.saturating_sub(1));
    let fits =
        |counts: Vec<i128>| counts.iter().zip(&digits).all(|(count, digit)| count * steps < digit.limit);
    steps == 0 || counts(i128::from(stride).abs(), &digits).is_some_and(fits)
}

/// A digit of an address: its number of values, and their distance.
#[derive(Clone, Copy, Debug)]
struct Digit {
    limit: i128,
    stride: i128,
}

/// The least address.
fn outer_base(program: &Program) -> i128 {
    i128::from(program.base) + program.entries.iter().map(|entry| lowered(entry).1).sum::<i128>()
}

/// The loop of a stride with positive steps, and how far the first address moves by that.
fn lowered(entry: &Entry) -> (Digit, i128) {
    let stride = i128::from(entry.stride.fixed().unwrap_or_default());
    let limit = i128::from(entry.limit);
    (Digit { limit, stride: stride.abs() }, if stride < 0 { stride * (limit - 1) } else { 0 })
}

/// The digits of the addresses of a program, the greatest stride first: each address has them in one way, and each of
/// their sums is an address. `None` if there are no such digits, or tables.
fn digits(program: &Program) -> Option<Vec<Digit>> {
    if program.entries.iter().any(|entry| entry.limit == 0 || entry.stride.fixed().is_none()) {
        return None;
    }
    let mut all: Vec<Digit> = program.entries.iter().map(|entry| lowered(entry).0).collect();
    all.retain(|digit| digit.limit > 1 && digit.stride > 0);
    all.sort_by_key(|digit| digit.stride);
    // A contiguous run of units; then the digits with gaps.
    let mut digits: Vec<Digit> = vec![Digit { limit: 1, stride: 1 }];
    let mut reach = 1;
    for digit in all {
        let last = digits.last_mut()?;
        let dense = last.stride == 1;
        if dense && digit.stride <= last.limit {
            last.limit += digit.stride * (digit.limit - 1);
        } else if digit.stride == last.stride * last.limit {
            last.limit *= digit.limit;
        } else if digit.stride >= reach {
            digits.push(digit);
        } else {
            return None;
        }
        reach = digits.iter().map(|digit| digit.stride * (digit.limit - 1)).sum::<i128>() + 1;
    }
    digits.reverse();
    Some(digits)
}

/// Number of uses of each stride in a distance, the greatest first; `None` if there is a remainder, or it is negative.
fn counts(distance: i128, digits: &[Digit]) -> Option<Vec<i128>> {
    let mut left = distance;
    let counts = digits.iter().map(|digit| {
        let count = left.div_euclid(digit.stride);
        left -= count * digit.stride;
        count
    });
    let counts: Vec<i128> = counts.collect();
    (distance >= 0 && left == 0).then_some(counts)
}

/// Returns true if the digits of every address of a plain program are within those of another one.
fn fits(base: i128, digits: &[Digit], part: &Program) -> bool {
    let Some(mut most) = counts(outer_base(part) - base, digits) else { return false };
    for (digit, _) in part.entries.iter().map(lowered).filter(|(digit, _)| digit.limit > 1) {
        let Some(counts) = counts(digit.stride, digits) else { return false };
        most.iter_mut().zip(counts).for_each(|(most, count)| *most += count * (digit.limit - 1));
    }
    most.iter().zip(digits).all(|(most, digit)| *most < digit.limit)
}

/// A program without tables: one for each way through them. `None` if these are too many.
fn plain(program: &Program) -> Option<Vec<Program>> {
    let mut all = vec![Program { entries: Vec::new(), ..program.clone() }];
    for entry in &program.entries {
        match entry.stride.table() {
            None => all.iter_mut().for_each(|part| part.entries.push(entry.clone())),
            Some(offsets) => {
                all.len().checked_mul(offsets.len()).filter(|&parts| parts <= MAX_PLAIN)?;
                let moved =
                    |part: &Program, by: i64| Program { base: part.base.wrapping_add(by), ..part.clone() };
                all = all.iter().flat_map(|part| offsets.iter().map(move |&by| moved(part, by))).collect();
            }
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contained(outer: &str, inner: &str) -> bool {
        contains(&outer.parse().expect(outer), &inner.parse().expect(inner))
    }

    #[test]
    fn rows_in_a_matrix() {
        let matrix = "[8 : 1000, 64 : 1] : 64 @ 10";
        assert!(contained(matrix, "[64 : 1] : 64 @ 3010"));
        assert!(contained(matrix, "[4 : 2000, 16 : 4] : 1 @ 1010"));
        assert!(contained(matrix, "[8 : -1000, 64 : 1] : 1 @ 7010"));
        // A byte before the first row, behind the last, between two.
        assert!(!contained(matrix, "[64 : 1] : 64 @ 9"));
        assert!(!contained(matrix, "[64 : 1] : 64 @ 7011"));
        assert!(!contained(matrix, "[2 : 8000] : 1 @ 10"));
        assert!(!contained(matrix, "[1 : 1] : 1 @ 500"));
    }

    #[test]
    fn runs_that_touch_are_one() {
        assert!(contained("[4 : 32, 32 : 1] : 32", "[128 : 1] : 1"));
        assert!(contained("[4 : 16, 32 : 1] : 32", "[80 : 1] : 1"));
        assert!(!contained("[4 : 16, 32 : 1] : 32", "[81 : 1] : 1"));
        assert!(!contained("[4 : 33, 32 : 1] : 32", "[40 : 1] : 1"));
    }

    /// Rows of two matrices alternately: no row has both, and each has all of one.
    #[test]
    fn a_loop_between_two() {
        let matrix: Program = "[4 : 32, 32 : 1] : 32 @ 1000".parse().expect("a program");
        let may = |limit: u64, stride: i64| may_contain(&matrix, &Entry::new(limit, stride));
        assert!(may(4, 32) && may(4, -32) && may(1, 5000) && may(128, 1));
        assert!(!may(2, 5000) && !may(2, -5000) && !may(5, 32));
    }

    #[test]
    fn tables_inside() {
        assert!(contained("[4 : 100, 10 : 1] : 1", "[2 : (300, 100), 10 : 1] : 1"));
        assert!(!contained("[4 : 100, 10 : 1] : 1", "[2 : (300, 101), 10 : 1] : 1"));
        assert!(contained("[1 : 1] : 1 @ 500", "[0 : 1] : 1"));
    }
}
