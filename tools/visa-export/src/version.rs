//! Versions of the vendor's crates, and the spellings that differ between them.

use visa_ir::words;
use visa_numerics::DType;

words! {
    /// A version of the vendor's crates.
    pub enum Version {
        /// 0.6.
        V06 = "0.6",
        /// 0.8.
        V08 = "0.8",
        /// 0.10.
        V010 = "0.10",
    }
}

/// The form of a shuffle of chips in data memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DmShuffle {
    /// `dm_chip_shuffle`.
    Method,
    /// A plan, `chip_shuffle`, that `to_dm` carries out.
    Plan,
    /// None.
    Absent,
}

/// The form of an integer argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integers {
    /// `usize`.
    Plain,
    /// `HbmScalar<usize>`, which the kernel reads.
    InHbm,
    /// None.
    Absent,
}

/// Spellings and facts of one version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelling {
    /// The type of the first parameter of a kernel.
    pub(crate) device: &'static str,
    /// The name of that parameter.
    pub(crate) parameter: &'static str,
    /// True if the main context hands the sub context to a load of the tensor register file.
    pub(crate) trf_takes_sub: bool,
    /// True if the main context hands the sub context to a load of the vector register file.
    pub(crate) vrf_takes_sub: bool,
    /// True if `vector_intra_slice_unzip` also takes the time with the groups as padding.
    pub(crate) unzip_tiles: bool,
    /// True if gathers and scatters are plans that are built step by step.
    pub(crate) plans_indexed: bool,
    /// The form of a shuffle of chips in data memory.
    pub(crate) dm_shuffle: DmShuffle,
    /// The form of an integer argument.
    pub(crate) integers: Integers,
    /// True if a fetch has lifts, data memory moves between clusters, a commit writes other slices than those of its
    /// stream, and whole tensors have shuffles.
    pub(crate) since_07: bool,
    /// True if a launch gives a result that may be an error.
    pub(crate) launch_fails: bool,
}

impl Version {
    /// The version that is used by default: the newest.
    pub const DEFAULT: Self = Self::V010;

    /// The spellings of the version.
    pub(crate) fn spelling(self) -> &'static Spelling {
        match self {
            Self::V06 => &Spelling {
                device: "Context",
                parameter: "ctx",
                trf_takes_sub: false,
                vrf_takes_sub: false,
                unzip_tiles: true,
                plans_indexed: false,
                dm_shuffle: DmShuffle::Method,
                integers: Integers::Plain,
                since_07: false,
                launch_fails: false,
            },
            Self::V08 => &Spelling {
                device: "Device",
                parameter: "device",
                trf_takes_sub: false,
                vrf_takes_sub: true,
                unzip_tiles: false,
                plans_indexed: false,
                dm_shuffle: DmShuffle::Absent,
                integers: Integers::Absent,
                since_07: true,
                launch_fails: true,
            },
            Self::V010 => &Spelling {
                device: "Device",
                parameter: "device",
                trf_takes_sub: true,
                vrf_takes_sub: true,
                unzip_tiles: false,
                plans_indexed: true,
                dm_shuffle: DmShuffle::Plan,
                integers: Integers::InHbm,
                since_07: true,
                launch_fails: true,
            },
        }
    }
}

/// Conversions of the fetch adapter.
pub(crate) const FETCH_CASTS: &[(DType, DType)] = &[
    (DType::I4, DType::I32),
    (DType::I8, DType::I32),
    (DType::I16, DType::I32),
    (DType::F8e4m3, DType::F32),
    (DType::F8e5m2, DType::F32),
    (DType::Bf16, DType::F32),
    (DType::F32, DType::Bf16),
];

/// Formats that a zero point is subtracted from, with the results.
pub(crate) const ZERO_POINTS: &[(DType, DType)] = &[(DType::I4, DType::I5), (DType::I8, DType::I9)];

/// Lookups of the fetch adapter.
pub(crate) const LOOKUPS: &[(DType, DType)] = &[
    (DType::F4e2m1, DType::F8e4m3),
    (DType::F4e2m1, DType::F8e5m2),
    (DType::F8e5m2, DType::Bf16),
    (DType::F8e4m3, DType::Bf16),
];

/// Conversions of the cast engine.
pub(crate) const CASTS: &[(DType, DType)] = &[
    (DType::I32, DType::I4),
    (DType::I32, DType::I8),
    (DType::I32, DType::I16),
    (DType::F32, DType::F8e4m3),
    (DType::F32, DType::F8e5m2),
    (DType::F32, DType::Bf16),
];

/// The type of a number format in the language; `None` if it has none.
pub(crate) fn format_name(dtype: DType) -> Option<&'static str> {
    match dtype {
        DType::I4 => Some("i4"),
        DType::I5 => Some("i5"),
        DType::I8 => Some("i8"),
        DType::I9 => Some("i9"),
        DType::I16 => Some("i16"),
        DType::I32 => Some("i32"),
        DType::F4e2m1 => Some("f4e2m1"),
        DType::F8e4m3 => Some("f8e4m3"),
        DType::F8e5m2 => Some("f8e5m2"),
        DType::Bf16 => Some("bf16"),
        DType::F32 => Some("f32"),
        DType::U8 | DType::F16 => None,
    }
}
