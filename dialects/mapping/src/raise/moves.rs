//! The semantics of operations of the tm dialect: they move tensors, show parts of them, and fill parts.

use crate::coverage::Coverage;
use crate::ops::indexed::along;
use crate::ops::rename::{Rearrange, Rename};
use crate::ops::restrict::{Extract, Insert};
use crate::ops::to_tile::{self, TileWrite};
use crate::ops::view::Tile;
use crate::ops::view::relabelled_terms;
use crate::ops::{chip_shuffle, constant, gather, number, skew};
use crate::raise::sets::Set;
use crate::raise::{Known, OPEN, Raising, both};
use crate::tensor::{Dim, Tensor, operand, relabel};
use crate::view::{self, ViewKind};
use std::collections::BTreeMap;
use std::rc::Rc;
use visa_algebra::{AxisId, Cell, Expr, Index, Map};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_machine::{IndexUnit, Medium};

/// The tensor that the result of an operation is.
///
/// # Errors
/// If it has no result, or one that is no tensor.
pub fn result(op: OpRef<'_>) -> Result<Rc<Tensor>, Diagnostic> {
    op.result_type::<Tensor>(0).ok_or_else(|| op.error("C0", "the result is no tensor"))
}

/// Operand 0 in another place or order, its elements converted to the result's format.
///
/// # Errors
/// Those of [`Raising::held`]; a result that no choice of an open mapping gives.
pub fn same(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let to = result(op)?;
    check_asked(cx, op, &to)?;
    let known = cx.held(op, 0, &to)?;
    let known = cx.cast(op, known, to.dtype)?;
    cx.bind(op, known)
}

/// Checks that the result has each axis that elements of an open mapping differ along, and no coordinate that they
/// lack: no choice of the mapping would give that. After an operation whose elements depend on an open mapping, such
/// as one that packs, the axes of values are not known.
fn check_asked(cx: &Raising<'_>, op: OpRef<'_>, to: &Tensor) -> Result<(), Diagnostic> {
    let Some(types) = cx.open_types().filter(|_| cx.incomplete.is_none()) else { return Ok(()) };
    let is_open = |values: &[ValueId]| values.first().is_some_and(|&value| !types.is_explicit(value));
    if !is_open(op.operands()) || is_open(op.results()) {
        return Ok(());
    }
    let (known, to) = (cx.operand(op, 0)?, Coverage::new(to, cx.axes, op.span())?);
    let is_skewed = |axis: AxisId| to.skewed().iter().any(|skew| [skew.axis, skew.of].contains(&axis));
    for (&axis, held) in known.held.iter().filter(|(axis, _)| !is_skewed(**axis)) {
        let (name, asked) = (cx.axes.name(axis), to.held(axis, held.len()));
        if !to.mentions(axis) && held.coordinates().len() > 1 {
            let message =
                format!("elements differ along `{name}`, which the result lacks, and nothing sums along it");
            let fix = format!("name `{name}` in `over` of a sum, or keep it in the layout of the result");
            return Err(Diagnostic::error(OPEN, op.span(), message).fix(fix));
        }
        if let Some(missing) = (0..asked.len()).find(|&at| asked[at] && !held.has(at)) {
            let message =
                format!("the result has coordinate {missing} of `{name}`, which the operand does not hold");
            let fix = format!("fetch all of `{name}`, or keep a part of it in the layout of the result");
            return Err(Diagnostic::error(OPEN, op.span(), message).fix(fix));
        }
    }
    Ok(())
}

