//! Padded, cut, inserted and joined tensors.

use crate::import::emit::axes::Axis;
use crate::import::emit::elem::{Data, Elem};
use crate::import::emit::emitter::new;
use crate::import::emit::function::Function;
use crate::import::emit::integers;
use crate::import::importer::{Importer, result_of};
use crate::import::ops::composite;
use crate::import::read::attributes::number;
use crate::import::read::attributes::{key, operations};
use crate::import::read::types::Kind;
use crate::import::tensor::Tensor;
use melior::ir::RegionLike as _;
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::block::BlockLike as _;
use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_numerics::Compare;

/// A list of static numbers; MLIR's least number stands for one that is not static.
///
/// # Errors
/// A list that the operation lacks, and numbers that are not static.
pub(crate) fn statics(
    importer: &Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    name: &str,
) -> Result<Vec<u64>, Diagnostic> {
    let list = op.attribute(name).ok().and_then(|list| DenseI64ArrayAttribute::try_from(list).ok());
    let list =
        list.ok_or_else(|| importer.emit.refuse(format!("`{}` has no `{name}`", importer.name(op))))?;
    let numbers =
        (0..list.len()).map(|at| list.element(at).ok().and_then(|number| u64::try_from(number).ok()));
    numbers.collect::<Option<_>>().ok_or_else(|| {
        importer
            .emit
            .refuse(format!("`{}` has a `{name}` that is known only when it runs", importer.name(op)))
    })
}

/// The first position of a slice along a dimension.
#[derive(Clone)]
enum Offset {
    Known(u64),
    Computed(Elem),
}

/// The offsets of a slice. Those that are not static are operands after the first `tensors` ones.
fn offsets(
    importer: &Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    tensors: usize,
) -> Result<Vec<Offset>, Diagnostic> {
    let list =
        op.attribute("static_offsets").ok().and_then(|list| DenseI64ArrayAttribute::try_from(list).ok());
    let list =
        list.ok_or_else(|| importer.emit.refuse(format!("`{}` has no `static_offsets`", importer.name(op))))?;
    let mut computed = tensors..op.operand_count();
    let mut all = Vec::new();
    for at in 0..list.len() {
        let number = list.element(at).ok().and_then(|number| u64::try_from(number).ok());
        all.push(match number {
            Some(number) => Offset::Known(number),
            None => {
                let at =
                    computed.next().ok_or_else(|| importer.emit.refuse("an offset without an operand"))?;
                let elem = importer.whole_operand(op, at)?.elem;
                match elem.as_number() {
                    Some(number) if number >= 0.0 => Offset::Known(number as u64),
                    Some(number) => {
                        return Err(importer
                            .emit
                            .refuse(format!("a slice from {number} on, before the first element")));
                    }
                    None => Offset::Computed(elem),
                }
            }
        });
    }
    Ok(all)
}

/// Checks that lists have an entry for each dimension: MLIR does not in damaged bytecode.
///
/// # Errors
/// A list of another length.
pub(crate) fn check_rank(
    importer: &Importer<'_, '_>,
    lists: &[usize],
    rank: usize,
) -> Result<(), Diagnostic> {
    match lists.iter().find(|&&length| length != rank) {
        None => Ok(()),
        Some(length) => Err(importer.emit.refuse(format!("a list of {length} for {rank} dimensions"))),
    }
}

/// Checks that a slice is inside of a dimension.
fn check_inside(
    importer: &Importer<'_, '_>,
    offset: &Offset,
    (size, stride): (u64, u64),
    whole: u64,
) -> Result<(), Diagnostic> {
    let Offset::Known(first) = offset else { return Ok(()) };
    let last = size.saturating_sub(1).saturating_mul(stride).saturating_add(*first);
    if last < whole && stride > 0 {
        return Ok(());
    }
    Err(importer.emit.refuse(format!("a slice up to element {last} of a dimension of {whole}")))
}

