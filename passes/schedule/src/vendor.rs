//! The order in which the vendor's scheduler issues commands, learned from its schedules
//! (`test/peers/silicon/orders`).
//!
//! Each command has a rank: its position in a walk from the last stores, the last one in the text first, through
//! operands. Operands with a longer chain of commands before them come first, up to a length of `DEPTH`; of equals
//! the first one. Of the commands that may come next, the one with the lowest rank is issued, among those that can
//! start before any of the others could end.

use crate::tasks::Task;
use std::collections::HashSet;
use visa_cost::Queues;

/// Cycles from a store to the start of a transfer that reads its bytes back, for the order alone. All values from
/// 4,200 to 8,000 give the orders of the schedules: the scheduler issues other ready commands first.
const SYNC: u64 = 5_000;

/// Longest chain of commands before an operand that the walk tells from longer ones: with 2 to 4 all pairs of eleven
/// of the schedules agree, with 5 fewer.
const DEPTH: usize = 4;

/// A command, with the facts that determine its rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorCommand {
    /// Its cycles, queues and predecessors.
    pub task: Task,
    /// Commands that make its operands, in the order of the operands. All are among its predecessors.
    pub operands: Vec<usize>,
    /// True for a transfer to the memory that all clusters share.
    pub stores: bool,
    /// Position in the text.
    pub text: usize,
}

impl VendorCommand {
    fn is_transfer(&self) -> bool {
        self.task.uses.are_dma()
    }
}

/// The vendor's order of commands, by their numbers. A command is issued at most `ahead` ranks before another one that
/// has to wait.
#[must_use]
pub fn order(commands: &[VendorCommand], ahead: usize) -> Vec<usize> {
    let ranks = ranks(commands);
    let mut missing: Vec<usize> = commands.iter().map(|command| command.task.after.len()).collect();
    let mut later: Vec<Vec<usize>> = vec![Vec::new(); commands.len()];
    for (number, command) in commands.iter().enumerate() {
        command.task.after.iter().for_each(|&before| later[before].push(number));
    }
    let mut ready: Vec<usize> = (0..commands.len()).filter(|&number| missing[number] == 0).collect();
    let mut issue = Issue { commands, ahead, data: vec![0; commands.len()], free: [0; QUEUES] };
    let mut issued = Vec::with_capacity(commands.len());
    while let Some(at) = issue.next(&ready, &ranks) {
        let number = ready.swap_remove(at);
        let start = issue.start(number);
        let end = issue.run(number, start);
        issued.push((start, issued.len(), number));
        for &next in &later[number] {
            issue.data[next] = issue.data[next].max(end.saturating_add(sync(commands, number, next)));
            missing[next] -= 1;
            if missing[next] == 0 {
                ready.push(next);
            }
        }
    }
    // A sort by starts would undo the limit.
    if ahead == usize::MAX {
        issued.sort_by_key(|&(start, at, number)| (start, class(&commands[number]), at));
    }
    issued.into_iter().map(|(_, _, number)| number).collect()
}

/// Of commands that start at the same time, the dumps list passes of main first, and transfers last.
fn class(command: &VendorCommand) -> u8 {
    match (command.is_transfer(), command.task.uses.meet(Queues::MAIN)) {
        (true, _) => 2,
        (false, true) => 0,
        (false, false) => 1,
    }
}

/// Extra cycles between a command and one that needs it: a transfer that reads back a store waits for all clusters.
fn sync(commands: &[VendorCommand], before: usize, next: usize) -> u64 {
    let (store, load) = (&commands[before], &commands[next]);
    let reloads = store.stores && load.is_transfer() && !load.stores && load.operands.contains(&before);
    if reloads { SYNC } else { 0 }
}

/// Units that the scheduler tells apart: main, sub, all else of the chip, and one DMA engine for all clusters.
const QUEUES: usize = 4;

/// The commands that were issued so far, as times.
struct Issue<'a> {
    commands: &'a [VendorCommand],
    ahead: usize,
    /// The end of each command's predecessors.
    data: Vec<u64>,
    free: [u64; QUEUES],
}

