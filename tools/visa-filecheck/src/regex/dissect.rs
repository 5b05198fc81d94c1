//! The groups of a match without back-references.

use std::ops::Range;

use super::Error;
use super::program::State;
use super::simulate::{NO_PARTS, Search};

impl Search<'_> {
    /// Sets the groups of a match of `range` that begins at `start` and ends at `stop`.
    ///
    /// Each item takes the longest span that leaves a match to the items after it; of branches, the first one that
    /// matches that whole span counts. A repetition reports the groups of its last round, with each round as long as
    /// possible, even if the rounds do not add up to its span.
    pub(super) fn dissect(&mut self, start: usize, stop: usize, range: Range<usize>) -> Result<(), Error> {
        let mut at = start;
        let mut item = range.start;
        while item < range.end {
            let end = self.item_end(item);
            match self.program.states[item] {
                State::Byte(_) | State::Set(_) => at += 1,
                State::LineStart | State::LineEnd | State::WordStart | State::WordEnd => {}
                State::Open(group) => self.starts[group] = Some(at),
                State::Close(group) => self.ends[group] = Some(at),
                State::StarStart { .. } => {
                    let rest = self.longest_that_fits(at, stop, item..end, range.end)?;
                    let inner = item + 1..end - 1;
                    if self.longest(at, rest, inner.clone())?.is_some() {
                        self.dissect(at, rest, inner)?;
                    }
                    at = rest;
                }
                State::PlusStart => {
                    let rest = self.longest_that_fits(at, stop, item..end, range.end)?;
                    let inner = item + 1..end - 1;
                    let (start, end) = self.last_round(at, rest, &inner)?;
                    self.dissect(start, end, inner)?;
                    at = rest;
                }
                State::BranchesStart { .. } => {
                    let rest = self.longest_that_fits(at, stop, item..end, range.end)?;
                    let branch = self.first_branch(at, rest, item..end)?;
                    self.dissect(at, rest, branch)?;
                    at = rest;
                }
                State::Edge
                | State::PlusEnd { .. }
                | State::StarEnd
                | State::BranchEnd { .. }
                | State::BranchStart { .. }
                | State::BranchesEnd
                | State::ReferenceStart { .. }
                | State::ReferenceEnd => return Err(NO_PARTS),
            }
            item = end;
        }
        Ok(())
    }

    /// The state after an item.
    fn item_end(&self, item: usize) -> usize {
        let states = &self.program.states;
        match states[item] {
            State::StarStart { end } => end + 1,
            State::PlusStart => {
                let ends = |state: &State| matches!(state, State::PlusEnd { start } if *start == item);
                states.iter().skip(item).position(ends).map_or(item + 1, |length| item + length + 1)
            }
            State::BranchesStart { next } => match states[next - 1] {
                State::BranchEnd { end } => end + 1,
                _ => item + 1,
            },
            _ => item + 1,
        }
    }

    /// The longest end of `item` that leaves a match of the states after it, up to `last`, that ends at `stop`.
    fn longest_that_fits(
        &mut self,
        at: usize,
        stop: usize,
        item: Range<usize>,
        last: usize,
    ) -> Result<usize, Error> {
        let mut bound = stop;
        loop {
            let rest = self.longest(at, bound, item.clone())?.ok_or(NO_PARTS)?;
            if self.longest(rest, stop, item.end..last)? == Some(stop) {
                return Ok(rest);
            }
            bound = rest.checked_sub(1).filter(|bound| *bound >= at).ok_or(NO_PARTS)?;
        }
    }

    /// The last round of a repetition of `inner` between `start` and `stop`.
    fn last_round(
        &mut self,
        start: usize,
        stop: usize,
        inner: &Range<usize>,
    ) -> Result<(usize, usize), Error> {
        let (mut previous, mut at) = (start, start);
        loop {
            match self.longest(at, stop, inner.clone())? {
                Some(end) if end == at => return Ok((at, end)),
                Some(end) => (previous, at) = (at, end),
                None => return Ok((previous, at)),
            }
        }
    }

    /// The first of the branches that matches from `at` to `stop`.
    fn first_branch(&mut self, at: usize, stop: usize, item: Range<usize>) -> Result<Range<usize>, Error> {
        let mut head = item.start;
        loop {
            let next = match self.program.states[head] {
                State::BranchesStart { next } => Some(next),
                State::BranchStart { next } => next,
                _ => return Err(NO_PARTS),
            };
            let branch = head + 1..next.unwrap_or(item.end) - 1;
            if self.longest(at, stop, branch.clone())? == Some(stop) {
                return Ok(branch);
            }
            head = next.ok_or(NO_PARTS)?;
        }
    }
}
