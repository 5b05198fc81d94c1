//! Whether programs touch the same units.

use crate::program::Program;

/// Most accesses of a program that are looked at one by one.
const MAX_LISTED: u64 = 1 << 16;

/// The first two of `programs` that touch a unit both. Programs of which that cannot be told within a bounded time,
/// as neither has another's loops and both make more than 65536 accesses, count as apart.
#[must_use]
pub fn first_overlap(programs: &[Program]) -> Option<(usize, usize)> {
    let mut pairs = (1..programs.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    pairs.find(|&(one, other)| overlap(&programs[one], &programs[other]) == Some(true))
}

/// Whether two programs touch a unit both; `None` if it takes too long to tell: neither has the other's loops, and one
/// makes more than 65536 accesses.
#[must_use]
pub fn overlap(one: &Program, other: &Program) -> Option<bool> {
    let (mut one, mut other) = (one.clone(), other.clone());
    one.merge();
    other.merge();
    loop {
        let ((start, end), (other_start, other_end)) = (one.extent().ok()?, other.extent().ok()?);
        if end <= other_start || other_end <= start {
            return Some(false);
        }
        if is_whole(&one, end - start) && is_whole(&other, other_end - other_start) {
            return Some(true);
        }
        if !drop_common(&mut one, &mut other) {
            return listed(&one, &other);
        }
    }
}

/// Whether a program touches every unit of its extent.
fn is_whole(program: &Program, extent: i64) -> bool {
    crate::sizes::contiguous(program) == extent.unsigned_abs()
}

/// Drops a loop that both programs have, and between whose iterations they do not meet.
fn drop_common(one: &mut Program, other: &mut Program) -> bool {
    for (at, entry) in one.entries.iter().enumerate() {
        // A loop within an access is no loop to drop.
        let outside = |stride: &i64| stride.unsigned_abs() >= one.packet.max(other.packet);
        let Some(stride) = entry.stride.fixed().filter(outside) else { continue };
        let same = other.entries.iter().position(|entry| entry.stride.fixed() == Some(stride));
        let Some(other_at) = same else { continue };
        let rest = |program: &Program, at: usize| {
            let mut rest = program.clone();
            rest.entries.remove(at);
            rest
        };
        let (left, right) = (rest(one, at), rest(other, other_at));
        let (Ok(a), Ok(b)) = (left.extent(), right.extent()) else { continue };
        let window = i128::from(a.1.max(b.1)) - i128::from(a.0.min(b.0));
        if window <= i128::from(stride.unsigned_abs()) {
            (*one, *other) = (left, right);
            return true;
        }
    }
    false
}

/// Compares the accesses one by one, if they are few.
fn listed(one: &Program, other: &Program) -> Option<bool> {
    let starts = |program: &Program| {
        let few = program.steps()? / program.packet.max(1) <= MAX_LISTED;
        few.then(|| {
            let mut starts: Vec<i64> = program.addresses().collect();
            starts.sort_unstable();
            starts
        })
    };
    let (starts, others) = (starts(one)?, starts(other)?);
    let ends = |at: i64, program: &Program| at.saturating_add_unsigned(program.packet);
    Some(starts.iter().any(|&start| {
        let next = others.partition_point(|&at| ends(at, other) <= start);
        others.get(next).is_some_and(|&at| at < ends(start, one))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn what_would_take_too_long_is_not_told() {
        let far = "[100000 : 7, 3 : 1] : 1";
        assert_eq!(overlaps(far, "[100000 : 11, 2 : 1] : 1 @ 3"), None);
        assert_eq!(overlaps(far, "[2 : 11, 2 : 1] : 1 @ 700000"), Some(false));
    }
}
