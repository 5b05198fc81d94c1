//! Close: passes that choose, run on a kernel whose calls are inlined.

use crate::console::{Console, Outcome};
use crate::passes;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_mapping::ops::call::calling;
use visa_pass::Pass;

/// Puts functions in place of their calls: their open clauses are chosen for each call.
pub(crate) fn inline(
    ctx: &Context,
    module: &mut Module,
    known: &[&'static Pass],
    console: &mut Console<'_>,
) -> Outcome<()> {
    run(ctx, module, known, inlining(ctx, module), console)
}

/// The passes that put functions in place of their calls; empty for a kernel without calls.
pub(crate) fn inlining(ctx: &Context, module: &Module) -> &'static [(&'static str, Option<&'static str>)] {
    let has_calls = module.walk_all().into_iter().any(|id| calling(module.op(ctx, id)).is_some());
    if has_calls { &[("inline", Some(""))] } else { &[] }
}

/// Runs passes with their options, and writes their findings and files.
pub(crate) fn run(
    ctx: &Context,
    module: &mut Module,
    known: &[&'static Pass],
    asked: &[(&str, Option<&str>)],
    console: &mut Console<'_>,
) -> Outcome<()> {
    let report = passes::choose(ctx, module, known, asked).map_err(|findings| console.refuse(findings))?;
    console.passed(&report)
}
