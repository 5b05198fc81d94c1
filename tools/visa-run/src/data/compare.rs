//! A result against the array that it should be.

use std::fmt;
use std::str::FromStr;
use visa_ir::diag::counted;

use visa_numerics::{Bits, DType, from_f64, to_f64};

use super::DataError;
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

/// A result to compare.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a> {
    /// Format of the elements.
    pub dtype: DType,
    /// Elements along each axis, outermost first.
    pub shape: &'a [u64],
    /// The elements in C order, little-endian.
    pub bytes: &'a [u8],
    /// The defined elements, in C order; all if `None`. The others are equal to any number.
    pub defined: Option<&'a [bool]>,
}

/// Differences between numbers of a floating-point format that count as equal. Each of the two alone suffices.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tolerance {
    /// Distance, counted in numbers of the format.
    pub ulps: u32,
    /// Distance of the values.
    pub bound: Option<Bound>,
}

/// The greatest distance of a value from the expected one: `absolute + relative * |expected|`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The part that grows with the expected value.
    pub relative: f64,
    /// The part for all values.
    pub absolute: f64,
}

impl Bound {
    /// Returns true if `found` is near enough to `expected`. NaN equals NaN, and an infinity equals only itself.
    fn holds(self, found: f64, expected: f64) -> bool {
        if found.is_nan() || expected.is_nan() {
            return found.is_nan() && expected.is_nan();
        }
        if found.is_infinite() || expected.is_infinite() {
            return found == expected;
        }
        (found - expected).abs() <= self.absolute + self.relative * expected.abs()
    }
}

impl FromStr for Bound {
    type Err = DataError;

    /// Reads `REL` or `REL,ABS`.
    fn from_str(text: &str) -> Result<Self, DataError> {
        let number = |text: &str| {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
            number.ok_or_else(|| {
                DataError::new(format!(
                    "found `{text}`, expected a number from 0 on, as in 1e-3 or 1e-3,1e-6"
                ))
            })
        };
        let (relative, absolute) = text.split_once(',').unwrap_or((text, "0"));
        Ok(Self { relative: number(relative)?, absolute: number(absolute)? })
    }
}

/// Compares a result with `expected`, in the NumPy type that represents its format exactly. Without a tolerance it
/// compares bits: -0 is not 0, and a NaN equals only the same NaN. With one, NaN equals NaN.
///
/// # Errors
/// How they differ.
pub fn compare(result: &Elements<'_>, expected: &Array, tolerance: Tolerance) -> Result<(), Mismatch> {
    let &Elements { dtype, shape, bytes: actual, defined } = result;
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
        let [found, expected] = [found, expected].map(|bytes| file_type.value(bytes).as_f64());
        let bound = tolerance.bound.filter(|_| dtype.is_float());
        near(dtype, from_f64(dtype, found), from_f64(dtype, expected), tolerance.ulps)
            || bound.is_some_and(|bound| bound.holds(found, expected))
    };
    let is_defined = |at: usize| defined.is_none_or(|defined| defined.get(at) != Some(&false));
    let differs = |(at, (found, expected)): &(usize, (&[u8], &[u8]))| {
        found != expected && is_defined(*at) && !alike(found, expected)
    };
    let mut differences = pairs().filter(differs);
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