/// The proposed axis of each dimension of the result.
pub(crate) fn result_axes(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: &[u64],
) -> Vec<Option<Axis>> {
    let proposed = result_of(op).map(|result| importer.value_axes(key(result))).unwrap_or_default();
    proposed.into_iter().zip(shape).map(|(axis, &size)| axis.filter(|_| size > 1)).collect()
}

/// `tensor.pad` with a number.
///
/// # Errors
/// Padding that is computed, or that is known only when the program runs.
pub(crate) fn pad(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let tensor = composite::operand(importer, op, 0)?;
    let low = statics(importer, op, "static_low")?;
    statics(importer, op, "static_high")?;
    check_rank(importer, &[low.len(), tensor.shape.len()], shape.len())?;
    let number = padding(importer, op)?;
    if tensor.shape.contains(&0) {
        return Ok(Tensor::uniform(Elem::number(tensor.kind(), number), shape));
    }
    if tensor.elem.as_number() == Some(number) || low.is_empty() {
        return Ok(Tensor::uniform(tensor.elem, shape));
    }
    let axes = result_axes(importer, op, &shape);
    surrounded(importer, &tensor, (&low, shape, axes), number)
}

/// A tensor within a larger one of this shape, with a number around it. `low` are the numbers of elements before it.
///
/// # Errors
/// Those of the operations that it takes.
pub(crate) fn surrounded(
    importer: &mut Importer<'_, '_>,
    tensor: &Tensor,
    (low, shape, axes): (&[u64], Vec<u64>, Vec<Option<Axis>>),
    number: f64,
) -> Result<Tensor, Diagnostic> {
    let mut value = importer.emit.value(&tensor.elem)?;
    let mut dims = Vec::new();
    for (at, dim) in tensor.dims.iter().enumerate() {
        if tensor.shape[at] == shape[at] {
            dims.push(dim.clone());
            continue;
        }
        let from = match dim {
            Some(axis) => axis.clone(),
            None => importer.emit.axes.fresh("D", tensor.shape[at]),
        };
        value = importer.emit.broadcast(value, std::slice::from_ref(&from))?;
        let taken = importer.emit.axes_of(value)?;
        let to = axes[at].clone().filter(|axis| !taken.contains(axis));
        let to = to.unwrap_or_else(|| importer.emit.axes.fresh("D", shape[at]));
        value = importer.emit.extended(value, (&from, &to), low[at], number)?;
        dims.push(Some(to));
    }
    let elem = Elem { data: Data::Value(value), narrow: None, ..tensor.elem.clone() };
    Ok(Tensor::plain(elem, shape, dims))
}

/// The number that a padded tensor has around the source.
fn padding(importer: &Importer<'_, '_>, op: OperationRef<'_, '_>) -> Result<f64, Diagnostic> {
    let refuse = || importer.emit.refuse("`tensor.pad` is imported with a constant around the source");
    let block = op.regions().next().and_then(|region| region.first_block()).ok_or_else(refuse)?;
    let yielded = block.terminator().and_then(|end| end.operand(0).ok()).ok_or_else(refuse)?;
    if let Some(number) = importer.known(key(yielded)).and_then(|tensor| tensor.elem.as_number()) {
        return Ok(number);
    }
    let constant =
        operations(block).find(|op| op.results().next().is_some_and(|result| key(result) == key(yielded)));
    let value = constant.and_then(|op| op.attribute("value").ok()).and_then(number);
    value.ok_or_else(refuse)
}

