//! The hash of the maps on the path of every operation: short keys, never iterated, so that speed is all that counts.

use std::hash::{BuildHasherDefault, Hasher};

/// Builds [`FastHasher`]s.
pub type Fast = BuildHasherDefault<FastHasher>;

/// Multiply and rotate, eight bytes a step (the Fx hash). Not for maps whose order anybody sees.
#[derive(Default)]
pub struct FastHasher(u64);

/// 2^64 divided by the golden ratio, odd.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for FastHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.write_u64(chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
        for &byte in chunks.remainder() {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(FACTOR);
    }

    fn write_i64(&mut self, value: i64) {
        self.write_u64(value.cast_unsigned());
    }

    fn finish(&self) -> u64 {
        // The table looks at the low bits too, which multiplication alone leaves poor.
        self.0 ^ self.0 >> 32
    }
}
