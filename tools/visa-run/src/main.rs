//! `visa-run`: runs, checks and prices a kernel.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use visa_opt::Io;

/// How long a run may take before its progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Most of the time of choosing goes into small mappings that come and go.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let mut io = Io::process();
    let terminal = std::io::stderr().is_terminal();
    let start = Instant::now();
    let mut shown = false;
    let code = visa_run::run_with_progress(&args, &mut io, &mut |done, total| {
        if terminal && (shown || start.elapsed() > PATIENCE) {
            shown = true;
            let end = if done == total { "\r\x1b[K" } else { "" };
            // A terminal that went away is no reason to stop the run.
            let _ = write!(std::io::stderr(), "\rcommand {done} of {total}{end}");
        }
    });
    io.finish(code)
}
