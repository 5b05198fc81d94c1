//! Steps that are read in another form than usual, since no plan of that one fits the machine.

use crate::array::Array;
use crate::contraction::products::may_multiply;
use crate::contraction::{Role, in_operand_order};
use crate::program::{Step, Work};
use std::collections::{HashMap, HashSet};
use visa_algebra::Axes;
use visa_ir::module::OpId;

/// Forms that may take fewer cycles than the usual one, although that one has a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Windows are copied.
    Windows,
    /// Axes inside of windows are innermost in copies of images.
    Images,
    /// Axes of both operands are outermost in the result.
    Batches,
    /// The last axis of both operands and the result has padding, so that slices divide several odd axes.
    BatchRows,
    /// Axes of one operand alone have the order of the result.
    Results,
    /// Results have the axes of each operand next to each other, in its order: another step exchanges them.
    Operands,
    /// Several summed axes are one axis.
    Sums,
    /// Products of elements that the vector engine adds.
    Products,
    /// Regions go on after a reduction of all their axes, which slices divide.
    Vectors,
}

/// The operations at their beginning, by the forms.
#[derive(Clone, Debug, Default)]
pub struct Fallbacks {
    /// Contractions and regions whose windows are copied.
    pub windows: HashSet<OpId>,
    /// Contractions of whose images, or of the copies of their windows, axes inside of windows are innermost.
    pub images: HashSet<OpId>,
    /// Contractions of whose rows the last axis has padding: parts of several axes as one dimension would cross rows
    /// of an odd axis.
    pub rows: HashSet<OpId>,
    /// The same of the axes of both operands and the result.
    pub batch_rows: HashSet<OpId>,
    /// Contractions whose results have the axes of both operands outermost, where these are innermost otherwise.
    pub batches: HashSet<OpId>,
    /// Contractions that read the axes of an operand alone in the order of their results.
    pub results: HashSet<OpId>,
    /// Contractions whose results have the axes of each operand next to each other, in its order.
    pub apart: HashSet<OpId>,
    /// Contractions whose maps are in another step, if these have other operands.
    pub maps: HashSet<OpId>,
    /// Contractions whose results another step adds.
    pub added: HashSet<OpId>,
    /// Contractions whose summed axes are one axis.
    pub sums: HashSet<OpId>,
    /// Contractions whose operands have the axes of both first, then their own, and the summed ones last.
    pub operands: HashSet<OpId>,
    /// Contractions that are sums of products of elements.
    pub products: HashSet<OpId>,
    /// Regions that go on where no axis is left that they do not reduce.
    pub vectors: HashSet<OpId>,
    /// Regions whose inputs are in the order of the first result.
    pub orders: HashSet<OpId>,
    /// Operations before which transfers within HBM, not pipelines, put elements in another order.
    pub moves: HashSet<OpId>,
    /// Regions that end after this many operations: the others are in later steps.
    pub most: HashMap<OpId, usize>,
}

impl Fallbacks {
    /// Adds a step without a plan to the next form that changes it; false if there is none.
    pub fn add(&mut self, step: &Step) -> bool {
        match &step.work {
            Work::Contraction(problem) => {
                problem.has_several_rows() && self.rows.insert(step.op)
                    || problem.has_several_batches() && self.batch_rows.insert(step.op)
                    || has_image(&step.work) && self.images.insert(step.op)
                    || has_windows(&step.work) && self.copies_windows(step.op)
                    || problem.adds_batch() && self.added.insert(step.op)
                    || !problem.epilogue.operands.is_empty() && self.maps.insert(step.op)
                    || problem.sum.axes.len() > 1 && self.sums.insert(step.op)
                    || may_multiply(problem, self.windows.contains(&step.op)) && self.products.insert(step.op)
                    || self.windows.contains(&step.op) && self.images.insert(step.op)
                    || self.operands.insert(step.op)
            }
            Work::Region(region) => {
                region.is_copy() && self.moves.insert(step.op)
                    || self.orders.insert(step.op)
                    || has_windows(&step.work) && self.windows.insert(step.op)
                    || self.halve(step.op, region.operations.len())
            }
            Work::Single(_) => false,
        }
    }

