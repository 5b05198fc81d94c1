//! Views: the same bytes under another mapping (book 03, "tiling"; book 33, segmentation).
//!
//! A view moves nothing. It starts some positions into its source and has a separate element mapping; everything that
//! reads it works with that mapping and that address. The semantics of the view is its source's tensor restricted to
//! the indices of the mapping, with coordinates counted from the tile (a tile), or with other axes (reshape,
//! transposition).

pub mod tile;

use crate::index::affine::{Affine, Indices};
use crate::index::cases::Cases;
use crate::ops::number::{constant, in_each, numbers};
use crate::ops::view::{Tile as TileOp, Transpose, ViewOp};
use crate::tensor::attrs::MAP;
use crate::tensor::relabel::Relabelling;
use crate::tensor::{Dim, Tensor, relabel};
use crate::view::tile::{Clauses, Tile};
use visa_algebra::{Axes, AxisId, Cell, Expr, Index, digits, inverse};
use visa_ir::decl::{ClauseDecl, ClauseKind};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{self, EffectKind};
use visa_ir::module::{OpRef, ValueId};

/// Kind of view of an operation; declared as an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// `tm.slice`: part of the tensor, under its own indices.
    Slice,
    /// `tm.tile`: part of the tensor, indices counted from the tile's first.
    Tile,
    /// `tm.pad`, `tm.unpad`: other padding around the same elements.
    Padding,
    /// `tm.reshape`: the same positions under other axes.
    Reshape,
    /// `tm.window`: the same positions as windows that overlap.
    Window,
    /// `tm.relabel`: the same bytes under other axes, by the author's word.
    Relabel,
    /// `tm.transpose`: axes exchange their names.
    Transpose,
}

/// The tensor that an operation changes in place, according to its effects: it writes an operand and gives a tensor at
/// rest, which is the operand as it is from then on, at the same address.
#[must_use]
pub fn changed(op: OpRef<'_>) -> Option<ValueId> {
    if op.result_type::<Tensor>(0).is_none_or(|tensor| tensor.kind.stream) {
        return None;
    }
    let written = effects::of(op)?.into_iter().filter(|effect| effect.kind == EffectKind::Write);
    written.filter_map(|effect| effect.value).next()
}

/// Relation of the tensor of a view to that of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// The element at x is the source's at x.
    Same,
    /// The element at x is the source's at x plus this.
    Shifted(Index),
    /// Each element that the second mapping of a pair holds at a position is the source's that the first one holds
    /// there, pair after pair.
    Relabelled(Vec<(Expr, Expr)>),
    /// The coordinate along the second axis of a pair is the source's along the first.
    Renamed(Vec<(AxisId, AxisId)>),
}

/// The element mapping of a view, the clause that most views have.
#[visa_ir::clause]
pub(crate) const ELEMENT: ClauseDecl =
    ClauseDecl::required("element", ClauseKind::body::<Expr>(&MAP), "the view's layout, in elements");

/// The view that an operation is.
#[must_use]
pub fn kind(op: OpRef<'_>) -> Option<ViewKind> {
    op.decl().and_then(|decl| decl.interface::<ViewKind>()).copied()
}

