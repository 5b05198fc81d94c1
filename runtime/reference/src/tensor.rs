//! A tensor as a function: elements by index.

use std::sync::Arc;

use rayon::prelude::*;
use visa_algebra::AxisId;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_numerics::{Bits, DType};

use crate::layout::{Layout, Stride, offset};
use crate::limits::MAX_ELEMENTS;
use visa_mapping::coverage::Coverage;

/// An axis that a tensor depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// Its number.
    pub(crate) id: AxisId,
    /// The coordinates at which the tensor is defined; past the end it is not.
    pub(crate) held: Vec<bool>,
}

/// A tensor: an element for each combination of coordinates; the same along every axis that it does not have.
#[derive(Clone, Debug)]
pub(crate) struct Logical {
    /// Format of the elements.
    pub(crate) dtype: DType,
    /// The axes that it depends on.
    pub(crate) axes: Vec<Axis>,
    /// Storage of the element of each coordinate vector. The axes hold the stored elements or fewer.
    layout: Layout,
    /// Elements in the order of the layout.
    data: Arc<Vec<Bits>>,
    /// The defined elements, if the axes hold undefined ones.
    defined: Option<Arc<Vec<bool>>>,
}

impl Logical {
    /// A tensor from its elements in C order of the coordinates that `axes` hold.
    pub(crate) fn new(dtype: DType, axes: Vec<Axis>, data: Vec<Bits>) -> Self {
        let layout = Layout::new(&axes);
        Self { dtype, axes, layout, data: Arc::new(data), defined: None }
    }

    /// A tensor of whose elements, in C order of the coordinates that `axes` hold, only some are defined.
    pub(crate) fn partial(dtype: DType, axes: Vec<Axis>, data: Vec<Bits>, defined: Vec<bool>) -> Self {
        let defined = defined.contains(&false).then(|| Arc::new(defined));
        Self { defined, ..Self::new(dtype, axes, data) }
    }

    /// Returns true if the element at a distance that [`Logical::strides`] gives is defined, if the axes hold it.
    pub(crate) fn is_defined(&self, offset: usize) -> bool {
        self.defined.as_ref().is_none_or(|defined| defined[offset])
    }

    /// Returns true if every element is defined that the axes hold.
    pub(crate) fn is_whole(&self) -> bool {
        self.defined.is_none()
    }

    /// The tensor whose element at each held coordinate vector is `element`, undefined where there is none.
    pub(crate) fn where_defined(
        dtype: DType,
        axes: Vec<Axis>,
        span: Span,
        element: impl Fn(&[usize]) -> Option<Bits> + Sync,
    ) -> Result<Self, Diagnostic> {
        Self::filled_by(dtype, axes, span, &element)
    }

    /// [`Self::where_defined`], compiled once for all functions.
    fn filled_by(
        dtype: DType,
        axes: Vec<Axis>,
        span: Span,
        element: &(dyn Fn(&[usize]) -> Option<Bits> + Sync),
    ) -> Result<Self, Diagnostic> {
        let layout = Layout::new(&axes);
        let count = layout.count(span)?;
        let rows = layout.rows();
        let along = rows.along();
        let (mut data, mut defined) = (vec![0; count], vec![true; count]);
        let chunks = data.par_chunks_mut(rows.chunk()).zip(defined.par_chunks_mut(rows.chunk()));
        chunks.enumerate().for_each_init(Vec::new, |at, (number, (data, defined))| {
            rows.coordinates(number, at);
            at.resize(axes.len(), 0);
            for ((bits, is_defined), &coordinate) in data.iter_mut().zip(defined).zip(&along) {
                if let Some(last) = at.last_mut() {
                    *last = coordinate;
                }
                match element(at) {
                    Some(found) => *bits = found,
                    None => *is_defined = false,
                }
            }
        });
        Ok(Self::partial(dtype, axes, data, defined))
    }

    /// A tensor of elements of this one. For each row along the last one of `axes`, `row` gives the distance from
    /// which its elements count, by the coordinates before it, if they are defined; `element` gives each one's
    /// distance from there, by the last coordinate.
    pub(crate) fn rows(
        &self,
        axes: Vec<Axis>,
        span: Span,
        row: impl Fn(&[usize]) -> Option<usize> + Sync,
        element: impl Fn(usize) -> usize,
    ) -> Result<Self, Diagnostic> {
        let layout = Layout::new(&axes);
        let count = layout.count(span)?;
        let rows = layout.rows();
        let steps: Vec<usize> = rows.along().into_iter().map(element).collect();
        let (mut data, mut defined) = (vec![0; count], vec![true; count]);
        let chunks = data.par_chunks_mut(rows.chunk()).zip(defined.par_chunks_mut(rows.chunk()));
        chunks.enumerate().for_each_init(Vec::new, |at, (number, (data, defined))| {
            rows.coordinates(number, at);
            match row(at) {
                Some(first) => self.copy_row(first, &steps, data, defined),
                None => defined.fill(false),
            }
        });
        Ok(Self::partial(self.dtype, axes, data, defined))
    }

