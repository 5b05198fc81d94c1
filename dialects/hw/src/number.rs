//! The two number types of a contraction, so that its stages are written once.

use visa_numerics::{
    DType, KindError, ROWS, add, decode_f32, decode_i32, dot8_f32, dot8_f32_flush_free, dot8_i32, flush_free,
    mul,
};

/// An accumulator's number.
pub(crate) trait Number: Copy + Send + Sync {
    /// Zero padding: `+0.0` or `0`.
    const ZERO: Self;
    /// What a sum starts from: it changes nothing that is added to it.
    const IDENTITY: Self;
    /// Its bytes in a stream.
    fn bytes(self) -> [u8; 4];
    /// Replaces `out` by the elements of `bytes`.
    fn decode(dtype: DType, bytes: &[u8], out: &mut Vec<Self>) -> Result<(), KindError>;
    /// Whether products and sums of these with others of their kind never need a flush.
    fn flush_free(numbers: &[Self]) -> bool;
    /// For each of eight rows the tree's sum of `a[k] * w[k][row]`; `free` if all operands are flush-free.
    fn dot(free: bool, a: &[Self], w: &[[Self; ROWS]], out: &mut [Self; ROWS]);
    /// One product.
    fn product(self, other: Self) -> Self;
    /// One sum.
    fn sum(self, other: Self) -> Self;
}

impl Number for f32 {
    const ZERO: Self = 0.0;
    const IDENTITY: Self = -0.0;

    fn bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }

    fn decode(dtype: DType, bytes: &[u8], out: &mut Vec<Self>) -> Result<(), KindError> {
        decode_f32(dtype, bytes, out)
    }

    fn flush_free(numbers: &[Self]) -> bool {
        flush_free(numbers)
    }

    #[inline]
    fn dot(free: bool, a: &[Self], w: &[[Self; ROWS]], out: &mut [Self; ROWS]) {
        if free { dot8_f32_flush_free(a, w, out) } else { dot8_f32(a, w, out) }
    }

    #[inline]
    fn product(self, other: Self) -> Self {
        mul(self, other)
    }

    #[inline]
    fn sum(self, other: Self) -> Self {
        add(self, other)
    }
}

impl Number for i32 {
    const ZERO: Self = 0;
    const IDENTITY: Self = 0;

    fn bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }

    fn decode(dtype: DType, bytes: &[u8], out: &mut Vec<Self>) -> Result<(), KindError> {
        decode_i32(dtype, bytes, out)
    }

    fn flush_free(_numbers: &[Self]) -> bool {
        true
    }

    #[inline]
    fn dot(_free: bool, a: &[Self], w: &[[Self; ROWS]], out: &mut [Self; ROWS]) {
        dot8_i32(a, w, out);
    }

    #[inline]
    fn product(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }

    #[inline]
    fn sum(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}
