//! The span of a match, on sets of states.

use std::ops::Range;

use super::program::{Program, State};
use super::{Error, Match};

/// Programs of up to this many states match one anchor a round; larger ones match adjacent anchors together.
const SMALL: usize = 64;

pub(super) const TOO_LONG: Error = Error::Limit("regular expression too expensive for this input");

/// A match that ends where its parts do not: see [`Search::dissect`].
pub(super) const NO_PARTS: Error = Error::Limit("regular expression whose match has no consistent groups");

/// A set of states.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StateSet(Vec<u64>);

impl StateSet {
    fn empty(states: usize) -> Self {
        Self(vec![0; states / 64 + 1])
    }

    fn insert(&mut self, state: usize) {
        self.0[state / 64] |= 1 << (state % 64);
    }

    fn contains(&self, state: usize) -> bool {
        self.0[state / 64] & (1 << (state % 64)) != 0
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The least member that is `from` or more.
    fn at_least(&self, from: usize) -> Option<usize> {
        let mut index = from / 64;
        let mut word = self.0.get(index)? & (u64::MAX << (from % 64));
        while word == 0 {
            index += 1;
            word = *self.0.get(index)?;
        }
        Some(index * 64 + word.trailing_zeros() as usize)
    }
}

/// The anchors that hold at one position.
#[derive(Debug, Clone, Copy)]
struct Boundary {
    line_start: bool,
    line_end: bool,
    word_start: bool,
    word_end: bool,
}

impl Boundary {
    /// True if `state` is a line anchor that holds here.
    fn holds_line(&self, state: &State) -> bool {
        matches!(state, State::LineStart if self.line_start)
            || matches!(state, State::LineEnd if self.line_end)
    }

    /// True if `state` is a word anchor that holds here.
    fn holds_word(&self, state: &State) -> bool {
        matches!(state, State::WordStart if self.word_start)
            || matches!(state, State::WordEnd if self.word_end)
    }
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A search in one text.
pub(super) struct Search<'a> {
    pub(super) program: &'a Program,
    pub(super) text: &'a [u8],
    /// Steps that are left.
    steps: u64,
    /// Starts and ends of the groups, from number 1 at index 1.
    pub(super) starts: Vec<Option<usize>>,
    pub(super) ends: Vec<Option<usize>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(program: &'a Program, text: &'a [u8], steps: u64) -> Self {
        let unset = vec![None; program.groups + 1];
        Self { program, text, steps, starts: unset.clone(), ends: unset }
    }

    /// Takes `steps` off those that are left.
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), Error> {
        self.steps = self.steps.checked_sub(steps).ok_or(TOO_LONG)?;
        Ok(())
    }

    /// The states between the two edges.
    pub(super) fn all(&self) -> Range<usize> {
        1..self.program.states.len() - 1
    }

    pub(super) fn find(mut self) -> Result<Option<Match>, Error> {
        let mut from = 0;
        loop {
            let Some(earliest) = self.earliest(from)? else { return Ok(None) };
            let (start, end) = self.first_span(earliest)?;
            let matched = match self.program.has_references {
                false => {
                    if self.program.groups > 0 {
                        self.dissect(start, end, self.all())?;
                    }
                    Some(end)
                }
                true => self.longest_with_references(start, end)?,
            };
            if let Some(end) = matched {
                return self.finish(start, end).map(Some);
            }
            // LLVM takes an empty match at the end of the text even if its back-references do not match.
            if start == self.text.len() {
                return self.finish(start, start).map(Some);
            }
            from = start + 1;
        }
    }

    /// The longest end up to `end` at which the back-references match too.
    fn longest_with_references(&mut self, start: usize, end: usize) -> Result<Option<usize>, Error> {
        let mut end = end;
        loop {
            if self.backtrack(start, end)? {
                return Ok(Some(end));
            }
            if end <= start {
                return Ok(None);
            }
            match self.longest(start, end - 1, self.all())? {
                Some(shorter) => end = shorter,
                None => return Ok(None),
            }
        }
    }

    fn finish(self, start: usize, end: usize) -> Result<Match, Error> {
        let spans = self.starts.iter().zip(&self.ends).skip(1);
        let groups = spans.map(|span| match span {
            (Some(start), Some(end)) if start <= end => Ok(Some((*start, *end))),
            (None, None) => Ok(None),
            (Some(_) | None, _) => Err(NO_PARTS),
        });
        Ok(Match { span: (start, end), groups: groups.collect::<Result<_, _>>()? })
    }

    /// The first position from `start` at which a match begins, and its longest end.
    fn first_span(&mut self, start: usize) -> Result<(usize, usize), Error> {
        for start in start..=self.text.len() {
            if let Some(end) = self.longest(start, self.text.len(), self.all())? {
                return Ok((start, end));
            }
        }
        Err(NO_PARTS)
    }

    /// A position before which no match that begins at `from` or later can begin; `None` if there is no match.
    fn earliest(&mut self, from: usize) -> Result<Option<usize>, Error> {
        let range = self.all();
        let mut fresh = StateSet::empty(self.program.states.len());
        fresh.insert(range.start);
        self.close(&mut fresh, &range, |_| false)?;
        let mut states = fresh.clone();
        let mut earliest = from;
        for at in from..=self.text.len() {
            if states == fresh {
                earliest = at;
            }
            self.pass_anchors(&mut states, &range, at)?;
            if states.contains(range.end) {
                return Ok(Some(earliest));
            }
            let Some(byte) = self.text.get(at) else { break };
            states = self.after_byte(&states, fresh.clone(), &range, *byte)?;
        }
        Ok(None)
    }

