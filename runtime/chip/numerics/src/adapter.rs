//! The Fetch Adapter's operations on each element in addition to conversion: table indexing and zero points (book 08).

use std::fmt;
use std::str::FromStr;

use crate::bits::Bits;
use crate::cast::{CastRow, fetch_cast, from_f32, nearest_integer, to_f64};
use crate::dtype::DType;
use crate::float::{f64_to_bf16, f64_to_odd_f32};

/// The widest format that indexes a table, in bits: a table has an entry for each pattern.
pub const TABLE_INDEX_BITS: u32 = 8;

/// A lookup table: an element's bit pattern, read as an unsigned number, selects the entry that replaces it.
///
/// Its text is the format and the entries' bit patterns, as `bf16 [0x3f80, 0x4000]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupTable {
    /// Format of the entries.
    pub to: DType,
    /// The entries, from index 0 on.
    pub entries: Vec<Bits>,
}

impl LookupTable {
    /// The entry for an element of format `from`; `None` where the table ends before.
    #[inline]
    pub fn get(&self, from: DType, bits: Bits) -> Option<Bits> {
        self.entries.get(pattern(from, bits) as usize).copied()
    }
}

impl fmt::Display for LookupTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.to.info().value_bits.div_ceil(4) as usize;
        write!(f, "{} [", self.to)?;
        for (at, &bits) in self.entries.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}0x{:0width$x}", pattern(self.to, bits))?;
        }
        f.write_str("]")
    }
}

impl FromStr for LookupTable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.trim().strip_suffix(']').and_then(|rest| rest.split_once('['));
        let malformed = || format!("found `{text}`, expected a format and bit patterns, as `bf16 [0x3f80]`");
        let (name, list) = parts.ok_or_else(malformed)?;
        let to = DType::parse(name.trim()).ok_or_else(|| {
            let known: Vec<_> = DType::names().collect();
            format!("unknown format `{}`; known are `{}`", name.trim(), known.join("`, `"))
        })?;
        let entry = |text: &str| {
            let text = text.trim();
            let digits = text.strip_prefix("0x").ok_or_else(malformed)?;
            let bits = Bits::from_str_radix(digits, 16).map_err(|_| malformed())?;
            if digits.starts_with('+') {
                return Err(malformed());
            }
            let width = to.info().value_bits;
            match u64::from(bits) < 1 << width {
                true => Ok(from_pattern(to, bits)),
                false => Err(format!("`{text}` has more than the {width} bits of a `{to}`")),
            }
        };
        let list = list.split(',').filter(|entry| !(entry.trim().is_empty() && list.trim().is_empty()));
        Ok(Self { to, entries: list.map(entry).collect::<Result<_, _>>()? })
    }
}

/// An element's bits without its sign extension.
#[inline]
pub fn pattern(dtype: DType, bits: Bits) -> Bits {
    bits & (Bits::MAX >> (32 - dtype.info().value_bits))
}

/// The element with that bit pattern: an integer's sign is extended.
#[inline]
pub fn from_pattern(dtype: DType, pattern: Bits) -> Bits {
    match dtype.is_float() {
        true => pattern,
        false => dtype.wrap(pattern.cast_signed()).cast_unsigned(),
    }
}

/// The conversion of the Fetch Adapter after which a zero point can be subtracted, if this is one: of a quantized
/// integer, 8 bits at most, to a wider integer (book 08).
pub fn zero_point_cast(from: DType, to: DType) -> Option<&'static CastRow> {
    let quantized = !from.is_float() && from.bits() <= 8;
    let wider = from.info().value_bits < to.info().value_bits;
    fetch_cast(from, to).filter(|_| quantized && !to.is_float() && wider)
}

/// A converted integer minus a zero point; wraps in `dtype`.
#[inline]
pub fn subtract_zero_point(dtype: DType, bits: Bits, zero: i32) -> Bits {
    from_pattern(dtype, bits.wrapping_sub(zero.cast_unsigned()))
}

/// A number as an element: an integer that the format has, or the nearest number of a floating-point format, as
/// [`from_f32`] rounds. `None` where there is none.
pub fn from_number(dtype: DType, x: f64) -> Option<Bits> {
    match dtype.range() {
        Some((least, most)) => {
            let whole = x.fract() == 0.0 && (f64::from(least)..=f64::from(most)).contains(&x);
            whole.then_some((x as i32).cast_unsigned())
        }
        None => {
            let bits = from_f64(dtype, x);
            let held = to_f64(dtype, bits);
            (held.is_finite() || held == x).then_some(bits)
        }
    }
}

