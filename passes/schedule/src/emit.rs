//! Puts commands in another order, with the views and numbers that each needs before it.

use crate::commands::{Commands, needs};
use std::collections::HashSet;
use visa_ir::context::Context;
use visa_ir::module::{BlockId, Module, OpId, ValueDef};

/// Writes the commands of a block in an order. What takes no time is put before the first command that needs it.
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
            emitted.needed(id);
            emitted.add(id);
        }
    }
    // What nothing needs stays, at the end.
    let left: Vec<OpId> = module.ops(block).iter().copied().filter(|id| commands.free.contains(id)).collect();
    for id in left {
        emitted.free(id);
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

    /// Adds what an operation needs that takes no time. Chains of those may be long: there is no recursion.
    fn needed(&mut self, id: OpId) {
        let mut left = vec![(id, false)];
        while let Some((next, ready)) = left.pop() {
            if ready {
                self.add(next);
                continue;
            }
            if next != id {
                left.push((next, true));
            }
            for value in needs(self.ctx, self.module, next) {
                let ValueDef::Result(made, _) = self.module.def(value) else { continue };
                if self.commands.free.contains(&made) && !self.done.contains(&made) {
                    left.push((made, false));
                }
            }
        }
    }

    fn free(&mut self, id: OpId) {
        self.needed(id);
        self.add(id);
    }
}
