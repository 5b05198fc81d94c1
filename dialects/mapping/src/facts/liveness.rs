//! Liveness of values: positions of operations, and the last one that needs each value.

use crate::interfaces::succeeded;
use crate::ops::control::{FOR, YIELD, initial};
use crate::tensor::Tensor;
use crate::view;
use rustc_hash::FxBuildHasher as Fast;
use std::collections::HashMap;
use visa_ir::module::{BlockId, OpId, OpRef, ValueDef, ValueId};

/// The positions of a function's operations, each before those of its body.
pub(crate) struct Positions {
    order: Vec<OpId>,
    at: HashMap<OpId, usize, Fast>,
}

impl Positions {
    pub(crate) fn of_function(func: OpRef<'_>) -> Self {
        let order = func.regions().first().map_or_else(Vec::new, |&block| func.module.walk(block));
        let at = order.iter().enumerate().map(|(at, &id)| (id, at)).collect();
        Self { order, at }
    }

    /// The position of an operation of the function.
    pub(crate) fn of(&self, op: OpId) -> usize {
        self.at[&op]
    }

    /// The last position of an operation and its body.
    pub(crate) fn end(&self, op: OpRef<'_>) -> usize {
        let last = op.regions().last().and_then(|&block| op.module.ops(block).last());
        last.map_or_else(|| self.of(op.id), |&last| self.end(op.other(last)))
    }

    /// The position up to which an operation needs a value: where the body of a loop uses one from outside, it does so
    /// in each iteration, and needs it to the end.
    fn use_of(&self, op: OpRef<'_>, value: ValueId) -> usize {
        let home = home(op, value);
        // Of several loops, the outermost one.
        let inside = std::iter::once(op).chain(op.ancestors()).take_while(|op| op.block() != home).count();
        let around = op.ancestors().take(inside).filter(|around| around.is(&FOR)).last();
        around.map_or(self.of(op.id), |around| self.end(around))
    }

    /// The position of the last operation that needs each value: through views, and through streams up to the end of
    /// the pipeline. Walked from the end, so that the uses of a stream are known before its inputs.
    pub(crate) fn needed_until(&self, func: OpRef<'_>) -> HashMap<ValueId, usize, Fast> {
        let mut needed: HashMap<ValueId, usize, Fast> = HashMap::default();
        for &id in self.order.iter().rev() {
            let op = func.other(id);
            // A view's source is needed wherever the view is: the bytes are the same.
            let stream =
                op.result_type::<Tensor>(0).filter(|tensor| tensor.kind.stream || view::kind(op).is_some());
            let through = stream.and_then(|_| needed.get(op.results().first()?)).copied();
            let changed = view::changed(op);
            let given: Vec<ValueId> = succeeded(op).into_iter().map(|(_, given)| given).collect();
            for &operand in op.operands() {
                let at = self.use_of(op, operand);
                // A tensor that is changed in place, or carried, is needed until then; after that another value has
                // its address.
                let hands_over = changed == Some(operand)
                    || initial(op).contains(&operand)
                    || op.is(&YIELD)
                    || given.contains(&operand);
                let later = match hands_over && at == self.of(id) {
                    true => at.saturating_sub(1),
                    false => at.max(through.unwrap_or(at)),
                };
                let until = needed.entry(operand).or_default();
                *until = (*until).max(later);
            }
        }
        needed
    }
}

/// The block that a value is of.
fn home(op: OpRef<'_>, value: ValueId) -> BlockId {
    match op.module.def(value) {
        ValueDef::Result(made, _) => op.other(made).block(),
        ValueDef::Argument(block, _) => block,
    }
}
