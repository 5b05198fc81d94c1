//! `--compare`: the prediction next to the device's trace or the vendor's schedule.

mod align;
mod foreign;
mod schedule;
mod table;
mod trace;

pub(crate) use align::align;
pub(crate) use foreign::{Foreign, Kind, Ours};
pub(crate) use table::{Comparison, text};

use std::collections::BTreeMap;
use table::Pair;
use visa_cost::{CommandReport, Occurrence, Report, Sample, TimeUnit, fit};
use visa_ir::span::Span;
use visa_machine::Machine;

/// Reads a trace or a schedule: the first byte that is no space tells them apart. A byte order mark is skipped.
///
/// # Errors
/// The error in the file, with its line.
pub(crate) fn read(text: &str) -> Result<Foreign, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.trim_start().starts_with('{') {
        true => schedule::read(text),
        false => trace::read(text),
    }
}

/// The error for a price and a file that count in different units.
pub(crate) fn other_unit(ours: TimeUnit, foreign: &Foreign) -> Option<String> {
    (ours != foreign.unit).then(|| {
        let machine = match foreign.unit {
            TimeUnit::Tick => "rngd-silicon",
            TimeUnit::Cycle => "rngd-schedule",
        };
        format!(
            "{} counts {}s, the price {}s: choose `--machine {machine}`",
            foreign.what,
            foreign.unit.name(),
            ours.name()
        )
    })
}

/// The commands of the device as they run.
pub(crate) fn ours(
    report: &Report,
    timeline: &[Occurrence],
    place: impl Fn(Span) -> Option<(String, usize)>,
) -> Vec<Ours> {
    let commands = by_number(report);
    let each = timeline.iter().enumerate().filter_map(|(number, run)| {
        let command = commands.get(&run.command)?;
        let kind = Kind::of(command)?;
        let (clusters, place) = (command.clusters.clone(), place(command.span));
        Some(Ours {
            run: number,
            command: run.command,
            name: command.name.clone(),
            kind,
            clusters,
            start: run.start,
            end: run.end,
            place,
        })
    });
    each.collect()
}

/// The commands by their numbers, which occurrences and pairs have.
fn by_number(report: &Report) -> BTreeMap<usize, &CommandReport> {
    report.commands.iter().map(|command| (command.index, command)).collect()
}

/// A description of `machine` whose figures fit the commands that align, as JSON.
///
/// # Errors
/// A machine without figures to fit, or fewer commands than figures.
pub(crate) fn fitted(
    machine: &Machine,
    from: &str,
    report: &Report,
    found: &Comparison,
) -> Result<String, String> {
    let Some(measured) = &machine.measured else {
        return Err(format!(
            "`{}` has no measured figures to fit: choose `--machine rngd-silicon`",
            machine.name
        ));
    };
    let commands = by_number(report);
    let sample =
        |pair: &Pair| Some(Sample { anatomy: commands.get(&pair.command)?.anatomy?, ticks: pair.theirs });
    let samples: Vec<Sample> = found.commands.iter().filter_map(sample).collect();
    let tick = found.unit == TimeUnit::Tick;
    let best = fit(&samples, measured, tick, from).map_err(|why| why.to_string())?;
    let value =
        Machine { name: format!("{}, fitted", machine.name), measured: Some(best), ..machine.clone() };
    serde_json::to_string_pretty(&value).map(|text| text + "\n").map_err(|why| why.to_string())
}
