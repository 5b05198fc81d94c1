//! Constants: numbers, splats, lists of elements and resources of the file.

use crate::import::emit::axes::Axis;
use crate::import::emit::double::is_single;
use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::Emitter;
use crate::import::importer::{Importer, result_of};
use crate::import::read::attributes::key;
use crate::import::read::attributes::number;
use crate::import::read::capi;
use crate::import::read::types::Kind;
use crate::import::tensor::Tensor;
use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::operation::{OperationLike as _, OperationRef};
use melior::ir::{Attribute, AttributeLike as _};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_numerics::DType;

/// Most elements of a constant: each is a number of the text.
const MAX_ELEMENTS: u64 = 1 << 20;

/// Elements, as numbers, or as patterns of bits if one of them is NaN.
struct Elements {
    numbers: Vec<f64>,
    bits: bool,
    /// True if one is a number of `f64` that `f32` lacks.
    inexact: bool,
}

/// Imports a constant.
///
/// # Errors
/// Elements that MLIR's C API does not read, or more than [`MAX_ELEMENTS`].
pub(crate) fn constant(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    kind: Kind,
    shape: Vec<u64>,
) -> Result<Tensor, Diagnostic> {
    let value = op.attribute("value").map_err(|error| importer.emit.refuse(error.to_string()))?;
    if let Some(number) = number(value) {
        return Ok(Tensor::uniform(Elem::number(kind, number), shape));
    }
    let count = shape.iter().fold(1_u64, |count, &size| count.saturating_mul(size));
    let splat = DenseElementsAttribute::try_from(value).ok().filter(DenseElementsAttribute::is_splat);
    if let Some(number) = splat.and_then(|dense| number(dense.splat_value())) {
        return Ok(Tensor::uniform(Elem::number(kind, number), shape));
    }
    if count > MAX_ELEMENTS {
        let message = format!("a constant of {count} elements; at most {MAX_ELEMENTS} are imported");
        return Err(importer.emit.refuse(message).fix("pass it as an argument".to_owned()));
    }
    let elements = elements(importer, op, value, (kind, count as usize));
    let elements = elements.map_err(|why| importer.emit.refuse(why))?;
    let proposed = result_of(op).map(|result| importer.value_axes(key(result))).unwrap_or_default();
    listed(importer, elements, kind, shape, proposed)
}

/// Numbers along one axis, which then becomes those of the dimensions.
fn listed(
    importer: &mut Importer<'_, '_>,
    elements: Elements,
    kind: Kind,
    shape: Vec<u64>,
    proposed: Vec<Option<Axis>>,
) -> Result<Tensor, Diagnostic> {
    if elements.numbers.len() == 1 && !elements.bits {
        return Ok(Tensor::uniform(Elem::number(kind, elements.numbers[0]), shape));
    }
    let dtype = format(kind);
    let inexact = elements.inexact;
    let (value, dims) = in_shape(&mut importer.emit, &shape, proposed, |emit, axis| {
        emit.constants(dtype, elements.numbers, elements.bits, axis)
    })?;
    Ok(Tensor::plain(Elem { inexact, ..Elem::value(kind, value) }, shape, dims))
}

/// Numbers of a tensor, the last dimension counting fastest.
///
/// # Errors
/// Those of the operations that it takes.
pub(crate) fn of_numbers(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    (kind, shape): (Kind, Vec<u64>),
    numbers: Vec<f64>,
) -> Result<Tensor, Diagnostic> {
    let proposed = result_of(op).map(|result| importer.value_axes(key(result))).unwrap_or_default();
    listed(importer, finite(numbers, kind), kind, shape, proposed)
}

