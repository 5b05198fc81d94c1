//! Text of files as terminals may show it: characters that move or hide others become visible ones, as in rustc.

use std::borrow::Cow;

/// The visible picture of a character that a terminal would obey. `None` for every other character, tabs and line
/// breaks among them.
///
/// Control characters of ASCII are their pictures (`␛`). Later ones, characters that change the direction of
/// writing, and byte order marks are U+FFFD. Each takes one column.
#[must_use]
pub fn picture(letter: char) -> Option<char> {
    match letter {
        '\t' | '\n' => None,
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(letter)),
        '\u{7f}' => Some('\u{2421}'),
        letter if hides(letter) => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    }
}

/// Returns true if `letter` moves or hides others where it is shown: it is written as an escape.
#[must_use]
pub fn hides(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || letter == '\u{feff}'
}

/// The text with a [picture] for each character that has one. A carriage return that ends a line stays.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    match is_visible(text) {
        true => Cow::Borrowed(text),
        false => pieces(text).map(|(_, shown)| shown).collect::<String>().into(),
    }
}

/// The position in [`visible`] of byte `at` of `text`.
#[must_use]
pub fn visible_position(text: &str, at: usize) -> usize {
    let before = pieces(text).take_while(|&(start, _)| start < at);
    match is_visible(text) {
        true => at,
        false => before.map(|(_, shown)| shown.len_utf8()).sum(),
    }
}

/// The text of JSON with an escape of JSON for each character that [hides](hides()) others. These occur in strings
/// alone, so that the value is the same.
#[must_use]
pub fn visible_json(text: &str) -> Cow<'_, str> {
    let escaped = |letter: char| hides(letter) && !matches!(letter, '\t' | '\n' | '\r');
    if !text.contains(escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match escaped(letter) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => out.push(letter),
        }
    }
    out.into()
}

fn is_visible(text: &str) -> bool {
    !text.contains(|letter| picture(letter).is_some())
}

/// Each character as it is shown, with its position in the text.
fn pieces(text: &str) -> impl Iterator<Item = (usize, char)> {
    text.char_indices().map(move |(at, letter)| {
        let ends_line = letter == '\r' && text[at + 1..].starts_with('\n');
        (at, picture(letter).filter(|_| !ends_line).unwrap_or(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        assert_eq!(
            visible("a\u{1b}[2J\0\u{7f}\u{9b}\u{202e}\u{2066}\u{200f}b"),
            "a␛[2J␀␡\u{fffd}\u{fffd}\u{fffd}\u{fffd}b"
        );
        assert_eq!(visible("a\u{feff}b"), "a\u{fffd}b");
        assert_eq!(visible("a\rb\r\nc\td"), "a␍b\r\nc\td");
        assert_eq!(visible("Grüße 中文 👩\u{200d}🔬"), "Grüße 中文 👩\u{200d}🔬");
    }

    #[test]
    fn positions_move_with_the_pictures() {
        let text = "a\u{1b}b\u{9b}c";
        assert_eq!([0, 1, 2, 3, 5, 6].map(|at| visible_position(text, at)), [0, 1, 4, 5, 8, 9]);
        assert_eq!(visible_position("abc", 7), 7);
    }

    #[test]
    fn json_keeps_its_value() {
        assert_eq!(visible_json("{\n \"a\u{202e}\u{7f}\": 1\n}"), "{\n \"a\\u202e\\u007f\": 1\n}");
        assert_eq!(visible_json("[\"a\"]"), "[\"a\"]");
    }
}
