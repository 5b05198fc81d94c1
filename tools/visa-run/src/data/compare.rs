//! A result against the array that it should be.

use std::fmt;
use visa_ir::diag::counted;

use visa_numerics::{Bits, DType, from_f64, to_f64};

use super::array::{Array, FileType, Value, bits, coordinates, tuple};
use super::save::file_bytes;

/// Difference between a result and the expectation.
#[derive(Debug, Clone, PartialEq)]
pub enum Mismatch {
    /// Another shape, so no element was compared.
    Shape {
        /// The result's.
        found: Vec<u64>,
        /// The expected array's.
        expected: Vec<u64>,
    },
    /// Another element type, so no element was compared.
    Type {
        /// The type that the result's file would have.
        found: FileType,
        /// The expected array's.
        expected: FileType,
    },
    /// Another number of bytes than the shape requires, so no element was compared.
    Length {
        /// Bytes of the result in its file type.
        found: usize,
        /// Bytes that it should have.
        expected: usize,
    },
    /// Other values.
    Values {
        /// Number of elements that differ.
        differing: usize,
        /// Number of elements.
        total: usize,
        /// The coordinates of the first that differs.
        index: Vec<u64>,
        /// Its value and bit pattern in the result.
        found: (Value, u64),
        /// Its value and bit pattern in the expected array.
        expected: (Value, u64),
    },
}

/// Compares little-endian elements of `dtype` in C order with `expected`, in the NumPy type that holds `dtype`
/// exactly. With `ulps` 0 bit by bit: -0 is not 0, and a NaN equals only the same NaN. With more, elements of a
/// floating-point format are equal if at most `ulps` of its numbers apart, and NaN equals NaN.
///
/// # Errors
/// How they differ.
pub fn compare(
    dtype: DType,
    shape: &[u64],
    actual: &[u8],
    expected: &Array,
    ulps: u32,
) -> Result<(), Mismatch> {
    let file_type = FileType::of(dtype);
    if shape != expected.shape() {
        return Err(Mismatch::Shape { found: shape.to_vec(), expected: expected.shape().to_vec() });
    }
    if file_type != expected.dtype() {
        return Err(Mismatch::Type { found: file_type, expected: expected.dtype() });
    }
    let found = file_bytes(dtype, shape, actual);
    if found.len() != expected.data().len() {
        return Err(Mismatch::Length { found: found.len(), expected: expected.data().len() });
    }
    let width = file_type.width();
    let pairs = || found.chunks_exact(width).zip(expected.data().chunks_exact(width)).enumerate();
    let alike = |found: &[u8], expected: &[u8]| {
        let number = |bytes| from_f64(dtype, file_type.value(bytes).as_f64());
        near(dtype, number(found), number(expected), ulps)
    };
    let mut differences =
        pairs().filter(|(_, (found, expected))| found != expected && !alike(found, expected));
    let Some((first, (a, b))) = differences.next() else {
        return Ok(());
    };
    Err(Mismatch::Values {
        differing: 1 + differences.count(),
        total: found.len() / width,
        index: coordinates(shape, first as u64),
        found: (file_type.value(a), bits(a)),
        expected: (file_type.value(b), bits(b)),
    })
}

/// Returns true if two elements with different bits count as equal: numbers of a floating-point format at most `ulps`
/// of its numbers apart, with `ulps` 0 none.
#[must_use]
pub fn near(dtype: DType, left: Bits, right: Bits, ulps: u32) -> bool {
    ulps > 0 && dtype.is_float() && distance(dtype, left, right) <= u64::from(ulps)
}

/// Distance of two numbers of a floating-point format, counted in its numbers; both zeros are one number.
fn distance(dtype: DType, left: Bits, right: Bits) -> u64 {
    match (to_f64(dtype, left).is_nan(), to_f64(dtype, right).is_nan()) {
        (true, true) => return 0,
        (true, false) | (false, true) => return u64::MAX,
        (false, false) => {}
    }
    let sign = 1_u32 << (dtype.bits() - 1);
    let rank = |bits: Bits| {
        let magnitude = i64::from(bits & (sign - 1));
        if bits & sign == 0 { magnitude } else { -magnitude }
    };
    rank(left).abs_diff(rank(right))
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Shape { found, expected } => {
                write!(f, "found shape {found:?}, expected {expected:?}")
            }
            Mismatch::Type { found, expected } => {
                write!(f, "found {found} elements, expected {expected}")
            }
            Mismatch::Length { found, expected } => {
                write!(f, "found {}, expected {expected}", counted(*found, "byte"))
            }
            Mismatch::Values { differing, total, index, found, expected } => write!(
                f,
                "{differing} of {total} elements differ, first at {}: found {} (0x{:x}), expected {} (0x{:x})",
                tuple(index),
                found.0,
                found.1,
                expected.0,
                expected.1
            ),
        }
    }
}

impl std::error::Error for Mismatch {}
