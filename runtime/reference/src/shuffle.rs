//! Chip shuffles: the same type, and of each index the element of another (book 32).

use crate::coverage::Coverage;
use crate::tensor::{Axis, Logical, saturated};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_mapping::shuffle::Shuffle;
use visa_mapping::{Axes, AxisId};
use visa_numerics::Bits;

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
    // Where the element at these coordinates was, if the tensor had it.
    let source = |at: &[usize]| {
        let of = |id: AxisId| ids.iter().position(|own| *own == id).map_or(0, |place| at[place] as u64);
        let mut from: Vec<i64> = at.iter().map(|&coordinate| coordinate as i64).collect();
        for (id, shift) in shuffle.shifts(|id| of(id) - held.start(id)) {
            if let Some(place) = ids.iter().position(|own| *own == id) {
                from[place] += shift;
            }
        }
        let inside = ids.iter().zip(&from).all(|(&id, &coordinate)| {
            let known =
                |axis: &Axis| usize::try_from(coordinate).ok().and_then(|at| axis.held.get(at).copied());
            tensor.axis(id).is_none_or(|axis| known(axis) == Some(true))
        });
        let offset =
            from.iter().zip(&strides).map(|(&coordinate, &stride)| coordinate as usize * stride).sum();
        Some(offset).filter(|&offset: &usize| inside && tensor.is_defined(offset))
    };
    let moved = Logical::tabulate(tensor.dtype, result.clone(), span, |at| {
        source(at).map_or(0, |offset| tensor.at(offset))
    })?;
    let defined =
        Logical::tabulate(tensor.dtype, result.clone(), span, |at| Bits::from(source(at).is_some()))?;
    let defined = defined.elements().iter().map(|&bits| bits == 1).collect();
    Ok(Logical::partial(tensor.dtype, result, moved.elements().to_vec(), defined))
}
