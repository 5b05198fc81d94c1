//! The inputs and outputs of a run, and its reports of findings.

use crate::relabelled::{self, Relabelled, RelabelledEntry};
use crate::rust::RustLines;
use std::io;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::span::{Source, Span};
use visa_opt::{Io, Renderer};
use visa_pass::{Output, Report};

/// The run stops here; its findings are written.
pub(crate) struct Stopped;

/// The value of a stage, unless the run stops in it.
pub(crate) type Outcome<T> = Result<T, Stopped>;

/// The streams and files of a run, and the text that findings point into.
pub(crate) struct Console<'a> {
    pub(crate) io: &'a mut Io,
    renderer: Renderer,
    pub(crate) source: Option<Source>,
    /// The lines of Rust behind those of the source, if it was imported.
    pub(crate) rust: Option<RustLines>,
}

impl<'a> Console<'a> {
    pub(crate) fn new(io: &'a mut Io, renderer: Renderer) -> Self {
        Self { io, renderer, source: None, rust: None }
    }

    /// Writes findings about the kernel, at the lines of its author.
    pub(crate) fn emit(&mut self, findings: &[Diagnostic]) {
        let (Some(rust), Some(module)) = (&self.rust, &self.source) else {
            self.renderer.emit(self.io, self.source.as_ref(), findings);
            return;
        };
        for finding in findings {
            match rust.shown(module, finding) {
                Some((file, shown)) => self.renderer.emit(self.io, Some(file), &[shown]),
                None => self.renderer.emit(self.io, Some(module), std::slice::from_ref(finding)),
            }
        }
    }

    /// Writes findings about another text than the kernel's, or about none.
    pub(crate) fn emit_about(&mut self, source: Option<&Source>, findings: &[Diagnostic]) {
        self.renderer.emit(self.io, source, findings);
    }

    /// Writes a finding without a place that does not stop the run.
    pub(crate) fn note(&mut self, severity: Severity, code: &str, message: impl Into<String>) {
        let finding = Diagnostic::error(code, Span::default(), message);
        self.emit_about(None, &[Diagnostic { severity, ..finding }]);
    }

    /// Stops with findings about the kernel.
    pub(crate) fn refuse(&mut self, findings: Vec<Diagnostic>) -> Stopped {
        self.emit(&findings);
        Stopped
    }

    /// Stops with findings about another text.
    pub(crate) fn refuse_about(&mut self, source: &Source, findings: &[Diagnostic]) -> Stopped {
        self.emit_about(Some(source), findings);
        Stopped
    }

    /// Stops with an error without a place.
    pub(crate) fn stop(&mut self, code: &str, message: impl Into<String>) -> Stopped {
        self.stop_with(Diagnostic::error(code, Span::default(), message))
    }

    /// Stops with a finding without a place.
    pub(crate) fn stop_with(&mut self, finding: Diagnostic) -> Stopped {
        self.emit_about(None, &[finding]);
        Stopped
    }

    /// The outcome of writing the file `name`.
    pub(crate) fn written(&mut self, name: &str, written: io::Result<()>) -> Outcome<()> {
        written.map_err(|why| self.stop("cannot-write", format!("cannot write `{name}`: {why}")))
    }

    /// Writes the findings of passes, and the files that they give.
    pub(crate) fn passed(&mut self, report: &Report) -> Outcome<()> {
        self.emit(&report.findings);
        for Output { name, bytes } in &report.outputs {
            let written = self.io.write(name, bytes);
            self.written(name, written)?;
        }
        Ok(())
    }

    /// The line of the author's text that a span is in.
    pub(crate) fn line(&self, span: Span) -> Option<String> {
        let source = self.source.as_ref()?;
        match &self.rust {
            Some(rust) => rust.line(source, span),
            None => Some(source.line(span.range().start).to_string()),
        }
    }

    /// The Rust file, without its folder, and the line in it that a span comes from.
    pub(crate) fn rust_line(&self, span: Span) -> Option<(String, usize)> {
        self.rust.as_ref()?.file_line(self.source.as_ref()?, span)
    }

    /// The relabellings of a function, with their places in the author's text.
    pub(crate) fn relabelled(&self, all: &[Relabelled], function: &str) -> Vec<RelabelledEntry> {
        let Some(source) = &self.source else { return Vec::new() };
        relabelled::entries(all, function, |span| {
            let rust = self.rust.as_ref().and_then(|rust| rust.place_text(source, span));
            rust.unwrap_or_else(|| {
                let (line, column) = source.position(span.range().start);
                format!("{}:{line}:{column}", source.name)
            })
        })
    }
}
