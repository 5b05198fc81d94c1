//! What no sequencer runs, refused at the kernel's line while the factors of its mappings have their names (book
//! 07, 08, 09, 18).

use crate::access::AccessError;
use std::fmt::Display;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_numerics::DType;
use visa_stream::plan::Plan;

/// Why a plan over elements of `dtype` has no accesses, with each entry's factor of the stream, and for an access
/// size the factor that ends the run.
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

/// The entries before they merge, outermost first, each with its factor.
pub fn entries<L: Display>(loops: &[L], unit: &str) -> String {
    let entries: Vec<_> = loops.iter().map(L::to_string).collect();
    format!("before merging, in {unit}: {}", entries.join(", "))
}
