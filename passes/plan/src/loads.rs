//! The loads of arguments whose places in data memory are written.

use crate::program::{Kernel, Step, Work};
use crate::shared::Shared;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::ops::func::signature;

/// Checks that steps load each argument whose place in data memory is written, and read it in no other form.
///
/// # Errors
/// An argument that its plan does not load.
pub fn check_loaded(func: OpRef<'_>, shared: &Shared, kernel: &Kernel) -> Result<(), Diagnostic> {
    for (value, operand) in signature(func).0.iter().zip(&kernel.arguments) {
        let Some((place, array)) = shared.place(*value).zip(operand.array()) else { continue };
        let reads = |step: &&Step| step.inputs.contains(&array);
        let loads = |step: &Step| match step.work {
            Work::Contraction(_) | Work::Region(_) => true,
            Work::Single(_) => false,
        };
        let viewed = |step: &Step| step.inputs.iter().any(|own| kernel.aliases.get(own) == Some(&array));
        let mut all = kernel.steps.iter().filter(reads).peekable();
        let direct = all.peek().is_some() && all.all(loads) && !kernel.steps.iter().any(viewed);
        if !direct {
            let name = &kernel.arrays[array].name;
            let message = format!("`%{name}` is written at `{place}`, and its plan has no load of it");
            let fix = format!("write `auto` for the place of `%{name}`");
            return Err(Diagnostic::error("plan-kernel", func.span(), message).fix(fix));
        }
    }
    Ok(())
}
