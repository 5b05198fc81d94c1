//! A result in one line.

use std::fmt;

use visa_numerics::DType;

use super::array::{FileType, Value};
use super::save::file_bytes;

/// Number of values at the start of a summary.
const FIRST: usize = 8;

/// The content of an array, in a line: enough to see at a glance if a result is the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Elements along each axis, outermost first.
    pub shape: Vec<u64>,
    /// The first values, at most 8.
    pub first: Vec<Value>,
    /// Number of elements.
    pub count: usize,
    /// The least value; NaN if any is NaN; `None` for an empty array.
    pub min: Option<Value>,
    /// The greatest value; NaN if any is NaN; `None` for an empty array.
    pub max: Option<Value>,
    /// The mean, summed in f64 in index order.
    pub mean: f64,
    /// CRC-32 (IEEE 802.3) of the array as its NumPy file holds it: `zlib.crc32(x.tobytes())` in Python.
    pub checksum: u32,
}

/// Summarises little-endian elements of `dtype` in C order.
pub fn summary(dtype: DType, shape: &[u64], bytes: &[u8]) -> Summary {
    let (file_type, data) = (FileType::of(dtype), file_bytes(dtype, shape, bytes));
    let values = || data.chunks_exact(file_type.width()).map(|element| file_type.value(element));
    let count = values().len();
    Summary {
        shape: shape.to_vec(),
        first: values().take(FIRST).collect(),
        count,
        min: values().reduce(|a, b| pick(a, b, b.as_f64() < a.as_f64())),
        max: values().reduce(|a, b| pick(a, b, b.as_f64() > a.as_f64())),
        mean: values().map(Value::as_f64).sum::<f64>() / count as f64,
        checksum: crc32(&data),
    }
}

/// `b` if it is better or a NaN; nothing is better than a NaN, so the first one stays.
fn pick(a: Value, b: Value, better: bool) -> Value {
    if better || b.as_f64().is_nan() { b } else { a }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first: Vec<String> = self.first.iter().map(Value::to_string).collect();
        let dots = if self.count > first.len() { ", ..." } else { "" };
        write!(f, "shape {:?}, first [{}{dots}]", self.shape, first.join(", "))?;
        if let (Some(min), Some(max)) = (self.min, self.max) {
            write!(f, ", min {min}, max {max}, mean {}", shown_mean(self.mean))?;
        }
        write!(f, ", crc32 0x{:08x}", self.checksum)
    }
}

/// A mean with the digits of an f32, and with those of a double where an f32 has no fractions.
fn shown_mean(mean: f64) -> Value {
    if mean.abs() < 1.0 / f64::from(f32::EPSILON) { Value::Single(mean as f32) } else { Value::Double(mean) }
}

/// CRC-32/IEEE, reflected, a byte at a time.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut crc, mut bit) = (byte as u32, 0);
            while bit < 8 {
                crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
                bit += 1;
            }
            table[byte] = crc;
            byte += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc, &byte| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::crc32;

    /// The check value that the CRC catalogue gives, and the empty string.
    #[test]
    fn crc32_of_the_check_string() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
        assert_ne!(crc32(b"123456788"), 0xCBF4_3926);
    }
}
