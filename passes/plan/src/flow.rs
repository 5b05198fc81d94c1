//! The flow of values between steps: through HBM, or in the data memory where one step leaves them and another one
//! reads them.

use visa_algebra::{Expr, PadKind};
use visa_ir::module::ValueId;
use visa_mapping::{Dim, Tensor};

/// An input of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// In HBM: the step loads it.
    Stored(ValueId),
    /// In data memory, distributed as the step reads it.
    Here(ValueId),
}

/// A result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// In HBM, if the step stores it.
    pub stored: Option<ValueId>,
    /// In data memory, if no loop reuses its place.
    pub held: Option<ValueId>,
}

/// The inputs that a step finds in data memory, and the results that it stores in HBM.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ways {
    /// For each input, true if it is in data memory.
    pub here: Vec<bool>,
    /// For each result, true if the step stores it.
    pub stores: Vec<bool>,
}

impl Ways {
    /// All inputs and results are in HBM.
    #[must_use]
    pub fn stored(inputs: usize, results: usize) -> Self {
        Self { here: vec![false; inputs], stores: vec![true; results] }
    }

    /// Returns true if a value passes from step to step without HBM.
    #[must_use]
    pub fn are_linked(&self) -> bool {
        self.here.contains(&true) || self.stores.contains(&false)
    }
}

/// The place of a value in data memory, as a text that is equal for equal places: its distribution, and its layout
/// without padding.
#[must_use]
pub fn place(tensor: &Tensor) -> String {
    let [cluster, slice] = [Dim::Cluster, Dim::Slice].map(|dim| tensor.dim(dim));
    let element = tensor.dim(Dim::Element);
    let terms = element.terms().into_iter().map(without_padding).filter(|term| **term != Expr::Literal(1));
    let element: Vec<String> = terms.map(ToString::to_string).collect();
    format!("{cluster} {slice} {}", element.join(", "))
}

/// A term of a layout without padding at its end.
fn without_padding(term: &Expr) -> &Expr {
    match term {
        Expr::Pad { inner, kind: PadKind::Top, side: visa_algebra::Side::High, .. } => inner,
        term => term,
    }
}
