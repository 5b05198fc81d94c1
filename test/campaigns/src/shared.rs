//! Work on all cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Numbers that no other core has, in ascending order, without end.
pub(crate) struct Numbers<'a>(&'a AtomicU64);

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// What `work` makes of numbers on each core. Not by rayon: a worker that waits for the interpreter's lanes would
/// begin another case on top of its own, and a hundred of them overflow its stack.
pub(crate) fn each_core<T: Send>(work: impl Fn(Numbers<'_>) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    let (next, work) = (&next, &work);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let running: Vec<_> = (0..cores).map(|_| scope.spawn(move || work(Numbers(next)))).collect();
        let joined = running.into_iter().map(thread::ScopedJoinHandle::join);
        joined.map(|done| done.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
