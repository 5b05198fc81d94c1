//! Plan: the kernel with everything closed that is open, at the level at which it is written.

use crate::console::{Console, Outcome};
use crate::flags::Flags;
use crate::stages::close::{inline, run};
use crate::stages::entry;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_ir::open;
use visa_ir::span::Span;
use visa_ir::symbols::declared;
use visa_mapping::ops::func::FUNC;
use visa_opt::Registry;
use visa_pass::Level;

/// The passes that close the rest after `plan-kernel` or `select-configs`, in their order.
const CLOSING: [(&str, Option<&str>); 4] = [
    ("plan-vector", Some("")),
    ("schedule", Some("")),
    ("allocate", Some("")),
    ("select-transfers", Some("")),
];

/// Plans a kernel. Returns the function of the tensor level that it computes, if it is written there.
pub(crate) fn plan(
    ctx: &Context,
    module: &mut Module,
    options: &str,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Option<Module>> {
    match Level::of(ctx, module) {
        Level::Tensor => {
            keep_entry(ctx, module, flags, console)?;
            let function = module.clone();
            close(ctx, module, ("plan-kernel", Some(options)), registry, console)?;
            Ok(Some(function))
        }
        Level::Memory if open::first(ctx, module, |_| true).is_some() => {
            inline(ctx, module, &registry.passes, console)?;
            close(ctx, module, ("select-configs", Some(options)), registry, console)?;
            Ok(None)
        }
        level @ (Level::Any | Level::Memory | Level::Sequencer | Level::Hardware) => {
            Err(console.stop_with(nothing_open(&flags.file, level)))
        }
    }
}

/// Runs the pass that chooses, and those that close the rest.
fn close(
    ctx: &Context,
    module: &mut Module,
    pass: (&str, Option<&str>),
    registry: &Registry,
    console: &mut Console<'_>,
) -> Outcome<()> {
    let passes: Vec<_> = std::iter::once(pass).chain(CLOSING).collect();
    run(ctx, module, &registry.passes, &passes, console)
}

/// The error for a file without a choice that is left.
fn nothing_open(file: &str, level: Level) -> Diagnostic {
    let message = format!(
        "`--plan` closes open choices, but `{file}` has none: it is at the {level} level, and no clause is `auto`"
    );
    let fix = "leave `--plan` out, or write `auto` for the clauses that it should choose; `--schedule` reorders the \
               commands of a kernel that is written in full";
    Diagnostic::error("plan", Span::default(), message).fix(fix.to_owned())
}

/// Erases the functions that the kernel to run does not call: they need no plan.
fn keep_entry(ctx: &Context, module: &mut Module, flags: &Flags, console: &mut Console<'_>) -> Outcome<()> {
    let signature = visa_reference::interface(ctx, module, flags.entry.as_deref());
    let name = signature.map_err(|finding| console.refuse(vec![finding]))?.entry;
    let functions = module.ops(module.body()).iter().filter(|&&id| module.op(ctx, id).is(&FUNC));
    let kernel = functions.copied().find(|&id| declared(module.op(ctx, id)).is_some_and(|own| *own == *name));
    kernel.into_iter().for_each(|kernel| entry::keep(ctx, module, kernel));
    Ok(())
}
