//! From a program to its report.

use std::collections::{BTreeMap, BTreeSet};

use visa_hw::program::{Command, CommandKind, Program};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_machine::{ASSUMED, Machine, Medium};
use visa_numerics::DType;

use crate::bound::{bound, of_command};
use crate::command::CommandCost;
use crate::indexed;
use crate::known::KnownPrices;
use crate::model::MemoryModel;
use crate::prices::Terms;
use crate::queues::Queues;
use crate::report::{
    Assumed, BoundPart, Busy, CommandReport, ContractionReport, Report, Resource, TimeUnit, Totals,
};
use crate::rows::Rows;
use crate::schedule::scheduled::Scheduled;
use crate::schedule::tally::{Tallies, Tally};
use crate::schedule::{steady, stretch};
use crate::ticks::in_ticks;
use crate::timeline::{Timeline, timeline};
use crate::traffic::Traffic;

/// Prices a verified program on `machine`, its transfers by `model`. The rows that indices choose are taken to be
/// spread over their tables.
///
/// # Errors
/// A transfer for which the model has no price: an address outside of its map of HBM.
pub fn price(program: &Program, machine: &Machine, model: MemoryModel) -> Result<Report, Diagnostic> {
    price_knowing(program, machine, model, &KnownPrices::default())
}

/// As [`price`], with the prices of the transfers of other programs, which it extends. The report is the same.
///
/// # Errors
/// As of [`price`].
pub fn price_knowing(
    program: &Program,
    machine: &Machine,
    model: MemoryModel,
    known: &KnownPrices,
) -> Result<Report, Diagnostic> {
    let terms = (machine, model, &Rows::default());
    priced_knowing(program, terms, Each::Nothing, known).map(|priced| priced.report)
}

/// Output for each run in addition to the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// Nothing: iterations of long loops that repeat are summed up without being scheduled.
    Nothing,
    /// Its place in time. [`MAX_RUNS`](crate::MAX_RUNS) runs can have one.
    Place,
    /// Its place in time, and the memory that it holds.
    PlaceAndMemory,
}

/// A program's price.
#[derive(Clone, Debug)]
pub struct Priced {
    /// Cost of each command, and of all of them together.
    pub report: Report,
    /// The runs that the report is made from, in their places; `None` where [`Each::Nothing`] was wanted of them.
    pub timeline: Option<Timeline>,
}

/// Prices a verified program on `machine`, its transfers by `model`, where indices choose `rows`. Report and timeline
/// are made from the same runs.
///
/// # Errors
/// As of [`price`]; and more runs than can have a place, where one is wanted.
pub fn priced(
    program: &Program,
    machine: &Machine,
    model: MemoryModel,
    rows: &Rows,
    each: Each,
) -> Result<Priced, Diagnostic> {
    priced_knowing(program, (machine, model, rows), each, &KnownPrices::default())
}

fn priced_knowing(
    program: &Program,
    (machine, model, rows): (&Machine, MemoryModel, &Rows),
    each: Each,
    known: &KnownPrices,
) -> Result<Priced, Diagnostic> {
    if let Some(scalar) = program.scalars.first() {
        let message = format!("`{}` has no number yet: prices depend on it", scalar.name);
        return Err(Diagnostic::error("price", scalar.span, message));
    }
    let device = program.device(machine).map_err(|why| Diagnostic::error("price", Span::default(), why))?;
    let machine = &*device;
    known.on(machine);
    let terms = Terms { machine, chips: program.chips, model, rows, known };
    let (tallies, scheduled) = match each {
        Each::Nothing => (tallies(program, terms)?, None),
        Each::Place | Each::PlaceAndMemory => {
            let scheduled = Scheduled::of(program, terms)?;
            (scheduled.tallies(), Some(scheduled))
        }
    };
    let timeline = scheduled.map(|scheduled| timeline(scheduled, machine, each == Each::PlaceAndMemory));
    let totals = totals(&tallies, machine, program.chips);
    let assumptions = assumptions(&tallies, rows);
    let bound = bound(program, machine, model, totals.cycles);
    let report = Report {
        program: program.name.clone(),
        machine: machine.name.clone(),
        memory_model: model.name(),
        chips: program.chips,
        clock_ghz: machine.timing.clock_ghz,
        unit: TimeUnit::Cycle,
        noise: None,
        commands: command_reports(program, &tallies, machine),
        totals,
        bound,
        assumptions,
    };
    let report = match &machine.measured {
        None => report,
        Some(measured) => in_ticks(report, measured),
    };
    Ok(Priced { report, timeline })
}

/// Tallies of the runs of all commands, in their schedule.
fn tallies(program: &Program, terms: Terms<'_>) -> Result<Tallies, Diagnostic> {
    if program.commands.iter().any(|command| matches!(command.kind, CommandKind::Loop(_))) {
        let found = steady::tallies(program, terms)?;
        if !found.may_stall() {
            return Ok(found);
        }
        if let Some(found) = stretch::tallies(program, terms, found.banks_may_stall())? {
            return Ok(found);
        }
    }
    Scheduled::of(program, terms).map(|scheduled| scheduled.tallies())
}

fn command_reports(program: &Program, tallies: &Tallies, machine: &Machine) -> Vec<CommandReport> {
    let commands = program.flat();
    let report = |(&index, tally): (&usize, &Tally)| {
        let (command, _) = commands.get(index)?;
        Some(command_report(index, command, tally, of_command(command, program.chips, machine), machine))
    };
    tallies.0.iter().filter_map(report).collect()
}

