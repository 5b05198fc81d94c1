//! The number formats and their properties, one row each.

use std::fmt;

/// A number format of RNGD.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DType {
    /// 4-bit two's complement integer; two share a byte, the first in the low half.
    I4,
    /// 5-bit two's complement integer: an `i4` and a sideband bit, in streams and the TRF only (book 19).
    I5,
    /// 8-bit two's complement integer.
    I8,
    /// 9-bit two's complement integer: an `i8` and a sideband bit, in streams and the TRF only (book 19).
    I9,
    /// 16-bit two's complement integer.
    I16,
    /// 32-bit two's complement integer.
    I32,
    /// 8-bit integer from 0 on. Memories hold it; the fetch makes other formats of it by a table.
    U8,
    /// 4-bit float: 1 sign, 2 exponent and 1 fraction bits; no infinity, no NaN. Two share a byte, the first in the
    /// low half. Memories hold it; the fetch makes other formats of it by a table.
    F4e2m1,
    /// 8-bit float: 1 sign, 4 exponent and 3 fraction bits; one NaN a sign, no infinity.
    F8e4m3,
    /// 8-bit float: 1 sign, 5 exponent and 2 fraction bits.
    F8e5m2,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: 1 sign, 8 exponent and 7 fraction bits.
    Bf16,
    /// IEEE 754 binary32, without subnormals.
    F32,
}

/// Properties of a format in a contraction (book 19).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contraction {
    /// The format of products and sums.
    pub accumulator: DType,
    /// Levels of the reduction tree; it adds `2^tree_depth` products, one 64-byte packet.
    pub tree_depth: u32,
}

/// The properties of one format: a row of [`DTYPES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DTypeInfo {
    /// The format that this row describes.
    pub dtype: DType,
    /// Its name in the text, in reports and in messages.
    pub name: &'static str,
    /// Width of one element in every size, packet and flit, in bits.
    pub bits: u32,
    /// Width of its values, in bits: more than `bits` where a sideband bit of the wires carries the sign (book 19).
    pub value_bits: u32,
    /// True if it is a floating-point format; otherwise an integer.
    pub is_float: bool,
    /// True if it has numbers below zero.
    pub is_signed: bool,
    /// Its part in a contraction, or `None` where the Contraction Engine does not take it (book 19).
    pub contraction: Option<Contraction>,
    /// The NumPy dtype that holds every value exactly.
    pub numpy: &'static str,
}

impl DTypeInfo {
    const fn integer(dtype: DType, name: &'static str, bits: u32, numpy: &'static str) -> Self {
        Self {
            dtype,
            name,
            bits,
            value_bits: bits,
            is_float: false,
            is_signed: true,
            contraction: None,
            numpy,
        }
    }

    const fn float(dtype: DType, name: &'static str, bits: u32, numpy: &'static str) -> Self {
        Self { is_float: true, ..Self::integer(dtype, name, bits, numpy) }
    }

    /// Without numbers below zero.
    const fn unsigned(self) -> Self {
        Self { is_signed: false, ..self }
    }

    /// With a sideband bit.
    const fn extended(self) -> Self {
        Self { value_bits: self.bits + 1, ..self }
    }

    const fn contracts(self, accumulator: DType, tree_depth: u32) -> Self {
        Self { contraction: Some(Contraction { accumulator, tree_depth }), ..self }
    }
}

/// All number formats, in the order of the variants of [`DType`].
pub const DTYPES: &[DTypeInfo] = &[
    DTypeInfo::integer(DType::I4, "i4", 4, "int8").contracts(DType::I32, 7),
    DTypeInfo::integer(DType::I5, "i5", 4, "int8").extended().contracts(DType::I32, 7),
    DTypeInfo::integer(DType::I8, "i8", 8, "int8").contracts(DType::I32, 6),
    DTypeInfo::integer(DType::I9, "i9", 8, "int16").extended().contracts(DType::I32, 6),
    DTypeInfo::integer(DType::I16, "i16", 16, "int16"),
    DTypeInfo::integer(DType::I32, "i32", 32, "int32"),
    DTypeInfo::integer(DType::U8, "u8", 8, "uint8").unsigned(),
    DTypeInfo::float(DType::F4e2m1, "f4e2m1", 4, "float32"),
    DTypeInfo::float(DType::F8e4m3, "f8e4m3", 8, "float32").contracts(DType::F32, 6),
    DTypeInfo::float(DType::F8e5m2, "f8e5m2", 8, "float32").contracts(DType::F32, 6),
    DTypeInfo::float(DType::F16, "f16", 16, "float16"),
    DTypeInfo::float(DType::Bf16, "bf16", 16, "float32").contracts(DType::F32, 5),
    DTypeInfo::float(DType::F32, "f32", 32, "float32"),
];

