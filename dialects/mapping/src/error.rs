//! Errors about mappings, in the notation that the user wrote.

use std::fmt;
use std::ops::Range;

/// What is wrong with a mapping or an axis declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapError {
    /// Stable identifier of the rule, such as `map-undeclared-axis`.
    pub code: &'static str,
    /// What was found and what was expected, naming the subexpression.
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
pub(crate) fn quote(text: impl fmt::Display) -> String {
    let text = text.to_string();
    match text.char_indices().nth(MAX_QUOTED) {
        Some((cut, _)) => format!("`{}...`", &text[..cut]),
        None => format!("`{text}`"),
    }
}

/// The candidate with the smallest edit distance to `word`, the first among equals; `None` when every
/// one differs in more than a third of the letters (or in more than one letter of a short word).
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    let measured = candidates.into_iter().map(|name| (edit_distance(word, name), name));
    measured.filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, name)| name)
}

/// Insertions, deletions and replacements of one character that turn `a` into `b` (Levenshtein).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_edits() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("Row", "Row"), 0);
    }

    #[test]
    fn nearest_takes_the_closest_and_rejects_the_far() {
        assert_eq!(nearest("Rwo", ["Row", "Rows", "Rw"]), Some("Rw"));
        assert_eq!(nearest("Batch", ["Batsh", "B"]), Some("Batsh"));
        assert_eq!(nearest("Batch", ["Bitsh"]), None);
        assert_eq!(nearest("Q", []), None);
    }

    #[test]
    fn quote_cuts_long_text_between_characters() {
        assert_eq!(quote("A / 4"), "`A / 4`");
        assert_eq!(quote("é".repeat(MAX_QUOTED)), format!("`{}`", "é".repeat(MAX_QUOTED)));
        assert_eq!(quote("é".repeat(MAX_QUOTED + 1)), format!("`{}...`", "é".repeat(MAX_QUOTED)));
    }
}