fn command_report(
    index: usize,
    command: &Command,
    tally: &Tally,
    (least, peak): (BoundPart, f64),
    machine: &Machine,
) -> CommandReport {
    let work = &tally.work;
    let mut waits = tally.waits.clone();
    waits.sort_by_key(|wait| (wait.command, wait.why));
    let everywhere = Queues::of_all_clusters(machine).are_in(work.queues);
    CommandReport {
        index,
        kind: work.resource,
        clusters: if everywhere { Vec::new() } else { work.queues.clusters() },
        name: command.name.clone(),
        label: work.label.clone(),
        span: work.span,
        engines: work.engines.clone(),
        latency: work.latency,
        cycles: tally.cycles,
        alone: work.cycles,
        queues: work.queues,
        runs: tally.counts.runs,
        bottleneck: work.bottleneck,
        bytes: work.bytes,
        macs: sum(work.macs.values()),
        least,
        peak,
        contraction: contraction(work),
        memory: work.memory.clone(),
        anatomy: machine.measured.is_some().then_some(work.anatomy),
        stalls: tally.counts.stalls.total(),
        stalls_for: tally.counts.stalls,
        error: tally.error,
        start: tally.start,
        end: tally.end,
        waits,
    }
}

fn contraction(work: &CommandCost) -> Option<ContractionReport> {
    let ((trees, macs), reads) = (work.trees?, work.bank_reads?);
    Some(ContractionReport {
        rows: trees.rows,
        all_rows: trees.all_rows,
        share_of_macs: macs as f64 / trees.most_macs.max(1) as f64,
        tree_levels: trees.depth,
        tree_cycles: trees.latency,
        reads: reads.reads,
        misses: reads.misses,
    })
}

fn totals(tallies: &Tallies, machine: &Machine, chips: usize) -> Totals {
    let cycles = tallies.0.values().map(|tally| tally.end).max().unwrap_or(0);
    let mut by_format: BTreeMap<DType, u64> = BTreeMap::new();
    let mut bytes = Traffic::default();
    for Tally { work, counts, .. } in tallies.0.values() {
        for (&dtype, &macs) in &work.macs {
            let sum = by_format.entry(dtype).or_default();
            *sum = sum.saturating_add(macs.saturating_mul(counts.runs));
        }
        bytes = bytes.plus(work.bytes.times(counts.runs));
    }
    let macs = sum(by_format.values());
    let hbm_bytes = bytes.of(Medium::Hbm).both();
    Totals {
        cycles,
        around: 0,
        microseconds: cycles as f64 / (machine.timing.clock_ghz * 1e3),
        busy: Resource::ALL.map(|resource| busy(tallies, resource, machine)).to_vec(),
        dma_queues: dma_queues(tallies, machine),
        macs,
        share_of_peak: share_of_peak(&by_format, cycles, machine, chips),
        bytes,
        operations_per_hbm_byte: (hbm_bytes > 0).then(|| 2.0 * macs as f64 / hbm_bytes as f64),
    }
}

/// Busy time of a resource; for the DMA that of its busiest queue.
fn busy(tallies: &Tallies, resource: Resource, machine: &Machine) -> Busy {
    let cycles = match resource {
        Resource::Main => queue_busy(tallies, Queues::MAIN),
        Resource::Sub => queue_busy(tallies, Queues::SUB),
        Resource::Dual => queue_busy(tallies, Queues::MAIN.and(Queues::SUB)),
        Resource::Pcie => queue_busy(tallies, Queues::PCIE),
        Resource::Dma => dma_queues(tallies, machine).into_iter().fold(0, u64::max),
    };
    Busy { resource, cycles }
}

/// Busy time of the DMA queue of each cluster.
fn dma_queues(tallies: &Tallies, machine: &Machine) -> Vec<u64> {
    let clusters = Queues::of_all_clusters(machine).clusters().into_iter();
    clusters.map(|cluster| queue_busy(tallies, Queues::of_cluster(cluster))).collect()
}

/// Cycles of the commands that take all of some queues.
fn queue_busy(tallies: &Tallies, queues: Queues) -> u64 {
    let own = tallies.0.values().filter(|tally| queues.are_in(tally.work.queues));
    sum(own.map(|tally| &tally.counts.cycles))
}

/// Cycles that the multiply-accumulates would take at full rate, over the cycles that the program takes.
fn share_of_peak(macs: &BTreeMap<DType, u64>, cycles: u64, machine: &Machine, chips: usize) -> Option<f64> {
    let at_full_rate = macs.iter().map(|(&dtype, &macs)| {
        let peak = machine.peak_operations_per_cycle(dtype)? as f64;
        Some(2.0 * macs as f64 / peak)
    });
    let available = cycles as f64 * chips as f64;
    let needed = at_full_rate.sum::<Option<f64>>()?;
    (!macs.is_empty() && available > 0.0).then(|| needed / available)
}

/// The assumed fields of the machine description that prices of these commands are made of.
fn assumptions(tallies: &Tallies, rows: &Rows) -> Vec<Assumed> {
    let fields: BTreeSet<&str> =
        tallies.0.values().flat_map(|tally| tally.work.assumed.iter().copied()).collect();
    let is_used = |field: &str| fields.contains(field);
    let all = ASSUMED.iter().chain(visa_memory::detailed::ASSUMED).chain(indexed::ASSUMED);
    let used = all.filter(|assumption| is_used(assumption.field));
    let mut found: Vec<Assumed> =
        used.map(|assumption| Assumed { field: assumption.field, why: assumption.why.to_owned() }).collect();
    if is_used(indexed::ROWS) {
        found.push(Assumed { field: indexed::ROWS, why: rows.assumed.assumption() });
    }
    found
}

fn sum<'a>(values: impl Iterator<Item = &'a u64>) -> u64 {
    values.fold(0, |sum, &value| sum.saturating_add(value))
}
