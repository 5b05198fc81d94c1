//! From a program to its report.

use std::collections::BTreeMap;

use visa_hw::program::{CommandKind, Program};
use visa_ir::diag::Diagnostic;
use visa_machine::{ASSUMED, Machine};
use visa_numerics::DType;

use crate::command::{Work, exec_work};
use crate::conflicts::schedule_with_stalls;
use crate::indexed::{self, indexed_work};
use crate::memory::MemoryModel;
use crate::report::{Assumed, Busy, CommandReport, ContractionReport, Report, Resource, Totals, Traffic};
use crate::rows::AssumedRows;
use crate::schedule::Slot;
use crate::transfer::dma_work;

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
    let works = program.commands.iter().map(|command| match &command.kind {
        CommandKind::Dma(dma) => dma_work(dma, command.span, machine, program.chips, model),
        CommandKind::Indexed(transfer) => {
            indexed_work(transfer, command.span, machine, program.chips, model, rows)
        }
        CommandKind::Exec(exec) => Ok(exec_work(exec, command.span, machine, program.chips)),
    });
    let mut works = works.collect::<Result<Vec<Work>, _>>()?;
    let slots = schedule_with_stalls(&mut works);
    let totals = totals(&works, &slots, machine, program.chips);
    let assumptions = assumptions(&works, rows);
    let commands = works.into_iter().zip(slots).enumerate();
    Ok(Report {
        program: program.name.clone(),
        machine: machine.name.clone(),
        memory_model: model.name(),
        chips: program.chips,
        clock_ghz: machine.timing.clock_ghz,
        commands: commands.map(|(index, (work, slot))| command_report(index, work, slot)).collect(),
        totals,
        assumptions,
    })
}

fn command_report(index: usize, work: Work, slot: Slot) -> CommandReport {
    let contraction = contraction(&work);
    CommandReport {
        index,
        kind: work.resource,
        label: work.label,
        span: work.span,
        engines: work.engines,
        latency: work.latency,
        cycles: work.cycles,
        bottleneck: work.bottleneck,
        bytes: work.bytes,
        macs: sum(work.macs.values()),
        contraction,
        memory: work.memory,
        stalls: work.stalls,
        start: slot.start,
        end: slot.end,
        waits: slot.waits,
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

fn totals(works: &[Work], slots: &[Slot], machine: &Machine, chips: usize) -> Totals {
    let cycles = slots.iter().map(|slot| slot.end).max().unwrap_or(0);
    let mut by_format: BTreeMap<DType, u64> = BTreeMap::new();
    for (&dtype, &macs) in works.iter().flat_map(|work| &work.macs) {
        let sum = by_format.entry(dtype).or_default();
        *sum = sum.saturating_add(macs);
    }
    let macs = sum(by_format.values());
    let bytes = works.iter().fold(Traffic::default(), |sum, work| sum.plus(work.bytes));
    let hbm_bytes = bytes.hbm_read.saturating_add(bytes.hbm_written);
    Totals {
        cycles,
        microseconds: cycles as f64 / (machine.timing.clock_ghz * 1e3),
        busy: Resource::ALL.map(|resource| busy(works, resource)).to_vec(),
        macs,
        share_of_peak: share_of_peak(&by_format, cycles, machine, chips),
        bytes,
        operations_per_hbm_byte: (hbm_bytes > 0).then(|| 2.0 * macs as f64 / hbm_bytes as f64),
    }
}

fn busy(works: &[Work], resource: Resource) -> Busy {
    let cycles = works.iter().filter(|work| work.resource == resource).map(|work| &work.cycles);
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
fn assumptions(works: &[Work], rows: AssumedRows) -> Vec<Assumed> {
    let is_used = |field: &str| works.iter().any(|work| work.assumed.contains(&field));
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
