//! The banks of data memory that commands take, and who waits for whom there (book 11).
//!
//! Main goes first, then sub, DMA last.
//!
//! - **Starvation.** A transfer waits for a bank as long as main and sub come to it in every access. If that is 64
//!   accesses or more, all that run at once together, the network gives up and the cluster is reset (B2). Such runs do
//!   not overlap a transfer that touches data memory of their slices. Fetch and commit of a run count both. What the
//!   transfer asks itself does not hold it up. Its requests go to all banks (book 11: 16 at once).
//! - **Main before sub.** A bank that main takes in m of M cycles serves sub in the other M - m. If sub comes to it s
//!   times, that takes s M / (M - m) cycles. Where sub has no more time, it is slower: by no more than main's accesses
//!   to that bank meanwhile, and not at all where banks or slices differ.

use std::ops::Range;
use std::rc::Rc;

use visa_engine::Space;
use visa_hw::program::Exec;
use visa_machine::Machine;
use visa_memory::BankAccesses;

use crate::command::Work;
use crate::prices::Run;

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
    fn firsts(&self) -> impl Iterator<Item = u64> {
        self.each.iter().flat_map(|walk| walk.slices.iter().map(|range| range.start))
    }

    /// The accesses to each bank of a slice: all, or those in a row.
    fn to(&self, slice: u64, of: fn(&BankAccesses) -> &Vec<u64>) -> impl Iterator<Item = &Vec<u64>> {
        self.each.iter().filter(move |walk| walk.is_in(slice)).map(move |walk| of(&walk.accesses))
    }

    /// Which part of its time a run takes each bank, its slices together; of all banks the most if it may be at others
    /// in other iterations.
    pub(crate) fn shares(&self, work: &Work, moves: bool) -> Vec<f64> {
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

/// What a stage that has moved asks of the banks; nothing if it has no loops over data memory. A single number that
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

/// Whether these runs, all at once, keep a transfer from a bank for `limit` accesses or more.
pub(crate) fn starve(transfer: &Run, users: &[&Run], limit: u64) -> bool {
    if users.iter().map(|user| user.walks.most).fold(0, u64::saturating_add) < limit {
        return false;
    }
    let touched = || transfer.regions.iter().filter(|region| region.space == Space::Dm);
    let touched = || touched().filter(|region| !region.bytes.is_empty()).flat_map(|region| &region.slices);
    let firsts = touched().map(|range| range.start).chain(users.iter().flat_map(|user| user.walks.firsts()));
    let mut slices: Vec<u64> = firsts.filter(|slice| touched().any(|range| range.contains(slice))).collect();
    slices.sort_unstable();
    slices.dedup();
    slices.iter().any(|&slice| {
        let walks = users.iter().flat_map(|user| user.walks.to(slice, |accesses| &accesses.in_a_row));
        sums(walks).into_iter().any(|accesses| accesses >= limit)
    })
}

/// Whether a transfer has requests in data memory.
pub(crate) fn touches_data_memory(run: &Run) -> bool {
    run.regions.iter().any(|region| region.space == Space::Dm && !region.bytes.is_empty())
}

/// Cycles that the accesses of a run to some bank take beside another one that goes first and is spread over `cycles`;
/// nothing if a bank that it needs is never free.
pub(crate) fn beside(own: &Walks, first: &Walks, cycles: u64) -> Option<u64> {
    let mut slices: Vec<u64> = own.firsts().chain(first.firsts()).collect();
    slices.sort_unstable();
    slices.dedup();
    let mut most = 0;
    for slice in slices {
        let of = |walks: &Walks| sums(walks.to(slice, |accesses| &accesses.all));
        for (wanted, taken) in of(own).into_iter().zip(of(first)) {
            if wanted == 0 || taken == 0 {
                continue;
            }
            let free = cycles.checked_sub(taken).filter(|&free| free > 0)?;
            let needed = (u128::from(wanted) * u128::from(cycles)).div_ceil(u128::from(free));
            most = most.max(u64::try_from(needed).unwrap_or(u64::MAX));
        }
    }
    Some(most)
}

/// The sums bank by bank; nothing of no walks.
fn sums<'a>(walks: impl Iterator<Item = &'a Vec<u64>>) -> Vec<u64> {
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

    #[test]
    fn a_bank_serves_sub_when_main_leaves_it() {
        let main = |times| walks(&[(0..8, 0..1, times)]);
        let sub = |slices, banks| walks(&[(slices, banks, 30)]);
        // Main takes bank 0 in 60 of 100 cycles: 30 accesses need 75.
        assert_eq!(beside(&sub(0..8, 0..1), &main(60), 100), Some(75));
        assert_eq!(beside(&sub(7..9, 0..1), &main(99), 100), Some(3000));
        // In all of them, or more if fetch and commit both want it: never.
        assert_eq!(beside(&sub(0..8, 0..1), &main(100), 100), None);
        assert_eq!(beside(&sub(0..8, 0..1), &main(101), 100), None);
        // Other banks, other slices, nobody there.
        assert_eq!(beside(&sub(0..8, 1..16), &main(100), 100), Some(0));
        assert_eq!(beside(&sub(8..9, 0..1), &main(100), 100), Some(0));
        assert_eq!(beside(&Walks::default(), &main(100), 100), Some(0));
    }

    #[test]
    fn fetch_and_commit_of_a_run_want_the_same_bank() {
        let main = walks(&[(0..8, 0..1, 20), (4..8, 0..1, 30)]);
        let sub = |slices| walks(&[(slices, 0..1, 10)]);
        assert_eq!(beside(&sub(4..5), &main, 100), Some(20));
        assert_eq!(beside(&sub(0..4), &main, 100), Some(13));
    }
}
