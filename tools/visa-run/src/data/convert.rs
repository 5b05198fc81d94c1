//! From a file's elements, or an element's index, to a kernel's dtype.

use visa_numerics::{DType, from_f32, from_f64, to_f64};

use super::DataError;
use super::array::{FileType, Value, byte_count, coordinates, tuple};
use super::stored::{Stored, reserve};

/// SplitMix64's increment: 2^64 over the golden ratio, made odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Reads a file's array of exactly `shape` as elements of `dtype`.
pub(super) fn to_dtype(stored: Stored, dtype: DType, shape: &[u64]) -> Result<Vec<u8>, DataError> {
    let stored = stored.expect_shape(shape)?;
    let path = stored.source.path.clone();
    let array = stored.read()?;
    if array.dtype() == same(dtype) {
        return Ok(array.into_data());
    }
    let from = array.dtype();
    let elements = array.data().chunks_exact(from.width());
    let mut bytes = reserve((elements.len() * width(dtype)) as u64)?;
    for (index, element) in elements.enumerate() {
        let value = from.value(element);
        let bits = encode(value, dtype).ok_or_else(|| {
            let at = tuple(&coordinates(shape, index as u64));
            DataError::in_file(&path, format!("element {at} is {value}, which has no exact {dtype}"))
        })?;
        bytes.extend_from_slice(&bits.to_le_bytes()[..width(dtype)]);
    }
    Ok(bytes)
}

/// The elements that `element` gives for the indices 0, 1, 2, ...
pub(super) fn generate(
    dtype: DType,
    shape: &[u64],
    element: &dyn Fn(u64) -> u32,
) -> Result<Vec<u8>, DataError> {
    let count = byte_count(shape, width(dtype))
        .ok_or_else(|| DataError::new(format!("shape {shape:?} of {dtype} is over 2^64 bytes")))?;
    let mut bytes = reserve(count)?;
    for index in 0..count / width(dtype) as u64 {
        bytes.extend_from_slice(&element(index).to_le_bytes()[..width(dtype)]);
    }
    Ok(bytes)
}

/// Element `index` of `rand:seed`; [`super::Source::Rand`] states the formula.
pub(super) fn random(seed: u64, index: u64, dtype: DType) -> u32 {
    let z = mix(mix(seed).wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN)));
    match dtype {
        DType::I8 | DType::I32 => integer(z as i64, dtype),
        // 24 bits, a power of two and a difference of multiples of 2^-23: each step is exact.
        DType::Bf16 | DType::F32 => from_f32(dtype, (z >> 40) as f32 / (1 << 23) as f32 - 1.0),
    }
}

/// SplitMix64's finalizer. The seed goes through it too: otherwise neighbouring seeds would give the same sequence, shifted.
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// `index` as an element: integers wrap, floats round.
pub(super) fn wrapped(index: u64, dtype: DType) -> u32 {
    match dtype {
        DType::I8 | DType::I32 => integer(index as i64, dtype),
        DType::Bf16 | DType::F32 => from_f64(dtype, index as f64),
    }
}

/// The low bits of `value` as an element of an integer dtype: i8 is sign-extended.
fn integer(value: i64, dtype: DType) -> u32 {
    match dtype {
        DType::I8 => i32::from(value as i8) as u32,
        DType::I32 | DType::Bf16 | DType::F32 => value as u32,
    }
}

/// `value` as an element of `dtype`, or `None` where only an inexact one exists and rounding is not meant.
fn encode(value: Value, dtype: DType) -> Option<u32> {
    match (dtype, value) {
        (DType::I8, Value::Int(v)) => i8::try_from(v).ok().map(|v| i32::from(v) as u32),
        (DType::I32, Value::Int(v)) => i32::try_from(v).ok().map(|v| v as u32),
        // A value past i64 saturates there, which is past both integer dtypes as well.
        (DType::I8 | DType::I32, Value::Float(x)) if x.fract() == 0.0 => encode(Value::Int(x as i64), dtype),
        (DType::I8 | DType::I32, Value::Float(_)) => None,
        (DType::Bf16 | DType::F32, Value::Float(x)) => Some(from_f64(dtype, x)),
        (DType::Bf16 | DType::F32, Value::Int(v)) => {
            let bits = from_f64(dtype, v as f64);
            (to_f64(dtype, bits) as i128 == i128::from(v)).then_some(bits)
        }
    }
}

/// Bytes of one element of `dtype`.
pub(super) fn width(dtype: DType) -> usize {
    same(dtype).width()
}

/// The file type with the very bits of `dtype`.
pub(super) fn same(dtype: DType) -> FileType {
    match dtype {
        DType::I8 => FileType::I8,
        DType::I32 => FileType::I32,
        DType::Bf16 => FileType::Bf16,
        DType::F32 => FileType::F32,
    }
}
