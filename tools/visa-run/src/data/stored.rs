//! An array found in a file whose header has been checked, with its elements not yet read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use visa_ir::diag::counted;

use super::DataError;
use super::array::{Array, FileType, byte_count};

/// A regular file and its length: every size in a header is checked against the length, so a lying header cannot make
/// us allocate more than the file's length.
pub(super) struct Opened {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) len: u64,
}

impl Opened {
    pub(super) fn open(path: &Path) -> Result<Opened, DataError> {
        let (file, len) = visa_files::open(path).map_err(|e| missing(path, &e))?;
        Ok(Opened { path: path.to_path_buf(), file, len })
    }

    /// The next `count` bytes; `None` if the file ends before them.
    pub(super) fn take(&mut self, count: u64) -> Result<Option<Vec<u8>>, DataError> {
        if count > self.len {
            return Ok(None);
        }
        let mut bytes = reserve(count).map_err(|e| self.error(e))?;
        (&mut self.file).take(count).read_to_end(&mut bytes).map_err(|e| self.error(e))?;
        Ok((bytes.len() as u64 == count).then_some(bytes))
    }

    pub(super) fn error(&self, message: impl std::fmt::Display) -> DataError {
        DataError::in_file(&self.path, message)
    }
}

/// A file that cannot be opened; for one that is missing, the nearest name.
fn missing(path: &Path, why: &std::io::Error) -> DataError {
    let near = (why.kind() == std::io::ErrorKind::NotFound).then(|| visa_opt::near_file(path)).flatten();
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    DataError::in_file(path, format_args!("{why}{near}"))
}

/// A checked header: the `byte_count(shape, dtype)` bytes from `offset` are in the file.
pub(super) struct Stored {
    pub(super) source: Opened,
    pub(super) shape: Vec<u64>,
    pub(super) dtype: FileType,
    pub(super) offset: u64,
    pub(super) big_endian: bool,
}

impl Stored {
    /// Refuses a shape other than the kernel's, before anything is read.
    pub(super) fn expect_shape(self, expected: &[u64]) -> Result<Stored, DataError> {
        if self.shape == expected {
            return Ok(self);
        }
        let fix = match byte_count(&self.shape, 1) == byte_count(expected, 1) {
            true => "; the element count agrees: reshape the array",
            false => "",
        };
        Err(self.source.error(format!("found shape {:?}, expected {expected:?}{fix}", self.shape)))
    }

    /// Refuses an array whose bytes, and as many `others` that are made of them, are over `bound`, before anything
    /// is read.
    pub(super) fn within(self, bound: u64, others: Option<u64>) -> Result<Stored, DataError> {
        let data = byte_count(&self.shape, self.dtype.width());
        let needed = data.zip(others).map_or(u64::MAX, |(data, others)| data.saturating_add(others));
        if needed <= bound { Ok(self) } else { Err(self.source.error(super::too_large(needed, bound))) }
    }

    /// Reads the elements.
    pub(super) fn read(self) -> Result<Array, DataError> {
        let Stored { mut source, shape, dtype, offset, big_endian } = self;
        source.file.seek(SeekFrom::Start(offset)).map_err(|e| source.error(e))?;
        let elements = byte_count(&shape, 1);
        let data = match elements.and_then(|elements| dtype.stored(elements)) {
            Some(count) => source.take(count)?,
            None => None,
        };
        let mut data = data.ok_or_else(|| source.error("the file ends before its data does"))?;
        if dtype == FileType::F4e2m1 {
            data = halves(&data, elements);
        }
        if big_endian {
            data.chunks_exact_mut(dtype.width()).for_each(<[u8]>::reverse);
        }
        Array::new(shape, dtype, data)
    }
}

/// The first `count` half bytes, a byte each, the low half of a byte first.
fn halves(bytes: &[u8], count: Option<u64>) -> Vec<u8> {
    let count = count.and_then(|count| usize::try_from(count).ok());
    bytes.iter().flat_map(|byte| [byte & 0xf, byte >> 4]).take(count.unwrap_or(usize::MAX)).collect()
}

/// An empty buffer with room for `count` bytes, or an error where memory does not have it.
pub(super) fn reserve(count: u64) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    let reserved = usize::try_from(count).is_ok_and(|count| bytes.try_reserve_exact(count).is_ok());
    reserved
        .then_some(bytes)
        .ok_or_else(|| DataError::new(format!("out of memory: cannot hold {}", counted(count, "byte"))))
}
