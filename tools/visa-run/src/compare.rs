//! `--compare`: the prediction next to the device's trace or the vendor's schedule.

mod align;
mod foreign;
mod schedule;
mod table;
mod trace;

pub(crate) use align::{Aligned, align};
pub(crate) use foreign::{Foreign, Kind, Ours};
pub(crate) use table::{Comparison, LEAST_COMPARED, LEAST_ORDERED, text};

use std::collections::{BTreeMap, BTreeSet};
use table::Pair;
use visa_cost::{CommandReport, Report, Sample, Start, TimeUnit, Timeline, fit};
use visa_hw::program::{Command, CommandKind, Program};
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

/// The warning for a log without some of the chip's clusters.
pub(crate) fn missing_clusters(foreign: &Foreign, machine: &Machine) -> Option<String> {
    let found: BTreeSet<u64> = foreign.entries.iter().filter_map(|entry| entry.cluster).collect();
    let lacking: Vec<String> = (0..machine.topology.clusters_per_chip)
        .filter(|cluster| !found.contains(cluster))
        .map(|cluster| cluster.to_string())
        .collect();
    (!found.is_empty() && !lacking.is_empty()).then(|| {
        format!(
            "{} has no span of cluster {}: the times of the others count for it",
            foreign.what,
            lacking.join(" and ")
        )
    })
}

/// The commands of the device as they run.
pub(crate) fn ours(
    (report, program): (&Report, &Program),
    timeline: &Timeline,
    machine: &Machine,
    place: impl Fn(Span) -> Option<(String, usize)>,
) -> Vec<Ours> {
    let (commands, flat) = (by_number(report), program.flat());
    let per_cluster = machine.topology.slices_per_cluster.max(1);
    // The place of each run in the list, for the runs that read its result.
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for (number, run) in timeline.runs.iter().enumerate() {
        let Some(command) = commands.get(&run.command) else { continue };
        let Some(kind) = Kind::of(command) else { continue };
        numbers.insert(number, all.len());
        let sources = timeline.sources.get(number).into_iter().flatten();
        all.push(Ours {
            run: number,
            command: run.command,
            name: command.name.clone(),
            kind,
            queue: command.kind,
            clusters: timeline
                .slices
                .get(number)
                .map(|slices| slices.start / per_cluster..slices.end.div_ceil(per_cluster)),
            plain: flat.get(run.command).is_some_and(|(command, _)| is_plain(command)),
            sources: sources.filter_map(|source| numbers.get(source).copied()).collect(),
            start: run.start,
            end: run.end,
            place: place(command.span),
        });
    }
    all
}

/// Returns true if a run has a fetch, a collector and a store alone, and converts nothing.
fn is_plain(command: &Command) -> bool {
    match &command.kind {
        CommandKind::Exec(exec) => {
            exec.stages.len() == 3 && !exec.stages.iter().any(|stage| stage.converts())
        }
        CommandKind::Loop(_) | CommandKind::Launch(_) | CommandKind::Dma(_) | CommandKind::Indexed(_) => {
            false
        }
    }
}

/// The commands by their numbers, which occurrences and pairs have.
fn by_number(report: &Report) -> BTreeMap<usize, &CommandReport> {
    report.commands.iter().map(|command| (command.index, command)).collect()
}

/// Least probability of a pair whose time counts for a fit.
const LEAST_SURE: f64 = 0.5;

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
    let told = found.commands.iter().filter(|pair| pair.ratio.is_some() && pair.sure >= LEAST_SURE);
    let samples: Vec<Sample> = told.filter_map(sample).collect();
    let tick = found.unit == TimeUnit::Tick;
    let best = fit(&samples, (measured, Start::Sample), tick, from).map_err(|why| why.to_string())?;
    let value =
        Machine { name: format!("{}, fitted", machine.name), measured: Some(best), ..machine.clone() };
    serde_json::to_string_pretty(&value).map(|text| text + "\n").map_err(|why| why.to_string())
}
