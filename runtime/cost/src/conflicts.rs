//! Loads of the tensor register file beside a contraction that reads it (book 18): reads go first, and writes wait.

use visa_hw::read_cache::CacheReads;

use crate::command::Work;
use crate::report::Resource;
use crate::schedule::{Slot, schedule};

/// Schedules that are tried: a load that waits can put off what waits for it, which can meet other contractions.
const ROUNDS: usize = 16;

/// The schedule with the waits of the loads, which become part of their cycles. They never get fewer from one round to the
/// next, so the last round stands for all that were not run.
pub(crate) fn schedule_with_stalls(works: &mut [Work]) -> Vec<Slot> {
    let alone: Vec<u64> = works.iter().map(|work| work.cycles).collect();
    let mut slots = schedule(works);
    for _ in 1..ROUNDS {
        let stalls: Vec<u64> = (0..works.len()).map(|at| stalls(works, &slots, at, alone[at])).collect();
        if works.iter().zip(&stalls).all(|(work, &stalls)| stalls <= work.stalls) {
            break;
        }
        for ((work, stalls), alone) in works.iter_mut().zip(stalls).zip(&alone) {
            work.stalls = work.stalls.max(stalls);
            work.cycles = alone.saturating_add(work.stalls);
        }
        slots = schedule(works);
    }
    slots
}

/// Cycles that command `number`, of `alone` cycles by itself, waits for the reads of contractions that run meanwhile.
fn stalls(works: &[Work], slots: &[Slot], number: usize, alone: u64) -> u64 {
    let work = &works[number];
    if work.bank_writes == 0 || work.resource != Resource::Sub {
        return 0;
    }
    let Slot { start, end, .. } = slots[number];
    // What starts when it has ended may have waited for it: should it not have, it will be met in the next round.
    let meanwhile = works.iter().zip(slots).filter(|(_, slot)| slot.start < end);
    let mut beside: Vec<(&Slot, CacheReads, u64)> = meanwhile
        .filter_map(|(other, slot)| {
            Some((slot, other.bank_reads?, other.cycles.saturating_sub(other.latency)))
        })
        .collect();
    beside.sort_by_key(|(slot, ..)| slot.start);
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
