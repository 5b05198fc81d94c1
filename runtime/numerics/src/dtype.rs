//! The number formats and their properties, one row each.

use std::fmt;

/// A number format of RNGD.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DType {
    /// 8-bit two's complement integer.
    I8,
    /// 32-bit two's complement integer.
    I32,
    /// bfloat16: 1 sign, 8 exponent and 7 fraction bits.
    Bf16,
    /// IEEE 754 binary32, without subnormals.
    F32,
}

/// How a format takes part in a contraction (book 19).
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
    /// Width of one element in memory, in bits.
    pub bits: u32,
    /// Whether it is a floating-point format; otherwise a signed integer.
    pub is_float: bool,
    /// Its part in a contraction, or `None` where the Contraction Engine does not take it (book 19).
    pub contraction: Option<Contraction>,
    /// The NumPy dtype that holds every value exactly.
    pub numpy: &'static str,
}

/// All number formats, in the order of the variants of [`DType`].
pub const DTYPES: &[DTypeInfo] = &[
    DTypeInfo {
        dtype: DType::I8,
        name: "i8",
        bits: 8,
        is_float: false,
        contraction: Some(Contraction { accumulator: DType::I32, tree_depth: 6 }),
        numpy: "int8",
    },
    DTypeInfo {
        dtype: DType::I32,
        name: "i32",
        bits: 32,
        is_float: false,
        contraction: None,
        numpy: "int32",
    },
    DTypeInfo {
        dtype: DType::Bf16,
        name: "bf16",
        bits: 16,
        is_float: true,
        contraction: Some(Contraction { accumulator: DType::F32, tree_depth: 5 }),
        numpy: "float32",
    },
    DTypeInfo {
        dtype: DType::F32,
        name: "f32",
        bits: 32,
        is_float: true,
        contraction: None,
        numpy: "float32",
    },
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

    /// Width of one element in bits.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.info().bits
    }

    /// Bytes that `elements` packed elements take, rounded up to whole bytes; `None` past `u64`.
    pub fn bytes(self, elements: u64) -> Option<u64> {
        let bits = u128::from(elements) * u128::from(self.bits());
        u64::try_from(bits.div_ceil(8)).ok()
    }

    /// Whether it is a floating-point format.
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
        assert_eq!(DType::names().collect::<Vec<_>>(), ["i8", "i32", "bf16", "f32"]);
    }

    #[test]
    fn other_names_do_not_parse() {
        for name in ["", "I8", " i8", "i8 ", "int8", "f64", "bf", "bf16x", "i\0"] {
            assert_eq!(DType::parse(name), None, "{name:?}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(DType::I8.bytes(3), Some(3));
        assert_eq!(DType::Bf16.bytes(3), Some(6));
        assert_eq!(DType::I32.bytes(3), Some(12));
        assert_eq!(DType::F32.bytes(0), Some(0));
    }

    #[test]
    fn sizes_at_the_end_of_u64() {
        assert_eq!(DType::I8.bytes(u64::MAX), Some(u64::MAX));
        assert_eq!(DType::Bf16.bytes((1 << 63) - 1), Some(u64::MAX - 1));
        assert_eq!(DType::Bf16.bytes(1 << 63), None);
        assert_eq!(DType::F32.bytes((1 << 62) - 1), Some(u64::MAX - 3));
        assert_eq!(DType::F32.bytes(1 << 62), None);
    }

    /// Case N1 of the book: depth 6 for i8, 5 for bf16, one 64-byte packet each; i8 -> i32, bf16 -> f32.
    #[test]
    fn contraction_formats() {
        assert_eq!(DType::I8.accumulator(), Some(DType::I32));
        assert_eq!(DType::Bf16.accumulator(), Some(DType::F32));
        assert_eq!(DType::I8.tree_depth(), Some(6));
        assert_eq!(DType::Bf16.tree_depth(), Some(5));
        for dtype in [DType::I32, DType::F32] {
            assert_eq!(dtype.accumulator(), None);
            assert_eq!(dtype.tree_depth(), None);
        }
        for dtype in DType::all() {
            if let Some(depth) = dtype.tree_depth() {
                assert_eq!(dtype.bytes(1 << depth), Some(64), "{dtype}");
            }
        }
    }
}
