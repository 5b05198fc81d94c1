//! Choose: the kernel with its calls inlined and its open clauses closed, if the flags request that.

use crate::console::{Console, Outcome};
use crate::flags::Flags;
use crate::passes::{self, Refused};
use crate::relabelled::{Relabelled, relabelled};
use crate::stages::load::Loaded;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_mapping::ops::call::calling;
use visa_opt::Registry;
use visa_pass::{Level, Pass};

/// A kernel whose clauses are chosen.
pub(crate) struct Chosen {
    pub(crate) ctx: Context,
    pub(crate) module: Module,
    /// The kernel before the passes of `--pass-pipeline`, if its mappings are asked for again.
    pub(crate) logical: Option<Module>,
    /// The dimensions that it relabels.
    pub(crate) relabelled: Vec<Relabelled>,
}

/// Inlines, chooses, and runs the passes that the flags name.
pub(crate) fn choose(
    loaded: Loaded,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Chosen> {
    let Loaded { ctx, mut module } = loaded;
    inline(&ctx, &mut module, &registry.passes, console)?;
    let asked = [
        ("select-configs", flags.select_configs.as_deref()),
        ("schedule", flags.schedule.as_deref()),
        ("allocate", flags.allocate.then_some("")),
        ("select-transfers", flags.select_transfers.then_some("")),
    ];
    run(&ctx, &mut module, &registry.passes, &asked, console)?;
    let relabelled = relabelled(&ctx, &module);
    let logical = (flags.check || flags.shadow).then(|| module.clone());
    check_level(&ctx, &module, flags, console)?;
    pass_pipeline(&ctx, &mut module, registry, flags, console)?;
    Ok(Chosen { ctx, module, logical, relabelled })
}

/// Puts functions in place of their calls: their open clauses are chosen for each call.
fn inline(
    ctx: &Context,
    module: &mut Module,
    known: &[&'static Pass],
    console: &mut Console<'_>,
) -> Outcome<()> {
    if !module.walk_all().into_iter().any(|id| calling(module.op(ctx, id)).is_some()) {
        return Ok(());
    }
    run(ctx, module, known, &[("inline", Some(""))], console)
}

fn run(
    ctx: &Context,
    module: &mut Module,
    known: &[&'static Pass],
    asked: &[(&str, Option<&str>)],
    console: &mut Console<'_>,
) -> Outcome<()> {
    let report = passes::choose(ctx, module, known, asked).map_err(|findings| console.refuse(findings))?;
    console.passed(&report)
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
