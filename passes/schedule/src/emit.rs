//! Puts commands in another order, with the views and numbers that each needs before it.

use crate::commands::Commands;
use std::collections::HashSet;
use visa_ir::context::Context;
use visa_ir::module::{BlockId, Module, OpId};

/// Writes the commands of a block in an order. Operations without cost are put before the first command that needs
/// them.
pub(crate) fn reorder(
    ctx: &Context,
    module: &mut Module,
    block: BlockId,
    commands: &Commands,
    order: &[usize],
) {
    let mut emitted = Emitted { ctx, module, commands, written: Vec::new(), done: HashSet::new() };
    for &number in order {
        for &id in &commands.all[number].ops {
            emitted.with_free(id);
        }
    }
    // Operations that nothing needs stay, at the end.
    let left: Vec<OpId> = module.ops(block).iter().copied().filter(|id| commands.free.contains(id)).collect();
    for id in left {
        emitted.with_free(id);
    }
    if let Some(end) = commands.end {
        emitted.add(end);
    }
    let written = emitted.written;
    module.set_ops(block, written);
}

struct Emitted<'a> {
    ctx: &'a Context,
    module: &'a Module,
    commands: &'a Commands,
    written: Vec<OpId>,
    done: HashSet<OpId>,
}

impl Emitted<'_> {
    fn add(&mut self, id: OpId) {
        if self.done.insert(id) {
            self.written.push(id);
        }
    }

    /// Adds an operation after the operations without cost that it needs.
    fn with_free(&mut self, id: OpId) {
        let done = |other: OpId| self.done.contains(&other);
        let free = self.commands.free_before(self.ctx, self.module, id, done);
        free.into_iter().chain([id]).for_each(|id| self.add(id));
    }
}
