//! When each command runs (book 28): program order is kept on every resource, and hazards order the resources.

use crate::command::Work;
use crate::footprint::hazards;
use crate::report::{Resource, Wait, Why};

/// A command's place in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// What it started right behind; empty in cycle 0.
    pub(crate) waits: Vec<Wait>,
}

/// A command starts when its resource is free and every earlier command that it has a hazard with has ended.
pub(crate) fn schedule(works: &[Work]) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::with_capacity(works.len());
    for (number, work) in works.iter().enumerate() {
        let before = previous(works, number, work.resource);
        let free = before.map_or(0, |command| slots[command].end);
        let mut waits: Vec<Wait> =
            before.map(|command| Wait { command, why: Why::Busy }).into_iter().collect();
        // Whoever ended before the resource was free cannot be what the command waits for.
        for (command, earlier) in works[..number].iter().enumerate().filter(|(at, _)| slots[*at].end >= free)
        {
            let found = hazards(&earlier.regions, &work.regions);
            waits.extend(found.into_iter().map(|why| Wait { command, why }));
        }
        let start = waits.iter().map(|wait| slots[wait.command].end).max().unwrap_or(0);
        waits.retain(|wait| start > 0 && slots[wait.command].end == start);
        waits.sort_by_key(|wait| (wait.command, wait.why));
        slots.push(Slot { start, end: start.saturating_add(work.cycles), waits });
    }
    slots
}

fn previous(works: &[Work], number: usize, resource: Resource) -> Option<usize> {
    works[..number].iter().rposition(|work| work.resource == resource)
}
