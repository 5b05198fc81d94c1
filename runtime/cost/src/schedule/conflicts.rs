//! Runs of the sub context in parallel with those of main, which goes first: writes of the tensor register file wait
//! for reads of a contraction (book 18), and accesses to a bank of data memory for main's ([`crate::banks`], book 11).

use crate::banks;
use crate::prices::{Run, Stalled};
use crate::queues::Queues;
use crate::report::{Stalls, Wait, Why};
use crate::schedule::beside::{Rival, lost};
use crate::schedule::place::Slot;
use crate::schedule::{after, schedule};

/// Schedules that are tried where runs were placed too often: a run that waits can put off its dependents, which can
/// meet other runs of main.
const ROUNDS: usize = 16;

/// Number of times that each run is placed on average, in addition to [`SOME`].
const TIMES: usize = 8;

/// Additional placements.
const SOME: usize = 1 << 18;

/// The schedule with the stalls of sub, which become part of its cycles. `limit` is that of accesses to a bank in a
/// row. Where main and sub drift far apart, it may be too long to find each run's own stalls: then they are found for
/// all runs at once, again and again. They never get fewer from one round to the next, so the last round stands for
/// all that were not run.
pub(crate) fn schedule_with_stalls(runs: &mut [Run], limit: u64) -> Vec<Slot> {
    if let Some(slots) = one_by_one(runs, limit) {
        return slots;
    }
    runs.iter_mut().for_each(|run| run.stall(Stalled::default()));
    let mut slots = schedule(runs, limit);
    for _ in 1..ROUNDS {
        let readers = Readers::new(runs, &slots);
        let stalls: Vec<Stalled> = (0..runs.len()).map(|at| stalls(runs, &slots, &readers, at)).collect();
        if !runs.iter().zip(&stalls).any(|(run, stalled)| stalled.longer_than(&run.stalled)) {
            break;
        }
        for (run, stalled) in runs.iter_mut().zip(stalls) {
            if stalled.longer_than(&run.stalled) {
                run.stall(stalled);
            }
        }
        slots = schedule(runs, limit);
    }
    slots
}

/// The schedule with the stalls of each run of sub: as soon as a run of main has its place in parallel with it, the
/// run of sub and all after it are placed again. A parallel run of main does not wait for it, so that its place stays.
/// `None` if that needs too many places.
fn one_by_one(runs: &mut [Run], limit: u64) -> Option<Vec<Slot>> {
    let mut places = Places::default();
    let mut left = runs.len().saturating_mul(TIMES).saturating_add(SOME);
    while places.slots.len() < runs.len() {
        left = left.checked_sub(1)?;
        let number = places.slots.len();
        places.add(runs, limit);
        let Some((sub, stalled)) = places.slowed(runs, number) else { continue };
        places.forget_from(sub, runs);
        runs[sub].stall(stalled);
    }
    Some(places.slots)
}

/// Places of the first runs of a program.
#[derive(Default)]
struct Places {
    slots: Vec<Slot>,
    queues: [Vec<usize>; Queues::COUNT],
}

impl Places {
    /// Places the next run.
    fn add(&mut self, runs: &[Run], limit: u64) {
        let number = self.slots.len();
        let slot = after(runs, &self.slots, &self.queues, number, limit);
        self.slots.push(slot);
        runs[number].work.queues.numbers().for_each(|own| self.queues[own].push(number));
    }

    /// Forgets the places of runs from `first` on, and the waits of those after it.
    fn forget_from(&mut self, first: usize, runs: &mut [Run]) {
        let forgotten = first + 1..self.slots.len();
        runs[forgotten].iter_mut().for_each(|run| run.stall(Stalled::default()));
        self.slots.truncate(first);
        for queue in &mut self.queues {
            queue.truncate(queue.partition_point(|&run| run < first));
        }
    }

    /// The first run of sub that waits longer than it is known to, now that run `number` has its place; with its
    /// waits.
    fn slowed(&self, runs: &[Run], number: usize) -> Option<(usize, Stalled)> {
        let [main, sub] = [Queues::MAIN, Queues::SUB].map(Queues::first);
        let beside: &[usize] = if is_reader(&runs[number]) {
            let ended = |&run: &usize| self.slots[run].end <= self.slots[number].start;
            &self.queues[sub][self.queues[sub].partition_point(ended)..]
        } else if runs[number].work.queues == Queues::SUB {
            std::slice::from_ref(&number)
        } else {
            return None;
        };
        beside.iter().find_map(|&sub| {
            let Slot { start, end, .. } = self.slots[sub];
            let first = self.queues[main].partition_point(|&run| self.slots[run].end <= start);
            let readers =
                self.queues[main][first..].iter().copied().take_while(|&run| self.slots[run].start < end);
            let readers: Vec<usize> = readers.filter(|&run| is_reader(&runs[run])).collect();
            let stalled = stalls_beside(runs, &self.slots, &readers, sub);
            stalled.longer_than(&runs[sub].stalled).then_some((sub, stalled))
        })
    }
}

