//! Erases unused operations.

use visa_ir::analysis::{AnalysisKind, Preserved};
use visa_ir::diag::Diagnostic;
use visa_ir::effects;
use visa_ir::symbols::Symbols;
use visa_mapping::facts::{DeclaredAxes, Support};
use visa_pass::{Pass, PassCx, Scope};

/// The pass.
pub static PASS: Pass = Pass {
    name: "dce",
    summary: "erases operations without effects whose results are unused",
    doc: "An erased operation has no effects, or only reads (the effects are in its declaration). Users come after \
          their operands, so one walk from the end erases a chain of unused operations whole: its last operation \
          first.",
    statistics: &[("erased", "operations erased")],
    scope: Scope::Operation,
    preserves: Preserved::Only(&[
        AnalysisKind::of::<DeclaredAxes>(),
        AnalysisKind::of::<Support>(),
        AnalysisKind::of::<Symbols>(),
    ]),
    open: true,
    run,
    ..Pass::BASE
};

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    // Backwards, a user is erased before the walk reaches its operands: one walk reaches the fixed point.
    for id in cx.walk().into_iter().rev() {
        let op = cx.module.op(cx.ctx, id);
        let unused = op.results().iter().all(|&result| cx.module.uses(result).is_empty());
        if unused && effects::erasable(op) {
            cx.module.erase(id);
            cx.count("erased", 1);
        }
    }
    Ok(())
}
