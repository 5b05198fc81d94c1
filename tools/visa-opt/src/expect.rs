//! `--verify-diagnostics`: `expected-error@+1 {{part of the message}}` comments, compared with the findings.
//!
//! As in MLIR: `expected-error`, `-warning`, `-remark` and `-note`; `@+N`, `@-N`, `@above`, `@below` (the nearest
//! line without an expectation); the text is a substring. It is looked for in `code: message`, so that a test can
//! cite a constraint's number. Unlike in MLIR a note (and a fix, which counts as the note `fix: ...`) need not be
//! expected.

use visa_ir::diag::Diagnostic;
use visa_ir::span::{Source, Span};

const KINDS: [&str; 4] = ["error", "warning", "remark", "note"];
const START: &str = "expected-";

/// One expectation.
struct Expected {
    kind: &'static str,
    /// The line that the finding must start on, from 1.
    line: usize,
    text: String,
    /// The expectation's own place.
    span: Span,
    met: bool,
}

/// Compares `findings` with the expectations in `range` of `source`. Returns the differences, as errors.
pub(crate) fn compare(
    source: &Source,
    range: std::ops::Range<usize>,
    findings: &[Diagnostic],
) -> Vec<Diagnostic> {
    let (mut expected, mut wrong) = read(source, range);
    let mut meet = |kind: &str, span: Span, text: &str| {
        let line = source.line(span.range().start);
        let fits = |e: &&mut Expected| !e.met && e.kind == kind && e.line == line && text.contains(&e.text);
        let found = expected.iter_mut().find(fits);
        let met = found.is_some();
        found.into_iter().for_each(|expected| expected.met = true);
        met
    };
    for finding in findings {
        let text = format!("{}: {}", finding.code, finding.message);
        if !meet(finding.severity.word(), finding.span, &text) {
            let message = format!("unexpected {}: {}", finding.severity.word(), finding.message);
            wrong.push(
                Diagnostic::error(finding.code.clone(), finding.span, message).fix(finding.fix.clone()),
            );
        }
        for note in &finding.notes {
            meet("note", note.span.unwrap_or(finding.span), &note.message);
        }
        if let Some(fix) = &finding.fix {
            meet("note", finding.span, &format!("fix: {fix}"));
        }
    }
    for missing in expected.iter().filter(|expected| !expected.met) {
        let message =
            format!("expected {} `{}` on line {} was not found", missing.kind, missing.text, missing.line);
        wrong.push(Diagnostic::error("expectation", missing.span, message));
    }
    wrong.sort_by_key(|wrong| wrong.span);
    wrong
}

/// The expectations in `range`, and those that cannot be read.
fn read(source: &Source, range: std::ops::Range<usize>) -> (Vec<Expected>, Vec<Diagnostic>) {
    let (mut expected, mut wrong) = (Vec::new(), Vec::new());
    let first = source.line(range.start);
    let lines: Vec<&str> = source.text[range.clone()].split('\n').collect();
    let mut start = range.start;
    for (index, line) in lines.iter().enumerate() {
        let mut from = 0;
        while let Some(at) = line[from..].find(START).map(|at| from + at) {
            match one(&line[at..], index, &lines) {
                Some((kind, target, text, length)) => {
                    let span = Span::new(start + at..start + at + length);
                    expected.push(Expected { kind, line: first + target, text, span, met: false });
                    from = at + length;
                }
                None => {
                    let span = Span::new(start + at..start + line.len());
                    let message = "an expectation is written `expected-error@+1 {{text}}`, with error, warning, \
                                   remark or note, and a line that is there";
                    wrong.push(Diagnostic::error("expectation", span, message));
                    from = line.len();
                }
            }
        }
        start += line.len() + 1;
    }
    (expected, wrong)
}

/// Reads the expectation at the start of `text`: kind, index of its line, its text, its length.
fn one(text: &str, index: usize, lines: &[&str]) -> Option<(&'static str, usize, String, usize)> {
    let rest = text.strip_prefix(START)?;
    let kind = KINDS.into_iter().find(|kind| rest.starts_with(kind))?;
    let (place, _) = rest[kind.len()..].split_once("{{")?;
    let open = START.len() + kind.len() + place.len() + 2;
    let plain = |line: &str| !line.contains(START);
    let target = match place.trim().strip_prefix('@') {
        None if place.trim().is_empty() => index,
        None => return None,
        Some("above") => (0..index).rev().find(|&at| plain(lines[at]))?,
        Some("below") => (index + 1..lines.len()).find(|&at| plain(lines[at]))?,
        Some(offset) if offset.starts_with(['+', '-']) => index.checked_add_signed(offset.parse().ok()?)?,
        Some(_) => return None,
    };
    // `}}}` ends a text that itself ends in a brace.
    let mut close = open + text[open..].find("}}")?;
    while text[close..].starts_with("}}}") {
        close += 1;
    }
    Some((kind, target, text[open..close].to_owned(), close + 2))
}
