//! A report of a machine that was measured counts in ticks of the device's counter.

use visa_machine::{FIGURES, Measured};

use crate::parallel;
use crate::report::{
    Assumed, Bound, CommandReport, MemoryReport, NoiseReport, Report, Stalls, TimeUnit, Totals, Why,
};

/// Cycles in ticks.
pub(crate) fn ticks(cycles: u64, measured: &Measured) -> u64 {
    (cycles as f64 * measured.ticks_per_cycle.value).round() as u64
}

/// The report with ticks instead of cycles, and with the assumptions that no row fixes.
pub(crate) fn in_ticks(report: Report, measured: &Measured) -> Report {
    let ticks = |cycles: u64| ticks(cycles, measured);
    let totals = totals(report.totals, ticks);
    let around = measured.syncs.as_ref().map_or(0, |syncs| syncs.kernel.round() as u64);
    let totals = with_time_around(totals, around, report.clock_ghz, measured);
    let [sooner, later] = syncs(&report.commands, measured);
    let range = |[least, most]: [f64; 2]| {
        let cycles = totals.cycles as f64;
        [cycles * (1.0 + least) - sooner, cycles * (1.0 + most) + later].map(|ticks| ticks.round() as u64)
    };
    let [_, apart] = measured.noise.jobs;
    let noise = NoiseReport { jobs: range([-apart, apart]), cold: range(measured.noise.cold) };
    // A schedule has no jobs.
    let noise = (!measured.counts_cycles()).then_some(noise);
    let mut assumptions = report.assumptions;
    assumptions.extend(unfixed(&report.commands, measured));
    let in_parallel = parallel::in_parallel(&report.commands, measured);
    let noise = noise.map(|noise| parallel::widened(noise, in_parallel.as_ref()));
    assumptions.extend(in_parallel.map(|found| found.assumption()));
    Report {
        unit: TimeUnit::of_measured(measured),
        noise,
        commands: report.commands.into_iter().map(|command| one(command, ticks, measured)).collect(),
        bound: Bound {
            cycles: ticks(report.bound.cycles),
            parts: report
                .bound
                .parts
                .into_iter()
                .map(|part| crate::report::BoundPart { cycles: ticks(part.cycles), ..part })
                .collect(),
            ..report.bound
        },
        totals,
        assumptions,
        ..report
    }
}

/// The figures that no measured row fixes and that prices rest on.
fn unfixed(commands: &[CommandReport], measured: &Measured) -> Vec<Assumed> {
    let figures = measured.figures();
    let anatomies = || commands.iter().filter_map(|command| command.anatomy);
    let used = |number: usize| anatomies().any(|anatomy| anatomy.figures().contains(&number));
    let all = FIGURES.into_iter().zip(figures).enumerate();
    let unfixed = all.filter(|(number, (_, figure))| figure.rows == 0 && used(*number));
    unfixed.map(|(_, (field, figure))| Assumed { field, why: figure.source.clone() }).collect()
}

/// The totals with the time before the first command and after the last one.
fn with_time_around(totals: Totals, around: u64, clock_ghz: f64, measured: &Measured) -> Totals {
    let microseconds = around as f64 / measured.ticks_per_cycle.value / (clock_ghz * 1e3);
    Totals {
        cycles: totals.cycles.saturating_add(around),
        around,
        microseconds: totals.microseconds + microseconds,
        ..totals
    }
}

/// Ticks by which the total may be shorter and longer, as clusters wait for each other for other times than their
/// median: for each transfer that waits for that.
fn syncs(commands: &[CommandReport], measured: &Measured) -> [f64; 2] {
    let [least, median, most] = measured.syncs.as_ref().map_or([0.0; 3], |syncs| syncs.reload);
    let waits = |command: &&CommandReport| command.waits.iter().any(|wait| wait.why == Why::Sync);
    let count = commands.iter().filter(waits).map(|command| command.runs).sum::<u64>() as f64;
    [count * (median - least), count * (most - median)]
}

fn totals(totals: Totals, ticks: impl Fn(u64) -> u64) -> Totals {
    Totals {
        cycles: ticks(totals.cycles),
        busy: totals
            .busy
            .into_iter()
            .map(|busy| crate::report::Busy { cycles: ticks(busy.cycles), ..busy })
            .collect(),
        dma_queues: totals.dma_queues.into_iter().map(ticks).collect(),
        ..totals
    }
}

fn one(command: CommandReport, ticks: impl Fn(u64) -> u64 + Copy, measured: &Measured) -> CommandReport {
    let Stalls { register_file, banks, hbm } = command.stalls_for;
    CommandReport {
        engines: command
            .engines
            .into_iter()
            .map(|engine| crate::report::EngineCycles { cycles: ticks(engine.cycles), ..engine })
            .collect(),
        latency: ticks(command.latency),
        cycles: ticks(command.cycles),
        alone: ticks(command.alone),
        memory: command.memory.map(|memory| in_memory(memory, ticks)),
        least: crate::report::BoundPart { cycles: ticks(command.least.cycles), ..command.least },
        peak: command.peak * measured.ticks_per_cycle.value,
        stalls: ticks(command.stalls),
        stalls_for: Stalls { register_file: ticks(register_file), banks: ticks(banks), hbm: ticks(hbm) },
        start: ticks(command.start),
        end: ticks(command.end),
        ..command
    }
}

fn in_memory(memory: MemoryReport, ticks: impl Fn(u64) -> u64) -> MemoryReport {
    MemoryReport {
        engines: memory.engines.into_iter().map(&ticks).collect(),
        channels: memory
            .channels
            .into_iter()
            .map(|channel| crate::report::ChannelReport { cycles: channel.cycles.map(&ticks), ..channel })
            .collect(),
        networks: memory.networks.into_iter().map(&ticks).collect(),
        ..memory
    }
}
