//! Messages as text, and the part of the input that they are about.

use std::collections::BTreeSet;

use crate::options::{DumpInput, Options};
use crate::source::{Diagnostic, Origin, Sources, TextPosition, shown};
use visa_words::visible;

/// Inputs up to this many lines are shown whole.
const MAX_WHOLE: usize = 40;

/// Longest excerpt of a line, in characters.
const MAX_LINE: usize = 400;

/// Severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    Error,
    Note,
    Remark,
}

/// The messages so far.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    sources: &'a Sources<'a>,
    text: String,
    /// Lines of the input that messages point at, from 1.
    lines: BTreeSet<usize>,
}

/// A line of a text, and a position in it.
struct Excerpt {
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    text: String,
}

impl<'a> Report<'a> {
    pub(crate) fn new(sources: &'a Sources<'a>) -> Self {
        Self { sources, text: String::new(), lines: BTreeSet::new() }
    }

    pub(crate) fn text(self) -> String {
        self.text
    }

    pub(crate) fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.message(Severity::Error, diagnostic.place, &diagnostic.message);
    }

    /// Adds a message with the line that it points at.
    pub(crate) fn message(&mut self, severity: Severity, place: Option<TextPosition>, message: &str) {
        let (kind, indent) = match severity {
            Severity::Error => ("error", ""),
            Severity::Remark => ("remark", ""),
            Severity::Note => ("note", "  "),
        };
        self.text.push_str(&format!("{indent}{kind}: {}\n", visible(message)));
        let Some(place) = place else { return };
        let text = self.sources.text(place.origin);
        let excerpt = excerpt(text.bytes, place.offset);
        if place.origin == Origin::Input {
            self.lines.insert(excerpt.line);
        }
        let Excerpt { line, column, text: shown } = excerpt;
        self.text.push_str(&format!("{indent}  {}:{line}:{column}\n", visible(text.name)));
        self.text.push_str(&format!("{indent}    {shown}\n{indent}    {}^\n", " ".repeat(column - 1)));
    }

    /// Adds the input, or the lines around those that messages point at.
    pub(crate) fn dump_input(&mut self, options: &Options) {
        let input = shown(self.sources.input.bytes);
        let count = input.lines().count();
        let all = options.dump_all || options.dump_input == DumpInput::Always || count <= MAX_WHOLE;
        self.text.push_str(&format!("the input was ({count} lines):\n"));
        let mut elided = false;
        for (index, line) in input.lines().enumerate() {
            let number = index + 1;
            let first = number.saturating_sub(options.dump_context);
            let last = number.saturating_add(options.dump_context);
            let is_near = all || self.lines.range(first..=last).next().is_some();
            if is_near {
                self.text.push_str(&format!("{number:>5} | {}\n", visible(line)));
            } else if !elided {
                self.text.push_str("      ...\n");
            }
            elided = !is_near;
        }
    }
}

/// The line around `offset`, or around the letter that the byte there is a part of.
fn excerpt(text: &[u8], offset: usize) -> Excerpt {
    let starts = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000);
    let end = offset.min(text.len());
    let offset = (0..=end).rev().take(4).find(starts).unwrap_or(end);
    let (before, after) = text.split_at(offset);
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let length = after.iter().position(|byte| *byte == b'\n').unwrap_or(after.len());
    let head = visible(&shown(&before[start..])).into_owned();
    let tail = visible(&shown(&after[..length])).into_owned();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    // Text far from the position is left out.
    let skipped = head.chars().count().saturating_sub(MAX_LINE / 2);
    let near: String = head.chars().skip(skipped).collect();
    let column = near.chars().count() + 1;
    let text = near + &tail.chars().take(MAX_LINE / 2).collect::<String>();
    Excerpt { line, column, text }
}
