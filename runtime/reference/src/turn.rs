//! Skewed axes (book 03): with `B' = B - A`, a tensor is a function of A and B, or equally of A and B', and B = (B' +
//! A) mod |B|. A value is a function of the axes that its type is written in; if a type is written in other axes, the
//! value is turned.

use std::borrow::Cow;

use visa_algebra::{Axes, AxisId};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;

use crate::layout::offset;
use crate::limits::MAX_ELEMENTS;
use crate::tensor::{Axis, Logical};
use visa_mapping::coverage::Coverage;
use visa_mapping::coverage::skew::{Skewed, declared};

impl Logical {
    /// The same tensor where a type holds it, in the axes that the type is written in: along an axis that the type
    /// does not mention, coordinate 0.
    pub(crate) fn narrow(&self, to: &Coverage, span: Span) -> Result<Self, Diagnostic> {
        written_as(self, to, span)?.within(to, span).map(Self::trimmed)
    }
}

/// The tensor as a function of the axes that the type is written in: of B' where it mentions that, otherwise of B.
fn written_as<'a>(tensor: &'a Logical, to: &Coverage, span: Span) -> Result<Cow<'a, Logical>, Diagnostic> {
    let mut turned = Cow::Borrowed(tensor);
    for skew in to.skewed().iter().filter(|skew| !to.mentions(skew.axis)) {
        if turned.axis(skew.axis).is_some() {
            turned = Cow::Owned(turn(skew, &turned, Direction::Back, span)?);
        }
    }
    for skew in to.skewed().iter().filter(|skew| to.mentions(skew.axis)) {
        if turned.axis(skew.of).is_some() {
            turned = Cow::Owned(turn(skew, &turned, Direction::Into, span)?);
        }
    }
    Ok(turned)
}

/// From B to B', or from B' to B.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Into,
    Back,
}

/// The tensor counted by the axis `to` in place of `from`, one of which is the skewed one.
pub(crate) fn turned(
    tensor: &Logical,
    from: AxisId,
    to: AxisId,
    axes: &Axes,
    span: Span,
) -> Result<Logical, Diagnostic> {
    let skews = declared(axes);
    let own = |skew: &&Skewed| (skew.of, skew.axis) == (from, to) || (skew.axis, skew.of) == (from, to);
    match skews.iter().find(own) {
        Some(skew) if skew.of == from => turn(skew, tensor, Direction::Into, span),
        Some(skew) => turn(skew, tensor, Direction::Back, span),
        None => Err(Diagnostic::error("skew", span, "neither axis is skewed by the other")),
    }
}

fn turn(skew: &Skewed, tensor: &Logical, direction: Direction, span: Span) -> Result<Logical, Diagnostic> {
    let (from, to) = match direction {
        Direction::Into => (skew.of, skew.axis),
        Direction::Back => (skew.axis, skew.of),
    };
    let count = |size: u64| usize::try_from(size).ok().filter(|&count| count as u64 <= MAX_ELEMENTS);
    let (Some(size), Some(by_size)) = (count(skew.size), count(skew.by_size)) else {
        let message =
            format!("more than {MAX_ELEMENTS} coordinates of a skewed axis, the most that are evaluated");
        return Err(Diagnostic::error("too-large", span, message));
    };
    let mut axes = tensor.axes.clone();
    let Some(own) = axes.iter_mut().find(|axis| axis.id == from) else { return Ok(tensor.clone()) };
    *own = Axis { id: to, held: vec![true; size] };
    if tensor.axis(skew.by).is_none() {
        axes.push(Axis { id: skew.by, held: vec![true; by_size] });
    }
    let place = |id: AxisId| {
        axes.iter().position(|axis| axis.id == id).expect("both axes are among them by the lines above")
    };
    let (turned, by) = (place(to), place(skew.by));
    let strides = tensor.strides(tensor.axes.iter().map(|axis| axis.id));
    let element = |at: &[usize]| {
        let steps = at[by] % size;
        let old = match direction {
            Direction::Into => (at[turned] + steps) % size,
            Direction::Back => (at[turned] + size - steps) % size,
        };
        let coordinate = |id: AxisId| axes.iter().zip(at).find(|(axis, _)| axis.id == id).map(|(_, &at)| at);
        let mut index = Vec::with_capacity(tensor.axes.len());
        for axis in &tensor.axes {
            let here = if axis.id == from { old } else { coordinate(axis.id)? };
            axis.held.get(here).filter(|held| **held)?;
            index.push(here);
        }
        tensor.element(offset(&strides, &index))
    };
    Logical::where_defined(tensor.dtype, axes.clone(), span, element).map(Logical::trimmed)
}
