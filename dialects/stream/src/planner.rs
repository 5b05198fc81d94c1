//! What an engine is to do, planned once: the verifier asks whether there is a plan, the chooser what it costs, a
//! lint what it reads, and the lowering writes it down.
//!
//! A plan follows from what its operation and those before it in the pipeline say, from the axes that the module
//! declares, and from the axes that operands depend on. A context keeps it under just that, so that it also serves
//! every other operation that says the same, in any module.

use crate::pipeline;
use std::cell::RefCell;
use std::rc::Rc;
use visa_algebra::{Axes, AxisId};
use visa_ir::content::{Content, content};
use visa_ir::context::{Context, TypeId};
use visa_ir::decl::{ClauseDecl, ClauseKind};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_ir::symbols;
use visa_ir::verify::VerifyCx;
use visa_ir::view::{Kind, Symbol};
use visa_machine::Machine;
use visa_mapping::facts::{DeclaredAxes, Support, machine};

/// What an engine is to do for an operation.
pub trait StagePlan: Sized + 'static {
    /// Works it out.
    ///
    /// # Errors
    /// The constraint of the operation that does not hold.
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic>;
}

/// Plans the work of engines.
#[derive(Clone, Copy)]
pub struct Planner<'a> {
    /// The context, which keeps the plans.
    pub ctx: &'a Context,
    /// The module's axes.
    pub axes: &'a Axes,
    /// The machine: the context's.
    pub machine: &'a Machine,
    /// Which axes each value depends on.
    pub support: &'a Support,
}

/// The plan of an operation for its verifier.
///
/// # Errors
/// The constraint that does not hold.
pub fn planned<P: StagePlan>(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<Rc<P>, Diagnostic> {
    let (axes, support) = (cx.analysis::<DeclaredAxes>(), cx.analysis::<Support>());
    Planner { ctx: op.ctx, axes: &axes.0, machine: &machine(op), support: &support }.plan(op)
}

impl Planner<'_> {
    /// The plan of an operation.
    ///
    /// # Errors
    /// The constraint that does not hold.
    pub fn plan<P: StagePlan>(&self, op: OpRef<'_>) -> Result<Rc<P>, Diagnostic> {
        match content_of(op) {
            Some(content) => {
                let depends: Vec<_> = op.operands().iter().map(|&value| self.support.axes(value)).collect();
                self.ctx.once((self.number_of_axes(), content, depends), || P::make(self, op))
            }
            None => P::make(self, op).map(Rc::new),
        }
    }

    /// The axes along which operand `index` is the same everywhere.
    pub fn free(&self, op: OpRef<'_>, index: usize) -> impl Fn(AxisId) -> bool + use<'_> {
        let (support, axes) = (self.support, self.axes);
        let value = op.operands().get(index).copied();
        move |axis| value.is_none_or(|value| !support.depends(value, axes.name(axis)))
    }

    /// A number for the module's axes: modules of a context that declare the same have the same.
    #[must_use]
    pub fn number_of_axes(&self) -> usize {
        let known = self.ctx.data::<KnownAxes>();
        let mut known = known.0.borrow_mut();
        known.iter().rposition(|axes| axes == self.axes).unwrap_or_else(|| {
            known.push(self.axes.clone());
            known.len() - 1
        })
    }
}

/// The axes of modules that plans were made for.
#[derive(Default)]
struct KnownAxes(RefCell<Vec<Axes>>);

/// What the operations say that an operation names: a table.
fn named(op: OpRef<'_>) -> Vec<Option<Content>> {
    let names = |clause: &&ClauseDecl| matches!(clause.kind, ClauseKind::Symbol);
    let clauses = op.decl().map_or(&[][..], |decl| decl.clauses).iter().filter(names);
    let named = clauses.filter_map(|clause| Symbol::read(&op.attr(clause.name)?));
    named.map(|name| content(symbols::declaring(op, &name)?, |value| op.module.ty(value), ())).collect()
}

/// What an operation says, with what it takes and what it names.
fn content_of(op: OpRef<'_>) -> Option<Content> {
    content(op, |value| taken(op, value), named(op))
}

/// What an operation takes: the type, and of a stream what the operations before say.
fn taken(op: OpRef<'_>, value: ValueId) -> (TypeId, Option<Content>) {
    let before = op.module.def_op(value).map(|id| op.other(id));
    let stream = before.filter(|before| pipeline::contains(*before) && !pipeline::ends(*before));
    (op.module.ty(value), stream.and_then(content_of))
}
