//! Random numbers.

/// SplitMix64: small, the same everywhere, and good from any seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Number `case` of a seed: cases are apart, so that each can be run alone.
    #[must_use]
    pub fn of_case(seed: u64, case: u64) -> Self {
        Self(seed.wrapping_shl(32) ^ case)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// 32 bits.
    pub fn word(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.under(bound as u64) as usize
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub fn under(&mut self, bound: u64) -> u64 {
        self.bits() % bound.max(1)
    }

    /// One of some items, of which there is at least one.
    pub fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// One of some items; `None` of none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Puts items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}
