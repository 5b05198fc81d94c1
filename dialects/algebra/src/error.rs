//! Errors about mappings, in the notation that the user wrote.

use std::fmt;
use std::ops::Range;

/// An error in a mapping or an axis declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapError {
    /// Stable identifier of the rule, such as `map-undeclared-axis`.
    pub code: &'static str,
    /// The text found and the text expected, with the subexpression.
    pub message: String,
    /// Text to write instead of the wrong piece, where there is one obvious repair.
    pub fix: Option<String>,
    /// Byte range in the mapping's text; only errors of the text itself have one.
    pub range: Option<Range<usize>>,
}

impl MapError {
    /// An error without a fix or a range.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), fix: None, range: None }
    }

    /// The same error with a text to write instead.
    pub fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// The same error at a byte range of the mapping's text.
    pub fn with_range(mut self, range: Range<usize>) -> Self {
        self.range = Some(range);
        self
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.fix {
            Some(fix) => write!(f, "; write `{fix}`"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for MapError {}

/// Longest piece of user text, in characters, that a message repeats whole.
const MAX_QUOTED: usize = 80;

/// A piece of user text for a message: in backticks, cut when it is long.
pub fn quote(text: impl fmt::Display) -> String {
    let text = text.to_string();
    match text.char_indices().nth(MAX_QUOTED) {
        Some((cut, _)) => format!("`{}...`", &text[..cut]),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quote_cuts_long_text_between_characters() {
        assert_eq!(quote("A / 4"), "`A / 4`");
        assert_eq!(quote("é".repeat(MAX_QUOTED)), format!("`{}`", "é".repeat(MAX_QUOTED)));
        assert_eq!(quote("é".repeat(MAX_QUOTED + 1)), format!("`{}...`", "é".repeat(MAX_QUOTED)));
    }
}
