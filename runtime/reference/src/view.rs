//! Views: the same elements under other indices (book 03, tiling; semantics, relabelling).

use std::collections::BTreeMap;

use visa_algebra::{Axes, AxisId, Cell, Expr, Index, Map, skewed_names};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;

use crate::layout::{Layout, offset};
use crate::tensor::{Axis, Logical, element_count, saturated};
use visa_mapping::coverage::Coverage;

/// The tensor whose element at x is the given one's at x plus `shift`, limited to the elements of a type.
pub(crate) fn shifted(
    tensor: &Logical,
    shift: &Index,
    to: &Coverage,
    span: Span,
) -> Result<Logical, Diagnostic> {
    let by = |axis: AxisId| saturated(shift.get(axis));
    let cut = |axis: &Axis| {
        let rest: Vec<bool> = axis.held.iter().skip(by(axis.id)).copied().collect();
        let end = match to.mentions(axis.id) {
            true => to.held(axis.id, rest.len()).iter().rposition(|&held| held).map_or(0, |last| last + 1),
            false => rest.len(),
        };
        Axis { id: axis.id, held: rest[..end].to_vec() }
    };
    let axes: Vec<Axis> = tensor.axes.iter().map(cut).collect();
    let strides = tensor.strides(axes.iter().map(|axis| axis.id));
    let shifts: Vec<usize> = axes.iter().map(|axis| by(axis.id)).collect();
    let source = |axis: usize, coordinate: usize| strides[axis].offset(coordinate + shifts[axis]);
    let last = axes.len().saturating_sub(1);
    let whole = axes.is_empty();
    tensor.rows(
        axes,
        span,
        |at| Some(at.iter().enumerate().map(|(axis, &coordinate)| source(axis, coordinate)).sum()),
        |coordinate| if whole { 0 } else { source(last, coordinate) },
    )
}

/// The tensor whose coordinate along the second axis of each pair is the given one's along the first.
pub(crate) fn renamed(
    tensor: &Logical,
    pairs: &[(AxisId, AxisId)],
    span: Span,
) -> Result<Logical, Diagnostic> {
    let name = |id: AxisId| pairs.iter().find(|(from, _)| *from == id).map_or(id, |(_, to)| *to);
    let axes: Vec<Axis> =
        tensor.axes.iter().map(|axis| Axis { id: name(axis.id), held: axis.held.clone() }).collect();
    let strides = tensor.strides(tensor.axes.iter().map(|axis| axis.id));
    Logical::where_defined(tensor.dtype, axes, span, |at| tensor.element(offset(&strides, at)))
}

/// The tensor that holds at index `new(i)` the given tensor's element at `old(i)`, for every position i of the two
/// mappings; at each of them, if windows share a position. Along axes that neither mentions nothing changes.
pub(crate) fn relabelled(
    tensor: &Logical,
    old: &Expr,
    new: &Expr,
    axes: &Axes,
    span: Span,
) -> Result<Logical, Diagnostic> {
    let refuse = |why: String| Diagnostic::error("no-meaning", span, why);
    let map = |expr: &Expr| Map::new(expr, axes).map_err(|error| refuse(error.message));
    // A skewed axis counts also where it is at 0 everywhere.
    let (skewed, skewed_to) = (skewed_names(old, axes), skewed_names(new, axes));
    let (old, new) = (map(old)?, map(new)?);
    let positions = element_count(&[saturated(new.size())], span)? as u64;
    let pairs: Vec<(Index, Index)> = (0..positions)
        .flat_map(|i| match old.cell(i) {
            Some(Cell::Live(from)) => held(new.cell(i)).into_iter().map(|to| (from.clone(), to)).collect(),
            Some(Cell::Shared(_) | Cell::Pad(_)) | None => Vec::new(),
        })
        .collect();
    // Elements that were padding are undefined under their new index.
    let padding = (0..positions).filter(|&i| !matches!(old.cell(i), Some(Cell::Live(_))));
    let fresh: Vec<Index> = padding.flat_map(|i| held(new.cell(i))).collect();
    let moved = |id: AxisId| skewed.contains(&id) || pairs.iter().any(|(from, _)| from.get(id) > 0);
    if fresh.is_empty() && !tensor.axes.iter().any(|axis| moved(axis.id)) {
        return Ok(tensor.clone());
    }
    let mut ends: BTreeMap<AxisId, usize> = skewed_to.into_iter().map(|id| (id, 1)).collect();
    let own = || pairs.iter().map(|(_, to)| to).chain(&fresh);
    for (id, coordinate) in own().flat_map(Index::iter) {
        let end = ends.entry(id).or_insert(1);
        *end = (*end).max(saturated(coordinate).saturating_add(1));
    }
    for &end in ends.values() {
        element_count(&[end], span)?;
    }
    let mut result: Vec<Axis> = ends.iter().map(|(&id, &end)| Axis { id, held: vec![false; end] }).collect();
    for (id, coordinate) in own().flat_map(|to| ends.keys().map(|id| (*id, to.get(*id)))) {
        if let Some(axis) = result.iter_mut().find(|axis| axis.id == id) {
            axis.held[coordinate as usize] = true;
        }
    }
    let layout = Layout::new(&result);
    let (places, new_strides) = (places(tensor, &pairs, &result, span)?, layout.strides());
    let count = result.len();
    let place = |at: &[usize]| places[offset(&new_strides, at)];
    result.extend(tensor.axes.iter().filter(|axis| !moved(axis.id)).cloned());
    let strides = tensor.strides(result[count..].iter().map(|axis| axis.id));
    match strides.last() {
        Some(stride) => tensor.rows(
            result,
            span,
            |at| Some(place(&at[..count])? + offset(&strides, &at[count..])),
            |coordinate| stride.offset(coordinate),
        ),
        None => Logical::where_defined(tensor.dtype, result, span, |at| tensor.element(place(at)?)),
    }
}

