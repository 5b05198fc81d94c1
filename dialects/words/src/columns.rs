//! Texts in columns of a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that a text takes.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.width()
}

/// A text in at most `most` columns: a longer one ends in `…`. Letters that move others are replaced
/// ([`printable`]).
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    let text = printable(text);
    if columns(&text) <= most {
        return text;
    }
    let room = most.saturating_sub(1);
    let (mut out, mut taken) = (String::new(), 0);
    for letter in text.chars() {
        taken += letter.width().unwrap_or_default();
        if taken > room {
            break;
        }
        out.push(letter);
    }
    out.push('…');
    out
}

/// A text for one row: characters that a terminal obeys as pictures, and those that would move others replaced.
#[must_use]
pub fn printable(text: &str) -> String {
    crate::visible::visible(text)
        .chars()
        .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_at_most_its_columns() {
        assert_eq!(shortened("abc", 5), "abc");
        assert_eq!(shortened("abcde", 5), "abcde");
        assert_eq!(shortened("abcdef", 5), "abcd…");
        // A wide letter that does not fit leaves a column free.
        assert_eq!(shortened("ab\u{4e2d}\u{4e2d}", 5), "ab\u{4e2d}…");
        assert_eq!(shortened("a\u{4e2d}\u{4e2d}\u{4e2d}", 5), "a\u{4e2d}…");
        assert_eq!(columns("a\u{4e2d}…"), 4);
        assert_eq!(shortened("a\u{202e}b\n", 4), "a\u{fffd}b\u{fffd}");
        assert_eq!(shortened(&"x".repeat(10_000), 4), "xxx…");
    }
}