/// A view: the operand under the indices of the result.
pub(crate) fn shown(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let kind = view::kind(op).ok_or_else(|| op.error("C0", "it is no view"))?;
    let to = result(op)?;
    let held = Coverage::new(&to, cx.axes, op.span())?;
    let source = cx.operand(op, 0)?;
    let moves = match kind {
        ViewKind::Reshape | ViewKind::Window | ViewKind::Relabel => true,
        ViewKind::Slice | ViewKind::Padding | ViewKind::Tile | ViewKind::Transpose => false,
    };
    if moves && cx.depends_on_open(op, &[Dim::Element]) {
        return empty(cx, op);
    }
    let seen = match kind {
        ViewKind::Slice | ViewKind::Padding => source,
        ViewKind::Tile => tile(cx, op, source, &held)?,
        ViewKind::Reshape | ViewKind::Window => {
            let [ours, theirs] = relabelled_terms(op, cx.axes)?;
            rearranged(cx, op, source, theirs, ours)?
        }
        ViewKind::Relabel => {
            let old = operand(op, 0).ok_or_else(|| op.error("C0", "the operand is no tensor"))?;
            let pairs = relabel::relabellings(&old, &to, cx.axes);
            pairs
                .into_iter()
                .try_fold(source, |seen, own| rearranged(cx, op, seen, own.held(), own.holds()))?
        }
        ViewKind::Transpose => renamed(cx, op, source)?,
    };
    let seen = cx.narrow(op, seen, &held)?;
    cx.bind(op, seen)
}

/// The axes that a mapping names.
fn axes_of(cx: &Raising<'_>, op: OpRef<'_>, map: &Expr) -> Result<Vec<AxisId>, Diagnostic> {
    let id = |name: std::sync::Arc<str>| {
        cx.axes.resolve(&name).map_err(|error| crate::error::mapping_error(error, op.span()))
    };
    map.axis_names(cx.axes).into_iter().map(id).collect()
}

/// A mapping of the coordinates that a type holds along the axes of a value.
fn part(cx: &Raising<'_>, held: &BTreeMap<AxisId, Set>) -> Expr {
    Expr::pair(held.iter().map(|(&axis, set)| set.expr(axis, cx.axes)))
}

/// A tile, with coordinates counted from its first.
fn tile(cx: &mut Raising<'_>, op: OpRef<'_>, source: Known, to: &Coverage) -> Result<Known, Diagnostic> {
    let tile = Tile::of(op)?;
    let (along, index) = ((*tile.along()?).clone(), number::constant(op, tile.index()?, cx.axes)?);
    let cut = axes_of(cx, op, &along)?;
    let source = cx.broadcast(op, source, cut.into_iter())?;
    let first = tile.first().map(|value| cx.number(op, value.id)).collect::<Result<Vec<ValueId>, _>>()?;
    let mut held = BTreeMap::new();
    for (&axis, own) in &source.held {
        let set = if to.mentions(axis) { Set::of(&to.held(axis, own.len())) } else { own.clone() };
        held.insert(axis, set);
    }
    let operands = std::iter::once(source.value).chain(first);
    let part = part(cx, &held);
    let spec = Extract::build(op, operands).along(Rc::new(along)).index(index).part(Some(part)).spec();
    cx.emit(spec, held)
}

/// A value under the indices of another mapping.
fn rearranged(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    source: Known,
    from: Expr,
    to: Expr,
) -> Result<Known, Diagnostic> {
    let spec = Rearrange::build(op, [source.value]).from(from).to(to).spec();
    cx.emit(spec, source.held)
}

/// A transposition: other names of axes.
fn renamed(cx: &mut Raising<'_>, op: OpRef<'_>, source: Known) -> Result<Known, Diagnostic> {
    let pairs = view::renaming(op, cx.axes)?;
    let source = cx.broadcast(op, source, pairs.iter().map(|(from, _)| *from))?;
    let name = |axis: AxisId| Expr::axis(cx.axes.name(axis));
    let axes = Expr::pair(pairs.iter().map(|(from, _)| name(*from)));
    let to = Expr::pair(pairs.iter().map(|(_, to)| name(*to)));
    let new = |axis: AxisId| pairs.iter().find(|(from, _)| *from == axis).map_or(axis, |(_, to)| *to);
    let held = source.held.iter().map(|(&axis, set)| (new(axis), set.clone())).collect();
    let spec = Rename::build(op, [source.value]).axes(axes).to(to).spec();
    cx.emit(spec, held)
}

