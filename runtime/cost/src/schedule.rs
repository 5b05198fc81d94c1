//! When each command runs (book 28): program order is kept on every resource, and hazards order the resources.

pub(crate) mod beside;
pub(crate) mod conflicts;
pub(crate) mod place;
pub(crate) mod runs;
pub(crate) mod scheduled;
pub(crate) mod steady;
pub(crate) mod stretch;
pub(crate) mod tally;

use crate::prices::Run;
use crate::queues::Queues;
use crate::schedule::place::{Before, Slot, place};

/// The places of runs, each after those before it ([`place`]). `limit` is that of accesses to a bank in a row.
pub(crate) fn schedule(runs: &[Run], limit: u64) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::with_capacity(runs.len());
    let mut queues: [Vec<usize>; Queues::COUNT] = Default::default();
    for (number, run) in runs.iter().enumerate() {
        slots.push(after(runs, &slots, &queues, number, limit));
        run.work.queues.numbers().for_each(|own| queues[own].push(number));
    }
    slots
}

/// The place of run `number` after those before it, which are in these places and queues.
pub(crate) fn after(
    runs: &[Run],
    slots: &[Slot],
    queues: &[Vec<usize>; Queues::COUNT],
    number: usize,
    limit: u64,
) -> Slot {
    let before = |command: usize| {
        let Slot { start, end, .. } = slots[command];
        Before { command, run: &runs[command], start, end }
    };
    place(&runs[number], |queue| queues[queue].iter().rev().map(|&command| before(command)), limit)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::command::{CommandCost, tests::work};
    use crate::footprint::{Region, hazards};
    use crate::prices::Stalled;
    use crate::report::{EngineCycles, Resource, Wait, Why};
    use crate::walks::tests::walks;
    use visa_engine::Space;
    use visa_support::Random;

    const LIMIT: u64 = 64;

    /// Facts of runs that have their place, cycle by cycle.
    struct Timeline<'a> {
        runs: &'a [Run],
        slots: Vec<Slot>,
    }

    impl Timeline<'_> {
        fn runs_in(&self, command: usize, cycle: u64) -> bool {
            (self.slots[command].start..self.slots[command].end).contains(&cycle)
        }

        /// The cycle after the last one in which all of some commands run.
        fn together_until(&self, commands: &[usize]) -> Option<u64> {
            let last = self.slots.iter().map(|slot| slot.end).max()?;
            let together = |cycle: &u64| commands.iter().all(|command| self.runs_in(*command, *cycle));
            (0..last).rev().find(together).map(|cycle| cycle + 1)
        }

        /// Returns true if the first of these is a transfer and the others runs of main and sub that keep it from a
        /// bank: in some slice, bank by bank.
        fn starve(&self, commands: &[usize]) -> bool {
            let (transfer, users) = (&self.runs[commands[0]], &commands[1..]);
            let context = |run: &Run| !matches!(run.work.resource, Resource::Dma | Resource::Pcie);
            if context(transfer) || !users.iter().all(|user| context(&self.runs[*user])) {
                return false;
            }
            let touches = |slice: u64| {
                let in_it = |region: &&Region| region.slices.iter().any(|slices| slices.contains(&slice));
                let mut dm = transfer.regions.iter().filter(|region| region.space == Space::DM).filter(in_it);
                dm.any(|region| region.bytes.start < region.bytes.end)
            };
            let accesses = |slice: u64, bank: usize| {
                let all = users.iter().flat_map(|user| &self.runs[*user].walks.each);
                let there = all.filter(|walk| walk.slices.iter().any(|slices| slices.contains(&slice)));
                there.map(|walk| walk.accesses.in_a_row[bank]).sum::<u64>()
            };
            (0..4).any(|slice| touches(slice) && (0..16).any(|bank| accesses(slice, bank) >= LIMIT))
        }

        /// Until when run `number` waits for earlier ones, and why.
        fn waits(&self, number: usize) -> Vec<(u64, Wait)> {
            let mut found = Vec::new();
            for command in 0..number {
                let end = self.slots[command].end;
                let mut wait = |until, why| found.push((until, Wait { command, why }));
                let (other, own) = (&self.runs[command], &self.runs[number]);
                let takes = |run: &Run| run.work.queues.numbers().collect::<Vec<_>>();
                let shared: Vec<_> =
                    takes(own).into_iter().filter(|queue| takes(other).contains(queue)).collect();
                // The last one before it that took one of the queues that it takes.
                let later = |queue: &&usize| {
                    self.runs[command + 1..number].iter().any(|between| takes(between).contains(queue))
                };
                if shared.iter().any(|queue| !later(&queue)) {
                    wait(end, Why::Busy);
                }
                hazards(&other.regions, &own.regions).into_iter().for_each(|why| wait(end, why));
                // A kernel starts when the device is free, and nothing of the device crosses the start of one.
                let device = other.work.resource != Resource::Pcie && own.work.resource != Resource::Pcie;
                if device && (other.work.launches || own.work.launches) {
                    wait(end, Why::Launch);
                }
                // Nothing else of the device runs while a switch is set up.
                if device && shared.is_empty() {
                    let whole = own.work.setup > 0;
                    let until = (self.slots[command].start + other.work.setup).min(end);
                    if whole || other.work.setup > 0 {
                        wait(if whole { end } else { until }, Why::Setup);
                    }
                }
                if self.starve(&[command, number]) || self.starve(&[number, command]) {
                    wait(end, Why::Starvation);
                }
            }
            found.extend(self.pairs(number));
            found
        }

        /// Until when run `number` waits for one of two that run at once, as all three together starve one of them.
        fn pairs(&self, number: usize) -> Vec<(u64, Wait)> {
            let mut found = Vec::new();
            let own_context =
                |command: &usize| self.runs[*command].work.queues.meet(self.runs[number].work.queues);
            let before: Vec<usize> = (0..number).filter(|command| !own_context(command)).collect();
            for (one, other) in before.iter().flat_map(|one| before.iter().map(move |other| (*one, *other))) {
                let together = |[transfer, one, other]: [usize; 3]| {
                    let alone = self.starve(&[transfer, one]) || self.starve(&[transfer, other]);
                    !alone && self.starve(&[transfer, one, other])
                };
                let starved = together([one, other, number]) || together([number, one, other]);
                let Some(until) = self.together_until(&[one, other]).filter(|_| one != other && starved)
                else {
                    continue;
                };
                let ended = [one, other].into_iter().filter(|command| self.slots[*command].end == until);
                let why = Why::Starvation;
                found.extend(ended.map(|command| (until, Wait { command, why })));
            }
            found
        }

        /// When run `number` has ended that starts at `start`, and the transfers that kept it from HBM.
        fn end(&self, number: usize, start: u64) -> (u64, Vec<Wait>) {
            let of_hbm = |run: &Run| run.work.resource == Resource::Dma && !run.work.engines.is_empty();
            let (mut cycle, mut left, mut waits) = (start, self.runs[number].cycles, Vec::new());
            while left > 0 {
                let mut others = (0..number).filter(|other| of_hbm(&self.runs[*other]));
                match others.find(|other| of_hbm(&self.runs[number]) && self.runs_in(*other, cycle)) {
                    Some(command) => waits.push(Wait { command, why: Why::Hbm }),
                    None => left -= 1,
                }
                cycle += 1;
            }
            waits.dedup();
            (cycle, waits)
        }
    }

    /// The definition, read off: a run starts when all that it waits for has ended. Transfers of the tests take HBM
    /// all the time or never, so that they stand still in parallel with another one.
    fn as_defined(runs: &[Run]) -> Vec<Slot> {
        let mut timeline = Timeline { runs, slots: Vec::new() };
        for (number, run) in runs.iter().enumerate() {
            let all = timeline.waits(number);
            let start = all.iter().map(|(until, _)| *until).max().unwrap_or(0);
            let last = all.into_iter().filter(|(until, _)| start > 0 && *until == start);
            let (end, hbm) = timeline.end(number, start);
            let mut waits: Vec<Wait> = last.map(|(_, wait)| wait).chain(hbm).collect();
            waits.sort_by_key(|wait| (wait.command, wait.why));
            waits.dedup();
            timeline.slots.push(Slot { start, end, stalls: end - start - run.cycles, waits });
        }
        timeline.slots
    }

    fn one_of<T: Copy>(random: &mut Random, all: &[T]) -> T {
        all[random.below(all.len())]
    }

    fn range(random: &mut Random, bound: usize) -> Range<usize> {
        let start = random.below(bound);
        start..start + random.below(3)
    }

    fn command(random: &mut Random) -> Run {
        let resources = [&Resource::ALL[..], &[Resource::Dual, Resource::Dma]].concat();
        let resource = one_of(random, &resources);
        let region = |random: &mut Random| {
            let bytes = range(random, 12);
            let space = if random.below(2) == 0 { Space::DM } else { Space::HBM };
            let write = random.below(2) == 0;
            let slices = random.bits() % 2..2;
            Region { space, write, bytes: bytes.start as u64..bytes.end as u64, slices: vec![slices] }
        };
        let regions: Vec<Region> = (0..random.below(3)).map(|_| region(random)).collect();
        let mut work = work(resource, random.bits() % 4);
        let walk = |random: &mut Random| {
            let slices = range(random, 3);
            (
                slices.start as u64..slices.end as u64,
                range(random, 3),
                one_of(random, &[1, 20, 31, 32, 33, 63, 64]),
            )
        };
        let mut each = Vec::new();
        if resource == Resource::Dma {
            let [first, second] = [0, 1].map(Queues::of_cluster);
            work.queues = one_of(random, &[first, second, first.and(second)]);
            let hbm = EngineCycles { engine: "hbm", cycles: work.cycles };
            work.engines.extend((work.cycles > 0 && random.below(2) == 0).then_some(hbm));
        } else if resource != Resource::Pcie {
            each = (0..random.below(3)).map(|_| walk(random)).collect();
            work.setup = if random.below(4) == 0 { random.bits() % 3 } else { 0 };
        }
        let launches = resource == Resource::Main && random.below(8) == 0;
        let work = CommandCost { launches, ..work };
        Run {
            command: 0,
            iteration: [].into(),
            cycles: work.cycles,
            stalled: Stalled::default(),
            work: work.into(),
            regions: regions.into(),
            walks: walks(&each).into(),
        }
    }

    #[test]
    fn a_schedule_is_as_defined() {
        let mut seen = [Why::Starvation, Why::Setup, Why::Hbm].map(|why| (why, 0));
        for seed in 0..2000 {
            let mut random = Random(seed);
            let length = random.below(24);
            let runs: Vec<_> = (0..length).map(|_| command(&mut random)).collect();
            let slots = schedule(&runs, LIMIT);
            for (number, (slot, defined)) in slots.iter().zip(as_defined(&runs)).enumerate() {
                assert_eq!(*slot, defined, "seed {seed}, run {number} of {:?} in {slots:?}", runs[number]);
            }
            for (why, count) in &mut seen {
                *count += slots.iter().flat_map(|slot| &slot.waits).filter(|wait| wait.why == *why).count();
            }
        }
        assert!(seen.iter().all(|(_, count)| *count > 100), "{seen:?}");
    }
}