/// The operation that makes a value, through views of it; none for an argument of a function.
#[must_use]
pub fn origin(op: OpRef<'_>, value: ValueId) -> Option<OpRef<'_>> {
    let mut made = op.module.def_op(value).map(|id| op.other(id))?;
    while kind(made).is_some() {
        made = made.operand_def(0)?;
    }
    Some(made)
}

/// The semantics of the view in an iteration of the loops around it.
///
/// # Errors
/// A tile whose index or dimension is no position, or an axis that is not declared.
pub fn meaning(
    op: OpRef<'_>,
    kind: ViewKind,
    axes: &Axes,
    indices: &Indices,
) -> Result<Semantics, Diagnostic> {
    Ok(match kind {
        ViewKind::Slice | ViewKind::Padding => Semantics::Same,
        ViewKind::Tile => {
            let cases = tile(op, axes)?;
            let tile =
                cases.at(indices).ok_or_else(|| op.error("C3", "no tile is there in this iteration"))?;
            Semantics::Shifted(tile.shift(&tile.at(indices)?)?)
        }
        ViewKind::Reshape | ViewKind::Window => Semantics::Relabelled(vec![(element(op)?, own_element(op)?)]),
        ViewKind::Relabel => Semantics::Relabelled(
            relabellings(op, axes)?.into_iter().map(|own| (own.held(), own.holds())).collect(),
        ),
        ViewKind::Transpose => Semantics::Renamed(renaming(op, axes)?),
    })
}

/// Number of positions into its source at which a view starts, as it depends on loops.
///
/// # Errors
/// If the source holds the view's first index nowhere, or has no digit form, or tiles are not evenly apart.
pub fn start(op: OpRef<'_>, kind: ViewKind, axes: &Axes) -> Result<Cases<Affine>, Diagnostic> {
    match kind {
        ViewKind::Padding
        | ViewKind::Reshape
        | ViewKind::Window
        | ViewKind::Relabel
        | ViewKind::Transpose => Ok(Cases::always(Affine::default())),
        ViewKind::Tile => tile(op, axes)?.map(Tile::starts),
        ViewKind::Slice => slice_start(op, axes).map(|at| Cases::always(Affine::constant(at.cast_signed()))),
    }
}

/// Number of positions into its source at which a slice starts.
pub(crate) fn slice_start(op: OpRef<'_>, axes: &Axes) -> Result<u64, Diagnostic> {
    part_start(&own_element(op)?, &element(op)?, axes).map_err(|why| op.clause_error("C2", "element", why))
}

/// The tile that a `tm.tile` shows.
pub(crate) fn tile<'a>(op: OpRef<'a>, axes: &'a Axes) -> Result<Cases<Tile<'a>>, Diagnostic> {
    let view = TileOp::of(op)?;
    let (part, whole) = (view.result_view()?.of_type::<Tensor>()?, view.source()?.of_type::<Tensor>()?);
    let (along, size, index) = (view.along()?, view.size()?, constant(op, view.index()?, axes)?);
    in_each(op, &numbers(op, view.first().map(|first| first.id), axes)?, |first| {
        let clauses = Clauses { along: along.clone(), size, index, first: first.clone() };
        Tile::read(op, clauses, (&part, &whole), axes)
    })
}

/// Number of positions into `whole` at which a part of it starts, under the same indices.
///
/// # Errors
/// If `whole` holds the part's first index nowhere, or has no digit form.
pub fn part_start(part: &Expr, whole: &Expr, axes: &Axes) -> Result<u64, String> {
    position(whole, first_index(part, axes)?, axes)
}

fn first_index(part: &Expr, axes: &Axes) -> Result<Index, String> {
    match visa_algebra::map(part, axes, 0) {
        Some(Cell::Live(index)) => Ok(index),
        Some(Cell::Shared(_) | Cell::Pad(_)) | None => {
            Err(format!("`{part}` does not start with an element"))
        }
    }
}

/// Where `source` holds the first index of a view.
fn position(source: &Expr, first: Index, axes: &Axes) -> Result<u64, String> {
    let held = digits(source, axes).map_err(|error| format!("cannot place a view in `{source}`: {error}"))?;
    inverse(&held).position(&first).ok_or_else(|| {
        let at = visa_algebra::describe(Some(&Cell::Live(first)), axes);
        format!("the view starts at {at}, which `{source}` does not hold")
    })
}

/// The source's element mapping.
pub(crate) fn element(op: OpRef<'_>) -> Result<Expr, Diagnostic> {
    Ok(ViewOp::seen(op).source()?.of_type::<Tensor>()?.dim(Dim::Element))
}

/// The view's own element mapping.
pub(crate) fn own_element(op: OpRef<'_>) -> Result<Expr, Diagnostic> {
    Ok(ViewOp::seen(op).result_view()?.of_type::<Tensor>()?.dim(Dim::Element))
}

/// The parts of a tensor that a `tm.relabel` changes.
pub(crate) fn relabellings(op: OpRef<'_>, axes: &Axes) -> Result<Vec<Relabelling>, Diagnostic> {
    let view = ViewOp::seen(op);
    let (old, new) = (view.source()?.of_type::<Tensor>()?, view.result_view()?.of_type::<Tensor>()?);
    Ok(relabel::relabellings(&old, &new, axes))
}

/// The pairs of axes of a transposition: from, to.
///
/// # Errors
/// Clauses that are no lists of axes.
pub fn renaming(op: OpRef<'_>, axes: &Axes) -> Result<Vec<(AxisId, AxisId)>, Diagnostic> {
    let ids = |clause: &str, names: Vec<String>| -> Result<Vec<AxisId>, Diagnostic> {
        let resolve = |name: &String| {
            axes.resolve(name).map_err(|error| crate::error::mapping_error(error, op.clause_span(clause)))
        };
        names.iter().map(resolve).collect()
    };
    let (from, to) = renamed_axes(op)?;
    let (from, to) = (ids("axes", from)?, ids("to", to)?);
    Ok(from.into_iter().zip(to).collect())
}

/// The axes that a transposition renames, and their new names.
pub(crate) fn renamed_axes(op: OpRef<'_>) -> Result<(Vec<String>, Vec<String>), Diagnostic> {
    let op = Transpose::of(op)?;
    Ok((axis_names(**op, "axes", &*op.axes()?)?, axis_names(**op, "to", &*op.to()?)?))
}

/// The axes that a clause such as `[A, B]` lists.
fn axis_names(op: OpRef<'_>, clause: &str, list: &Expr) -> Result<Vec<String>, Diagnostic> {
    let terms = if let Expr::Pair(terms) = list { terms.clone() } else { vec![list.clone()] };
    let name = |term: &Expr| {
        if let Expr::Axis(name) = term {
            return Ok(name.to_string());
        }
        let message = format!("`{list}` is no list of axes: expected names such as `[A, B]`");
        Err(op.clause_error("C1", clause, message))
    };
    terms.iter().map(name).collect()
}

/// The same mapping with its axes renamed; `None` if it uses an alias, which stands for its own axes.
pub(crate) fn renamed(map: &Expr, names: &[(String, String)]) -> Option<Expr> {
    match map {
        Expr::Alias(_) => None,
        Expr::Axis(name) => {
            let to = names.iter().find(|(from, _)| **from == **name);
            Some(to.map_or_else(|| map.clone(), |(_, to)| Expr::axis(to)))
        }
        Expr::Literal(_)
        | Expr::Pair(_)
        | Expr::Outer(_)
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
        | Expr::Gather { .. }
        | Expr::Slide(_) => map.map_children(|child| renamed(child, names).ok_or(())).ok(),
    }
}
