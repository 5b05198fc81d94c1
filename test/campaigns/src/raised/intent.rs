//! A kernel with the computation that it was generated for.

use super::array::Array;
use visa_numerics::SumOrder;
use visa_support::Random;

/// Slices of a cluster.
pub(super) const SLICES: u64 = 8;

/// Arguments by their names, and the result.
pub(super) type Computation = (Vec<(&'static str, Array)>, Array);

/// A kernel, and the computation that it was generated for.
pub(super) struct Intent {
    pub(super) text: String,
    pub(super) order: SumOrder,
    pub(super) computation: Box<dyn FnOnce(&mut Random) -> Computation>,
}

impl Intent {
    pub(super) fn new(text: String, computation: impl FnOnce(&mut Random) -> Computation + 'static) -> Self {
        Self { text, order: SumOrder::Tree, computation: Box::new(computation) }
    }

    /// The same, evaluated with this order of sums.
    pub(super) fn in_order(self, order: SumOrder) -> Self {
        Self { order, ..self }
    }
}
