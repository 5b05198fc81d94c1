//! Explicit clauses that contradict each other: those without which a kernel that has no configuration has one.

use crate::config::memo::Means;
use crate::driver::{self, Driver};
use crate::effort::budget::Budget;
use crate::rules::ruleset::RuleSet;
use std::rc::Rc;
use visa_ir::context::Context;
use visa_ir::decl::ClauseDecl;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId};
use visa_ir::open::{Opening, is_open, open_up};
use visa_mapping::ops::func::FUNC;

/// Most explicit clauses of a function that are left open one by one.
const MOST_CLAUSES: usize = 64;
/// Most work for a kernel with one more open clause.
const WORK: u64 = 2_000;
/// The code of the error for a kernel without a legal configuration.
const NONE_LEGAL: &str = "select-configs";
/// Most clauses that an error names.
const NAMED: usize = 4;

/// An explicit clause.
#[derive(Clone, Copy)]
struct Explicit {
    op: OpId,
    name: &'static str,
}

/// The error for a kernel without a legal configuration: the explicit clauses that contradict each other, if the
/// kernel has a configuration without any one of them; otherwise `error`.
pub(crate) fn named(ctx: &Context, module: &Module, rules: &RuleSet, error: Diagnostic) -> Diagnostic {
    let Some(function) = around(ctx, module, &error) else { return error };
    let mut alone = module.clone();
    let functions = module.ops(module.body()).iter().copied();
    let kept = functions.filter(|&id| id == function || !module.op(ctx, id).is(&FUNC));
    alone.set_ops(module.body(), kept.collect());
    let all = explicit(ctx, &alone, function);
    let without = |clause: &Explicit| {
        chosen(ctx, &alone, rules, |op, name| op == clause.op && name == clause.name).is_ok()
    };
    let guilty: Vec<Explicit> = all.iter().copied().filter(without).collect();
    let [first, others @ ..] = &guilty[..] else { return error };
    if others.is_empty() {
        return error;
    }
    let text = |clause: &Explicit| format!("`{}` of `{}`", clause.name, module.op(ctx, clause.op));
    let span = |clause: &Explicit| module.op(ctx, clause.op).clause_span(clause.name);
    let message =
        format!("{} contradicts {}: no configuration satisfies both", text(first), text(&others[0]));
    let named = Diagnostic::error(NONE_LEGAL, span(first), message);
    let named = others.iter().take(NAMED - 1).fold(named, |named, other| {
        named.note(format!("the contradicting {}", text(other)), Some(span(other)))
    });
    let named = named.note(format!("with both: {}", error.message), None);
    named.fix("write `auto` for one of them: there is a configuration then".to_owned())
}

/// The function that an error is about.
fn around(ctx: &Context, module: &Module, error: &Diagnostic) -> Option<OpId> {
    let at = error.span.start;
    let ops = module.walk_all().into_iter().map(|id| module.op(ctx, id));
    let op = ops.into_iter().find(|op| op.span().start == at && !op.is(&FUNC))?;
    op.ancestors().find(|op| op.is(&FUNC)).map(|op| op.id)
}

/// The explicit clauses of a function that could be open.
fn explicit(ctx: &Context, module: &Module, function: OpId) -> Vec<Explicit> {
    let blocks = module.op(ctx, function).regions().iter();
    let mut all = Vec::new();
    for id in blocks.flat_map(|&block| module.walk(block)) {
        let op = module.op(ctx, id);
        let clauses = op.decl().map_or(&[][..], |decl| decl.clauses).iter();
        let explicit = clauses.filter(|clause| clause.opening == Opening::Configuration);
        let explicit = explicit.filter(|clause| op.attr(clause.name).is_some() && !is_open(op, clause.name));
        all.extend(explicit.map(|clause| Explicit { op: id, name: clause.name }));
    }
    all.truncate(MOST_CLAUSES);
    all
}

/// Chooses a kernel whose explicit clauses are open where `opens` holds for the operation and the clause.
fn chosen(
    ctx: &Context,
    module: &Module,
    rules: &RuleSet,
    opens: impl Fn(OpId, &str) -> bool,
) -> Result<(), Diagnostic> {
    let mut open = module.clone();
    let is_configuration = |clause: &ClauseDecl| clause.opening == Opening::Configuration;
    open_up(ctx, &mut open, |op, own| is_configuration(own) && opens(op.id, own.name))?;
    let computations = driver::computations(ctx, &open)?;
    let budget = Budget::new(WORK, ctx.data());
    let means = Means::new(rules, &budget, Rc::new(computations));
    Driver { ctx, means: &means, tell: &mut drop }.run(&mut open)
}
