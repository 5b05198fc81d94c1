//! The cost of a kernel without open configurations: it is allocated, lowered and priced as a whole.

use std::convert::Infallible;
use visa_allocate::passes::allocate;
use visa_cost::{KnownPrices, MemoryModel, Report};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::Module;
use visa_ir::span::Span;
use visa_lowering::passes::{lower_to_hw, lower_to_seq};
use visa_machine::Machine;
use visa_pass::{Options, Pass, PassCx};
use visa_vector::passes::plan_vector;

/// The module with its expressions planned and its addresses chosen.
///
/// # Errors
/// The error of a tensor that does not fit.
pub fn allocated(ctx: &Context, module: &Module) -> Result<Module, Diagnostic> {
    run(ctx, module.clone(), &[&plan_vector::PASS, &allocate::PASS])
}

/// The report of a kernel whose addresses are chosen, started with 0 for each scalar; `name` is needed where the
/// module has several.
///
/// # Errors
/// That it cannot be lowered, or has no price.
pub fn report(ctx: &Context, allocated: Module, name: Option<&str>) -> Result<Report, Diagnostic> {
    let Ok(known) = ctx.once::<_, _, Infallible>(Shared, || Ok(KnownPrices::default()));
    report_on(ctx, allocated, name, &ctx.data::<Machine>(), &known)
}

/// The same with the times of `machine`, which has the limits of the context's machine.
///
/// # Errors
/// That it cannot be lowered, or has no price.
pub fn report_on(
    ctx: &Context,
    allocated: Module,
    name: Option<&str>,
    machine: &Machine,
    known: &KnownPrices,
) -> Result<Report, Diagnostic> {
    let lowered = run(ctx, allocated, &[&lower_to_seq::PASS, &lower_to_hw::PASS])?;
    let program = visa_hw::compile(ctx, &lowered, name).map_err(first)?;
    let program = visa_cost::with_table_loads(program.started_first(), machine);
    visa_cost::price_knowing(&program, machine, *ctx.data::<MemoryModel>(), known)
}

/// The question for the prices of transfers that all kernels of a context share.
#[derive(PartialEq, Eq, Hash)]
struct Shared;

fn run(ctx: &Context, mut module: Module, passes: &[&'static Pass]) -> Result<Module, Diagnostic> {
    for pass in passes {
        let options = Options::defaults(pass.options);
        (pass.run)(&mut PassCx::new(ctx, &mut module, &options)).map_err(first)?;
    }
    Ok(module)
}

/// The first error of some findings.
#[must_use]
pub fn first(findings: Vec<Diagnostic>) -> Diagnostic {
    let none = || Diagnostic::error("price", Span::default(), "refused without a reason");
    findings.into_iter().find(|finding| finding.severity == Severity::Error).unwrap_or_else(none)
}
