//! Local search: an order improves as long as moving one command improves it. It finds orders that a list does not: a
//! queue may do better to wait for a long chain than to start a ready command.

use std::ops::RangeInclusive;

use crate::tasks::Tasks;

/// Most commands that are placed on the way, in all orders together.
const MOST: usize = 5_000_000;

/// An order that no move of one command makes better, or the best one that was seen until there had been enough.
#[must_use]
pub fn order(tasks: &Tasks, mut order: Vec<usize>) -> Vec<usize> {
    let mut best = rank(tasks, &order);
    let mut left = MOST / order.len().max(1);
    let mut moved = true;
    while moved && left > 0 {
        moved = false;
        for command in 0..order.len() {
            let others: Vec<usize> = order.iter().copied().filter(|&other| other != command).collect();
            for to in room(tasks, &others, command) {
                if left == 0 {
                    return order;
                }
                left -= 1;
                let mut other = others.clone();
                other.insert(to, command);
                let found = rank(tasks, &other);
                if found < best {
                    (best, order, moved) = (found, other, true);
                }
            }
        }
    }
    order
}

/// The value to minimize: the end of all commands, and then the sum of the starts, so that commands start as soon as
/// they can.
fn rank(tasks: &Tasks, order: &[usize]) -> (u64, u64) {
    let (starts, all) = tasks.placed(order);
    (all, starts.into_iter().fold(0, u64::saturating_add))
}

/// The places among the others at which a command may be: behind all that it needs, before all that need it.
fn room(tasks: &Tasks, others: &[usize], command: usize) -> RangeInclusive<usize> {
    let needed = others.iter().rposition(|other| tasks.0[command].after.contains(other));
    let needing = others.iter().position(|&other| tasks.0[other].after.contains(&command));
    needed.map_or(0, |needed| needed + 1)..=needing.unwrap_or(others.len())
}
