//! From a program to its report.

use std::collections::{BTreeMap, BTreeSet};

use visa_hw::program::Program;
use visa_ir::diag::Diagnostic;
use visa_machine::{ASSUMED, Machine};
use visa_numerics::DType;

use crate::command::Work;
use crate::conflicts::schedule_with_stalls;
use crate::indexed;
use crate::memory::MemoryModel;
use crate::report::{
    Assumed, Busy, CommandReport, ContractionReport, Report, Resource, Totals, Traffic, Wait,
};
use crate::rows::AssumedRows;
use crate::runs::{Run, Terms, runs};
use crate::schedule::Slot;

/// Prices a verified program on `machine`, its transfers by `model`. The rows that indices choose are taken to be
/// spread over their tables.
///
/// # Errors
/// A transfer for which the model has no price: an address outside of its map of HBM.
pub fn price(program: &Program, machine: &Machine, model: MemoryModel) -> Result<Report, Diagnostic> {
    price_with_rows(program, machine, model, AssumedRows::default())
}

/// The same, where indices choose other rows.
///
/// # Errors
/// As of [`price`].
pub fn price_with_rows(
    program: &Program,
    machine: &Machine,
    model: MemoryModel,
    rows: AssumedRows,
) -> Result<Report, Diagnostic> {
    let mut runs = runs(program, Terms { machine, chips: program.chips, model, rows })?;
    let slots = schedule_with_stalls(&mut runs);
    let totals = totals(&runs, &slots, machine, program.chips);
    let assumptions = assumptions(&runs, rows);
    Ok(Report {
        program: program.name.clone(),
        machine: machine.name.clone(),
        memory_model: model.name(),
        chips: program.chips,
        clock_ghz: machine.timing.clock_ghz,
        commands: command_reports(&runs, &slots),
        totals,
        assumptions,
    })
}

/// A report of each command, in program order.
fn command_reports(runs: &[Run], slots: &[Slot]) -> Vec<CommandReport> {
    let mut reports: Vec<CommandReport> = Vec::new();
    for (run, slot) in runs.iter().zip(slots) {
        let waits = slot.waits.iter().map(|wait| Wait { command: runs[wait.command].command, why: wait.why });
        match reports.get_mut(run.command) {
            None => reports.push(command_report(run, slot, waits.collect())),
            Some(report) => {
                report.runs += 1;
                report.all_cycles = report.all_cycles.saturating_add(run.cycles);
                report.stalls = report.stalls.saturating_add(run.stalls);
                report.end = report.end.max(slot.end);
                for wait in waits {
                    if !report.waits.contains(&wait) {
                        report.waits.push(wait);
                    }
                }
            }
        }
    }
    reports.iter_mut().for_each(|report| report.waits.sort_by_key(|wait| (wait.command, wait.why)));
    reports
}

fn command_report(run: &Run, slot: &Slot, waits: Vec<Wait>) -> CommandReport {
    let work = &run.work;
    CommandReport {
        index: run.command,
        kind: work.resource,
        label: work.label.clone(),
        span: work.span,
        engines: work.engines.clone(),
        latency: work.latency,
        cycles: run.cycles,
        runs: 1,
        all_cycles: run.cycles,
        bottleneck: work.bottleneck,
        bytes: work.bytes,
        macs: sum(work.macs.values()),
        contraction: contraction(work),
        memory: work.memory.clone(),
        stalls: run.stalls,
        start: slot.start,
        end: slot.end,
        waits,
    }
}

fn contraction(work: &Work) -> Option<ContractionReport> {
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

fn totals(runs: &[Run], slots: &[Slot], machine: &Machine, chips: usize) -> Totals {
    let cycles = slots.iter().map(|slot| slot.end).max().unwrap_or(0);
    let mut by_format: BTreeMap<DType, u64> = BTreeMap::new();
    for (&dtype, &macs) in runs.iter().flat_map(|run| &run.work.macs) {
        let sum = by_format.entry(dtype).or_default();
        *sum = sum.saturating_add(macs);
    }
    let macs = sum(by_format.values());
    let bytes = runs.iter().fold(Traffic::default(), |sum, run| sum.plus(run.work.bytes));
    let hbm_bytes = bytes.hbm_read.saturating_add(bytes.hbm_written);
    Totals {
        cycles,
        microseconds: cycles as f64 / (machine.timing.clock_ghz * 1e3),
        busy: Resource::ALL.map(|resource| busy(runs, resource)).to_vec(),
        macs,
        share_of_peak: share_of_peak(&by_format, cycles, machine, chips),
        bytes,
        operations_per_hbm_byte: (hbm_bytes > 0).then(|| 2.0 * macs as f64 / hbm_bytes as f64),
    }
}

fn busy(runs: &[Run], resource: Resource) -> Busy {
    let cycles = runs.iter().filter(|run| run.work.resource == resource).map(|run| &run.cycles);
    Busy { resource, cycles: sum(cycles) }
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
fn assumptions(runs: &[Run], rows: AssumedRows) -> Vec<Assumed> {
    let fields: BTreeSet<&str> = runs.iter().flat_map(|run| run.work.assumed.iter().copied()).collect();
    let is_used = |field: &str| fields.contains(field);
    let all = ASSUMED.iter().chain(visa_memory::detailed::ASSUMED).chain(indexed::ASSUMED);
    let used = all.filter(|assumption| is_used(assumption.field));
    let mut found: Vec<Assumed> =
        used.map(|assumption| Assumed { field: assumption.field, why: assumption.why.to_owned() }).collect();
    if is_used(indexed::ROWS) {
        found.push(Assumed { field: indexed::ROWS, why: rows.assumption() });
    }
    found
}

fn sum<'a>(values: impl Iterator<Item = &'a u64>) -> u64 {
    values.fold(0, |sum, &value| sum.saturating_add(value))
}
