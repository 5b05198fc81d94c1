//! Sums of integers, which wrap: the sum of the sums of all blocks is that of all elements, bit for bit.

use super::solve::Solver;
use super::terms::{Reason, is, list};
use egg::Id;
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::context::Attr;
use visa_mapping::ops::{contract, reduce};
use visa_mapping::summed::named;
use visa_numerics::{DType, ReduceName};

impl Solver<'_, '_> {
    /// A carried value of `i32` after the loop, if each iteration adds sums of its block; `None` if it does not.
    pub(super) fn wrapping_sum(&mut self, number: usize, after: Id) -> Result<Option<Id>, Reason> {
        let before = self.terms.graph.find(self.step.symbols.before[number]);
        if self.terms.value(before)?.dtype != DType::I32 || !self.step.tests.is_empty() {
            return Ok(None);
        }
        let (mut open, mut own, mut totals) = (vec![after], 0, Vec::new());
        while let Some(id) = open.pop() {
            if self.terms.graph.find(id) == before {
                own += 1;
                continue;
            }
            let term = self.terms.term(id)?;
            if let Some(("add", arguments)) = self.terms.function(&term) {
                open.extend(arguments);
                continue;
            }
            let Some(total) = self.of_all_blocks(id)? else { return Ok(None) };
            totals.push(total);
        }
        if own != 1 {
            return Ok(None);
        }
        let initial = self.step.initial[number];
        let is_zero = self.terms.number_of(initial) == Some(0.0);
        let mut summands = totals.into_iter().chain((!is_zero).then_some(initial));
        let mut sum = summands.next().unwrap_or(initial);
        for summand in summands {
            sum = self.terms.apply("add", &[sum, summand])?;
        }
        self.notes.independent(&self.step.frame);
        Ok(Some(sum))
    }

    /// The sum over all blocks of a sum of each block; `None` if a value is no such sum.
    fn of_all_blocks(&mut self, id: Id) -> Result<Option<Id>, Reason> {
        let axis = Arc::clone(&self.step.frame.axis);
        let term = self.terms.term(id)?;
        let ctx = self.terms.graph.analysis.ctx;
        let is_block = self.step.symbols.blocks.contains(&self.terms.graph.find(id));
        if !is_block {
            let alone = self.step.frame.block == 1 && self.terms.has(id, &axis) && !self.depends(id)?;
            return if alone { self.terms.reduce(ReduceName::Add, id, &[axis]).map(Some) } else { Ok(None) };
        }
        let is_contraction = is(&term, &contract::DECL);
        let decl = if is_contraction { &contract::DECL } else { &reduce::DECL };
        let op = self.terms.clause(&term, "op");
        let word = op.map(|word| ctx.attr_data(word));
        let adds =
            is_contraction || matches!(word, Some(Attr::Str(word)) if *word == *ReduceName::Add.word());
        let over: Option<Rc<Expr>> = self.terms.clause(&term, "over").and_then(|over| ctx.attr_value(over));
        let (Some(over), true) = (over, adds) else { return Ok(None) };
        let operands = self.terms.parts(&term)?.0.to_vec();
        let inside = self.terms.reachable(&operands);
        if self.depends(id)? || inside.iter().any(|id| self.step.symbols.blocks.contains(id)) {
            return Ok(None);
        }
        let (over, free) = (self.terms.map(list(&named(&over))), ctx.attr(Attr::Unit));
        let clauses: Vec<_> =
            op.map(|op| ("op", op)).into_iter().chain([("over", over), ("free", free)]).collect();
        self.terms.operation(decl, &operands, &clauses).map(Some)
    }
}
