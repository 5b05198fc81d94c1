//! f4e2m1, f8e4m3, f8e5m2 and f16: the floats narrower than f32 that have subnormals.
//!
//! Their subnormals are values like any other, since each is a normal f32: they widen exactly, and narrowing
//! rounds to them.

use crate::bits::Bits;
use crate::float::{F32_NAN, flush};

/// Rounding of a number halfway between two neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ties {
    /// Takes the neighbour whose last bit is 0.
    Even,
    /// Takes the neighbour of larger magnitude.
    Away,
}

/// A narrow float: sign, exponent and fraction, in this order from the top.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Minifloat {
    /// Bits with the sign.
    bits: u32,
    /// Bits of the fraction.
    fraction: u32,
    /// Difference between an exponent field of a normal number and the exponent.
    bias: i32,
    /// The largest finite magnitude.
    largest: Bits,
    /// The result of narrowing a larger magnitude, infinity included: infinity, or the largest finite number if there
    /// is no infinity.
    overflow: Bits,
    /// The result of narrowing a NaN: a NaN, or the largest number if there is none.
    nan: Bits,
    ties: Ties,
}

/// 2 exponent bits, up to 6; no infinity and no NaN.
pub(crate) const F4E2M1: Minifloat =
    Minifloat { bits: 4, fraction: 1, bias: 1, largest: 0x7, overflow: 0x7, nan: 0x7, ties: Ties::Even };

/// 4 exponent bits, up to 448; no infinity, and one NaN a sign.
pub(crate) const F8E4M3: Minifloat =
    Minifloat { bits: 8, fraction: 3, bias: 7, largest: 0x7e, overflow: 0x7e, nan: 0x7f, ties: Ties::Even };

/// 5 exponent bits, up to 57344.
pub(crate) const F8E5M2: Minifloat =
    Minifloat { bits: 8, fraction: 2, bias: 15, largest: 0x7b, overflow: 0x7c, nan: 0x7e, ties: Ties::Away };

/// IEEE 754 binary16, up to 65504.
pub(crate) const F16: Minifloat = Minifloat {
    bits: 16,
    fraction: 10,
    bias: 15,
    largest: 0x7bff,
    overflow: 0x7c00,
    nan: 0x7e00,
    ties: Ties::Even,
};

const F32_FRACTION: u32 = 23;
const F32_BIAS: i32 = 127;

impl Minifloat {
    const fn sign(&self) -> Bits {
        1 << (self.bits - 1)
    }

    /// The f32 of the same value; every NaN becomes the canonical one.
    #[inline(always)]
    pub(crate) fn widen(&self, bits: Bits) -> f32 {
        let magnitude = bits & (self.sign() - 1);
        // The fields are where f32 has them, but for the bias, which a factor makes up for: a subnormal of this
        // format is then a subnormal of f32, and the product is exact.
        let rebias = f32::from_bits(((2 * F32_BIAS - self.bias) as u32) << F32_FRACTION);
        let finite = f32::from_bits(magnitude << (F32_FRACTION - self.fraction)) * rebias;
        let value = match magnitude {
            _ if magnitude <= self.largest => finite,
            _ if magnitude == self.overflow => f32::INFINITY,
            _ => return f32::from_bits(F32_NAN),
        };
        if bits & self.sign() == 0 { value } else { -value }
    }

