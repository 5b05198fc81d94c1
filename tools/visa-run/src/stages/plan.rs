//! Plan: the kernel with everything closed that is open, at the level at which it is written.

use crate::console::{Console, Outcome};
use crate::flags::Flags;
use crate::stages::close::{inline, run};
use crate::stages::entry;
use crate::{passes, pictures};
use visa_ir::context::{Context, quote};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::Module;
use visa_ir::open;
use visa_ir::span::Span;
use visa_ir::symbols::declared;
use visa_mapping::ops::func::FUNC;
use visa_opt::Registry;
use visa_pass::Level;

/// The pass that plans functions.
pub(crate) const PASS: &str = "plan-kernel";

/// The passes that close the rest after `plan-kernel` or `select-configs`, in their order.
pub(crate) const CLOSING: [(&str, Option<&str>); 4] = [
    ("plan-vector", Some("")),
    ("schedule", Some("")),
    ("allocate", Some("")),
    ("select-transfers", Some("")),
];

/// A plan, apart from the kernel.
#[derive(Default)]
pub(crate) struct Planned {
    /// The function of the tensor level that was planned, if it is written there.
    pub(crate) function: Option<Module>,
    /// The explanation, if the page shows it.
    pub(crate) explained: Vec<Diagnostic>,
}

/// Plans a kernel.
pub(crate) fn plan(
    ctx: &Context,
    module: &mut Module,
    options: &str,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Planned> {
    match Level::of(ctx, module) {
        Level::Tensor => {
            keep_entry(ctx, module, flags, console)?;
            let function = module.clone();
            let explained = functions(ctx, module, options, registry, flags, console)?;
            inline(ctx, module, &registry.passes, console)?;
            close(ctx, module, None, registry, console)?;
            Ok(Planned { function: Some(function), explained })
        }
        Level::Memory if open::first(ctx, module, |_| true).is_some() => {
            if flags.time_limit.is_some() {
                return Err(console.stop_with(no_time_limit(&flags.file)));
            }
            inline(ctx, module, &registry.passes, console)?;
            close(ctx, module, Some(("select-configs", options)), registry, console)?;
            Ok(Planned::default())
        }
        level @ (Level::Any | Level::Memory | Level::Sequencer | Level::Hardware) => {
            Err(console.stop_with(nothing_open(&flags.file, level)))
        }
    }
}

/// The options of `plan-kernel`, with the time limit of the flags.
fn limited(options: &str, flags: &Flags) -> String {
    let limit = flags.time_limit.as_ref().map(|limit| format!("time-limit={}", quote(limit)));
    let all = [(!options.is_empty()).then(|| options.to_owned()), limit];
    all.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The error for a time limit of a kernel at the memory level.
fn no_time_limit(file: &str) -> Diagnostic {
    let message = format!(
        "`--time-limit` limits plans of functions of the tensor level, but `{file}` is at the memory level: the work \
         of choosing its `auto` clauses is counted, not timed"
    );
    let fix = "leave `--time-limit` out, or limit the work with `--plan=budget=40000`".to_owned();
    Diagnostic::error("time-limit", Span::default(), message).fix(fix)
}

/// Plans functions of the tensor level. Returns the explanation for the page.
fn functions(
    ctx: &Context,
    module: &mut Module,
    options: &str,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Vec<Diagnostic>> {
    let requested = options.split_whitespace().any(|option| ["explain", "explain=true"].contains(&option));
    let shown = pictures::advised(flags);
    let explain = if shown && !requested { "explain " } else { "" };
    let options = format!("{explain}{}", limited(options, flags));
    let passes = [(PASS, Some(options.trim_end()))];
    let mut report = passes::choose(ctx, module, &registry.passes, &passes)
        .map_err(|findings| console.refuse(findings))?;
    let is_explanation = |finding: &Diagnostic| finding.code == PASS && finding.severity == Severity::Remark;
    let explained =
        report.findings.iter().filter(|finding| shown && is_explanation(finding)).cloned().collect();
    report.findings.retain(|finding| requested || !is_explanation(finding));
    console.passed(&report)?;
    Ok(explained)
}

/// Runs the pass that chooses, if there is one, and those that close the rest.
pub(crate) fn close(
    ctx: &Context,
    module: &mut Module,
    pass: Option<(&str, &str)>,
    registry: &Registry,
    console: &mut Console<'_>,
) -> Outcome<()> {
    let first = pass.map(|(name, options)| (name, Some(options)));
    let passes: Vec<_> = first.into_iter().chain(CLOSING).collect();
    run(ctx, module, &registry.passes, &passes, console)
}

/// The error for a file without a choice that is left.
fn nothing_open(file: &str, level: Level) -> Diagnostic {
    let message = format!(
        "`--plan` closes open choices, but `{file}` has none: it is at the {level} level, and no clause is `auto`"
    );
    let fix = "leave `--plan` out, or write `auto` for the clauses that it should choose; `--schedule` reorders the \
               commands of a kernel that is written in full";
    Diagnostic::error("plan", Span::default(), message).fix(fix.to_owned())
}

/// Erases the functions that the kernel to run does not call: they need no plan.
fn keep_entry(ctx: &Context, module: &mut Module, flags: &Flags, console: &mut Console<'_>) -> Outcome<()> {
    let signature = visa_reference::interface(ctx, module, flags.entry.as_deref());
    let name = signature.map_err(|finding| console.refuse(vec![finding]))?.entry;
    let functions = module.ops(module.body()).iter().filter(|&&id| module.op(ctx, id).is(&FUNC));
    let kernel = functions.copied().find(|&id| declared(module.op(ctx, id)).is_some_and(|own| *own == *name));
    kernel.into_iter().for_each(|kernel| entry::keep(ctx, module, kernel));
    Ok(())
}
