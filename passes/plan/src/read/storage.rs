//! The memory of arrays: those that share it, and operations that may write over an array.

use crate::placement::{Items, Placement, root};
use crate::read::Reader;
use visa_ir::module::{OpRef, ValueDef, ValueId};
use visa_mapping::ops::rename::{MERGE, RENAME, SPLIT};
use visa_mapping::ops::restrict::{EXTRACT, RESTRICT};

/// The arrays that a loop carries.
pub(super) struct Carry<'a> {
    /// Those at the beginning of its body.
    pub(super) arguments: &'a [usize],
    /// The arrays in whose memory those at its end are.
    pub(super) yielded: &'a [usize],
}

impl Reader<'_> {
    /// The array in whose memory an array is.
    pub(super) fn root(&self, number: usize) -> usize {
        root(&self.aliases, number)
    }

    /// Returns true if an array is a part of another one, or a view of a part.
    pub(super) fn is_part(&self, number: usize) -> bool {
        let chain = std::iter::successors(Some(number), |number| self.aliases.get(number).copied());
        chain.into_iter().any(|number| self.cuts.contains(&number))
    }

    /// Returns true if an operation may write over a value: it is no argument of the function that stays as it is, it
    /// is no part of another array, and nothing reads it afterwards.
    pub(super) fn is_last_use(&self, value: ValueId, number: usize, op: OpRef<'_>) -> bool {
        let block = op.block();
        let is_here = match self.module.def(value) {
            ValueDef::Result(made, _) => self.module.op(self.ctx, made).block() == block,
            ValueDef::Argument(own, _) => {
                own == block && (self.loops_around(op) || self.shared.is_changed(value))
            }
        };
        let position = |id| self.module.ops(block).iter().position(|own| *own == id);
        let ends = |user: &OpRef<'_>| {
            let around =
                std::iter::once(*user).chain(user.ancestors()).find(|around| around.block() == block);
            around.and_then(|around| position(around.id)) < position(op.id)
        };
        let once = op.operands().iter().filter(|operand| **operand == value).count() == 1;
        let users = self.module.uses(value).iter().map(|&id| self.module.op(self.ctx, id));
        let others = users.filter(|user| user.id != op.id);
        let mut others = others.map(|user| ends(&user) && !self.reads_later(user));
        is_here && once && !self.views.contains(&number) && others.all(|ends| ends)
    }

    /// Returns true if an operation is inside of a loop of the function.
    fn loops_around(&self, op: OpRef<'_>) -> bool {
        op.parent().is_some_and(|parent| parent.parent().is_some())
    }

    /// Returns true if a step after an operation reads its operand.
    fn reads_later(&self, op: OpRef<'_>) -> bool {
        let views = [&EXTRACT, &RESTRICT, &RENAME, &SPLIT, &MERGE];
        views.into_iter().any(|view| op.is(view))
            || op
                .results()
                .iter()
                .any(|result| self.converted.contains_key(result) || self.fetched.contains_key(result))
    }

    /// The place of array `at` at the end of a loop: that of the one at its beginning if an operation of the body
    /// makes it, and from there on nothing reads the contents of the one at the beginning.
    pub(super) fn placement(&self, carry: &Carry<'_>, number: usize, at: usize) -> Placement {
        let (new, old) = (carry.yielded[at], carry.arguments[at]);
        let others = carry.yielded.iter().enumerate().filter(|(other, _)| *other != at);
        let is_needed = others.map(|(_, own)| *own).any(|own| own == old || own == new);
        if self.views.contains(&number) || is_needed {
            return Placement::Apart;
        }
        if new == old {
            return Placement::Same;
        }
        let (steps, aliases, known) = (&self.steps, &self.aliases, self.in_place);
        Items { all: &self.items, steps, aliases, known }.placement(number, old)
    }
}
