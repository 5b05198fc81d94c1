//! Every run of every command in its place in time.

use visa_hw::program::Program;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_machine::Machine;

use crate::conflicts::schedule_with_stalls;
use crate::model::MemoryModel;
use crate::prices::Terms;
use crate::rows::Rows;
use crate::runs::runs;
use crate::ticks::ticks;

/// A command in an iteration of the loops around it, in cycles, or in ticks of a machine that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The command's number in program order.
    pub command: usize,
    /// Where it starts.
    pub start: u64,
    /// Where it has ended.
    pub end: u64,
}

/// All runs of a program in its order. Where loops are so long that the report has them as one,
/// [`MAX_RUNS`](crate::MAX_RUNS) of them can be had here.
///
/// # Errors
/// A transfer for which the model has no price, and more runs than that.
pub fn timeline(
    program: &Program,
    machine: &Machine,
    model: MemoryModel,
    rows: &Rows,
) -> Result<Vec<Occurrence>, Diagnostic> {
    let device = program.device(machine).map_err(|why| Diagnostic::error("price", Span::default(), why))?;
    let terms = Terms { machine: &device, chips: program.chips, model, rows };
    let mut runs = runs(program, terms)?;
    let slots = schedule_with_stalls(&mut runs, device.limits.dm_bank_starvation);
    let time = |cycles: u64| match &device.measured {
        Some(measured) => ticks(cycles, measured),
        None => cycles,
    };
    let all = runs.iter().zip(&slots);
    Ok(all
        .map(|(run, slot)| Occurrence { command: run.command, start: time(slot.start), end: time(slot.end) })
        .collect())
}
