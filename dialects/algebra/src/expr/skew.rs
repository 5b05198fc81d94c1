//! Skewed axes (book 03): those that a mapping or a tensor is written in.
//!
//! With `B' = B - A`, an index with the coordinates A = a and B' = b names the element B = (b + a) mod |B|. So writing
//! a mapping in `B'` matters at `B'` = 0, too: `[A, B' = 1]` holds the diagonal, `[A]` the elements with B = 0. The
//! names in the text decide; each live position passes through all axes of the text.

use crate::expr::Expr;
use crate::expr::axes::{Axes, AxisId, Skew};

/// The skewed axes that a mapping is written in, in order of declaration, those that it holds at coordinate 0 only
/// among them.
#[must_use]
pub fn skewed_names(map: &Expr, axes: &Axes) -> Vec<AxisId> {
    if !axes.has_skew() {
        return Vec::new();
    }
    skewed_among(map.axis_names(axes).iter().filter_map(|name| axes.id(name)), axes)
}

/// Those of the axes named that are skewed, in order of declaration, each once.
#[must_use]
pub fn skewed_among(named: impl Iterator<Item = AxisId>, axes: &Axes) -> Vec<AxisId> {
    let mut skewed: Vec<AxisId> = named.filter(|&axis| axes.skew(axis).is_some()).collect();
    skewed.sort_unstable();
    skewed.dedup();
    skewed
}

/// A skewed axis that one side of a move is written in and the other side is not: `axis = of - by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The skewed axis.
    pub axis: AxisId,
    /// The axis that is skewed.
    pub of: AxisId,
    /// The axis that is subtracted.
    pub by: AxisId,
    /// True if the stream is written in it; otherwise the buffer is.
    pub into: bool,
    /// True if the stream has a position along the axis that is subtracted.
    pub anchored: bool,
}

/// The skewed axes in which a stream and the buffer that it is read from are not written alike, given the mappings of
/// both. `free` names the axes that the tensor does not depend on: every index along them stands for the same element.
#[must_use]
pub fn crossings(
    stream: &[&Expr],
    buffer: &[&Expr],
    free: &dyn Fn(AxisId) -> bool,
    axes: &Axes,
) -> Vec<Crossing> {
    if !axes.has_skew() {
        return Vec::new();
    }
    let named = |maps: &[&Expr]| -> Vec<AxisId> {
        let names = maps.iter().flat_map(|map| map.axis_names(axes));
        names.filter_map(|name| axes.id(&name)).collect()
    };
    let (stream, buffer) = (named(stream), named(buffer));
    let crossing = |axis: AxisId| {
        let Skew { of, by } = axes.skew(axis)?;
        let (into, out) = (stream.contains(&axis), buffer.contains(&axis));
        let depends = if into { !free(of) } else { !free(axis) };
        let anchored = stream.contains(&by);
        (into != out && depends).then_some(Crossing { axis, of, by, into, anchored })
    };
    axes.iter().filter_map(|(axis, ..)| crossing(axis)).collect()
}
