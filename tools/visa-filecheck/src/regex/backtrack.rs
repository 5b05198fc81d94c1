//! The groups of a match with back-references.

use super::Error;
use super::program::State;
use super::simulate::{Search, TOO_LONG, is_word};

/// Most choices that may be open at a time.
const MAX_CHOICES: usize = 1 << 20;

/// Most empty texts that back-references may match on one way.
const MAX_EMPTY: usize = 100;

/// A way through the states.
#[derive(Debug, Clone, Copy)]
struct Path {
    state: usize,
    at: usize,
    /// Nesting of repetitions here.
    level: usize,
    /// Back-references so far that matched the empty text.
    empty: usize,
}

/// A way that is still to be tried.
#[derive(Debug, Clone, Copy)]
struct Choice {
    path: Path,
    /// Number of changes of groups made before it.
    changes: usize,
}

/// A previous bound of a group.
#[derive(Debug, Clone, Copy)]
enum Change {
    Start(usize, Option<usize>),
    End(usize, Option<usize>),
}

#[derive(Debug, Default)]
struct Trail {
    choices: Vec<Choice>,
    changes: Vec<Change>,
    /// Where the last round of the repetition at each nesting began. Not undone, as in LLVM.
    rounds: Vec<usize>,
}

impl Search<'_> {
    /// True if the expression matches from `start` exactly to `stop`. Then the groups are set, otherwise unchanged.
    pub(super) fn backtrack(&mut self, start: usize, stop: usize) -> Result<bool, Error> {
        let mut trail = Trail { rounds: vec![0; self.program.depth + 1], ..Trail::default() };
        let mut path = Some(Path { state: self.all().start, at: start, level: 0, empty: 0 });
        loop {
            self.spend(1)?;
            path = match path {
                Some(path) if path.state == self.all().end && path.at == stop => return Ok(true),
                Some(path) if path.state == self.all().end => None,
                Some(path) => self.advance(path, stop, &mut trail),
                None => match self.next_choice(&mut trail) {
                    Some(path) => Some(path),
                    None => return Ok(false),
                },
            };
            if trail.choices.len().max(trail.changes.len()) > MAX_CHOICES {
                return Err(TOO_LONG);
            }
        }
    }

    /// Takes the last open choice and undoes everything after it.
    fn next_choice(&mut self, trail: &mut Trail) -> Option<Path> {
        let choice = trail.choices.pop();
        let keep = choice.map_or(0, |choice| choice.changes);
        while trail.changes.len() > keep {
            match trail.changes.pop()? {
                Change::Start(group, start) => self.starts[group] = start,
                Change::End(group, end) => self.ends[group] = end,
            }
        }
        choice.map(|choice| choice.path)
    }

    /// Passes one state; `None` if it does not match.
    fn advance(&mut self, path: Path, stop: usize, trail: &mut Trail) -> Option<Path> {
        let Path { state, at, level, .. } = path;
        let next = Path { state: state + 1, ..path };
        let mut choose = |path| trail.choices.push(Choice { path, changes: trail.changes.len() });
        match self.program.states[state] {
            State::Byte(byte) => (at < stop && self.text[at] == byte).then_some(Path { at: at + 1, ..next }),
            State::Set(set) => {
                (at < stop && set.contains(self.text[at])).then_some(Path { at: at + 1, ..next })
            }
            State::LineStart => self.starts_line(at).then_some(next),
            State::LineEnd => self.ends_line(at).then_some(next),
            State::WordStart => {
                let after_gap = self.starts_line(at) || (at > 0 && !is_word(self.text[at - 1]));
                (after_gap && self.text.get(at).copied().is_some_and(is_word)).then_some(next)
            }
            State::WordEnd => {
                let before_gap = self.ends_line(at) || self.text.get(at).is_some_and(|byte| !is_word(*byte));
                (before_gap && at > 0 && is_word(self.text[at - 1])).then_some(next)
            }
            State::Open(group) => {
                trail.changes.push(Change::Start(group, self.starts[group].replace(at)));
                Some(next)
            }
            State::Close(group) => {
                trail.changes.push(Change::End(group, self.ends[group].replace(at)));
                Some(next)
            }
            State::ReferenceStart { group, end } => {
                self.pass_reference(group, Path { state: end + 1, ..path }, stop)
            }
            State::StarStart { end } => {
                choose(Path { state: end + 1, ..path });
                Some(next)
            }
            State::PlusStart => {
                trail.rounds[level + 1] = at;
                Some(Path { level: level + 1, ..next })
            }
            State::PlusEnd { start } => {
                let done = Path { level: level - 1, ..next };
                if trail.rounds[level] == at {
                    return Some(done);
                }
                choose(done);
                trail.rounds[level] = at;
                Some(Path { state: start + 1, ..path })
            }
            State::BranchesStart { next: other } | State::BranchStart { next: Some(other) } => {
                choose(Path { state: other, ..path });
                Some(next)
            }
            State::BranchEnd { end } => Some(Path { state: end + 1, ..path }),
            State::Edge
            | State::StarEnd
            | State::BranchesEnd
            | State::BranchStart { next: None }
            | State::ReferenceEnd => Some(next),
        }
    }

    /// Passes the text of a group; `after` is the way after the back-reference, still at its start.
    fn pass_reference(&self, group: usize, after: Path, stop: usize) -> Option<Path> {
        let (start, end) = (self.starts[group]?, self.ends[group]?);
        let text = self.text.get(start..end)?;
        if text.is_empty() && after.empty > MAX_EMPTY {
            return None;
        }
        let matches = self.text[after.at..stop].starts_with(text);
        let empty = after.empty + usize::from(text.is_empty());
        matches.then_some(Path { at: after.at + text.len(), empty, ..after })
    }

    /// Unlike in [`longest`](Self::longest), no line starts at the end of the text.
    fn starts_line(&self, at: usize) -> bool {
        at == 0 || (at < self.text.len() && self.text[at - 1] == b'\n')
    }

    fn ends_line(&self, at: usize) -> bool {
        self.text.get(at).is_none_or(|byte| *byte == b'\n')
    }
}
