//! The task of a choice: the computation of a pipeline, the constraints on it, and candidates of earlier choices.

use crate::config::computation::{Computation, Computations};
use crate::config::constraints::Constraints;
use crate::config::graph::Candidate;
use std::collections::BTreeSet;
use visa_algebra::{Axes, AxisId, Digit, digits};
use visa_ir::module::OpRef;

/// The task of a choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Task {
    /// The axes that the pipeline sums and keeps.
    pub computation: Computation,
    /// The explicit clauses and types.
    pub constraints: Constraints,
    /// Clauses that each operation had before they became holes, for advice, or that were found before the budget
    /// ended; they are tried before the proposals.
    pub seed: Vec<Candidate>,
    /// The numbers of operations that the pipeline may do without.
    pub optional: BTreeSet<usize>,
}

impl Task {
    /// The task for the pipeline `chain`, all of whose operations are required.
    pub fn of(chain: &[OpRef<'_>], axes: &Axes, computations: &Computations) -> Self {
        let computation = computations.of(chain, axes);
        let constraints = Constraints::of(chain, axes, &computation);
        Self { computation, constraints, ..Self::default() }
    }

    /// The clauses of operation `stage` that are tried first, if it has some.
    pub fn seed_of(&self, stage: usize) -> Option<&Candidate> {
        self.seed.get(stage).filter(|(_, clauses)| !clauses.is_empty())
    }

    /// Returns true if the stream is summed, or is in a register file that sums are made with, or is masked with a
    /// number: padding must be masked.
    pub fn sums(&self) -> bool {
        let Self { computation, constraints, .. } = self;
        computation.contracts || !computation.within.is_empty() || constraints.rows || constraints.masks
    }

    /// Number of coordinates of an axis in the result, counted from 0; `None` if it may have all.
    pub fn wanted(&self, axis: AxisId, axes: &Axes) -> Option<u64> {
        let own = self.stored(axis, axes)?;
        let reaches = own.iter().map(|digit| digit.stride.saturating_mul(digit.live)).max()?;
        let whole = own.iter().map(|digit| digit.live).product::<u64>() == reaches;
        whole.then_some(reaches)
    }

    /// Number of coordinates of a part of an axis in the result, counted from 0; `None` if it may have all.
    pub fn wanted_part(&self, part: &Digit, axes: &Axes) -> Option<u64> {
        let own = self.stored(part.axis?, axes).filter(|_| !self.constraints.rows)?;
        let end = part.stride.saturating_mul(part.live);
        let overlaps =
            |digit: &&Digit| digit.stride < end && digit.stride.saturating_mul(digit.live) > part.stride;
        let within: Vec<&Digit> = own.iter().filter(overlaps).collect();
        match within[..] {
            // Of the axis, but none of this part: always its first coordinate.
            [] => (!own.is_empty()).then_some(1),
            [only] => (only.stride == part.stride && only.live < part.live).then_some(only.live),
            [..] => None,
        }
    }

    /// The digits of an axis in the result's layout, innermost first; `None` where that is not all that is wanted
    /// of it.
    fn stored(&self, axis: AxisId, axes: &Axes) -> Option<Vec<Digit>> {
        let Self { computation, constraints, .. } = self;
        if constraints.moves || constraints.brought.contains(&axis) || computation.within.contains(&axis) {
            return None;
        }
        let layout = digits(constraints.layout.as_ref().filter(|_| !computation.contracts)?, axes).ok()?;
        let own = layout.iter().filter(|digit| digit.axis == Some(axis)).copied().collect();
        layout.offset().is_empty().then_some(own)
    }
}
