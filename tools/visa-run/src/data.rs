//! Argument and result data: arrays from and to files, and the generators that stand in for a file.
//!
//! A kernel sees little-endian elements of its dtypes in C order; a file holds an [`Array`] of a [`FileType`].
//! [`load`] goes from the one to the other with the rounding of docs/numerics.md, [`save_npy`] back without any loss.

mod array;
mod compare;
mod convert;
mod indices;
mod npy;
mod safetensors;
mod save;
mod stored;
mod summary;

use std::fmt;
use std::path::{Path, PathBuf};
use visa_ir::diag::counted;

use visa_numerics::DType;

pub use array::{Array, FileType, Value};
pub use compare::{Bound, Elements, Mismatch, Tolerance, compare, near};
pub use convert::array_bytes;
pub use indices::{ChosenIndices, holds};
pub use save::save_npy;
pub use summary::{Summary, summary};

/// Reason why data could not be read, converted or written, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataError {
    /// The text found, the text expected and, if there is one, the fix.
    pub message: String,
}

impl DataError {
    fn new(message: impl Into<String>) -> DataError {
        DataError { message: message.into() }
    }

    fn in_file(path: &Path, message: impl fmt::Display) -> DataError {
        DataError::new(format!("`{}`: {message}", path.display()))
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DataError {}

/// Where an argument's data comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `FILE.npy`: a NumPy array file.
    Npy(PathBuf),
    /// `FILE.safetensors:KEY`: one tensor of a safetensors file.
    Safetensors {
        /// The file.
        path: PathBuf,
        /// The tensor's name in it.
        key: String,
    },
    /// `rand:SEED`: SplitMix64 keyed by element index. With `z = mix(mix(SEED) + (k + 1) * G)`, `G =
    /// 0x9E3779B97F4A7C15`, modulo 2^64, and `mix` SplitMix64's finalizer, element `k` is the low bits of `z` for an
    /// integer (32 for i32, 4 for i4), and `(z >> 40) / 2^23 - 1` (in `[-1, 1)`, exact in f32) rounded by the rules of
    /// docs/numerics.md for a float.
    Rand(u64),
    /// `zeros`: every element is zero.
    Zeros,
    /// `iota`: element `k` is `k`; integers wrap, floats round.
    Iota,
}

impl Source {
    /// Reads a source as the command line writes it.
    pub fn parse(text: &str) -> Result<Source, DataError> {
        if let Some(seed) = text.strip_prefix("rand:") {
            return seed.parse().map(Source::Rand).map_err(|_| {
                DataError::new(format!(
                    "found seed `{seed}` in `{text}`, expected an integer from 0 to {}",
                    u64::MAX
                ))
            });
        }
        if let Some((stem, key)) = text.split_once(".safetensors:")
            && !key.is_empty()
        {
            return Ok(Source::Safetensors {
                path: format!("{stem}.safetensors").into(),
                key: key.to_string(),
            });
        }
        match text {
            "zeros" => Ok(Source::Zeros),
            "iota" => Ok(Source::Iota),
            _ if text.ends_with(".npy") => Ok(Source::Npy(text.into())),
            _ => Err(DataError::new(format!(
                "found `{text}`, expected FILE.npy, FILE.safetensors:KEY, rand:SEED, zeros or iota"
            ))),
        }
    }
}

/// The elements of an argument of `dtype` and `shape`, little-endian, in C order.
///
/// At most `bound` bytes are held meanwhile, those of a file included; it is refused before that. A file must have
/// exactly this shape. Floats round; a value that is not exact in an integer dtype, or an integer that is not
/// exact in a float dtype, is an error that names its index.
pub fn load(source: &Source, dtype: DType, shape: &[u64], bound: u64) -> Result<Vec<u8>, DataError> {
    let generate = |element: &dyn Fn(u64) -> u32| convert::generate(dtype, shape, bound, element);
    match source {
        Source::Npy(path) => convert::to_dtype(npy::open(path, Some(dtype))?, dtype, shape, bound),
        Source::Safetensors { path, key } => {
            convert::to_dtype(safetensors::open(path, key)?, dtype, shape, bound)
        }
        Source::Rand(seed) => generate(&|k| convert::random(*seed, k, dtype)),
        Source::Zeros => generate(&|_| 0),
        Source::Iota => generate(&|k| convert::wrapped(k, dtype)),
    }
}

/// The error for data that would take more memory than the limit.
fn too_large(needed: u64, bound: u64) -> String {
    format!("it takes {} of memory, expected at most {bound}: raise --memory", counted(needed, "byte"))
}

/// The conversion of a source's elements that are wider than any format of the kernel, to `dtype`.
#[must_use]
pub fn narrowing(source: &Source, dtype: DType) -> Option<String> {
    let stored = match source {
        Source::Npy(path) => npy::open(path, Some(dtype)).ok()?,
        Source::Safetensors { path, key } => safetensors::open(path, key).ok()?,
        Source::Rand(_) | Source::Zeros | Source::Iota => return None,
    };
    match (stored.dtype, dtype.is_float()) {
        (FileType::F64, true) => Some(format!("float64 elements are rounded to the nearest `{dtype}`")),
        (FileType::F64, false) => {
            Some(format!("float64 elements become `{dtype}`: each must be an integer that it holds"))
        }
        (FileType::I64, _) => {
            Some(format!("int64 elements become `{dtype}`: each must be a number that it holds exactly"))
        }
        (FileType::Bf16 | FileType::F8e4m3 | FileType::F8e5m2, _) if matches!(source, Source::Npy(_)) => {
            Some(format!("the elements are taken as the bits of `{dtype}`"))
        }
        (
            FileType::I8
            | FileType::I16
            | FileType::I32
            | FileType::U8
            | FileType::F4e2m1
            | FileType::F8e4m3
            | FileType::F8e5m2
            | FileType::F16
            | FileType::Bf16
            | FileType::F32,
            _,
        ) => None,
    }
}

#[cfg(test)]
mod tests;
