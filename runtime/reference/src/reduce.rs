//! The reduction within a slice (book 22): which elements make up each element of the result, and in which order.
//!
//! The slices' part of the axis stays; the contribution of time and packet is reduced. So an element at a kept
//! coordinate c is the reduction of those at c + t + l, for the contribution t of each time step (in time order) and l
//! of each lane of a packet (by a tree of neighbours). A position without an element counts as the identity element.

use visa_algebra::{Axes, AxisId, Cell, Expr, Index, Map, without_zeros};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;
use visa_mapping::error::mapping_error;
use visa_mapping::{Dim, Tensor};
use visa_numerics::{Bits, ReduceOp};
use visa_stream::semantics::Reduced;

use crate::coverage::Coverage;
use crate::limits::MAX_ELEMENTS;
use crate::tensor::{Axis, Logical};

/// A reduction of a tensor in a stream.
pub(crate) struct Reduction<'a> {
    pub(crate) reduced: Reduced,
    /// The stream that is reduced.
    pub(crate) stream: &'a Tensor,
    /// The result.
    pub(crate) to: &'a Tensor,
    pub(crate) axes: &'a Axes,
    pub(crate) span: Span,
}

/// The contributions of time and packet along the axis.
struct Steps {
    /// Of each time step that holds elements, in order.
    time: Vec<u64>,
    /// True if there are time steps that hold none.
    idle: bool,
    /// Of each lane, if the lanes are reduced.
    lanes: Vec<Option<u64>>,
}

impl Reduction<'_> {
    /// The reduced tensor.
    pub(crate) fn evaluate(&self, tensor: &Logical) -> Result<Logical, Diagnostic> {
        let Reduced { row, axis } = self.reduced;
        let steps = self.steps()?;
        let kept = Coverage::new(self.to, self.axes, self.span)?;
        let size = usize::try_from(self.axes.size(axis)).ok().filter(|&size| size as u64 <= MAX_ELEMENTS);
        let size =
            size.ok_or_else(|| self.error(format!("the axis has more than {MAX_ELEMENTS} coordinates")))?;
        let mut axes: Vec<Axis> = tensor.axes.iter().filter(|own| own.id != axis).cloned().collect();
        let spread = kept.mentions(axis).then_some(axes.len());
        if spread.is_some() {
            axes.push(Axis { id: axis, held: kept.held(axis, size) });
        }
        // The axis is the last one, as in the result if that has it.
        let count = axes.len() - usize::from(spread.is_some());
        let mut all = axes[..count].to_vec();
        all.push(Axis { id: axis, held: vec![true; size] });
        let tensor = tensor.under(&all);
        let holds = Coverage::new(self.stream, self.axes, self.span)?.held(axis, size);
        Logical::where_defined(self.to.dtype, axes, self.span, |at| {
            let place = spread.map_or(0, |spread| at[spread]) as u64;
            let element = |distance: u64| {
                let coordinate = usize::try_from(place + distance).ok();
                let Some(coordinate) = coordinate.filter(|&at| holds.get(at) == Some(&true)) else {
                    return Some(row.identity);
                };
                tensor.get(&[&at[..count], &[coordinate]].concat())
            };
            steps.element(row, &element)
        })
    }

    fn steps(&self) -> Result<Steps, Diagnostic> {
        let axis = self.reduced.axis;
        let (time, packet) = (self.stream.dim(Dim::Time), self.stream.dim(Dim::Packet));
        let cells = self.cells(&time)?;
        let idle_or_kept = cells.len() as u64;
        let indices: Vec<Index> = cells.into_iter().filter_map(live).collect();
        let others =
            |index: &Index| -> Vec<(AxisId, u64)> { index.iter().filter(|(id, _)| *id != axis).collect() };
        let first = indices.first().map(others).unwrap_or_default();
        let mut added = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for index in indices.iter().filter(|index| others(index) == first) {
            if seen.insert(index.get(axis)) {
                added.push(index.get(axis));
            }
        }
        let results = self.cells(&self.to.dim(Dim::Time))?.len() as u64;
        let idle = idle_or_kept / results.max(1) > added.len() as u64;
        let holds = packet.axis_names(self.axes).iter().any(|name| **name == *self.axes.name(axis));
        let lane = |cell: Cell| live(cell).map(|index| index.get(axis));
        let lanes = if holds { self.cells(&packet)?.into_iter().map(lane).collect() } else { vec![Some(0)] };
        Ok(Steps { time: added, idle, lanes })
    }

    /// All cells of a mapping, zeros as other padding.
    fn cells(&self, map: &Expr) -> Result<Vec<Cell>, Diagnostic> {
        let wrong = |error| mapping_error(error, self.span);
        let prepared = Map::new(&without_zeros(map, self.axes).map_err(wrong)?, self.axes).map_err(wrong)?;
        let size = prepared.size();
        if size > MAX_ELEMENTS {
            return Err(self.error(format!(
                "`{map}` has {}, at most {MAX_ELEMENTS} are evaluated",
                counted(size, "position")
            )));
        }
        Ok((0..size).filter_map(|position| prepared.cell(position)).collect())
    }

    fn error(&self, message: String) -> Diagnostic {
        Diagnostic::error("reduction", self.span, message)
    }
}

impl Steps {
    /// The reduction of the elements at some distances; `None` if one of those is undefined.
    fn element(&self, row: &ReduceOp, element: &dyn Fn(u64) -> Option<Bits>) -> Option<Bits> {
        let lane =
            |time: u64, lane: Option<u64>| lane.map_or(Some(row.identity), |lane| element(time + lane));
        let steps = self.time.iter().map(|&time| {
            let lanes: Option<Vec<Bits>> = self.lanes.iter().map(|&own| lane(time, own)).collect();
            lanes.map(|lanes| neighbours(row, lanes))
        });
        let idle = self.idle.then_some(row.identity);
        let steps: Option<Vec<Bits>> = steps.chain(idle.map(Some)).collect();
        Some(steps?.into_iter().reduce(|held, next| (row.apply)(held, next)).unwrap_or(row.identity))
    }
}

/// A tree: each level reduces neighbours.
fn neighbours(row: &ReduceOp, mut lanes: Vec<Bits>) -> Bits {
    while lanes.len() > 1 {
        let pair =
            |pair: &[Bits]| pair.iter().copied().reduce(|x, y| (row.apply)(x, y)).unwrap_or(row.identity);
        lanes = lanes.chunks(2).map(pair).collect();
    }
    lanes.first().copied().unwrap_or(row.identity)
}

fn live(cell: Cell) -> Option<Index> {
    match cell {
        Cell::Live(index) => Some(index),
        Cell::Shared(_) | Cell::Pad(_) => None,
    }
}
