//! Data for the comparison of two kernels.

use visa_numerics::{Bits, DType, from_number, store};

/// The bytes of an array. The numbers are small integers: sums of their products have no rounding, so that two results
/// cannot differ by the order of a sum. `seed` tells arrays apart.
pub(crate) fn small_integers(dtype: DType, count: u64, seed: u64) -> Option<Vec<u8>> {
    let bytes = usize::try_from(dtype.bytes(count)?).ok()?;
    let mut data = vec![0; bytes];
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let (least, most) = match dtype.range() {
        Some((least, _)) => (if least < 0 { -3 } else { 0 }, 3),
        None => (-3, 3),
    };
    for at in 0..usize::try_from(count).ok()? {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let number = least + (state % (most - least + 1) as u64) as i64;
        let bits: Bits = from_number(dtype, number as f64)?;
        store(dtype, &mut data, at, bits);
    }
    Some(data)
}
