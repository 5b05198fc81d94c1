//! The first line of a file: `rules KIND`.

use crate::grammar::{RuleGrammar, Syntax, refuse};
use crate::kind::Kind;
use pest::Parser as _;
use visa_ir::diag::{Diagnostic, nearest};
use visa_ir::span::Span;

/// The end of the first line of a file of `expected`, in bytes.
pub(crate) fn header(text: &str, expected: Kind) -> Result<usize, Diagnostic> {
    let parsed = RuleGrammar::parse(Syntax::start, text).ok();
    let Some(header) = parsed.and_then(|mut trees| trees.find(|tree| tree.as_rule() == Syntax::header))
    else {
        return Err(missing(text, expected));
    };
    let end = header.as_span().end();
    let Some(word) = header.into_inner().next() else { return Err(missing(text, expected)) };
    let wanted = expected.word();
    let Some(found) = Kind::ALL.into_iter().find(|kind| kind.word() == word.as_str()) else {
        let kinds: Vec<_> = Kind::ALL.iter().map(|kind| format!("`{}`", kind.word())).collect();
        let message = format!(
            "`{}` is not a kind of rules; expected `rules {wanted}` (the kinds are {})",
            word.as_str(),
            kinds.join(", ")
        );
        let near = nearest(word.as_str(), Kind::ALL.map(Kind::word)).unwrap_or(wanted);
        return Err(refuse("rule-kind", &word, message).fix(format!("write `rules {near}`")));
    };
    if found == expected {
        return Ok(end);
    }
    let message = format!(
        "the file contains {} rules (`rules {}`); expected {wanted} rules (`rules {wanted}`)",
        found.word(),
        found.word()
    );
    let other = match found.flag() {
        Some(flag) => format!("pass this file to `{flag}`, or pass a file of {wanted} rules"),
        None => format!("pass a file of {wanted} rules: no flag reads {} rules", found.word()),
    };
    Err(refuse("rule-kind", &word, message).fix(other))
}

/// A file that does not begin with its kind.
fn missing(text: &str, expected: Kind) -> Diagnostic {
    let wanted = expected.word();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if !trimmed.is_empty() && !trimmed.starts_with("//") {
            at += line.len() - line.trim_start().len();
            let message = format!(
                "`{}` is not the first line of a file of rules; expected `rules {wanted}`",
                short(trimmed)
            );
            return Diagnostic::error("rule-kind", Span::new(at..at + trimmed.len()), message)
                .fix(format!("write `rules {wanted}` on a line above"));
        }
        at += line.len();
    }
    let message = format!("the file contains no rules; expected `rules {wanted}` and a rule");
    Diagnostic::error("rule-kind", Span::new(0..0), message)
        .fix(format!("write `rules {wanted}` as the first line"))
}

/// The beginning of a line.
fn short(line: &str) -> String {
    const MOST: usize = 40;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}
