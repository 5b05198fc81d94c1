//! Products with rows that an index chooses: the products with all rows, and a selection in the open region.

use crate::array::Array;
use crate::contraction::Epilogue;
use crate::order::ReduceOrder;
use crate::program::Work;
use crate::read::{Reader, unplanned};
use crate::region::{Arm, Computation, Operation, Slot};
use crate::selection::SelectedRows;
use std::sync::Arc;
use visa_ir::diag::Diagnostic;
use visa_mapping::expression::{Expression, Term};
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::gather::Gather;
use visa_numerics::{DType, ReduceName};

impl Reader<'_> {
    /// Leaves a gather to the contraction that reads it. Returns false if its rows are moved.
    pub(super) fn leave_to_contraction(&mut self, op: Gather<'_>) -> Result<bool, Diagnostic> {
        let rows = SelectedRows::of(self.ctx, self.module, *op, (self.axes, self.machine))?;
        let Some(rows) = rows.filter(|rows| self.known.contains_key(&rows.table)) else { return Ok(false) };
        self.selected.insert(op.results()[0], rows);
        Ok(true)
    }

    /// A contraction whose operand `at` is rows that an index chooses: a step before the open region multiplies all
    /// rows, and the region selects.
    pub(super) fn contraction_of_all(&mut self, op: Contract<'_>, at: usize) -> Result<(), Diagnostic> {
        let mut values = [op.operands()[0], op.operands()[1]];
        let Some(rows) = self.selected.get(&values[at]).cloned() else {
            return Err(unplanned(*op, "rows that no gather chooses"));
        };
        values[at] = rows.table;
        let in_region = values.iter().any(|value| self.region.slots.contains_key(value));
        if in_region {
            self.close()?;
        }
        let result = op.results()[0];
        let own = self.array(result, &self.name(result), *op)?;
        let mut axes = own.axes.clone();
        axes.insert(axes.len().saturating_sub(1), Arc::clone(&rows.along));
        let out = Array { name: format!("{}_all", own.name), axes, ..own };
        let factors = self.factors(op, values)?;
        let inputs = factors.numbers.to_vec();
        let problem = self.problem(op, factors, (out.dtype, out.clone()), Epilogue::default())?;
        self.arrays.push(out);
        let number = self.arrays.len() - 1;
        self.push(Work::Contraction(Box::new(problem)), inputs, vec![number], *op);
        self.begin(*op, std::slice::from_ref(&rows.along))?;
        self.region.ops.push(rows.op);
        let products = self.input(number);
        self.select(op, &rows, products)
    }

    /// Appends the selection of one of all products by the index: its distance from each row, the products where it is
    /// 0, and the greatest one of these and of the least integer, as integers with their bits.
    fn select(&mut self, op: Contract<'_>, rows: &SelectedRows, products: Slot) -> Result<(), Diagnostic> {
        let along = Arc::clone(&rows.along);
        let counters = self.counters.of(self.size(&along));
        let counters = counters.ok_or_else(|| unplanned(*op, "rows without counters"))?;
        let all = self.region.values[products].array.clone();
        let integers = |name: &str, axes: Vec<Arc<str>>| Array {
            name: format!("{}_{name}", all.name),
            dtype: DType::I32,
            axes,
            row: None,
            ..all.clone()
        };
        let index = self.slot(*op, rows.index)?;
        let indexed = self.region.values[index].array.axes.clone();
        let number = self.counts_axis(integers("rows", vec![Arc::clone(&along)]), counters);
        let distance =
            self.new_slot(integers("distances", indexed.into_iter().chain([along.clone()]).collect()));
        let term = Term::Call("sub".into(), vec![Term::Name(0), Term::Name(1)]);
        let expression = Some(Expression { names: vec!["x0".into(), "x1".into()], term });
        let computation = Computation::Map { expression, operands: vec![number, index], cast: None };
        self.region.operations.push(Operation { computation, result: distance });
        let chosen = self.new_slot(integers("chosen", all.axes.clone()));
        let arms = [Arm::Bits(i32::MIN), Arm::Value(products)];
        let computation = Computation::Choose { condition: distance, arms };
        self.region.operations.push(Operation { computation, result: chosen });
        let result = self.result(*op)?;
        let (op, order) = (ReduceName::Max, ReduceOrder::Free);
        let computation = Computation::Reduce { op, operand: chosen, axis: along, order };
        self.region.operations.push(Operation { computation, result });
        Ok(())
    }
}
