//! Errors about mappings as diagnostics.

use visa_algebra::MapError;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;

/// A mapping's error as a diagnostic at `span`.
#[must_use]
pub fn mapping_error(error: MapError, span: Span) -> Diagnostic {
    Diagnostic::error(error.code, span, error.message).fix(error.fix.map(|fix| format!("write `{fix}`")))
}
