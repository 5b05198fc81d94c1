//! A report of a machine that was measured counts in ticks of the device's counter.

use visa_machine::{FIGURES, Measured};

use crate::report::{
    Assumed, Bound, CommandReport, MemoryReport, NoiseReport, Report, Stalls, TimeUnit, Totals,
};

/// Cycles in ticks.
pub(crate) fn ticks(cycles: u64, measured: &Measured) -> u64 {
    (cycles as f64 * measured.ticks_per_cycle.value).round() as u64
}

/// The report with ticks instead of cycles, and with the assumptions that no row fixes.
pub(crate) fn in_ticks(report: Report, measured: &Measured) -> Report {
    let ticks = |cycles: u64| ticks(cycles, measured);
    let totals = totals(report.totals, ticks);
    let share = |[least, most]: [f64; 2]| {
        [least, most].map(|share| (totals.cycles as f64 * (1.0 + share)).round() as u64)
    };
    let [_, apart] = measured.noise.jobs;
    let noise = NoiseReport { jobs: share([-apart, apart]), cold: share(measured.noise.cold) };
    // A schedule has no jobs.
    let noise = (!measured.counts_cycles()).then_some(noise);
    let mut assumptions = report.assumptions;
    assumptions.extend(unfixed(&report.commands, measured));
    Report {
        unit: if measured.counts_cycles() { TimeUnit::Cycle } else { TimeUnit::Tick },
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
