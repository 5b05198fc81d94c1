//! Computations of numbers that are the same everywhere: the planner computes these, by the functions of the engine.

use crate::read::Reader;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::expression::{Dag, Steps};
use visa_mapping::ops::cast::{self, Cast, conversion};
use visa_mapping::ops::map::{self, Map};
use visa_mapping::tensor::value::Value;
use visa_numerics::{Bits, DType, from_f64, to_f64};

impl Reader<'_> {
    /// Reads a map or a conversion of constants; false if `op` is another operation, or its result is no number.
    pub(super) fn folds(&mut self, op: OpRef<'_>) -> Result<bool, Diagnostic> {
        let numbers: Option<Vec<Bits>> =
            op.operands().iter().enumerate().map(|(at, &operand)| self.bits(op, at, operand)).collect();
        let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else { return Ok(false) };
        let formats: Option<Vec<DType>> = (0..numbers.len()).map(|at| format(op, at)).collect();
        let (Some(formats), Some(to)) = (formats, op.result_type::<Value>(0)) else { return Ok(false) };
        let result = if op.is(&map::DECL) {
            let dag = Dag::new(&*Map::of(op)?.expression()?, &formats).ok();
            dag.as_ref().and_then(Steps::of).and_then(|steps| steps.eval(&numbers))
        } else if op.is(&cast::DECL) && !Cast::of(op)?.bits() {
            conversion(formats[0], to.dtype).map(|row| (row.apply)(numbers[0]))
        } else {
            None
        };
        let number = result.map(|bits| to_f64(to.dtype, bits)).filter(|number| number.is_finite());
        self.constants.extend(number.map(|number| (op.results()[0], number)));
        Ok(number.is_some())
    }

    /// The bits of an operand that is a constant.
    fn bits(&self, op: OpRef<'_>, at: usize, operand: ValueId) -> Option<Bits> {
        Some(from_f64(format(op, at)?, *self.constants.get(&operand)?))
    }
}

/// The format of an operand.
fn format(op: OpRef<'_>, at: usize) -> Option<DType> {
    op.operand_type::<Value>(at).map(|value| value.dtype)
}
