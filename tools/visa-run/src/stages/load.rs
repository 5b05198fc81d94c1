//! Load: the machine, the rules and the kernel that the flags name.

use crate::console::{Console, Outcome, Stopped};
use crate::files;
use crate::flags::Flags;
use crate::rust::RustLines;
use std::path::Path;
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

/// Reads the files that the flags name, and gives the entry's name in the text if the flags name it as Rust does.
/// Nothing is read if an output is another file of the run.
pub(crate) fn load(
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<(Loaded, Option<String>)> {
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
    let (source, entry) = match is_rust(&console.io.path(&flags.file)) {
        true => import(registry, flags, console)?,
        false if flags.addresses.is_some() => {
            let message = format!("--addresses is a flag of kernels in Rust, and `{}` is none", flags.file);
            return Err(console.stop("addresses", message));
        }
        false => {
            let source = read_source(console.io, &flags.file);
            (source.map_err(|(source, finding)| console.refuse_about(&source, &[finding]))?, None)
        }
    };
    let loaded = load_module(&ctx, &source, 0..source.text.len());
    console.source = Some(source);
    console.emit(&loaded.findings);
    Ok((Loaded { module: loaded.module.ok_or(Stopped)?, ctx }, entry))
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

/// Returns true for a file of Rust, a crate's folder and its manifest.
fn is_rust(path: &Path) -> bool {
    let is_manifest = path.file_name().is_some_and(|name| name == "Cargo.toml");
    path.extension().is_some_and(|extension| extension == "rs") || is_manifest || path.is_dir()
}

/// The text of kernels that are written in Rust, and the entry's name in it.
fn import(
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<(Source, Option<String>)> {
    let name = &flags.file;
    let addresses = flags.addresses.unwrap_or_default();
    let imported = visa_import::import(&[console.io.path(name)], flags.entry.as_deref(), addresses);
    let mut refused = false;
    for error in imported.refused() {
        let (source, finding) = imported.finding(error);
        console.emit_about(source, &[finding]);
        refused = true;
    }
    if refused {
        return Err(Stopped);
    }
    for (source, note) in imported.notes() {
        console.emit_about(source, &[note]);
    }
    let mut roles = files::roles(flags, &registry.passes, console.io);
    for module in &imported.sources {
        if console.io.path(&module.name) != console.io.path(name) {
            roles.input(format!("{} (a module of {name})", module.name), console.io.path(&module.name));
        }
    }
    distinct(&roles, console)?;
    let source = Source::new(format!("{name} (imported)"), imported.module());
    let entry = imported.entry.clone().filter(|_| flags.entry.is_some());
    console.rust = Some(RustLines::of(imported, &source.text));
    Ok((source, entry))
}
