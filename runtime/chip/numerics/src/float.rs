//! f32 and bf16 arithmetic as RNGD does it: no subnormals, one NaN.
//!
//! Every function here is a chain of selects without branches, so that loops over them vectorise.

use crate::bits::Bits;

/// The bits of the only NaN that f32 arithmetic gives.
pub const F32_NAN: Bits = 0x7fc0_0000;
/// The bits of the only NaN that a conversion to bf16 gives.
pub const BF16_NAN: Bits = 0x7fc0;

const SIGN: u32 = 0x8000_0000;
const EXPONENT: u32 = 0x7f80_0000;

/// Replaces a subnormal by the zero of its sign.
#[inline(always)]
pub fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    let keep = if bits & EXPONENT == 0 { SIGN } else { u32::MAX };
    f32::from_bits(bits & keep)
}

/// Replaces any NaN by [`F32_NAN`].
#[inline(always)]
pub fn canonical(x: f32) -> f32 {
    if x.is_nan() { f32::from_bits(F32_NAN) } else { x }
}

/// `a + b`: operands flushed, sum rounded to nearest even, then flushed, NaN canonical.
#[inline(always)]
pub fn add(a: f32, b: f32) -> f32 {
    canonical(flush(flush(a) + flush(b)))
}

/// `a * b`: operands flushed, product rounded to nearest even, then flushed, NaN canonical.
///
/// Rounding comes first: a product that rounds up to the smallest normal number is kept.
#[inline(always)]
pub fn mul(a: f32, b: f32) -> f32 {
    canonical(flush(flush(a) * flush(b)))
}

/// f32 to bf16 (low 16 bits): round to nearest even, overflow to infinity, subnormal to zero, NaN canonical.
///
/// bf16 has the exponents of f32, so only a subnormal operand could give a subnormal result.
#[inline(always)]
pub fn f32_to_bf16(x: f32) -> Bits {
    let rounded = nearest_bf16(flush(x).to_bits());
    if x.is_nan() { BF16_NAN } else { rounded }
}

/// f64 to bf16 (low 16 bits): rounded once to nearest even, subnormals of bf16 included; then these flush, overflow
/// gives infinity, and NaN becomes canonical.
///
/// Rounding comes first: a number that rounds up to the smallest normal number is kept, as in [`mul`].
pub(crate) fn f64_to_bf16(x: f64) -> Bits {
    if x.is_nan() {
        return BF16_NAN;
    }
    let rounded = nearest_bf16(f64_to_odd_f32(x).to_bits());
    if widen_bf16(rounded).to_bits() & EXPONENT == 0 { rounded & (SIGN >> 16) } else { rounded }
}

/// The upper half of the bits of an f32 that is no NaN, rounded to nearest even.
#[inline(always)]
fn nearest_bf16(bits: u32) -> Bits {
    // Just under half a unit, plus one where the kept part is odd: a tie then carries only into odd neighbours.
    bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16
}

/// bf16 (low 16 bits) to f32: exact, but for subnormals, which flush, and NaN, which becomes canonical.
#[inline(always)]
pub fn bf16_to_f32(bits: Bits) -> f32 {
    canonical(flush(widen_bf16(bits)))
}

/// The f32 that has the same value as a bf16 (low 16 bits), subnormals and NaN payloads included.
#[inline(always)]
pub fn widen_bf16(bits: Bits) -> f32 {
    f32::from_bits(bits << 16)
}

