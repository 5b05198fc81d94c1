//! The memory of the device that runs hold: from the run that writes bytes to the last one that reads them.

use std::collections::BTreeMap;
use std::ops::Range;

use visa_engine::Space;

use crate::footprint::Region;
use crate::prices::Run;
use crate::schedule::place::Slot;

/// Bytes of a memory of the device, from when they are written until they are read for the last time before others
/// take their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Data memory, scratchpad memory, a register file, or HBM.
    pub space: Space,
    /// The first slice and the one behind the last; of scratchpad memory, the PEs.
    pub slices: Range<u64>,
    /// Addresses in each of them.
    pub bytes: Range<u64>,
    /// When they begin to be written.
    pub start: u64,
    /// When they have been read for the last time; where they never are, when they have been written.
    pub end: u64,
    /// The run that writes them.
    pub writer: usize,
    /// The runs that read them.
    pub readers: Vec<usize>,
}

/// Most ranges of a memory that may still be read: of more, the oldest is not followed any further.
const MOST_LIVE: usize = 4096;

/// Ranges that runs hold, in HBM too, in the order of their writes. A range ends where one run overwrites all of it; a
/// range that is partly overwritten may still be read later.
pub(crate) fn held(runs: &[Run], slots: &[Slot]) -> Vec<Held> {
    let is_followed = |region: &&Region| {
        !region.bytes.is_empty() && (region.space == Space::HBM || is_on_the_device(region.space))
    };
    let mut all: Vec<Held> = Vec::new();
    // By memory, the ranges that may be read: their numbers in `all`, the oldest first.
    let mut live: BTreeMap<Space, Vec<usize>> = BTreeMap::new();
    for (number, (run, slot)) in runs.iter().zip(slots).enumerate() {
        for region in run.regions.iter().filter(|region| !region.write).filter(is_followed) {
            for &range in live.entry(region.space).or_default().iter() {
                let range = &mut all[range];
                if meets(range, region) {
                    range.end = range.end.max(slot.end);
                    if range.readers.last() != Some(&number) {
                        range.readers.push(number);
                    }
                }
            }
        }
        for region in run.regions.iter().filter(|region| region.write).filter(is_followed) {
            let Some(slices) = hull(&region.slices) else { continue };
            let live = live.entry(region.space).or_default();
            live.retain(|&range| !covers(region, &all[range]));
            if live.len() == MOST_LIVE {
                live.remove(0);
            }
            live.push(all.len());
            all.push(Held {
                space: region.space,
                slices,
                bytes: region.bytes.clone(),
                start: slot.start,
                end: slot.end,
                writer: number,
                readers: Vec::new(),
            });
        }
    }
    all
}

/// For each of `count` runs, the runs whose writes it reads.
pub(crate) fn sources(held: &[Held], count: usize) -> Vec<Vec<usize>> {
    let mut sources = vec![Vec::new(); count];
    for range in held {
        for &reader in &range.readers {
            sources[reader].push(range.writer);
        }
    }
    for own in &mut sources {
        own.sort_unstable();
        own.dedup();
    }
    sources
}

/// Returns true if it is memory of the device.
pub(crate) fn is_on_the_device(space: Space) -> bool {
    match space {
        Space::Memory(medium) => medium.is_sram(),
        Space::Trf | Space::Vrf => true,
    }
}

/// From the first slice to the last one; `None` if there are none.
fn hull(slices: &[Range<u64>]) -> Option<Range<u64>> {
    let first = slices.iter().map(|range| range.start).min()?;
    Some(first..slices.iter().map(|range| range.end).max()?)
}

fn meets(range: &Held, region: &Region) -> bool {
    let overlap = |own: &Range<u64>, other: &Range<u64>| own.start.max(other.start) < own.end.min(other.end);
    overlap(&range.bytes, &region.bytes) && region.slices.iter().any(|slices| overlap(&range.slices, slices))
}

