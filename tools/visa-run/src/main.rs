//! `visa-run`: runs, checks and prices a kernel.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long a run may take before its progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Most of the time of choosing goes into small mappings that come and go.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let terminal = std::io::stderr().is_terminal();
    let start = Instant::now();
    let mut shown = false;
    let mut progress = |done, total| {
        if terminal && (shown || start.elapsed() > PATIENCE) {
            shown = true;
            let end = if done == total { "\r\x1b[K" } else { "" };
            // A terminal that went away is no reason to stop the run.
            let _ = write!(std::io::stderr(), "\rcommand {done} of {total}{end}");
        }
    };
    visa_opt::process(|args, io| visa_run::run_with_progress(args, io, &mut progress))
}
