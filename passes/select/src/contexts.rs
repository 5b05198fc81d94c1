//! The choice of an open context: main, or main and sub as one (book 08). A pipeline in dual delays the sub context's
//! loads, so the whole kernel is chosen for it, and the cycles of its report decide.

use crate::config::memo::Means;
use crate::distribution::search::{self, Kernel};
use crate::driver::Chosen;
use crate::effort::budget::Cut;
use visa_ir::context::{Attr, Context};
use visa_ir::diag::Diagnostic;
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId};
use visa_ir::open::is_open;
use visa_machine::Unit;
use visa_stream::ops::begin;

/// Chooses every open clause of a function, which is alone in its module. Open contexts are main first; then each
/// becomes dual, one after the other, and stays so if the kernel is faster, or legal at all.
///
/// # Errors
/// The operation without a legal choice.
pub(crate) fn function(
    ctx: &Context,
    module: &Module,
    function: OpId,
    means: &Means<'_>,
) -> Result<Kernel, Diagnostic> {
    let mut contexts: Vec<(OpId, Unit)> = open(ctx, module).map(|begin| (begin, Unit::Main)).collect();
    let chosen = |contexts: &[(OpId, Unit)]| {
        search::function(ctx, &in_contexts(ctx, module, contexts)?, function, means)
    };
    let mut best = chosen(&contexts);
    for at in 0..contexts.len() {
        if means.budget.exhausted() || best.is_ok() && means.budget.ended() {
            means.budget.cut(Cut::Context(module.op(ctx, contexts[at].0).span()));
            continue;
        }
        contexts[at].1 = Unit::Dual;
        let dual = chosen(&contexts);
        let cycles = |kernel: &Result<Kernel, Diagnostic>| {
            kernel.as_ref().map_or(u64::MAX, |kernel| kernel.cycles(ctx, function))
        };
        if cycles(&dual) < cycles(&best) || best.is_err() && dual.is_ok() {
            best = dual;
        } else {
            contexts[at].1 = Unit::Main;
        }
    }
    let mut best = best?;
    let told = contexts.iter().map(|&(begin, unit)| Chosen::Context(module.op(ctx, begin).span(), unit));
    best.choices.extend(told);
    Ok(best)
}

/// The operations that begin a pipeline in a context that is open.
fn open(ctx: &Context, module: &Module) -> impl Iterator<Item = OpId> {
    let begins = |id: &OpId| {
        let op = module.op(ctx, *id);
        op.is(&begin::DECL) && is_open(op, begin::CONTEXT)
    };
    module.walk_all().into_iter().filter(begins)
}

/// The module with these contexts.
fn in_contexts(ctx: &Context, module: &Module, contexts: &[(OpId, Unit)]) -> Result<Module, Diagnostic> {
    let mut module = module.clone();
    for &(begin, unit) in contexts {
        module.set_clause(begin, begin::CONTEXT, Some(ctx.attr(Attr::Str(unit.word().into()))));
    }
    infer_all(ctx, &mut module)?;
    Ok(module)
}
