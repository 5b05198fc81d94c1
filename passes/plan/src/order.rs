//! The order in which a pipeline reduces, and that of the axes of a value.

use visa_ir::diag::Diagnostic;
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::ops::rename::Rearrange;
use visa_mapping::tensor::value::axis_list;
use visa_numerics::ReduceName;

/// The order of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceOrder {
    /// Any.
    Free,
    /// The elements one after the other.
    Sequential,
    /// Trees of four neighbours, one after the other: the order of the vector engine's lanes.
    Lanes,
}

impl ReduceOrder {
    /// The order of a reduction; `None` if no pipeline has it.
    ///
    /// # Errors
    /// A clause of another kind.
    pub fn of(op: Reduce<'_>) -> Result<Option<Self>, Diagnostic> {
        // Extrema may be taken in any order.
        if op.free() || matches!(op.op()?, ReduceName::Max | ReduceName::Min) {
            return Ok(Some(Self::Free));
        }
        let orders = [(1, Self::Sequential), (4, Self::Lanes)];
        let tree = op.tree()?;
        Ok(orders.into_iter().find(|(neighbours, _)| *neighbours == tree).map(|(_, order)| order))
    }
}

/// Returns true if a rearrangement changes the order of axes alone.
///
/// # Errors
/// A rearrangement without its axes.
pub fn is_permutation(op: Rearrange<'_>) -> Result<bool, Diagnostic> {
    let (from, to) = (axis_list(&*op.from()?), axis_list(&*op.to()?));
    Ok(matches!((from, to), (Ok(from), Ok(to)) if from == to))
}
