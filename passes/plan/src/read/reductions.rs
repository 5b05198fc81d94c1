//! Reductions, as parts of a region.

use crate::array::Array;
use crate::contraction::Epilogue;
use crate::counters::positions;
use crate::order::ReduceOrder;
use crate::read::formats::check_reduction;
use crate::read::{Reader, unplanned};
use crate::region::{Computation, Operation, Slot};
use std::collections::BTreeSet;
use std::sync::Arc;
use visa_algebra::{Expr, digits};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpId, OpRef};
use visa_mapping::ops::reduce::{self, Reduce};
use visa_mapping::ops::rename::{REARRANGE, Rearrange};
use visa_mapping::tensor::value::{Value, axis_list};
use visa_numerics::ReduceName;

impl Reader<'_> {
    /// A reduction: along whole axes in any order, or along one axis in its order. Other positions become one axis.
    pub(super) fn reduce(&mut self, op: Reduce<'_>) -> Result<(), Diagnostic> {
        let Some(order) = ReduceOrder::of(op)? else {
            let subject = format!("a reduction in trees of {}: lanes add 4 neighbours", op.tree()?);
            return Err(unplanned(*op, &subject));
        };
        check_reduction(op)?;
        let over = axis_list(&*op.over()?).ok().filter(|over| over.len() == 1 || order == ReduceOrder::Free);
        match over {
            Some(over) if op.keep()?.is_none() => self.reduce_axes(op, &over, order),
            Some(_) | None => self.reduce_positions(op, order),
        }
    }

    /// Appends the reductions of a slot along axes, the last one first.
    pub(super) fn reduced(
        &mut self,
        op: ReduceName,
        (mut operand, result): (Slot, Slot),
        over: &[Arc<str>],
        order: ReduceOrder,
    ) {
        let dtype = self.region.values[operand].read;
        let mut axes = self.region.values[operand].array.axes.clone();
        for (at, axis) in over.iter().enumerate().rev() {
            axes.retain(|own| own != axis);
            let target = if at == 0 {
                result
            } else {
                let array = self.region.values[result].array.clone();
                self.new_slot(Array { dtype, axes: axes.clone(), row: None, ..array })
            };
            let computation = Computation::Reduce { op, operand, axis: Arc::clone(axis), order };
            self.region.operations.push(Operation { computation, result: target });
            operand = target;
        }
    }

    /// A reduction of parts of axes, or of several axes in their order: another step makes one axis of its positions.
    fn reduce_positions(&mut self, op: Reduce<'_>, order: ReduceOrder) -> Result<(), Diagnostic> {
        let (over, keep) = (op.over()?, op.keep()?);
        let kept = keep.as_ref().map_or(Expr::Literal(1), |keep| (**keep).clone());
        let named = self.whole_axes(op, &Expr::pair([kept.clone(), (*over).clone()]))?;
        let sum = self.sum_axis(*op)?;
        let (ctx, module) = (self.ctx, self.module);
        let next = if keep.is_some() { Some(module.op(ctx, self.counted(op, &kept)?)) } else { None };
        let new = match next {
            Some(next) => (*Rearrange::of(next)?.to()?).clone(),
            None => Expr::Literal(1),
        };
        self.close()?;
        let number = self.number(*op, op.operands()[0])?;
        let source = self.arrays[number].clone();
        let rest = source.axes.iter().filter(|axis| !named.contains(axis)).map(|axis| Expr::axis(axis));
        let rest: Vec<Expr> = rest.collect();
        let dimensions = |kept: Expr, over: Expr| -> Vec<Expr> {
            let inner = [kept, over].into_iter().filter(|term| *term != Expr::Literal(1));
            rest.iter().cloned().chain(inner).collect()
        };
        let (before, after) = (dimensions(kept, (*over).clone()), dimensions(new, Expr::axis(&sum)));
        let axes = axis_list(&Expr::pair(after.iter().cloned()));
        let axes = axes.map_err(|why| unplanned(*op, &format!("axes that are none: {why}")))?;
        let terms = self.under(*op, number, [before, after], ("terms", axes));
        let last = next.unwrap_or(*op);
        self.region.ops.extend([op.id, last.id]);
        self.region.reduced.push(Arc::clone(&sum));
        let (operand, result) = (self.input(terms), self.result(last)?);
        self.reduced(op.op()?, (operand, result), &[sum], order);
        Ok(())
    }

    /// The axis along which an operation adds the results of an epilogue, after its expression, in any order: the only
    /// axis of the batch of a contraction. `None` if the operation computes something else.
    pub(super) fn added(
        &self,
        op: OpRef<'_>,
        epilogue: &Epilogue,
        (contraction, sums): (OpRef<'_>, &Array),
    ) -> Result<Option<Arc<str>>, Diagnostic> {
        let open = epilogue.expression.is_some() && epilogue.added.is_none() && epilogue.cast.is_none();
        if !open || !op.is(&reduce::DECL) || self.fallbacks.added.contains(&contraction.id) {
            return Ok(None);
        }
        let op = Reduce::of(op)?;
        let adds = op.op()? == ReduceName::Add && ReduceOrder::of(op)? == Some(ReduceOrder::Free);
        let over = axis_list(&*op.over()?).ok().filter(|_| adds && sums.dtype.is_float());
        let Some([axis]) = over.as_deref().filter(|_| op.keep().is_ok_and(|keep| keep.is_none())) else {
            return Ok(None);
        };
        let has = |at: usize, axis: &str| {
            let operand = contraction.operand_type::<Value>(at);
            operand.is_some_and(|value| value.axes.iter().any(|own| **own == *axis))
        };
        let mut batch = sums.axes.iter().filter(|axis| has(0, axis) && has(1, axis));
        let only = batch.next() == Some(axis) && batch.next().is_none();
        Ok((only && self.size(axis) > 1).then(|| Arc::clone(axis)))
    }

    /// The axis that counts the positions of a sum.
    pub(super) fn sum_axis(&self, op: OpRef<'_>) -> Result<Arc<str>, Diagnostic> {
        let sum = positions(op, self.axes)?.and_then(|count| self.counters.of_sum(count));
        sum.ok_or_else(|| unplanned(op, "a sum without an axis of its positions"))
    }

    /// The number of an array whose axes `summed` are the axis `sum`: where they are, if they are neighbours in the
    /// order of the sum, else innermost.
    pub(super) fn with_one_sum(
        &mut self,
        op: OpRef<'_>,
        number: usize,
        (summed, sum): (&[Arc<str>], &Arc<str>),
    ) -> Result<usize, Diagnostic> {
        let mut number = number;
        // Axes of one position are nowhere in memory.
        let (parts, mut axes) = (self.long(summed), self.long(&self.arrays[number].axes));
        let neighbours = |axes: &[Arc<str>]| axes.windows(parts.len()).position(|own| own == parts);
        if neighbours(&axes).is_none() {
            axes.retain(|axis| !parts.contains(axis));
            axes.extend_from_slice(&parts);
            number = self.reordered(op, number, axes.clone(), parts.len());
        }
        let inner = neighbours(&axes).unwrap_or(axes.len());
        let mut after: Vec<Arc<str>> = axes.into_iter().filter(|axis| !parts.contains(axis)).collect();
        after.insert(inner, Arc::clone(sum));
        let terms = |axis: &Arc<str>| {
            let own = if axis == sum { &parts } else { std::slice::from_ref(axis) };
            Expr::pair(own.iter().map(|axis| Expr::axis(axis)))
        };
        let before = after.iter().map(terms).collect();
        let named = after.iter().map(|axis| Expr::axis(axis)).collect();
        Ok(self.under(op, number, [before, named], ("terms", after)))
    }

    /// The axes of a mapping that has each of their coordinates once.
    fn whole_axes(&self, op: Reduce<'_>, map: &Expr) -> Result<Vec<Arc<str>>, Diagnostic> {
        let names: BTreeSet<Arc<str>> = map.axis_names(self.axes).into_iter().collect();
        let all: u64 = names.iter().map(|axis| self.size(axis)).product();
        let once = digits(map, self.axes).is_ok_and(|own| own.live_count() == Some(own.size()));
        if once && map.size(self.axes).ok() == Some(all) {
            return Ok(names.into_iter().collect());
        }
        Err(unplanned(*op, "a reduction whose `over` and `keep` leave out coordinates, or have padding"))
    }

    /// The only use of a reduction that keeps `kept`, which counts the results by other axes.
    fn counted(&mut self, op: Reduce<'_>, kept: &Expr) -> Result<OpId, Diagnostic> {
        let next = self.only_use(op.results()[0]).filter(|next| next.is(&REARRANGE));
        let counts = |next: &OpRef<'_>| {
            let next = Rearrange::of(*next)?;
            Ok::<_, Diagnostic>(*next.from()? == *kept && axis_list(&*next.to()?).is_ok())
        };
        match next {
            Some(next) if counts(&next)? => {
                let id = next.id;
                self.fused.insert(id);
                Ok(id)
            }
            Some(_) | None => {
                let message = "the planner has no step for a reduction with `keep` alone: its results are undefined \
                               at most coordinates";
                let fix = format!(
                    "count them by another axis, with `tm.rearrange` from `{kept}`, and nothing else"
                );
                Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix))
            }
        }
    }

    /// A reduction along whole axes.
    fn reduce_axes(
        &mut self,
        op: Reduce<'_>,
        over: &[Arc<str>],
        order: ReduceOrder,
    ) -> Result<(), Diagnostic> {
        self.begin(*op, over)?;
        let operand = self.slot(*op, op.operands()[0])?;
        let result = self.result(*op)?;
        self.reduced(op.op()?, (operand, result), over, order);
        Ok(())
    }
}
