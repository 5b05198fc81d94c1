//! The command line as a function: a run in a test and a run in a process are the same run.

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use visa_files::{FileRoles, Interrupts, SharedFile};
use visa_ir::diag::visible;

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
        /// Files of Rust; modules that they name are found beside them
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Import this kernel alone, or this function that launches kernels, with these
        #[arg(long)]
        entry: Option<String>,
        /// Write here instead of standard output
        #[arg(short)]
        output: Option<PathBuf>,
    },
}

/// What a run leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The exit code: 0 where all was read, 1 where something was not, 2 for a command line that is none.
    pub code: i32,
    /// What goes to standard output.
    pub stdout: String,
    /// What goes to standard error.
    pub stderr: String,
}

/// Runs on `args` (without the program's name); relative paths start from `folder`.
#[must_use]
pub fn run(args: &[String], folder: &Path, interrupts: Option<&Interrupts>) -> Done {
    let mut done = Done::default();
    let program = std::iter::once("visa-import".to_owned());
    let Command::Rust { files, entry, output } =
        match Args::try_parse_from(program.chain(args.iter().cloned())) {
            Ok(args) => args.command,
            Err(stop) => {
                done.code = stop.exit_code();
                let stream = if stop.use_stderr() { &mut done.stderr } else { &mut done.stdout };
                stream.push_str(&stop.to_string());
                return done;
            }
        };
    let files: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
    if let Some(why) = output.as_deref().and_then(|output| shared(&files, &[], &folder.join(output))) {
        done.stderr.push_str(&why);
        done.code = 1;
        return done;
    }
    let imported = crate::import(&files, entry.as_deref());
    for error in imported.refused() {
        done.stderr.push_str(&visible(&format!("{error}\n\n")));
        done.code = 1;
    }
    for error in &imported.left_out {
        done.stderr.push_str(&visible(&format!("{}\n\n", error.left_out())));
    }
    if !imported.kernels.iter().any(|kernel| kernel.text.is_ok()) {
        return done;
    }
    let text = imported.module();
    let Some(output) = output else { return Done { stdout: text, ..done } };
    if let Some(why) = shared(&files, &imported.sources, &folder.join(&output)) {
        done.stderr.push_str(&why);
        done.code = 1;
        return done;
    }
    let written =
        visa_files::write(&folder.join(&output), interrupts, |file| file.write_all(text.as_bytes()));
    if let Err(why) = written {
        done.stderr.push_str(&visible(&format!("error: cannot write `{}`: {why}\n", output.display())));
        done.code = 1;
    }
    done
}

/// An error if the output is a file of the input: one that is named, or that was read as a module.
fn shared(files: &[PathBuf], modules: &[(Rc<str>, String)], output: &Path) -> Option<String> {
    let mut roles = FileRoles::new("");
    files.iter().for_each(|file| roles.input(file.display().to_string(), file));
    modules.iter().for_each(|(file, _)| roles.input(&**file, &**file));
    roles.output(format!("-o {}", output.display()), output);
    let SharedFile { message, fix } = roles.shared().into_iter().next()?;
    Some(visible(&format!("error[same-file]: {message}\n   = fix: {fix}\n")).into_owned())
}
