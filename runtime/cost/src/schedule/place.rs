//! Where a run has its place in time, after those that come before it in the program (book 28).

use crate::banks::{starve, touches_data_memory};
use crate::command::CommandCost;
use crate::footprint::hazards;
use crate::prices::Run;
use crate::queues::Queues;
use crate::report::{Wait, Why};
use crate::schedule::beside::{Rival, lost};

/// A run that has its place.
#[derive(Clone, Copy)]
pub(crate) struct Before<'a> {
    /// Its number in waits.
    pub(crate) command: usize,
    pub(crate) run: &'a Run,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// A run's place in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Cycles among those in which it waits for HBM.
    pub(crate) stalls: u64,
    /// The runs that it waited for and started right after, none in cycle 0; and those that it waits for meanwhile.
    pub(crate) waits: Vec<Wait>,
}

/// The place of a run: it starts when its queues are free and every earlier run that it must not overlap has ended.
/// `from_last` gives the runs of a queue from the last to the first; each ends after the one before it. A run is
/// compared only with those that end when it could start at the earliest, or later. `limit` is the machine's of
/// accesses to a bank in a row.
pub(crate) fn place<'a, I>(run: &Run, from_last: impl Fn(usize) -> I, limit: u64) -> Slot
where
    I: Iterator<Item = Before<'a>>,
{
    let mut found = EarliestStart { start: 0, waits: Vec::new() };
    for before in run.work.queues.numbers().filter_map(|queue| from_last(queue).next()) {
        found.wait(before.end, before.command, Why::Busy);
    }
    for queue in 0..Queues::COUNT {
        for before in from_last(queue) {
            if before.end.saturating_add(run.work.sync) < found.start {
                break;
            }
            for (until, why) in reasons(before, run, limit) {
                found.wait(until, before.command, why);
            }
        }
    }
    let (start, from_last) = (found.start, &from_last);
    let live =
        || (0..Queues::COUNT).flat_map(move |queue| from_last(queue).take_while(move |run| run.end >= start));
    starved_by_two(run, live(), limit, &mut found);
    let EarliestStart { start, mut waits } = found;
    waits.retain(|(until, _)| start > 0 && *until == start);
    let mut waits: Vec<Wait> = waits.into_iter().map(|(_, wait)| wait).collect();
    let end = start.saturating_add(run.cycles);
    let stalls = waits_for_hbm(run, start, live(), &mut waits);
    waits.sort_by_key(|wait| (wait.command, wait.why));
    // A run that takes several queues is in each of them.
    waits.dedup();
    Slot { start, end: end.saturating_add(stalls), stalls, waits }
}

struct EarliestStart {
    start: u64,
    waits: Vec<(u64, Wait)>,
}

impl EarliestStart {
    fn wait(&mut self, until: u64, command: usize, why: Why) {
        self.start = self.start.max(until);
        self.waits.push((until, Wait { command, why }));
    }
}

/// Until when a run waits for an earlier one on another queue, and why.
pub(crate) fn reasons(before: Before<'_>, run: &Run, limit: u64) -> Vec<(u64, Why)> {
    let (earlier, later) = (&before.run.work, &run.work);
    let mut found: Vec<(u64, Why)> = hazards(&before.run.regions, &run.regions)
        .into_iter()
        .map(|why| match why == Why::Raw && sync(earlier, later) {
            true => (before.end.saturating_add(later.sync), Why::Sync),
            false => (before.end, why),
        })
        .collect();
    let device = |work: &CommandCost| work.resource.is_device();
    if earlier.launches && device(later) || later.launches && device(earlier) {
        found.push((before.end, Why::Launch));
    }
    if starves(before.run, run, limit) {
        found.push((before.end, Why::Starvation));
    }
    if !earlier.queues.meet(later.queues) && device(earlier) && device(later) {
        // The set-up is the first that a run does: an earlier one has ended by then, and a later one begins after it.
        if later.setup > 0 {
            found.push((before.end, Why::Setup));
        } else if earlier.setup > 0 {
            found.push((before.start.saturating_add(earlier.setup).min(before.end), Why::Setup));
        }
    }
    found
}

