//! Advise: a kernel that is written in full, compared with the plan of its function.

use crate::console::Console;
use crate::flags::Flags;
use crate::passes;
use crate::pictures::PLAN;
use crate::stages::choose::Chosen;
use crate::stages::compile::Advice;
use crate::stages::cost::Costed;
use crate::stages::{entry, plan};
use visa_cost::{Components, MemoryModel, Report, price};
use visa_hw::program::{CommandKind, Program};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Note, Severity, counted};
use visa_ir::module::{Module, OpId};
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_mapping::ops::func::Func;
use visa_opt::Registry;
use visa_pass::Pass;

/// The advice so far, and the kernel whose function is planned.
pub(crate) struct Given {
    pub(crate) advice: Vec<Advice>,
    pub(crate) written: Option<Module>,
}

/// A program with its price.
struct Priced {
    report: Report,
    slices: usize,
    /// The decisions of a plan.
    decisions: Vec<String>,
    /// The differences of the planned function from the kernel, by rounding.
    differences: Vec<String>,
    /// The options of `raise` that give this function.
    raise: &'static str,
}

/// The options of `raise`, each of which gives a function: loops over tiles are folded into operations on whole
/// tensors, and results have the axes of the kernel's arrays in order, or those of the function.
const RAISE: [&str; 2] = ["reals arrays", "reals"];

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
        let compared = compared(&chosen.ctx, written, costed, registry, flags);
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
) -> Diagnostic {
    let name = &costed.program.name;
    let Some((kernel, span)) = function(ctx, &written, name) else {
        return remark(
            Span::default(),
            format!("no plan to compare with: `@{name}` is at no level with mappings"),
        );
    };
    let report = costed.report.clone();
    let own = Priced {
        report,
        slices: slices(&costed.program),
        decisions: Vec::new(),
        differences: Vec::new(),
        raise: RAISE[0],
    };
    let [arrays, axes] = RAISE.map(|raise| planned(ctx, written.clone(), kernel, raise, &registry.passes));
    let best = match (arrays, axes) {
        (Ok(own), Ok(other)) if other.report.totals.cycles < own.report.totals.cycles => Ok(other),
        (Err(_), Ok(other)) => Ok(other),
        (own, Ok(_) | Err(_)) => own,
    };
    match best {
        Ok(plan) => comparison(name, span, &own, &plan, &flags.file),
        Err(why) => without_plan(*why),
    }
}

/// The remark that a kernel has no plan to compare with.
fn without_plan(NoPlan { refused, kept }: NoPlan) -> Diagnostic {
    let no_plan = |why: &str| format!("no plan to compare with: {why}");
    let Some(position) = kept.first().and_then(|note| note.span) else {
        let remark = remark(refused.span, no_plan(&refused.message));
        return Diagnostic { notes: refused.notes, ..remark }.fix(refused.fix);
    };
    let loops = if kept.len() == 1 { "a loop is" } else { "loops are" };
    let message = no_plan(&format!("{loops} not folded into operations on whole tensors"));
    Diagnostic { notes: kept, ..remark(position, message) }
        .note(format!("with these loops, {}", refused.message), None)
}

/// The function of a name, and its position.
fn function(ctx: &Context, module: &Module, name: &str) -> Option<(OpId, Span)> {
    let functions = module.ops(module.body()).iter().filter_map(|&id| Func::cast(module.op(ctx, id)));
    let mut named = functions.filter(|func| func.name().is_ok_and(|own| *own == *name));
    named.next().map(|func| (func.id, func.span()))
}

fn remark(span: Span, message: String) -> Diagnostic {
    Diagnostic { severity: Severity::Remark, ..Diagnostic::error("advise", span, message) }
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
) -> Result<Priced, Box<NoPlan>> {
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
    let (program, _) = passes::compile(ctx, &mut module, known, None).map_err(first)?;
    let program = program.started_first();
    let report = price(&program, &ctx.data::<Machine>(), *ctx.data::<MemoryModel>())?;
    let messages = |notes: Vec<Note>| notes.into_iter().map(|note| note.message).collect();
    let decisions = messages(found.findings.into_iter().flat_map(|finding| finding.notes).collect());
    let differences = messages(differences);
    Ok(Priced { slices: slices(&program), report, decisions, differences, raise })
}

/// The most slices of a chip that a pipeline uses.
fn slices(program: &Program) -> usize {
    let used = |kind: &CommandKind| match kind {
        CommandKind::Exec(exec) => exec.slices.iter().map(ExactSizeIterator::len).sum(),
        CommandKind::Loop(_) | CommandKind::Launch(_) | CommandKind::Dma(_) | CommandKind::Indexed(_) => 0,
    };
    program.flat().iter().map(|(command, _)| used(&command.kind)).max().unwrap_or_default()
}

/// The difference of a kernel and its plan, the greatest gain first.
fn comparison(name: &str, span: Span, own: &Priced, plan: &Priced, file: &str) -> Diagnostic {
    let unit = own.report.unit.name();
    let (cycles, least) = (own.report.totals.cycles, plan.report.totals.cycles);
    let is_faster = least < cycles;
    let verdict = if is_faster { "" } else { ": no change would bring anything" };
    let message = format!(
        "the plan of what `@{name}` computes takes {}, this kernel {cycles}{verdict}",
        counted(least, unit)
    );
    let mut remark = remark(span, message);
    for line in changes(&own.report, &plan.report) {
        remark = remark.note(line, None);
    }
    remark = remark.note(format!("slices: {} here, {} in the plan", own.slices, plan.slices), None);
    for difference in &plan.differences {
        remark = remark.note(format!("in the function of the plan, {difference}"), None);
    }
    if !is_faster {
        return remark;
    }
    for decision in &plan.decisions {
        remark = remark.note(format!("in the plan, {decision}"), None);
    }
    remark.fix(format!(
        "continue with the plan: `visa-opt {file} --raise='{}' -o F.visa`, then `visa-run F.visa --plan --cost --emit \
         K.visa`",
        plan.raise
    ))
}

/// The components of two reports that differ, the greatest gain first.
fn changes(own: &Report, plan: &Report) -> Vec<String> {
    let [own, plan] = [own, plan].map(|report| Components::of(report).named());
    let pairs = own.into_iter().zip(plan).map(|((name, before), (_, after))| (name, before, after));
    let mut changed: Vec<_> = pairs.filter(|(_, before, after)| before != after).collect();
    changed.sort_by_key(|(_, before, after)| after - before);
    let line = |(name, before, after): &(&str, i128, i128)| {
        format!("{:+} cycles by {name}: {before} here, {after} in the plan", after - before)
    };
    changed.iter().map(line).collect()
}
