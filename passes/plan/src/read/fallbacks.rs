//! Steps that are read in another form than usual, since no plan of that one fits the machine.

use crate::program::{Step, Work};
use std::collections::HashSet;
use visa_ir::module::OpId;

/// The operations at their beginning, by the forms.
#[derive(Clone, Debug, Default)]
pub struct Fallbacks {
    /// Contractions whose windows are copied.
    pub windows: HashSet<OpId>,
    /// Contractions whose maps are in another step, if these have other operands.
    pub maps: HashSet<OpId>,
    /// Contractions whose results another step adds.
    pub added: HashSet<OpId>,
    /// Contractions whose summed axes are one axis.
    pub sums: HashSet<OpId>,
    /// Regions whose inputs are in the order of the first result.
    pub orders: HashSet<OpId>,
}

impl Fallbacks {
    /// Adds a step without a plan to the next form that changes it; false if there is none.
    pub fn add(&mut self, step: &Step) -> bool {
        match &step.work {
            Work::Contraction(problem) => {
                has_windows(&step.work) && self.windows.insert(step.op)
                    || problem.adds_batch() && self.added.insert(step.op)
                    || !problem.epilogue.operands.is_empty() && self.maps.insert(step.op)
                    || problem.sum.axes.len() > 1 && self.sums.insert(step.op)
            }
            Work::Region(_) => self.orders.insert(step.op),
            Work::Single(_) => false,
        }
    }
}

/// Returns true if a step is a contraction that reads windows of an image.
#[must_use]
pub fn has_windows(work: &Work) -> bool {
    match work {
        Work::Contraction(problem) => problem.operands.iter().any(|array| array.image.is_some()),
        Work::Region(_) | Work::Single(_) => false,
    }
}
