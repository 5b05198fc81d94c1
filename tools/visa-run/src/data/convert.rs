//! From a file's elements, or an element's index, to a kernel's dtype.

use visa_numerics::{DType, from_f32, from_f64, store, to_f64};

use super::DataError;
use super::array::{FileType, Value, byte_count, coordinates, tuple};
use super::stored::{Stored, reserve};

/// SplitMix64's increment: 2^64 over the golden ratio, made odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Reads a file's array of exactly `shape` as elements of `dtype`. While they are made of it both are held, in
/// `bound` bytes.
pub(super) fn to_dtype(
    stored: Stored,
    dtype: DType,
    shape: &[u64],
    bound: u64,
) -> Result<Vec<u8>, DataError> {
    let stored = stored.expect_shape(shape)?;
    let made = if same(dtype) == Some(stored.dtype) { Some(0) } else { array_bytes(dtype, shape) };
    let stored = stored.within(bound, made)?;
    let path = stored.source.path.clone();
    let array = stored.read()?;
    if same(dtype) == Some(array.dtype()) {
        return Ok(array.into_data());
    }
    let from = array.dtype();
    let mut bytes = zeros(dtype, shape)?;
    for (index, element) in array.data().chunks_exact(from.width()).enumerate() {
        let value = from.value(element);
        let bits = encode(value, dtype).ok_or_else(|| {
            let at = tuple(&coordinates(shape, index as u64));
            DataError::in_file(&path, format!("element {at} is {value}, which has no exact {dtype}"))
        })?;
        store(dtype, &mut bytes, index, bits);
    }
    Ok(bytes)
}

/// The elements that `element` gives for the indices 0, 1, 2, ..., in at most `bound` bytes.
pub(super) fn generate(
    dtype: DType,
    shape: &[u64],
    bound: u64,
    element: &dyn Fn(u64) -> u32,
) -> Result<Vec<u8>, DataError> {
    let needed = array_bytes(dtype, shape).unwrap_or(u64::MAX);
    if needed > bound {
        return Err(DataError::new(super::too_large(needed, bound)));
    }
    let mut bytes = zeros(dtype, shape)?;
    // It fits, since there are the bytes for it.
    for index in 0..shape.iter().product() {
        store(dtype, &mut bytes, index as usize, element(index));
    }
    Ok(bytes)
}

/// The bytes of an array of zeros.
fn zeros(dtype: DType, shape: &[u64]) -> Result<Vec<u8>, DataError> {
    let count = array_bytes(dtype, shape)
        .ok_or_else(|| DataError::new(format!("shape {shape:?} of {dtype} is over 2^64 bytes")))?;
    let mut bytes = reserve(count)?;
    bytes.resize(count as usize, 0);
    Ok(bytes)
}

/// Element `index` of `rand:seed`; [`super::Source::Rand`] states the formula.
pub(super) fn random(seed: u64, index: u64, dtype: DType) -> u32 {
    let z = mix(mix(seed).wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN)));
    if dtype.is_float() {
        // 24 bits, a power of two and a difference of multiples of 2^-23: each step is exact.
        from_f32(dtype, (z >> 40) as f32 / (1 << 23) as f32 - 1.0)
    } else {
        integer(z as i64, dtype)
    }
}

/// SplitMix64's finalizer. The seed goes through it too: otherwise neighbouring seeds would give the same
/// sequence, shifted.
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// `index` as an element: integers wrap, floats round.
pub(super) fn wrapped(index: u64, dtype: DType) -> u32 {
    if dtype.is_float() { from_f64(dtype, index as f64) } else { integer(index as i64, dtype) }
}

/// The low bits of `value` as an element of an integer dtype.
fn integer(value: i64, dtype: DType) -> u32 {
    dtype.wrap(value as i32).cast_unsigned()
}

/// `value` as an element of `dtype`, or `None` where only an inexact one exists and rounding is not meant.
fn encode(value: Value, dtype: DType) -> Option<u32> {
    match (dtype.range(), value) {
        (Some((least, greatest)), Value::Int(v)) => {
            let v = i32::try_from(v).ok()?;
            (least..=greatest).contains(&v).then_some(v.cast_unsigned())
        }
        (Some(_), Value::Single(x)) => encode(Value::Double(f64::from(x)), dtype),
        // A value past i64 saturates there, which is past every integer dtype, too.
        (Some(_), Value::Double(x)) if x.fract() == 0.0 => encode(Value::Int(x as i64), dtype),
        (Some(_), Value::Double(_)) => None,
        (None, Value::Single(x)) => Some(from_f32(dtype, x)),
        (None, Value::Double(x)) => Some(from_f64(dtype, x)),
        (None, Value::Int(v)) => {
            let bits = from_f64(dtype, v as f64);
            (to_f64(dtype, bits) as i128 == i128::from(v)).then_some(bits)
        }
    }
}

/// Bytes of an array of `dtype` as a kernel holds it; `None` past 2^64.
pub fn array_bytes(dtype: DType, shape: &[u64]) -> Option<u64> {
    dtype.bytes(byte_count(shape, 1)?)
}

/// The file type with the very bits of `dtype`, if there is one.
fn same(dtype: DType) -> Option<FileType> {
    match dtype {
        DType::I4 | DType::I5 | DType::I9 | DType::F4e2m1 => None,
        DType::U8 => Some(FileType::U8),
        DType::I8 => Some(FileType::I8),
        DType::I16 => Some(FileType::I16),
        DType::I32 => Some(FileType::I32),
        DType::F8e4m3 => Some(FileType::F8e4m3),
        DType::F8e5m2 => Some(FileType::F8e5m2),
        DType::F16 => Some(FileType::F16),
        DType::Bf16 => Some(FileType::Bf16),
        DType::F32 => Some(FileType::F32),
    }
}
