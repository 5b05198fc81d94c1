//! Every run of every command in its place in time, and the memory that they hold.

use std::ops::Range;
use std::rc::Rc;

use visa_engine::Space;
use visa_machine::Machine;

use crate::footprint::Region;
use crate::held::{Held, held, is_on_the_device, sources};
use crate::prices::Run;
use crate::report::Why;
use crate::schedule::place::Slot;
use crate::schedule::scheduled::Scheduled;
use crate::ticks::ticks;

/// A command in an iteration of the loops around it, in cycles, or in ticks of a machine that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The command's number in program order.
    pub command: usize,
    /// The iteration of each loop around it, the outermost first.
    pub iteration: Rc<[u64]>,
    /// Where it starts.
    pub start: u64,
    /// Where it has ended.
    pub end: u64,
    /// Time that it waits between them for others that go first.
    pub stalls: u64,
    /// The runs that it started right after, none at the very start; and those that it waits for meanwhile.
    pub waits: Vec<WaitsFor>,
}

/// A run that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitsFor {
    /// Its place in the timeline.
    pub run: usize,
    /// Reason for the wait.
    pub why: Why,
}

/// Timeline of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// All runs in the order of the program.
    pub runs: Vec<Occurrence>,
    /// The memory that they hold, by the time of its write; empty if it was not requested.
    pub held: Vec<Held>,
    /// For each run, the runs whose writes it reads, by their places in `runs`; empty if it was not requested.
    pub sources: Vec<Vec<usize>>,
    /// For each run, the slices of data memory that it touches, from the first to the last; empty for none.
    pub slices: Vec<Range<u64>>,
}

/// Runs in their places as a timeline, with the memory that they hold if `with_memory`.
pub(crate) fn timeline(scheduled: Scheduled, device: &Machine, with_memory: bool) -> Timeline {
    let Scheduled { runs, slots } = scheduled;
    let time = |cycles: u64| match &device.measured {
        Some(measured) => ticks(cycles, measured),
        None => cycles,
    };
    let mut held = if with_memory { held(&runs, &slots) } else { Vec::new() };
    let sources = if with_memory { sources(&held, runs.len()) } else { Vec::new() };
    held.retain(|range| is_on_the_device(range.space));
    for range in &mut held {
        (range.start, range.end) = (time(range.start), time(range.end));
    }
    let slices = runs.iter().map(|run| slices(&run.regions)).collect();
    let all = runs.into_iter().zip(slots);
    Timeline { runs: all.map(|(run, slot)| occurrence(run, slot, time)).collect(), held, sources, slices }
}

/// The slices of data memory among regions, from the first to the last.
fn slices(regions: &[Region]) -> Range<u64> {
    let own = || regions.iter().filter(|region| region.space == Space::DM).flat_map(|region| &region.slices);
    let first = own().map(|range| range.start).min();
    first.zip(own().map(|range| range.end).max()).map_or(0..0, |(first, end)| first..end)
}

fn occurrence(run: Run, slot: Slot, time: impl Fn(u64) -> u64) -> Occurrence {
    let waits = slot.waits.iter().chain(&run.stalled.by);
    Occurrence {
        command: run.command,
        iteration: run.iteration,
        start: time(slot.start),
        end: time(slot.end),
        stalls: time(run.stalled.cycles.total().saturating_add(slot.stalls)),
        waits: waits.map(|wait| WaitsFor { run: wait.command, why: wait.why }).collect(),
    }
}
