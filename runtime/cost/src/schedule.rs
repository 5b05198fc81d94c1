//! When each command runs (book 28): program order is kept on every resource, and hazards order the resources.

use crate::footprint::hazards;
use crate::prices::Run;
use crate::report::{Resource, Wait, Why};

/// A command's place in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The runs that it waited for and started right after; empty in cycle 0.
    pub(crate) waits: Vec<Wait>,
}

/// A command starts when its resource is free and every earlier command that it has a hazard with has ended. It is
/// compared only with those that end when it could start at the earliest, or later: the last ones of each
/// resource, where each ends after the one before it.
pub(crate) fn schedule(runs: &[Run]) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::with_capacity(runs.len());
    let mut queues: [Vec<usize>; Resource::ALL.len()] = Default::default();
    for (number, run) in runs.iter().enumerate() {
        let own = run.work.resource.takes();
        let before: Vec<usize> = own.iter().filter_map(|&own| queues[own as usize].last().copied()).collect();
        let mut start = before.iter().map(|&command| slots[command].end).max().unwrap_or(0);
        let mut waits: Vec<Wait> =
            before.into_iter().map(|command| Wait { command, why: Why::Busy }).collect();
        for queue in &queues {
            for &command in queue.iter().rev() {
                let end = slots[command].end;
                if end < start {
                    break;
                }
                let found = reasons(&runs[command], run);
                if !found.is_empty() {
                    start = end;
                }
                waits.extend(found.into_iter().map(|why| Wait { command, why }));
            }
        }
        waits.retain(|wait| start > 0 && slots[wait.command].end == start);
        waits.sort_by_key(|wait| (wait.command, wait.why));
        // What takes two resources is in both queues.
        waits.dedup();
        slots.push(Slot { start, end: start.saturating_add(run.cycles), waits });
        own.iter().for_each(|&own| queues[own as usize].push(number));
    }
    slots
}

/// Why a run waits for an earlier one on another resource, if they overlap in time.
pub(crate) fn reasons(earlier: &Run, later: &Run) -> Vec<Why> {
    let mut found = hazards(&earlier.regions, &later.regions);
    let [one, other] = [&earlier.work, &later.work];
    let launched = one.launches && other.resource.is_device() || other.launches && one.resource.is_device();
    found.extend(launched.then_some(Why::Launch));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Work, tests::work};
    use crate::footprint::Region;
    use visa_engine::Space;
    use visa_support::Random;

    /// The definition, read off: whoever is earlier and on the same resource, or meets in memory, has to end before.
    fn as_defined(works: &[Run]) -> Vec<Slot> {
        let mut slots: Vec<Slot> = Vec::new();
        for (number, work) in works.iter().enumerate() {
            let reasons = |command: usize| {
                let other: &Run = &works[command];
                let takes = |run: &Run, resource| match run.work.resource {
                    Resource::Dual => [Resource::Main, Resource::Sub].contains(&resource),
                    own => own == resource,
                };
                // The last one before it that took one of the resources that it takes.
                let busy = Resource::ALL
                    .into_iter()
                    .filter(|resource| takes(work, *resource) && takes(other, *resource))
                    .any(|resource| !works[command + 1..number].iter().any(|own| takes(own, resource)))
                    .then_some(Why::Busy);
                // A kernel starts when the device is free, and nothing of the device crosses the start of one.
                let device = |run: &Run| run.work.resource != Resource::Pcie;
                let launch = (other.work.launches || work.work.launches) && device(other) && device(work);
                busy.into_iter()
                    .chain(hazards(&other.regions, &work.regions))
                    .chain(launch.then_some(Why::Launch))
            };
            let all: Vec<_> = (0..number)
                .flat_map(|command| reasons(command).map(move |why| Wait { command, why }))
                .collect();
            let start = all.iter().map(|wait| slots[wait.command].end).max().unwrap_or(0);
            let waits =
                all.into_iter().filter(|wait| start > 0 && slots[wait.command].end == start).collect();
            slots.push(Slot { start, end: start + work.cycles, waits });
        }
        slots
    }

    fn command(random: &mut Random) -> Run {
        let resources = [&Resource::ALL[..], &[Resource::Dual]].concat();
        let resource = resources[random.bits() as usize % resources.len()];
        let region = |random: &mut Random| {
            let (start, length) = (random.bits() % 12, random.bits() % 3);
            let slices = random.bits() % 2..2;
            let space = if random.bits().is_multiple_of(2) { Space::Dm } else { Space::Hbm };
            Region {
                space,
                write: random.bits().is_multiple_of(2),
                bytes: start..start + length,
                slices: vec![slices],
            }
        };
        let regions: Vec<Region> = (0..random.bits() % 3).map(|_| region(random)).collect();
        let launches = resource == Resource::Main && random.bits().is_multiple_of(3);
        let work = Work { launches, ..work(resource, random.bits() % 4) };
        Run { command: 0, cycles: work.cycles, stalls: 0, work: work.into(), regions: regions.into() }
    }

    #[test]
    fn a_schedule_is_as_defined() {
        for seed in 0..500 {
            let mut random = Random(seed);
            let length = random.bits() % 30;
            let works: Vec<_> = (0..length).map(|_| command(&mut random)).collect();
            assert_eq!(schedule(&works), as_defined(&works), "seed {seed}");
        }
    }
}
