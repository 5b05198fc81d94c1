//! A function whose results replace elements of the register file, which later packets read (book 35, section 4):
//! a running sum.

use std::collections::HashMap;

use visa_algebra::{Axes, AxisId, Index};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_mapping::{Dim, Tensor};
use visa_numerics::{Bits, Slot};
use visa_stream::semantics::Function;

use crate::coverage::Coverage;
use crate::layout::{Layout, offset};
use crate::packing::{element, live};
use crate::tensor::{Axis, Logical, saturated, union, union_axes};

/// A run over a stream of this type, with a register file of that type.
pub(crate) struct Running<'a> {
    pub(crate) stream: &'a Tensor,
    pub(crate) file: &'a Tensor,
    pub(crate) function: &'a Function,
    pub(crate) ids: &'a Logical,
    pub(crate) axes: &'a Axes,
    pub(crate) span: Span,
}

impl Running<'_> {
    /// The results for the stream's elements, each slice by itself, in the order of time.
    pub(crate) fn run(&self, stream: &Logical, initial: &Logical) -> Result<Logical, Diagnostic> {
        let axes = self.own_axes(union_axes(union(stream, initial), self.ids))?;
        let layout = Layout::new(&axes);
        let (size, strides) = (layout.count(self.span)?, layout.strides());
        let (mut data, mut defined) = (vec![0; size], vec![false; size]);
        let (times, lanes) = (self.live(Dim::Time)?, self.live(Dim::Packet)?);
        let names = self.file.axis_names(self.axes);
        let keys: Vec<AxisId> = names.iter().filter_map(|name| self.axes.id(name)).collect();
        for place in self.places(&axes)? {
            let mut file = HashMap::new();
            for time in &times {
                for lane in &lanes {
                    let key = keys.iter().map(|&axis| coordinate(axis, &place, &[time, lane])).collect();
                    let element = self.step(stream, initial, &mut file, key, (&place, time, lane));
                    let Some(result) = element else { continue };
                    let at: Vec<usize> =
                        axes.iter().map(|axis| coordinate(axis.id, &place, &[time, lane])).collect();
                    if axes.iter().zip(&at).all(|(axis, &at)| axis.held.get(at) == Some(&true)) {
                        data[offset(&strides, &at)] = result;
                        defined[offset(&strides, &at)] = true;
                    }
                }
            }
        }
        Ok(Logical::partial(stream.dtype, axes, data, defined))
    }

    /// The axes of the result: also those of the stream along which no operand differs, since a later element there
    /// reads the output of an earlier one.
    fn own_axes(&self, mut axes: Vec<Axis>) -> Result<Vec<Axis>, Diagnostic> {
        let held = Coverage::new(self.stream, self.axes, self.span)?;
        let moved = Coverage::of(self.stream, &[Dim::Time, Dim::Packet], self.axes, self.span)?;
        for id in moved.axes() {
            if axes.iter().all(|axis| axis.id != id) {
                axes.push(Axis { id, held: held.held(id, saturated(self.axes.size(id))) });
            }
        }
        Ok(axes)
    }

    fn live(&self, dim: Dim) -> Result<Vec<Index>, Diagnostic> {
        live(&self.stream.dim(dim), self.axes, self.span)
    }

    /// The coordinates of each slice that holds something, along the axes that tell slices apart.
    fn places(&self, axes: &[Axis]) -> Result<Vec<Vec<(AxisId, usize)>>, Diagnostic> {
        let slices = Coverage::of(self.stream, &[Dim::Chip, Dim::Cluster, Dim::Slice], self.axes, self.span)?;
        let outer: Vec<Axis> = axes
            .iter()
            .filter(|axis| slices.mentions(axis.id))
            .map(|axis| Axis { id: axis.id, held: slices.held(axis.id, axis.held.len()) })
            .collect();
        let layout = Layout::new(&outer);
        let mut at = Vec::new();
        let place = |flat: usize| {
            layout.coordinates(flat, &mut at);
            outer.iter().map(|axis| axis.id).zip(at.iter().copied()).collect()
        };
        Ok((0..layout.count(self.span)?).map(place).collect())
    }

    /// The result for one element, which may replace an element of the register file; `None` where it is undefined.
    fn step(
        &self,
        stream: &Logical,
        initial: &Logical,
        file: &mut HashMap<Vec<usize>, Bits>,
        key: Vec<usize>,
        (place, time, lane): (&[(AxisId, usize)], &Index, &Index),
    ) -> Option<Bits> {
        let value = element(stream, place, &[time, lane])?;
        let id = element(self.ids, place, &[time, lane])? as u8;
        let read = || file.get(&key).copied().or_else(|| element(initial, place, &[time, lane]));
        let result = result(self.function, value, id, |_| read())?;
        if self.function.write_back.as_ref().is_some_and(|guards| guards.slot(id).is_some()) {
            file.insert(key, result);
        }
        Some(result)
    }
}

/// The result of a function for an element with an execution id. `value` gives the element of each value; if it is
/// requested and undefined, so is the result.
pub(crate) fn result(
    function: &Function,
    stream: Bits,
    id: u8,
    value: impl Fn(usize) -> Option<Bits>,
) -> Option<Bits> {
    let Function { apply, mode, constants, guards, .. } = function;
    let slot = match guards {
        None => Slot::Value,
        Some(guards) => match guards.slot(id) {
            None => return Some(stream),
            Some(slot) => *slot,
        },
    };
    let mut operands = constants.map(|constant| constant.unwrap_or(0));
    let open = (0..2).filter(|&at| mode.operands()[at] && constants[at].is_none());
    for (number, at) in open.enumerate() {
        operands[at] = match slot {
            Slot::Immediate(bits) => bits,
            Slot::Apply | Slot::Value => value(number)?,
        };
    }
    Some(apply.eval(*mode, stream, operands))
}

/// The coordinate along an axis: of the slice, plus those of time and lane.
fn coordinate(axis: AxisId, place: &[(AxisId, usize)], indices: &[&Index]) -> usize {
    let outer = place.iter().find(|(id, _)| *id == axis).map_or(0, |(_, coordinate)| *coordinate);
    let inner: u64 = indices.iter().map(|index| index.get(axis)).sum();
    outer + saturated(inner)
}
