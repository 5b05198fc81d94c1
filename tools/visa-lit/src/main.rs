//! `visa-lit`: runs the RUN lines of test files.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use visa_files::Interrupts;
use visa_lit::Outcome;

fn failed(message: &str) -> ExitCode {
    // If this fails, there is no reader left; the exit code also reports the failure.
    let _lost = writeln!(io::stderr(), "visa-lit: {message}");
    ExitCode::FAILURE
}

fn main() -> ExitCode {
    let interrupts = match Interrupts::catch() {
        Ok(interrupts) => interrupts,
        Err(why) => return failed(&format!("cannot catch signals: {why}")),
    };
    let args = std::env::args_os().skip(1);
    let Outcome { code, stdout, stderr } =
        visa_lit::run(args, Path::new(""), |suite| suite.interrupts(interrupts));
    if let Err(why) = io::stdout().write_all(&stdout) {
        return failed(&format!("cannot write standard output: {why}"));
    }
    if io::stderr().write_all(&stderr).is_err() {
        return ExitCode::FAILURE;
    }
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}
