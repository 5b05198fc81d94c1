//! Operands for tests: a seeded stream of values, those where rules change among them.

use crate::edges::F32;

/// A xorshift generator: the same values in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    /// Any bit pattern: an interesting one in a quarter of the draws.
    pub(crate) fn any_f32(&mut self) -> f32 {
        let draw = self.next();
        if draw.is_multiple_of(4) {
            f32::from_bits(F32[draw as usize / 4 % F32.len()])
        } else {
            f32::from_bits(self.next())
        }
    }

    /// A number in [-2, 2), zero now and then.
    pub(crate) fn moderate_f32(&mut self) -> f32 {
        let draw = self.next();
        if draw.is_multiple_of(16) { 0.0 } else { (draw as i32) as f32 / (1_u32 << 30) as f32 }
    }
}
