//! The order in which a pipeline reduces.

use visa_ir::diag::Diagnostic;
use visa_mapping::ops::reduce::Reduce;
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
        let any = op.free() || matches!(op.op()?, ReduceName::Max | ReduceName::Min);
        Ok(match op.tree()? {
            _ if any => Some(Self::Free),
            1 => Some(Self::Sequential),
            4 => Some(Self::Lanes),
            _ => None,
        })
    }
}
