//! What cannot be read, and where it is.

use proc_macro2::Span;
use std::fmt;
use std::rc::Rc;
use visa_ir::diag::Diagnostic;

/// A place in a file of the input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as it was named or found.
    pub file: Rc<str>,
    /// Its line, from 1 on.
    pub line: usize,
    /// The column of that line, in characters from 1 on.
    pub column: usize,
}

impl Place {
    /// Where a span of a file begins.
    #[must_use]
    pub fn of(file: &Rc<str>, span: Span) -> Self {
        let start = span.start();
        Self { file: Rc::clone(file), line: start.line, column: start.column + 1 }
    }

    /// The place as a location of the text.
    pub(crate) fn location(&self) -> String {
        format!("loc({}:{}:{})", crate::emit::quoted(&self.file), self.line, self.column)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Something of the input that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where it is; nothing of a file that cannot be read.
    pub place: Option<Place>,
    /// What was found, and what was expected.
    pub message: String,
    /// What would help, if that is known.
    pub fix: Option<String>,
}

impl Error {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place: Some(place), message: message.into(), fix: None }
    }

    pub(crate) fn anywhere(message: impl Into<String>) -> Self {
        Self { place: None, message: message.into(), fix: None }
    }

    /// As a finding of the tools, which names the place in its message.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let message = match &self.place {
            Some(place) => format!("{place}: {}", self.message),
            None => self.message.clone(),
        };
        Diagnostic::error("import", visa_ir::span::Span::default(), message).fix(self.fix.clone())
    }

    /// As why a function that nobody asked for is left out.
    pub(crate) fn left_out(&self) -> String {
        self.shown("note[import]: a host program is left out: ")
    }

    fn shown(&self, before: &str) -> String {
        let place = self.place.as_ref().map_or_else(String::new, |place| format!("\n   --> {place}"));
        let fix = self.fix.as_ref().map_or_else(String::new, |fix| format!("\n   = fix: {fix}"));
        format!("{before}{}{place}{fix}", self.message)
    }

    pub(crate) fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown("error[import]: "))
    }
}
