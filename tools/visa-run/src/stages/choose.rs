//! Choose: the kernel with its calls inlined and its open clauses closed, if the flags request that.

use crate::console::{Console, Outcome};
use crate::flags::Flags;
use crate::passes::{self, Refused};
use crate::relabelled::{Relabelled, relabelled};
use crate::stages::close::{inline, run};
use crate::stages::emit_rust::{RustFile, rust_file};
use crate::stages::load::Loaded;
use crate::stages::order::{IssueOrder, order};
use crate::stages::plan::{self, Planned};
use crate::stages::replan::{is_replanned, replan};
use crate::stages::reselect::{is_reselected, reselect};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::Module;
use visa_ir::open::{self, Opening};
use visa_ir::print::{Form, print};
use visa_opt::Registry;
use visa_pass::Level;

/// A kernel whose clauses are chosen.
pub(crate) struct Chosen {
    pub(crate) ctx: Context,
    pub(crate) module: Module,
    /// The kernel before the passes of `--pass-pipeline`, if its mappings are asked for again.
    pub(crate) logical: Option<Module>,
    /// The function of the tensor level that was planned, if results are compared with it.
    pub(crate) function: Option<Module>,
    /// The explanation of the plan, if the page shows it.
    pub(crate) explained: Vec<Diagnostic>,
    /// With `--advise`, the kernel whose function is planned: the input, before its loops are scheduled.
    pub(crate) written: Option<Module>,
    /// The dimensions that it relabels.
    pub(crate) relabelled: Vec<Relabelled>,
    /// The order of its commands.
    pub(crate) order: IssueOrder,
    /// The file of `--emit-rust`, to write once all checks hold.
    pub(crate) rust_file: Option<RustFile>,
}

/// Inlines, chooses, and runs the passes that the flags name.
pub(crate) fn choose(
    loaded: Loaded,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Chosen> {
    let Loaded { ctx, mut module } = loaded;
    let input = flags.advise.then(|| module.clone());
    let (planned, order) = match &flags.plan {
        Some(options) if is_replanned(&ctx, &module, options, console) => {
            replan(&ctx, &mut module, options, registry, flags, console)?
        }
        Some(options) => {
            let planned = plan::plan(&ctx, &mut module, options, registry, flags, console)?;
            (planned, IssueOrder::default())
        }
        None if is_reselected(&ctx, &module, flags, console) => {
            reselect(&ctx, &mut module, registry, flags, console)?
        }
        None => (Planned::default(), close(&ctx, &mut module, registry, flags, console)?),
    };
    emit(&ctx, &module, flags, console)?;
    let rust_file = rust_file(&ctx, &module, planned.is_input, flags, console)?;
    let (function, explained) = (planned.function.filter(|_| flags.check), planned.explained);
    let relabelled = relabelled(&ctx, &module);
    let is_configuration = |opening| opening == Opening::Configuration;
    let is_complete = |input: &Module| open::first(&ctx, input, is_configuration).is_none();
    let written = input.map(|input| if is_complete(&input) { input } else { module.clone() });
    let logical = (flags.check || flags.shadow).then(|| module.clone());
    check_level(&ctx, &module, flags, console)?;
    pass_pipeline(&ctx, &mut module, registry, flags, console)?;
    Ok(Chosen { ctx, module, logical, function, explained, written, relabelled, order, rust_file })
}

/// Inlines, and closes open clauses by the passes that the flags name.
fn close(
    ctx: &Context,
    module: &mut Module,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<IssueOrder> {
    inline(ctx, module, &registry.passes, console)?;
    let asked = [("select-configs", flags.select_configs.as_deref())];
    run(ctx, module, &registry.passes, &asked, console)?;
    let order = order(ctx, module, registry, flags, console)?;
    let allocates = flags.allocate || allocates_unasked(ctx, module, flags, console);
    let asked =
        [("allocate", allocates.then_some("")), ("select-transfers", flags.select_transfers.then_some(""))];
    run(ctx, module, &registry.passes, &asked, console)?;
    Ok(order)
}

/// Returns true if a kernel in Rust has open addresses that no other flag closes, and notes that they are chosen.
fn allocates_unasked(ctx: &Context, module: &Module, flags: &Flags, console: &mut Console<'_>) -> bool {
    let is_address = |opening| opening == Opening::Address;
    let is_rust = console.rust.is_some();
    let chosen = is_rust && flags.pass_pipeline.is_none() && open::first(ctx, module, is_address).is_some();
    if chosen {
        let message = "the open addresses of a kernel in Rust are chosen as `--allocate` does";
        console.note(Severity::Remark, "allocate", message);
    }
    chosen
}

/// Writes the kernel to the file of `--emit`.
fn emit(ctx: &Context, module: &Module, flags: &Flags, console: &mut Console<'_>) -> Outcome<()> {
    let Some(name) = &flags.emit else { return Ok(()) };
    let written = console.io.write(name, print(ctx, module, Form::Pretty).as_bytes());
    console.written(name, written)
}

/// `--check` needs the mappings, which only the memory level has.
fn check_level(ctx: &Context, module: &Module, flags: &Flags, console: &mut Console<'_>) -> Outcome<()> {
    let level = Level::of(ctx, module);
    if flags.check && level > Level::Memory {
        let message =
            format!("--check compares with the kernel's mappings, but the file is at the {level} level");
        return Err(console.stop("check", message));
    }
    Ok(())
}

/// Runs the passes of `--pass-pipeline`.
pub(crate) fn pass_pipeline(
    ctx: &Context,
    module: &mut Module,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<()> {
    let Some(text) = &flags.pass_pipeline else { return Ok(()) };
    let report = passes::run(ctx, module, &registry.passes, text).map_err(|refused| match refused {
        Refused::Kernel(findings) => console.refuse(findings),
        Refused::Pipeline(source, findings) => console.refuse_about(&source, &findings),
    })?;
    console.passed(&report)
}
