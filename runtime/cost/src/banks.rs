//! The banks of data memory that commands take, and who waits for whom there (book 11).
//!
//! Main goes first, then sub, DMA last.
//!
//! - **Starvation.** A transfer waits for a bank as long as main and sub come to it in every access. If that is 64
//!   accesses or more, all that run at once together, the network gives up and the cluster is reset (B2). Such runs do
//!   not overlap a transfer that touches data memory of their slices. Fetch and commit of a run count both. The
//!   transfer's own requests do not hold it up: they go to all banks (book 11: 16 at once).
//! - **Main before sub.** A bank that main takes in m of M cycles serves sub in the other M - m. If sub comes to it s
//!   times, that takes s M / (M - m) cycles. Where sub has no more time, it is slower: by no more than main's accesses
//!   to that bank meanwhile, and not at all where banks or slices differ.

use visa_engine::Space;

use crate::prices::Run;
use crate::walks::{Walks, sums};

/// Returns true if these runs, all at once, keep a transfer from a bank for `limit` accesses or more.
pub(crate) fn starve(transfer: &Run, users: &[&Run], limit: u64) -> bool {
    if users.iter().map(|user| user.walks.most).fold(0, u64::saturating_add) < limit {
        return false;
    }
    let touched = || transfer.regions.iter().filter(|region| region.space == Space::DM);
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

/// Returns true if a transfer has requests in data memory.
pub(crate) fn touches_data_memory(run: &Run) -> bool {
    run.regions.iter().any(|region| region.space == Space::DM && !region.bytes.is_empty())
}

/// Cycles that the accesses of a run to some bank take in parallel with another run that goes first and is spread over
/// `cycles`; `None` if a bank that it needs is never free.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walks::tests::walks;

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
        // Other banks, other slices, no accesses at all.
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