/// `tensor.extract_slice` of static sizes.
///
/// # Errors
/// Sizes or strides that are known only when the program runs, and slices that leave the tensor.
pub(crate) fn extract(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let tensor = composite::operand(importer, op, 0)?;
    let offsets = offsets(importer, op, 1)?;
    let sizes = statics(importer, op, "static_sizes")?;
    let strides = statics(importer, op, "static_strides")?;
    check_rank(importer, &[offsets.len(), sizes.len(), strides.len()], tensor.shape.len())?;
    let kept = kept(&sizes, &shape);
    for (at, offset) in offsets.iter().enumerate() {
        check_inside(importer, offset, (sizes[at], strides[at]), tensor.shape[at])?;
    }
    let Data::Value(mut value) = tensor.elem.data else { return Ok(Tensor::uniform(tensor.elem, shape)) };
    let axes = result_axes(importer, op, &shape);
    let mut dims = vec![None; shape.len()];
    for (at, dim) in tensor.dims.iter().enumerate() {
        let Some(axis) = dim else { continue };
        let (offset, size) = (&offsets[at], sizes[at]);
        if size == tensor.shape[at] {
            if let Some(to) = kept[at] {
                dims[to] = Some(axis.clone());
            }
            continue;
        }
        if size == 1 {
            value = match offset {
                Offset::Known(offset) => {
                    let first =
                        if *offset == 0 { value } else { importer.emit.extract(value, axis, *offset)? };
                    importer.emit.without(first, std::slice::from_ref(axis))?
                }
                Offset::Computed(offset) => {
                    let index = importer.emit.computed_value(&offset.clone().of_kind(Kind::I32))?;
                    importer.emit.gather(value, index, axis)?
                }
            };
            continue;
        }
        let taken = importer.emit.axes_of(value)?;
        let to = kept[at].and_then(|to| axes[to].clone()).filter(|axis| !taken.contains(axis));
        let to = to.unwrap_or_else(|| importer.emit.axes.fresh("D", size));
        value = match offset {
            Offset::Known(offset) => importer.emit.every(value, axis, (*offset, strides[at]), &to)?,
            Offset::Computed(offset) => importer.emit.every_from(
                value,
                axis,
                (&offset.clone().of_kind(Kind::I32), strides[at]),
                &to,
            )?,
        };
        if let Some(place) = kept[at] {
            dims[place] = Some(to);
        }
    }
    let elem = Elem { data: Data::Value(value), narrow: None, ..tensor.elem };
    Ok(Tensor::plain(elem, shape, dims))
}

/// The dimension of the result that each dimension of a slice becomes: those of size 1 may be dropped.
fn kept(sizes: &[u64], shape: &[u64]) -> Vec<Option<usize>> {
    let mut dropped = sizes.len() - shape.len().min(sizes.len());
    let mut next = 0;
    let mut kept = Vec::new();
    for &size in sizes {
        let is_here = shape.get(next) == Some(&size);
        if size == 1 && dropped > 0 && !is_here {
            dropped -= 1;
            kept.push(None);
        } else {
            kept.push(Some(next).filter(|_| next < shape.len()));
            next += 1;
        }
    }
    kept
}

