//! Erases what nobody uses.

use crate::{Pass, PassCx};
use visa_ir::decl::Trait;
use visa_ir::diag::Diagnostic;

/// The pass.
pub static PASS: Pass = Pass {
    name: "dce",
    summary: "erases pure operations whose results nobody uses",
    doc: "An operation with the trait `Pure` has no effect besides its results. Users come after what they use, so \
          one walk from the end erases a chain of unused operations whole: its last operation first.",
    statistics: &[("erased", "operations erased")],
    open: true,
    run,
    ..Pass::BASE
};

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    // Backwards, a user is erased before what it uses is looked at: one walk reaches the fixed point.
    for id in cx.module.walk_all().into_iter().rev() {
        let op = cx.module.op(cx.ctx, id);
        let pure = op.decl().is_some_and(|decl| decl.has(Trait::Pure) && !decl.has(Trait::Terminator));
        let unused = op.results().iter().all(|&result| cx.module.uses(result).is_empty());
        if pure && unused {
            cx.module.erase(id);
            cx.count("erased", 1);
        }
    }
    Ok(())
}
