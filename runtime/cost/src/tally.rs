//! What the runs of a command come to.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::command::Work;
use crate::prices::Run;
use crate::report::{Resource, Wait};
use crate::schedule::Slot;

/// The runs of a command so far.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    /// What the first run does.
    pub(crate) work: Rc<Work>,
    /// Cycles of the first run.
    pub(crate) cycles: u64,
    pub(crate) counts: Counts,
    /// When the first run starts.
    pub(crate) start: u64,
    /// When the last run has ended.
    pub(crate) end: u64,
    /// What runs waited for: commands by number.
    pub(crate) waits: Vec<Wait>,
    /// How far the cycles of a run may be off at most, where they follow from those of others.
    pub(crate) error: Option<f64>,
}

/// What adds up over the runs of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) runs: u64,
    /// Cycles, stalls included.
    pub(crate) cycles: u64,
    pub(crate) stalls: u64,
}

impl Counts {
    /// These, and what was added since `before` so many times more.
    pub(crate) fn again(self, before: Self, times: u64) -> Self {
        let more = |now: u64, before: u64| now.saturating_add((now - before).saturating_mul(times));
        Self {
            runs: more(self.runs, before.runs),
            cycles: more(self.cycles, before.cycles),
            stalls: more(self.stalls, before.stalls),
        }
    }
}

/// The tallies of the commands that have run, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies(pub(crate) BTreeMap<usize, Tally>);

/// A run in its place in time.
pub(crate) struct Placed<'a> {
    pub(crate) command: usize,
    pub(crate) work: &'a Rc<Work>,
    pub(crate) cycles: u64,
    pub(crate) stalls: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) waits: Vec<Wait>,
}

impl<'a> Placed<'a> {
    /// One of some runs in its place.
    pub(crate) fn of(run: &'a Run, slot: &Slot, runs: &[Run]) -> Self {
        let waits = slot.waits.iter().map(|wait| Wait { command: runs[wait.command].command, why: wait.why });
        let Run { command, work, cycles, stalls, .. } = run;
        Self {
            command: *command,
            work,
            cycles: *cycles,
            stalls: *stalls,
            start: slot.start,
            end: slot.end,
            waits: waits.collect(),
        }
    }
}

impl Tallies {
    /// Whether writes of the sub context to the tensor register file may wait for reads of it.
    pub(crate) fn may_stall(&self) -> bool {
        let writes = |tally: &Tally| tally.work.bank_writes > 0 && tally.work.resource == Resource::Sub;
        self.0.values().any(writes) && self.0.values().any(|tally| tally.work.bank_reads.is_some())
    }

    /// Counts a run.
    pub(crate) fn add(&mut self, run: Placed<'_>) {
        let Placed { command, work, cycles, stalls, start, end, waits } = run;
        let tally = self.0.entry(command).or_insert_with(|| {
            let counts = Counts::default();
            Tally { work: Rc::clone(work), cycles, counts, start, end, waits: Vec::new(), error: None }
        });
        tally.error = tally.error.into_iter().chain(work.error).reduce(f64::max);
        tally.counts.runs += 1;
        tally.counts.cycles = tally.counts.cycles.saturating_add(cycles);
        tally.counts.stalls = tally.counts.stalls.saturating_add(stalls);
        tally.end = tally.end.max(end);
        for wait in waits {
            if !tally.waits.contains(&wait) {
                tally.waits.push(wait);
            }
        }
    }
}
