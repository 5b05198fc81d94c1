//! Constants: numbers, splats, lists of elements and resources of the file.

use crate::import::emit::axes::Axis;
use crate::import::emit::elem::Elem;
use crate::import::importer::{Importer, result_of};
use crate::import::read::attributes::key;
use crate::import::read::attributes::number;
use crate::import::read::capi::{self, ResourceFormat};
use crate::import::read::types::Kind;
use crate::import::tensor::Tensor;
use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::operation::{OperationLike as _, OperationRef};
use melior::ir::{Attribute, AttributeLike as _};
use visa_ir::diag::Diagnostic;

/// Most elements of a constant: each is a number of the text.
const MAX_ELEMENTS: u64 = 1 << 20;

/// Elements, as numbers, or as patterns of bits if one of them is NaN.
struct Elements {
    numbers: Vec<f64>,
    bits: bool,
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
    let elements = elements(value, kind, count as usize).map_err(|why| importer.emit.refuse(why))?;
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
    let emit = &mut importer.emit;
    let Some(dtype) = kind.stored() else {
        return Err(emit.refuse("a list of `f64`, which is no format of the machine"));
    };
    if elements.numbers.len() == 1 && !elements.bits {
        return Ok(Tensor::uniform(Elem::number(kind, elements.numbers[0]), shape));
    }
    let axes: Vec<Axis> = proposed.into_iter().flatten().collect();
    let value = match axes.as_slice() {
        [axis] => emit.constants(dtype, elements.numbers, elements.bits, axis)?,
        _ => {
            let all = emit.axes.fresh("D", elements.numbers.len() as u64);
            let flat = emit.constants(dtype, elements.numbers, elements.bits, &all)?;
            emit.split(flat, &all, &axes)?
        }
    };
    let mut axes = axes.into_iter();
    let dims = shape.iter().map(|&size| if size > 1 { axes.next() } else { None }).collect();
    Ok(Tensor::plain(Elem::value(kind, value), shape, dims))
}

fn elements(value: Attribute<'_>, kind: Kind, count: usize) -> Result<Elements, String> {
    if capi::is_resource(value) {
        return resource(value, kind, count);
    }
    let Ok(dense) = DenseElementsAttribute::try_from(value) else {
        return Err(format!("a constant that is neither a number nor `dense`: {}", shortened(value)));
    };
    let unread = |_| format!("elements of `{}` that MLIR does not give", shortened(value));
    let numbers = match kind {
        Kind::F32 => (0..count).map(|at| dense.f32_element(at).map(f64::from)).collect::<Result<_, _>>(),
        Kind::F64 => (0..count).map(|at| dense.f64_element(at)).collect(),
        Kind::I8 => (0..count).map(|at| dense.i8_element(at).map(f64::from)).collect(),
        Kind::I16 => (0..count).map(|at| dense.i16_element(at).map(f64::from)).collect(),
        Kind::I32 => (0..count).map(|at| dense.i32_element(at).map(f64::from)).collect(),
        Kind::I64 => (0..count).map(|at| dense.i64_element(at).map(|number| number as f64)).collect(),
        Kind::Index => (0..count).map(|at| dense.index_element(at).map(|number| number as f64)).collect(),
        Kind::I1 => (0..count).map(|at| dense.bool_element(at).map(|bit| f64::from(u8::from(bit)))).collect(),
        Kind::Bf16 | Kind::F16 => return halves(value, kind, count),
        Kind::I4 | Kind::F8e4m3 | Kind::F8e5m2 => {
            return Err(format!("MLIR's C API does not read the elements of {}", shortened(value)));
        }
    };
    finite(numbers.map_err(unread)?, kind)
}

fn halves(value: Attribute<'_>, kind: Kind, count: usize) -> Result<Elements, String> {
    let bits = capi::halves(value, count).ok_or("a constant without elements")?;
    let Some(dtype) = kind.stored() else { return Err("a constant without a format".to_owned()) };
    let numbers: Vec<f64> = bits.iter().map(|&bits| visa_numerics::to_f64(dtype, u32::from(bits))).collect();
    finite(numbers, kind)
}

fn resource(value: Attribute<'_>, kind: Kind, count: usize) -> Result<Elements, String> {
    let format = match kind {
        Kind::F32 => ResourceFormat::F32,
        Kind::F64 => ResourceFormat::F64,
        Kind::I8 => ResourceFormat::I8,
        Kind::I16 => ResourceFormat::I16,
        Kind::I32 => ResourceFormat::I32,
        Kind::I64 => ResourceFormat::I64,
        Kind::F16 | Kind::Bf16 | Kind::F8e4m3 | Kind::F8e5m2 | Kind::I4 | Kind::I1 | Kind::Index => {
            return Err(format!(
                "a resource with elements that MLIR's C API does not read, {}; expected `dense`, or `f32` or integers \
                 of 8 bits or more",
                shortened(value)
            ));
        }
    };
    let numbers = (0..count).map(|at| capi::resource_element(value, format, at));
    finite(numbers.collect::<Option<_>>().ok_or("a resource with too many elements")?, kind)
}

/// Numbers, or their bits if one of them is NaN.
fn finite(numbers: Vec<f64>, kind: Kind) -> Result<Elements, String> {
    let Some(dtype) = kind.stored().filter(|_| numbers.iter().any(|number| number.is_nan())) else {
        return Ok(Elements { numbers, bits: false });
    };
    let bits = numbers.iter().map(|&number| f64::from(visa_numerics::from_f64(dtype, number)));
    Ok(Elements { numbers: bits.collect(), bits: true })
}

/// The beginning of an attribute's text.
fn shortened(value: Attribute<'_>) -> String {
    let ty = value.r#type();
    format!("of type `{ty}`")
}
