//! Reading: regular files and standard input, never more than a bound.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file and tells how many bytes it has.
///
/// # Errors
/// The system's error, and anything but a regular file: a pipe waits for its writer, and a device may never end.
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    // Asked before it is opened: already that waits for a pipe's writer.
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok((File::open(path)?, found.len()))
}

/// The bytes of a regular file.
///
/// # Errors
/// The system's error, anything but a regular file, and one of more than `bound` bytes, which is not read.
pub fn read(path: &Path, bound: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open(path)?;
    if length > bound {
        return Err(too_long(&length.to_string(), bound));
    }
    // It may have grown since, and a file of the system may not report its length.
    fill(Vec::with_capacity(length as usize), file, bound)
}

/// The bytes of a stream up to its end.
///
/// # Errors
/// The system's error, and a stream of more than `bound` bytes, of which one more than `bound` is read.
pub fn read_stream(stream: impl Read, bound: u64) -> io::Result<Vec<u8>> {
    fill(Vec::new(), stream, bound)
}

fn fill(mut bytes: Vec<u8>, stream: impl Read, bound: u64) -> io::Result<Vec<u8>> {
    stream.take(bound.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bound {
        return Err(too_long(&format!("more than {bound}"), bound));
    }
    Ok(bytes)
}

fn too_long(found: &str, bound: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has {found} bytes, expected at most {bound}"))
}
