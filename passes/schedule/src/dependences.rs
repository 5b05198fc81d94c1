//! Order constraints between the commands of a block.

use crate::commands::{Commands, needs};
use crate::places::Places;
use std::collections::{BTreeSet, HashMap};
use visa_ir::context::Context;
use visa_ir::module::{Module, OpId, ValueId};
use visa_mapping::ops::call::BEGIN_LAUNCH;
use visa_mapping::{Tensor, view};

/// Reason why a command stays after another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Why {
    /// It needs the result of the other.
    Needs,
    /// It writes where that one reads.
    Overwrites,
    /// It writes where that one does.
    Rewrites,
    /// One of them starts a kernel.
    Launch,
}

impl Why {
    /// The text in notes: `it needs the result of ...`.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Needs => "needs its result",
            Self::Overwrites => "overwrites its input",
            Self::Rewrites => "overwrites its result",
            Self::Launch => "is not moved across the start of a kernel",
        }
    }
}

/// The commands that each command of a block must stay after, by their numbers.
pub(crate) struct Dependences {
    pub(crate) before: Vec<Vec<(usize, Why)>>,
}

/// The tensors that a command reads and writes.
#[derive(Default)]
pub(crate) struct Accesses {
    pub(crate) reads: BTreeSet<ValueId>,
    pub(crate) writes: BTreeSet<ValueId>,
}

/// The places that operations read and write, those of their bodies among them.
pub(crate) fn accesses(ctx: &Context, module: &Module, ops: &[OpId], places: &Places) -> Accesses {
    let mut found = Accesses::default();
    let inside = ops.iter().flat_map(|&id| {
        let op = module.op(ctx, id);
        std::iter::once(id)
            .chain(op.regions().iter().flat_map(|&block| module.walk(block)).collect::<Vec<_>>())
    });
    for id in inside {
        let op = module.op(ctx, id);
        let at_rest = |value: &ValueId| {
            ctx.type_value::<Tensor>(module.ty(*value)).is_some_and(|tensor| !tensor.kind.stream)
        };
        found
            .reads
            .extend(op.operands().iter().filter(|value| at_rest(value)).map(|&value| places.at(value)));
        if view::kind(op).is_none() {
            let made = op.results().iter().filter(|value| at_rest(value));
            found.writes.extend(made.map(|&value| places.at(value)));
        }
    }
    found
}

impl Dependences {
    pub(crate) fn of(ctx: &Context, module: &Module, commands: &Commands, places: &Places) -> Self {
        let mut last_write: HashMap<ValueId, usize> = HashMap::new();
        let mut reads_since: HashMap<ValueId, Vec<usize>> = HashMap::new();
        let mut made: HashMap<ValueId, usize> = HashMap::new();
        let (mut barrier, mut before) = (None, Vec::with_capacity(commands.all.len()));
        for (number, command) in commands.all.iter().enumerate() {
            let mut found: BTreeSet<(usize, Why)> = BTreeSet::new();
            let own = accesses(ctx, module, &command.ops, places);
            for value in command.ops.iter().flat_map(|&id| needs(ctx, module, id)) {
                found.extend(made.get(&value).map(|&other| (other, Why::Needs)));
            }
            for place in &own.reads {
                found.extend(last_write.get(place).map(|&other| (other, Why::Needs)));
            }
            for place in &own.writes {
                found.extend(last_write.get(place).map(|&other| (other, Why::Rewrites)));
                let readers = reads_since.get(place).into_iter().flatten();
                found.extend(readers.map(|&other| (other, Why::Overwrites)));
            }
            if command.ops.iter().any(|&id| module.op(ctx, id).is(&BEGIN_LAUNCH)) {
                found.extend((barrier.unwrap_or(0)..number).map(|other| (other, Why::Launch)));
                barrier = Some(number);
            } else {
                found.extend(barrier.map(|other| (other, Why::Launch)));
            }
            for place in own.reads.difference(&own.writes) {
                reads_since.entry(*place).or_default().push(number);
            }
            for place in &own.writes {
                last_write.insert(*place, number);
                reads_since.remove(place);
            }
            for &id in &command.ops {
                made.extend(module.op(ctx, id).results().iter().map(|&value| (value, number)));
            }
            before.push(found.into_iter().filter(|(other, _)| *other != number).collect());
        }
        Self { before }
    }

    /// The commands that must stay before each, without the reasons.
    pub(crate) fn numbers(&self) -> Vec<Vec<usize>> {
        let of = |before: &Vec<(usize, Why)>| {
            let numbers: BTreeSet<usize> = before.iter().map(|(other, _)| *other).collect();
            numbers.into_iter().collect()
        };
        self.before.iter().map(of).collect()
    }
}
