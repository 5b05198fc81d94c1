//! The progress of choosing, on a terminal.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};
use visa_ir::diag::counted;
use visa_select::effort::watch::Watch;

/// Time of choosing before its progress is shown, and least time that a progress text stays.
const PATIENCE: Duration = Duration::from_millis(500);

/// A watch that shows progress on standard error, in a line that is taken away at the end; a silent one if
/// standard error is no terminal.
#[must_use]
pub fn on_terminal() -> Watch {
    if !io::stderr().is_terminal() {
        return Watch::default();
    }
    let (last, shown) = (Cell::new(Instant::now()), Cell::new(false));
    Watch::new(move |progress| {
        let line = match progress {
            Some((done, of)) if last.get().elapsed() > PATIENCE => {
                shown.set(true);
                last.set(Instant::now());
                format!("\rchoosing: {} of at most {of}\x1b[K", counted(done, "candidate"))
            }
            None if shown.replace(false) => "\r\x1b[K".to_owned(),
            Some(_) | None => return,
        };
        // A terminal that went away is no reason to stop.
        let _ = io::stderr().write_all(line.as_bytes());
    })
}
