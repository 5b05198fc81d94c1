//! All runs of a program in their places in time.

use visa_hw::program::Program;
use visa_ir::diag::Diagnostic;

use crate::prices::{Run, Terms};
use crate::schedule::conflicts::schedule_with_stalls;
use crate::schedule::place::Slot;
use crate::schedule::runs::runs;
use crate::schedule::tally::{PlacedRun, Tallies};

/// The runs of a program and the place of each, in the order of the program.
pub(crate) struct Scheduled {
    pub(crate) runs: Vec<Run>,
    pub(crate) slots: Vec<Slot>,
}

impl Scheduled {
    /// Schedules every run.
    ///
    /// # Errors
    /// A transfer for which the model has no price, and more than [`MAX_RUNS`](crate::MAX_RUNS) runs.
    pub(crate) fn of(program: &Program, terms: Terms<'_>) -> Result<Self, Diagnostic> {
        Ok(Self::from_runs(runs(program, terms)?, terms))
    }

    /// Schedules these runs.
    pub(crate) fn from_runs(mut runs: Vec<Run>, terms: Terms<'_>) -> Self {
        let slots = schedule_with_stalls(&mut runs, terms.machine.limits.dm_bank_starvation);
        Self { runs, slots }
    }

    /// Tallies of the runs of each command.
    pub(crate) fn tallies(&self) -> Tallies {
        let mut tallies = Tallies::default();
        for (run, slot) in self.runs.iter().zip(&self.slots) {
            tallies.add(PlacedRun::of(run, slot, &self.runs));
        }
        tallies
    }
}
