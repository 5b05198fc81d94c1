//! `visa-import`: reads kernels that others wrote, and writes them as textual IR.

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Reads kernels that others wrote, and writes them as textual IR.
#[derive(Parser)]
#[command(name = "visa-import", version)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Kernels of the vendor's Rust toolchain: each function that is marked `#[device]`
    Rust {
        /// Files of Rust; modules that they name are found beside them
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Import this kernel alone
        #[arg(long)]
        entry: Option<String>,
        /// Write here instead of standard output
        #[arg(short)]
        output: Option<PathBuf>,
    },
}

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn main() -> ExitCode {
    let Command::Rust { files, entry, output } = Args::parse().command;
    let imported = visa_import::import(&files, entry.as_deref());
    let refused = imported.kernels.iter().filter_map(|kernel| kernel.text.as_ref().err());
    let errors: Vec<_> = imported.errors.iter().chain(refused).collect();
    for error in &errors {
        eprintln!("{error}\n");
    }
    if imported.kernels.iter().any(|kernel| kernel.text.is_ok()) {
        let text = imported.module();
        match output {
            None => print!("{text}"),
            Some(path) => {
                if let Err(why) = std::fs::write(&path, text) {
                    eprintln!("error: cannot write `{}`: {why}", path.display());
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
