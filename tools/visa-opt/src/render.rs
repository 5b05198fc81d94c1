//! Diagnostics as people read them (with source excerpts) or as programs do (a JSON object a line).

use crate::io::Io;
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term;
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;
use visa_ir::diag::{Diagnostic, FilePlace, Severity, visible, visible_json, visible_position};
use visa_ir::span::{Source, Span};

/// The longest line that an excerpt shows, in bytes; of a longer one only the position is given.
const MAX_EXCERPT_LINE: usize = 1000;

/// Format of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Renderer {
    /// With source excerpts.
    #[default]
    Text,
    /// A JSON object a line: `severity`, `code`, `message`, `file`, `line`, `column`, `end_line`, `end_column`
    /// (counted from 1, columns in characters), `notes` and `fix`. A note that names places of other files has
    /// them as `places`: `file`, `line`, `column`.
    Json,
}

impl Renderer {
    /// Writes `findings`, whose spans point into `source`, to standard error. Without a source (the finding is
    /// about the run, not about a text) there is no position.
    pub fn emit(self, io: &mut Io, source: Option<&Source>, findings: &[Diagnostic]) {
        if findings.is_empty() {
            return;
        }
        let source =
            source.filter(|source| !source.text.is_empty() || findings.iter().any(|f| f.code == "empty"));
        match self {
            Self::Text => text(io, source, findings),
            Self::Json => json(io, source, findings),
        }
    }
}

/// A source as excerpts are taken from it.
struct Excerpts<'a>(&'a Source);

impl<'a> Files<'a> for Excerpts<'a> {
    type FileId = ();
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(&self.0.name)
    }

    fn source(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(&self.0.text)
    }

    fn line_index(&'a self, (): (), byte: usize) -> Result<usize, Error> {
        Ok(self.0.line(byte) - 1)
    }

    fn line_range(&'a self, (): (), line: usize) -> Result<Range<usize>, Error> {
        let max = || self.0.line(self.0.text.len()) - 1;
        self.0.line_range(line + 1).ok_or_else(|| Error::LineTooLarge { given: line, max: max() })
    }
}

fn text(io: &mut Io, source: Option<&Source>, findings: &[Diagnostic]) {
    let shown = source.map_or_else(|| Source::new("", ""), visible_source);
    let file = Excerpts(&shown);
    let styles = term::Styles::default();
    for finding in findings {
        let mut config = term::Config { chars: term::Chars::ascii(), ..term::Config::default() };
        if line_length(source.map_or("", |source| &source.text), finding.span) > MAX_EXCERPT_LINE {
            config.display_style = term::DisplayStyle::Medium;
        }
        let translated = translate(finding, source);
        let written = if io.color {
            let mut ansi = term::termcolor::Ansi::new(&mut io.stderr);
            let mut writer = term::StylesWriter::new(&mut ansi, &styles);
            term::emit_to_write_style(&mut writer, &config, &file, &translated)
        } else {
            term::emit_to_io_write(&mut io.stderr, &config, &file, &translated)
        };
        if written.is_err() {
            // The excerpt failed, which a span outside of its source would do: the message must still come through.
            let message = visible(&finding.message);
            io.stderr.extend(format!("{}: {message}\n", finding.severity.word()).into_bytes());
        }
    }
}

/// The length of the line that `span` starts on.
fn line_length(text: &str, span: Span) -> usize {
    let at = span.range().start.min(text.len());
    let bytes = text.as_bytes();
    let start = bytes[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    bytes[start..].iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len() - start)
}

/// The source as its excerpts are shown.
fn visible_source(source: &Source) -> Source {
    match visible(&source.text) {
        Cow::Borrowed(_) => Source::new(visible(&source.name), &*source.text),
        Cow::Owned(text) => Source::new(visible(&source.name), text),
    }
}

/// A span of the source in its visible text.
fn visible_range(source: Option<&Source>, span: Span) -> Range<usize> {
    let Range { start, end } = span.range();
    let moved = |at| source.map_or(at, |source| visible_position(&source.text, at));
    moved(start)..moved(end)
}

fn translate(finding: &Diagnostic, source: Option<&Source>) -> codespan::Diagnostic<()> {
    let severity = match finding.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
        Severity::Remark => codespan::Severity::Note,
    };
    let mut labels = Vec::new();
    let mut notes = Vec::new();
    if source.is_some() {
        labels.push(codespan::Label::primary((), visible_range(source, finding.span)));
    }
    for note in &finding.notes {
        match note.span.filter(|_| source.is_some()) {
            Some(span) => {
                let range = visible_range(source, span);
                labels.push(codespan::Label::secondary((), range).with_message(visible(&note.message)));
            }
            None => notes.push(format!("note: {}", visible(&note.message))),
        }
    }
    notes.extend(finding.fix.iter().map(|fix| format!("fix: {}", visible(fix))));
    codespan::Diagnostic::new(severity)
        .with_code(&finding.code)
        .with_message(visible(&finding.message))
        .with_labels(labels)
        .with_notes(notes)
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    severity: &'static str,
    code: &'a str,
    message: &'a str,
    #[serde(flatten)]
    place: Option<SourceRange<'a>>,
    notes: Vec<JsonNote<'a>>,
    fix: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonNote<'a> {
    message: &'a str,
    #[serde(flatten)]
    place: Option<SourceRange<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    places: Vec<Elsewhere<'a>>,
}

/// A place in a file that is not the source.
#[derive(Serialize)]
struct Elsewhere<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

impl<'a> From<&'a FilePlace> for Elsewhere<'a> {
    fn from(FilePlace { file, line, column }: &'a FilePlace) -> Self {
        Self { file, line: *line, column: *column }
    }
}

#[derive(Serialize)]
struct SourceRange<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

impl<'a> SourceRange<'a> {
    fn new(source: &'a Source, span: Span) -> Self {
        let (line, column) = source.position(span.range().start);
        let (end_line, end_column) = source.position(span.range().end);
        Self { file: &source.name, line, column, end_line, end_column }
    }
}

fn json(io: &mut Io, source: Option<&Source>, findings: &[Diagnostic]) {
    for finding in findings {
        let notes = finding.notes.iter().map(|note| JsonNote {
            message: &note.message,
            place: note.span.zip(source).map(|(span, source)| SourceRange::new(source, span)),
            places: note.places.iter().map(Elsewhere::from).collect(),
        });
        let line = JsonFinding {
            severity: finding.severity.word(),
            code: &finding.code,
            message: &finding.message,
            place: source.map(|source| SourceRange::new(source, finding.span)),
            notes: notes.collect(),
            fix: finding.fix.as_deref(),
        };
        // Strings and numbers only: this cannot fail, and if it did the loss would be seen as a missing line.
        if let Ok(line) = serde_json::to_string(&line) {
            io.stderr.extend(visible_json(&line).as_bytes());
            io.stderr.push(b'\n');
        }
    }
}
