//! How an operation gives its stage.

use visa_engine::{Stage, Wire};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_loops::Steps;

/// The interface by which an operation inside `hw.exec` gives its stage, which takes what flows in.
pub struct Build(pub fn(OpRef<'_>, &Wire) -> Result<Stage, Diagnostic>);

/// The interface by which an operation inside `hw.exec` says whether what it does depends on which slice it is in.
pub struct KnowsSlices(pub fn(OpRef<'_>) -> bool);

/// The interface by which an operation inside `hw.exec` says how its addresses move with the loops around the run.
pub struct Moves(pub fn(OpRef<'_>) -> Result<Steps, Diagnostic>);
