//! Conversions between number formats: those of the Fetch and Cast Engines, and those of data files.

use crate::bits::Bits;
use crate::dtype::DType;
use crate::float::{bf16_to_f32, f32_to_bf16, widen_bf16};
use crate::minifloat::{
    f4e2m1_to_f32, f8e4m3_to_f32, f8e5m2_to_f32, f16_to_f32, f32_to_f4e2m1, f32_to_f8e4m3, f32_to_f8e5m2,
    f32_to_f16,
};

/// One conversion that an engine supports.
#[derive(Clone, Copy, Debug)]
pub struct CastRow {
    /// The format before.
    pub from: DType,
    /// The format after.
    pub to: DType,
    /// Converts one element.
    pub apply: fn(Bits) -> Bits,
}

/// The conversions of the Fetch Adapter, those of RNGD-S included: the machine specifies the supported ones (book 08).
pub const FETCH_CASTS: &[CastRow] = &[
    CastRow { from: DType::I4, to: DType::I5, apply: unchanged },
    CastRow { from: DType::I4, to: DType::I9, apply: unchanged },
    CastRow { from: DType::I4, to: DType::I32, apply: unchanged },
    CastRow { from: DType::I8, to: DType::I9, apply: unchanged },
    CastRow { from: DType::I8, to: DType::I32, apply: unchanged },
    CastRow { from: DType::I16, to: DType::I9, apply: wrap_i9 },
    CastRow { from: DType::I16, to: DType::I32, apply: unchanged },
    CastRow { from: DType::F8e4m3, to: DType::Bf16, apply: |bits| f32_to_bf16(f8e4m3_to_f32(bits)) },
    CastRow { from: DType::F8e4m3, to: DType::F32, apply: |bits| f8e4m3_to_f32(bits).to_bits() },
    CastRow { from: DType::F8e5m2, to: DType::Bf16, apply: |bits| f32_to_bf16(f8e5m2_to_f32(bits)) },
    CastRow { from: DType::F8e5m2, to: DType::F32, apply: |bits| f8e5m2_to_f32(bits).to_bits() },
    CastRow { from: DType::F16, to: DType::F32, apply: |bits| f16_to_f32(bits).to_bits() },
    CastRow { from: DType::Bf16, to: DType::F32, apply: |bits| bf16_to_f32(bits).to_bits() },
    CastRow { from: DType::F32, to: DType::Bf16, apply: |bits| f32_to_bf16(f32::from_bits(bits)) },
];

/// The conversions of the Cast Engine (book 26). Integers wrap: the low bits are kept and read as a signed number.
pub const CAST_ENGINE: &[CastRow] = &[
    CastRow { from: DType::I32, to: DType::I4, apply: wrap_i4 },
    CastRow { from: DType::I32, to: DType::I8, apply: wrap_i8 },
    CastRow { from: DType::I32, to: DType::I16, apply: wrap_i16 },
    CastRow { from: DType::F32, to: DType::F8e4m3, apply: |bits| f32_to_f8e4m3(f32::from_bits(bits)) },
    CastRow { from: DType::F32, to: DType::F8e5m2, apply: |bits| f32_to_f8e5m2(f32::from_bits(bits)) },
    CastRow { from: DType::F32, to: DType::F16, apply: |bits| f32_to_f16(f32::from_bits(bits)) },
    CastRow { from: DType::F32, to: DType::Bf16, apply: |bits| f32_to_bf16(f32::from_bits(bits)) },
];

/// Integers are sign-extended already.
fn unchanged(bits: Bits) -> Bits {
    bits
}

fn wrap_i4(bits: Bits) -> Bits {
    DType::I4.wrap(bits.cast_signed()).cast_unsigned()
}

fn wrap_i8(bits: Bits) -> Bits {
    DType::I8.wrap(bits.cast_signed()).cast_unsigned()
}

fn wrap_i9(bits: Bits) -> Bits {
    DType::I9.wrap(bits.cast_signed()).cast_unsigned()
}

fn wrap_i16(bits: Bits) -> Bits {
    DType::I16.wrap(bits.cast_signed()).cast_unsigned()
}

