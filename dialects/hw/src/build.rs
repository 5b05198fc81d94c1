//! The interface by which an operation gives its stage.

use std::sync::Arc;
use visa_engine::{Stage, Wire};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_loops::Steps;

/// The interface by which an operation inside `hw.exec` gives its stage.
pub enum Build {
    /// From the operation alone.
    Alone(fn(OpRef<'_>) -> Result<Stage, Diagnostic>),
    /// From the operation and its input wire.
    After(fn(OpRef<'_>, &Wire) -> Result<Stage, Diagnostic>),
}

impl Build {
    /// The stage of an operation that `input` flows into. One that the operation alone gives is built once for a state
    /// of the module.
    ///
    /// # Errors
    /// The diagnostic of the operation.
    pub fn stage(&self, op: OpRef<'_>, input: &Wire) -> Result<Arc<Stage>, Diagnostic> {
        match self {
            Self::Alone(build) => (*op.ctx.once_of(op, || build(op).map(Arc::new))).clone(),
            Self::After(_) => self.trial(op, input).map(Arc::new),
        }
    }

    /// The same, not kept: for an operation that is only tried.
    ///
    /// # Errors
    /// The diagnostic of the operation.
    pub fn trial(&self, op: OpRef<'_>, input: &Wire) -> Result<Stage, Diagnostic> {
        match self {
            Self::Alone(build) => build(op),
            Self::After(build) => build(op, input),
        }
    }
}

/// Verifies an operation whose stage comes from it alone: there is one.
///
/// # Errors
/// The diagnostic of the operation.
pub fn verify(op: OpRef<'_>) -> Result<(), Diagnostic> {
    match op.decl().and_then(|decl| decl.interface::<Build>()) {
        Some(build) => build.stage(op, &Wire::NOTHING).map(drop),
        None => Ok(()),
    }
}

/// The interface of an operation inside `hw.exec` that is true if its work depends on its slice.
pub struct KnowsSlices(pub fn(OpRef<'_>) -> bool);

/// The interface of an operation inside `hw.exec` that gives the steps of its addresses with the loops around the run.
pub struct Moves(pub fn(OpRef<'_>) -> Result<Steps, Diagnostic>);
