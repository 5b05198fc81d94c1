//! Another order of the axes of a value: the step that computes the value stores it in this order.

use crate::order::is_permutation;
use crate::read::Reader;
use crate::region::{Computation, Operation};
use crate::written::is_computed;
use std::sync::Arc;
use visa_ir::decl::OpDecl;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{ValueDef, ValueId};
use visa_mapping::ops::rename::Rearrange;
use visa_mapping::ops::{cast, map, reduce, where_};
use visa_mapping::tensor::value::Value;

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

    /// The order of the axes of a value in HBM: that of its type, the one in which the function returns it, or that of
    /// the operand that it is computed from element by element.
    pub(super) fn axis_order(&self, value: ValueId, ty: &Value) -> Vec<Arc<str>> {
        let typed = || ty.axes.clone();
        if !is_computed(self.ctx, self.module, value) || self.has_typed_order(value) {
            return typed();
        }
        let users = self.module.uses(value).iter().map(|&user| self.module.op(self.ctx, user));
        let permuting = users.filter_map(Rearrange::cast).filter(|op| is_permutation(*op) == Ok(true));
        let mut returned = permuting.map(|op| op.results()[0]).filter(|&result| self.has_typed_order(result));
        let order = returned.next().and_then(|result| self.ctx.type_value::<Value>(self.module.ty(result)));
        match order {
            Some(order) => order.axes.clone(),
            None => self.operand_order(value, ty).unwrap_or_else(typed),
        }
    }

    /// The order of the axes of an elementwise result, or of a reduction's, in the largest of its operands that have
    /// all of them. The order of its type depends on which operand is the first.
    fn operand_order(&self, value: ValueId, ty: &Value) -> Option<Vec<Arc<str>>> {
        let ValueDef::Result(made, _) = self.module.def(value) else { return None };
        let made = self.module.op(self.ctx, made);
        if !ELEMENTWISE.into_iter().any(|decl| made.is(decl)) {
            return None;
        }
        let axes = |operand: &ValueId| {
            let array = match (self.region.slots.get(operand), self.known.get(operand)) {
                (Some(&slot), _) => &self.region.values[slot].array,
                (None, Some(&number)) => &self.arrays[number],
                (None, None) => return None,
            };
            let own: Vec<Arc<str>> =
                array.axes.iter().filter(|axis| ty.axes.contains(axis)).cloned().collect();
            let size = array.axes.iter().map(|axis| self.size(axis)).product::<u64>();
            (own.len() == ty.axes.len()).then_some((size, own))
        };
        let all = made.operands().iter().rev().filter_map(axes);
        all.max_by_key(|(size, own)| (*size, *own == ty.axes)).map(|(_, own)| own)
    }
}

/// Operations whose results have the axes of their operands, or some of them.
const ELEMENTWISE: [&OpDecl; 5] = [&map::DECL, &cast::DECL, &reduce::DECL, &where_::DECL, &where_::COMPARE];
