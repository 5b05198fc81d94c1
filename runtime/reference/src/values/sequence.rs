//! Results that depend on the order in which a stream brings elements.

use std::collections::HashMap;

use visa_algebra::{AxisId, Expr, Index};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::coverage::Coverage;
use visa_mapping::error::mapping_error;
use visa_mapping::expression::Steps;
use visa_mapping::ops::sequence::{Pack, Scan, packed_axis, step};
use visa_mapping::tensor::value::axis_list;
use visa_numerics::Bits;

use crate::evaluate::Run;
use crate::layout::{Layout, offset};
use crate::tensor::{Axis, Logical, element_count, saturated, union, union_axes};
use crate::values::sum::positions;

/// `tm.pack`: the kept elements of each place, one after the other.
pub(crate) fn pack(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let (pack, span) = (Pack::of(op)?, op.span());
    let (value, kept) = (run.given(op, 0)?, run.given(op, 1)?);
    let onto = packed_axis(pack)?;
    let onto = run.axes.resolve(&onto).map_err(|error| mapping_error(error, span))?;
    let order = Order::new(run, op, [&*pack.outer()?, &*pack.steps()?, &*pack.within()?])?;
    let mut axes = order.places(&union(value, kept));
    let room = saturated(run.axes.size(onto));
    let outer = Layout::new(&axes);
    let places = outer.count(span)?;
    let size = element_count(&[places, room], span)?;
    let (mut data, mut defined, mut at) = (vec![0; size], vec![false; size], Vec::new());
    for place in 0..places {
        outer.coordinates(place, &mut at);
        let own: Vec<_> = axes.iter().map(|axis| axis.id).zip(at.iter().copied()).collect();
        let packed = order.kept(value, kept, pack.counts(), &own);
        for (number, bits) in packed.into_iter().enumerate().take(room) {
            data[place * room + number] = bits.unwrap_or(0);
            defined[place * room + number] = bits.is_some();
        }
    }
    axes.push(Axis { id: onto, held: vec![true; room] });
    Ok(Logical::partial(value.dtype, axes, data, defined))
}

/// `tm.scan`: a function of each element and of a state, which its results replace.
pub(crate) fn scan(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let (scan, span) = (Scan::of(op)?, op.span());
    let (value, state, mode) = (run.given(op, 0)?, run.given(op, 1)?, run.given(op, 2)?);
    let maps = [&*scan.outer()?, &*scan.steps()?, &*scan.within()?];
    let order = Order::new(run, op, maps)?;
    let keys = axis_list(&*scan.keys()?).map_err(|why| op.clause_error("C1", "keys", why))?;
    let keys: Vec<AxisId> = keys.iter().filter_map(|name| run.axes.id(name)).collect();
    let function = Steps::of(&step(scan)?);
    let function = function.ok_or_else(|| op.error("C2", "a function does not take its format"))?;
    // The result has also the axes of the order along which no operand differs: a later element there reads what an
    // earlier one gave.
    let mut axes = union_axes(union(value, state), mode);
    let moved = Coverage::of_map(&Expr::pair([maps[1].clone(), maps[2].clone()]), run.axes, span)?;
    let whole = Coverage::of_map(&Expr::pair(maps.map(Clone::clone)), run.axes, span)?;
    for id in moved.axes() {
        if axes.iter().all(|axis| axis.id != id) {
            axes.push(Axis { id, held: whole.held(id, saturated(run.axes.size(id))) });
        }
    }
    let layout = Layout::new(&axes);
    let (size, strides) = (layout.count(span)?, layout.strides());
    let (mut data, mut defined) = (vec![0; size], vec![false; size]);
    for place in order.all_places(&axes, op)? {
        let mut known = HashMap::new();
        for (step, within) in order.elements() {
            let at = |axis: AxisId| coordinate(axis, &place, &[step, within]);
            let key: Vec<usize> = keys.iter().map(|&axis| at(axis)).collect();
            let result = stepped(&function, [value, state, mode], &mut known, key, (&place, step, within));
            let Some(result) = result else { continue };
            let at: Vec<usize> = axes.iter().map(|axis| at(axis.id)).collect();
            if axes.iter().zip(&at).all(|(axis, &at)| axis.held.get(at) == Some(&true)) {
                data[offset(&strides, &at)] = result;
                defined[offset(&strides, &at)] = true;
            }
        }
    }
    Ok(Logical::partial(value.dtype, axes, data, defined))
}