    /// Copies windows of images as they are; false if they are copied already.
    fn copies_windows(&mut self, op: OpId) -> bool {
        self.images.remove(&op);
        self.windows.insert(op)
    }

    /// As this one, with all steps in a form for which it is another one; `None` if it is for none.
    #[must_use]
    pub fn with(&self, form: Form, steps: &[Step], axes: &Axes) -> Option<Self> {
        let mut other = self.clone();
        let known = match form {
            Form::Windows => &mut other.windows,
            Form::Images => &mut other.images,
            Form::Batches => &mut other.batches,
            Form::BatchRows => &mut other.batch_rows,
            Form::Results => &mut other.results,
            Form::Operands => &mut other.apart,
            Form::Sums => &mut other.sums,
            Form::Products => &mut other.products,
            Form::Vectors => &mut other.vectors,
        };
        let before = known.len();
        let changed = steps.iter().filter(|step| {
            let reads_windows = self.windows.contains(&step.op) || has_windows(&step.work);
            form.changes(&step.work, reads_windows, axes)
        });
        known.extend(changed.map(|step| step.op));
        (known.len() > before).then_some(other)
    }

    /// Ends a region of some operations after half of them; false if it has one. A long chain of maps whose values
    /// do not fit data memory has few parts then.
    fn halve(&mut self, first: OpId, operations: usize) -> bool {
        let most = self.most.entry(first).or_insert(operations);
        let halves = *most > 1;
        *most = (*most / 2).max(1);
        halves
    }
}

impl Form {
    /// Those that each function is read in. Products come after these.
    pub const MAYBE_FASTER: [Self; 8] = [
        Self::Images,
        Self::Windows,
        Self::Batches,
        Self::BatchRows,
        Self::Results,
        Self::Operands,
        Self::Sums,
        Self::Vectors,
    ];

    /// Returns true if a step, which reads windows or copies of them, is another one in this form.
    fn changes(self, work: &Work, reads_windows: bool, axes: &Axes) -> bool {
        match (self, work) {
            (Self::Windows, _) => has_windows(work),
            (Self::Images, _) => has_image(work),
            // Slices that divide the batch store single elements where it is innermost.
            (Self::Batches, Work::Contraction(problem)) => problem.innermost(0, axes) == Some(Role::Batch),
            (Self::BatchRows, Work::Contraction(problem)) => {
                problem.has_several_batches() && !problem.batch.last.is_power_of_two()
            }
            (Self::Results, Work::Contraction(problem)) => {
                !reads_windows && [0, 1].into_iter().any(|operand| problem.crosses(operand, axes))
            }
            (Self::Operands, Work::Contraction(problem)) => {
                let operands = problem.operands.each_ref().map(|array| &*array.axes);
                !reads_windows && in_operand_order(&problem.out.axes, operands) != problem.out.axes
            }
            (Self::Sums, Work::Contraction(problem)) => problem.sum.axes.len() > 1 && !has_windows(work),
            (Self::Products, Work::Contraction(problem)) => may_multiply(problem, reads_windows),
            (Self::Vectors, Work::Region(region)) => {
                region.rows.is_empty() && !region.divided_sums().is_empty()
            }
            (Self::Vectors, Work::Contraction(_) | Work::Single(_)) => false,
            (
                Self::Batches
                | Self::BatchRows
                | Self::Results
                | Self::Operands
                | Self::Sums
                | Self::Products,
                Work::Region(_) | Work::Single(_),
            ) => false,
        }
    }
}

/// Returns true if a step reads windows of an array.
fn has_windows(work: &Work) -> bool {
    let has = |array: &Array| array.image.is_some() || array.view.is_some();
    match work {
        Work::Contraction(problem) => problem.operands.iter().any(has),
        Work::Region(region) => region.inputs.iter().any(|&slot| has(&region.values[slot].array)),
        Work::Single(_) => false,
    }
}

/// Returns true if a step is a contraction whose fetch reads windows.
fn has_image(work: &Work) -> bool {
    match work {
        Work::Contraction(problem) => problem.operands.iter().any(|array| array.image.is_some()),
        Work::Region(_) | Work::Single(_) => false,
    }
}
