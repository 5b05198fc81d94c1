//! How an operation gives its stage.

use visa_engine::{Stage, Wire};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;

/// The interface by which an operation inside `hw.exec` gives its stage, which takes what flows in.
pub struct Build(pub fn(OpRef<'_>, &Wire) -> Result<Stage, Diagnostic>);