/// `tensor.insert_slice` of static sizes.
///
/// # Errors
/// Sizes or strides that are known only when the program runs, and slices that leave the tensor.
pub(crate) fn insert(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let (part, whole) = (composite::operand(importer, op, 0)?, composite::operand(importer, op, 1)?);
    if part.shape.contains(&0) {
        return Ok(whole);
    }
    let offsets = offsets(importer, op, 2)?;
    let sizes = statics(importer, op, "static_sizes")?;
    let strides = statics(importer, op, "static_strides")?;
    check_rank(importer, &[offsets.len(), sizes.len(), strides.len()], shape.len())?;
    for (at, offset) in offsets.iter().enumerate() {
        check_inside(importer, offset, (sizes[at], strides[at]), shape[at])?;
    }
    let kept = kept(&sizes, &part.shape);
    let mut axes = Vec::new();
    for (at, proposed) in result_axes(importer, op, &shape).into_iter().enumerate() {
        let own = whole.dims[at]
            .clone()
            .or(proposed)
            .filter(|axis| shape[at] > 1 && !axes.contains(&Some(axis.clone())));
        axes.push(own.or_else(|| (shape[at] > 1).then(|| importer.emit.axes.fresh("D", shape[at]))));
    }
    let named: Vec<Axis> = axes.iter().flatten().cloned().collect();
    let base = match whole.elem.data {
        Data::Undefined => undefined(importer, whole.kind())?,
        Data::Number(_) | Data::Value(_) | Data::Term(..) => importer.emit.value(&whole.elem)?,
    };
    let base = importer.emit.broadcast(base, &named)?;
    let mut value = importer.emit.value(&part.elem)?;
    value = importer.emit.cast(value, importer.emit.dtype(base)?)?;
    // The part gets names that the whole lacks, and then the axes of the whole.
    let mut current = Vec::new();
    let mut pairs = Vec::new();
    for (at, place) in kept.iter().enumerate() {
        let own = place.and_then(|place| part.dims[place].clone());
        let size = sizes[at];
        let fresh = (shape[at] > 1 && size < shape[at]).then(|| importer.emit.axes.fresh("D", size));
        if let (Some(own), Some(to)) = (own, fresh.clone().or(axes[at].clone())) {
            pairs.push((own, to));
        }
        current.push(fresh);
    }
    value = importer.emit.rename(value, &pairs)?;
    let mut outside: Option<Elem> = None;
    for (at, axis) in axes.iter().enumerate() {
        let Some(axis) = axis else { continue };
        let Some(own) = &current[at] else {
            value = importer.emit.broadcast(value, std::slice::from_ref(axis))?;
            continue;
        };
        value = importer.emit.broadcast(value, std::slice::from_ref(own))?;
        let here;
        (value, here) = match (&offsets[at], strides[at]) {
            (Offset::Known(offset), 1) => {
                let longer = importer.emit.extended(value, (own, axis), *offset, 0.0)?;
                (longer, beyond(importer, axis, (*offset, sizes[at]))?)
            }
            (offset, stride) => spread(importer, value, (own, axis), offset, stride)?,
        };
        outside = Some(match outside {
            None => here,
            Some(outside) => importer.emit.apply(Function::Or, &[&outside, &here], Kind::I32)?,
        });
    }
    let mut elem = Elem::value(whole.kind(), value);
    if let Some(outside) = outside.filter(|_| !matches!(whole.elem.data, Data::Undefined)) {
        let outside = importer.emit.value(&outside)?;
        elem.data = Data::Value(importer.emit.choose(outside, base, value)?);
    }
    Ok(Tensor::plain(elem, shape, axes))
}

/// Elements at every `stride`-th position of a longer axis, and the condition that a position has none of them.
fn spread(
    importer: &mut Importer<'_, '_>,
    value: ValueId,
    (own, axis): (&Axis, &Axis),
    offset: &Offset,
    stride: u64,
) -> Result<(ValueId, Elem), Diagnostic> {
    let emit = &mut importer.emit;
    let (last, whole) = (emit.size(own)?.cast_signed() - 1, emit.size(axis)?.cast_signed());
    let coordinate = Elem::value(Kind::I32, emit.index(axis)?).with_range((0, whole - 1));
    let (first, range) = match offset {
        Offset::Known(offset) => {
            let first = *offset as i64;
            (Elem::number(Kind::I32, first as f64), (-first, whole - 1 - first))
        }
        Offset::Computed(offset) => (offset.clone().of_kind(Kind::I32), Kind::I32.range()),
    };
    let distance = emit.apply(Function::Sub, &[&coordinate, &first], Kind::I32)?.with_range(range);
    let distance = emit.built(&distance)?;
    let step = Elem::number(Kind::I32, stride as f64);
    let row = match stride {
        1 => distance.clone(),
        _ => integers::floor(emit, [&distance, &step], Kind::I32)?,
    };
    let row = emit.apply(Function::Max, &[&row, &Elem::number(Kind::I32, 0.0)], Kind::I32)?;
    let row = emit.apply(Function::Min, &[&row, &Elem::number(Kind::I32, last as f64)], Kind::I32)?;
    let row = emit.built(&row)?;
    let position = emit.apply(Function::Mul, &[&row, &step], Kind::I32)?;
    let rest = emit.apply(Function::Sub, &[&distance, &position], Kind::I32)?;
    let rest = emit.value(&rest)?;
    let outside = emit.compare(rest, &[Compare::Less, Compare::Greater], 0.0)?;
    let row = emit.value(&row)?;
    Ok((emit.gather(value, row, own)?, Elem::value(Kind::I32, outside)))
}

