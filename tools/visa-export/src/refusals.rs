//! Refusals: operations that the language cannot express, at their lines.

use std::fmt::Display;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;

/// The pass that writes a kernel again with operations of the language alone.
pub(crate) const REPLAN: &str =
    "plan its computation within the language: `visa-opt --plan-kernel='replan rust'`";

/// A result of the export, or the refusal at its line.
pub(crate) type Export<T> = Result<T, Diagnostic>;

/// Refuses an operation.
pub(crate) fn refuse(op: OpRef<'_>, message: impl Display) -> Diagnostic {
    Diagnostic::error("export", op.span(), format!("`{op}` is not exported: {message}"))
}

/// Refuses an operation, and names the change that makes it exportable.
pub(crate) fn refuse_with_fix(op: OpRef<'_>, message: impl Display, fix: impl Into<String>) -> Diagnostic {
    refuse(op, message).fix(Some(fix.into()))
}

/// Refuses a clause of an operation if it is set.
pub(crate) fn refuse_if<T>(op: OpRef<'_>, set: Option<T>, message: impl Display) -> Export<()> {
    match set {
        Some(_) => Err(refuse(op, message)),
        None => Ok(()),
    }
}

/// Refuses an operation with a clause that its export does not read.
pub(crate) fn has_only(op: OpRef<'_>, read: &[&str]) -> Export<()> {
    match op.clauses().iter().find(|clause| !read.contains(&&*clause.name)) {
        Some(clause) => Err(refuse(op, format!("its clause `{}` has no form in the language", clause.name))),
        None => Ok(()),
    }
}
