//! Finds directives in a check file.

use crate::cursor::{Cursor, find};
use crate::source::{Diagnostic, Origin, shown};

/// Kind of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Next,
    Same,
    Not,
    Dag,
    Label,
    Empty,
    /// The end of the input, after the last directive.
    End,
}

/// A directive without its prefix and its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Directive {
    pub(crate) kind: Kind,
    /// 1, or the number of `-COUNT-n`.
    pub(crate) count: u32,
    /// True for `{LITERAL}`: the pattern is plain text.
    pub(crate) literal: bool,
}

impl Directive {
    pub(crate) const fn of(kind: Kind) -> Self {
        Self { kind, count: 1, literal: false }
    }

    /// The directive as it is written, without the colon.
    pub(crate) fn name(&self, prefix: &str) -> String {
        let suffix = match self.kind {
            Kind::Plain if self.count > 1 => "-COUNT",
            Kind::Plain => "",
            Kind::Next => "-NEXT",
            Kind::Same => "-SAME",
            Kind::Not => "-NOT",
            Kind::Dag => "-DAG",
            Kind::Label => "-LABEL",
            Kind::Empty => "-EMPTY",
            Kind::End => return "implicit EOF".to_owned(),
        };
        let modifiers = if self.literal { "{LITERAL}" } else { "" };
        format!("{prefix}{suffix}{modifiers}")
    }
}

/// A directive in the check file.
#[derive(Debug)]
pub(crate) struct DirectiveLine<'a> {
    pub(crate) directive: Directive,
    pub(crate) prefix: &'a str,
    /// The prefix where it stands.
    pub(crate) start: Cursor<'a>,
    /// The pattern: the rest of the line.
    pub(crate) pattern: Cursor<'a>,
    /// Its line, from 1.
    pub(crate) line: usize,
}

/// The text after a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suffix {
    /// No directive.
    None,
    Comment,
    Directive(Directive),
    /// `-NOT` with another suffix.
    BadNot,
    BadCount,
    /// `_` in place of the first `-`.
    Misspelled,
}

/// A prefix and where it occurs next.
struct Prefix<'a> {
    text: &'a str,
    is_comment: bool,
    next: Option<usize>,
}

