//! The progress of choosing, on a terminal.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};
use visa_ir::diag::counted;
use visa_select::effort::watch::{Progress, Watch};

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
            Some(progress) if last.get().elapsed() > PATIENCE => {
                shown.set(true);
                last.set(Instant::now());
                format!("\r{}\x1b[K", line(progress))
            }
            None if shown.replace(false) => "\r\x1b[K".to_owned(),
            Some(_) | None => return,
        };
        // A terminal that went away is no reason to stop.
        let _ = io::stderr().write_all(line.as_bytes());
    })
}

/// The text of a progress.
fn line(progress: Progress) -> String {
    match progress {
        Progress::Candidates { done, most } => {
            format!("choosing: {} of at most {most}", counted(done, "candidate"))
        }
        Progress::Plans { step, steps, plans } => {
            format!("planning: step {step} of {steps}, {}", counted(plans, "plan"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_the_unit_of_work() {
        let candidates = Progress::Candidates { done: 1, most: 40 };
        assert_eq!(line(candidates), "choosing: 1 candidate of at most 40");
        let plans = Progress::Plans { step: 2, steps: 3, plans: 257 };
        assert_eq!(line(plans), "planning: step 2 of 3, 257 plans");
    }
}