fn covers(region: &Region, range: &Held) -> bool {
    let within =
        |outer: &Range<u64>, inner: &Range<u64>| outer.start <= inner.start && inner.end <= outer.end;
    within(&region.bytes, &range.bytes) && region.slices.iter().any(|slices| within(slices, &range.slices))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::tests::work;
    use crate::prices::Stalled;
    use crate::report::Resource;
    use crate::walks::tests::walks;
    use visa_support::Random;

    fn run(regions: Vec<Region>) -> Run {
        Run {
            command: 0,
            iteration: [].into(),
            work: work(Resource::Main, 1).into(),
            regions: regions.into(),
            walks: walks(&[]).into(),
            cycles: 1,
            stalled: Stalled::default(),
        }
    }

    fn slot(start: u64) -> Slot {
        Slot { start, end: start + 1, stalls: 0, waits: Vec::new() }
    }

    fn region(write: bool, bytes: Range<u64>, slices: Range<u64>) -> Region {
        Region { space: Space::DM, write, bytes, slices: vec![slices] }
    }

    #[test]
    fn a_range_ends_with_its_last_reader() {
        let runs = [
            run(vec![region(true, 0..8, 0..2)]),
            run(vec![region(false, 4..6, 1..2)]),
            // Another slice, other bytes, and another memory read nothing of it.
            run(vec![region(false, 0..8, 2..3), region(false, 8..9, 0..2)]),
            run(vec![Region { space: Space::Trf, ..region(false, 0..8, 0..2) }]),
            // All of it is written again: later reads are of the new range.
            run(vec![region(true, 0..16, 0..4)]),
            run(vec![region(false, 0..1, 0..1)]),
        ];
        let slots: Vec<Slot> = (0..6).map(|number| slot(10 * number)).collect();
        let found = held(&runs, &slots);
        let ends = |range: &Held| (range.writer, range.start, range.end, range.readers.clone());
        let ends: Vec<_> = found.iter().map(ends).collect();
        assert_eq!(ends, [(0, 0, 11, vec![1]), (4, 40, 51, vec![5])]);
        // Host memory is not followed, and nothing is held of no bytes.
        let none =
            [run(vec![Region { space: Space::HOST, ..region(true, 0..8, 0..1) }, region(true, 3..3, 0..1)])];
        assert_eq!(held(&none, &slots[..1]), []);
    }

    #[test]
    fn sources_are_what_a_run_reads_of_hbm_too() {
        let hbm = |write: bool, bytes: Range<u64>| Region { space: Space::HBM, ..region(write, bytes, 0..1) };
        let runs = [
            run(vec![hbm(true, 0..8)]),
            run(vec![region(true, 0..8, 0..2)]),
            run(vec![hbm(false, 4..12), region(false, 0..2, 1..2), region(false, 6..8, 0..1)]),
            // HBM has no slices, and other bytes are nothing of it.
            run(vec![hbm(false, 8..12), region(false, 0..8, 2..3)]),
        ];
        let slots: Vec<Slot> = (0..4).map(slot).collect();
        assert_eq!(sources(&held(&runs, &slots), runs.len()), [vec![], vec![], vec![0, 1], vec![]]);
    }

    /// The readers of a write, found by going on from it until one write takes all of it.
    fn readers(runs: &[Run], writer: usize, own: &Region) -> Vec<usize> {
        let mut found = Vec::new();
        for (number, run) in runs.iter().enumerate().skip(writer + 1) {
            let each = |write: bool| run.regions.iter().filter(move |region| region.write == write);
            let shares = |other: &Region| {
                own.bytes.clone().any(|byte| other.bytes.contains(&byte))
                    && own.slices[0].clone().any(|slice| other.slices[0].contains(&slice))
            };
            if each(false).any(shares) {
                found.push(number);
            }
            let takes_all = |other: &Region| {
                own.bytes.clone().all(|byte| other.bytes.contains(&byte))
                    && own.slices[0].clone().all(|slice| other.slices[0].contains(&slice))
            };
            if each(true).any(takes_all) {
                break;
            }
        }
        found
    }

    #[test]
    fn readers_are_those_before_all_is_written_anew() {
        let mut some = 0;
        for seed in 0..300 {
            let mut random = Random(seed);
            let range = |random: &mut Random, bound: usize| {
                let start = random.below(bound) as u64;
                start..start + 1 + random.below(4) as u64
            };
            let runs: Vec<Run> = (0..random.below(20))
                .map(|_| {
                    let read = region(false, range(&mut random, 12), range(&mut random, 3));
                    run(vec![read, region(true, range(&mut random, 12), range(&mut random, 3))])
                })
                .collect();
            let slots: Vec<Slot> = (0..runs.len()).map(|number| slot(number as u64)).collect();
            let found = held(&runs, &slots);
            assert_eq!(found.len(), runs.len());
            for (number, range) in found.iter().enumerate() {
                let expected = readers(&runs, number, &runs[number].regions[1]);
                let end = expected.last().map_or(number as u64 + 1, |last| *last as u64 + 1);
                assert_eq!((&range.readers, range.end), (&expected, end), "seed {seed}, run {number}");
                some += expected.len();
            }
        }
        assert!(some > 500, "{some} reads");
    }
}
