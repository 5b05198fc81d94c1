//! `--report timeline`: a chart in the terminal.

use super::{Format, Shown};

/// Columns of a terminal of unknown width.
const WIDTH: usize = 100;

pub(super) struct Chart;

impl Format for Chart {
    fn name(&self) -> &'static str {
        "timeline"
    }

    fn is_picture(&self) -> bool {
        true
    }

    fn show(&self, run: &Shown<'_>) -> Result<String, (&'static str, String)> {
        let columns = run.width.unwrap_or_else(columns);
        Ok(visa_timeline::gantt::gantt(run.timeline()?, columns))
    }
}

/// Width of the terminal.
fn columns() -> usize {
    terminal_size::terminal_size().map_or(WIDTH, |(width, _)| usize::from(width.0))
}