/// Elements along one axis, which then becomes those of the dimensions. `build` makes them along the axis.
///
/// # Errors
/// Those of the operations that it takes.
pub(crate) fn in_shape(
    emit: &mut Emitter<'_>,
    shape: &[u64],
    proposed: Vec<Option<Axis>>,
    build: impl FnOnce(&mut Emitter<'_>, &Axis) -> Result<ValueId, Diagnostic>,
) -> Result<(ValueId, Vec<Option<Axis>>), Diagnostic> {
    let sizes = shape.iter().enumerate().filter(|(_, size)| **size > 1);
    let axes = sizes.map(|(at, &size)| {
        let proposed = proposed.get(at).cloned().flatten();
        proposed.unwrap_or_else(|| emit.axes.fresh("D", size))
    });
    let axes: Vec<Axis> = axes.collect();
    let value = match axes.as_slice() {
        [axis] => build(emit, axis)?,
        _ => {
            let all = emit.axes.fresh("D", shape.iter().product());
            let flat = build(emit, &all)?;
            emit.split(flat, &all, &axes)?
        }
    };
    let mut axes = axes.into_iter();
    Ok((value, shape.iter().map(|&size| if size > 1 { axes.next() } else { None }).collect()))
}

/// The format of a constant's elements: those of `f64` are rounded to `f32`.
fn format(kind: Kind) -> DType {
    kind.stored().unwrap_or(DType::F32)
}

/// The elements of a constant that is no splat.
fn elements(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    value: Attribute<'_>,
    (kind, count): (Kind, usize),
) -> Result<Elements, String> {
    if capi::is_resource(value) {
        let bytes = importer.resources(op).bytes(value);
        let bytes =
            bytes.ok_or("the file lacks its resource, or the resource's bytes are no hexadecimal digits")?;
        return Ok(finite(numbers(bytes, kind, count)?, kind));
    }
    let Ok(dense) = DenseElementsAttribute::try_from(value) else {
        return Err(format!("a constant {} that is neither a number nor `dense`", shortened(value)));
    };
    let unread = |_| format!("elements {} that MLIR does not give", shortened(value));
    let numbers = match kind {
        Kind::I1 => {
            let bits = (0..count).map(|at| dense.bool_element(at).map(|bit| f64::from(u8::from(bit))));
            bits.collect::<Result<_, _>>().map_err(unread)?
        }
        Kind::Index => {
            let indices = (0..count).map(|at| dense.index_element(at).map(|number| number as f64));
            indices.collect::<Result<_, _>>().map_err(unread)?
        }
        Kind::F64
        | Kind::F32
        | Kind::F16
        | Kind::Bf16
        | Kind::F8e4m3
        | Kind::F8e5m2
        | Kind::I64
        | Kind::I32
        | Kind::I16
        | Kind::I8
        | Kind::I4 => {
            let bytes = capi::dense_bytes(value, count, element_size(kind));
            let bytes = bytes.ok_or_else(|| format!("a constant {} without elements", shortened(value)))?;
            numbers(&bytes, kind, count)?
        }
    };
    Ok(finite(numbers, kind))
}

/// Bytes of a stored element.
fn element_size(kind: Kind) -> usize {
    match kind {
        Kind::F64 | Kind::I64 | Kind::Index => 8,
        Kind::F32 | Kind::I32 => 4,
        Kind::F16 | Kind::Bf16 | Kind::I16 => 2,
        Kind::F8e4m3 | Kind::F8e5m2 | Kind::I8 | Kind::I4 | Kind::I1 => 1,
    }
}

/// The numbers of stored elements.
fn numbers(bytes: &[u8], kind: Kind, count: usize) -> Result<Vec<f64>, String> {
    let size = element_size(kind);
    if bytes.len() != size * count {
        return Err(format!("its elements have {} bytes; expected {} of {size}", bytes.len(), count));
    }
    bytes.chunks_exact(size).map(|bytes| number_of(bytes, kind)).collect()
}

/// The number of a stored element.
fn number_of(bytes: &[u8], kind: Kind) -> Result<f64, String> {
    let bits = bytes.iter().rev().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
    // The sign of an integer is its last bit.
    let unused = u64::BITS - 8 * bytes.len() as u32;
    let signed = (bits << unused).cast_signed() >> unused;
    match kind {
        Kind::F64 => Ok(f64::from_bits(bits)),
        Kind::F32 | Kind::F16 | Kind::Bf16 | Kind::F8e4m3 | Kind::F8e5m2 => {
            let dtype = kind.stored().ok_or("a constant without a format")?;
            Ok(visa_numerics::to_f64(dtype, bits as u32))
        }
        Kind::I64 | Kind::I32 | Kind::I16 | Kind::I8 | Kind::Index => Ok(signed as f64),
        Kind::I4 => Ok((((bits & 15) ^ 8).cast_signed() - 8) as f64),
        Kind::I1 => Ok(f64::from(u8::from(bits != 0))),
    }
}

/// Numbers, or their bits if one of them is NaN.
fn finite(numbers: Vec<f64>, kind: Kind) -> Elements {
    let inexact = kind == Kind::F64 && !numbers.iter().all(|&number| is_single(number));
    if !numbers.iter().any(|number| number.is_nan()) {
        return Elements { numbers, bits: false, inexact };
    }
    let bits = numbers.iter().map(|&number| f64::from(visa_numerics::from_f64(format(kind), number)));
    Elements { numbers: bits.collect(), bits: true, inexact }
}

/// The beginning of an attribute's text.
fn shortened(value: Attribute<'_>) -> String {
    let ty = value.r#type();
    format!("of type `{ty}`")
}