/// A double as an element, rounded once: to the nearest number of the format, as [`from_f32`] breaks ties and treats
/// overflow. A subnormal result becomes the zero of its sign in bf16, after the rounding, and is kept in f32.
pub fn from_f64(dtype: DType, x: f64) -> Bits {
    match dtype {
        DType::Bf16 => f64_to_bf16(x),
        DType::F4e2m1 | DType::F8e4m3 | DType::F8e5m2 | DType::F16 => from_f32(dtype, f64_to_odd_f32(x)),
        DType::F32 => from_f32(dtype, x as f32),
        DType::I4 | DType::I5 | DType::I8 | DType::I9 | DType::I16 | DType::I32 | DType::U8 => {
            nearest_integer(dtype, x)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LookupTable, String> {
        text.parse()
    }

    #[test]
    fn tables_are_indexed_by_unsigned_patterns() {
        let table = LookupTable { to: DType::I32, entries: (0..=255).collect() };
        assert_eq!(table.get(DType::I8, 5), Some(5));
        // -1 is 0xff, -128 is 0x80.
        assert_eq!(table.get(DType::I8, (-1_i32).cast_unsigned()), Some(255));
        assert_eq!(table.get(DType::I8, (-128_i32).cast_unsigned()), Some(128));
        let short = LookupTable { to: DType::I32, entries: vec![7; 8] };
        assert_eq!((short.get(DType::I8, 7), short.get(DType::I8, 8)), (Some(7), None));
        assert_eq!(short.get(DType::I8, (-1_i32).cast_unsigned()), None);
    }

    #[test]
    fn text_of_tables() {
        let minus_two = (-2_i32).cast_unsigned();
        let table = LookupTable { to: DType::I8, entries: vec![0, 1, minus_two] };
        assert_eq!(table.to_string(), "i8 [0x00, 0x01, 0xfe]");
        assert_eq!(read("i8 [0x00, 0x01, 0xfe]"), Ok(table));
        assert_eq!(read(" bf16[ 0x3f80 ] ").map(|table| table.to_string()), Ok("bf16 [0x3f80]".into()));
        assert_eq!(read("f32 []").map(|table| table.entries), Ok(vec![]));
        for bad in ["", "i8", "i8 [", "[0x00]", "i8 [1]", "i8 [0x]", "i8 [0x+1]", "i8 [0x00,]", "i8 [0x00] x"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read("i8 [0xff]").is_ok());
        assert_eq!(read("i8 [0x100]"), Err("`0x100` has more than the 8 bits of a `i8`".into()));
        assert!(read("f32 [0xffffffff]").is_ok() && read("f32 [0x100000000]").is_err());
    }

    #[test]
    fn zero_points_belong_to_widened_integers() {
        for from in DType::all() {
            for to in DType::all() {
                use DType::{I4, I5, I8, I9, I32};
                let expected = matches!((from, to), (I4, I5 | I9 | I32) | (I8, I9 | I32));
                assert_eq!(zero_point_cast(from, to).is_some(), expected, "{from} -> {to}");
            }
        }
    }

    #[test]
    fn subtraction_wraps_in_the_target() {
        let i32s =
            |bits: i32, zero| subtract_zero_point(DType::I32, bits.cast_unsigned(), zero).cast_signed();
        assert_eq!((i32s(0, 10), i32s(7, 10), i32s(7, -100)), (-10, -3, 107));
        assert_eq!(i32s(-128, i32::MAX), i32::MAX - 126); // -128 - (2^31 - 1) + 2^32 = 2^31 - 127
        // 9 bits: -128 - 128 is still -256, and one less wraps to 255.
        let i9s = |bits: i32, zero| subtract_zero_point(DType::I9, bits.cast_unsigned(), zero).cast_signed();
        assert_eq!((i9s(-128, 128), i9s(-128, 129), i9s(127, -128)), (-256, 255, 255));
        // 8 bits: -128 - 1 is 127 again.
        let low = (-128_i32).cast_unsigned();
        assert_eq!(subtract_zero_point(DType::I8, low, 1), 127);
        assert_eq!(subtract_zero_point(DType::I8, 127, -1), low);
    }

    #[test]
    fn numbers_as_elements() {
        assert_eq!(from_number(DType::I8, -128.0), Some((-128_i32).cast_unsigned()));
        assert_eq!(from_number(DType::I8, 127.0), Some(127));
        for x in [128.0, -129.0, 0.5, f64::NAN, f64::INFINITY] {
            assert_eq!(from_number(DType::I8, x), None, "{x}");
        }
        assert_eq!(from_number(DType::I32, 2_147_483_647.0), Some(0x7fff_ffff));
        assert_eq!(from_number(DType::I32, 2_147_483_648.0), None);
        assert_eq!(from_number(DType::F32, 0.1), Some(0x3dcc_cccd));
        assert_eq!(from_number(DType::F32, 1e39), None);
        // A hair above the tie between 1 and 1 + 2^-7 rounds up; through f32 first it would be the tie, and round
        // down.
        assert_eq!(from_number(DType::Bf16, 1.0 + 2_f64.powi(-8) + 2_f64.powi(-40)), Some(0x3f81));
        assert_eq!(from_number(DType::Bf16, 1.0 + 2_f64.powi(-8)), Some(0x3f80));
        assert_eq!(from_number(DType::Bf16, 3.4e38), None);
    }

    /// Doubles on, next to and halfway between the numbers of each format. The oracle compares doubles with the
    /// midpoints of neighbouring numbers, which f64 has exactly, and does no arithmetic on them.
    #[test]
    fn doubles_round_once() {
        for dtype in [DType::F4e2m1, DType::F8e4m3, DType::F8e5m2, DType::F16, DType::Bf16] {
            let sign = 1 << (dtype.bits() - 1);
            let finite: Vec<f64> =
                (0..sign).map(|bits| to_f64(dtype, bits)).take_while(|x| x.is_finite()).collect();
            let top = finite.len();
            // The number after the largest finite one, if the exponents went on.
            let beyond = 2.0 * finite[top - 1] - finite[top - 2];
            let numbers = [finite.as_slice(), &[beyond]].concat();
            // The result of a number beyond the largest finite one: the largest one, or infinity.
            let above = match dtype {
                DType::F4e2m1 | DType::F8e4m3 => top - 1,
                DType::F8e5m2 | DType::F16 | DType::Bf16 => top,
                other => panic!("{other} is not converted here"),
            };
            for (lower, pair) in numbers.windows(2).enumerate() {
                let half = f64::midpoint(pair[0], pair[1]);
                let tie_up = dtype == DType::F8e5m2 || lower % 2 == 1;
                for (x, up) in [
                    (pair[0], false),
                    (pair[0].next_up(), false),
                    (half.next_down(), false),
                    (half, tie_up),
                    (half.next_up(), true),
                    (pair[1].next_down(), true),
                ] {
                    let expected = match lower + usize::from(up) {
                        rounded if dtype == DType::Bf16 && rounded < 0x80 => 0,
                        rounded if rounded < top => rounded,
                        _ => above,
                    } as Bits;
                    assert_eq!(from_f64(dtype, x), expected, "{x:e} to {dtype}");
                    assert_eq!(from_f64(dtype, -x), expected | sign, "{:e} to {dtype}", -x);
                }
            }
        }
    }

    /// 2^-126 is the least normal number of bf16, and 2^-134 half the step of bf16 below it.
    #[test]
    fn doubles_near_the_least_normal_number() {
        let least = 2_f64.powi(-126);
        let half = 2_f64.powi(-134);
        assert_eq!(from_f64(DType::Bf16, least - half), 0x0080);
        assert_eq!(from_f64(DType::Bf16, (least - half).next_down()), 0);
        assert_eq!(from_f64(DType::Bf16, least.next_down()), 0x0080);
        assert_eq!(from_f64(DType::Bf16, -least.next_down()), 0x8080);
        assert_eq!(from_f64(DType::Bf16, -f64::MIN_POSITIVE), 0x8000);
        // f32 is data: a subnormal stays one.
        assert_eq!(from_f64(DType::F32, least.next_down()), 0x0080_0000);
        assert_eq!(from_f64(DType::F32, least - 2_f64.powi(-149)), 0x007f_ffff);
        assert_eq!(from_f64(DType::F32, 1.5 * 2_f64.powi(-149)), 2);
    }

    #[test]
    fn doubles_to_integers() {
        let i32s = |x| from_f64(DType::I32, x).cast_signed();
        assert_eq!((i32s(16_777_217.0), i32s(2_147_483_646.5), i32s(-2.5)), (16_777_217, 2_147_483_646, -2));
        assert_eq!((i32s(1e300), i32s(f64::NEG_INFINITY), i32s(f64::NAN)), (i32::MAX, i32::MIN, 0));
        assert_eq!(from_f64(DType::I8, 127.500_000_001).cast_signed(), 127);
        assert_eq!(from_f64(DType::I8, 0.5_f64.next_up()), 1);
    }
}
