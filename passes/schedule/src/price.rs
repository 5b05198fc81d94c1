//! The cost of a function, and of each of its commands by itself.

use std::collections::HashMap;
use std::rc::Rc;
use visa_cost::{KnownPrices, Queues, Report};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId};
use visa_ir::span::Span;
use visa_ir::verify::{has_errors, verify};
use visa_machine::Machine;
use visa_mapping::ops::func::{FUNC, Func};
use visa_select::price::{self, allocated, first};

/// The report of a function.
///
/// # Errors
/// The reason for a refusal: an address that does not fit, tensors that overlap, no cost.
pub(crate) fn report(ctx: &Context, module: &Module, func: OpId) -> Result<Report, Diagnostic> {
    let (name, allocated) = verified(ctx, module, func)?;
    price::report(ctx, allocated, Some(&name))
}

/// The report of a function in the cycles of the vendor's schedules.
///
/// # Errors
/// The reason for a refusal, as in [`report`].
pub(crate) fn vendor_report(ctx: &Context, module: &Module, func: OpId) -> Result<Report, Diagnostic> {
    let (name, allocated) = verified(ctx, module, func)?;
    let machine = ctx.data::<Machine>();
    let schedule = Machine::named(SCHEDULE).ok_or_else(|| unknown(module.op(ctx, func).span()))?;
    let machine = Machine { measured: schedule.measured, ..(*machine).clone() };
    price::report_on(ctx, allocated, Some(&name), &machine, &KnownPrices::default())
}

/// The machine of the vendor's schedules.
const SCHEDULE: &str = "rngd-schedule";

fn unknown(span: Span) -> Diagnostic {
    Diagnostic::error("schedule", span, format!("there is no machine `{SCHEDULE}`"))
}

/// A function's name, and a module in which it is alone, with addresses.
fn verified(ctx: &Context, module: &Module, func: OpId) -> Result<(Rc<str>, Module), Diagnostic> {
    let name = Func::of(module.op(ctx, func))?.name()?;
    let allocated = allocated(ctx, &alone(ctx, module, func))?;
    let found = verify(ctx, &allocated);
    if has_errors(&found) {
        return Err(first(found));
    }
    Ok((name, allocated))
}

/// A module in which a function is alone.
fn alone(ctx: &Context, module: &Module, func: OpId) -> Module {
    let mut alone = module.clone();
    let others = module.ops(module.body()).iter().filter(|&&id| id != func && module.op(ctx, id).is(&FUNC));
    others.for_each(|&id| alone.erase(id));
    alone
}

/// The cost of an operation's command by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    pub(crate) queues: Queues,
    pub(crate) cycles: u64,
}

/// The cost of commands by themselves, by position of their operations. Of several cases, the longest.
pub(crate) fn times(report: &Report) -> HashMap<Span, Time> {
    let mut times: HashMap<Span, Time> = HashMap::new();
    for command in &report.commands {
        let time = Time { queues: command.queues, cycles: command.alone };
        let known = times.entry(command.span).or_insert(time);
        if known.cycles < time.cycles {
            *known = time;
        }
    }
    times
}