    /// The nearest value of this format; a subnormal f32 counts as the zero of its sign.
    #[inline(always)]
    pub(crate) fn narrow(&self, x: f32) -> Bits {
        if x.is_nan() {
            return self.nan;
        }
        let x = flush(x).to_bits();
        let sign = (x >> 31) * self.sign();
        if x << 1 == 0 {
            return sign;
        }
        let exponent = (x >> F32_FRACTION & 0xff).cast_signed() - F32_BIAS;
        let significand = x & ((1 << F32_FRACTION) - 1) | 1 << F32_FRACTION;
        // Below the least normal exponent the step between neighbours stays as it is there.
        let step = exponent.max(1 - self.bias);
        // Past all bits of the significand the kept bits and their first dropped bit are 0.
        let dropped = (F32_FRACTION - self.fraction + (step - exponent) as u32).min(F32_FRACTION + 2);
        let (kept, rest, half) =
            (significand >> dropped, significand & ((1 << dropped) - 1), 1 << (dropped - 1));
        let up = match self.ties {
            Ties::Even => rest > half || (rest == half && kept & 1 == 1),
            Ties::Away => rest >= half,
        };
        // The leading bit of `kept` counts one exponent up from a subnormal, and a carry of the rounding another one.
        let magnitude = ((step + self.bias - 1) as u32) << self.fraction;
        let magnitude = magnitude + kept + u32::from(up);
        sign | if magnitude > self.largest { self.overflow } else { magnitude }
    }
}

/// f4e2m1 (low 4 bits) to f32: exact.
pub fn f4e2m1_to_f32(bits: Bits) -> f32 {
    F4E2M1.widen(bits)
}

/// f8e4m3 (low 8 bits) to f32: exact, NaN canonical.
pub fn f8e4m3_to_f32(bits: Bits) -> f32 {
    F8E4M3.widen(bits)
}

/// f8e5m2 (low 8 bits) to f32: exact, NaN canonical.
pub fn f8e5m2_to_f32(bits: Bits) -> f32 {
    F8E5M2.widen(bits)
}

/// f16 (low 16 bits) to f32: exact, subnormals included, NaN canonical.
pub fn f16_to_f32(bits: Bits) -> f32 {
    F16.widen(bits)
}

/// f32 to f4e2m1: to the nearest, ties to even; past the largest number, infinity included, +-6; NaN becomes 6.
pub fn f32_to_f4e2m1(x: f32) -> Bits {
    F4E2M1.narrow(x)
}

/// f32 to f8e4m3: to the nearest, ties to even; past the largest number, infinity included, +-448; NaN 0x7f.
pub fn f32_to_f8e4m3(x: f32) -> Bits {
    F8E4M3.narrow(x)
}

/// f32 to f8e5m2: to the nearest, ties away from zero; past the largest number, infinity; NaN 0x7e.
pub fn f32_to_f8e5m2(x: f32) -> Bits {
    F8E5M2.narrow(x)
}

