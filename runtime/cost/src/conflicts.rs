//! Loads of the tensor register file beside a contraction that reads it (book 18): reads go first, and writes wait.

use crate::prices::Run;
use crate::report::Resource;
use crate::schedule::{Slot, schedule};

/// Schedules that are tried: a load that waits can put off what waits for it, which can meet other contractions.
const ROUNDS: usize = 16;

/// The schedule with the waits of the loads, which become part of their cycles. They never get fewer from one
/// round to the next, so the last round stands for all that were not run.
pub(crate) fn schedule_with_stalls(runs: &mut [Run]) -> Vec<Slot> {
    let mut slots = schedule(runs);
    for _ in 1..ROUNDS {
        let readers = Readers::new(runs, &slots);
        let stalls: Vec<u64> = (0..runs.len()).map(|at| stalls(runs, &slots, &readers, at)).collect();
        if runs.iter().zip(&stalls).all(|(run, &stalls)| stalls <= run.stalls) {
            break;
        }
        for (run, stalls) in runs.iter_mut().zip(stalls) {
            run.stalls = run.stalls.max(stalls);
            run.cycles = run.work.cycles.saturating_add(run.stalls);
        }
        slots = schedule(runs);
    }
    slots
}

/// The contractions that read the register file, by start.
struct Readers {
    commands: Vec<usize>,
    /// When the last of those up to each has ended.
    ended: Vec<u64>,
}

impl Readers {
    fn new(runs: &[Run], slots: &[Slot]) -> Self {
        Self::of((0..runs.len()).filter(|&run| runs[run].work.bank_reads.is_some()), slots)
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

/// Cycles that run `number` waits for the reads of contractions that run meanwhile.
fn stalls(runs: &[Run], slots: &[Slot], readers: &Readers, number: usize) -> u64 {
    let (work, alone) = (&runs[number].work, runs[number].work.cycles);
    if work.bank_writes == 0 || work.resource != Resource::Sub {
        return 0;
    }
    let Slot { start, end, .. } = slots[number];
    // What starts when it has ended may have waited for it: should it not have, it will be met in the next round.
    let beside = readers.during(slots, start, end).iter().filter_map(|&command| {
        let other = &runs[command];
        Some((&slots[command], other.work.bank_reads?, other.cycles.saturating_sub(other.work.latency)))
    });
    let (mut now, mut left) = (start, alone);
    for (slot, reads, cycles) in beside {
        if slot.end <= now || slot.start >= now.saturating_add(left) {
            continue;
        }
        if slot.start > now {
            left -= slot.start - now;
            now = slot.start;
        }
        let window = slot.end - now;
        let slowed =
            reads.beside(work.bank_writes, cycles).map(|taken| alone.max(taken.saturating_add(work.latency)));
        let scaled = |cycles: u64, by: u64, of: u64| {
            (u128::from(cycles) * u128::from(by) / u128::from(of.max(1))) as u64
        };
        match slowed {
            Some(slowed) if scaled(left, slowed, alone) <= window => {
                now += scaled(left, slowed, alone);
                left = 0;
                break;
            }
            Some(slowed) => left -= scaled(window, alone, slowed).min(left),
            None => {}
        }
        now = slot.end;
    }
    now.saturating_add(left).saturating_sub(start).saturating_sub(alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readers_of_some_cycles_are_found() {
        // Starts and lengths that overlap, touch, nest and are empty.
        let slot = |at: u64| Slot { start: at * 7 % 23, end: at * 7 % 23 + at * 5 % 11, waits: Vec::new() };
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
