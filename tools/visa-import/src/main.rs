//! `visa-import`: reads kernels that others wrote, and writes them as textual IR.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use visa_files::Interrupts;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = visa_import::run(&args, Path::new(""), Interrupts::catch().ok().as_ref());
    let shown = io::stdout().write_all(done.stdout.as_bytes());
    let shown = shown.and_then(|()| io::stderr().write_all(done.stderr.as_bytes()));
    match (shown, u8::try_from(done.code)) {
        (Ok(()), Ok(code)) => ExitCode::from(code),
        (Err(_), _) | (_, Err(_)) => ExitCode::FAILURE,
    }
}
