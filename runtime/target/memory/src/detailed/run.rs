//! The loop over time.

use super::chip::{Chip, ChipTotals, Owner};
use super::dm::Claim;
use super::engine::{Command, EngineTotals, Runner};
use super::error::DetailedError;
use super::timing::Timing;
use crate::descriptor::{Engine, Medium, Memory, Transfer};
use crate::hbm::HBM_BYTES;
use visa_loops::Program;
use visa_machine::Machine;

/// What a transfer takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detailed {
    /// Engine cycles until the last byte is written, start-ups included.
    pub cycles: u64,
    /// What the memories of each chip did, from chip 0 to the last that is used.
    pub chips: Vec<ChipTotals>,
    /// What each engine did, in the order of the transfer.
    pub engines: Vec<(Engine, EngineTotals)>,
}

/// Carries out a transfer, request by request. `claims` is what other engines do in data memory meanwhile.
///
/// # Errors
/// If a program has no addresses, or goes beyond its memory, or a chip does not exist.
pub fn simulate(
    transfer: &Transfer,
    machine: &Machine,
    timing: &Timing,
    claims: &[Claim],
) -> Result<Detailed, DetailedError> {
    let commands: Vec<Vec<Command>> =
        transfer.engines.iter().map(|(_, work)| work.iter().map(Command::new).collect()).collect();
    let mut last = 0;
    for (memory, program) in commands.iter().flatten().flat_map(Command::sides) {
        check(memory, program, machine)?;
        last = last.max(memory.chip);
    }
    let mut chips: Vec<_> = (0..=last).map(|chip| Chip::new(machine, timing, chip, claims)).collect();
    let mut runners: Vec<_> = commands
        .iter()
        .enumerate()
        .map(|(number, work)| Runner::new(work, machine, timing.in_flight, number as u32))
        .collect();
    run(&mut chips, &mut runners)?;
    let totals: Vec<_> = runners.iter().map(|runner| *runner.totals()).collect();
    Ok(Detailed {
        cycles: totals.iter().map(|totals| totals.end).fold(0, u64::max),
        chips: chips.into_iter().map(Chip::totals).collect(),
        engines: transfer.engines.iter().map(|(engine, _)| *engine).zip(totals).collect(),
    })
}

/// Lets all engines and memories work until none has anything to do.
fn run(chips: &mut [Chip], runners: &mut [Runner<'_>]) -> Result<(), DetailedError> {
    let mut now = 0;
    loop {
        for chip in &mut *chips {
            chip.settle(now, |Owner { engine, slot }, at| runners[engine as usize].done(slot, at));
        }
        let mut next = u64::MAX;
        // Each cycle another engine is the first to ask.
        for turn in 0..runners.len() as u64 {
            let engine = (now + turn) % runners.len() as u64;
            next = next.min(runners[engine as usize].step(now, chips)?);
        }
        for chip in &*chips {
            next = next.min(chip.next());
        }
        if next == u64::MAX {
            return Ok(());
        }
        now = next;
    }
}

/// Whether a program stays within its memory.
fn check(memory: Memory, program: &Program, machine: &Machine) -> Result<(), DetailedError> {
    let chips = machine.topology.max_chips;
    if memory.chip >= chips {
        return Err(DetailedError::NoChip { chip: memory.chip, chips });
    }
    let bytes = match memory.medium {
        // The host has as much as it has.
        Medium::Host => return Ok(()),
        Medium::Hbm => HBM_BYTES,
        Medium::Dm => machine.dm_bytes_per_chip(),
        Medium::Spm => machine.pes_per_chip() * machine.memory.spm_bytes_per_pe,
    };
    let (_, end) = program.extent()?;
    match u64::try_from(end) {
        Ok(end) if end > bytes => Err(DetailedError::Outside { memory, end, bytes }),
        // What begins before 0 is refused when its requests are made.
        Ok(_) | Err(_) => Ok(()),
    }
}