    /// The last end, up to `stop`, of a match of the states in `range` that begins at `start`.
    pub(super) fn longest(
        &mut self,
        start: usize,
        stop: usize,
        range: Range<usize>,
    ) -> Result<Option<usize>, Error> {
        let none = StateSet::empty(self.program.states.len());
        let mut states = none.clone();
        states.insert(range.start);
        self.close(&mut states, &range, |_| false)?;
        let mut last = None;
        for at in start..=stop {
            self.pass_anchors(&mut states, &range, at)?;
            if states.contains(range.end) {
                last = Some(at);
            }
            if at == stop || states.is_empty() {
                break;
            }
            states = self.after_byte(&states, none.clone(), &range, self.text[at])?;
        }
        Ok(last)
    }

    fn boundary(&self, at: usize) -> Boundary {
        let before = at.checked_sub(1).map(|last| self.text[last]);
        let after = self.text.get(at).copied();
        let line_start = before.is_none_or(|byte| byte == b'\n');
        let line_end = after.is_none_or(|byte| byte == b'\n');
        let outside = |byte: Option<u8>| byte.is_some_and(|byte| !is_word(byte));
        Boundary {
            line_start,
            line_end,
            word_start: (line_start || outside(before)) && after.is_some_and(is_word),
            word_end: before.is_some_and(is_word) && (line_end || outside(after)),
        }
    }

    /// Adds the states that the anchors at a position lead to: lines first, then words, as LLVM does.
    fn pass_anchors(&mut self, states: &mut StateSet, range: &Range<usize>, at: usize) -> Result<(), Error> {
        let boundary = self.boundary(at);
        let starts = if boundary.line_start { self.program.line_starts } else { 0 };
        let ends = if boundary.line_end { self.program.line_ends } else { 0 };
        for _ in 0..starts + ends {
            let before = states.clone();
            self.pass(states, range, |state| boundary.holds_line(state))?;
            if *states == before {
                break;
            }
        }
        if boundary.word_start || boundary.word_end {
            self.pass(states, range, |state| boundary.holds_word(state))?;
        }
        Ok(())
    }

    /// Adds the states after those that `holds`.
    fn pass(
        &mut self,
        states: &mut StateSet,
        range: &Range<usize>,
        holds: impl Fn(&State) -> bool,
    ) -> Result<(), Error> {
        if self.program.states.len() > SMALL {
            return self.close(states, range, holds);
        }
        let after = states.clone();
        *states = self.after(&after.clone(), after, range, holds)?;
        Ok(())
    }

    fn after_byte(
        &mut self,
        before: &StateSet,
        after: StateSet,
        range: &Range<usize>,
        byte: u8,
    ) -> Result<StateSet, Error> {
        self.after(before, after, range, |state| match state {
            State::Byte(expected) => *expected == byte,
            State::Set(set) => set.contains(byte),
            State::Edge
            | State::LineStart
            | State::LineEnd
            | State::WordStart
            | State::WordEnd
            | State::Open(_)
            | State::Close(_)
            | State::PlusStart
            | State::PlusEnd { .. }
            | State::StarStart { .. }
            | State::StarEnd
            | State::BranchesStart { .. }
            | State::BranchEnd { .. }
            | State::BranchStart { .. }
            | State::BranchesEnd
            | State::ReferenceStart { .. }
            | State::ReferenceEnd => false,
        })
    }

    /// `after`, with the states after those of `before` that match.
    fn after(
        &mut self,
        before: &StateSet,
        mut after: StateSet,
        range: &Range<usize>,
        matches: impl Fn(&State) -> bool,
    ) -> Result<StateSet, Error> {
        let mut from = range.start;
        let mut visits = 0;
        while let Some(state) = before.at_least(from).filter(|state| *state < range.end) {
            visits += 1;
            if matches(&self.program.states[state]) {
                after.insert(state + 1);
            }
            from = state + 1;
        }
        self.spend(visits)?;
        self.close(&mut after, range, |_| false)?;
        Ok(after)
    }

    /// Adds the states that the members lead to without a byte. An anchor leads on where it `holds`.
    fn close(
        &mut self,
        states: &mut StateSet,
        range: &Range<usize>,
        holds: impl Fn(&State) -> bool,
    ) -> Result<(), Error> {
        let mut from = range.start;
        let mut visits = 1;
        while let Some(state) = states.at_least(from).filter(|state| *state < range.end) {
            visits += 1;
            from = state + 1;
            match self.program.states[state] {
                State::Edge | State::Byte(_) | State::Set(_) => {}
                State::LineStart | State::LineEnd | State::WordStart | State::WordEnd => {
                    if holds(&self.program.states[state]) {
                        states.insert(state + 1);
                    }
                }
                State::Open(_)
                | State::Close(_)
                | State::PlusStart
                | State::StarEnd
                | State::BranchesEnd
                | State::ReferenceStart { .. }
                | State::ReferenceEnd
                | State::BranchStart { next: None } => states.insert(state + 1),
                State::PlusEnd { start } => {
                    states.insert(state + 1);
                    if !states.contains(start) {
                        states.insert(start);
                        from = start;
                    }
                }
                State::StarStart { end: other }
                | State::BranchesStart { next: other }
                | State::BranchStart { next: Some(other) } => {
                    states.insert(state + 1);
                    states.insert(other);
                }
                State::BranchEnd { end } => states.insert(end),
            }
        }
        self.spend(visits)
    }
}
