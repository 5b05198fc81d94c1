//! Totals of the runs of a command.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::command::CommandCost;
use crate::prices::Run;
use crate::queues::Queues;
use crate::report::{Stalls, Wait, Why};
use crate::schedule::place::Slot;

/// The runs of a command so far.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    /// Work of the first run.
    pub(crate) work: Rc<CommandCost>,
    /// Cycles of the first run.
    pub(crate) cycles: u64,
    pub(crate) counts: Counts,
    /// When the first run starts.
    pub(crate) start: u64,
    /// When the last run has ended.
    pub(crate) end: u64,
    /// Greatest part of its time that a run takes each bank of data memory.
    pub(crate) bank_shares: Vec<f64>,
    /// Commands that runs waited for, by number.
    pub(crate) waits: Vec<Wait>,
    /// Bound of the error of the cycles of a run, where they follow from those of others.
    pub(crate) error: Option<f64>,
}

/// Quantities that add up over the runs of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) runs: u64,
    /// Cycles, stalls included.
    pub(crate) cycles: u64,
    pub(crate) stalls: Stalls,
}

impl Counts {
    /// These, plus `times` times the counts since `before`.
    pub(crate) fn again(self, before: Self, times: u64) -> Self {
        let more = |now: u64, before: u64| now.saturating_add((now - before).saturating_mul(times));
        Self {
            runs: more(self.runs, before.runs),
            cycles: more(self.cycles, before.cycles),
            stalls: Stalls {
                register_file: more(self.stalls.register_file, before.stalls.register_file),
                banks: more(self.stalls.banks, before.stalls.banks),
                hbm: more(self.stalls.hbm, before.stalls.hbm),
            },
        }
    }
}

/// Capacity of a bank, less the rounding of shares.
const ALL_OF_A_BANK: f64 = 1.0 - 1e-9;

/// The tallies of the commands that have run, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies(pub(crate) BTreeMap<usize, Tally>);

/// A run in its place in time.
pub(crate) struct PlacedRun<'a> {
    pub(crate) command: usize,
    pub(crate) work: &'a Rc<CommandCost>,
    pub(crate) cycles: u64,
    pub(crate) stalls: Stalls,
    /// Part of its time that it takes each bank of data memory.
    pub(crate) bank_shares: Vec<f64>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) waits: Vec<Wait>,
}

impl<'a> PlacedRun<'a> {
    /// One of some runs in its place.
    pub(crate) fn of(run: &'a Run, slot: &Slot, runs: &[Run]) -> Self {
        let named = |wait: &Wait| Wait { command: runs[wait.command].command, why: wait.why };
        let Run { command, work, cycles, stalled, walks, .. } = run;
        Self {
            command: *command,
            work,
            cycles: cycles.saturating_add(slot.stalls),
            stalls: stalled.cycles.plus(Stalls::of(Why::Hbm, slot.stalls)),
            bank_shares: walks.shares(work, false),
            start: slot.start,
            end: slot.end,
            waits: slot.waits.iter().chain(&stalled.by).map(named).collect(),
        }
    }
}

impl Tallies {
    /// Returns true if runs of the sub context may wait for those of main.
    pub(crate) fn may_stall(&self) -> bool {
        let mut loads = self.of(Queues::SUB).filter(|tally| tally.work.bank_writes > 0);
        let mut reads = self.of(Queues::MAIN).filter(|tally| tally.work.bank_reads.is_some());
        loads.next().is_some() && reads.next().is_some() || self.banks_may_stall()
    }

    /// Returns true if main and sub may together ask for some bank of data memory more often than it serves.
    pub(crate) fn banks_may_stall(&self) -> bool {
        let shares = |queues: Queues| {
            self.of(queues).fold(Vec::new(), |shares, tally| most(&shares, &tally.bank_shares))
        };
        let (main, sub) = (shares(Queues::MAIN), shares(Queues::SUB));
        main.iter().zip(&sub).any(|(main, sub)| *main > 0.0 && *sub > 0.0 && main + sub > ALL_OF_A_BANK)
    }

    /// The commands that take these queues and no others.
    fn of(&self, queues: Queues) -> impl Iterator<Item = &Tally> {
        self.0.values().filter(move |tally| tally.work.queues == queues)
    }

    /// Counts a run.
    pub(crate) fn add(&mut self, run: PlacedRun<'_>) {
        let PlacedRun { command, work, cycles, stalls, bank_shares, start, end, waits } = run;
        let tally = self.0.entry(command).or_insert_with(|| {
            let counts = Counts::default();
            let waits = Vec::new();
            let bank_shares = Vec::new();
            Tally { work: Rc::clone(work), cycles, counts, bank_shares, start, end, waits, error: None }
        });
        tally.error = tally.error.into_iter().chain(work.error).reduce(f64::max);
        tally.counts.runs += 1;
        tally.counts.cycles = tally.counts.cycles.saturating_add(cycles);
        tally.counts.stalls = tally.counts.stalls.plus(stalls);
        tally.bank_shares = most(&tally.bank_shares, &bank_shares);
        tally.end = tally.end.max(end);
        for wait in waits {
            if !tally.waits.contains(&wait) {
                tally.waits.push(wait);
            }
        }
    }
}

/// The greater one of each; none counts as 0.
fn most(one: &[f64], other: &[f64]) -> Vec<f64> {
    let of = |shares: &[f64], bank: usize| shares.get(bank).copied().unwrap_or_default();
    (0..one.len().max(other.len())).map(|bank| of(one, bank).max(of(other, bank))).collect()
}