/// A tensor without an element.
pub(crate) fn empty(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let to = result(op)?;
    let known = cx.emit(constant::Undefined::build(op).dtype(to.dtype).spec(), BTreeMap::new())?;
    cx.bind(op, known)
}

/// The tensor with a tile of it replaced.
///
/// # Errors
/// Those of [`Raising::held`].
pub fn tiled(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let write = TileWrite::cast(op).ok_or_else(|| op.error("C0", "it writes no tile"))?;
    let tile = to_tile::part(write, cx.axes)?;
    let (along, index) = ((*write.along()?).clone(), number::constant(op, write.index()?, cx.axes)?);
    let first = write.first().map(|value| cx.number(op, value.id)).collect::<Result<Vec<ValueId>, _>>()?;
    let to = result(op)?;
    let (new, old) = (cx.held(op, 0, &tile)?, cx.held(op, 1, &to)?);
    inserted(cx, op, (new, old), (&tile, &to), First { along, index, operands: first })
}

/// Operand 1 with the elements of a part of it replaced by those of operand 0.
///
/// # Errors
/// Those of [`Raising::held`].
pub fn overwritten(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    new: Known,
    old: Known,
    part: &Tensor,
) -> Result<(), Diagnostic> {
    let to = result(op)?;
    inserted(cx, op, (new, old), (part, &to), First::default())
}

/// Where a part of a tensor begins.
struct First {
    along: Expr,
    index: i64,
    operands: Vec<ValueId>,
}

impl Default for First {
    fn default() -> Self {
        Self { along: Expr::Literal(1), index: 0, operands: Vec::new() }
    }
}

/// An insertion into a tensor of type `to`.
fn inserted(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    (new, old): (Known, Known),
    (tile, to): (&Tensor, &Tensor),
    first: First,
) -> Result<(), Diagnostic> {
    let inside = Coverage::new(tile, cx.axes, op.span())?;
    let whole = Coverage::new(to, cx.axes, op.span())?;
    let mut held = BTreeMap::new();
    let of_elements = to.dim(Dim::Element).axis_names(cx.axes);
    let is_same = |axis: &AxisId| !new.held.contains_key(axis) && !old.held.contains_key(axis);
    // Along an axis that the part does not mention, it is at coordinate 0.
    for axis in inside.axes().chain(whole.axes()) {
        let size = Set::all(cx.axes, axis, op.span())?.len();
        let part = inside.held(axis, size);
        // Written alike in all slices, the elements stay the same along the axes of these.
        let of_slices = of_elements.iter().all(|name| **name != *cx.axes.name(axis));
        if of_slices && is_same(&axis) && part == whole.held(axis, size) {
            continue;
        }
        held.insert(axis, Set::of(&part));
    }
    let operands = [new.value, old.value].into_iter().chain(first.operands);
    let part = part(cx, &held);
    let spec = Insert::build(op, operands).along(first.along).index(first.index).part(part).spec();
    let known = cx.emit(spec, BTreeMap::new())?;
    let known = cx.narrow(op, known, &whole)?;
    cx.bind(op, known)
}

/// The parts of chips, exchanged.
pub(crate) fn exchanged(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let to = result(op)?;
    let known = cx.held(op, 0, &to)?;
    let along = to.dim(Dim::Chip);
    let axes = axes_of(cx, op, &along)?;
    let known = cx.broadcast(op, known, axes.into_iter())?;
    let from = chip_shuffle::ChipShuffle::of(op)?.by()?;
    let whole = Coverage::new(&to, cx.axes, op.span())?;
    let held: BTreeMap<AxisId, Set> =
        known.held.iter().map(|(&axis, set)| (axis, Set::of(&whole.held(axis, set.len())))).collect();
    let is_part = held.values().any(|set| !set.is_all());
    let built = skew::Exchange::build(op, [known.value]).along(along).from(from);
    let built = if is_part { built.part(Some(part(cx, &held))) } else { built };
    let known = cx.emit(built.spec(), held)?;
    cx.bind(op, known)
}

