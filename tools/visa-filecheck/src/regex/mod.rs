//! POSIX extended regular expressions, leftmost longest, as LLVM's `Regex` reads and matches them.
//!
//! LLVM uses Henry Spencer's matcher. Two matchers that follow POSIX still differ in the groups that they report, so
//! this one follows Spencer's order of work:
//!
//! 1. `parse` reads the text into a tree. `x?` is `(x|)`, and `x{2,4}` is written out.
//! 2. `program` lays the tree out as a list of states, in Spencer's numbering.
//! 3. `simulate` finds the leftmost start and the longest end on sets of states, in time linear in the text for one
//!    start.
//! 4. `dissect` derives the groups from the span, item by item, each as long as the rest allows.
//! 5. `backtrack` replaces step 4 where the expression has back-references.
//!
//! Texts are bytes. A newline ends a line: `.` and `[^x]` do not match it, and `^` and `$` match next to it. The size
//! of an expression, its nesting, and the work of a search are bounded; reaching a bound is an [`Error`].

mod backtrack;
mod classes;
mod dissect;
mod parse;
mod program;
mod simulate;

use std::fmt;

use program::Program;
use simulate::Search;

/// Steps that one search may take: a visit of one state at one byte is a step.
const MAX_STEPS: u64 = 1 << 32;

/// The reason why an expression cannot be compiled or a search cannot be finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The expression breaks the grammar of POSIX extended regular expressions.
    Syntax(&'static str),
    /// The expression is valid but outside the bounds of this crate.
    Limit(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(reason) | Self::Limit(reason) => f.write_str(reason),
        }
    }
}

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Regex {
    program: Program,
}

/// The span of a match and of its groups, as offsets of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The whole match.
    pub span: (usize, usize),
    /// The groups from number 1, in order; `None` if the match does not use the group.
    pub groups: Vec<Option<(usize, usize)>>,
}

impl Regex {
    /// Compiles an expression. With `ignore_case`, ASCII letters match both cases.
    pub fn new(pattern: &[u8], ignore_case: bool) -> Result<Self, Error> {
        let parsed = parse::parse(pattern, ignore_case)?;
        Ok(Self { program: Program::of(&parsed)? })
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.program.groups
    }

    /// Finds the leftmost longest match in `text`; `^` and `$` match at its two ends.
    pub fn find(&self, text: &[u8]) -> Result<Option<Match>, Error> {
        self.find_within(text, MAX_STEPS)
    }

    /// [`find`](Self::find) with another bound on the number of steps.
    pub fn find_within(&self, text: &[u8], steps: u64) -> Result<Option<Match>, Error> {
        if !self.program.may_match(text) {
            return Ok(None);
        }
        Search::new(&self.program, text, steps).find()
    }
}