/// Not 0 at coordinates before a part and after it.
fn beyond(
    importer: &mut Importer<'_, '_>,
    axis: &Axis,
    (offset, size): (u64, u64),
) -> Result<Elem, Diagnostic> {
    let emit = &mut importer.emit;
    let coordinate = emit.index(axis)?;
    let before = emit.compare(coordinate, &[Compare::Less], offset as f64)?;
    let before = Elem::value(Kind::I32, before);
    let after = emit.compare(coordinate, &[Compare::Greater], (offset + size - 1) as f64)?;
    let after = Elem::value(Kind::I32, after);
    match (offset, emit.size(axis)? - offset - size) {
        (0, _) => Ok(after),
        (_, 0) => Ok(before),
        (_, _) => emit.apply(Function::Or, &[&before, &after], Kind::I32),
    }
}

/// A value without a defined element.
fn undefined(importer: &mut Importer<'_, '_>, kind: Kind) -> Result<ValueId, Diagnostic> {
    use visa_mapping::ops::constant::Undefined;
    let emit = &mut importer.emit;
    match kind.stored() {
        Some(dtype) => emit.emit(new!(emit, Undefined).dtype(dtype).spec()),
        None => Err(emit.refuse("`f64` is no format of the machine")),
    }
}

/// `tensor.concat`: tensors one after the other.
///
/// # Errors
/// A dimension that does not exist.
pub(crate) fn concat(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let dim =
        op.attribute("dim").ok().and_then(number).map(|dim| dim as usize).filter(|&dim| dim < shape.len());
    let dim =
        dim.ok_or_else(|| importer.emit.refuse("`tensor.concat` along a dimension that does not exist"))?;
    let mut joined = Vec::new();
    for at in 0..op.operand_count() {
        joined.push(composite::operand(importer, op, at)?);
    }
    joined.retain(|tensor| !tensor.shape.contains(&0));
    if let [tensor] = joined.as_slice() {
        return Ok(tensor.clone());
    }
    let proposed = result_axes(importer, op, &shape);
    let mut axes: Vec<Option<Axis>> = Vec::new();
    for (at, axis) in proposed.into_iter().enumerate() {
        let axis = axis.filter(|axis| !axes.contains(&Some(axis.clone())));
        axes.push(axis.or_else(|| (shape[at] > 1).then(|| importer.emit.axes.fresh("D", shape[at]))));
    }
    let (mut values, mut kind) = (Vec::new(), None);
    for tensor in joined {
        kind = Some(tensor.kind());
        let own = importer.emit.axes.fresh("D", tensor.shape[dim]);
        let named = axes
            .iter()
            .enumerate()
            .map(|(at, axis)| if at == dim { Some(own.clone()) } else { axis.clone() });
        let named: Vec<Option<Axis>> = named.collect();
        let pairs =
            tensor.dims.iter().zip(&named).filter_map(|(old, new)| Some((old.clone()?, new.clone()?)));
        let mut value = importer.emit.value(&tensor.elem)?;
        value = importer.emit.rename(value, &pairs.collect::<Vec<_>>())?;
        value = importer.emit.broadcast(value, &named.into_iter().flatten().collect::<Vec<_>>())?;
        values.push((value, own));
    }
    let (Some(kind), Some(to)) = (kind, axes[dim].clone()) else {
        return Err(importer.emit.refuse("`tensor.concat` of nothing"));
    };
    let value = importer.emit.concat(&values, &to)?;
    Ok(Tensor::plain(Elem::value(kind, value), shape, axes))
}
