//! A part of a text that is read from its front, and knows where it is.

use num_bigint::BigInt;

use crate::source::{Diagnostic, Origin, TextPosition, trim_end, trim_start};

/// Most digits of a number.
const MAX_DIGITS: usize = 20_000;

/// The rest of a part of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) place: TextPosition,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a [u8], origin: Origin, offset: usize) -> Self {
        Self { text, place: TextPosition { origin, offset } }
    }

    /// An error here.
    pub(crate) fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.place, message)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn first(&self) -> Option<u8> {
        self.text.first().copied()
    }

    pub(crate) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.text.starts_with(prefix)
    }

    pub(crate) fn find(&self, part: &[u8]) -> Option<usize> {
        find(self.text, part)
    }

    /// Takes `count` bytes off the front and returns them.
    pub(crate) fn take(&mut self, count: usize) -> Self {
        let (taken, rest) = self.text.split_at(count.min(self.text.len()));
        let front = Self { text: taken, place: self.place };
        self.text = rest;
        self.place.offset += taken.len();
        front
    }

    /// Takes `prefix` off the front, if it is there.
    pub(crate) fn eat(&mut self, prefix: &[u8]) -> bool {
        let found = self.starts_with(prefix);
        if found {
            self.take(prefix.len());
        }
        found
    }

    pub(crate) fn trim_start(&mut self) {
        self.take(self.text.len() - trim_start(self.text).len());
    }

    pub(crate) fn trim_end(&mut self) {
        self.text = trim_end(self.text);
    }

    /// Takes digits off the front; `None` if there are none. Leading zeros count as digits.
    pub(crate) fn digits(&mut self, radix: u32) -> Result<Option<BigInt>, Diagnostic> {
        let count = self.text.iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
        if count > MAX_DIGITS {
            return Err(self.error(format!("number of {count} digits, expected at most {MAX_DIGITS}")));
        }
        let digits = self.take(count).text;
        Ok(BigInt::parse_bytes(digits, radix))
    }

    /// Takes a number without sign off the front. `0x`, `0b`, `0o` and `0` before a digit choose the base; as in LLVM,
    /// a base without digits after it is 0 unless it ends the text.
    pub(crate) fn literal(&mut self) -> Result<Option<BigInt>, Diagnostic> {
        let (prefix, radix) = match self.text {
            [b'0', b'x' | b'X', ..] => (2, 16),
            [b'0', b'b' | b'B', ..] => (2, 2),
            [b'0', b'o', ..] => (2, 8),
            [b'0', digit, ..] if digit.is_ascii_digit() => (1, 8),
            _ => return self.digits(10),
        };
        self.take(prefix);
        if self.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.digits(radix)?.unwrap_or_default()))
    }
}

/// The offset of the first `part` in `text`.
pub(crate) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    let Some(first) = part.first() else { return Some(0) };
    let mut from = 0;
    while let Some(skipped) = text[from..].iter().position(|byte| byte == first) {
        from += skipped;
        if text[from..].starts_with(part) {
            return Some(from);
        }
        from += 1;
    }
    None
}

/// As [`find`], with letters of either case equal.
pub(crate) fn find_ignoring_case(text: &[u8], part: &[u8]) -> Option<usize> {
    match part.len() {
        0 => Some(0),
        length => text.windows(length).position(|window| window.eq_ignore_ascii_case(part)),
    }
}
