//! Accesses of runs to the banks of data memory.

use std::ops::Range;
use std::rc::Rc;

use visa_hw::program::Exec;
use visa_machine::Machine;
use visa_memory::BankAccesses;

use crate::command::CommandCost;

/// A walk through data memory.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub(crate) slices: Vec<Range<u64>>,
    pub(crate) accesses: Rc<BankAccesses>,
}

impl Walk {
    fn is_in(&self, slice: u64) -> bool {
        self.slices.iter().any(|range| range.contains(&slice))
    }
}

/// The walks of a run: of its fetch and of its commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walks {
    pub(crate) each: Vec<Walk>,
    /// No bank is accessed more often in a row by all of them.
    pub(crate) most: u64,
}

impl Walks {
    pub(crate) fn of(each: Vec<Walk>) -> Self {
        let most = each.iter().map(|walk| walk.accesses.longest().1).fold(0, u64::saturating_add);
        Self { each, most }
    }

    /// The first slices of all ranges: wherever ranges overlap, one of these is among them.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = u64> {
        self.each.iter().flat_map(|walk| walk.slices.iter().map(|range| range.start))
    }

    /// The accesses to each bank of a slice: all, or those in a row.
    pub(crate) fn to(
        &self,
        slice: u64,
        of: fn(&BankAccesses) -> &Vec<u64>,
    ) -> impl Iterator<Item = &Vec<u64>> {
        self.each.iter().filter(move |walk| walk.is_in(slice)).map(move |walk| of(&walk.accesses))
    }

    /// Part of its time that a run takes each bank, its slices together; of all banks the most if it may be at others
    /// in other iterations.
    pub(crate) fn shares(&self, work: &CommandCost, moves: bool) -> Vec<f64> {
        let cycles = work.cycles.saturating_sub(work.latency).max(1) as f64;
        let sums = sums(self.each.iter().map(|walk| &walk.accesses.all)).into_iter();
        let shares: Vec<f64> = sums.map(|accesses| accesses as f64 / cycles).collect();
        if moves { vec![shares.iter().copied().fold(0.0, f64::max); shares.len()] } else { shares }
    }
}

/// The walks of a run in an iteration of the loops around it. `accesses` gives those of a stage that has moved so far.
pub(crate) fn exec_walks(
    exec: &Exec,
    indices: &[u64],
    mut accesses: impl FnMut(usize, i64) -> Option<Rc<BankAccesses>>,
) -> Walks {
    let moved = |slice: usize| (slice as u64).saturating_add_signed(exec.steps.at(indices));
    let stages = exec.stages.iter().enumerate();
    let walks = stages.filter_map(|(number, stage)| {
        let accesses = accesses(number, stage.steps.at(indices))?;
        let slices = stage.stored_slices().unwrap_or(&exec.slices);
        Some(Walk {
            slices: slices.iter().map(|range| moved(range.start)..moved(range.end)).collect(),
            accesses,
        })
    });
    Walks::of(walks.collect())
}

/// Accesses of a stage that has moved to the banks; `None` if it has no loops over data memory. A single number that
/// is generated is no walk.
pub(crate) fn stage_accesses(
    exec: &Exec,
    stage: usize,
    moved: i64,
    machine: &Machine,
) -> Option<BankAccesses> {
    let walk = exec.stages.get(stage)?.bank_walk()?;
    if !walk.alike {
        return Some(BankAccesses::anywhere(walk.loops, machine));
    }
    let base = walk.loops.base.wrapping_add(moved);
    Some(BankAccesses::of(&visa_loops::Program { base, ..walk.loops.clone() }, machine))
}

/// The most accesses in a row to a bank by all stages of a run, in any iteration of the loops around it.
pub(crate) fn most_in_a_row(exec: &Exec, machine: &Machine) -> u64 {
    let walks = exec.stages.iter().filter_map(|stage| stage.bank_walk());
    walks.map(|walk| BankAccesses::anywhere(walk.loops, machine).longest().1).fold(0, u64::saturating_add)
}

/// The sums bank by bank; empty if there are no walks.
pub(crate) fn sums<'a>(walks: impl Iterator<Item = &'a Vec<u64>>) -> Vec<u64> {
    let plus = |sum: Vec<u64>, walk: &Vec<u64>| {
        if sum.is_empty() {
            return walk.clone();
        }
        sum.iter().zip(walk).map(|(one, other)| one.saturating_add(*other)).collect()
    };
    walks.fold(Vec::new(), plus)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Walks that each access some banks of some slices so often, every time in a row.
    pub(crate) fn walks(each: &[(Range<u64>, Range<usize>, u64)]) -> Walks {
        let walk = |(slices, banks, times): &(Range<u64>, Range<usize>, u64)| {
            let all: Vec<u64> = (0..16).map(|bank| if banks.contains(&bank) { *times } else { 0 }).collect();
            let accesses = Rc::new(BankAccesses { in_a_row: all.clone(), all });
            Walk { slices: vec![slices.clone()], accesses }
        };
        Walks::of(each.iter().map(walk).collect())
    }
}
