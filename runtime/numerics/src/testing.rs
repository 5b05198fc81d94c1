//! Operands for tests: the values where rules change, and a seeded stream of others.

/// f32 bit patterns on both sides of every rule: zeros, subnormals, the smallest and largest normals, ones with odd
/// and even last bits, infinities, quiet, signalling and negative NaN.
pub(crate) const INTERESTING_F32: [u32; 30] = [
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x8000_0001,
    0x0040_0000,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x0080_0001,
    0x00c0_0000,
    0x0100_0000,
    0x1f80_0000,
    0x2000_0000,
    0x3380_0000,
    0x3f00_0000,
    0x3f7f_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x3fff_ffff,
    0x4b80_0000,
    0xcb80_0001,
    0x7f00_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7f80_0001,
    0xffc1_2345,
];

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
            f32::from_bits(INTERESTING_F32[draw as usize / 4 % INTERESTING_F32.len()])
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
