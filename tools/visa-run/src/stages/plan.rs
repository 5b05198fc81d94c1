//! Plan: the kernel with everything closed that is open, at the level at which it is written.

use crate::console::{Console, Outcome};
use crate::flags::Flags;
use crate::stages::close::{inline, run};
use crate::stages::entry;
use crate::{passes, pictures};
use visa_ir::context::{Context, quote};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::Module;
use visa_ir::open::{self, Opening};
use visa_ir::span::Span;
use visa_opt::Registry;
use visa_pass::{Level, Pipeline, Report};

/// The pass that plans functions.
pub(crate) const PASS: &str = "plan-kernel";

/// The pass that chooses the clauses of a kernel within its operations.
const CHOOSES_WITHIN: &str = "select-configs";

/// The statistic of [`PASS`] that counts kernels of the memory level that were planned from their functions.
const FROM_FUNCTION: &str = "from-function";

/// The passes that close the rest after `plan-kernel` or `select-configs`, in their order.
pub(crate) const CLOSING: [(&str, Option<&str>); 4] = closing(Some(""));

/// The closing passes, with the options of `schedule`; `None` leaves it out.
pub(crate) const fn closing(schedule: Option<&str>) -> [(&str, Option<&str>); 4] {
    [
        ("plan-vector", Some("")),
        ("schedule", schedule),
        ("allocate", Some("")),
        ("select-transfers", Some("")),
    ]
}

/// A plan, apart from the kernel.
#[derive(Default)]
pub(crate) struct Planned {
    /// The function of the tensor level that was planned, if it is written there.
    pub(crate) function: Option<Module>,
    /// The explanation, if the page shows it.
    pub(crate) explained: Vec<Diagnostic>,
    /// The kernel is the input, which was written in full, with its addresses and its order closed.
    pub(crate) is_input: bool,
}

/// Plans a kernel with open choices.
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
            let (explained, _) = functions(ctx, module, options, registry, flags, console)?;
            inline(ctx, module, &registry.passes, console)?;
            close(ctx, module, None, registry, console)?;
            Ok(Planned { function: Some(function), explained, is_input: false })
        }
        Level::Memory if open::first(ctx, module, |_| true).is_some() => {
            let is_configuration = |opening| opening == Opening::Configuration;
            if flags.time_limit.is_some() && open::first(ctx, module, is_configuration).is_none() {
                return Err(console.stop_with(no_time_limit(&flags.file)));
            }
            inline(ctx, module, &registry.passes, console)?;
            // Options that `plan-kernel` has not, such as a budget, are about the choice within the operations.
            let text = passes::pipeline_text(&[(PASS, Some(options))]);
            if Pipeline::parse(&text, &registry.passes).is_err() {
                close(ctx, module, Some((CHOOSES_WITHIN, options)), registry, console)?;
                return Ok(Planned::default());
            }
            if let Some(entry) = &flags.entry {
                keep(ctx, module, entry.trim_start_matches('@'));
            }
            let written = module.clone();
            let (explained, from_function) = functions(ctx, module, options, registry, flags, console)?;
            close(ctx, module, None, registry, console)?;
            let function = if from_function && flags.check {
                Some(function(ctx, written, registry, console)?)
            } else {
                None
            };
            Ok(Planned { function, explained, is_input: false })
        }
        level @ (Level::Any | Level::Memory | Level::Sequencer | Level::Hardware) => {
            Err(console.stop_with(nothing_open(&flags.file, level)))
        }
    }
}

/// The options of `plan-kernel`, with the time limit of the flags.
pub(crate) fn limited(options: &str, flags: &Flags) -> String {
    let limit = flags.time_limit.as_ref().map(|limit| format!("time-limit={}", quote(limit)));
    let all = [(!options.is_empty()).then(|| options.to_owned()), limit];
    all.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The error for a time limit of a kernel at the memory level without an open configuration.
fn no_time_limit(file: &str) -> Diagnostic {
    let message = format!(
        "`--time-limit` limits plans of functions of the tensor level, but `{file}` is at the memory level, and only \
         addresses and orders are `auto`: the work of choosing these is counted, not timed"
    );
    let fix = "leave `--time-limit` out, or limit the work with `--plan=budget=40000`".to_owned();
    Diagnostic::error("time-limit", Span::default(), message).fix(fix)
}

/// The function of a kernel, with the axes of each result in the order of the kernel's array.
fn function(
    ctx: &Context,
    mut kernel: Module,
    registry: &Registry,
    console: &mut Console<'_>,
) -> Outcome<Module> {
    run(ctx, &mut kernel, &registry.passes, &[("raise", Some("arrays"))], console)?;
    Ok(kernel)
}

/// Plans the functions of a module, and its kernels with open clauses. Returns the explanation for the page, and true
/// if a kernel was planned from its function.
fn functions(
    ctx: &Context,
    module: &mut Module,
    options: &str,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<(Vec<Diagnostic>, bool)> {
    let requested = options.split_whitespace().any(|option| ["explain", "explain=true"].contains(&option));
    let shown = pictures::advised(flags);
    let explain = if shown && !requested { "explain " } else { "" };
    let options = format!("{explain}{}", limited(options, flags));
    let passes = [(PASS, Some(options.trim_end()))];
    let mut report = passes::choose(ctx, module, &registry.passes, &passes)
        .map_err(|findings| console.refuse(findings))?;
    let is_explanation = |finding: &Diagnostic| {
        finding.severity == Severity::Remark && [PASS, CHOOSES_WITHIN].contains(&finding.code.as_str())
    };
    let is_shown = |finding: &&Diagnostic| shown && is_explanation(finding) && finding.code == PASS;
    let explained = report.findings.iter().filter(is_shown).cloned().collect();
    report.findings.retain(|finding| requested || !is_explanation(finding));
    console.passed(&report)?;
    Ok((explained, is_from_function(&report)))
}

/// Returns true if a pass planned a kernel of the memory level from its function.
pub(crate) fn is_from_function(report: &Report) -> bool {
    let counted = |(name, count): &(&str, u64)| *name == FROM_FUNCTION && *count > 0;
    report.steps.iter().any(|step| step.statistics.iter().any(counted))
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
    let replan = match level {
        Level::Memory => "plan what it computes with `--plan=replan`, ",
        Level::Any | Level::Tensor | Level::Sequencer | Level::Hardware => "",
    };
    let fix = format!(
        "{replan}leave `--plan` out, or write `auto` for the clauses that it should choose; `--schedule` reorders the \
         commands of a kernel that is written in full"
    );
    Diagnostic::error("plan", Span::default(), message).fix(fix)
}

/// Erases the functions that the kernel to run does not call: they need no plan. Returns its name.
pub(crate) fn keep_entry(
    ctx: &Context,
    module: &mut Module,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<String> {
    let signature = visa_reference::interface(ctx, module, flags.entry.as_deref());
    let name = signature.map_err(|finding| console.refuse(vec![finding]))?.entry;
    keep(ctx, module, &name);
    Ok(name)
}

/// Erases the functions that the kernel `name` does not call, if there is one of this name.
fn keep(ctx: &Context, module: &mut Module, name: &str) {
    let kernel = entry::function(ctx, module, name);
    kernel.into_iter().for_each(|(kernel, _)| entry::keep(ctx, module, kernel));
}
