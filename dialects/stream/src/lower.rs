//! Lowering of one operation of a pipeline: to nothing, or to one operation of `seq` or `hw`. Its declaration names
//! the function as an interface, next to its [`visa_mapping::raise::Semantics`]; the lowering pass calls it.

pub mod address;
pub mod loops;
pub mod origin;

use crate::planner::{Planner, StagePlan};
use std::collections::HashMap;
use std::rc::Rc;
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, OpSpec, ValueId};
use visa_machine::Machine;
use visa_mapping::facts::Support;
use visa_mapping::facts::address::Moving;
use visa_mapping::facts::frames::Frames;
use visa_mapping::index::cases::{Bound, Cases};

/// The interface of an operation that a pipeline may hold: its lowering inside `hw.exec`, to at most one operation.
pub struct LowerStage(pub fn(&StageCx<'_>, OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic>);

/// Lowers to nothing: no engine is configured.
pub const NOTHING: LowerStage = LowerStage(|_, _| Ok(None));

/// The input of a stage's lowering in addition to the operation.
pub struct StageCx<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The module's axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
    /// The axes that each value depends on.
    pub support: &'a Support,
    /// Address of each tensor at rest.
    pub addresses: &'a HashMap<ValueId, Cases<Moving>>,
    /// The first chip and slice of each value's mappings.
    pub frames: &'a Frames,
    /// The bounds of the case that is lowered, among those of `tm.select`.
    pub case: &'a [Bound],
    /// The slices that the operation writes, as start and end of each range, if it is the end of a pipeline with more
    /// active slices (book 09, slice bitmap).
    pub bitmap: Option<&'a [i64]>,
}

impl StageCx<'_> {
    /// The plan of an operation: the one that its verifier made, if it is verified.
    ///
    /// # Errors
    /// The constraint that does not hold.
    pub fn plan<P: StagePlan>(&self, op: OpRef<'_>) -> Result<Rc<P>, Diagnostic> {
        self.planner().plan(op)
    }

    /// The planner of engines' work.
    #[must_use]
    pub fn planner(&self) -> Planner<'_> {
        let Self { ctx, axes, machine, support, .. } = *self;
        Planner { ctx, axes, machine, support }
    }
}

/// Lowers an operation of a pipeline.
///
/// # Errors
/// If it cannot be lowered, or its declaration has no [`LowerStage`].
pub fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let Some(LowerStage(lower)) = op.decl().and_then(|decl| decl.interface()) else {
        let message = format!("`{op}` has no lowering: its declaration lacks the `LowerStage` interface");
        return Err(Diagnostic::error("lower-to-seq", op.span(), message));
    };
    lower(cx, op)
}
