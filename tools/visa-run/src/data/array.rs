//! An array as files hold it.

use std::fmt;
use std::path::Path;
use visa_ir::diag::counted;

use visa_numerics::{Bits, DType, to_f64};

use super::{DataError, npy};

/// An element type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileType {
    /// 8-bit signed integer.
    I8,
    /// 16-bit signed integer.
    I16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer (npy only).
    I64,
    /// 8-bit integer from 0 on.
    U8,
    /// 4-bit float, two a byte (safetensors only). An [`Array`] has a byte for each.
    F4e2m1,
    /// 8-bit float with 4 exponent bits: NumPy has no such type, and a file has its bytes.
    F8e4m3,
    /// 8-bit float with 5 exponent bits.
    F8e5m2,
    /// 16-bit float.
    F16,
    /// bfloat16: NumPy has no such type, and a file has its bits.
    Bf16,
    /// 32-bit float.
    F32,
    /// 64-bit float (npy only).
    F64,
}

impl FileType {
    /// The NumPy type that holds every value of `dtype` exactly.
    pub fn of(dtype: DType) -> FileType {
        match dtype {
            DType::I4 | DType::I5 | DType::I8 => FileType::I8,
            DType::I9 | DType::I16 => FileType::I16,
            DType::I32 => FileType::I32,
            DType::U8 => FileType::U8,
            DType::F16 => FileType::F16,
            DType::F4e2m1 | DType::F8e4m3 | DType::F8e5m2 | DType::Bf16 | DType::F32 => FileType::F32,
        }
    }

    /// Bytes of one element of an [`Array`].
    pub fn width(self) -> usize {
        match self {
            FileType::I8 | FileType::U8 | FileType::F4e2m1 | FileType::F8e4m3 | FileType::F8e5m2 => 1,
            FileType::I16 | FileType::F16 | FileType::Bf16 => 2,
            FileType::I32 | FileType::F32 => 4,
            FileType::I64 | FileType::F64 => 8,
        }
    }

    /// Bytes that a file has for `count` elements; `None` past 2^64.
    pub(super) fn stored(self, count: u64) -> Option<u64> {
        match self {
            FileType::F4e2m1 => Some(count.div_ceil(2)),
            FileType::I8 | FileType::U8 | FileType::F8e4m3 | FileType::F8e5m2 => Some(count),
            FileType::I16 | FileType::F16 | FileType::Bf16 => count.checked_mul(2),
            FileType::I32 | FileType::F32 => count.checked_mul(4),
            FileType::I64 | FileType::F64 => count.checked_mul(8),
        }
    }

    /// The value of one little-endian element of [`Self::width`] bytes.
    pub(super) fn value(self, element: &[u8]) -> Value {
        let bits = bits(element);
        match self {
            FileType::I8 => Value::Int(i64::from(bits as i8)),
            FileType::I16 => Value::Int(i64::from(bits as i16)),
            FileType::I32 => Value::Int(i64::from(bits as i32)),
            FileType::I64 => Value::Int(bits as i64),
            FileType::U8 => Value::Int(bits as i64),
            FileType::F4e2m1 => Value::of(DType::F4e2m1, bits as u32),
            FileType::F8e4m3 => Value::of(DType::F8e4m3, bits as u32),
            FileType::F8e5m2 => Value::of(DType::F8e5m2, bits as u32),
            FileType::F16 => Value::of(DType::F16, bits as u32),
            FileType::Bf16 => Value::of(DType::Bf16, bits as u32),
            FileType::F32 => Value::of(DType::F32, bits as u32),
            FileType::F64 => Value::Double(f64::from_bits(bits)),
        }
    }
}

