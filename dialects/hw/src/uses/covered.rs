//! Decides if one write has covered a part of a read before.

use super::touched::Touch;
use std::ops::Range;
use visa_loops::{Program, contains, lcm, narrowed};

/// Returns true if the iterations of a write before a part of a read cover it. Only iterations that precede all of
/// that part count. `false` where that is not shown.
pub(super) fn covers(
    write: &Touch,
    read: &Touch,
    scalars: usize,
    ranges: &[Range<u64>],
    program: &Program,
) -> bool {
    let shared = write.shared(read);
    let cx = Covering { write, read, ranges, program };
    let same = write.position < read.position && cx.covered(&vec![Tie::With(0); shared]);
    // In a loop that both are in: an iteration before, or all that are before the first one of the part.
    same || (scalars..shared).any(|depth| {
        let with = |tie: Tie| {
            let ties: Vec<Tie> = std::iter::repeat_n(Tie::With(0), depth).chain([tie]).collect();
            cx.covered(&ties)
        };
        let turns = lcm(write.step(depth).period(), read.step(depth).period());
        let first = ranges[depth].start;
        (1..=turns.min(first)).any(|ago| with(Tie::With(ago))) || first > 0 && with(Tie::Before)
    })
}

/// The iterations of a loop that a write is in, for each iteration of the read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tie {
    /// So many before.
    With(u64),
    /// All that are before the first iteration of the part.
    Before,
}

struct Covering<'a> {
    write: &'a Touch,
    read: &'a Touch,
    ranges: &'a [Range<u64>],
    program: &'a Program,
}

impl Covering<'_> {
    /// Returns true if the write covers the part, with the outermost loops tied and all iterations of the others.
    fn covered(&self, ties: &[Tie]) -> bool {
        let Some(iterations) = self.iterations(ties) else { return false };
        let (mut outer, mut inner) = (self.write.program.clone(), self.program.clone());
        outer.base = outer.base.wrapping_add(self.write.steps.plus);
        inner.base = inner.base.wrapping_add(self.read.steps.plus);
        let (mut around_outer, mut around_inner) = (Vec::new(), Vec::new());
        for depth in 0..self.write.loops.len().max(self.ranges.len()) {
            let (write, read) = (self.write.step(depth), self.read.step(depth));
            if let Some(Tie::With(ago)) = ties.get(depth) {
                let Some(apart) = self.distance(depth, *ago) else { return false };
                inner.base = inner.base.wrapping_add(apart);
                continue;
            }
            if let Some(range) = iterations.get(depth) {
                outer.base = outer.base.wrapping_add(write.at(range.start));
                // Of rotating addresses, the bytes that the first iteration writes are enough, or coverage is not
                // shown.
                around_outer.extend(if write.period() == 1 { write.entries(range) } else { Vec::new() });
            }
            if let Some(range) = self.ranges.get(depth) {
                inner.base = inner.base.wrapping_add(read.at(range.start));
                around_inner.extend(read.entries(range));
            }
        }
        outer.entries.splice(0..0, around_outer);
        inner.entries.splice(0..0, around_inner);
        contains(&outer, &inner)
    }

    /// Distance from the write `ago` iterations before to the read, in all iterations of the part; `None` if that
    /// differs.
    fn distance(&self, depth: usize, ago: u64) -> Option<i64> {
        let (write, read) = (self.write.step(depth), self.read.step(depth));
        let range = &self.ranges[depth];
        let before = range.start.checked_sub(ago)?;
        let apart = |turn: u64| read.at(range.start + turn).wrapping_sub(write.at(before + turn));
        let times = range.end - range.start;
        let turns = times.min(lcm(write.period(), read.period()));
        let alike = times == 1 || write.by == read.by && (1..turns).all(|turn| apart(turn) == apart(0));
        alike.then(|| apart(0))
    }

    /// The iterations of the write: of tied loops those that go with the part. `None` where it does not run in all of
    /// them.
    fn iterations(&self, ties: &[Tie]) -> Option<Vec<Range<u64>>> {
        let times: Vec<u64> = self.write.loops.iter().map(|around| around.times).collect();
        let mut all = narrowed(&times, &self.write.when)?;
        for (depth, tie) in ties.iter().enumerate() {
            let of_read = &self.ranges[depth];
            all[depth] = match tie {
                Tie::With(ago) => of_read.start.checked_sub(*ago)?..of_read.end - ago,
                Tie::Before => all[depth].start..all[depth].end.min(of_read.start),
            };
        }
        if all.iter().any(Range::is_empty) {
            return None;
        }
        let tied = |depth: usize| ties.get(depth) == Some(&Tie::With(0));
        let runs = self.write.when.iter().all(|condition| {
            let alike = self.read.when.contains(condition);
            let factors = condition.factors.iter().enumerate();
            // A condition of the read, too, on loops in which both are in the same iteration.
            alike && factors.clone().all(|(depth, factor)| *factor == 0 || tied(depth))
                || condition.always(&all)
        });
        runs.then_some(all)
    }
}