/// The result for one element, which may replace the state; `None` where it is undefined.
fn stepped(
    function: &Steps,
    [value, state, mode]: [&Logical; 3],
    known: &mut HashMap<Vec<usize>, Bits>,
    key: Vec<usize>,
    (place, step, within): (&[(AxisId, usize)], &Index, &Index),
) -> Option<Bits> {
    let of = |tensor: &Logical| element(tensor, place, &[step, within]);
    let (own, mode) = (of(value)?, of(mode)?);
    let result = match mode & 1 {
        0 => own,
        _ => function.eval(&[own, known.get(&key).copied().or_else(|| of(state))?])?,
    };
    if mode & 2 != 0 {
        known.insert(key, result);
    }
    Some(result)
}

/// The order of a stream: places that work by themselves, and the elements of each.
struct Order {
    outer: Coverage,
    steps: Vec<Index>,
    within: Vec<Index>,
}

impl Order {
    fn new(run: &Run<'_>, op: OpRef<'_>, [outer, steps, within]: [&Expr; 3]) -> Result<Self, Diagnostic> {
        let live = |map: &Expr| -> Result<Vec<Index>, Diagnostic> {
            Ok(positions(map, run.axes, op.span())?.into_iter().flatten().collect())
        };
        let outer = Coverage::of_map(outer, run.axes, op.span())?;
        Ok(Self { outer, steps: live(steps)?, within: live(within)? })
    }

    /// The axes among these that tell places apart.
    fn places(&self, axes: &[Axis]) -> Vec<Axis> {
        let own = axes.iter().filter(|axis| self.outer.mentions(axis.id));
        own.map(|axis| Axis { id: axis.id, held: self.outer.held(axis.id, axis.held.len()) }).collect()
    }

    /// The coordinates of each place.
    fn all_places(&self, axes: &[Axis], op: OpRef<'_>) -> Result<Vec<Vec<(AxisId, usize)>>, Diagnostic> {
        let outer = self.places(axes);
        let (layout, mut at) = (Layout::new(&outer), Vec::new());
        let place = |flat: usize| {
            layout.coordinates(flat, &mut at);
            outer.iter().map(|axis| axis.id).zip(at.iter().copied()).collect()
        };
        Ok((0..layout.count(op.span())?).map(place).collect())
    }

    /// The elements of a place, in their order.
    fn elements(&self) -> impl Iterator<Item = (&Index, &Index)> {
        self.steps.iter().flat_map(|step| self.within.iter().map(move |within| (step, within)))
    }

    /// The kept elements of one place, in order; `None` for an undefined element.
    fn kept(
        &self,
        value: &Logical,
        kept: &Logical,
        counts: bool,
        place: &[(AxisId, usize)],
    ) -> Vec<Option<Bits>> {
        let mut packed = Vec::new();
        for step in &self.steps {
            let of_step: Option<Vec<&Index>> = match counts {
                true => element(kept, place, &[step]).map(|count| {
                    self.within.iter().take(count.cast_signed().max(0).unsigned_abs() as usize).collect()
                }),
                false => {
                    let flag = |within| element(kept, place, &[step, within]);
                    let flags: Option<Vec<Bits>> = self.within.iter().map(flag).collect();
                    let kept = |(within, flag): (_, Bits)| (flag != 0).then_some(within);
                    flags.map(|flags| self.within.iter().zip(flags).filter_map(kept).collect())
                }
            };
            let Some(of_step) = of_step else { break };
            packed.extend(of_step.into_iter().map(|within| element(value, place, &[step, within])));
        }
        packed
    }
}

/// The coordinate along an axis: of the place, plus those of step and element.
fn coordinate(axis: AxisId, place: &[(AxisId, usize)], indices: &[&Index]) -> usize {
    let outer = place.iter().find(|(id, _)| *id == axis).map_or(0, |(_, coordinate)| *coordinate);
    outer + saturated(indices.iter().map(|index| index.get(axis)).sum())
}

/// The element of a value at the sum of coordinates, if it is defined.
fn element(value: &Logical, place: &[(AxisId, usize)], indices: &[&Index]) -> Option<Bits> {
    let mut at = Vec::with_capacity(value.axes.len());
    for axis in &value.axes {
        let coordinate = coordinate(axis.id, place, indices);
        axis.held.get(coordinate).filter(|held| **held)?;
        at.push(coordinate);
    }
    value.element(offset(&value.strides(value.axes.iter().map(|axis| axis.id)), &at))
}
