//! Contractions as products of elements, which the vector engine adds: a region, whose values may have any order of
//! axes and rows of any length. Operands of the Contraction Engine with other orders are copied first, element by
//! element.

use crate::array::Array;
use crate::order::ReduceOrder;
use crate::read::{Reader, unplanned};
use crate::region::{Computation, Operation, RegionValue, Slot};
use std::sync::Arc;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::expression::{Expression, Term};
use visa_mapping::ops::contract::Contract;
use visa_mapping::tensor::value::{Value, axis_list};
use visa_numerics::{DType, ReduceName};

impl Reader<'_> {
    /// Reads a contraction as the sum of the products of its elements.
    pub(super) fn sum_of_products(&mut self, op: Contract<'_>) -> Result<(), Diagnostic> {
        let over = axis_list(&*op.over()?).map_err(|why| unplanned(*op, &format!("`over`: {why}")))?;
        self.begin(*op, &over)?;
        let wide = op.result_type::<Value>(0).map(|value| value.dtype);
        let wide = wide.ok_or_else(|| unplanned(*op, "a result that is no value"))?;
        let mut factors = Vec::new();
        for &operand in op.operands() {
            factors.push(self.factor(*op, operand, wide)?);
        }
        let axes = self.axes_of_products(&factors);
        let result = self.result(*op)?;
        let array = self.region.values[result].array.clone();
        let name = format!("{}_products", array.name);
        let products = self.new_slot(Array { name, axes, row: None, ..array });
        let expression = Some(Expression {
            names: ["x", "y"].map(Into::into).into(),
            term: Term::Call("mul".into(), vec![Term::Name(0), Term::Name(1)]),
        });
        let computation = Computation::Map { expression, operands: factors, cast: None };
        self.region.operations.push(Operation { computation, result: products });
        self.reduced(ReduceName::Add, (products, result), &over, ReduceOrder::Free);
        Ok(())
    }

    /// The axes of the products: those of the larger factor in its order, around which are those of one position that
    /// it lacks.
    fn axes_of_products(&self, factors: &[Slot]) -> Vec<Arc<str>> {
        let size = |axes: &[Arc<str>]| axes.iter().map(|axis| self.size(axis)).product::<u64>();
        let mut all: Vec<&[Arc<str>]> =
            factors.iter().map(|slot| &self.region.values[*slot].array.axes[..]).collect();
        all.sort_by_key(|axes| size(axes));
        let mut products: Vec<Arc<str>> = Vec::new();
        for axis in all.into_iter().flatten() {
            products.retain(|own| own != axis);
            products.push(Arc::clone(axis));
        }
        products
    }

    /// The slot of an operand, in the format `wide` from its fetch on.
    fn factor(&mut self, op: OpRef<'_>, value: ValueId, wide: DType) -> Result<Slot, Diagnostic> {
        let source = self.slot(op, value)?;
        let stored = &self.region.values[source];
        if stored.is_converted() {
            return Err(unplanned(op, "an operand that a fetch has converted"));
        }
        let (array, table, storage) = (stored.array.clone(), stored.table.clone(), stored.storage);
        self.region.values.push(RegionValue { array, read: wide, table, storage });
        Ok(self.region.values.len() - 1)
    }
}
