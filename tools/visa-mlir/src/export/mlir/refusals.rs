//! Refusals: operations without a counterpart in linalg, at their lines.

use std::fmt::Display;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;

/// A result of the export, or the refusal at its line.
pub(crate) type Export<T> = Result<T, Diagnostic>;

/// The code of refusals.
pub(crate) const CODE: &str = "mlir-export";

/// Refuses an operation.
pub(crate) fn refuse(op: OpRef<'_>, message: impl Display) -> Diagnostic {
    Diagnostic::error(CODE, op.span(), format!("`{op}` is not exported: {message}"))
}

/// Refuses a clause of an operation.
pub(crate) fn refuse_clause(op: OpRef<'_>, clause: &str, message: impl Display) -> Diagnostic {
    let message = format!("`{op}` is not exported: {message}");
    Diagnostic::error(CODE, op.clause_span(clause), message)
}
