//! Closed: a version of a kernel with everything closed, and its report.

use crate::console::{Console, Outcome};
use crate::passes;
use crate::stages::close::inlining;
use crate::stages::cost::price;
use crate::stages::order::{IssueOrder, VENDOR, has_vendor_order};
use crate::stages::plan::{self, Planned};
use crate::stages::versions::Version;
use visa_cost::Each;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_opt::Registry;

/// A version of the kernel, with its clauses closed.
pub(crate) struct Closed {
    pub(crate) module: Module,
    /// The order of its commands.
    pub(crate) order: IssueOrder,
    pub(crate) version: Version,
}

impl Closed {
    /// Keeps this version, the input, instead of `module`.
    pub(crate) fn kept(self, module: &mut Module) -> (Planned, IssueOrder) {
        *module = self.module;
        (Planned { is_input: true, ..Planned::default() }, self.order)
    }
}

/// A kernel with its calls inlined and everything closed, and its report. On a measured machine, a kernel from Rust
/// has the vendor's order; `schedule` has the options for other kernels, `None` for the order of the text. `Err` has
/// the findings of the pass that refuses it.
pub(crate) fn closed(
    ctx: &Context,
    (mut module, entry): (Module, &str),
    schedule: Option<&'static str>,
    registry: &Registry,
    console: &mut Console<'_>,
) -> Outcome<Result<Closed, Vec<Diagnostic>>> {
    let known = &registry.passes;
    let inlining = inlining(ctx, &module);
    let inlined = passes::choose(ctx, &mut module, known, inlining);
    let is_vendors = has_vendor_order(ctx, console);
    let order = match is_vendors {
        true => IssueOrder::Vendor(Box::new(module.clone())),
        false => IssueOrder::AsWritten,
    };
    let closing = plan::closing(if is_vendors { Some(VENDOR) } else { schedule });
    let closed =
        inlined.and_then(|inlined| Ok([inlined, passes::choose(ctx, &mut module, known, &closing)?]));
    let reports = match closed {
        Ok(reports) => reports,
        Err(findings) => return Ok(Err(findings)),
    };
    let priced = price(ctx, module.clone(), known, Some(entry), Each::Nothing);
    let (program, priced) = match priced {
        Ok(priced) => priced,
        Err(findings) => return Ok(Err(findings)),
    };
    reports.iter().try_for_each(|report| console.passed(report))?;
    Ok(Ok(Closed { module, order, version: Version::new(&program, priced.report) }))
}
