//! Another order of the axes of a value: the step that computes the value stores it in this order.

use crate::read::Reader;
use crate::region::{Computation, Operation};
use crate::written::is_computed;
use std::sync::Arc;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_mapping::ops::rename::Rearrange;
use visa_mapping::tensor::value::{Value, axis_list};

impl Reader<'_> {
    /// Reads a rearrangement that changes the order of axes alone; false if it is another one.
    pub(super) fn permutes(&mut self, op: Rearrange<'_>) -> Result<bool, Diagnostic> {
        if !is_permutation(op)? {
            return Ok(false);
        }
        let (value, result) = (op.operands()[0], op.results()[0]);
        if let Some(&number) = self.constants.get(&value) {
            self.constants.insert(result, number);
            return Ok(true);
        }
        let typed = self.array(result, "", *op)?;
        let computed = is_computed(self.ctx, self.module, value) && !self.has_typed_order(value);
        if computed || !self.has_typed_order(result) {
            self.close()?;
            let number = self.number(*op, value)?;
            if !self.has_typed_order(result) || self.arrays[number].axes == typed.axes {
                self.known.insert(result, number);
                return Ok(true);
            }
        }
        self.begin(*op, &[])?;
        let operand = self.slot(*op, value)?;
        let slot = self.result(*op)?;
        let computation = Computation::Map { expression: None, operands: vec![operand], cast: None };
        self.region.operations.push(Operation { computation, result: slot });
        Ok(true)
    }

    /// The order of the axes of a value in HBM: that of its type, or the one in which the function returns it.
    pub(super) fn axis_order(&self, value: ValueId, ty: &Value) -> Vec<Arc<str>> {
        let typed = || ty.axes.clone();
        if !is_computed(self.ctx, self.module, value) || self.has_typed_order(value) {
            return typed();
        }
        let users = self.module.uses(value).iter().map(|&user| self.module.op(self.ctx, user));
        let permuting = users.filter_map(Rearrange::cast).filter(|op| is_permutation(*op) == Ok(true));
        let mut returned = permuting.map(|op| op.results()[0]).filter(|&result| self.has_typed_order(result));
        let order = returned.next().and_then(|result| self.ctx.type_value::<Value>(self.module.ty(result)));
        order.map_or_else(typed, |order| order.axes.clone())
    }
}

/// Returns true if a rearrangement changes the order of axes alone.
fn is_permutation(op: Rearrange<'_>) -> Result<bool, Diagnostic> {
    let (from, to) = (axis_list(&*op.from()?), axis_list(&*op.to()?));
    Ok(matches!((from, to), (Ok(from), Ok(to)) if from == to))
}
