//! The two number types of a contraction, so that its stages are written once.

use visa_numerics::{DType, KindError, ROWS, Summand, add, canonical, decode_f32, decode_i32, flush, mul};

/// An accumulator's number.
pub(crate) trait Number: Summand + Send + Sync {
    /// Zero padding: `+0.0` or `0`.
    const ZERO: Self;
    /// The start of a sum: it changes nothing that is added to it.
    const IDENTITY: Self;
    /// Its bytes in a stream.
    fn bytes(self) -> [u8; 4];
    /// Replaces `out` by the elements of `bytes`.
    fn decode(dtype: DType, bytes: &[u8], out: &mut Vec<Self>) -> Result<(), KindError>;
    /// A number of a stream.
    fn read(bytes: [u8; 4]) -> Self;
    /// One product.
    fn product(self, other: Self) -> Self;
    /// Returns true if this is a zero that makes the product with `other` a zero. A zero times an infinity or NaN is
    /// NaN.
    fn absorbs(self, other: Self) -> bool;
    /// One sum.
    fn sum(self, other: Self) -> Self;
    /// `sums` and then each of `packets` of a contraction, one after another, lane by lane, for `N` independent sums.
    fn sum_lanes<'a, const N: usize>(
        sums: [[Self; ROWS]; N],
        packets: impl Iterator<Item = [&'a [[u8; 4]; ROWS]; N]>,
    ) -> [[Self; ROWS]; N];
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

    #[inline]
    fn read(bytes: [u8; 4]) -> Self {
        Self::from_le_bytes(bytes)
    }

    #[inline]
    fn product(self, other: Self) -> Self {
        mul(self, other)
    }

    #[inline]
    fn absorbs(self, other: Self) -> bool {
        self == 0.0 && other.is_finite()
    }

    #[inline]
    fn sum(self, other: Self) -> Self {
        add(self, other)
    }

    /// NaN is made canonical at the end only: it stays NaN regardless of later additions. The packets are flushed
    /// already, as are all sums and products.
    #[inline]
    fn sum_lanes<'a, const N: usize>(
        sums: [[Self; ROWS]; N],
        packets: impl Iterator<Item = [&'a [[u8; 4]; ROWS]; N]>,
    ) -> [[Self; ROWS]; N] {
        let mut totals = sums.map(|sums| sums.map(flush));
        for packets in packets {
            for (total, packet) in totals.iter_mut().zip(packets) {
                let lanes = total.iter_mut().zip(packet);
                lanes.for_each(|(total, &bytes)| *total = flush(*total + Self::read(bytes)));
            }
        }
        totals.map(|total| total.map(canonical))
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

    #[inline]
    fn read(bytes: [u8; 4]) -> Self {
        Self::from_le_bytes(bytes)
    }

    #[inline]
    fn product(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }

    #[inline]
    fn absorbs(self, _other: Self) -> bool {
        self == 0
    }

    #[inline]
    fn sum(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn sum_lanes<'a, const N: usize>(
        sums: [[Self; ROWS]; N],
        packets: impl Iterator<Item = [&'a [[u8; 4]; ROWS]; N]>,
    ) -> [[Self; ROWS]; N] {
        let mut totals = sums;
        for packets in packets {
            for (total, packet) in totals.iter_mut().zip(packets) {
                let lanes = total.iter_mut().zip(packet);
                lanes.for_each(|(total, &bytes)| *total = total.wrapping_add(Self::read(bytes)));
            }
        }
        totals
    }
}
