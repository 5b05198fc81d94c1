//! Chip shuffles: the same type, and of each index the element of another (book 32).

use crate::layout::offset;
use crate::tensor::{Axis, Logical, saturated};
use visa_algebra::{Axes, AxisId};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_mapping::coverage::Coverage;
use visa_mapping::transfer::shuffle::Shuffle;

/// The tensor that chips have after they exchanged their parts of `tensor`, whose type covers `held`.
pub(crate) fn shuffled(
    tensor: &Logical,
    shuffle: &Shuffle,
    held: &Coverage,
    axes: &Axes,
    span: Span,
) -> Result<Logical, Diagnostic> {
    let mut result: Vec<Axis> = tensor.axes.clone();
    for id in shuffle.axes() {
        let all = held.held(id, saturated(axes.size(id)));
        match result.iter_mut().find(|axis| axis.id == id) {
            Some(axis) => axis.held = all,
            None => result.push(Axis { id, held: all }),
        }
    }
    let strides = tensor.strides(result.iter().map(|axis| axis.id));
    let ids: Vec<AxisId> = result.iter().map(|axis| axis.id).collect();
    // The element at these coordinates before the exchange, if the tensor had it.
    let element = |at: &[usize]| {
        let of = |id: AxisId| ids.iter().position(|own| *own == id).map_or(0, |place| at[place] as u64);
        let mut from: Vec<i64> = at.iter().map(|&coordinate| coordinate as i64).collect();
        for (id, shift) in shuffle.shifts(|id| of(id) - held.start(id)) {
            if let Some(place) = ids.iter().position(|own| *own == id) {
                from[place] += shift;
            }
        }
        let from: Option<Vec<usize>> = from.into_iter().map(|at| usize::try_from(at).ok()).collect();
        let known = |(&id, &coordinate): (&AxisId, &usize)| {
            tensor.axis(id).is_none_or(|axis| axis.held.get(coordinate) == Some(&true))
        };
        let from = from.filter(|from| ids.iter().zip(from).all(known))?;
        tensor.element(offset(&strides, &from))
    };
    Logical::where_defined(tensor.dtype, result, span, element)
}