impl Issue<'_> {
    fn units(&self, number: usize) -> impl Iterator<Item = usize> + use<> {
        let uses = self.commands[number].task.uses;
        let is_dma = uses.are_dma();
        let own = uses.numbers().filter(|&queue| queue < QUEUES - 1);
        own.chain(is_dma.then_some(QUEUES - 1))
    }

    fn start(&self, number: usize) -> u64 {
        self.units(number).map(|unit| self.free[unit]).fold(self.data[number], u64::max)
    }

    /// The least cycles of a command: commands without cost are issued in order, too.
    fn end(&self, number: usize) -> u64 {
        self.start(number).saturating_add(self.commands[number].task.cycles.max(1))
    }

    /// Runs a command, and returns its end.
    fn run(&mut self, number: usize, start: u64) -> u64 {
        let end = start.saturating_add(self.commands[number].task.cycles.max(1));
        for unit in self.units(number).collect::<Vec<_>>() {
            self.free[unit] = end;
        }
        end
    }

    /// The position, among the ready commands, of the one that is issued next: of those that share a unit with the
    /// command that can end first, and can start before it ends, the one with the lowest rank.
    fn next(&self, ready: &[usize], ranks: &[usize]) -> Option<usize> {
        let last = ready.iter().map(|&number| ranks[number]).min()?.saturating_add(self.ahead);
        let near = ready.iter().copied().filter(|&number| ranks[number] <= last);
        let soonest = near.min_by_key(|&number| (self.end(number), ranks[number]))?;
        let end = self.end(soonest);
        let units: HashSet<usize> = self.units(soonest).collect();
        let competes = |number: usize| {
            let shares = || self.units(number).any(|unit| units.contains(&unit));
            number == soonest || ranks[number] <= last && self.start(number) < end && shares()
        };
        let among = (0..ready.len()).filter(|&at| competes(ready[at]));
        among.min_by_key(|&at| ranks[ready[at]])
    }
}

/// The rank of each command: lower ranks are issued first.
fn ranks(commands: &[VendorCommand]) -> Vec<usize> {
    let mut walk = Walk { commands, depths: depths(commands), ranks: vec![None; commands.len()], next: 0 };
    let mut needed = vec![false; commands.len()];
    commands.iter().flat_map(|command| &command.task.after).for_each(|&before| needed[before] = true);
    let mut last: Vec<usize> = (0..commands.len()).filter(|&number| !needed[number]).collect();
    last.sort_by_key(|&number| (!commands[number].is_transfer(), std::cmp::Reverse(commands[number].text)));
    last.into_iter().for_each(|number| walk.from(number));
    walk.ranks.into_iter().map(|rank| rank.unwrap_or(usize::MAX)).collect()
}

/// A walk from a command through its operands, each before the command that needs it. Chains may be long: there is no
/// recursion.
struct Walk<'a> {
    commands: &'a [VendorCommand],
    depths: Vec<usize>,
    ranks: Vec<Option<usize>>,
    next: usize,
}

impl Walk<'_> {
    fn from(&mut self, number: usize) {
        let mut seen = HashSet::new();
        let mut left = vec![(number, false)];
        while let Some((number, operands_done)) = left.pop() {
            if operands_done {
                self.ranks[number] = Some(self.next);
                self.next += 1;
            } else if self.ranks[number].is_none() && seen.insert(number) {
                left.push((number, true));
                left.extend(self.operands(number).into_iter().rev().map(|operand| (operand, false)));
            }
        }
    }

    /// The operands in the order of the walk, then predecessors that are no operands.
    fn operands(&self, number: usize) -> Vec<usize> {
        let command = &self.commands[number];
        let others = command.task.after.iter().filter(|before| !command.operands.contains(before));
        let mut all: Vec<usize> = command.operands.iter().chain(others).copied().collect();
        all.sort_by_key(|&operand| std::cmp::Reverse(self.depths[operand]));
        all
    }
}

/// Number of commands in the longest chain that ends with each, up to [`DEPTH`].
fn depths(commands: &[VendorCommand]) -> Vec<usize> {
    let mut depths = vec![1; commands.len()];
    // Each time the chains that are counted are longer by one.
    for _ in 1..DEPTH {
        let known = depths.clone();
        for (depth, command) in depths.iter_mut().zip(commands) {
            let before = command.task.after.iter().map(|&before| known[before]);
            *depth = before.max().map_or(1, |before| DEPTH.min(before + 1));
        }
    }
    depths
}
