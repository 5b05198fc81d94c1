//! Open clauses: the word `auto` for a value that a pass chooses. A declaration lists the clauses that may be open
//! ([`ClauseDecl::open`], [`ClauseDecl::open_address`], [`ClauseDecl::open_order`]); this module does the rest.

use crate::context::{Attr, Context, TypeId};
use crate::decl::{ClauseDecl, ClauseKind, OpDecl};
use crate::diag::Diagnostic;
use crate::infer::infer_all;
use crate::module::{Module, OpId, OpRef};
use std::fmt;

/// The word, in the pretty form.
pub const WORD: &str = "auto";
/// The word as an attribute, in the generic form.
pub const ATTRIBUTE: &str = "#visa.auto";
/// The type of a result that depends on an open clause.
pub const TYPE: &str = "!visa.auto";

/// Use of `auto` in a clause, and the facts that are then unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It never is.
    Never,
    /// An address in a memory: types do not depend on it, and the known part of the operation is verified.
    Address,
    /// An order of execution: neither types nor the computation depend on it.
    Order,
    /// A choice that result types may depend on: they are not known, and the operation is not verified.
    Configuration,
}

impl fmt::Display for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "nothing",
            Self::Address => "addresses",
            Self::Order => "orders",
            Self::Configuration => "configurations",
        })
    }
}

/// The open clauses of an operation, as they are declared.
pub fn clauses(op: OpRef<'_>) -> impl Iterator<Item = &'static ClauseDecl> {
    let open = op.clauses().iter().filter(move |clause| op.ctx.is_open(clause.value));
    open.filter_map(move |clause| op.decl()?.clause(&clause.name))
}

/// Returns true if a clause of an operation is `auto`, or a list with an `auto` in it.
#[must_use]
pub fn is_open(op: OpRef<'_>, clause: &str) -> bool {
    op.clauses().iter().any(|written| written.name == clause && op.ctx.is_open(written.value))
}

/// The first open clause of a module that `wanted` holds for.
#[must_use]
pub fn first(
    ctx: &Context,
    module: &Module,
    wanted: impl Fn(Opening) -> bool,
) -> Option<(OpId, &'static ClauseDecl)> {
    first_of(ctx, module, module.walk_all(), wanted)
}

/// The first open clause below an operation that `wanted` holds for.
#[must_use]
pub fn first_below(
    ctx: &Context,
    module: &Module,
    op: OpId,
    wanted: impl Fn(Opening) -> bool,
) -> Option<(OpId, &'static ClauseDecl)> {
    let regions = module.op(ctx, op).regions().iter();
    first_of(ctx, module, regions.flat_map(|&region| module.walk(region)), wanted)
}

fn first_of(
    ctx: &Context,
    module: &Module,
    ops: impl IntoIterator<Item = OpId>,
    wanted: impl Fn(Opening) -> bool,
) -> Option<(OpId, &'static ClauseDecl)> {
    ops.into_iter().find_map(|id| {
        let clause = clauses(module.op(ctx, id)).find(|clause| wanted(clause.opening))?;
        Some((id, clause))
    })
}

/// Returns true if the types of an operation's results are unknown: a clause that they may depend on is open, or the
/// type of an operand is unknown.
#[must_use]
pub fn untyped(op: OpRef<'_>) -> bool {
    clauses(op).any(|clause| clause.opening == Opening::Configuration)
        || op.operands().iter().any(|&operand| is_unknown(op.ctx, op.module.ty(operand)))
}

/// Returns true if a type is that of values whose type depends on an open clause.
#[must_use]
pub fn is_unknown(ctx: &Context, ty: TypeId) -> bool {
    ctx.is_type(ty, TYPE)
}

/// The type of values whose type depends on an open clause.
#[must_use]
pub fn unknown(ctx: &Context) -> TypeId {
    ctx.opaque_type(TYPE)
}

/// Leaves open every written clause that `wanted` holds for and that may be open. Types follow.
///
/// # Errors
/// The error of the inference for an operation; none for a module that verifies.
pub fn open_up(
    ctx: &Context,
    module: &mut Module,
    wanted: impl Fn(OpRef<'_>, &ClauseDecl) -> bool,
) -> Result<(), Diagnostic> {
    let auto = |op: OpRef<'_>, clause: &ClauseDecl| {
        // Of a list, how many there are stays.
        let list = if matches!(clause.kind, ClauseKind::Ints) { op.entries(clause.name) } else { None };
        ctx.attr(list.map_or(Attr::Auto, |list| Attr::OpenInts(vec![None; list.len()].into())))
    };
    for id in module.walk_all() {
        let op = module.op(ctx, id);
        let declared = op.decl().map_or(&[][..], |decl: &'static OpDecl| decl.clauses).iter();
        let may_open =
            |clause: &&ClauseDecl| clause.opening != Opening::Never && op.attr(clause.name).is_some();
        let holes: Vec<_> = declared.filter(may_open).filter(|clause| wanted(op, clause)).collect();
        let holes: Vec<_> = holes.into_iter().map(|clause| (clause.name, auto(op, clause))).collect();
        holes.into_iter().for_each(|(clause, auto)| module.set_clause(id, clause, Some(auto)));
    }
    infer_all(ctx, module)
}