/// The Fetch Adapter's conversion, or `None` where it has none; equal formats need no conversion and have no row.
pub fn fetch_cast(from: DType, to: DType) -> Option<&'static CastRow> {
    find(FETCH_CASTS, from, to)
}

/// The Cast Engine's conversion, or `None` where it has none; equal formats need no conversion and have no row.
pub fn engine_cast(from: DType, to: DType) -> Option<&'static CastRow> {
    find(CAST_ENGINE, from, to)
}

/// The formats that `table` converts `from` into, for the message about an unsupported conversion.
pub fn cast_targets(table: &[CastRow], from: DType) -> impl Iterator<Item = DType> {
    let rows = table.iter().filter(move |row| row.from == from);
    rows.map(|row| row.to)
}

fn find(table: &'static [CastRow], from: DType, to: DType) -> Option<&'static CastRow> {
    table.iter().find(|row| row.from == from && row.to == to)
}

/// A number that comes from outside the machine, as the nearest element of `dtype`.
///
/// Floats: as every narrowing. f32: unchanged, since it is data and not arithmetic. Integers: ties to even, then
/// clamped to the range; NaN gives 0. Files and tables come here with numbers for floats only: integers they take
/// as they are or not at all.
pub fn from_f32(dtype: DType, x: f32) -> Bits {
    match dtype {
        DType::I4 | DType::I5 | DType::I8 | DType::I9 | DType::I16 | DType::I32 | DType::U8 => {
            nearest_integer(dtype, f64::from(x))
        }
        DType::F4e2m1 => f32_to_f4e2m1(x),
        DType::F8e4m3 => f32_to_f8e4m3(x),
        DType::F8e5m2 => f32_to_f8e5m2(x),
        DType::F16 => f32_to_f16(x),
        DType::Bf16 => f32_to_bf16(x),
        DType::F32 => x.to_bits(),
    }
}

/// The nearest number of an integer format: ties to even, then clamped to the range; NaN gives 0.
pub(crate) fn nearest_integer(dtype: DType, x: f64) -> Bits {
    // A float-to-integer `as` clamps and takes NaN to 0.
    let x = x.round_ties_even() as i32;
    dtype.range().map_or(x, |(least, greatest)| x.clamp(least, greatest)).cast_unsigned()
}

/// The exact value of an element, subnormals included; NaN stays NaN.
pub fn to_f64(dtype: DType, bits: Bits) -> f64 {
    match dtype {
        DType::I4 | DType::I5 | DType::I8 | DType::I9 | DType::I16 | DType::I32 | DType::U8 => {
            f64::from(bits.cast_signed())
        }
        DType::F4e2m1 => f64::from(f4e2m1_to_f32(bits)),
        DType::F8e4m3 => f64::from(f8e4m3_to_f32(bits)),
        DType::F8e5m2 => f64::from(f8e5m2_to_f32(bits)),
        DType::F16 => f64::from(f16_to_f32(bits)),
        DType::Bf16 => f64::from(widen_bf16(bits)),
        DType::F32 => f64::from(f32::from_bits(bits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(table: &'static [CastRow], from: DType, to: DType, bits: Bits) -> Bits {
        (find(table, from, to).expect("a supported conversion").apply)(bits)
    }

    /// The tables of books 08 (both machines') and 26: nothing else is supported.
    #[test]
    fn exactly_the_supported_pairs() {
        use DType::{Bf16, F8e4m3, F8e5m2, F16, F32, I4, I5, I8, I9, I16, I32};
        for from in DType::all() {
            for to in DType::all() {
                let fetch = matches!(
                    (from, to),
                    (I4, I5 | I9 | I32)
                        | (I8, I9 | I32)
                        | (I16, I9 | I32)
                        | (F8e4m3 | F8e5m2, Bf16 | F32)
                        | (Bf16 | F16, F32)
                        | (F32, Bf16)
                );
                let cast = matches!((from, to), (I32, I4 | I8 | I16) | (F32, F8e5m2 | F8e4m3 | F16 | Bf16));
                assert_eq!(fetch_cast(from, to).is_some(), fetch, "fetch {from} -> {to}");
                assert_eq!(engine_cast(from, to).is_some(), cast, "cast {from} -> {to}");
            }
        }
    }

    #[test]
    fn targets_for_messages() {
        let targets = |table, from| cast_targets(table, from).collect::<Vec<_>>();
        assert_eq!(targets(FETCH_CASTS, DType::Bf16), [DType::F32]);
        assert_eq!(targets(FETCH_CASTS, DType::I32), []);
        assert_eq!(targets(CAST_ENGINE, DType::I32), [DType::I4, DType::I8, DType::I16]);
        assert_eq!(targets(CAST_ENGINE, DType::Bf16), []);
    }

    /// A remainder in i64 rather than shifts.
    fn wrapped(value: i32, bits: u32) -> i64 {
        let (value, modulus) = (i64::from(value), 1_i64 << bits);
        let low = value.rem_euclid(modulus);
        if low >= modulus / 2 { low - modulus } else { low }
    }

    /// Every number of every integer source of up to 16 bits.
    #[test]
    fn fetched_integers() {
        for row in FETCH_CASTS.iter().filter(|row| !row.from.is_float()) {
            let (least, greatest) = row.from.range().expect("an integer");
            for value in least..=greatest {
                let expected = if row.to == DType::I9 { wrapped(value, 9) } else { i64::from(value) };
                let found = (row.apply)(value as u32).cast_signed();
                assert_eq!(i64::from(found), expected, "{value} from {} to {}", row.from, row.to);
            }
        }
    }

    #[test]
    fn narrowed_integers_wrap() {
        let near = |center: i64| (center - 300..=center + 300).filter_map(|value| i32::try_from(value).ok());
        let grid = (0..4096_i64).map(|step| (i64::from(i32::MIN) + step * 1_048_573) as i32);
        let ends = [i64::from(i32::MIN), -65536, -32768, 0, 32768, 65536, i64::from(i32::MAX)];
        let samples: Vec<i32> = ends.into_iter().flat_map(near).chain(grid).collect();
        for (to, bits) in [(DType::I4, 4), (DType::I8, 8), (DType::I16, 16)] {
            for &value in &samples {
                let found = apply(CAST_ENGINE, DType::I32, to, value as u32).cast_signed();
                assert_eq!(i64::from(found), wrapped(value, bits), "{value} to {to}");
            }
        }
    }

    #[test]
    fn wraps_by_hand() {
        for (value, i4, i8, i16) in [
            (7, 7, 7, 7),
            (8, -8, 8, 8),
            (-9, 7, -9, -9),
            (127, -1, 127, 127),
            (128, 0, -128, 128),
            (-129, -1, 127, -129),
            (32768, 0, 0, -32768),
            (i32::MAX, -1, -1, -1),
            (i32::MIN, 0, 0, 0),
        ] {
            for (to, expected) in [(DType::I4, i4), (DType::I8, i8), (DType::I16, i16)] {
                let found = apply(CAST_ENGINE, DType::I32, to, value as u32);
                assert_eq!(found.cast_signed(), expected, "{value} to {to}");
            }
        }
        for (value, expected) in [(255, 255), (256, -256), (-257, 255), (32767, -1)] {
            let found = apply(FETCH_CASTS, DType::I16, DType::I9, value as u32);
            assert_eq!(found.cast_signed(), expected, "{value} to i9");
        }
    }

    /// Every pattern of the 8- and 16-bit floats has its own value in the wider format; subnormal bf16 alone flushes.
    #[test]
    fn fetched_floats_keep_their_value() {
        for row in FETCH_CASTS.iter().filter(|row| row.from.is_float() && row.from != DType::F32) {
            for bits in 0..1_u32 << row.from.bits() {
                let (value, found) = (to_f64(row.from, bits), (row.apply)(bits));
                let flushes = row.from == DType::Bf16 && value.abs() < 2_f64.powi(-126);
                let expected = if flushes { value.signum() * 0.0 } else { value };
                if value.is_nan() {
                    let nan = if row.to == DType::F32 { 0x7fc0_0000 } else { 0x7fc0 };
                    assert_eq!(found, nan, "{bits:#x} from {} to {}", row.from, row.to);
                } else {
                    let found = to_f64(row.to, found);
                    let same = (found, found.is_sign_negative()) == (expected, value.is_sign_negative());
                    assert!(same, "{bits:#x} from {} to {}: {found}, {expected}", row.from, row.to);
                }
            }
        }
    }

    #[test]
    fn floats_convert_alike_in_both_engines() {
        for table in [FETCH_CASTS, CAST_ENGINE] {
            assert_eq!(apply(table, DType::F32, DType::Bf16, 0x3f81_8000), 0x3f82);
            assert_eq!(apply(table, DType::F32, DType::Bf16, 0x8040_0000), 0x8000);
        }
        assert_eq!(apply(FETCH_CASTS, DType::Bf16, DType::F32, 0x3f82), 0x3f82_0000);
        assert_eq!(apply(FETCH_CASTS, DType::Bf16, DType::F32, 0x007f), 0);
        assert_eq!(apply(FETCH_CASTS, DType::Bf16, DType::F32, 0xff81), 0x7fc0_0000);
    }

    #[test]
    fn numbers_from_outside_to_integers() {
        for (x, expected) in [
            (0.5, 0),
            (1.5, 2),
            (2.5, 2),
            (-0.5, 0),
            (-1.5, -2),
            (127.49, 127),
            (127.5, 127),
            (-128.5, -128),
            (1e9, 127),
            (f32::NEG_INFINITY, -128),
            (f32::NAN, 0),
        ] {
            assert_eq!(from_f32(DType::I8, x).cast_signed(), expected, "{x}");
        }
        for (x, expected) in [(254.5, 254), (255.5, 255), (1e9, 255), (-0.6, 0), (-300.0, 0), (f32::NAN, 0)] {
            assert_eq!(from_f32(DType::U8, x), expected, "{x}");
        }
        for (x, i4, i16) in [(7.5, 7, 8), (-8.5, -8, -8), (1e9, 7, 32767), (f32::NAN, 0, 0)] {
            assert_eq!(from_f32(DType::I4, x).cast_signed(), i4, "{x}");
            assert_eq!(from_f32(DType::I16, x).cast_signed(), i16, "{x}");
        }
        for (x, expected) in [
            (2.5, 2),
            (3.5, 4),
            (2_147_483_520.0, 2_147_483_520),
            (2_147_483_648.0, i32::MAX),
            (-2_147_483_648.0, i32::MIN),
            (f32::INFINITY, i32::MAX),
            (f32::NAN, 0),
        ] {
            assert_eq!(from_f32(DType::I32, x).cast_signed(), expected, "{x}");
        }
    }

    #[test]
    fn numbers_from_outside_to_floats() {
        assert_eq!(from_f32(DType::Bf16, f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(from_f32(DType::Bf16, -f32::NAN), 0x7fc0);
        assert_eq!(from_f32(DType::F8e4m3, 1000.0), 0x7e);
        assert_eq!(from_f32(DType::F8e5m2, 1.125), 0x3d);
        assert_eq!(from_f32(DType::F4e2m1, -2.5), 0xc);
        assert_eq!(from_f32(DType::F16, 65520.0), 0x7c00);
        for bits in [0x0000_0001, 0x8000_0000, 0x7f80_0000, 0x3f80_0001] {
            assert_eq!(from_f32(DType::F32, f32::from_bits(bits)), bits);
        }
    }

    #[test]
    fn exact_values() {
        assert_eq!(to_f64(DType::I8, 0xffff_ff80), -128.0);
        assert_eq!(to_f64(DType::I32, 0x7fff_ffff), 2_147_483_647.0);
        assert_eq!(to_f64(DType::Bf16, 0x3fc0), 1.5);
        assert_eq!(to_f64(DType::Bf16, 0x0001), 2_f64.powi(-133));
        assert_eq!(to_f64(DType::F32, 0x0000_0001), 2_f64.powi(-149));
        assert_eq!(to_f64(DType::F32, 0xff80_0000), f64::NEG_INFINITY);
        assert!(to_f64(DType::Bf16, 0x7fc0).is_nan());
    }
}
