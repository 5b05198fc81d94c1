//! What an operation of a pipeline becomes on the level below. Its declaration says so as an interface, beside its
//! logical meaning ([`crate::semantics`]); the lowering pass asks. Operations below are named by text and made from
//! the context, so that this crate does not depend on theirs.

use crate::planner::{Planner, StagePlan};
use std::collections::HashMap;
use std::rc::Rc;
use visa_ir::context::{Attr, Context};
use visa_ir::decl::{Body, BodyDef};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, OpSpec, ValueId};
use visa_loops::distance;
use visa_machine::Machine;
use visa_mapping::Axes;
use visa_mapping::address::Moving;
use visa_mapping::cases::{Bound, Cases};
use visa_mapping::facts::Support;
use visa_mapping::frames::Frames;

/// An interface that says what an operation of a pipeline becomes inside `hw.exec`: nothing, or one operation.
/// Those of `stream` whose loops come from a sequencer are lowered in `visa-passes` instead.
pub struct LowerStage(pub fn(&StageCx<'_>, OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic>);

/// What lowering one stage needs to know.
pub struct StageCx<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The module's axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
    /// Which axes each value depends on.
    pub support: &'a Support,
    /// Address of each tensor at rest, in bytes, as it depends on the loops around what uses it.
    pub addresses: &'a HashMap<ValueId, Cases<Moving>>,
    /// The chips and slices that the mappings of each value are counted from.
    pub frames: &'a Frames,
    /// The case that is lowered, of those that `tm.select` makes: where these hold.
    pub case: &'a [Bound],
}

impl StageCx<'_> {
    /// The plan of an operation: the one that its verifier made, if it is verified.
    ///
    /// # Errors
    /// The constraint that does not hold.
    pub fn plan<P: StagePlan>(&self, op: OpRef<'_>) -> Result<Rc<P>, Diagnostic> {
        self.planner().plan(op)
    }

    /// What plans the work of engines.
    #[must_use]
    pub fn planner(&self) -> Planner<'_> {
        let Self { ctx, axes, machine, support, .. } = *self;
        Planner { ctx, axes, machine, support }
    }

    /// A new operation called `name` that comes from `op`.
    ///
    /// # Errors
    /// If no registered dialect declares it.
    pub fn spec(&self, name: &str, op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
        let decl = self.ctx.op(name).ok_or_else(|| {
            let message = format!("lowering needs `{name}`, but its dialect is not registered");
            Diagnostic::error("lower-to-seq", op.span(), message)
        })?;
        Ok(OpSpec::at(decl, op))
    }

    /// `spec` with an integer clause.
    #[must_use]
    pub fn int(&self, spec: OpSpec, name: &str, value: u64) -> OpSpec {
        spec.clause(name, self.ctx.attr(Attr::Int(distance(value))))
    }

    /// `spec` with a word clause.
    #[must_use]
    pub fn word(&self, spec: OpSpec, name: &str, value: &str) -> OpSpec {
        spec.clause(name, self.ctx.attr(Attr::Str(value.into())))
    }

    /// `spec` with a clause that is a dialect attribute.
    #[must_use]
    pub fn body(&self, spec: OpSpec, name: &str, def: &'static BodyDef, value: impl Body) -> OpSpec {
        spec.clause(name, self.ctx.body_attr(def, value))
    }
}
