//! Comparisons and choices, as parts of a region.

use crate::expressions;
use crate::read::{Reader, unplanned};
use crate::region::{Arm, Computation, Operation};
use visa_ir::diag::Diagnostic;
use visa_mapping::ops::where_::{Compare, Where};
use visa_numerics::{DType, from_number};

impl Reader<'_> {
    /// The bits of comparisons.
    pub(super) fn compare(&mut self, op: Compare<'_>) -> Result<(), Diagnostic> {
        self.begin(*op, &[])?;
        let operand = self.slot(*op, op.operands()[0])?;
        let result = self.result(*op)?;
        let computation = Computation::Compare { operand, with: (*op.with()?).clone() };
        self.region.operations.push(Operation { computation, result });
        Ok(())
    }

    /// A choice between two values.
    pub(super) fn choose(&mut self, op: Where<'_>) -> Result<(), Diagnostic> {
        let dtype = self.array(op.results()[0], "", *op)?.dtype;
        if !matches!(dtype, DType::I32 | DType::F32) {
            let message = format!("the planner has no step for a choice between values of `{dtype}`");
            let wide = expressions::computed(dtype);
            let fix = format!("convert both with `tm.cast {wide}`, and the result back");
            return Err(Diagnostic::error("plan-kernel", op.span(), message).fix(fix));
        }
        self.begin(*op, &[])?;
        let &[condition, then, otherwise] = op.operands() else {
            return Err(unplanned(*op, "a choice that has no three operands"));
        };
        if self.constants.contains_key(&condition) {
            return Err(unplanned(*op, "a choice by a constant"));
        }
        let condition = self.slot(*op, condition)?;
        let mut arm = |value| match self.constants.get(&value) {
            Some(&number) => {
                let bits = from_number(dtype, number).ok_or_else(|| unplanned(*op, "a number of no format"));
                bits.map(|bits| Arm::Bits(bits.cast_signed()))
            }
            None => self.slot(*op, value).map(Arm::Value),
        };
        let arms = [arm(then)?, arm(otherwise)?];
        let result = self.result(*op)?;
        self.region
            .operations
            .push(Operation { computation: Computation::Choose { condition, arms }, result });
        Ok(())
    }
}
