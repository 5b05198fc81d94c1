//! Tensors of elements that are scalars, or that are computed from their coordinates.

use crate::import::emit::axes::Axis;
use crate::import::emit::compare::{self, IntegerPredicate};
use crate::import::emit::elem::Elem;
use crate::import::emit::function::Function;
use crate::import::emit::narrow::select;
use crate::import::importer::{Importer, result_of};
use crate::import::ops::body::Body;
use crate::import::ops::composite::{self, Nest};
use crate::import::ops::constants;
use crate::import::ops::slices::result_axes;
use crate::import::read::attributes::key;
use crate::import::read::loops::Loops;
use crate::import::read::types::Kind;
use crate::import::tensor::Tensor;
use melior::ir::RegionLike as _;
use melior::ir::block::BlockLike as _;
use melior::ir::operation::{OperationLike as _, OperationRef};
use std::collections::{HashMap, HashSet};
use visa_ir::diag::Diagnostic;

/// Most scalars that become a tensor, unless all are constants.
const MAX_SCALARS: usize = 64;

/// `tensor.from_elements`: constants as a constant, other scalars one after the other.
///
/// # Errors
/// More than [`MAX_SCALARS`].
pub(crate) fn listed(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    kind: Kind,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let elems = (0..op.operand_count()).map(|at| Ok(importer.whole_operand(op, at)?.elem));
    let elems = elems.collect::<Result<Vec<_>, Diagnostic>>()?;
    if let [elem] = elems.as_slice() {
        return Ok(Tensor::uniform(elem.clone(), shape));
    }
    if let Some(numbers) = elems.iter().map(Elem::as_number).collect() {
        return constants::of_numbers(importer, op, (kind, shape), numbers);
    }
    if elems.len() > MAX_SCALARS {
        let message =
            format!("has {} scalars; expected at most {MAX_SCALARS} unless all are constants", elems.len());
        return Err(importer.emit.refuse(message).fix("compute them as a tensor".to_owned()));
    }
    let proposed = result_of(op).map(|result| importer.value_axes(key(result))).unwrap_or_default();
    let (value, dims) = constants::in_shape(&mut importer.emit, &shape, proposed, |emit, axis| {
        let mut values = Vec::new();
        for elem in &elems {
            let stored = emit.rounded(elem.clone())?;
            let (value, own) = (emit.value(&stored)?, emit.axes.fresh("D", 1));
            values.push((emit.broadcast(value, std::slice::from_ref(&own))?, own));
        }
        emit.concat(&values, axis)
    })?;
    Ok(Tensor::plain(Elem::value(kind, value), shape, dims))
}

/// An axis for each dimension of more than one coordinate.
fn named(importer: &mut Importer<'_, '_>, op: OperationRef<'_, '_>, shape: &[u64]) -> Vec<Option<Axis>> {
    let proposed = result_axes(importer, op, shape);
    let axes = proposed.into_iter().zip(shape);
    axes.map(|(axis, &size)| axis.or_else(|| (size > 1).then(|| importer.emit.axes.fresh("D", size))))
        .collect()
}

/// The coordinate along an axis; 0 if there is none.
fn coordinate(importer: &mut Importer<'_, '_>, axis: Option<&Axis>) -> Result<Elem, Diagnostic> {
    let Some(axis) = axis else { return Ok(Elem::number(Kind::Index, 0.0)) };
    let last = importer.emit.size(axis)?.cast_signed() - 1;
    Ok(Elem::value(Kind::Index, importer.emit.index(axis)?).with_range((0, last)))
}

/// A tensor over these axes, one for each dimension.
fn over(
    importer: &mut Importer<'_, '_>,
    elem: Elem,
    shape: Vec<u64>,
    axes: Vec<Option<Axis>>,
) -> Result<Tensor, Diagnostic> {
    let parts = shape.iter().map(|&size| vec![size]).collect();
    Tensor::over(&mut importer.emit, elem, shape, (parts, axes))
}

/// `tensor.generate`: its body computes each element from its coordinates.
///
/// # Errors
/// An operation of the body that is not imported.
pub(crate) fn generated(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let block = op.regions().next().and_then(|region| region.first_block());
    let block = block.ok_or_else(|| importer.emit.refuse("it has no body"))?;
    let axes = named(importer, op, &shape);
    let mut elems = HashMap::new();
    for (at, axis) in axes.iter().enumerate() {
        let argument = block.argument(at).map_err(|why| importer.emit.refuse(why.to_string()))?;
        elems.insert(key(argument), coordinate(importer, axis.as_ref())?);
    }
    let places = (0..shape.len()).map(|at| vec![at]).collect();
    let reduced = vec![false; shape.len()];
    let loops = Loops { maps: Vec::new(), extents: shape.clone(), reduced, inputs: 0 };
    let nest = Nest { loops, axes: axes.clone(), places, tensors: Vec::new() };
    let mut body = Body::new(block, elems, HashSet::new());
    body.compute(importer, &nest, &HashSet::new())?;
    importer.at(op);
    let yielded = block.terminator().and_then(|end| end.operands().next());
    let yielded = yielded.ok_or_else(|| importer.emit.refuse("its body yields no element"))?;
    let elem = body.value(importer, key(yielded))?;
    over(importer, elem, shape, axes)
}

/// `tensor.insert`: a scalar where the coordinates are the indices, and the tensor elsewhere.
///
/// # Errors
/// An index that is known, and outside of the tensor.
pub(crate) fn inserted(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let (scalar, whole) = (importer.whole_operand(op, 0)?.elem, composite::operand(importer, op, 1)?);
    let proposed = named(importer, op, &shape);
    let axes: Vec<_> =
        whole.dims.iter().zip(proposed).map(|(own, proposed)| own.clone().or(proposed)).collect();
    let mut is_here: Option<Elem> = None;
    for (at, axis) in axes.iter().enumerate() {
        let index = importer.whole_operand(op, at + 2)?.elem;
        let last = shape[at].saturating_sub(1);
        if let Some(number) = index.as_number().filter(|number| !(0.0..=last as f64).contains(number)) {
            return Err(importer
                .emit
                .refuse(format!("writes index {number} of a dimension of {}", shape[at])));
        }
        let own = coordinate(importer, axis.as_ref())?;
        let equal = IntegerPredicate::equal();
        let same = compare::integers(&mut importer.emit, equal, &own, &index.of_kind(Kind::Index))?;
        is_here = Some(match is_here {
            None => same,
            Some(others) => {
                let both = importer.emit.apply(Function::And, &[&others, &same], Kind::I1)?;
                both.with_range((0, 1))
            }
        });
    }
    let Some(is_here) = is_here else { return Ok(Tensor::uniform(scalar, shape)) };
    let kind = whole.kind();
    let elem = select(&mut importer.emit, &[&is_here, &scalar, &whole.elem], kind)?;
    over(importer, elem, shape, axes)
}