    /// Copies the elements at these steps from the first.
    fn copy_row(&self, first: usize, steps: &[usize], data: &mut [Bits], defined: &mut [bool]) {
        data.iter_mut().zip(steps).for_each(|(bits, step)| *bits = self.data[first + step]);
        if let Some(own) = &self.defined {
            defined.iter_mut().zip(steps).for_each(|(is_defined, step)| *is_defined = own[first + step]);
        }
    }

    /// The tensor under other axes: the same along those that it does not have.
    pub(crate) fn under<'a>(&'a self, axes: &[Axis]) -> Seen<'a> {
        let own = |axis: &Axis| self.axis(axis.id).map(|own| &*own.held);
        let partly = axes.iter().enumerate().filter_map(|(place, axis)| Some((place, own(axis)?, axis)));
        let partly =
            partly.filter(|(_, own, axis)| !covers(own, &axis.held)).map(|(place, own, _)| (place, own));
        let other = |own: &&Axis| axes.iter().all(|axis| axis.id != own.id);
        let left_out = self.axes.iter().filter(other).all(|own| own.held.first() == Some(&true));
        Seen {
            tensor: self,
            strides: self.strides(axes.iter().map(|axis| axis.id)),
            partly: partly.collect(),
            holds_first: left_out,
        }
    }

    /// The element at a distance that [`Logical::strides`] gives.
    pub(crate) fn at(&self, offset: usize) -> Bits {
        self.data[offset]
    }

    /// The same, if it is defined.
    pub(crate) fn element(&self, offset: usize) -> Option<Bits> {
        self.is_defined(offset).then(|| self.data[offset])
    }

    /// All elements.
    pub(crate) fn elements(&self) -> &[Bits] {
        &self.data
    }

    /// The stride along each of `axes`.
    pub(crate) fn strides(&self, axes: impl Iterator<Item = AxisId>) -> Vec<Stride> {
        axes.map(|id| self.stride(id)).collect()
    }

    /// The stride along an axis.
    pub(crate) fn stride(&self, id: AxisId) -> Stride {
        let at = self.axes.iter().position(|axis| axis.id == id);
        at.map_or(Stride::NONE, |at| self.layout.stride(at))
    }

    /// Writes the coordinates of the element at a distance to `at`; returns true if the axes hold them.
    pub(crate) fn locate(&self, offset: usize, at: &mut Vec<usize>) -> bool {
        self.layout.coordinates(offset, at);
        self.holds(at)
    }

    /// The axis, if the tensor depends on it.
    pub(crate) fn axis(&self, id: AxisId) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.id == id)
    }

    /// The same tensor with only those coordinates held along each axis at which some element is defined.
    pub(crate) fn trimmed(mut self) -> Self {
        let Some(defined) = self.defined.take() else { return self };
        let layout = self.layout.clone();
        let rows = layout.rows();
        let along = rows.along();
        let mut used: Vec<Vec<bool>> = self.axes.iter().map(|axis| vec![false; axis.held.len()]).collect();
        let last = self.held_along(&along);
        let (mut used_last, mut at) = (vec![false; along.len()], Vec::new());
        for (number, own) in defined.chunks(rows.chunk()).enumerate() {
            rows.coordinates(number, &mut at);
            if !self.holds(&at) {
                continue;
            }
            let mut any = false;
            for (used, (&held, &is_defined)) in used_last.iter_mut().zip(last.iter().zip(own)) {
                *used |= held && is_defined;
                any |= held && is_defined;
            }
            if any {
                used.iter_mut().zip(&at).for_each(|(used, &coordinate)| used[coordinate] = true);
            }
        }
        if let Some(used) = used.last_mut() {
            along.iter().zip(used_last).for_each(|(&coordinate, is_used)| used[coordinate] = is_used);
        }
        self.axes.iter_mut().zip(used).for_each(|(axis, used)| axis.held = used);
        let last = self.held_along(&along);
        let all = defined.chunks(rows.chunk()).enumerate().all(|(number, own)| {
            rows.coordinates(number, &mut at);
            !self.holds(&at) || own.iter().zip(&last).all(|(&is_defined, &held)| is_defined || !held)
        });
        let defined = (!all).then_some(defined);
        Self { defined, ..self }
    }

    /// Marks the coordinates that the last axis holds.
    fn held_along(&self, coordinates: &[usize]) -> Vec<bool> {
        let held = |&coordinate: &usize| self.axes.last().is_none_or(|axis| axis.held[coordinate]);
        coordinates.iter().map(held).collect()
    }

    /// Returns true if the axes hold these coordinates.
    fn holds(&self, at: &[usize]) -> bool {
        self.axes.iter().zip(at).all(|(axis, &coordinate)| axis.held[coordinate])
    }

    /// The same tensor where a type holds it that is written in the same axes.
    pub(crate) fn within(&self, to: &Coverage, span: Span) -> Result<Self, Diagnostic> {
        let kept = self.axes.iter().filter(|axis| to.mentions(axis.id));
        let axes: Vec<Axis> = kept.map(|axis| Axis { id: axis.id, held: both(axis, to) }).collect();
        if axes.len() == self.axes.len() {
            return Ok(Self { axes, ..self.clone() });
        }
        let seen = self.under(&axes);
        Self::where_defined(self.dtype, axes.clone(), span, |at| seen.get(at))
    }

    /// The same tensor with the axes that are `inner` innermost in its data.
    pub(crate) fn with_inner(&self, inner: impl Fn(AxisId) -> bool, span: Span) -> Result<Self, Diagnostic> {
        let mut axes = self.axes.clone();
        axes.sort_by_key(|axis| inner(axis.id));
        let seen = self.under(&axes);
        Self::where_defined(self.dtype, axes.clone(), span, |at| seen.get(at))
    }

    /// The same tensor with an axis for each of these, and no coordinate that they do not hold.
    pub(crate) fn spelled_out(
        &self,
        axes: impl Iterator<Item = Axis>,
        span: Span,
    ) -> Result<Self, Diagnostic> {
        let both = |wanted: &Axis| match self.axis(wanted.id) {
            Some(own) => wanted.held.iter().zip(&own.held).map(|(&wanted, &own)| wanted && own).collect(),
            None => wanted.held.clone(),
        };
        let axes: Vec<Axis> = axes.map(|axis| Axis { id: axis.id, held: both(&axis) }).collect();
        let seen = self.under(&axes);
        Self::where_defined(self.dtype, axes.clone(), span, |at| seen.get(at))
    }

    /// Every element converted.
    pub(crate) fn map(&self, dtype: DType, apply: impl Fn(Bits) -> Bits + Sync) -> Self {
        let data = self.data.par_iter().map(|&bits| apply(bits)).collect();
        Self { dtype, data: Arc::new(data), ..self.clone() }
    }
}

