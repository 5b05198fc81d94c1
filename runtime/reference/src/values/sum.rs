//! The positions that a contraction or a reduction goes through, and how they are grouped.

use visa_algebra::{Axes, AxisId, Cell, Expr, Index, Map};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;
use visa_mapping::error::mapping_error;

use crate::limits::MAX_ELEMENTS;
use crate::tensor::{Axis, Logical, saturated};
use visa_mapping::coverage::Coverage;

/// The index that each position of a mapping holds; `None` for padding.
pub(crate) fn positions(map: &Expr, axes: &Axes, span: Span) -> Result<Vec<Option<Index>>, Diagnostic> {
    let prepared = Map::new(map, axes).map_err(|error| mapping_error(error, span))?;
    let size = prepared.size();
    if size > MAX_ELEMENTS {
        let message =
            format!("`{map}` has {}, at most {MAX_ELEMENTS} are evaluated", counted(size, "position"));
        return Err(Diagnostic::error("too-large", span, message));
    }
    let live = |at: u64| match prepared.cell(at) {
        Some(Cell::Live(index)) => Some(index),
        Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
    };
    Ok((0..size).map(live).collect())
}

/// The axes of a result: those of the operands that `over` does not mention, and of the others the part that `keep`
/// holds.
pub(crate) fn kept(
    operands: Vec<Axis>,
    over: &Expr,
    keep: Option<&Expr>,
    axes: &Axes,
    span: Span,
) -> Result<Vec<Axis>, Diagnostic> {
    let names = over.axis_names(axes);
    let summed = |id: AxisId| names.iter().any(|name| **name == *axes.name(id));
    let keep = keep.map(|keep| Coverage::of_map(keep, axes, span)).transpose()?;
    let axis = |axis: Axis| match &keep {
        _ if !summed(axis.id) => Some(axis),
        Some(keep) if keep.mentions(axis.id) => {
            let held = keep.held(axis.id, saturated(axes.size(axis.id)));
            let last = held.iter().rposition(|&held| held).map_or(0, |last| last + 1);
            Some(Axis { id: axis.id, held: held[..last].to_vec() })
        }
        Some(_) | None => None,
    };
    Ok(operands.into_iter().filter_map(axis).collect())
}

/// The distance in a value of an element whose coordinates are sums: of a result's and of a summed position's.
pub(crate) struct Reach {
    /// For each axis of the result its number among the value's axes, if it has it.
    outputs: Vec<Option<usize>>,
    /// The value's axes: the size of the axis and the coordinates that the value holds.
    axes: Vec<(usize, Axis)>,
}

impl Reach {
    pub(crate) fn new(value: &Logical, outputs: &[Axis], axes: &Axes) -> Self {
        let own = |axis: &Axis| (saturated(axes.size(axis.id)), axis.clone());
        let place = |output: &Axis| value.axes.iter().position(|axis| axis.id == output.id);
        Self { outputs: outputs.iter().map(place).collect(), axes: value.axes.iter().map(own).collect() }
    }

    /// The coordinates of a result's element along the value's axes; 0 along the others.
    pub(crate) fn base(&self, at: &[usize]) -> Vec<usize> {
        let mut base = vec![0; self.axes.len()];
        for (place, &coordinate) in self.outputs.iter().zip(at) {
            if let Some(place) = place {
                base[*place] = coordinate;
            }
        }
        base
    }

    /// The coordinates that a position adds.
    pub(crate) fn added(&self, index: &Index) -> Vec<usize> {
        self.axes.iter().map(|(_, axis)| saturated(index.get(axis.id))).collect()
    }

    /// The coordinates of the element. One past the end of an axis is padding; one that the value does not hold is
    /// undefined.
    pub(crate) fn element(&self, base: &[usize], added: &[usize], at: &mut Vec<usize>) -> Reached {
        at.clear();
        at.extend(base.iter().zip(added).map(|(base, added)| base + added));
        if self.axes.iter().zip(&*at).any(|((size, _), &coordinate)| coordinate >= *size) {
            return Reached::Padding;
        }
        let held =
            |((_, axis), &coordinate): (&(usize, Axis), &usize)| axis.held.get(coordinate) == Some(&true);
        if self.axes.iter().zip(&*at).all(held) { Reached::Held } else { Reached::Undefined }
    }

    /// Returns true if every position, with the coordinates that it adds, reaches an element that the value holds from
    /// every element of the result.
    pub(crate) fn is_even<'a>(&self, outputs: &[Axis], added: impl Iterator<Item = &'a Vec<usize>>) -> bool {
        let last = |axis: &Axis| axis.held.iter().rposition(|&held| held).unwrap_or(0);
        let base = self.base(&outputs.iter().map(last).collect::<Vec<_>>());
        let mut furthest = base.clone();
        for added in added {
            for ((furthest, base), added) in furthest.iter_mut().zip(&base).zip(added) {
                *furthest = (*furthest).max(base + added);
            }
        }
        self.axes.iter().zip(furthest).all(|((_, axis), furthest)| {
            axis.held.len() > furthest && axis.held[..=furthest].iter().all(|&held| held)
        })
    }
}

/// Element that a position reaches in a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    /// An element that it holds.
    Held,
    /// One that it does not hold.
    Undefined,
    /// None: it is past the end of an axis.
    Padding,
}
