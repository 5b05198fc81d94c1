//! What a kernel takes: its cycles where it is allocated and lowered, and the cycles of each command by itself.

use std::collections::HashMap;
use visa_allocate::passes::allocate;
use visa_cost::{MemoryModel, Report, Resource, Rows, price_with_rows};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_ir::span::Span;
use visa_ir::verify::{has_errors, verify};
use visa_lowering::passes::{lower_to_hw, lower_to_seq};
use visa_machine::Machine;
use visa_pass::{Options, PassCx};
use visa_vector::passes::plan_vector;

/// The report of a function.
///
/// # Errors
/// What refuses it: an address that does not fit, tensors that overlap, no price.
pub(crate) fn report(ctx: &Context, module: &Module, name: &str) -> Result<Report, Diagnostic> {
    let mut module = module.clone();
    for pass in [&plan_vector::PASS, &allocate::PASS] {
        run(ctx, &mut module, pass)?;
    }
    let found = verify(ctx, &module);
    if has_errors(&found) {
        return Err(first(found));
    }
    for pass in [&lower_to_seq::PASS, &lower_to_hw::PASS] {
        run(ctx, &mut module, pass)?;
    }
    let program = visa_hw::compile(ctx, &module, Some(name)).map_err(first)?;
    let model = ctx.data::<MemoryModel>();
    price_with_rows(&program.started_first(), &ctx.data::<Machine>(), *model, &Rows::default())
}

fn run(ctx: &Context, module: &mut Module, pass: &'static visa_pass::Pass) -> Result<(), Diagnostic> {
    let options = Options::defaults(pass.options);
    let mut cx = PassCx::new(ctx, module, &options);
    (pass.run)(&mut cx).map_err(first)
}

/// The first error of some findings.
fn first(findings: Vec<Diagnostic>) -> Diagnostic {
    let none = || Diagnostic::error("schedule", Span::default(), "refused without a reason");
    findings
        .into_iter()
        .find(|finding| finding.severity == visa_ir::diag::Severity::Error)
        .unwrap_or_else(none)
}

/// What the command of an operation takes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    pub(crate) resource: Resource,
    pub(crate) cycles: u64,
}

/// What commands take by themselves, by where the operations are that they stand for. Of several cases it is the one
/// that takes longest.
pub(crate) fn times(report: &Report) -> HashMap<Span, Time> {
    let mut times: HashMap<Span, Time> = HashMap::new();
    for command in &report.commands {
        let time =
            Time { resource: command.kind, cycles: command.cycles - command.stalls.min(command.cycles) };
        let known = times.entry(command.span).or_insert(time);
        if known.cycles < time.cycles {
            *known = time;
        }
    }
    times
}