/// Returns true if a transfer that reads the result of another one waits until the clusters have met.
fn sync(earlier: &CommandCost, later: &CommandCost) -> bool {
    let clusters = earlier.queues.and(later.queues).clusters();
    later.sync > 0 && earlier.queues.are_dma() && clusters.len() > 1
}

/// Returns true if one of them is a transfer that the other one alone would starve.
fn starves(one: &Run, other: &Run, limit: u64) -> bool {
    match (one.work.resource.is_context(), other.work.resource.is_context()) {
        (true, false) => starve(other, &[one], limit),
        (false, true) => starve(one, &[other], limit),
        (true, true) | (false, false) => false,
    }
}

/// Of a transfer and runs in main and sub that starve it together, but not alone, the last one in the program waits
/// until one of the other two has ended.
fn starved_by_two<'a>(
    run: &Run,
    live: impl Iterator<Item = Before<'a>>,
    limit: u64,
    found: &mut EarliestStart,
) {
    let own_most = run.walks.most;
    if own_most == 0 && (run.work.resource.is_context() || !touches_data_memory(run)) {
        return;
    }
    let (mut users, mut transfers) = (Vec::new(), Vec::new());
    for before in live {
        if !before.run.work.resource.is_context() {
            transfers.extend((own_most > 0 && touches_data_memory(before.run)).then_some(before));
        } else if before.run.walks.most > 0 && !before.run.work.queues.meet(run.work.queues) {
            users.push(before);
        }
    }
    let most = users.iter().map(|user| user.run.walks.most).fold(0, u64::max);
    if most.saturating_add(most.max(own_most)) < limit {
        return;
    }
    let all: &[Before<'_>] = if own_most > 0 { &transfers } else { &users };
    for (at, one) in all.iter().enumerate() {
        for other in if own_most > 0 { &users[..] } else { &users[at + 1..] } {
            // A command that takes two queues is there twice, and never in parallel with itself.
            if one.command == other.command {
                continue;
            }
            let until = one.end.min(other.end);
            let (transfer, users) = match own_most > 0 {
                true => (one.run, [other.run, run]),
                false => (run, [one.run, other.run]),
            };
            // Where one of the two is enough, that is the one to wait for.
            let starved = || {
                starve(transfer, &users, limit) && users.iter().all(|user| !starve(transfer, &[user], limit))
            };
            if until >= found.start && one.start.max(other.start) < until && starved() {
                for ended in [one, other].into_iter().filter(|before| before.end == until) {
                    found.wait(until, ended.command, Why::Starvation);
                }
            }
        }
    }
}

/// Cycles that a transfer waits for HBM in parallel with earlier ones of other clusters, which go first: an HBM that
/// another one takes in h of its n cycles has the other n - h left.
fn waits_for_hbm<'a>(
    run: &Run,
    start: u64,
    live: impl Iterator<Item = Before<'a>>,
    waits: &mut Vec<Wait>,
) -> u64 {
    let own = run.work.hbm_cycles();
    if !run.work.queues.are_dma() || own == 0 {
        return 0;
    }
    let others = live.filter(|before| before.run.work.queues.are_dma() && before.run.work.hbm_cycles() > 0);
    let mut others: Vec<Before<'_>> = others.filter(|before| before.end > start).collect();
    others.sort_by_key(|before| (before.start, before.command));
    others.dedup_by_key(|before| (before.start, before.command));
    let rivals = others.iter().map(|before| {
        let (taken, cycles) = (before.run.work.hbm_cycles(), before.run.work.cycles);
        let free = cycles.checked_sub(taken).filter(|&free| free > 0);
        let needed = free.map(|free| (u128::from(own) * u128::from(cycles)).div_ceil(u128::from(free)));
        let slowed = needed.map(|needed| run.cycles.max(u64::try_from(needed).unwrap_or(u64::MAX)));
        Rival { start: before.start, end: before.end, slowed }
    });
    let mut sum = 0_u64;
    for (number, stalls) in lost(start, run.cycles, rivals) {
        sum = sum.saturating_add(stalls);
        waits.push(Wait { command: others[number].command, why: Why::Hbm });
    }
    sum
}
