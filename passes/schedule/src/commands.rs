//! Units of motion: the operations of a block that become one command, or a loop or a branch with everything in it.
//! Views and numbers take no time: each is put before the first command that needs it.

use std::collections::{HashMap, HashSet};
use visa_ir::context::Context;
use visa_ir::module::{BlockId, Module, OpId, OpRef, ValueDef, ValueId};
use visa_machine::Medium;
use visa_mapping::Tensor;
use visa_mapping::ops::control::carries;
use visa_mapping::ops::indexed::indexing;
use visa_mapping::ops::transfer::is_transfer;
use visa_stream::pipeline::{self, Pipeline, generates};

/// Operations of a block that stay together, in their order. The last one stands for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) ops: Vec<OpId>,
}

impl Command {
    /// The operation that stands for it.
    pub(crate) fn last(&self) -> OpId {
        self.ops[self.ops.len() - 1]
    }

    /// Returns true if it writes HBM.
    pub(crate) fn writes_hbm(&self, ctx: &Context, module: &Module) -> bool {
        let op = module.op(ctx, self.last());
        let of = |&value: &ValueId| ctx.type_value::<Tensor>(module.ty(value));
        op.results().iter().filter_map(of).any(|tensor| tensor.medium() == Some(Medium::Hbm))
    }

    /// Returns true if it is a loop or a branch.
    pub(crate) fn has_body(&self, ctx: &Context, module: &Module) -> bool {
        carries(module.op(ctx, self.last()))
    }
}

/// The commands of a block, in program order.
pub(crate) struct Commands {
    pub(crate) all: Vec<Command>,
    /// The operations that take no time: views, numbers, tensors that are declared.
    pub(crate) free: HashSet<OpId>,
    /// The block's terminator, if it has one.
    pub(crate) end: Option<OpId>,
}

impl Commands {
    pub(crate) fn of(ctx: &Context, module: &Module, block: BlockId) -> Self {
        let ops = module.ops(block);
        let streams = pipelines(ctx, module, ops);
        let inside: HashSet<OpId> = streams.values().flatten().copied().collect();
        let mut commands = Self { all: Vec::new(), free: HashSet::new(), end: None };
        for &id in ops {
            let op = module.op(ctx, id);
            if let Some(chain) = streams.get(&id) {
                commands.all.push(Command { ops: chain.clone() });
            } else if inside.contains(&id) {
                // It is where its pipeline's end is.
            } else if ends_block(op) {
                commands.end = Some(id);
            } else if takes_time(op) {
                commands.all.push(Command { ops: vec![id] });
            } else {
                commands.free.insert(id);
            }
        }
        commands
    }

    /// The operations without cost that an operation needs, each after its operands; the `known` ones are omitted,
    /// with their operands. Chains of them may be long: there is no recursion.
    pub(crate) fn free_before(
        &self,
        ctx: &Context,
        module: &Module,
        id: OpId,
        known: impl Fn(OpId) -> bool,
    ) -> Vec<OpId> {
        let (mut found, mut done, mut left) = (Vec::new(), HashSet::new(), vec![(id, false)]);
        while let Some((next, ready)) = left.pop() {
            if ready {
                if done.insert(next) {
                    found.push(next);
                }
                continue;
            }
            if next != id {
                left.push((next, true));
            }
            for value in needs(ctx, module, next) {
                let ValueDef::Result(made, _) = module.def(value) else { continue };
                if self.free.contains(&made) && !done.contains(&made) && !known(made) {
                    left.push((made, false));
                }
            }
        }
        found
    }
}

/// The pipelines of a block by their last operations: also one that stores nothing.
fn pipelines(ctx: &Context, module: &Module, ops: &[OpId]) -> HashMap<OpId, Vec<OpId>> {
    let flows = |id: &OpId| pipeline::contains(module.op(ctx, *id));
    let mut taken = HashSet::new();
    let mut found = HashMap::new();
    for &id in ops.iter().rev().filter(|id| flows(id)) {
        let op = module.op(ctx, id);
        let stores = pipeline::ends(op) || generates(op);
        if stores || !taken.contains(&id) {
            let chain = Pipeline::up_to(op).ops;
            taken.extend(chain.iter().copied());
            found.insert(id, chain);
        }
    }
    found
}

fn ends_block(op: OpRef<'_>) -> bool {
    op.decl().is_some_and(|decl| decl.traits.contains(&visa_ir::decl::Trait::Terminator))
}

/// Returns true if an operation is a command by itself: a transfer, a loop, a branch, or any operation that has an
/// effect.
fn takes_time(op: OpRef<'_>) -> bool {
    is_transfer(op)
        || indexing(op).is_some()
        || carries(op)
        || visa_mapping::view::changed(op).is_some()
        || !visa_ir::effects::erasable(op)
}

/// Name of a command: its result, or its operation.
pub(crate) fn name(ctx: &Context, module: &Module, command: &Command) -> String {
    let op = module.op(ctx, command.last());
    let named = op.results().first().and_then(|&value| module.value_name(value));
    named.map_or_else(|| format!("`{op}`"), |name| format!("`%{name}`"))
}

/// A value as messages show it.
pub(crate) fn quoted(module: &Module, value: ValueId) -> String {
    module.value_name(value).map_or_else(|| "a tensor".to_owned(), |name| format!("`%{name}`"))
}

/// The values that an operation needs, with those that are needed in its body and made outside.
pub(crate) fn needs(ctx: &Context, module: &Module, id: OpId) -> Vec<ValueId> {
    let op = module.op(ctx, id);
    let mut values = op.operands().to_vec();
    for inner in op.regions().iter().flat_map(|&block| module.walk(block)) {
        values.extend(module.op(ctx, inner).operands());
    }
    values
}
