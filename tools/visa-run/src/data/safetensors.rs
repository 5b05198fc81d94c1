//! One tensor of a safetensors file: 8 bytes of header length, a JSON header, the data.

use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::DataError;
use super::array::FileType;
use super::stored::{Opened, Stored};

/// Bytes before the header: its length.
const LENGTH_BYTES: u64 = 8;
/// Longest JSON header, in bytes: some 100,000 tensors.
const MAX_HEADER: u64 = 1 << 24;
/// How many names an error about a missing tensor lists.
const LISTED_KEYS: usize = 8;

/// Opens a safetensors file, checks its header against its length and finds the tensor `key`.
///
/// The header is read apart from the data: a file may hold a whole model of which we want one tensor.
pub(super) fn open(path: &Path, key: &str) -> Result<Stored, DataError> {
    let mut source = Opened::open(path)?;
    let (metadata, data_start) = read_header(&mut source)?;
    let expected = data_start.checked_add(metadata.data_len() as u64);
    if expected != Some(source.len) {
        let (found, expected) = (source.len - data_start, metadata.data_len());
        return Err(
            source.error(format!("truncated or wrong: found {found} bytes of data, expected {expected}"))
        );
    }
    let info = metadata.info(key).ok_or_else(|| source.error(missing(&metadata, key)))?;
    let dtype = element_type(info).map_err(|e| source.error(format!("tensor `{key}`: {e}")))?;
    // `Metadata` has checked that the offsets ascend and agree with shape and dtype.
    let shape = info.shape.iter().map(|&extent| extent as u64).collect();
    let offset = data_start + info.data_offsets.0 as u64;
    Ok(Stored { source, shape, dtype, offset, big_endian: false })
}

/// The header and the offset at which the data begins.
fn read_header(source: &mut Opened) -> Result<(Metadata, u64), DataError> {
    let no_file = "is no safetensors file: found";
    let length = source.take(LENGTH_BYTES)?.and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
    let Some(length) = length.map(u64::from_le_bytes) else {
        return Err(source.error(format!("{no_file} {} bytes, expected at least {LENGTH_BYTES}", source.len)));
    };
    if length > MAX_HEADER {
        return Err(
            source.error(format!("{no_file} a header of {length} bytes, expected at most {MAX_HEADER}"))
        );
    }
    let Some(text) = source.take(length)? else {
        return Err(source.error(format!("truncated: the file ends within its header of {length} bytes")));
    };
    let metadata =
        serde_json::from_slice(&text).map_err(|e| source.error(format!("wrong safetensors header: {e}")))?;
    Ok((metadata, LENGTH_BYTES + length))
}

fn missing(metadata: &Metadata, key: &str) -> String {
    let keys = metadata.offset_keys();
    let more = if keys.len() > LISTED_KEYS { ", ..." } else { "" };
    let listed: Vec<String> = keys.iter().take(LISTED_KEYS).map(|key| format!("`{key}`")).collect();
    format!("holds no tensor `{key}`; it holds {}{more}", listed.join(", "))
}

fn element_type(info: &TensorInfo) -> Result<FileType, String> {
    match info.dtype {
        Dtype::I8 => Ok(FileType::I8),
        Dtype::I16 => Ok(FileType::I16),
        Dtype::I32 => Ok(FileType::I32),
        Dtype::F8_E4M3 => Ok(FileType::F8e4m3),
        Dtype::F8_E5M2 => Ok(FileType::F8e5m2),
        Dtype::F16 => Ok(FileType::F16),
        Dtype::BF16 => Ok(FileType::Bf16),
        Dtype::F32 => Ok(FileType::F32),
        // `Dtype` is non-exhaustive, so this arm must be here.
        other => {
            Err(format!("found dtype {other}, expected I8, I16, I32, F8_E4M3, F8_E5M2, F16, BF16 or F32"))
        }
    }
}
