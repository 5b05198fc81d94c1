//! Replan: a kernel that is written in full, planned from its function. The faster version remains.

use crate::console::{Console, Outcome};
use crate::flags::Flags;
use crate::passes;
use crate::pictures;
use crate::stages::close::run;
use crate::stages::closed::closed;
use crate::stages::emit_rust::lacking;
use crate::stages::entry;
use crate::stages::order::IssueOrder;
use crate::stages::plan::{self, Planned};
use crate::stages::versions::{Against, Version, Versions, messages};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::Module;
use visa_ir::open::{self, Opening};
use visa_ir::span::Span;
use visa_opt::Registry;
use visa_pass::Level;

/// The option of `plan-kernel` that plans a kernel from its function.
const REPLAN: &str = "replan";

/// The option of `plan-kernel` that plans within the language of the vendor's Rust.
const RUST: &str = "rust";

/// The option of `plan-kernel` and of `raise` that permits any order of sums.
const FREE_SUMS: &str = "free-sums";

/// The code of the remark that compares the versions.
const CODE: &str = "replan";

/// Returns true if a kernel is written in full, and planned all the same: it is in Rust, or the options request it.
pub(crate) fn is_replanned(ctx: &Context, module: &Module, options: &str, console: &Console<'_>) -> bool {
    let is_configuration = |opening| opening == Opening::Configuration;
    let is_closed =
        Level::of(ctx, module) == Level::Memory && open::first(ctx, module, is_configuration).is_none();
    is_closed && (console.rust.is_some() || has_option(options, REPLAN))
}

/// Plans a kernel from its function, and keeps the faster of both. Returns the plan and the order of its commands.
pub(crate) fn replan(
    ctx: &Context,
    module: &mut Module,
    options: &str,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<(Planned, IssueOrder)> {
    let name = plan::keep_entry(ctx, module, flags, console)?;
    let span = entry::function(ctx, module, &name).map_or_else(Span::default, |(_, span)| span);
    let kernel = module.clone();
    let written = closed(ctx, (module.clone(), &name), None, registry, console)?;
    let written = written.map_err(|findings| console.refuse(findings))?;
    let all = plan::limited(&all_options(options, console), flags);
    let report = passes::choose(ctx, module, &registry.passes, &[(plan::PASS, Some(&all))]);
    let mut report = report.map_err(|findings| console.refuse(findings))?;
    let is_planned = plan::is_from_function(&report);
    let is_explanation =
        |finding: &Diagnostic| finding.severity == Severity::Remark && finding.code == plan::PASS;
    let explained: Vec<Diagnostic> =
        report.findings.iter().filter(|finding| is_explanation(finding)).cloned().collect();
    // Decisions are a part of the comparison; the reason for a kernel without a plan is not.
    report.findings.retain(|finding| !(is_planned && is_explanation(finding)));
    console.passed(&report)?;
    if !is_planned {
        return Ok(written.kept(module));
    }
    let planned = match closed(ctx, (module.clone(), &name), Some(""), registry, console)? {
        Ok(planned) => planned,
        Err(findings) => {
            console.emit(&[Against::Plan.refused(CODE, (&name, span), &findings)]);
            return Ok(written.kept(module));
        }
    };
    // A plan that may use what the language lacks is refused at its line instead, when it is written.
    let is_in_rust = has_option(&all, RUST);
    let lacking = if is_in_rust { lacking(ctx, &planned.module, flags, console)? } else { Vec::new() };
    if !lacking.is_empty() {
        console.emit(&[Against::Plan.refused(CODE, (&name, span), &lacking)]);
        return Ok(written.kept(module));
    }
    let version = Version { decisions: messages(explained.clone()), ..planned.version };
    let versions = Versions { kernel: &written.version, plan: &version, against: Against::Plan };
    let remark = versions.comparison(CODE, (&name, span), &|span| console.line(span));
    let is_faster = versions.is_faster();
    console.emit(&[remark]);
    if !is_faster {
        return Ok(written.kept(module));
    }
    *module = planned.module;
    let function = flags.check.then(|| function(ctx, kernel, options, registry, console)).transpose()?;
    let explained = if pictures::advised(flags) { explained } else { Vec::new() };
    Ok((Planned { function, explained, is_input: false }, planned.order))
}

/// The options of `plan-kernel`, with those that the run adds: a kernel from Rust stays within the vendor's language.
fn all_options(options: &str, console: &Console<'_>) -> String {
    let mut all: Vec<&str> = options.split_whitespace().collect();
    let added = [REPLAN, "explain"].into_iter().chain(console.rust.as_ref().map(|_| RUST));
    for option in added {
        if !has_option(options, option) {
            all.push(option);
        }
    }
    all.join(" ")
}

/// Returns true if options have a flag.
fn has_option(options: &str, name: &str) -> bool {
    let is_set = |option: &str| option == name || option.strip_prefix(name) == Some("=true");
    options.split_whitespace().any(is_set)
}

/// The function of a kernel, whose sums have any order if the plan's have.
fn function(
    ctx: &Context,
    mut kernel: Module,
    options: &str,
    registry: &Registry,
    console: &mut Console<'_>,
) -> Outcome<Module> {
    let free = if has_option(options, FREE_SUMS) { " free-sums" } else { "" };
    let raise = format!("reals arrays{free}");
    run(ctx, &mut kernel, &registry.passes, &[("raise", Some(&raise))], console)?;
    Ok(kernel)
}