impl DType {
    /// The format's row of [`DTYPES`].
    #[inline]
    pub const fn info(self) -> &'static DTypeInfo {
        &DTYPES[self as usize]
    }

    /// All formats, in the order of [`DTYPES`].
    pub fn all() -> impl Iterator<Item = DType> {
        DTYPES.iter().map(|row| row.dtype)
    }

    /// The names of all formats, for the message about an unknown one.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DTYPES.iter().map(|row| row.name)
    }

    /// The format called `name`, exactly as [`DType::name`] spells it.
    pub fn parse(name: &str) -> Option<DType> {
        let row = DTYPES.iter().find(|row| row.name == name)?;
        Some(row.dtype)
    }

    /// Its name in the text.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Width of one element in every size, packet and flit, in bits: i5 counts as 4 and i9 as 8 (book 19).
    #[inline]
    pub const fn bits(self) -> u32 {
        self.info().bits
    }

    /// Bytes that `elements` packed elements take, rounded up to whole bytes; `None` past `u64`.
    pub fn bytes(self, elements: u64) -> Option<u64> {
        let bits = u128::from(elements) * u128::from(self.bits());
        u64::try_from(bits.div_ceil(8)).ok()
    }

    /// Whole packed elements in `bytes` bytes; saturates at the end of `u64`.
    pub fn elements(self, bytes: u64) -> u64 {
        let elements = u128::from(bytes) * 8 / u128::from(self.bits());
        u64::try_from(elements).unwrap_or(u64::MAX)
    }

    /// Alignment of byte addresses of its elements: an element's bytes, or 1 if two share a byte.
    pub const fn align(self) -> u64 {
        let bytes = self.bits() as u64 / 8;
        if bytes == 0 { 1 } else { bytes }
    }

    /// Returns true if memories store it. i5 and i9 exist in streams and in the tensor register file only: other
    /// memories have no space for their sideband bit (book 19).
    pub const fn is_stored(self) -> bool {
        self.info().value_bits == self.bits()
    }

    /// The bytes that the interpreter holds for each nominal byte of a stream or of the tensor register file: 2
    /// for i5 (a byte an element) and i9 (2 bytes an element), 1 for all others. A stage that moves whole packets
    /// scales its sizes by it; sizes, flows and costs never do.
    #[inline]
    pub const fn wire_scale(self) -> usize {
        if self.is_stored() { 1 } else { 2 }
    }

    /// The least and the greatest value of an integer format; `None` for a float.
    pub const fn range(self) -> Option<(i32, i32)> {
        if self.is_float() {
            return None;
        }
        let unused = 32 - self.info().value_bits;
        match self.info().is_signed {
            true => Some((i32::MIN >> unused, i32::MAX >> unused)),
            false => Some((0, (u32::MAX >> unused).cast_signed())),
        }
    }

    /// The bits of its least number: negative infinity where there is one, for `f8e4m3` -448, for `f4e2m1` -6.
    pub const fn lowest(self) -> u32 {
        match self {
            DType::I4 | DType::I5 | DType::I8 | DType::I9 | DType::I16 | DType::I32 => {
                (i32::MIN >> (32 - self.info().value_bits)).cast_unsigned()
            }
            DType::U8 => 0,
            DType::F4e2m1 => 0xf,
            DType::F8e4m3 => 0xfe,
            DType::F8e5m2 => 0xfc,
            DType::F16 => 0xfc00,
            DType::Bf16 => 0xff80,
            DType::F32 => 0xff80_0000,
        }
    }

    /// The bits of its greatest number: infinity where there is one, for `f8e4m3` 448, for `f4e2m1` 6.
    pub const fn highest(self) -> u32 {
        match self {
            DType::I4 | DType::I5 | DType::I8 | DType::I9 | DType::I16 | DType::I32 => {
                (i32::MAX >> (32 - self.info().value_bits)).cast_unsigned()
            }
            DType::U8 => 0xff,
            DType::F4e2m1 => 0x7,
            DType::F8e4m3 => 0x7e,
            DType::F8e5m2 => 0x7c,
            DType::F16 => 0x7c00,
            DType::Bf16 => 0x7f80,
            DType::F32 => 0x7f80_0000,
        }
    }

    /// `value` in an integer format's width: its low bits, read as a number of the format.
    pub const fn wrap(self, value: i32) -> i32 {
        let unused = 32 - self.info().value_bits;
        match self.info().is_signed {
            true => (value << unused) >> unused,
            false => value & (u32::MAX >> unused).cast_signed(),
        }
    }

    /// Returns true if it is a floating-point format.
    pub const fn is_float(self) -> bool {
        self.info().is_float
    }

    /// The format that a contraction of it accumulates in, or `None` if it cannot enter one (book 19).
    pub fn accumulator(self) -> Option<DType> {
        Some(self.info().contraction?.accumulator)
    }

    /// Levels of the reduction tree for it, or `None` if it cannot enter a contraction (book 19).
    pub fn tree_depth(self) -> Option<u32> {
        Some(self.info().contraction?.tree_depth)
    }

    /// The NumPy dtype that holds every value of it exactly.
    pub const fn numpy(self) -> &'static str {
        self.info().numpy
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::from_pattern;
    use crate::cast::to_f64;

    #[test]
    fn rows_stand_in_variant_order() {
        for (index, row) in DTYPES.iter().enumerate() {
            assert_eq!(row.dtype as usize, index, "{} stands in the wrong row", row.name);
        }
        assert_eq!(DType::all().last(), Some(DType::F32));
    }

    #[test]
    fn names_parse_back() {
        for dtype in DType::all() {
            assert_eq!(DType::parse(dtype.name()), Some(dtype));
            assert_eq!(dtype.to_string(), dtype.name());
        }
        let names =
            ["i4", "i5", "i8", "i9", "i16", "i32", "u8", "f4e2m1", "f8e4m3", "f8e5m2", "f16", "bf16", "f32"];
        assert_eq!(DType::names().collect::<Vec<_>>(), names);
    }

    #[test]
    fn other_names_do_not_parse() {
        for name in [
            "", "I8", " i8", "i8 ", "int8", "f64", "bf", "bf16x", "i\0", "f8", "i6", "F8e4m3", "u4", "U8",
            "f4", "f4e1m2",
        ] {
            assert_eq!(DType::parse(name), None, "{name:?}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(DType::I8.bytes(3), Some(3));
        assert_eq!(DType::Bf16.bytes(3), Some(6));
        assert_eq!(DType::I32.bytes(3), Some(12));
        assert_eq!(DType::F32.bytes(0), Some(0));
        // Half a byte takes a whole one.
        assert_eq!([0, 1, 2, 3].map(|count| DType::I4.bytes(count)), [0, 1, 1, 2].map(Some));
        assert_eq!(DType::F16.elements(7), 3);
        assert_eq!(DType::I4.elements(7), 14);
    }

    /// Book 19: a 320-bit flit holds 64 i4 or i5, or 32 i8 or i9; the other formats follow from their width.
    #[test]
    fn elements_of_a_flit() {
        use DType::{Bf16, F4e2m1, F8e4m3, F8e5m2, F16, F32, I4, I5, I8, I9, I16, I32, U8};
        for (dtypes, expected) in [
            (&[I4, I5, F4e2m1][..], 64),
            (&[I8, I9, U8, F8e4m3, F8e5m2][..], 32),
            (&[I16, F16, Bf16][..], 16),
            (&[I32, F32][..], 8),
        ] {
            for dtype in dtypes {
                assert_eq!(dtype.elements(32), expected, "{dtype}");
            }
        }
    }

    #[test]
    fn only_extended_integers_are_not_stored() {
        for dtype in DType::all() {
            let extended = matches!(dtype, DType::I5 | DType::I9);
            assert_eq!(dtype.is_stored(), !extended, "{dtype}");
            assert_eq!(dtype.wire_scale(), if extended { 2 } else { 1 }, "{dtype}");
        }
    }

    #[test]
    fn alignments() {
        let expected = [1, 1, 1, 1, 2, 4, 1, 1, 1, 1, 2, 2, 4];
        assert!(DType::all().map(DType::align).eq(expected));
    }

    #[test]
    fn ranges() {
        assert_eq!(DType::I4.range(), Some((-8, 7)));
        assert_eq!(DType::I5.range(), Some((-16, 15)));
        assert_eq!(DType::I8.range(), Some((-128, 127)));
        assert_eq!(DType::I9.range(), Some((-256, 255)));
        assert_eq!(DType::I16.range(), Some((-32768, 32767)));
        assert_eq!(DType::I32.range(), Some((i32::MIN, i32::MAX)));
        assert_eq!(DType::U8.range(), Some((0, 255)));
        for dtype in DType::all() {
            assert_eq!(dtype.range().is_none(), dtype.is_float());
        }
    }

    #[test]
    fn values_wrap_into_a_range() {
        for dtype in DType::all() {
            let Some((least, greatest)) = dtype.range() else { continue };
            assert_eq!((dtype.wrap(least), dtype.wrap(greatest)), (least, greatest));
            assert_eq!(dtype.wrap(greatest.wrapping_add(1)), least, "{dtype}");
            assert_eq!(dtype.wrap(least.wrapping_sub(1)), greatest, "{dtype}");
        }
    }

    #[test]
    fn sizes_at_the_end_of_u64() {
        assert_eq!(DType::I8.bytes(u64::MAX), Some(u64::MAX));
        assert_eq!(DType::I4.bytes(u64::MAX), Some(1 << 63));
        assert_eq!(DType::I4.elements(1 << 63), u64::MAX);
        assert_eq!(DType::Bf16.bytes((1 << 63) - 1), Some(u64::MAX - 1));
        assert_eq!(DType::Bf16.bytes(1 << 63), None);
        assert_eq!(DType::F32.bytes((1 << 62) - 1), Some(u64::MAX - 3));
        assert_eq!(DType::F32.bytes(1 << 62), None);
    }

    /// Case N1 of the book: tree depths, one 64-byte packet each, and the widened type of each format.
    #[test]
    fn contraction_formats() {
        use DType::{Bf16, F4e2m1, F8e4m3, F8e5m2, F16, F32, I4, I5, I8, I9, I16, I32, U8};
        for (dtype, accumulator, depth) in [
            (I4, I32, 7),
            (I5, I32, 7),
            (I8, I32, 6),
            (I9, I32, 6),
            (F8e4m3, F32, 6),
            (F8e5m2, F32, 6),
            (Bf16, F32, 5),
        ] {
            assert_eq!(dtype.accumulator(), Some(accumulator), "{dtype}");
            assert_eq!(dtype.tree_depth(), Some(depth), "{dtype}");
            assert_eq!(dtype.bytes(1 << depth), Some(64), "{dtype}");
        }
        for dtype in [I16, I32, U8, F4e2m1, F16, F32] {
            assert_eq!((dtype.accumulator(), dtype.tree_depth()), (None, None), "{dtype}");
        }
    }

    #[test]
    fn the_least_and_the_greatest_number_of_each_format() {
        for dtype in DType::all() {
            let (least, greatest) = (to_f64(dtype, dtype.lowest()), to_f64(dtype, dtype.highest()));
            let patterns = 0..1_u32.checked_shl(dtype.info().value_bits.min(16)).unwrap_or(0);
            // Of 32-bit formats, the patterns that differ in the upper half.
            let wide = dtype.info().value_bits.saturating_sub(16);
            for number in patterns.map(|pattern| to_f64(dtype, from_pattern(dtype, pattern << wide))) {
                assert!(number.is_nan() || (least..=greatest).contains(&number), "{dtype}: {number}");
            }
        }
        assert_eq!(
            DType::I32.range(),
            Some((DType::I32.lowest().cast_signed(), DType::I32.highest().cast_signed()))
        );
        assert_eq!(to_f64(DType::F8e4m3, DType::F8e4m3.lowest()), -448.0);
        assert_eq!((to_f64(DType::F4e2m1, 0xf), to_f64(DType::U8, DType::U8.highest())), (-6.0, 255.0));
        assert_eq!(to_f64(DType::F32, DType::F32.highest()), f64::INFINITY);
    }
}
