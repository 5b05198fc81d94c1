//! Renders a failed check as plain text: what failed, at which line of the check file, and the input it was given.

use litcheck_filecheck::TestFailed;
use litcheck_filecheck::litcheck::diagnostics::{Diagnostic, LabeledSpan, Report, Severity, SourceCode};

/// Most lines of the input shown.
const MAX_INPUT_LINES: usize = 40;

/// Lines of the input shown before the first line that a message points at.
const LINES_BEFORE: usize = 5;

/// The whole report of one run on `input`, which the messages call `input_name`.
pub(super) fn failure(report: &Report, input_name: &str, input: &str) -> String {
    let mut rendering = Rendering { text: String::new(), input_name, pointed_at: None };
    match report.downcast_ref::<TestFailed>() {
        // The input dump among the related diagnostics is left out: ours has line numbers and an end.
        Some(failed) => {
            for error in failed.errors() {
                rendering.diagnostic(error, None, 0);
            }
        }
        None => rendering.diagnostic(report.as_ref(), None, 0),
    }
    rendering.input(input);
    rendering.text
}

struct Rendering<'a> {
    text: String,
    input_name: &'a str,
    /// The first line of the input that a message pointed at, from 1.
    pointed_at: Option<usize>,
}

impl Rendering<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// One diagnostic and those related to it. `source` is what its spans point into if it has no source of its own.
    fn diagnostic(&mut self, diagnostic: &dyn Diagnostic, source: Option<&dyn SourceCode>, depth: usize) {
        let severity = match diagnostic.severity() {
            Some(Severity::Advice) => "note",
            Some(Severity::Warning) => "warning",
            Some(Severity::Error) | None => "error",
        };
        let message = diagnostic.to_string();
        if !message.is_empty() {
            self.line(depth, &format!("{severity}: {message}"));
        }
        let source = diagnostic.source_code().or(source);
        if let (Some(labels), Some(source)) = (diagnostic.labels(), source) {
            labels.for_each(|label| self.excerpt(&label, source, depth + 1));
        }
        if let Some(help) = diagnostic.help() {
            self.line(depth + 1, &format!("help: {help}"));
        }
        for related in diagnostic.related().into_iter().flatten() {
            self.diagnostic(related, source, depth + 1);
        }
    }

    /// The first line that a label points at, with carets under what it points at.
    fn excerpt(&mut self, label: &LabeledSpan, source: &dyn SourceCode, depth: usize) {
        // One line of context either way makes the lines whole: without any, the text is cut off at the span's ends.
        let Ok(contents) = source.read_span(label.inner(), 1, 1) else {
            return;
        };
        let data = String::from_utf8_lossy(contents.data());
        let start = label.offset().saturating_sub(contents.span().offset());
        let before = data.get(..start).unwrap_or(&data);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = data[line_start..].lines().next().unwrap_or_default();
        let name = contents.name().unwrap_or_default();
        let number = contents.line() + before.matches('\n').count() + 1;
        if name == self.input_name {
            self.pointed_at.get_or_insert(number);
        }
        let note = label.label().unwrap_or("here");
        self.line(depth, &format!("{name}:{number}: {note}"));
        self.line(depth + 1, line);
        let column = before[line_start..].chars().count();
        let label_range = start..start + label.len();
        let marked =
            line.char_indices().filter(|(offset, _)| label_range.contains(&(line_start + offset))).count();
        let carets = "^".repeat(marked.max(1));
        self.line(depth + 1, &format!("{}{carets}", " ".repeat(column)));
    }

    /// The part of the input that the messages are about.
    fn input(&mut self, input: &str) {
        let count = input.lines().count();
        let skipped = match self.pointed_at {
            Some(line) if count > MAX_INPUT_LINES => (line - 1).saturating_sub(LINES_BEFORE),
            Some(_) | None => 0,
        };
        self.line(0, &format!("the input was ({count} lines):"));
        if skipped > 0 {
            self.line(0, "      ...");
        }
        let lines = input.lines().enumerate().skip(skipped);
        for (index, line) in lines.take(MAX_INPUT_LINES) {
            self.line(0, &format!("{:>5} | {line}", index + 1));
        }
        if count > skipped + MAX_INPUT_LINES {
            self.line(0, "      ...");
        }
    }
}
