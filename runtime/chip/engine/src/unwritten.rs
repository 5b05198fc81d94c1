//! Content of memory that was not written.

use visa_numerics::DType;

/// The pattern that undefined memory reads as: eight bytes that repeat from address 0. Zeros would leave every sum
/// unchanged, and so hide a missing mask. In each format these are finite odd numbers of large magnitude, of one sign
/// in the first four bytes and of the other in the next four, which do not cancel (docs/numerics.md). They depend on
/// the address alone, so on no order of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwritten([u8; 8]);

impl Unwritten {
    /// In a memory of bytes, and of a stream whose elements have such a format.
    pub const STORED: Self = Self([0x77, 0x77, 0x77, 0x77, 0xf5, 0xf5, 0xf5, 0xf5]);
    /// Where i5 takes a byte and i9 takes two: bytes and pairs that these formats have, as arithmetic on them
    /// expects.
    pub const WIDE: Self = Self([0xf3, 0xff, 0xf3, 0xff, 0xf3, 0xff, 0xf3, 0xff]);

    /// In a memory or stream of elements of `dtype`.
    #[must_use]
    pub fn of(dtype: DType) -> Self {
        if dtype.is_stored() { Self::STORED } else { Self::WIDE }
    }

    /// Fills `out`, which begins at address `at`.
    pub fn fill(self, at: u64, out: &mut [u8]) {
        let word = u64::from_le_bytes(self.0).rotate_right(8 * (at % 8) as u32).to_le_bytes();
        let (words, rest) = out.as_chunks_mut();
        words.fill(word);
        rest.copy_from_slice(&word[..rest.len()]);
    }

    /// Appends the `length` bytes from address `at` to `out`.
    pub fn extend(self, at: u64, length: usize, out: &mut Vec<u8>) {
        let first = out.len();
        out.resize(first + length, 0);
        self.fill(at, &mut out[first..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_numerics::{DTYPES, load, to_f64};

    /// The elements of `dtype` in the first eight bytes.
    fn elements(dtype: DType) -> Vec<f64> {
        let mut bytes = Vec::new();
        Unwritten::of(dtype).extend(0, 8, &mut bytes);
        let bits = dtype.bits() as usize * dtype.wire_scale();
        (0..64 / bits).map(|at| to_f64(dtype, load(dtype, &bytes, at))).collect()
    }

    #[test]
    fn elements_are_finite_numbers_of_their_format_and_none_is_even() {
        for dtype in DTYPES.iter().map(|info| info.dtype) {
            for value in elements(dtype) {
                assert!(value.is_finite() && value != 0.0, "{dtype}: {value}");
                if let Some((least, greatest)) = dtype.range() {
                    assert!(value.rem_euclid(2.0) == 1.0, "{dtype}: {value}");
                    assert!((f64::from(least)..=f64::from(greatest)).contains(&value), "{dtype}: {value}");
                }
            }
        }
    }

    /// Padding is a run of elements that mostly ends at a multiple of eight bytes, or begins at one.
    #[test]
    fn no_short_run_sums_to_zero() {
        // Nothing adds f4e2m1: a table makes another format of it first.
        let added = DTYPES.iter().map(|info| info.dtype).filter(|dtype| *dtype != DType::F4e2m1);
        for dtype in added {
            let eight = elements(dtype);
            for length in 1..=64 {
                let at_an_end = |first: &usize| *first == 0 || (first + length).is_multiple_of(eight.len());
                for first in (0..eight.len()).filter(at_an_end) {
                    let sum: f64 = (first..first + length).map(|at| eight[at % eight.len()]).sum();
                    assert_ne!(sum, 0.0, "{dtype}: {length} from {first}");
                    let wraps = !dtype.is_float() && sum.rem_euclid(2f64.powi(32)) == 0.0;
                    assert!(!wraps, "{dtype}: {length} from {first} wraps to 0");
                }
            }
        }
    }

    #[test]
    fn it_depends_on_the_address_alone() {
        let mut whole = Vec::new();
        Unwritten::STORED.extend(0, 64, &mut whole);
        assert_eq!(whole[2..6], [0x77, 0x77, 0xf5, 0xf5]);
        for at in 0..16 {
            for length in 0..24 {
                let mut part = vec![1];
                Unwritten::STORED.extend(at as u64, length, &mut part);
                assert_eq!((part[0], &part[1..]), (1, &whole[at..at + length]), "{length} bytes from {at}");
            }
        }
    }
}
