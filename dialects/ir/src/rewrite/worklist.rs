//! The operations that are still to be looked at.

use crate::module::OpId;
use rustc_hash::FxBuildHasher as Fast;
use std::collections::HashSet;

/// A stack without duplicates. The last pushed operation comes first, so that consequences of a change are visited
/// before the rest.
#[derive(Default)]
pub(super) struct Worklist {
    stack: Vec<OpId>,
    waiting: HashSet<OpId, Fast>,
}

impl Worklist {
    /// Operations in the order in which they come.
    pub(super) fn of(ops: &[OpId]) -> Self {
        Self { stack: ops.iter().rev().copied().collect(), waiting: ops.iter().copied().collect() }
    }

    /// Adds operations, which come in this order, before all others. One that waits already keeps its place.
    pub(super) fn push(&mut self, ops: &[OpId]) {
        for &op in ops.iter().rev() {
            if self.waiting.insert(op) {
                self.stack.push(op);
            }
        }
    }

    /// The next operation.
    pub(super) fn pop(&mut self) -> Option<OpId> {
        let op = self.stack.pop()?;
        self.waiting.remove(&op);
        Some(op)
    }
}
