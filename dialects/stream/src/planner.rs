//! Plans of engines, computed once: the verifier checks that there is a plan, the chooser reads its cost, a lint its
//! reads, and the lowering writes it out.
//!
//! A plan follows from the contents of its operation and of those before it in the pipeline, from the axes that the
//! module declares, and from the axes that operands depend on. A context stores it under these inputs, so that it also
//! serves every other operation with the same content, in any module.

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

/// The plan of an engine for an operation.
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
    /// The axes that each value depends on.
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

/// The contents of the operations that an operation names: a table.
fn named(op: OpRef<'_>) -> Vec<Option<Content>> {
    let names = |clause: &&ClauseDecl| matches!(clause.kind, ClauseKind::Symbol);
    let clauses = op.decl().map_or(&[][..], |decl| decl.clauses).iter().filter(names);
    let named = clauses.filter_map(|clause| Symbol::read(&op.attr(clause.name)?));
    named.map(|name| content(symbols::declaring(op, &name)?, |value| op.module.ty(value), ())).collect()
}

/// The content of an operation, with its operands and the operations that it names.
fn content_of(op: OpRef<'_>) -> Option<Content> {
    content(op, |value| taken(op, value), named(op))
}

/// The content of an operand: the type, and of a stream the contents of the operations before.
fn taken(op: OpRef<'_>, value: ValueId) -> (TypeId, Option<Content>) {
    let before = op.module.def_op(value).map(|id| op.other(id));
    let stream = before.filter(|before| pipeline::contains(*before) && !pipeline::ends(*before));
    (op.module.ty(value), stream.and_then(content_of))
}
