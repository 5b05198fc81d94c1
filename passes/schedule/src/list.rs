//! List scheduling: of the commands that may come next, the one that can start first; of equals the one before the
//! longest chain; of equals the first in the program.

use crate::tasks::Tasks;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use visa_cost::Queues;

/// An order of commands.
#[must_use]
pub fn order(tasks: &Tasks) -> Vec<usize> {
    let (tails, count) = (tasks.tails(), tasks.0.len());
    let mut missing: Vec<usize> = tasks.0.iter().map(|task| task.after.len()).collect();
    let mut later: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, task) in tasks.0.iter().enumerate() {
        task.after.iter().for_each(|&before| later[before].push(number));
    }
    let (mut ready, mut free) = (vec![0_u64; count], [0_u64; Queues::COUNT]);
    let key = |number: usize, start: u64| Reverse((start, Reverse(tails[number]), number));
    let mut open: BinaryHeap<_> =
        (0..count).filter(|&number| missing[number] == 0).map(|number| key(number, 0)).collect();
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse((known, _, number))) = open.pop() {
        let task = &tasks.0[number];
        let queued = task.uses.numbers().map(|queue| free[queue]).max().unwrap_or(0);
        let start = ready[number].max(queued);
        // Its queue may have been taken since: then it waits with the others.
        if start > known {
            open.push(key(number, start));
            continue;
        }
        let end = start.saturating_add(task.cycles);
        task.uses.numbers().for_each(|queue| free[queue] = end);
        order.push(number);
        for &next in &later[number] {
            ready[next] = ready[next].max(end);
            missing[next] -= 1;
            if missing[next] == 0 {
                open.push(key(next, ready[next]));
            }
        }
    }
    order
}
