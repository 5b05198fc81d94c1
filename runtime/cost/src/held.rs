//! The memory of the device that runs hold: from the run that writes bytes to the last one that reads them.

use std::collections::BTreeMap;
use std::ops::Range;

use visa_engine::Space;

use crate::footprint::Region;
use crate::place::Slot;
use crate::prices::Run;
use crate::timeline::Held;

/// Most ranges of a memory that may still be read: of more, the oldest is not followed any further.
const MOST_LIVE: usize = 4096;

/// What runs hold in their places, by when it is written. A range ends where one run writes all of it anew; what is
/// written over in part may be read further on.
pub(crate) fn held(runs: &[Run], slots: &[Slot]) -> Vec<Held> {
    let mut all: Vec<Held> = Vec::new();
    // By memory, the ranges that may be read: their numbers in `all`, the oldest first.
    let mut live: BTreeMap<Space, Vec<usize>> = BTreeMap::new();
    for (number, (run, slot)) in runs.iter().zip(slots).enumerate() {
        for region in run.regions.iter().filter(|region| is_followed(region) && !region.write) {
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
        for region in run.regions.iter().filter(|region| is_followed(region) && region.write) {
            let live = live.entry(region.space).or_default();
            live.retain(|&range| !covers(region, &all[range]));
            if live.len() == MOST_LIVE {
                live.remove(0);
            }
            live.push(all.len());
            all.push(Held {
                space: region.space,
                slices: hull(&region.slices),
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

/// Whether it is memory of the device, and some of it.
fn is_followed(region: &Region) -> bool {
    let on_the_device = match region.space {
        Space::Dm | Space::Spm | Space::Trf | Space::Vrf => true,
        Space::Hbm | Space::Host => false,
    };
    on_the_device && !region.bytes.is_empty()
}

fn hull(slices: &[Range<u64>]) -> Range<u64> {
    let first = slices.iter().map(|range| range.start).min().unwrap_or(0);
    first..slices.iter().map(|range| range.end).max().unwrap_or(first)
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
