//! Input that cannot be read, and its position.

use std::fmt;
use std::rc::Rc;
use visa_ir::span::{Source, Span};

/// A place in a file of the input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePosition {
    /// The file, as it was named or found.
    pub file: Rc<str>,
    /// Its line, from 1 on.
    pub line: usize,
    /// The column of that line, in characters from 1 on.
    pub column: usize,
}

impl SourcePosition {
    /// Where a span of a file begins.
    #[must_use]
    pub fn of(file: &Rc<str>, span: proc_macro2::Span) -> Self {
        let start = span.start();
        Self { file: Rc::clone(file), line: start.line, column: start.column + 1 }
    }

    /// The word that begins at the place.
    #[must_use]
    pub fn word(&self, file: &Source) -> Option<Span> {
        let line = file.line_range(self.line)?;
        let text = file.text.get(line.clone())?;
        let count = text.chars().count();
        let at = self.column.checked_sub(1)?;
        let start = text.char_indices().map(|(at, _)| at).nth(at).or((at == count).then_some(text.len()))?;
        let rest = &text[start..];
        let letters =
            rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
        let length = letters.max(rest.chars().next().map_or(0, char::len_utf8));
        Some(Span::new(line.start + start..line.start + start + length))
    }
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Something of the input that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The position; `None` for a file that cannot be read.
    pub place: Option<SourcePosition>,
    /// The input found, and the input expected.
    pub message: String,
    /// The suggested fix, if that is known.
    pub fix: Option<String>,
}

impl Error {
    pub(crate) fn new(place: SourcePosition, message: impl Into<String>) -> Self {
        Self { place: Some(place), message: message.into(), fix: None }
    }

    pub(crate) fn anywhere(message: impl Into<String>) -> Self {
        Self { place: None, message: message.into(), fix: None }
    }

    pub(crate) fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}
