//! Kernels with open clauses, by axes. An open clause decides where elements are and when they move, and not which
//! there are. So the type of a result that depends on one stands for all choices: it has every axis of the operands.

use crate::coverage::Coverage;
use crate::facts::DeclaredAxes;
use crate::ops::view::Tile;
use crate::raise::open::OpenTypes;
use crate::raise::sets::Set;
use crate::tensor::attrs::MAP;
use crate::tensor::{Dim, Tensor, make};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Axes, Expr};
use visa_ir::context::{Attr, Context};
use visa_ir::decl::{ClauseDecl, ClauseKind, Presence};
use visa_ir::diag::Diagnostic;
use visa_ir::infer::result_types;
use visa_ir::module::{AttrId, Module, OpId, OpRef};
use visa_ir::open::{self, Opening};
use visa_ir::verify::Analysis;

/// Some value of an open clause; `None` if it may be absent.
#[must_use]
pub fn some_value(ctx: &Context, clause: &ClauseDecl) -> Option<AttrId> {
    let is_choice = clause.opening == Opening::Configuration;
    let value = match clause.kind {
        ClauseKind::Word(&[first, ..]) => Attr::Str(first.into()),
        ClauseKind::Ints => Attr::Ints([].into()),
        ClauseKind::Body(_) if is_choice => {
            return Some(ctx.body_attr(&MAP, Expr::Literal(1)));
        }
        ClauseKind::Int if is_choice && clause.presence == Presence::Optional => return None,
        ClauseKind::Int
        | ClauseKind::Word(&[])
        | ClauseKind::Str
        | ClauseKind::Symbol
        | ClauseKind::Strs
        | ClauseKind::Flag
        | ClauseKind::Body(_) => Attr::Int(0),
    };
    Some(ctx.attr(value))
}

/// A copy of a module without open configurations, whose types by axes stand for all choices. Values and operations
/// have the numbers of the module.
///
/// # Errors
/// The error of the inference for an operation.
pub fn closed(ctx: &Context, module: &Module) -> Result<(Module, OpenTypes), Diagnostic> {
    let axes = DeclaredAxes::build(ctx, module).0;
    let (mut closed, mut types) = (module.clone(), OpenTypes::default());
    for id in module.walk_all().into_iter().filter(|&id| open::untyped(module.op(ctx, id))) {
        close(ctx, &mut closed, &mut types, id, &axes)?;
    }
    Ok((closed, types))
}

/// Gives the open clauses of an operation some value, and its results types by axes.
fn close(
    ctx: &Context,
    module: &mut Module,
    types: &mut OpenTypes,
    id: OpId,
    axes: &Axes,
) -> Result<(), Diagnostic> {
    let op = module.op(ctx, id);
    let Some(decl) = op.decl() else { return Ok(()) };
    let values = some_values(op);
    let opened: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    values.iter().for_each(|&(name, value)| module.set_clause(id, name, value));
    let op = module.op(ctx, id);
    let made = decl.infer.map(|infer| result_types(op, decl, infer)).transpose()?;
    let arguments = decl.arguments.map(|arguments| arguments(op)).transpose()?;
    let body = op.regions().first().map_or(&[][..], |&block| module.args(block));
    let made = op.results().iter().copied().zip(made.iter().flat_map(|made| made.iter().copied()));
    let all = made.chain(body.iter().copied().zip(arguments.into_iter().flatten()));
    let mut typed = Vec::new();
    for (value, ty) in all {
        let Some(tensor) = ctx.type_value::<Tensor>(ty) else {
            typed.push((value, Vec::new(), ty));
            continue;
        };
        let dims = types.of_type(op, &tensor, &opened);
        let is_new = tensor.kind.stream || !opened.is_empty();
        let names = if is_new { names(op, axes) } else { named(op, &tensor, &dims, axes)? };
        let ty = if dims.is_empty() { ty } else { make(ctx, with_axes(op, &tensor, &dims, names, axes)?) };
        typed.push((value, dims, ty));
    }
    for (value, dims, ty) in typed {
        types.insert(value, dims);
        module.set_type(value, ty);
    }
    Ok(())
}

/// Some value for each open configuration of an operation. A parameter that is open, such as a topology, decides the
/// absent mappings too.
fn some_values(op: OpRef<'_>) -> Vec<(&'static str, Option<AttrId>)> {
    let open = || open::clauses(op).filter(|clause| clause.opening == Opening::Configuration);
    let is_mapping =
        |clause: &&ClauseDecl| matches!(clause.kind, ClauseKind::Body(def) if std::ptr::eq(def, &MAP));
    let has_parameter = open().any(|clause| !is_mapping(&clause));
    let all = op.decl().map_or(&[][..], |decl| decl.clauses).iter();
    let absent = all.filter(|clause| has_parameter && op.attr(clause.name).is_none()).filter(is_mapping);
    open().chain(absent).map(|clause| (clause.name, some_value(op.ctx, clause))).collect()
}

/// The axes that the operands' types and the written clauses of an operation name.
fn names(op: OpRef<'_>, axes: &Axes) -> BTreeSet<Arc<str>> {
    let tensors = (0..op.operands().len()).filter_map(|index| op.operand_type::<Tensor>(index));
    let of_types = tensors.flat_map(|tensor: Rc<Tensor>| tensor.axis_names(axes));
    let maps = op.clauses().iter().filter_map(|clause| op.ctx.attr_value::<Expr>(clause.value));
    of_types.chain(maps.flat_map(|map| map.axis_names(axes))).collect()
}

/// The axes in these dimensions of a type. Those that a tile is cut along are in its layout alone.
fn named(
    op: OpRef<'_>,
    tensor: &Tensor,
    dims: &[Dim],
    axes: &Axes,
) -> Result<BTreeSet<Arc<str>>, Diagnostic> {
    let mut names: BTreeSet<Arc<str>> =
        dims.iter().flat_map(|&dim| tensor.dim(dim).axis_names(axes)).collect();
    if let Some(tile) = Tile::cast(op) {
        let along = tile.along()?.axis_names(axes);
        names.retain(|name| !along.contains(name));
    }
    Ok(names)
}

/// A type with these axes in the first of some dimensions, and nothing in the others of them. Axes that explicit
/// dimensions hold whole are nowhere else.
fn with_axes(
    op: OpRef<'_>,
    tensor: &Tensor,
    dims: &[Dim],
    mut names: BTreeSet<Arc<str>>,
    axes: &Axes,
) -> Result<Tensor, Diagnostic> {
    let explicit = tensor.kind.dims.iter().filter(|dim| !dims.contains(dim)).map(|&dim| tensor.dim(dim));
    let held = Coverage::of_map(&Expr::pair(explicit), axes, op.span())?;
    for axis in held.axes() {
        let size = Set::all(axes, axis, op.span())?.len();
        if Set::of(&held.held(axis, size)).is_all() {
            names.remove(axes.name(axis));
        }
    }
    let whole = Expr::pair(names.iter().map(|name| Expr::axis(name)));
    let map = |(dim, map): (&Dim, &Expr)| match dims.iter().position(|open| open == dim) {
        None => map.clone(),
        Some(0) => whole.clone(),
        Some(_) => Expr::Literal(1),
    };
    Ok(Tensor { maps: tensor.kind.dims.iter().zip(&tensor.maps).map(map).collect(), ..tensor.clone() })
}
