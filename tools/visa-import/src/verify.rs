//! The text of kernels is parsed and verified before it is returned: visa-opt accepts every imported kernel.

use crate::error::{Error, SourcePosition};
use crate::imported::{Imported, Kernel};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::span::Source;

/// Refuses the kernels whose text is not accepted, and those that launch one of them.
#[must_use]
pub fn verified(mut imported: Imported) -> Imported {
    let ctx = match visa_opt::Registry::standard().context() {
        Ok(ctx) => ctx,
        Err(wrong) => {
            imported.errors.extend(wrong.iter().map(|finding| Error::anywhere(&finding.message)));
            return imported;
        }
    };
    loop {
        let source = Source::new("imported", imported.module());
        let refused = refused(&ctx, &imported, &source);
        if refused.is_empty() {
            return imported;
        }
        for (at, error) in refused {
            imported.kernels[at].text = Err(error);
        }
    }
}

/// The first finding about each kernel, by its number.
fn refused(ctx: &Context, imported: &Imported, source: &Source) -> Vec<(usize, Error)> {
    let parsed = visa_ir::parse::parse(ctx, source, 0..source.text.len());
    let mut findings = parsed.diagnostics;
    if findings.is_empty() {
        findings = visa_ir::verify::verify(ctx, &parsed.module);
    }
    let mut all: Vec<(usize, Error)> = Vec::new();
    for finding in findings.iter().filter(|own| own.severity == Severity::Error) {
        let line = source.line(finding.span.range().start);
        let Some((at, place)) = at_line(imported, line) else { continue };
        if all.iter().all(|(other, _)| *other != at) {
            all.push((at, error_of(finding, place)));
        }
    }
    // A finding that no line of a kernel has is one of the module.
    if let (true, Some(finding)) =
        (all.is_empty(), findings.iter().find(|own| own.severity == Severity::Error))
    {
        let read = imported.kernels.iter().enumerate().filter(|(_, own)| own.text.is_ok());
        all.extend(read.map(|(at, _)| (at, error_of(finding, None))));
    }
    all
}

/// The kernel that a line of the module is of, and its place in the input.
fn at_line(imported: &Imported, line: usize) -> Option<(usize, Option<SourcePosition>)> {
    let mut first = 2 + imported.axes.lines().count();
    for (at, kernel) in imported.kernels.iter().enumerate().filter(|(_, own)| own.text.is_ok()) {
        let Kernel { places, .. } = kernel;
        if (first..first + places.len()).contains(&line) {
            return Some((at, places[line - first].clone()));
        }
        first += places.len() + 1;
    }
    None
}

fn error_of(finding: &Diagnostic, place: Option<SourcePosition>) -> Error {
    let message = format!("[{}] {}", finding.code, finding.message);
    Error { place, message, fix: finding.fix.clone() }
}
