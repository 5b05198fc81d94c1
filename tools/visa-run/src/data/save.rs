//! Results to NumPy files.

use std::borrow::Cow;
use std::path::Path;
use visa_ir::diag::counted;

use visa_files::Interrupts;
use visa_numerics::{DType, load, to_f64};

use super::DataError;
use super::array::{FileType, byte_count};
use super::convert::array_bytes;

/// The data of an npy file begins at a multiple of this many bytes.
const HEADER_ALIGNMENT: usize = 64;
/// Bytes of an npy version 1.0 file before the header text: magic, version, length.
const PREFIX: usize = 10;

/// Writes little-endian elements of `dtype` in C order as a NumPy file of the type that holds them exactly
/// (bf16, f8 and f4 become f32, i4 becomes i8), whole or not at all (see [`visa_files::write`]).
pub fn save_npy(
    path: &Path,
    dtype: DType,
    shape: &[u64],
    bytes: &[u8],
    interrupts: Option<&Interrupts>,
) -> Result<(), DataError> {
    if array_bytes(dtype, shape) != Some(bytes.len() as u64) {
        let found = bytes.len();
        return Err(DataError::in_file(
            path,
            format!("found {} for a result of shape {shape:?}", counted(found, "byte")),
        ));
    }
    let (header, data) = (header(FileType::of(dtype), shape), file_bytes(dtype, shape, bytes));
    let written = visa_files::write(path, interrupts, |out| {
        out.write_all(&header)?;
        out.write_all(&data)
    });
    written.map_err(|why| DataError::in_file(path, format!("cannot be written: {why}")))
}

/// The head of an npy version 1.0 file, padded with spaces as the format asks.
fn header(dtype: FileType, shape: &[u64]) -> Vec<u8> {
    let descr = match dtype {
        FileType::I8 => "|i1",
        FileType::I16 => "<i2",
        FileType::I32 => "<i4",
        FileType::I64 => "<i8",
        FileType::U8 => "|u1",
        FileType::F16 => "<f2",
        FileType::F4e2m1 | FileType::F8e4m3 | FileType::F8e5m2 | FileType::Bf16 | FileType::F32 => "<f4",
        FileType::F64 => "<f8",
    };
    // A tuple of one needs its comma; no other may end in a space.
    let extents = match shape {
        [extent] => format!("{extent},"),
        _ => shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    let total = (PREFIX + text.len() + 1).next_multiple_of(HEADER_ALIGNMENT);
    text.extend(std::iter::repeat_n(' ', total - PREFIX - 1 - text.len()));
    text.push('\n');
    let length = text.len() as u16;
    [b"\x93NUMPY\x01\x00".as_slice(), &length.to_le_bytes(), text.as_bytes()].concat()
}

/// Elements of `dtype` as the elements of [`FileType::of`] that a file holds.
pub(super) fn file_bytes<'a>(dtype: DType, shape: &[u64], bytes: &'a [u8]) -> Cow<'a, [u8]> {
    match dtype {
        DType::I5 | DType::I8 | DType::I9 | DType::I16 | DType::I32 | DType::U8 | DType::F16 | DType::F32 => {
            Cow::Borrowed(bytes)
        }
        DType::I4 => (0..halves(dtype, shape, bytes)).map(|index| load(dtype, bytes, index) as u8).collect(),
        DType::F4e2m1 => {
            let value = |index| (to_f64(dtype, load(dtype, bytes, index)) as f32).to_le_bytes();
            (0..halves(dtype, shape, bytes)).flat_map(value).collect()
        }
        DType::F8e4m3 | DType::F8e5m2 => {
            let value = |&bits: &u8| (to_f64(dtype, u32::from(bits)) as f32).to_le_bytes();
            bytes.iter().flat_map(value).collect()
        }
        // A bf16 value is the f32 value with sixteen more zero bits below.
        DType::Bf16 => bytes.chunks_exact(2).flat_map(|half| [0, 0, half[0], half[1]]).collect(),
    }
}

/// Number of elements of four bits: the last byte may hold one only.
fn halves(dtype: DType, shape: &[u64], bytes: &[u8]) -> usize {
    let held = dtype.elements(bytes.len() as u64);
    byte_count(shape, 1).map_or(held, |count| count.min(held)) as usize
}
