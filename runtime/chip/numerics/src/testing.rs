//! Operands for tests: a seeded stream of values, those where rules change among them.

use crate::edges::F32;

/// Operands of tests: the same values in every run.
pub(crate) struct Random(visa_support::Random);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(visa_support::Random(seed))
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.0.word()
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
