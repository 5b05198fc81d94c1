//! The maximum that the Reducer takes in place of a sum (book 19: max mode; docs/numerics.md).

use crate::float::canonical;

/// The greater of two numbers; NaN if either is, and +0.0 of the two zeros.
#[inline]
pub fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        return canonical(f32::NAN);
    }
    // Of equal numbers only the zeros differ: the sign bits of both, or none.
    if a == b { f32::from_bits(a.to_bits() & b.to_bits()) } else { a.max(b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges;

    #[test]
    fn the_order_does_not_matter() {
        let numbers = edges::F32.map(|bits| canonical(f32::from_bits(bits)));
        for a in numbers {
            for b in numbers {
                assert_eq!(maximum(a, b).to_bits(), maximum(b, a).to_bits(), "{a} {b}");
                for c in numbers {
                    let greatest = maximum(maximum(a, b), c);
                    assert_eq!(greatest.to_bits(), maximum(a, maximum(b, c)).to_bits(), "{a} {b} {c}");
                    assert!(greatest.is_nan() || [a, b, c].iter().all(|&x| x <= greatest));
                }
            }
        }
    }

    #[test]
    fn of_numbers_zeros_and_nan() {
        assert_eq!(maximum(-1.0, 2.0), 2.0);
        assert_eq!(maximum(f32::NEG_INFINITY, -3.0), -3.0);
        for (a, b, greater) in
            [(-0.0, 0.0, 0.0_f32), (0.0, -0.0, 0.0), (-0.0, -0.0, -0.0), (-2.0, -2.0, -2.0)]
        {
            assert_eq!(maximum(a, b).to_bits(), greater.to_bits());
        }
        let negative_nan = f32::from_bits(0xffc0_0001);
        for (a, b) in [(f32::NAN, 1.0), (1.0, negative_nan), (negative_nan, f32::INFINITY)] {
            assert_eq!(maximum(a, b).to_bits(), 0x7fc0_0000);
        }
    }
}
