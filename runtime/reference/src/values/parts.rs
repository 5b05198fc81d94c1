//! Parts of values, and values made of parts.

use std::collections::BTreeSet;

use visa_algebra::{AxisId, Expr, Index};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::error::mapping_error;
use visa_mapping::ops::restrict::{Concat, Extend, Extract, Insert, Restrict, around, joined};

use crate::evaluate::Run;
use crate::tensor::{Axis, Logical, element_count, saturated};
use crate::view;
use visa_mapping::coverage::Coverage;

/// `tm.restrict`: the elements at the indices of a mapping.
pub(crate) fn restrict(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let to = Coverage::of_map(&*Restrict::of(op)?.to()?, run.axes, op.span())?;
    run.given(op, 0)?.narrow(&to, op.span())
}

/// `tm.extract`: the elements from an index on.
pub(crate) fn extract(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let extract = Extract::of(op)?;
    let (value, span) = (run.given(op, 0)?, op.span());
    let shift = extract.shift_clauses()?.at(run.axes, &run.indices)?;
    // Axes that `part` does not mention stay whole.
    let names = extract.part()?.map_or_else(Vec::new, |part| part.axis_names(run.axes));
    let others = value.axes.iter().map(|axis| run.axes.name(axis.id));
    let others = others.filter(|own| names.iter().all(|name| **name != **own)).map(Expr::axis);
    let part = extract.part()?.map(|part| (*part).clone());
    let part = Coverage::of_map(&Expr::pair(others.chain(part)), run.axes, span)?;
    view::shifted(value, &shift, &part, span)?.narrow(&part, span)
}

/// `tm.insert`: a value with some of its elements replaced by those of another, whose coordinates count from an index.
pub(crate) fn insert(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let insert = Insert::of(op)?;
    let (new, old, span) = (run.given(op, 0)?, run.given(op, 1)?, op.span());
    let shift = insert.shift_clauses()?.at(run.axes, &run.indices)?;
    let part = Coverage::of_map(&*insert.part()?, run.axes, span)?;
    let axes = insertion_axes(run, (new, old), &part, &shift);
    // Of each axis, where the part begins, and which of its coordinates it holds.
    let first: Vec<usize> = axes.iter().map(|axis| saturated(shift.get(axis.id))).collect();
    let inside = |axis: &Axis| {
        let held = match part.mentions(axis.id) {
            true => part.held(axis.id, axis.held.len()),
            false => vec![true; axis.held.len()],
        };
        Axis { id: axis.id, held }
    };
    let inside: Vec<Axis> = axes.iter().map(inside).collect();
    let (news, olds) = (new.under(&inside), old.under(&axes));
    Logical::where_defined(old.dtype, axes.clone(), span, |at| {
        let own = at.iter().zip(&first).zip(&inside).map(|((&at, &first), axis)| {
            at.checked_sub(first).filter(|at| axis.held.get(*at) == Some(&true))
        });
        match own.collect::<Option<Vec<usize>>>() {
            Some(own) => news.get(&own),
            None => olds.get(at),
        }
    })
}

/// The axes of an insertion: those of both values, and those along which the part begins or ends. Each holds the
/// coordinates of the old value, and those of the part.
fn insertion_axes(
    run: &Run<'_>,
    (new, old): (&Logical, &Logical),
    part: &Coverage,
    shift: &Index,
) -> Vec<Axis> {
    let size = |id: AxisId| saturated(run.axes.size(id));
    let cut = |&id: &AxisId| shift.get(id) > 0 || part.held(id, size(id)).contains(&false);
    let own = old.axes.iter().chain(&new.axes).map(|axis| axis.id).chain(part.axes().filter(cut));
    let axis = |id: AxisId| {
        let Some(own) = old.axis(id) else { return Axis { id, held: vec![true; size(id)] } };
        let (first, inside) = (saturated(shift.get(id)), part.held(id, size(id)));
        let within = |at: &usize| !part.mentions(id) || inside.get(*at) == Some(&true);
        let replaced = |at: usize| {
            let at = at.checked_sub(first).filter(within);
            at.is_some_and(|at| new.axis(id).is_none_or(|axis| axis.held.get(at) == Some(&true)))
        };
        let held = |at: usize| own.held.get(at) == Some(&true) || replaced(at);
        let last = (0..size(id)).rev().find(|&at| held(at)).map_or(0, |last| last + 1);
        Axis { id, held: (0..last).map(held).collect() }
    };
    own.collect::<BTreeSet<AxisId>>().into_iter().map(axis).collect()
}

/// `tm.extend`: an axis with a number around its elements.
pub(crate) fn extend(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let extend = Extend::of(op)?;
    let (value, span) = (run.given(op, 0)?, op.span());
    let [own, whole] = [run.axis(op, &*extend.axis()?)?, run.axis(op, &*extend.to()?)?];
    let (from, bits) = (usize::try_from(extend.from()?).unwrap_or(usize::MAX), around(extend)?);
    let count = saturated(run.axes.size(own));
    let size = element_count(&[saturated(run.axes.size(whole))], span)?;
    let mut axes: Vec<Axis> = value.axes.clone();
    let place = axes.iter().position(|axis| axis.id == own);
    let at_axis = Axis { id: whole, held: vec![true; size] };
    let place = place.unwrap_or_else(|| {
        axes.push(at_axis.clone());
        axes.len() - 1
    });
    axes[place] = at_axis;
    let mut source = axes.clone();
    source[place] = Axis { id: own, held: vec![true; count] };
    let seen = value.under(&source);
    Logical::where_defined(value.dtype, axes, span, |at| {
        let mut inner = at.to_vec();
        match at[place].checked_sub(from).filter(|&coordinate| coordinate < count) {
            Some(coordinate) => {
                inner[place] = coordinate;
                seen.get(&inner)
            }
            None => Some(bits),
        }
    })
}

/// `tm.concat`: one value after the other along an axis.
pub(crate) fn concat(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let (names, to) = joined(Concat::of(op)?)?;
    let span = op.span();
    let resolve = |name: &str| run.axes.resolve(name).map_err(|error| mapping_error(error, span));
    let whole = resolve(&to)?;
    let size = element_count(&[saturated(run.axes.size(whole))], span)?;
    let mut axes = vec![Axis { id: whole, held: vec![true; size] }];
    let mut pieces = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let (value, own) = (run.given(op, number)?, resolve(name)?);
        pieces.push((value, own, saturated(run.axes.size(own))));
        for axis in value.axes.iter().filter(|axis| axis.id != own) {
            match axes.iter_mut().find(|known| known.id == axis.id) {
                Some(known) if known.held.len() < axis.held.len() => known.held = axis.held.clone(),
                Some(_) => {}
                None => axes.push(axis.clone()),
            }
        }
    }
    let seen: Vec<_> = pieces
        .iter()
        .map(|(value, own, count)| {
            let mut under = axes.clone();
            under[0] = Axis { id: *own, held: vec![true; *count] };
            (value.under(&under), *count)
        })
        .collect();
    let dtype = pieces.first().map(|(value, ..)| value.dtype);
    let dtype = dtype.ok_or_else(|| op.error("C1", "there is no operand"))?;
    Logical::where_defined(dtype, axes, span, |at| {
        let mut inner = at.to_vec();
        for (value, count) in &seen {
            if inner[0] < *count {
                return value.get(&inner);
            }
            inner[0] -= count;
        }
        None
    })
}
