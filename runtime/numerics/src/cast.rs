//! Conversions between number formats: what the Fetch and Cast Engines do, and what data files need.

use crate::float::{bf16_to_f32, f32_to_bf16, widen_bf16};
use crate::{Bits, DType};

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

/// The conversions of the Fetch Adapter (book 08).
pub const FETCH_CASTS: &[CastRow] = &[
    CastRow { from: DType::I8, to: DType::I32, apply: sign_extend_i8 },
    CastRow { from: DType::Bf16, to: DType::F32, apply: |bits| bf16_to_f32(bits).to_bits() },
    CastRow { from: DType::F32, to: DType::Bf16, apply: narrow_f32 },
];

/// The conversions of the Cast Engine (book 26).
pub const CAST_ENGINE: &[CastRow] = &[
    // Wraps: the low 8 bits are kept and read as a signed number.
    CastRow { from: DType::I32, to: DType::I8, apply: sign_extend_i8 },
    CastRow { from: DType::F32, to: DType::Bf16, apply: narrow_f32 },
];

fn sign_extend_i8(bits: Bits) -> Bits {
    (bits as u8).cast_signed() as i32 as u32
}

fn narrow_f32(bits: Bits) -> Bits {
    f32_to_bf16(f32::from_bits(bits))
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

/// A number of a data file as an element of `dtype`.
///
/// Integers: rounded to the nearest, ties to even, then clamped to the range; NaN gives 0. bf16: as every narrowing.
/// f32: unchanged, since a file is data and not arithmetic.
pub fn from_f32(dtype: DType, x: f32) -> Bits {
    // A float-to-integer `as` clamps and takes NaN to 0.
    match dtype {
        DType::I8 => x.round_ties_even() as i8 as i32 as u32,
        DType::I32 => x.round_ties_even() as i32 as u32,
        DType::Bf16 => f32_to_bf16(x),
        DType::F32 => x.to_bits(),
    }
}

/// The exact value of an element, subnormals included; NaN stays NaN.
pub fn to_f64(dtype: DType, bits: Bits) -> f64 {
    match dtype {
        DType::I8 | DType::I32 => f64::from(bits.cast_signed()),
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

    /// The whole tables of books 08 and 26 as far as their formats exist: nothing else is supported.
    #[test]
    fn exactly_the_supported_pairs() {
        use DType::{Bf16, F32, I8, I32};
        for from in DType::all() {
            for to in DType::all() {
                let fetch = matches!((from, to), (I8, I32) | (Bf16, F32) | (F32, Bf16));
                let cast = matches!((from, to), (I32, I8) | (F32, Bf16));
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
        assert_eq!(targets(CAST_ENGINE, DType::I32), [DType::I8]);
        assert_eq!(targets(CAST_ENGINE, DType::Bf16), []);
    }

    #[test]
    fn i8_widens_exactly() {
        for value in i8::MIN..=i8::MAX {
            let bits = i32::from(value) as u32;
            assert_eq!(apply(FETCH_CASTS, DType::I8, DType::I32, bits), bits);
        }
    }

    #[test]
    fn i32_wraps_to_i8() {
        for (value, expected) in [
            (127, 127),
            (128, -128),
            (255, -1),
            (256, 0),
            (-128, -128),
            (-129, 127),
            (i32::MAX, -1),
            (i32::MIN, 0),
        ] {
            let found = apply(CAST_ENGINE, DType::I32, DType::I8, value as u32);
            assert_eq!(found.cast_signed(), expected, "{value}");
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
    fn file_numbers_round_to_integers() {
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
    fn file_numbers_to_floats() {
        assert_eq!(from_f32(DType::Bf16, f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(from_f32(DType::Bf16, -f32::NAN), 0x7fc0);
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
