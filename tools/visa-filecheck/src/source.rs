//! The texts that messages point into.

use std::borrow::Cow;

use crate::options::Options;
use crate::verdict::Text;

/// A text that messages point into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Origin {
    Checks,
    Input,
    /// The `-D` options, one a line.
    Defines,
    /// The `--implicit-check-not` options, one a line.
    Implicit,
}

/// A position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextPosition {
    pub(crate) origin: Origin,
    pub(crate) offset: usize,
}

impl TextPosition {
    pub(crate) fn input(offset: usize) -> Self {
        Self { origin: Origin::Input, offset }
    }
}

/// A message with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    pub(crate) place: Option<TextPosition>,
    pub(crate) message: String,
}

impl Diagnostic {
    pub(crate) fn at(place: TextPosition, message: impl Into<String>) -> Self {
        Self { place: Some(place), message: message.into() }
    }
}

/// All texts of a comparison.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    pub(crate) checks: Text<'a>,
    pub(crate) input: Text<'a>,
    defines: Vec<u8>,
    implicit: Vec<u8>,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(options: &Options, checks: Text<'a>, input: Text<'a>) -> Self {
        let lines = |option: &str, values: &[String]| -> Vec<u8> {
            values.iter().flat_map(|value| format!("{option}{value}\n").into_bytes()).collect()
        };
        Self {
            checks,
            input,
            defines: lines(DEFINE, &options.defines),
            implicit: lines(IMPLICIT, &options.implicit_check_not),
        }
    }

    pub(crate) fn text(&self, origin: Origin) -> Text<'_> {
        match origin {
            Origin::Checks => self.checks,
            Origin::Input => self.input,
            Origin::Defines | Origin::Implicit => {
                let bytes = if origin == Origin::Defines { &self.defines } else { &self.implicit };
                Text { name: "command line", bytes }
            }
        }
    }

    /// The offset of the value of the option number `index`.
    pub(crate) fn value_offset(origin: Origin, values: &[String], index: usize) -> usize {
        let option = if origin == Origin::Defines { DEFINE } else { IMPLICIT };
        values.iter().take(index).map(|value| option.len() + value.len() + 1).sum::<usize>() + option.len()
    }
}

const DEFINE: &str = "-D";
const IMPLICIT: &str = "--implicit-check-not=";

/// True for the blanks that are equal unless `--strict-whitespace` is given.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// `text` without the blanks at its start.
pub(crate) fn trim_start(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|byte| is_blank(**byte)).count()..]
}

/// `text` without the blanks at its end.
pub(crate) fn trim_end(text: &[u8]) -> &[u8] {
    &text[..text.len() - text.iter().rev().take_while(|byte| is_blank(**byte)).count()]
}

/// Turns CRLF into LF and, unless `strict`, every run of blanks into one space.
pub(crate) fn canonical(text: &[u8], strict: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (index, byte) in text.iter().copied().enumerate() {
        let next = text.get(index + 1).copied();
        if byte == b'\r' && next == Some(b'\n') {
            continue;
        }
        if strict || !is_blank(byte) {
            out.push(byte);
        } else if index == 0 || !is_blank(text[index - 1]) {
            out.push(b' ');
        }
    }
    out
}

/// Bytes as text for a message.
pub(crate) fn shown(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
