//! `--report text`: a table for people; without `--report` the results and the total alone.

use super::{Format, Shown};
use crate::buffers::buffers;
use crate::compare;
use crate::data::{self, Summary};
use crate::relabelled;
use visa_ir::diag::{counted, visible};

pub(super) struct Text;

impl Format for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn show(&self, run: &Shown<'_>) -> Result<String, (&'static str, String)> {
        let mut out = results(run);
        out.push_str(&price(run));
        let mut out = visible(&out).into_owned();
        if let Some(compared) = run.compared {
            let commands = &run.report.commands;
            let span = |command: usize| commands.iter().find(|own| own.index == command).map(|own| own.span);
            let text = compare::text(compared, |command| (run.line)(span(command)?));
            out.push('\n');
            out.push_str(&visible(&text));
        }
        Ok(out)
    }
}

/// The results of a run: name, format and summary of each.
pub(super) fn summaries(run: &Shown<'_>) -> Vec<(String, &'static str, Summary)> {
    let Some(ran) = run.ran else { return Vec::new() };
    let summary = |buffer: &visa_hw::program::Buffer| {
        let bytes = &ran.results[&buffer.name];
        (buffer.name.clone(), buffer.dtype.name(), data::summary(buffer.dtype, &buffer.shape, bytes))
    };
    buffers(run.program, false).map(summary).collect()
}

/// A line for each result, and one for the check.
fn results(run: &Shown<'_>) -> String {
    let mut out = String::new();
    let Some(ran) = run.ran else { return out };
    for (name, dtype, summary) in summaries(run) {
        match ran.outputs.get(&name) {
            Some(file) => out.push_str(&format!("{name}: {dtype}, written to {file}\n")),
            None => out.push_str(&format!("{name}: {dtype}, {summary}\n")),
        }
    }
    if let Some(check) = &ran.check {
        let undefined =
            if check.undefined > 0 { format!(", {} undefined", check.undefined) } else { String::new() };
        let elements = if check.compared == 1 { "element" } else { "elements" };
        out.push_str(&format!(
            "check: {} {elements} compared, {} differ{undefined}\n",
            check.compared, check.mismatches
        ));
        out.extend(check.fast.as_ref().map(ToString::to_string));
    }
    out
}

/// The price: the table, or the total alone.
fn price(run: &Shown<'_>) -> String {
    let report = run.report;
    if run.whole {
        let lines: String = run.relabelled.iter().map(relabelled::line).collect();
        return report.text(|span| (run.line)(span)) + &lines;
    }
    format!(
        "{} on {} ({:.1} us)\n",
        counted(report.totals.cycles, report.unit.name()),
        report.machine,
        report.totals.microseconds
    )
}
