//! How an operation gives its stage.

use visa_engine::Stage;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;

/// The interface by which an operation inside `hw.exec` gives its stage.
pub struct Build(pub fn(OpRef<'_>) -> Result<Stage, Diagnostic>);
