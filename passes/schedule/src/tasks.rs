//! Commands as work in queues: duration of each, its queues meanwhile, and its predecessors.

use std::collections::BinaryHeap;
use visa_cost::Queues;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// From its start to its end.
    pub cycles: u64,
    /// The queues that it occupies.
    pub uses: Queues,
    /// Those that must have ended, all of which have lower numbers.
    pub after: Vec<usize>,
}

/// The commands of a block, in program order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tasks(pub Vec<Task>);

impl Tasks {
    /// The start of each command in a written order, and the end of all. Each starts as on the machine: once the
    /// earlier commands of its queues and the commands that it needs have ended (book 28).
    #[must_use]
    pub fn placed(&self, order: &[usize]) -> (Vec<u64>, u64) {
        let mut starts = vec![0; self.0.len()];
        let mut free = [0_u64; Queues::COUNT];
        let mut all = 0;
        for &number in order {
            let task = &self.0[number];
            let ready = task.after.iter().map(|&other| self.end(&starts, other));
            let queued = task.uses.numbers().map(|queue| free[queue]);
            starts[number] = ready.chain(queued).max().unwrap_or(0);
            let end = self.end(&starts, number);
            task.uses.numbers().for_each(|queue| free[queue] = end);
            all = all.max(end);
        }
        (starts, all)
    }

    fn end(&self, starts: &[u64], number: usize) -> u64 {
        starts[number].saturating_add(self.0[number].cycles)
    }

    /// The commands of each queue that some command takes.
    pub fn queues(&self) -> impl Iterator<Item = Vec<usize>> {
        let mut queues = vec![Vec::new(); Queues::COUNT];
        for (number, task) in self.0.iter().enumerate() {
            task.uses.numbers().for_each(|queue| queues[queue].push(number));
        }
        queues.into_iter().filter(|queue| !queue.is_empty())
    }

    /// From each command's start to the end of all that must come after it.
    #[must_use]
    pub fn tails(&self) -> Vec<u64> {
        let mut tails: Vec<u64> = self.0.iter().map(|task| task.cycles).collect();
        for (number, task) in self.0.iter().enumerate().rev() {
            for &before in &task.after {
                tails[before] = tails[before].max(self.0[before].cycles.saturating_add(tails[number]));
            }
        }
        tails
    }

    /// Longest path from the start to each command, through its predecessors.
    #[must_use]
    pub fn heads(&self) -> Vec<u64> {
        let mut heads = vec![0_u64; self.0.len()];
        for (number, task) in self.0.iter().enumerate() {
            heads[number] = task.after.iter().map(|&other| self.end(&heads, other)).max().unwrap_or(0);
        }
        heads
    }

    /// Lower bound of the cycles of all orders: the longest chain of needs, and for each queue the end of its commands
    /// and of those that depend on them, if its commands could be interrupted.
    #[must_use]
    pub fn bound(&self) -> u64 {
        let (heads, tails) = (self.heads(), self.tails());
        let chain = (0..self.0.len()).map(|number| heads[number].saturating_add(tails[number])).max();
        let of_queue = |own: Vec<usize>| {
            let command = |number: usize| {
                let cycles = self.0[number].cycles;
                Interruptible { head: heads[number], cycles, tail: tails[number].saturating_sub(cycles) }
            };
            interrupted(own.into_iter().map(command).collect())
        };
        chain.into_iter().chain(self.queues().map(of_queue)).max().unwrap_or(0)
    }
}

/// A command of a queue that may be interrupted.
struct Interruptible {
    /// Least time before it.
    head: u64,
    cycles: u64,
    /// Least time after it.
    tail: u64,
}

/// The end of all commands of a queue, each with its tail, if of those that may start the one with the longest tail
/// runs, and a later one interrupts it. No order ends sooner.
fn interrupted(mut commands: Vec<Interruptible>) -> u64 {
    commands.sort_by_key(|command| command.head);
    let (mut ready, mut time, mut end, mut next) = (BinaryHeap::new(), 0_u64, 0_u64, 0);
    loop {
        while let Some(command) = commands.get(next).filter(|command| command.head <= time) {
            ready.push((command.tail, command.cycles));
            next += 1;
        }
        let later = commands.get(next).map(|command| command.head);
        let Some((tail, cycles)) = ready.pop() else {
            let Some(later) = later else { return end };
            time = later;
            continue;
        };
        let executed = later.map_or(cycles, |later| cycles.min(later - time));
        time = time.saturating_add(executed);
        if executed < cycles {
            ready.push((tail, cycles - executed));
        } else {
            end = end.max(time.saturating_add(tail));
        }
    }
}
