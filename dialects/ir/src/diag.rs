//! Diagnostics are values: the text found, the text expected, the position, and the fix. Only tools print.

use crate::span::Span;
use std::fmt::{self, Display};
use std::rc::Rc;
pub use visa_words::{counted, nearest, nearest_by, share_a_letter, visible, visible_json, visible_position};

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input is refused.
    Error,
    /// The input is taken, but something in it is likely wrong or slow.
    Warning,
    /// Something worth knowing.
    Remark,
}

impl Severity {
    /// The word that tools print and `expected-...` comments use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Remark => "remark",
        }
    }
}

/// A place in a file that need not be the one being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The file's name.
    pub file: Rc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A further remark under a diagnostic, with its own place where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Text of the remark.
    pub message: String,
    /// Where, if somewhere else than the diagnostic.
    pub span: Option<Span>,
    /// The places in other files that it names.
    pub places: Vec<FilePlace>,
}

/// One finding about the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// A stable short name, e.g. `syntax`, `unknown-op` or `stream.fetch-C2` (an op's constraint).
    pub code: String,
    /// The text found and the text expected, in one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// More to know.
    pub notes: Vec<Note>,
    /// The corrected text, if there is exactly one.
    pub fix: Option<String>,
    /// The type of a result or argument is malformed: its users have errors that follow from this one.
    pub malformed_type: bool,
}

impl Diagnostic {
    /// An error at `span`.
    #[must_use]
    pub fn error(code: impl Into<String>, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code: code.into(),
            message: message.into(),
            span,
            notes: Vec::new(),
            fix: None,
            malformed_type: false,
        }
    }

    /// Marks an error in the type of a result, or of the argument at the error's span. The verifier reports no errors
    /// of the operations that take the value.
    #[must_use]
    pub fn in_type(mut self) -> Self {
        self.malformed_type = true;
        self
    }

    /// The same with a note.
    #[must_use]
    pub fn note(mut self, message: impl Into<String>, span: Option<Span>) -> Self {
        self.notes.push(Note { message: message.into(), span, places: Vec::new() });
        self
    }

    /// The same with a fix, if there is one.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<Option<String>>) -> Self {
        self.fix = fix.into();
        self
    }
}
