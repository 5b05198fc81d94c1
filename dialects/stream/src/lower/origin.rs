//! Diagnostics for loops that no sequencer runs, at the kernel's line and with the factors of its mappings (book 07,
//! 08, 09, 18).

use crate::plan::Plan;
use std::fmt::Display;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_numerics::DType;
use visa_sequencer::access::AccessError;

/// The diagnostic for a plan without accesses. Its notes list the factor of the stream for each entry and, if no
/// access size fits, the factor that ends the contiguous run.
#[must_use]
pub fn refused(op: OpRef<'_>, plan: &Plan, dtype: DType, error: &AccessError) -> Diagnostic {
    let mut found = error.diagnostic(op.span()).note(entries(&plan.loops, "elements"), None);
    if let (AccessError::Size { .. }, (run, Some(end))) = (error, plan.run())
        && let Some(bytes) = dtype.bytes(run)
    {
        found = found.note(format!("the contiguous run of {} ends at {end}", counted(bytes, "byte")), None);
    }
    found
}

/// The text of the entries before they merge, outermost first, each with its factor.
pub fn entries<L: Display>(loops: &[L], unit: &str) -> String {
    let entries: Vec<_> = loops.iter().map(L::to_string).collect();
    format!("before merging, in {unit}: {}", entries.join(", "))
}
