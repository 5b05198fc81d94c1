//! Checks of the bytes before any grammar reads them: encoding, size, nesting, literals. Every bound is a named
//! constant, and hitting one is a diagnostic.

use crate::diag::{Diagnostic, counted};
use crate::span::Span;

/// The largest source text, in bytes.
pub const MAX_SOURCE_BYTES: usize = 1 << 30;
/// The deepest nesting of brackets of any kind.
pub const MAX_NESTING: usize = 128;
/// The longest run of letters and digits, in bytes.
pub const MAX_TOKEN_BYTES: usize = 4096;
/// The longest location, `loc(...)`, in bytes: as it is written, and with the locations that it names by aliases.
pub const MAX_LOCATION_BYTES: usize = 1 << 14;
/// The deepest nesting of names and call sites in a location, through its aliases.
pub const MAX_LOCATION_DEPTH: usize = 64;
/// The most errors reported in one run.
pub const MAX_ERRORS: usize = 100;

/// The byte order mark that some editors put in front of a text.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads bytes as a source text, without the byte order mark in front of it.
///
/// # Errors
/// A binary file (a NUL byte or invalid UTF-8), an empty or an oversized one.
pub fn decode(bytes: Vec<u8>) -> Result<String, Diagnostic> {
    let refuse = |at: usize, message: String| Err(Diagnostic::error("not-text", Span::new(at..at), message));
    if bytes.len() > MAX_SOURCE_BYTES {
        return refuse(
            0,
            format!("the input has {}; at most {MAX_SOURCE_BYTES} are read", counted(bytes.len(), "byte")),
        );
    }
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return refuse(0, format!("the input has a NUL byte at offset {at}: it is not a text file"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix(BYTE_ORDER_MARK).map(str::to_owned).unwrap_or(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            refuse(0, format!("the input is not UTF-8 (offset {at}): it is not a text file"))
        }
    }
}

/// Checks brackets and token lengths in `text` (its first byte is at `base` of the source).
///
/// # Errors
/// The first unbalanced bracket, nesting deeper than [`MAX_NESTING`], or a token longer than [`MAX_TOKEN_BYTES`].
pub fn check(text: &str, base: usize) -> Result<(), Diagnostic> {
    if text.trim().is_empty() {
        return Err(Diagnostic::error(
            "empty",
            Span::new(base..base),
            "the input is empty: expected operations",
        ));
    }
    let bytes = text.as_bytes();
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut word_start = 0;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if !byte.is_ascii_alphanumeric() && byte != b'_' {
            word_start = at + 1;
        } else if at - word_start >= MAX_TOKEN_BYTES {
            let message = format!("a token of more than {MAX_TOKEN_BYTES} characters");
            return Err(Diagnostic::error(
                "token-too-long",
                Span::new(base + word_start..base + at),
                message,
            ));
        }
        match byte {
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = skip_line(bytes, at),
            b'"' => at = skip_string(bytes, at),
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'(' | b'[' | b'{' | b'<' => push(&mut open, byte, base, at)?,
            b')' | b']' | b'}' | b'>' => pop(&mut open, byte, base, at)?,
            _ => {}
        }
        at += 1;
    }
    match open.pop() {
        None => Ok(()),
        Some((bracket, at)) => {
            let (bracket, wanted) = (bracket as char, closing(bracket) as char);
            let message = format!("`{bracket}` is never closed: expected `{wanted}`");
            Err(Diagnostic::error("unbalanced", Span::new(base + at..base + at + 1), message))
        }
    }
}

fn push(open: &mut Vec<(u8, usize)>, byte: u8, base: usize, at: usize) -> Result<(), Diagnostic> {
    if open.len() == MAX_NESTING {
        let message = format!("brackets nest deeper than {MAX_NESTING}");
        return Err(Diagnostic::error("nesting", Span::new(base + at..base + at + 1), message));
    }
    open.push((byte, at));
    Ok(())
}

fn pop(open: &mut Vec<(u8, usize)>, byte: u8, base: usize, at: usize) -> Result<(), Diagnostic> {
    let span = Span::new(base + at..base + at + 1);
    match open.pop() {
        Some((bracket, _)) if closing(bracket) == byte => Ok(()),
        Some((bracket, opened)) => {
            let (wanted, bracket) = (closing(bracket) as char, bracket as char);
            let message = format!("found `{}`, expected `{wanted}`", byte as char);
            let opened = Span::new(base + opened..base + opened + 1);
            Err(Diagnostic::error("unbalanced", span, message)
                .note(format!("to close this `{bracket}`"), Some(opened)))
        }
        None => {
            let message = format!("`{}` closes nothing", byte as char);
            Err(Diagnostic::error("unbalanced", span, message))
        }
    }
}

fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        _ => b'>',
    }
}

/// Where the location, `loc(...)`, that starts at `start` of `text` ends.
///
/// # Errors
/// If it is longer than [`MAX_LOCATION_BYTES`]; no more of it is looked at.
pub(crate) fn location_end(text: &str, start: usize) -> Result<usize, Diagnostic> {
    let bytes = &text.as_bytes()[..text.len().min(start + MAX_LOCATION_BYTES)];
    let (mut at, mut depth) = (start, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = skip_line(bytes, at),
            b'"' => at = skip_string(bytes, at),
            b'(' => depth += 1,
            b')' if depth <= 1 => return Ok(at + 1),
            b')' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Err(location_too_long(Span::new(start..start + "loc(".len())))
}

/// A location of more than [`MAX_LOCATION_BYTES`].
pub(crate) fn location_too_long(span: Span) -> Diagnostic {
    let message = format!("a location of more than {MAX_LOCATION_BYTES} bytes");
    Diagnostic::error("location-too-long", span, message)
}

/// The last byte before the next line break.
pub(crate) fn skip_line(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length - 1)
}

/// The closing quote of the string that opens at `at`; an unclosed one ends at its line's end.
pub(crate) fn skip_string(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'"' && bytes[end] != b'\n' {
        end += 1 + usize::from(bytes[end] == b'\\');
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<String> {
        check(text, 0).err().map(|error| error.code)
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(code(&nested(MAX_NESTING)), None);
        assert_eq!(code(&nested(MAX_NESTING + 1)), Some("nesting".into()));
        assert_eq!(code(&nested(10_000)), Some("nesting".into()));
    }

    #[test]
    fn brackets_must_balance() {
        assert_eq!(code("(]"), Some("unbalanced".into()));
        assert_eq!(code("a ["), Some("unbalanced".into()));
        assert_eq!(code("a ]"), Some("unbalanced".into()));
        assert_eq!(code("a -> b [x] \"(\" // ("), None);
    }

    #[test]
    fn tokens_are_bounded() {
        assert_eq!(code(&"a".repeat(MAX_TOKEN_BYTES)), None);
        assert_eq!(code(&"a".repeat(MAX_TOKEN_BYTES + 1)), Some("token-too-long".into()));
    }

    #[test]
    fn only_text_is_text() {
        assert_eq!(decode(b"a\0b".to_vec()).unwrap_err().code, "not-text");
        assert_eq!(decode(vec![0xff, 0xfe]).unwrap_err().code, "not-text");
        assert!(decode(b"ok".to_vec()).is_ok());
        assert_eq!(decode("\u{feff}ok".into()).unwrap(), "ok");
        assert_eq!(decode("ok\u{feff}".into()).unwrap(), "ok\u{feff}");
        // One mark is skipped; a second one is part of the text.
        assert_eq!(decode("\u{feff}\u{feff}ok".into()).unwrap(), "\u{feff}ok");
        assert_eq!(code(" \n\t"), Some("empty".into()));
    }
}