impl fmt::Display for FileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileType::I8 => "i8",
            FileType::I16 => "i16",
            FileType::I32 => "i32",
            FileType::I64 => "i64",
            FileType::U8 => "u8",
            FileType::F4e2m1 => "f4e2m1",
            FileType::F8e4m3 => "f8e4m3",
            FileType::F8e5m2 => "f8e5m2",
            FileType::F16 => "f16",
            FileType::Bf16 => "bf16",
            FileType::F32 => "f32",
            FileType::F64 => "f64",
        })
    }
}

/// The value of one element, exact for every file type and every dtype.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// Of an integer type.
    Int(i64),
    /// Of a float type up to `f32`.
    Single(f32),
    /// Of `f64`.
    Double(f64),
}

impl Value {
    /// The value of an element of a kernel's format.
    pub fn of(dtype: DType, bits: Bits) -> Value {
        match dtype.is_float() {
            true => Value::Single(to_f64(dtype, bits) as f32),
            false => Value::Int(i64::from(bits.cast_signed())),
        }
    }

    /// The value as a double, for statistics.
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Int(v) => v as f64,
            Value::Single(x) => f64::from(x),
            Value::Double(x) => x,
        }
    }
}

/// All digits of an integer that `f32` has; of other numbers the shortest digits that name them in their own type.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Int(v) => write!(f, "{v}"),
            Value::Single(x) if x.fract() == 0.0 => write!(f, "{x:.0}"),
            Value::Single(x) => write!(f, "{x}"),
            Value::Double(x) if x.fract() == 0.0 && x.abs() <= f64::from(f32::MAX) => write!(f, "{x:.0}"),
            Value::Double(x) if x.is_finite() && !(1e-5..1e17).contains(&x.abs()) => write!(f, "{x:e}"),
            Value::Double(x) => write!(f, "{x}"),
        }
    }
}

/// An array as a file holds it: little-endian elements in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    shape: Vec<u64>,
    dtype: FileType,
    data: Vec<u8>,
}

impl Array {
    /// An array of `data`, whose length must match `shape` and `dtype`.
    pub fn new(shape: Vec<u64>, dtype: FileType, data: Vec<u8>) -> Result<Array, DataError> {
        let expected = byte_count(&shape, dtype.width());
        if expected != Some(data.len() as u64) {
            let found = data.len();
            return Err(DataError::new(format!(
                "found {} for {dtype} elements of shape {shape:?}",
                counted(found, "byte")
            )));
        }
        Ok(Array { shape, dtype, data })
    }

    /// Reads a NumPy file whose array has at most `bound` bytes.
    pub fn read_npy(path: &Path, bound: u64) -> Result<Array, DataError> {
        npy::open(path, None)?.within(bound, Some(0))?.read()
    }

    /// Elements along each axis, outermost first; empty for a scalar.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The element type.
    pub fn dtype(&self) -> FileType {
        self.dtype
    }

    /// The elements, little-endian, in C order.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    pub(super) fn into_data(self) -> Vec<u8> {
        self.data
    }
}

/// Bytes of an array of `shape` with elements of `width` bytes; `None` past 2^64.
pub(super) fn byte_count(shape: &[u64], width: usize) -> Option<u64> {
    shape.iter().try_fold(width as u64, |product, &extent| product.checked_mul(extent))
}

/// A little-endian element of at most 8 bytes, zero-extended.
pub(super) fn bits(element: &[u8]) -> u64 {
    element.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

/// The coordinates of element `index` of an array of `shape`, outermost first.
pub(super) fn coordinates(shape: &[u64], mut index: u64) -> Vec<u64> {
    let mut coordinates: Vec<u64> = shape
        .iter()
        .rev()
        .map(|&extent| {
            let coordinate = index % extent.max(1);
            index /= extent.max(1);
            coordinate
        })
        .collect();
    coordinates.reverse();
    coordinates
}

/// Coordinates as a tuple: `(3, 5)`, `(3)`, `()`.
pub(super) fn tuple(coordinates: &[u64]) -> String {
    let items: Vec<String> = coordinates.iter().map(u64::to_string).collect();
    format!("({})", items.join(", "))
}
