//! Storage order of a tensor's elements: C order of the held coordinates. An axis of which few coordinates are held
//! takes no more elements than those.

use std::sync::Arc;

use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;

use crate::tensor::{Axis, element_count};

/// Marks a coordinate that is not held in [`Positions::Ranked`].
const ABSENT: u32 = u32::MAX;

/// The positions of an axis's held coordinates in storage.
#[derive(Clone, Debug)]
pub(crate) enum Positions {
    /// The held coordinates are the first ones: a coordinate is its own position.
    Leading(usize),
    /// Some coordinate before the last held one is not held.
    Ranked {
        /// The position of each coordinate, or [`ABSENT`].
        ranks: Arc<[u32]>,
        /// The coordinate at each position.
        coordinates: Arc<[u32]>,
    },
}

impl Positions {
    fn new(held: &[bool]) -> Self {
        let leading = held.iter().take_while(|held| **held).count();
        if !held[leading..].contains(&true) {
            return Self::Leading(leading);
        }
        let (mut ranks, mut coordinates) = (Vec::with_capacity(held.len()), Vec::new());
        for (coordinate, &is_held) in (0..).zip(held) {
            ranks.push(if is_held { coordinates.len() as u32 } else { ABSENT });
            coordinates.extend(is_held.then_some(coordinate));
        }
        Self::Ranked { ranks: ranks.into(), coordinates: coordinates.into() }
    }

    /// The number of held coordinates.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Leading(count) => *count,
            Self::Ranked { coordinates, .. } => coordinates.len(),
        }
    }

    /// The coordinate at a position.
    pub(crate) fn coordinate(&self, position: usize) -> usize {
        match self {
            Self::Leading(_) => position,
            Self::Ranked { coordinates, .. } => coordinates[position] as usize,
        }
    }
}

/// The distance in storage between neighbouring positions of an axis.
#[derive(Clone, Debug)]
pub(crate) struct Stride {
    step: usize,
    positions: Positions,
}

impl Stride {
    /// The stride of an axis on which the tensor does not depend.
    pub(crate) const NONE: Self = Self { step: 0, positions: Positions::Leading(0) };

    /// The distance of a held coordinate from the first one.
    pub(crate) fn offset(&self, coordinate: usize) -> usize {
        match &self.positions {
            Positions::Leading(_) => self.step * coordinate,
            Positions::Ranked { ranks, .. } => self.step * ranks[coordinate] as usize,
        }
    }
}

/// The distance of a vector of held coordinates from the first element.
pub(crate) fn offset(strides: &[Stride], at: &[usize]) -> usize {
    strides.iter().zip(at).map(|(stride, &coordinate)| stride.offset(coordinate)).sum()
}

/// The storage order of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    positions: Vec<Positions>,
}

impl Layout {
    /// The order of the elements that `axes` hold.
    pub(crate) fn new(axes: &[Axis]) -> Self {
        Self { positions: axes.iter().map(|axis| Positions::new(&axis.held)).collect() }
    }

    /// The number of elements.
    ///
    /// # Errors
    /// If there are more than are evaluated.
    pub(crate) fn count(&self, span: Span) -> Result<usize, Diagnostic> {
        let counts: Vec<usize> = self.positions.iter().map(Positions::count).collect();
        element_count(&counts, span)
    }

    /// The stride of each axis.
    pub(crate) fn strides(&self) -> Vec<Stride> {
        (0..self.positions.len()).map(|axis| self.stride(axis)).collect()
    }

    /// The stride of the axis at an index.
    pub(crate) fn stride(&self, axis: usize) -> Stride {
        let step = self.positions[axis + 1..].iter().map(Positions::count).product();
        Stride { step, positions: self.positions[axis].clone() }
    }

    /// The rows, each of which runs along the last axis.
    pub(crate) fn rows(&self) -> Rows<'_> {
        let (last, outer) = match self.positions.split_last() {
            Some((last, outer)) => (Some(last), outer),
            None => (None, &[][..]),
        };
        Rows { outer, last }
    }

    /// Writes the coordinates of element `flat` to `at`.
    pub(crate) fn coordinates(&self, flat: usize, at: &mut Vec<usize>) {
        coordinates(&self.positions, flat, at);
    }
}

/// The rows of a tensor: one of one element if the tensor has no axis.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    outer: &'a [Positions],
    /// The positions along a row.
    pub(crate) last: Option<&'a Positions>,
}

impl Rows<'_> {
    /// The number of elements of a row; 1 if rows are empty, so that storage divides into chunks of it.
    pub(crate) fn chunk(self) -> usize {
        self.last.map_or(1, Positions::count).max(1)
    }

    /// The coordinate along the last axis of each element of a row.
    pub(crate) fn along(self) -> Vec<usize> {
        let positions = self.last.map_or(&Positions::Leading(1), |last| last);
        (0..positions.count()).map(|position| positions.coordinate(position)).collect()
    }

    /// Writes the coordinates of a row, along all axes but the last, to `at`.
    pub(crate) fn coordinates(self, row: usize, at: &mut Vec<usize>) {
        coordinates(self.outer, row, at);
    }
}

fn coordinates(positions: &[Positions], mut flat: usize, at: &mut Vec<usize>) {
    at.clear();
    at.resize(positions.len(), 0);
    for (coordinate, positions) in at.iter_mut().zip(positions).rev() {
        *coordinate = positions.coordinate(flat % positions.count());
        flat /= positions.count();
    }
}
