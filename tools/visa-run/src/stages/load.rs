//! Load: the machine, the rules and the kernel that the flags name.

use crate::console::{Console, Outcome, Stopped};
use crate::files;
use crate::flags::Flags;
use crate::rust::RustLines;
use visa_files::FileRoles;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::span::Source;
use visa_machine::Machine;
use visa_mapping::GivenSizes;
use visa_opt::progress::on_terminal;
use visa_opt::{Registry, load_config_rules, load_machine, load_module, read_source, shared_files};

/// A kernel as it is written, and everything that passes ask of the context.
pub(crate) struct Loaded {
    pub(crate) ctx: Context,
    pub(crate) module: Module,
}

/// Reads the files that the flags name. Nothing is read if an output is another file of the run.
pub(crate) fn load(registry: &Registry, flags: &Flags, console: &mut Console<'_>) -> Outcome<Loaded> {
    let roles = files::roles(flags, &registry.passes, console.io);
    distinct(&roles, console)?;
    let mut ctx = registry.context().map_err(|findings| console.refuse(findings))?;
    if let Some(machine) = machine(flags, console)? {
        ctx.set_data(machine);
    }
    rules(&mut ctx, flags, console)?;
    ctx.set_data(flags.shared.memory_model);
    ctx.set_data(GivenSizes::parse(&flags.shared.axes).map_err(|error| console.refuse(vec![error]))?);
    if console.io.progress {
        ctx.set_data(on_terminal());
    }
    let source = match flags.file.ends_with(".rs") {
        true => import(registry, flags, console)?,
        false => read_source(console.io, &flags.file)
            .map_err(|(source, finding)| console.refuse_about(&source, &[finding]))?,
    };
    let loaded = load_module(&ctx, &source, 0..source.text.len());
    console.source = Some(source);
    console.emit(&loaded.findings);
    Ok(Loaded { module: loaded.module.ok_or(Stopped)?, ctx })
}

/// Stops where an output is another file of the run.
fn distinct(roles: &FileRoles, console: &mut Console<'_>) -> Outcome<()> {
    let shared = shared_files(roles);
    if shared.is_empty() { Ok(()) } else { Err(console.refuse(shared)) }
}

/// The machine that the flags name; `None` for RNGD as it is.
fn machine(flags: &Flags, console: &mut Console<'_>) -> Outcome<Option<Machine>> {
    let machine = match &flags.shared.machine {
        Some(name) => Some(load_machine(console.io, name).map_err(|finding| console.stop_with(finding))?),
        None => None,
    };
    // The command line takes no other word.
    let order = flags.sum_order.as_deref().and_then(|order| order.parse().ok());
    Ok(match order {
        Some(sum_order) => Some(Machine { sum_order, ..machine.unwrap_or_else(Machine::rngd) }),
        None => machine,
    })
}

/// Gives the context the rules that the flags name.
fn rules(ctx: &mut Context, flags: &Flags, console: &mut Console<'_>) -> Outcome<()> {
    let Some(name) = &flags.shared.rules else { return Ok(()) };
    let rules = load_config_rules(console.io, ctx, name)
        .map_err(|(source, findings)| console.refuse_about(&source, &findings))?;
    ctx.set_data(rules);
    Ok(())
}

/// The text of kernels that are written in Rust.
fn import(registry: &Registry, flags: &Flags, console: &mut Console<'_>) -> Outcome<Source> {
    let name = &flags.file;
    let imported = visa_import::import(&[console.io.path(name)], flags.entry.as_deref());
    let mut refused = false;
    for error in imported.refused() {
        let (source, finding) = imported.finding(error);
        console.emit_about(source, &[finding]);
        refused = true;
    }
    if refused {
        return Err(Stopped);
    }
    let mut roles = files::roles(flags, &registry.passes, console.io);
    for module in &imported.sources {
        if console.io.path(&module.name) != console.io.path(name) {
            roles.input(format!("{} (a module of {name})", module.name), console.io.path(&module.name));
        }
    }
    distinct(&roles, console)?;
    let source = Source::new(format!("{name} (imported)"), imported.module());
    console.rust = Some(RustLines::of(imported));
    Ok(source)
}
