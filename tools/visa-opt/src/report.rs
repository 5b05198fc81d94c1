//! `--timing` and `--pass-statistics`: the statistics of the passes, on standard error.

use std::fmt::Write as _;
use std::time::Duration;
use visa_pass::StepReport;

/// Wall time of reading (parse and verify), of each pass and its phases, and of printing.
#[derive(Default)]
pub(crate) struct Timing {
    pub(crate) read: Duration,
    pub(crate) print: Duration,
}

impl Timing {
    /// The table; passes in the order in which they ran, then the rest (pass manager's verification) and the total.
    pub(crate) fn table(&self, steps: &[StepReport], total: Duration) -> String {
        let mut out = String::from("===- Execution time report -===\n   time (s)  part\n");
        let mut row = |time: Duration, name: &str| {
            let _ = writeln!(out, "{:>11.6}  {name}", time.as_secs_f64());
        };
        row(self.read, "parse and verify");
        for step in steps {
            row(step.elapsed, step.pass.name);
            step.phases.iter().for_each(|(phase, time)| row(*time, &format!("  {phase}")));
            if !step.phases.is_empty() {
                let named = step.phases.iter().map(|(_, time)| *time).sum::<Duration>();
                row(step.elapsed.saturating_sub(named), "  other");
            }
        }
        row(self.print, "print");
        let named = self.read + self.print + steps.iter().map(|step| step.elapsed).sum::<Duration>();
        row(total.saturating_sub(named), "rest");
        row(total, "total");
        out
    }
}

/// The statistics of each pass, in the order in which they ran.
pub(crate) fn statistics(steps: &[StepReport]) -> String {
    let mut out = String::from("===- Pass statistics report -===\n");
    for step in steps {
        let _ = writeln!(out, "{}", step.pass.name);
        for (name, count) in &step.statistics {
            let meaning =
                step.pass.statistics.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text);
            let _ = writeln!(out, "  {count:>10} {name} - {meaning}");
        }
    }
    out
}
