//! What no sequencer runs, refused at the kernel's line while the factors of its mappings have their names (book 07, 08, 09, 18).

use crate::lower::access::AccessError;
use crate::lower::stages::program;
use std::fmt::Display;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_sequencer::Program;
use visa_stream::plan::Plan;

/// Refuses a plan whose program in bytes `lower` refuses.
///
/// # Errors
/// What `lower` finds, with each entry's factor of the stream, and for an access size the factor that ends the run.
pub fn check(
    op: OpRef<'_>,
    plan: &Plan,
    base: i64,
    element_bytes: u64,
    lower: impl Fn(&Program) -> Result<Program, AccessError>,
) -> Result<(), Diagnostic> {
    let bytes = program(plan, base).to_bytes(element_bytes).map_err(AccessError::from);
    let Err(error) = bytes.and_then(|program| lower(&program)) else { return Ok(()) };
    let mut found = error.diagnostic(op.span()).note(entries(&plan.loops, "elements"), None);
    if let (AccessError::Size { .. }, (run, Some(end))) = (&error, plan.run()) {
        let bytes = run.saturating_mul(element_bytes);
        found = found.note(format!("the contiguous run of {bytes} bytes ends at {end}"), None);
    }
    Err(found)
}

/// The entries before they merge, outermost first, each with its factor.
pub fn entries<L: Display>(loops: &[L], unit: &str) -> String {
    let entries: Vec<_> = loops.iter().map(L::to_string).collect();
    format!("before merging, in {unit}: {}", entries.join(", "))
}