/// Returns true if a run may slow those of sub.
fn is_reader(run: &Run) -> bool {
    run.work.queues == Queues::MAIN && (run.work.bank_reads.is_some() || run.walks.most > 0)
}

/// The runs of main that may slow those of sub, by start.
struct Readers {
    commands: Vec<usize>,
    /// When the last of those up to each has ended.
    ended: Vec<u64>,
}

impl Readers {
    fn new(runs: &[Run], slots: &[Slot]) -> Self {
        Self::of((0..runs.len()).filter(|&run| is_reader(&runs[run])), slots)
    }

    fn of(commands: impl Iterator<Item = usize>, slots: &[Slot]) -> Self {
        let mut commands: Vec<_> = commands.collect();
        commands.sort_by_key(|&command| slots[command].start);
        let ends = commands.iter().scan(0, |latest: &mut u64, &command| {
            *latest = slots[command].end.max(*latest);
            Some(*latest)
        });
        let ended = ends.collect();
        Self { commands, ended }
    }

    /// By start, every one that runs in the cycles from `from` to `until`; some that do not may be among them.
    fn during(&self, slots: &[Slot], from: u64, until: u64) -> &[usize] {
        let first = self.ended.partition_point(|&ended| ended <= from);
        let last = self.commands.partition_point(|&command| slots[command].start < until);
        self.commands.get(first..last).unwrap_or_default()
    }
}

/// Cycles that run `number` waits for the runs of main meanwhile.
fn stalls(runs: &[Run], slots: &[Slot], readers: &Readers, number: usize) -> Stalled {
    let Slot { start, end, .. } = slots[number];
    // A run that starts when it has ended may have waited for it: should it not have, it will be met in the next
    // round.
    stalls_beside(runs, slots, readers.during(slots, start, end), number)
}

/// Cycles that run `number` waits for these runs of main, by start.
fn stalls_beside(runs: &[Run], slots: &[Slot], beside: &[usize], number: usize) -> Stalled {
    let run = &runs[number];
    if run.work.queues != Queues::SUB || run.work.bank_writes == 0 && run.walks.most == 0 {
        return Stalled::default();
    }
    let start = slots[number].start;
    let slowed: Vec<Slowed> = beside.iter().map(|&command| slowed(run, &runs[command])).collect();
    let rivals = beside.iter().zip(&slowed).map(|(&command, slowed)| {
        let Slot { start, end, .. } = slots[command];
        Rival { start, end, slowed: slowed.cycles }
    });
    let mut stalled = Stalled::default();
    for (rival, cycles) in lost(start, run.work.cycles, rivals) {
        let why = slowed[rival].why;
        stalled.cycles = stalled.cycles.plus(Stalls::of(why, cycles));
        stalled.by.push(Wait { command: beside[rival], why });
    }
    stalled
}

/// A run of sub in parallel with one of main.
struct Slowed {
    /// Cycles that it takes; `None` if it stands still.
    cycles: Option<u64>,
    /// Reason for its longest wait.
    why: Why,
}

fn slowed(run: &Run, main: &Run) -> Slowed {
    let (work, alone) = (&run.work, run.work.cycles);
    let cycles = main.cycles.saturating_sub(main.work.latency);
    let whole = |taken: Option<u64>| taken.map(|taken| alone.max(taken.saturating_add(work.latency)));
    let file = match main.work.bank_reads.filter(|_| work.bank_writes > 0) {
        Some(reads) => whole(reads.beside(work.bank_writes, cycles)),
        None => Some(alone),
    };
    let banks = whole(banks::beside(&run.walks, &main.walks, cycles));
    match (file, banks) {
        (Some(file), Some(banks)) if banks <= file => Slowed { cycles: Some(file), why: Why::Trf },
        (None, _) => Slowed { cycles: None, why: Why::Trf },
        (Some(_), cycles) => Slowed { cycles, why: Why::Banks },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readers_of_some_cycles_are_found() {
        // Starts and lengths that overlap, touch, nest and are empty.
        let slot = |at: u64| Slot {
            start: at * 7 % 23,
            end: at * 7 % 23 + at * 5 % 11,
            stalls: 0,
            waits: Vec::new(),
        };
        let slots: Vec<_> = (0..40).map(slot).collect();
        let readers = Readers::of((0..40).filter(|at| at % 3 != 0), &slots);
        for (from, until) in (0..30).flat_map(|from| (from..35).map(move |until| (from, until))) {
            let found = readers.during(&slots, from, until);
            assert!(found.is_sorted_by_key(|&at| slots[at].start));
            for (at, slot) in slots.iter().enumerate() {
                let runs = at % 3 != 0 && slot.start < until && slot.end > from;
                let listed = found.contains(&at);
                assert!(listed || !runs, "{at} in {from}..{until}");
                assert!(!listed || slot.start < until);
            }
        }
        assert!(Readers::of(std::iter::empty(), &slots).during(&slots, 0, 9).is_empty());
    }
}