/// The distance of a table's rows in the numbers of an index.
fn unit(op: OpRef<'_>, table: &Tensor, axis: AxisId, cx: &Raising<'_>) -> Result<i64, Diagnostic> {
    let index = operand(op, 1).ok_or_else(|| op.error("C0", "the index is no tensor"))?;
    let counts_rows = |medium: Medium| medium.decl().indices == Some(IndexUnit::Row);
    if index.medium().is_some_and(counts_rows) {
        return Ok(1);
    }
    distance(op, table, axis, cx)
}

/// Distance of the rows of a table in bytes: the start of the second one in its mapping. The distance of a single row
/// is one element: it starts at 0.
fn distance(op: OpRef<'_>, table: &Tensor, along: AxisId, cx: &Raising<'_>) -> Result<i64, Diagnostic> {
    let refuse = |why: String| op.error("C3", why);
    let element = table.dim(Dim::Element);
    let map = Map::new(&element, cx.axes).map_err(|error| refuse(error.message))?;
    let live = |at: u64| match map.cell(at) {
        Some(Cell::Live(index)) => Some((at, index)),
        Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
    };
    let mut cells = (0..map.size()).filter_map(live);
    let first = cells.next();
    let next = |index: &Index| {
        let mut next = index.clone();
        next.add(along, 1);
        next
    };
    let second = first.as_ref().map(|(_, index)| next(index));
    let second = cells.find(|(_, index)| second.as_ref() == Some(index));
    let positions = first.zip(second).map_or(1, |((first, _), (second, _))| second - first);
    let bytes = table.bytes(positions).and_then(|bytes| i64::try_from(bytes).ok());
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| refuse("rows are no whole bytes apart".to_owned()))
}

/// Rows of a table that an index chooses.
pub(crate) fn gathered(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (to, axis) = (result(op)?, along(op, cx.axes)?);
    let ty = operand(op, 0).ok_or_else(|| op.error("C0", "the table is no tensor"))?;
    let unit = unit(op, &ty, axis, cx)?;
    let index = cx.held(op, 1, &to)?;
    let table = cx.operand(op, 0)?;
    let table = cx.broadcast(op, table, std::iter::once(axis))?;
    let held = both(&table, &index);
    let spec = gather::Gather::build(op, [table.value, index.value])
        .along(Rc::new(Expr::axis(cx.axes.name(axis))))
        .unit(unit)
        .spec();
    let known = cx.emit(spec, held)?;
    let known = cx.narrow(op, known, &Coverage::new(&to, cx.axes, op.span())?)?;
    cx.bind(op, known)
}

/// A table with the rows that an index chooses replaced.
pub(crate) fn scattered(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (to, axis) = (result(op)?, along(op, cx.axes)?);
    let ty = operand(op, 2).ok_or_else(|| op.error("C0", "the table is no tensor"))?;
    let unit = unit(op, &ty, axis, cx)?;
    let whole = Coverage::new(&to, cx.axes, op.span())?;
    let (rows, index, table) = (cx.operand(op, 0)?, cx.operand(op, 1)?, cx.operand(op, 2)?);
    let table = cx.broadcast(op, table, whole.axes())?;
    let spec = gather::ScatterInto::build(op, [rows.value, index.value, table.value])
        .along(Rc::new(Expr::axis(cx.axes.name(axis))))
        .unit(unit)
        .spec();
    let known = cx.emit(spec, BTreeMap::new())?;
    let known = cx.narrow(op, known, &whole)?;
    cx.bind(op, known)
}
