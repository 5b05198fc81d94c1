//! The loops around a value, and the dimensions that they go through.

use super::condition::{Bounds, Frame};
use super::terms::Terms;
use std::sync::Arc;
use visa_algebra::{Cell, Expr, Map};
use visa_mapping::summed::named;

/// Most blocks of a loop.
const MAX_BLOCKS: u64 = 1 << 20;

/// The blocks of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dimension {
    /// The axis.
    pub(super) axis: Arc<str>,
    /// Coordinates of a block.
    pub(super) block: u64,
    /// Number of blocks.
    pub(super) count: u64,
}

impl Dimension {
    /// Returns true if a frame goes through these blocks.
    pub(super) fn is_of(&self, frame: &Frame) -> bool {
        self.axis == frame.axis && self.block == frame.block && self.count == frame.count
    }
}

/// The frames around a value, and the known conditions on their indices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Scope {
    /// The loops, outermost first.
    pub(super) frames: Vec<Frame>,
    /// Conditions on their indices that hold.
    pub(super) known: Vec<Bounds>,
}

impl Scope {
    /// The scope inside of a further loop.
    pub(super) fn with(&self, frame: Frame) -> Self {
        let mut scope = self.clone();
        scope.frames.push(frame);
        scope
    }

    /// The scope where a condition holds.
    pub(super) fn knowing(&self, bounds: Option<Bounds>) -> Self {
        let mut scope = self.clone();
        scope.known.extend(bounds);
        scope
    }

    /// The scope outside of a loop.
    pub(super) fn without(&self, depth: usize) -> Self {
        let frames = self.frames.iter().filter(|frame| frame.depth != depth).cloned().collect();
        let known = self.known.iter().filter(|bounds| !bounds.mentions(depth)).cloned().collect();
        Self { frames, known }
    }

    /// The loop at a depth.
    pub(super) fn frame(&self, depth: usize) -> Option<&Frame> {
        self.frames.iter().find(|frame| frame.depth == depth)
    }

    /// The loop over an axis.
    pub(super) fn along(&self, axis: &str) -> Option<&Frame> {
        self.frames.iter().find(|frame| *frame.axis == *axis)
    }

    /// A bit for the depth of each loop.
    pub(super) fn bits(&self) -> u64 {
        self.frames.iter().fold(0, |bits, frame| bits | 1 << frame.depth)
    }
}

/// The blocks of an axis that the positions of a mapping are; `None` if they are none.
pub(super) fn dimension(terms: &Terms<'_>, over: &Expr) -> Option<Dimension> {
    let names = named(over);
    let [name] = names.as_slice() else { return None };
    let axes = &terms.graph.analysis.axes;
    let axis = axes.id(name).filter(|&axis| axes.skew(axis).is_none())?;
    let map = Map::new(over, axes).ok()?;
    let (size, count) = (axes.size(axis), map.size());
    if count > MAX_BLOCKS || size % count != 0 {
        return None;
    }
    let block = size / count;
    let is_block = |at: u64| matches!(map.cell(at), Some(Cell::Live(index)) if index.get(axis) == at * block);
    (0..count).all(is_block).then(|| Dimension { axis: Arc::clone(name), block, count })
}