/// A tensor under some axes.
pub(crate) struct Seen<'a> {
    tensor: &'a Logical,
    strides: Vec<Stride>,
    /// The axes along which the tensor holds less: position among the axes, and held coordinates.
    partly: Vec<(usize, &'a [bool])>,
    /// True if the tensor holds coordinate 0 along each of its other axes.
    holds_first: bool,
}

impl Seen<'_> {
    /// The element at these coordinates, if it is defined.
    pub(crate) fn get(&self, at: &[usize]) -> Option<Bits> {
        let holds = self.partly.iter().all(|(place, held)| held.get(at[*place]) == Some(&true));
        (holds && self.holds_first).then(|| self.tensor.element(offset(&self.strides, at))).flatten()
    }
}

/// Returns true if one holds all coordinates that are wanted.
fn covers(own: &[bool], wanted: &[bool]) -> bool {
    wanted.iter().zip(0..).all(|(&wanted, at)| !wanted || own.get(at) == Some(&true))
}

/// The coordinates that the axis holds and the type too.
fn both(axis: &Axis, to: &Coverage) -> Vec<bool> {
    let held = to.held(axis.id, axis.held.len());
    axis.held.iter().zip(held).map(|(&here, there)| here && there).collect()
}

/// The axes of two tensors together: where both depend on one, the coordinates that both hold.
pub(crate) fn union(left: &Logical, right: &Logical) -> Vec<Axis> {
    union_axes(left.axes.clone(), right)
}

/// `axes` together with those of a tensor.
pub(crate) fn union_axes(mut axes: Vec<Axis>, right: &Logical) -> Vec<Axis> {
    for theirs in &right.axes {
        match axes.iter_mut().find(|axis| axis.id == theirs.id) {
            Some(ours) => {
                ours.held =
                    ours.held.iter().zip(&theirs.held).map(|(&ours, &theirs)| ours && theirs).collect()
            }
            None => axes.push(theirs.clone()),
        }
    }
    axes
}

/// The coordinates of element `flat` of an array in C order.
pub(crate) fn unflatten(mut flat: usize, extents: &[usize], at: &mut Vec<usize>) {
    at.clear();
    at.resize(extents.len(), 0);
    for (coordinate, &extent) in at.iter_mut().zip(extents).rev() {
        *coordinate = flat % extent;
        flat /= extent;
    }
}

/// A count or a coordinate as a `usize`. One that is too large for it saturates: no array has as many elements.
pub(crate) fn saturated(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The elements of an array, if they are few enough to evaluate.
pub(crate) fn element_count(extents: &[usize], span: Span) -> Result<usize, Diagnostic> {
    let count = extents.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent));
    count.filter(|&count| count as u64 <= MAX_ELEMENTS).ok_or_else(|| {
        let message = format!(
            "a tensor of shape {extents:?} has more than {MAX_ELEMENTS} elements, the most that are evaluated"
        );
        Diagnostic::error("too-large", span, message)
    })
}
