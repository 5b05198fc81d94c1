//! The progress of a run, on a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Time of a run before its progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows how many commands of how many are done, on standard error if `wanted` and that is a terminal, in a line
/// that is taken away at the end.
pub(crate) fn on_terminal(wanted: bool) -> impl FnMut(usize, usize) {
    let terminal = wanted && io::stderr().is_terminal();
    let (start, mut shown) = (Instant::now(), false);
    move |done, total| {
        if terminal && (shown || start.elapsed() > PATIENCE) {
            shown = true;
            let end = if done == total { "\r\x1b[K" } else { "" };
            // A terminal that went away is no reason to stop the run.
            let _ = write!(io::stderr(), "\rcommand {done} of {total}{end}");
        }
    }
}