/// f32 to f16: to the nearest, ties to even; past the largest number, infinity; NaN 0x7e00.
pub fn f32_to_f16(x: f32) -> Bits {
    F16.narrow(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges;
    use crate::testing::Random;

    const ALL: [Minifloat; 4] = [F8E4M3, F8E5M2, F16, F4E2M1];

    /// The finite magnitudes of a format in ascending order, from its definition: powers of two and fractions in f64.
    fn magnitudes(exponent_bits: u32, fraction_bits: u32, bias: i32, count: usize) -> Vec<f64> {
        let mut values = Vec::new();
        for exponent in 0..1 << exponent_bits {
            for fraction in 0..1 << fraction_bits {
                let fraction = f64::from(fraction) / f64::from(1 << fraction_bits);
                values.push(match exponent {
                    0 => fraction * 2_f64.powi(1 - bias),
                    _ => (1.0 + fraction) * 2_f64.powi(exponent - bias),
                });
            }
        }
        values.truncate(count);
        values
    }

    /// The values of each format's finite codes: 448, 57344 and 65504 are the last.
    fn tables() -> [Vec<f64>; 4] {
        let tables = [
            magnitudes(4, 3, 7, 0x7f),
            magnitudes(5, 2, 15, 0x7c),
            magnitudes(5, 10, 15, 0x7c00),
            magnitudes(2, 1, 1, 8),
        ];
        assert_eq!(tables[3], [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
        assert_eq!([448.0, 57344.0, 65504.0], [0, 1, 2].map(|at| *tables[at].last().unwrap()));
        tables
    }

    #[test]
    fn widening_all_patterns() {
        for (format, table) in ALL.iter().zip(tables()) {
            for code in 0..1_u32 << format.bits {
                let (negative, magnitude) = (code >= format.sign(), code % format.sign());
                let sign = if negative { -1.0 } else { 1.0 };
                let expected = match table.get(magnitude as usize) {
                    Some(&value) => (sign * value) as f32,
                    None if format.bits != 8 || format.fraction != 3 => match magnitude {
                        0x7c | 0x7c00 => sign as f32 * f32::INFINITY,
                        _ => f32::from_bits(0x7fc0_0000),
                    },
                    None => f32::from_bits(0x7fc0_0000),
                };
                assert_eq!(format.widen(code).to_bits(), expected.to_bits(), "{format:?} {code:#x}");
            }
        }
    }

    /// The nearest code by distances in f64, all of which are exact.
    fn nearest(table: &[f64], x: f32, overflow: usize, ties: Ties) -> usize {
        let x = f64::from(x.abs());
        let step = table[table.len() - 1] - table[table.len() - 2];
        // Past the end the grid goes on by one step.
        let value = |code: usize| table.get(code).copied().unwrap_or(table[table.len() - 1] + step);
        let above = (1..=table.len()).find(|&code| value(code) > x).unwrap_or(table.len());
        let (down, up) = (x - value(above - 1), value(above) - x);
        let code = match (down < up, down == up, ties) {
            (true, _, _) => above - 1,
            (false, true, Ties::Even) => above - 1 + (above - 1) % 2,
            (false, true, Ties::Away) | (false, false, _) => above,
        };
        if code < table.len() { code } else { overflow }
    }

    /// Every number halfway between two neighbours, its two neighbours in f32, every value, and any others.
    fn samples(table: &[f64]) -> Vec<f32> {
        let mut random = Random::new(4);
        let ends = table.last().map(|last| (*last, 2.0 * last));
        let pairs = table.windows(2).map(|pair| (pair[0], pair[1])).chain(ends);
        let halves = pairs.map(|(a, b)| (f64::midpoint(a, b)) as f32);
        let past = [464.0, 480.0, 61440.0, 65519.0, 65520.0, 65536.0, 1e9].map(|x: f32| x);
        let mut samples: Vec<f32> =
            halves.chain(past).flat_map(|x| [x.next_down(), x, x.next_up()]).collect();
        samples.extend(table.iter().map(|&x| x as f32));
        samples.extend(edges::F32.map(f32::from_bits));
        samples.extend((0..20_000).map(|_| random.any_f32()));
        samples.extend((0..20_000).map(|_| random.moderate_f32()));
        samples.iter().flat_map(|&x| [x, -x]).collect()
    }

    #[test]
    fn narrowing_takes_the_nearest() {
        let rules = [
            (0x7e, 0x7f, Ties::Even),
            (0x7c, 0x7e, Ties::Away),
            (0x7c00, 0x7e00, Ties::Even),
            (0x7, 0x7, Ties::Even),
        ];
        for ((format, table), (overflow, nan, ties)) in ALL.iter().zip(tables()).zip(rules) {
            // Binary search would do; the table of f16 has 31744 entries, so only some of its samples are taken.
            let stride = table.len() / 100 + 1;
            for x in samples(&table).into_iter().step_by(stride) {
                let expected = match x {
                    _ if x.is_nan() => nan,
                    _ if x.is_subnormal() => u32::from(x.is_sign_negative()) * format.sign(),
                    _ => {
                        u32::from(x.is_sign_negative()) * format.sign()
                            + nearest(&table, x, overflow, ties) as u32
                    }
                };
                assert_eq!(format.narrow(x), expected, "{x:e} to {format:?}");
            }
        }
    }

    #[test]
    fn narrowing_to_f16_agrees_with_the_half_crate() {
        for x in samples(&tables()[2]) {
            let expected = if x.is_nan() { 0x7e00 } else { u32::from(half::f16::from_f32(x).to_bits()) };
            assert_eq!(F16.narrow(x), expected, "{x:e}");
        }
    }

    /// Every value narrows back to its own code.
    #[test]
    fn widening_loses_nothing() {
        for format in ALL {
            for code in 0..1_u32 << format.bits {
                let value = format.widen(code);
                let expected = if value.is_nan() { format.nan } else { code };
                assert_eq!(format.narrow(value), expected, "{format:?} {code:#x}");
            }
        }
    }

    #[test]
    fn by_hand() {
        for (x, f8e4m3, f8e5m2, f16) in [
            (1.0_f32, 0x38, 0x3c, 0x3c00),
            (-1.5, 0xbc, 0xbe, 0xbe00),
            (1.125, 0x39, 0x3d, 0x3c80), // e5m2: a tie between 1 and 1.25, away from zero
            (1.0625, 0x38, 0x3c, 0x3c40), // e4m3: a tie between 1 and 1.125, to even
            (1.1875, 0x3a, 0x3d, 0x3cc0), // e4m3: a tie between 1.125 and 1.25, to even
            (448.0, 0x7e, 0x5f, 0x5f00), // e4m3: the largest
            (1000.0, 0x7e, 0x64, 0x63d0), // e4m3: past it; e5m2: 896 is 104 away, 1024 24
            (61440.0, 0x7e, 0x7c, 0x7b80), // e5m2: the tie between the largest and infinity
            (61439.0, 0x7e, 0x7b, 0x7b80), // f16: 61440 is the nearest multiple of 32
            (65519.0, 0x7e, 0x7c, 0x7bff), // f16: just below the tie with infinity
            (65520.0, 0x7e, 0x7c, 0x7c00), // f16: the tie, to even
            (f32::NEG_INFINITY, 0xfe, 0xfc, 0xfc00),
            (f32::NAN, 0x7f, 0x7e, 0x7e00),
            (0.001_953_125, 0x01, 0x18, 0x1800), // 2^-9: the smallest subnormal of e4m3
            (0.000_976_562_5, 0x00, 0x14, 0x1400), // 2^-10: its half, a tie to even 0
            (7.629_394_5e-6, 0x00, 0x01, 0x0080), // 2^-17: e5m2: half the smallest, away from zero
            (5.960_464_5e-8, 0x00, 0x00, 0x0001), // 2^-24: the smallest subnormal of f16
            (2.980_232_2e-8, 0x00, 0x00, 0x0000), // 2^-25: its half, to even
            (-0.0, 0x80, 0x80, 0x8000),
            (-1e-40, 0x80, 0x80, 0x8000),
        ] {
            let found = (f32_to_f8e4m3(x), f32_to_f8e5m2(x), f32_to_f16(x));
            assert_eq!(found, (f8e4m3, f8e5m2, f16), "{x:e}");
        }
        for (x, code) in [
            (0.25, 0x0), // a tie between 0 and 0.5, to even
            (0.26, 0x1),
            (0.75, 0x2),  // a tie between 0.5 and 1, to even
            (-1.25, 0xa), // a tie between -1 and -1.5, to even
            (5.0, 0x6),   // a tie between 4 and 6, to even
            (-5.01, 0xf),
            (7.0, 0x7), // past the largest
            (f32::NEG_INFINITY, 0xf),
            (-f32::NAN, 0x7),
            (-0.0, 0x8),
        ] {
            assert_eq!(f32_to_f4e2m1(x), code, "{x:e}");
        }
        assert_eq!(f8e4m3_to_f32(0xff).to_bits(), F32_NAN);
        assert_eq!(f8e4m3_to_f32(0x81), -(2_f32.powi(-9)));
        assert_eq!(f8e5m2_to_f32(0x01), 2_f32.powi(-16));
        assert_eq!(f8e5m2_to_f32(0xfc), f32::NEG_INFINITY);
        assert_eq!(f16_to_f32(0x8001), -(2_f32.powi(-24)));
    }
}