/// The indices that a cell holds.
fn held(cell: Option<Cell>) -> Vec<Index> {
    match cell {
        Some(Cell::Live(index)) => vec![index],
        Some(Cell::Shared(indices)) => indices,
        Some(Cell::Pad(_)) | None => Vec::new(),
    }
}

/// For each combination of new coordinates, in the storage order of `result`, where the old tensor has its element, if
/// it holds one.
fn places(
    tensor: &Logical,
    pairs: &[(Index, Index)],
    result: &[Axis],
    span: Span,
) -> Result<Vec<Option<usize>>, Diagnostic> {
    let layout = Layout::new(result);
    let strides = layout.strides();
    let mut places = vec![None; layout.count(span)?];
    // A coordinate of 0 along an axis of the mapping counts, too: the tensor may not hold it.
    let moved: Vec<&Axis> =
        tensor.axes.iter().filter(|axis| pairs.iter().any(|(from, _)| from.get(axis.id) > 0)).collect();
    for (from, to) in pairs {
        let at: Vec<usize> = result.iter().map(|axis| saturated(to.get(axis.id))).collect();
        let holds = |axis: &&Axis| axis.held.get(saturated(from.get(axis.id))) == Some(&true);
        let distance = |axis: &&Axis| tensor.stride(axis.id).offset(saturated(from.get(axis.id)));
        places[offset(&strides, &at)] = moved.iter().all(holds).then(|| moved.iter().map(distance).sum());
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_mapping::{HOST, parse_tensor};
    use visa_numerics::DType;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 2), ("B", 3), ("C", 6), ("D", 2)] {
            axes.declare(name, size).unwrap();
        }
        axes
    }

    /// A tensor over A and B with elements 10 * a + b.
    fn tensor(table: &Axes) -> Logical {
        let axis = |name: &str, end| Axis { id: table.id(name).unwrap(), held: vec![true; end] };
        Logical::new(DType::I32, vec![axis("A", 2), axis("B", 3)], vec![0, 1, 2, 10, 11, 12])
    }

    #[test]
    fn a_shift_counts_from_the_tile() {
        let table = axes();
        let shift = Index::from_iter([(table.id("B").unwrap(), 1)]);
        let body = parse_tensor(&HOST, "i32, [A, B = 2]").unwrap().into_any();
        let to = Coverage::new(body.downcast_ref().unwrap(), &table, Span::default()).unwrap();
        let tile = shifted(&tensor(&table), &shift, &to, Span::default()).unwrap();
        assert_eq!(tile.elements(), [1, 2, 11, 12]);
    }

    #[test]
    fn a_renaming_keeps_the_elements() {
        let table = axes();
        let (a, d) = (table.id("A").unwrap(), table.id("D").unwrap());
        let view = renamed(&tensor(&table), &[(a, d)], Span::default()).unwrap();
        assert_eq!(view.elements(), [0, 1, 2, 10, 11, 12]);
        assert_eq!(view.axes[0].id, d);
    }

    #[test]
    fn relabelling_follows_the_positions() {
        let table = axes();
        let expr = |text: &str| Expr::parse(text).unwrap();
        let relabel = |old: &str, new: &str| {
            relabelled(&tensor(&table), &expr(old), &expr(new), &table, Span::default()).unwrap()
        };
        // Column-major positions: (0,0) (1,0) (0,1) (1,1) (0,2) (1,2).
        assert_eq!(relabel("[B, A]", "[C]").elements(), [0, 10, 1, 11, 2, 12]);
        assert_eq!(relabel("[A, B]", "[C]").elements(), [0, 1, 2, 10, 11, 12]);
        // B stays as it is, after D, which takes the place of A.
        assert_eq!(relabel("[A]", "[D]").elements(), [0, 1, 2, 10, 11, 12]);
        assert_eq!(relabel("[A, B # 4]", "[C / 3, C % 3 # 4]").elements(), [0, 1, 2, 10, 11, 12]);
        // Windows of two: the element at A = a, D = d is that at B = a + d, A innermost.
        assert_eq!(relabel("[B]", "[$(C % 2:1, D:1)]").elements()[..8], [0, 10, 1, 11, 1, 11, 2, 12]);
    }

    /// A tensor that does not hold coordinate 0 has no element there under other axes either.
    #[test]
    fn relabelling_keeps_undefined_elements_undefined() {
        let table = axes();
        let axis = Axis { id: table.id("C").unwrap(), held: [false, false, true, true, true, true].to_vec() };
        let part = Logical::new(DType::I32, vec![axis], vec![2, 3, 4, 5]);
        let expr = |text: &str| Expr::parse(text).unwrap();
        let split = relabelled(&part, &expr("[C]"), &expr("[A, B]"), &table, Span::default()).unwrap();
        let element = |at| split.element(at);
        assert_eq!((0..6).map(element).collect::<Vec<_>>(), [None, None, Some(2), Some(3), Some(4), Some(5)]);
    }

    /// Two sparse axes: E and F hold two and three coordinates, 2^20 and 2^19 apart. Their dense array would have
    /// (2^20 + 1) * (2^20 + 1) elements, more than are evaluated; the tensor has six.
    #[test]
    fn two_sparse_axes_hold_the_coordinates_that_are_used() {
        let mut table = axes();
        table.declare("E", 1 << 21).unwrap();
        table.declare("F", 3 << 19).unwrap();
        let expr = |text: &str| Expr::parse(text).unwrap();
        let new = expr(&format!("[E / {}, F / {}]", 1 << 20, 1 << 19));
        let sparse = relabelled(&tensor(&table), &expr("[A, B]"), &new, &table, Span::default()).unwrap();
        assert_eq!(sparse.elements(), [0, 1, 2, 10, 11, 12]);
        let used = |name: &str| -> Vec<usize> {
            let axis = sparse.axes.iter().find(|axis| axis.id == table.id(name).unwrap()).unwrap();
            (0..axis.held.len()).filter(|&coordinate| axis.held[coordinate]).collect()
        };
        assert_eq!(used("E"), [0, 1 << 20]);
        assert_eq!(used("F"), [0, 1 << 19, 2 << 19]);
    }

    /// The last coordinate of an axis is at most 2^28 - 1. (An array of bools that ends there takes a quarter of a
    /// GiB, so the check is tested by itself on the inside.)
    #[test]
    fn a_sparse_axis_ends_at_the_limit() {
        assert_eq!(element_count(&[1 << 28], Span::default()), Ok(1 << 28));
        let mut table = axes();
        table.declare("Far", 2 << 28).unwrap();
        let expr = |text: &str| Expr::parse(text).unwrap();
        let new = expr(&format!("[Far / {}]", 1 << 28));
        let error = relabelled(&tensor(&table), &expr("[A]"), &new, &table, Span::default()).map(drop);
        assert_eq!(error.map_err(|error| error.code), Err("too-large".to_owned()));
    }
}
