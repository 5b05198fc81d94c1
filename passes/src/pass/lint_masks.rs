//! Warns about sums that take in unmasked padding.

use visa_ir::diag::Diagnostic;
use visa_mapping::facts::DeclaredAxes;
use visa_pass::{Level, Pass, PassCx};
use visa_stream::unmasked;

/// The pass.
pub static PASS: Pass = Pass {
    name: "lint-masks",
    summary: "warns about sums that take in unmasked padding",
    doc: "Changes nothing. The warning:\n\n\
          - M1: a contraction sums away an axis, or the padding of a single element such as `1 # 4`, and that \
          padding is don't-care in the fetch, and is not zero in the register file either (books 08, 15). The sum \
          then depends on the content of data memory there. Zeros on one side are enough, if the other is padded: a \
          product with zero is zero, unless the other side happens to hold an infinity or a NaN \
          (docs/numerics.md).\n\n\
          The lint ignores an axis that is summed in part; `visa-run --shadow` checks the sum itself.",
    takes: Level::Memory,
    gives: Level::Memory,
    statistics: &[("warnings", "warnings given")],
    run,
    ..Pass::BASE
};

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    let axes = cx.analysis::<DeclaredAxes>();
    let ops = cx.module.walk_all().into_iter().map(|id| cx.module.op(cx.ctx, id));
    let warnings: Vec<_> = ops.flat_map(|op| unmasked::warnings(op, &axes.0)).collect();
    cx.count("warnings", warnings.len() as u64);
    warnings.into_iter().for_each(|warning| cx.report(warning));
    Ok(())
}
