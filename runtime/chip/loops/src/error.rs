//! Errors of a sequencer program.

use std::error::Error;
use std::fmt;
use std::ops::Range;

/// The codes of [`SeqError`]: P for text, S for the hardware's limits, A for address arithmetic.
pub mod code {
    /// P1: the text is not a program.
    pub const SYNTAX: &str = "P1";
    /// P2: a literal does not fit a signed 64-bit integer.
    pub const LITERAL: &str = "P2";
    /// P3: more than [`MAX_TEXT_ENTRIES`](crate::MAX_TEXT_ENTRIES) entries in the text.
    pub const TEXT_ENTRIES: &str = "P3";
    /// S1: no entry, or more entries than the sequencer has (book 07: 8).
    pub const ENTRIES: &str = "S1";
    /// S2: an entry's limit is 0 or above the sequencer's (book 07: 65536).
    pub const LIMIT: &str = "S2";
    /// S3: the packet size is not one the sequencer transfers (book 07: 1, 2, 4, 8, 16, 32 bytes).
    pub const PACKET: &str = "S3";
    /// S4: the innermost entry is neither contiguous nor are the packets single units (book 07).
    pub const INNERMOST: &str = "S4";
    /// S5: a stride or an offset of a table does not fit a signed 32-bit register (book 18).
    pub const STRIDE: &str = "S5";
    /// S6: the table of an indirect entry has not one offset for each iteration (book 07).
    pub const TABLE: &str = "S6";
    /// A1: an address or stride does not fit a signed 64-bit integer.
    pub const ADDRESS: &str = "A1";
    /// A2: an element size of 0 bytes.
    pub const ELEMENT: &str = "A2";
    /// A3: the program cannot be cut into accesses of the wanted size.
    pub const ACCESS: &str = "A3";
    /// A4: a loop, packet or base of 4-bit elements is at half a byte.
    pub const HALF_BYTE: &str = "A4";
}

/// One thing that is wrong with a program, and how to mend it where there is one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeqError {
    /// One of the constants of [`code`].
    pub code: &'static str,
    /// The text found and the text expected, in one line.
    pub message: String,
    /// The corrected text.
    pub fix: Option<String>,
    /// The bytes of the parsed text that are wrong; `None` where there is no text.
    pub range: Option<Range<usize>>,
}

impl SeqError {
    pub(crate) fn new(code: &'static str, message: String) -> Self {
        Self { code, message, fix: None, range: None }
    }

    pub(crate) fn with_fix(mut self, fix: impl Into<Option<String>>) -> Self {
        self.fix = fix.into();
        self
    }

    pub(crate) fn at(mut self, range: Range<usize>) -> Self {
        self.range = Some(range);
        self
    }
}

impl fmt::Display for SeqError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.fix {
            Some(fix) => write!(f, " (fix: {fix})"),
            None => Ok(()),
        }
    }
}

impl Error for SeqError {}
