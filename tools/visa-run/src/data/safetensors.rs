//! One tensor of a safetensors file: 8 bytes of header length, a JSON header, the data.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use visa_ir::diag::counted;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::DataError;
use super::array::FileType;
use super::stored::{Opened, Stored};

/// Bytes before the header: its length.
const LENGTH_BYTES: u64 = 8;
/// Longest JSON header, in bytes: some 100,000 tensors.
const MAX_HEADER: u64 = 1 << 24;
/// Most names in an error about a missing tensor.
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
        return Err(source.error(format!(
            "truncated or wrong: found {} of data, expected {expected}",
            counted(found, "byte")
        )));
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
        return Err(source
            .error(format!("{no_file} {}, expected at least {LENGTH_BYTES}", counted(source.len, "byte"))));
    };
    if length > MAX_HEADER {
        return Err(source.error(format!(
            "{no_file} a header of {}, expected at most {MAX_HEADER}",
            counted(length, "byte")
        )));
    }
    let Some(text) = source.take(length)? else {
        return Err(source
            .error(format!("truncated: the file ends within its header of {}", counted(length, "byte"))));
    };
    let wrong = |e: serde_json::Error| source.error(format!("wrong safetensors header: {e}"));
    serde_json::from_slice::<DistinctKeys>(&text).map_err(wrong)?;
    let metadata = serde_json::from_slice(&text).map_err(wrong)?;
    Ok((metadata, LENGTH_BYTES + length))
}

/// An object of which no key is there twice: of two tensors of one name, a reader would take either.
struct DistinctKeys;

impl<'de> Deserialize<'de> for DistinctKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self)
    }
}

impl<'de> Visitor<'de> for DistinctKeys {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut known = BTreeSet::new();
        while let Some((key, _)) = map.next_entry::<String, IgnoredAny>()? {
            if !known.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("key `{key}` is there twice")));
            }
        }
        Ok(self)
    }
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
        Dtype::U8 => Ok(FileType::U8),
        Dtype::F4 => Ok(FileType::F4e2m1),
        Dtype::F8_E4M3 => Ok(FileType::F8e4m3),
        Dtype::F8_E5M2 => Ok(FileType::F8e5m2),
        Dtype::F16 => Ok(FileType::F16),
        Dtype::BF16 => Ok(FileType::Bf16),
        Dtype::F32 => Ok(FileType::F32),
        // `Dtype` is non-exhaustive, so this arm must be here.
        other => Err(format!(
            "found dtype {other}, expected I8, I16, I32, U8, F4, F8_E4M3, F8_E5M2, F16, BF16 or F32"
        )),
    }
}
