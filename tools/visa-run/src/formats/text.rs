//! `--report text`: a table for people; without `--report` the results and the total alone.

use super::{Format, Shown};
use crate::check;
use crate::compare;
use crate::data::{self, Summary};
use crate::order_line::OrderLine;
use crate::ports::Port;
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
        if let (Some(compared), Some(report)) = (run.compared, run.report) {
            let commands = &report.commands;
            let span = |command: usize| commands.iter().find(|own| own.index == command).map(|own| own.span);
            let text = compare::text(compared, |command| (run.line)(span(command)?));
            out.push('\n');
            out.push_str(&visible(&text));
        }
        Ok(out)
    }
}

/// A result in a report.
pub(super) struct ResultLine<'a> {
    pub(super) port: &'a Port,
    pub(super) summary: Summary,
    /// Number of undefined elements, if it was evaluated.
    pub(super) undefined: usize,
    /// The file that it was written to.
    pub(super) file: Option<&'a str>,
}

/// The results of a run, in order.
pub(super) fn result_lines<'a>(run: &Shown<'a>) -> Vec<ResultLine<'a>> {
    let Some(ran) = run.ran else { return Vec::new() };
    let line = |port: &'a Port| ResultLine {
        port,
        summary: data::summary(port.dtype, &port.shape, &ran.results[&port.name]),
        undefined: ran.undefined(&port.name),
        file: ran.outputs.get(&port.name).map(String::as_str),
    };
    run.ports.results.iter().map(line).collect()
}

/// A line for each result, and one for the check.
fn results(run: &Shown<'_>) -> String {
    let mut out = String::new();
    let Some(ran) = run.ran else { return out };
    let undefined = |count: u64| if count > 0 { format!(", {count} undefined") } else { String::new() };
    for ResultLine { port, summary, undefined: count, file } in result_lines(run) {
        let content = file.map_or_else(|| summary.to_string(), |file| format!("written to {file}"));
        let undefined = undefined(count as u64);
        out.push_str(&format!("{}: {}, {content}{undefined}\n", port.name, port.dtype));
    }
    if let Some(check) = &ran.check {
        let undefined = undefined(check.undefined);
        let elements = if check.compared == 1 { "element" } else { "elements" };
        out.push_str(&format!(
            "check: {} {elements} compared, {} differ{undefined}\n",
            check.compared, check.mismatches
        ));
        out.extend(check.fast.as_ref().map(ToString::to_string));
    }
    out.extend(ran.plan.as_ref().map(|plan| check::plan_line(plan, &run.ports.kernel)));
    out
}

/// The cost, if there is one: the table, or the total alone.
fn price(run: &Shown<'_>) -> String {
    let Some(report) = run.report else { return String::new() };
    if run.whole {
        let lines: String = run.relabelled.iter().map(relabelled::line).collect();
        let order = run.order.map(OrderLine::text).unwrap_or_default();
        let labels = report.commands.iter().map(|command| command.label.as_str());
        let names = run.names.map(|names| names.line(labels)).unwrap_or_default();
        return report.text(|span| (run.line)(span)) + &order + &names + &lines;
    }
    let order = run.order.map(OrderLine::words).unwrap_or_default();
    format!(
        "{} on {} ({:.1} us){order}\n",
        counted(report.totals.cycles, report.unit.name()),
        report.machine,
        report.totals.microseconds
    )
}
