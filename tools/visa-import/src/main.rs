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
    let mut fine = true;
    for error in imported.refused() {
        eprintln!("{error}\n");
        fine = false;
    }
    if imported.kernels.iter().any(|kernel| kernel.text.is_ok()) {
        let text = imported.module();
        match output {
            None => print!("{text}"),
            Some(path) => {
                let written = visa_files::write(&path, None, |file| file.write_all(text.as_bytes()));
                if let Err(why) = written {
                    eprintln!("error: cannot write `{}`: {why}", path.display());
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
