//! The command line as a function: a run in a test and a run in a process are the same run.

use crate::addresses::Addresses;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use visa_files::FileRoles;
use visa_ir::diag::{Diagnostic, visible};
use visa_ir::span::Source;
use visa_opt::{Io, Renderer};

/// Reads kernels that others wrote, and writes them as textual IR.
#[derive(Parser)]
#[command(name = "visa-import", version)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Kernels of the vendor's Rust toolchain: functions that are marked `#[device]`, and those that launch them
    Rust {
        /// Files of Rust; modules that they name are found next to them
        #[arg(required = true)]
        files: Vec<String>,
        /// Import this kernel alone, or this function that launches kernels, with these
        #[arg(long)]
        entry: Option<String>,
        /// Drop the addresses of the files, so that `--allocate` chooses them, or keep them
        #[arg(long, value_name = "TREATMENT", value_enum, default_value_t)]
        addresses: Addresses,
        /// Write here instead of standard output
        #[arg(short)]
        output: Option<String>,
    },
}

/// Runs on `args` (without the program's name). Returns the exit code: 0 if all was read, 1 if something was not, 2
/// for a wrong command line.
pub fn run(args: &[String], io: &mut Io) -> i32 {
    let program = std::iter::once("visa-import".to_owned());
    let Command::Rust { files, entry, addresses, output } =
        match Args::try_parse_from(program.chain(args.iter().cloned())) {
            Ok(args) => args.command,
            Err(stop) => {
                let stream = if stop.use_stderr() { &mut io.stderr } else { &mut io.stdout };
                stream.extend(stop.to_string().into_bytes());
                return stop.exit_code();
            }
        };
    let files: Vec<PathBuf> = files.iter().map(|file| io.path(file)).collect();
    if let Some(output) = &output
        && let Some(finding) = shared(&files, &[], output, io)
    {
        Renderer::Text.emit(io, None, &[finding]);
        return 1;
    }
    let imported = crate::verify::verified(crate::importer::import(&files, entry.as_deref(), addresses));
    let mut code = 0;
    for error in imported.refused() {
        let (source, finding) = imported.finding(error);
        Renderer::Text.emit(io, source, &[finding]);
        code = 1;
    }
    for (source, finding) in imported.notes() {
        Renderer::Text.emit(io, source, &[finding]);
    }
    if !imported.kernels.iter().any(|kernel| kernel.text.is_ok()) {
        return code;
    }
    let text = imported.module();
    if let Some(output) = &output
        && let Some(finding) = shared(&files, &imported.sources, output, io)
    {
        Renderer::Text.emit(io, None, &[finding]);
        return 1;
    }
    if let Err(why) = io.write(output.as_deref().unwrap_or("-"), text.as_bytes()) {
        let output = output.unwrap_or_default();
        io.stderr.extend(visible(&format!("error: cannot write `{output}`: {why}\n")).bytes());
        code = 1;
    }
    code
}

/// An error if the output is a file of the input: one that is named, or that was read as a module.
fn shared(files: &[PathBuf], modules: &[Source], output: &str, io: &Io) -> Option<Diagnostic> {
    let mut roles = FileRoles::new("");
    files.iter().for_each(|file| roles.input(file.display().to_string(), file));
    modules.iter().for_each(|module| roles.input(&*module.name, &*module.name));
    roles.output(format!("-o {output}"), io.path(output));
    visa_opt::shared_files(&roles).into_iter().next()
}
