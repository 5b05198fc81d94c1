//! Local search: an order gets better as long as one command elsewhere makes it so. It finds what a list does not:
//! that a queue had better wait for a long chain than start what is ready.

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
            let (first, last) = room(tasks, &order, command);
            for to in first..=last {
                if left == 0 {
                    return order;
                }
                left -= 1;
                let other = inserted(&order, command, to);
                let found = rank(tasks, &other);
                if found < best {
                    (best, order, moved) = (found, other, true);
                }
            }
        }
    }
    order
}

/// What is to be small: when all have ended, and of equals the sum of the starts, so that what may start sooner does.
fn rank(tasks: &Tasks, order: &[usize]) -> (u64, u64) {
    let (starts, all) = tasks.placed(order);
    (all, starts.into_iter().fold(0, u64::saturating_add))
}

/// The first and the last place at which a command may be.
fn room(tasks: &Tasks, order: &[usize], command: usize) -> (usize, usize) {
    let own = order.iter().position(|&other| other == command).unwrap_or(0);
    let before = order[..own].iter().rposition(|other| tasks.0[command].after.contains(other));
    let behind = order[own + 1..].iter().position(|&other| tasks.0[other].after.contains(&command));
    (before.map_or(0, |before| before + 1), behind.map_or(order.len() - 1, |behind| own + behind))
}

/// The order with a command at another place.
fn inserted(order: &[usize], command: usize, to: usize) -> Vec<usize> {
    let mut order: Vec<usize> = order.iter().copied().filter(|&other| other != command).collect();
    order.insert(to, command);
    order
}