/// Reads the directives of a check file in order.
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    /// The longest first.
    prefixes: Vec<Prefix<'a>>,
    /// False to take the blanks before a pattern as part of it.
    trims: bool,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a [u8], checks: &'a [String], comments: &'a [String], trims: bool) -> Self {
        let prefix = |is_comment: bool| {
            move |prefix: &'a String| Prefix { text: prefix, is_comment, next: find(text, prefix.as_bytes()) }
        };
        let mut prefixes: Vec<_> =
            checks.iter().map(prefix(false)).chain(comments.iter().map(prefix(true))).collect();
        prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.text.len()));
        Self { text, at: 0, line: 1, prefixes, trims }
    }

    /// The line after the last directive.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// The rest of the text.
    pub(crate) fn rest(&self) -> Cursor<'a> {
        Cursor::new(&self.text[self.at..], Origin::Checks, self.at)
    }

    /// The next directive that is no comment.
    pub(crate) fn next(&mut self) -> Result<Option<DirectiveLine<'a>>, Diagnostic> {
        while let Some((prefix, suffix, start, mut rest)) = self.next_directive()? {
            // Without anything after its colon at the end of the file, a directive is its own pattern: as in LLVM.
            if rest.is_empty() {
                rest = start;
                rest.take(prefix.len());
            }
            if self.trims || suffix == Suffix::Comment {
                rest.trim_start();
            }
            let end = rest.text.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let pattern = rest.take(end.unwrap_or(rest.text.len()));
            self.at = rest.place.offset;
            if let Suffix::Directive(directive) = suffix {
                return Ok(Some(DirectiveLine { directive, prefix, start, pattern, line: self.line }));
            }
        }
        Ok(None)
    }

    /// The next directive or comment, with its position and the text after it; an error if it is malformed.
    fn next_directive(&mut self) -> Result<Option<(&'a str, Suffix, Cursor<'a>, Cursor<'a>)>, Diagnostic> {
        while let Some((offset, prefix, is_comment)) = self.next_prefix() {
            let skipped = &self.text[self.at..offset];
            self.line += skipped.iter().filter(|byte| **byte == b'\n').count();
            let in_word = skipped.last().is_some_and(|byte| is_word(*byte));
            self.at = offset;
            let start = self.rest();
            let mut rest = start;
            rest.take(prefix.len());
            let suffix = if in_word { Suffix::None } else { suffix(&mut rest, is_comment) };
            match suffix {
                Suffix::None => {
                    let word = &self.text[offset + prefix.len()..];
                    self.at += prefix.len() + word.iter().take_while(|byte| is_word(**byte)).count();
                }
                Suffix::Comment | Suffix::Directive(_) => return Ok(Some((prefix, suffix, start, rest))),
                Suffix::BadNot | Suffix::BadCount | Suffix::Misspelled => {
                    return Err(complaint(suffix, prefix, start, rest));
                }
            }
        }
        Ok(None)
    }

    /// The first prefix from here on, and the longest of those at the same position.
    fn next_prefix(&mut self) -> Option<(usize, &'a str, bool)> {
        for prefix in &mut self.prefixes {
            if prefix.next.is_some_and(|next| next < self.at) {
                let found = find(&self.text[self.at..], prefix.text.as_bytes());
                prefix.next = found.map(|offset| offset + self.at);
            }
        }
        let present = self.prefixes.iter().filter_map(|prefix| Some((prefix.next?, prefix)));
        let (offset, prefix) = present.min_by_key(|(offset, _)| *offset)?;
        Some((offset, prefix.text, prefix.is_comment))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn complaint(suffix: Suffix, prefix: &str, start: Cursor<'_>, rest: Cursor<'_>) -> Diagnostic {
    match suffix {
        Suffix::BadNot => {
            rest.error(format!("unsupported -NOT combo on prefix '{prefix}': -NOT goes with no other suffix"))
        }
        Suffix::BadCount => rest.error(format!(
            "invalid count in -COUNT specification on prefix '{prefix}', expected `{prefix}-COUNT-<number>:`"
        )),
        Suffix::None | Suffix::Comment | Suffix::Directive(_) | Suffix::Misspelled => {
            let directive = &start.text[..start.text.len() - rest.text.len()];
            let directive = shown(directive);
            start.error(format!("misspelled directive '{directive}', expected `-` after `{prefix}`"))
        }
    }
}

/// Takes the suffix that makes a prefix a directive off `rest`, with the colon.
fn suffix(rest: &mut Cursor<'_>, is_comment: bool) -> Suffix {
    if is_comment {
        return if rest.eat(b":") { Suffix::Comment } else { Suffix::None };
    }
    if matches!(rest.first(), Some(b':' | b'{')) {
        return modifiers(rest, Directive::of(Kind::Plain));
    }
    let misspelled = rest.eat(b"_");
    if !misspelled && !rest.eat(b"-") {
        return Suffix::None;
    }
    match dashed(rest) {
        Suffix::None => Suffix::None,
        _ if misspelled => Suffix::Misspelled,
        suffix => suffix,
    }
}

/// The suffix after its dash.
fn dashed(rest: &mut Cursor<'_>) -> Suffix {
    const WITH_NOT: [&[u8]; 8] = [
        b"DAG-NOT:",
        b"NOT-DAG:",
        b"NEXT-NOT:",
        b"NOT-NEXT:",
        b"SAME-NOT:",
        b"NOT-SAME:",
        b"EMPTY-NOT:",
        b"NOT-EMPTY:",
    ];
    const KINDS: [(&[u8], Kind); 6] = [
        (b"NEXT", Kind::Next),
        (b"SAME", Kind::Same),
        (b"NOT", Kind::Not),
        (b"DAG", Kind::Dag),
        (b"LABEL", Kind::Label),
        (b"EMPTY", Kind::Empty),
    ];
    if rest.eat(b"COUNT-") {
        return counted(rest);
    }
    if WITH_NOT.iter().any(|both| rest.starts_with(both)) {
        return Suffix::BadNot;
    }
    let kind = KINDS.iter().find(|(name, _)| rest.eat(name)).map(|(_, kind)| *kind);
    kind.map_or(Suffix::None, |kind| modifiers(rest, Directive::of(kind)))
}

fn counted(rest: &mut Cursor<'_>) -> Suffix {
    let length = rest.text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = shown(rest.take(length).text).into_owned();
    let count = digits.parse::<u32>().ok().filter(|count| (1..=i32::MAX.unsigned_abs()).contains(count));
    match count {
        Some(count) if matches!(rest.first(), Some(b':' | b'{')) => {
            modifiers(rest, Directive { count, ..Directive::of(Kind::Plain) })
        }
        Some(_) | None => Suffix::BadCount,
    }
}

/// The colon, or the modifiers in braces and the colon.
fn modifiers(rest: &mut Cursor<'_>, mut directive: Directive) -> Suffix {
    if rest.eat(b":") {
        return Suffix::Directive(directive);
    }
    if !rest.eat(b"{") {
        return Suffix::None;
    }
    loop {
        trim_space(rest);
        if !rest.eat(b"LITERAL") {
            return Suffix::None;
        }
        directive.literal = true;
        trim_space(rest);
        if !rest.eat(b",") {
            break;
        }
    }
    if rest.eat(b"}:") { Suffix::Directive(directive) } else { Suffix::None }
}

/// Takes whitespace off the front, line ends included.
fn trim_space(rest: &mut Cursor<'_>) {
    let space = |byte: &&u8| matches!(**byte, b' ' | b'\t'..=b'\r');
    rest.take(rest.text.iter().take_while(space).count());
}