/// `x` in f32 rounded to odd: of the two neighbours of an inexact value the one with an odd significand. Rounding that
/// to a format of at least two bits less equals rounding `x` itself (Boldo and Melquiond 2008), whereas two roundings
/// to nearest can be off by one.
pub(crate) fn f64_to_odd_f32(x: f64) -> f32 {
    let nearest = x as f32;
    let bits = nearest.to_bits();
    if x.is_nan() || f64::from(nearest) == x || bits & 1 == 1 {
        return nearest;
    }
    let below = f64::from(nearest).abs() < x.abs();
    f32::from_bits(if below { bits + 1 } else { bits - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges;

    /// 1 and its neighbours have even and odd significands. 1 + 2^-8 is a tie of bf16: a little less or more must
    /// not become it.
    #[test]
    fn odd_neighbours_by_hand() {
        let odd = |x: f64| f64_to_odd_f32(x).to_bits();
        let small = 2.0_f64.powi(-40);
        assert_eq!(odd(1.0), 0x3f80_0000);
        assert_eq!((odd(1.0 - small), odd(1.0 + small)), (0x3f7f_ffff, 0x3f80_0001));
        assert_eq!((odd(-1.0 - small), odd(-1.0 + small)), (0xbf80_0001, 0xbf7f_ffff));
        // The nearest one is odd already.
        let next = 1.0 + 2.0_f64.powi(-23);
        assert_eq!((odd(next - small), odd(next + small)), (0x3f80_0001, 0x3f80_0001));
        let tie = 1.0 + 2.0_f64.powi(-8);
        assert_eq!((odd(tie - small), odd(tie), odd(tie + small)), (0x3f80_7fff, 0x3f80_8000, 0x3f80_8001));
        assert_eq!((odd(1e300), odd(f64::INFINITY)), (0x7f7f_ffff, 0x7f80_0000));
    }

    /// Low halves around the tie, and the two ends.
    const LOW_HALVES: [u32; 8] = [0, 1, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff];

    fn bits_of(f: fn(f32, f32) -> f32, a: u32, b: u32) -> u32 {
        f(f32::from_bits(a), f32::from_bits(b)).to_bits()
    }

    #[test]
    fn flush_at_the_smallest_normal() {
        for (bits, expected) in [
            (0x0080_0000, 0x0080_0000),
            (0x007f_ffff, 0),
            (0x0000_0001, 0),
            (0x8080_0000, 0x8080_0000),
            (0x807f_ffff, 0x8000_0000),
            (0x8000_0000, 0x8000_0000),
            (0x7f80_0000, 0x7f80_0000),
            (0x7f80_0001, 0x7f80_0001),
        ] {
            assert_eq!(flush(f32::from_bits(bits)).to_bits(), expected, "{bits:#x}");
        }
    }

    #[test]
    fn narrowing_agrees_with_the_half_crate_for_normal_numbers() {
        for upper in 0..=0xffff_u32 {
            for low in LOW_HALVES {
                let bits = upper << 16 | low;
                let x = f32::from_bits(bits);
                let expected = if x.is_nan() {
                    0x7fc0
                } else if x.is_subnormal() {
                    (bits >> 16) & 0x8000
                } else {
                    u32::from(half::bf16::from_f32(x).to_bits())
                };
                assert_eq!(f32_to_bf16(x), expected, "{bits:#010x}");
            }
        }
    }

    /// The oracle chooses the nearer neighbour in f64, where both distances are exact.
    #[test]
    fn narrowing_takes_the_nearest_and_the_even_one_in_a_tie() {
        for upper in (0x0080..0x7f7f_u32).chain(0x8080..0xff7f) {
            for low in LOW_HALVES {
                let x = f32::from_bits(upper << 16 | low);
                let value = |bits: u32| f64::from(f32::from_bits(bits << 16));
                let below = (f64::from(x) - value(upper)).abs();
                let above = (value(upper + 1) - f64::from(x)).abs();
                let up = above < below || (above == below && upper % 2 == 1);
                assert_eq!(f32_to_bf16(x), upper + u32::from(up), "{upper:#x} {low:#x}");
            }
        }
    }

    #[test]
    fn narrowing_by_hand() {
        for (bits, expected) in [
            (0x3f80_8000, 0x3f80), // 1 + 2^-8: a tie, down to even
            (0x3f81_8000, 0x3f82), // 1 + 3 * 2^-8: a tie, up to even
            (0x7f7f_8000, 0x7f80), // halfway past the largest bf16: infinity
            (0x7f7f_7fff, 0x7f7f), // just below it: stays finite
            (0xff7f_ffff, 0xff80), // the most negative f32: minus infinity
            (0x007f_ffff, 0x0000), // the largest subnormal: zero, not the smallest normal
            (0x807f_ffff, 0x8000),
            (0x7f80_0001, 0x7fc0), // a NaN whose payload is all in the low half
            (0xffc0_0000, 0x7fc0), // a negative NaN
        ] {
            assert_eq!(f32_to_bf16(f32::from_bits(bits)), expected, "{bits:#010x}");
        }
    }

    #[test]
    fn widening_all_bf16() {
        for bits in 0..=0xffff_u32 {
            let value = half::bf16::from_bits(bits as u16);
            let expected = match (value.is_nan(), bits & 0x7f80 == 0) {
                (true, _) => 0x7fc0_0000,
                (false, true) => (bits & 0x8000) << 16,
                (false, false) => value.to_f32().to_bits(),
            };
            assert_eq!(bf16_to_f32(bits).to_bits(), expected, "{bits:#x}");
            assert_eq!(widen_bf16(bits).to_bits(), bits << 16);
        }
    }

    #[test]
    fn sums_by_hand() {
        assert_eq!(bits_of(add, 0x3f80_0000, 0x3f80_0000), 0x4000_0000);
        // 1.5 * min - min = min / 2 is subnormal: zero of its sign.
        assert_eq!(bits_of(add, 0x00c0_0000, 0x8080_0000), 0);
        assert_eq!(bits_of(add, 0x80c0_0000, 0x0080_0000), 0x8000_0000);
        // Two subnormals whose IEEE sum is normal: both operands flush first.
        assert_eq!(bits_of(add, 0x0040_0000, 0x0040_0000), 0);
        assert_eq!(bits_of(add, 0x8000_0000, 0x8000_0001), 0x8000_0000);
        assert_eq!(bits_of(add, 0x0000_0000, 0x8000_0000), 0);
        // Infinity minus infinity is the canonical NaN, which x86 would give a sign.
        assert_eq!(bits_of(add, 0x7f80_0000, 0xff80_0000), F32_NAN);
        assert_eq!(bits_of(add, 0xffff_ffff, 0x3f80_0000), F32_NAN);
    }

    #[test]
    fn products_by_hand() {
        assert_eq!(bits_of(mul, 0x4040_0000, 0xc000_0000), 0xc0c0_0000); // 3 * -2 = -6
        assert_eq!(bits_of(mul, 0x0080_0000, 0x3f00_0000), 0); // min * 0.5
        assert_eq!(bits_of(mul, 0x8080_0000, 0x3f00_0000), 0x8000_0000);
        assert_eq!(bits_of(mul, 0x007f_ffff, 0x7f00_0000), 0); // subnormal * 2^127
        // (1 - 2^-24) * min is a tie between min and its lower neighbour, and min is the even one: kept.
        assert_eq!(bits_of(mul, 0x3f7f_ffff, 0x0080_0000), 0x0080_0000);
        assert_eq!(bits_of(mul, 0x3f7f_fffe, 0x0080_0000), 0);
        assert_eq!(bits_of(mul, 0x0000_0001, 0x7f80_0000), F32_NAN); // 0 * infinity
        assert_eq!(bits_of(mul, 0x7f00_0000, 0xc080_0000), 0xff80_0000); // 2^127 * -4
    }

    /// The oracle works in f64, where a sum or product of two f32 is rounded innocuously (53 >= 2 * 24 + 2 bits).
    #[test]
    fn arithmetic_agrees_with_f64() {
        let flushed = |bits: u32| match bits & 0x7f80_0000 {
            0 => f32::from_bits(bits & 0x8000_0000),
            _ => f32::from_bits(bits),
        };
        let narrow = |x: f64| match x as f32 {
            y if y.is_nan() => 0x7fc0_0000,
            y => flushed(y.to_bits()).to_bits(),
        };
        for a in edges::F32 {
            for b in edges::F32 {
                let (x, y) = (f64::from(flushed(a)), f64::from(flushed(b)));
                assert_eq!(bits_of(add, a, b), narrow(x + y), "{a:#x} + {b:#x}");
                assert_eq!(bits_of(mul, a, b), narrow(x * y), "{a:#x} * {b:#x}");
            }
        }
    }
}
