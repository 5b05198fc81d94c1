//! Advise: a kernel that is written in full, compared with the plan of its function.

use crate::console::Console;
use crate::flags::Flags;
use crate::passes;
use crate::pictures::PLAN;
use crate::stages::choose::Chosen;
use crate::stages::compile::Advice;
use crate::stages::cost::{Costed, price};
use crate::stages::versions::{Against, Version, Versions, messages, remark};
use crate::stages::{entry, plan};
use visa_cost::Each;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Note, Severity};
use visa_ir::module::{Module, OpId};
use visa_ir::span::Span;
use visa_opt::Registry;
use visa_pass::Pass;

/// The code of the remarks.
const CODE: &str = "advise";

/// The advice so far, and the kernel whose function is planned.
pub(crate) struct Given {
    pub(crate) advice: Vec<Advice>,
    pub(crate) written: Option<Module>,
}

/// The plan of a kernel's function.
struct Planned {
    version: Version,
    /// The options of `raise` that give this function.
    raise: &'static str,
}

/// The options of `raise`, each of which gives a function: loops over tiles are folded into operations on whole
/// tensors, and results have the axes of the kernel's arrays in order, or those of the function.
const RAISE: [&str; 2] = ["reals arrays", "reals"];

/// The options that give the function with sums in any order, for kernels whose own order has no plan.
const FREE_SUMS: &str = "reals arrays free-sums";

/// The difference of that function from the kernel.
const FREE_ORDER: &str =
    "the order of all sums of `f32` is free: there is no plan in the order of the kernel";

/// The reason why a kernel has no plan to compare with.
struct NoPlan {
    refused: Diagnostic,
    /// The loops that are not folded, each with its reason and position.
    kept: Vec<Note>,
}

impl From<Diagnostic> for Box<NoPlan> {
    fn from(refused: Diagnostic) -> Self {
        Self::new(NoPlan { refused, kept: Vec::new() })
    }
}

/// All advice for the page: that of passes, the explanation of a plan, and with `--advise` the comparison with the
/// plan. With `--advise` it is also written to standard error.
pub(crate) fn advise(
    chosen: &Chosen,
    given: Given,
    costed: &Costed,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Vec<Advice> {
    let mut advice = given.advice;
    advice.extend(chosen.explained.iter().map(|finding| (PLAN, finding.clone())));
    if let Some(written) = given.written {
        let compared = compared(&chosen.ctx, written, costed, registry, flags, console);
        let findings: Vec<Diagnostic> =
            std::iter::once(&compared).chain(advice.iter().map(|(_, finding)| finding)).cloned().collect();
        console.emit(&findings);
        advice.insert(0, (PLAN, compared));
    }
    advice
}

/// The error for a function of the tensor level: it has no clauses that a plan could change.
pub(crate) fn of_function(file: &str) -> Diagnostic {
    let message = format!(
        "`--advise` compares a kernel that is written in full with its plan, but `{file}` is at the tensor level"
    );
    let fix = "plan the function with `--plan=explain`".to_owned();
    Diagnostic::error("advise", Span::default(), message).fix(fix)
}

/// The comparison of a kernel with the plan of its function, or the reason why there is no plan.
fn compared(
    ctx: &Context,
    written: Module,
    costed: &Costed,
    registry: &Registry,
    flags: &Flags,
    console: &Console<'_>,
) -> Diagnostic {
    let name = &costed.program.name;
    let Some((kernel, span)) = entry::function(ctx, &written, name) else {
        let message = format!("no plan to compare with: `@{name}` is at no level with mappings");
        return remark(CODE, Span::default(), message);
    };
    let own = Version::new(&costed.program, costed.report.clone());
    let [arrays, axes] = RAISE.map(|raise| planned(ctx, written.clone(), kernel, raise, &registry.passes));
    let best = match (arrays, axes) {
        (Ok(own), Ok(other)) if other.version.cycles() < own.version.cycles() => Ok(other),
        (Err(_), Ok(other)) => Ok(other),
        (own, Ok(_) | Err(_)) => own,
    };
    let best = best.or_else(|why| {
        let free = planned(ctx, written, kernel, FREE_SUMS, &registry.passes).map_err(|_| why);
        free.map(|mut plan| {
            plan.version.differences.push(FREE_ORDER.to_owned());
            plan
        })
    });
    match best {
        Ok(plan) => {
            let versions = Versions { kernel: &own, plan: &plan.version, against: Against::Plan };
            let remark = versions.comparison(CODE, (name, span), &|span| console.line(span));
            if versions.is_faster() { remark.fix(continuation(&flags.file, plan.raise)) } else { remark }
        }
        Err(why) => without_plan(*why),
    }
}

/// The remark that a kernel has no plan to compare with.
fn without_plan(NoPlan { refused, kept }: NoPlan) -> Diagnostic {
    let no_plan = |why: &str| format!("no plan to compare with: {why}");
    let Some(position) = kept.first().and_then(|note| note.span) else {
        let remark = remark(CODE, refused.span, no_plan(&refused.message));
        return Diagnostic { notes: refused.notes, ..remark }.fix(refused.fix);
    };
    let loops = if kept.len() == 1 { "a loop is" } else { "loops are" };
    let message = no_plan(&format!("{loops} not folded into operations on whole tensors"));
    Diagnostic { notes: kept, ..remark(CODE, position, message) }
        .note(format!("with these loops, {}", refused.message), None)
}

/// The command that writes the plan.
fn continuation(file: &str, raise: &str) -> String {
    format!(
        "continue with the plan: `visa-opt {file} --raise='{raise}' -o F.visa`, then `visa-run F.visa --plan --cost \
         --emit K.visa`"
    )
}

/// The plan of the function that `raise` gives with some options.
///
/// # Errors
/// The reason why the kernel has no function of the tensor level, or that has no plan.
fn planned(
    ctx: &Context,
    mut module: Module,
    kernel: OpId,
    raise: &'static str,
    known: &[&'static Pass],
) -> Result<Planned, Box<NoPlan>> {
    entry::keep(ctx, &mut module, kernel);
    let first = |mut findings: Vec<Diagnostic>| {
        findings.sort_by_key(|finding| finding.severity != Severity::Error);
        let none = || Diagnostic::error("advise", Span::default(), "refused without a reason");
        findings.into_iter().next().unwrap_or_else(none)
    };
    let mut run =
        |asked: &[(&str, Option<&str>)]| passes::choose(ctx, &mut module, known, asked).map_err(first);
    let raised = run(&[("raise", Some(raise))])?;
    let notes = raised.findings.into_iter().flat_map(|finding| finding.notes);
    let (kept, differences): (Vec<Note>, Vec<Note>) = notes.partition(|note| note.span.is_some());
    let planned = run(&[(plan::PASS, Some("explain"))]).and_then(|found| run(&plan::CLOSING).map(|_| found));
    let found = planned.map_err(|refused| Box::new(NoPlan { refused, kept }))?;
    let (program, priced) = price(ctx, module, known, None, Each::Nothing).map_err(first)?;
    let decisions = messages(found.findings);
    let differences = differences.into_iter().map(|note| note.message).collect();
    let version = Version { decisions, differences, ..Version::new(&program, priced.report) };
    Ok(Planned { version, raise })
}
