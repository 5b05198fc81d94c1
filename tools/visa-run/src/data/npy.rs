//! The header of a NumPy file (numpy.lib.format, versions 1.0 to 3.0).

use std::path::Path;
use visa_ir::diag::counted;

use npyz::{DType as NpyType, NpyHeader, Order};

use visa_numerics::DType;

use super::DataError;
use super::array::{FileType, byte_count};
use super::stored::{Opened, Stored};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header text, in bytes. A header that NumPy writes for a plain array has 118 or 54.
const MAX_HEADER: u64 = 1 << 16;
/// Deepest nesting of brackets: a record inside the list inside the dictionary, and its shape.
const MAX_NESTING: usize = 4;

/// Opens a NumPy file and checks its header against its length. Elements that NumPy has no type for are read as those
/// of `wanted`, the format of an argument: bf16 as uint16 or by ml_dtypes, and floats of 8 bits as bytes.
pub(super) fn open(path: &Path, wanted: Option<DType>) -> Result<Stored, DataError> {
    let mut source = Opened::open(path)?;
    let head = read_head(&mut source)?;
    // The parser's message can go on with an excerpt; its first line is enough.
    let header = NpyHeader::from_reader(head.as_slice()).map_err(|e| {
        let reason = e.to_string();
        source.error(format!("wrong npy header: {}", shortened(reason.lines().next().unwrap_or_default())))
    })?;
    let (dtype, big_endian) = element_type(&header.dtype(), wanted).map_err(|e| source.error(e))?;
    let shape = header.shape().to_vec();
    if header.order() == Order::Fortran && shape.len() > 1 {
        return Err(source.error("found Fortran order, expected C order; save numpy.ascontiguousarray(x)"));
    }
    let offset = head.len() as u64;
    let found = source.len - offset;
    match byte_count(&shape, dtype.width()) {
        Some(expected) if expected == found => Ok(Stored { source, shape, dtype, offset, big_endian }),
        Some(expected) if expected < found => Err(source.error(format!(
            "found {} of data, expected {expected}: bytes follow the array",
            counted(found, "byte")
        ))),
        Some(expected) => {
            Err(source
                .error(format!("truncated: found {} of data, expected {expected}", counted(found, "byte"))))
        }
        None => Err(source.error(format!("found shape {shape:?}, which is over 2^64 bytes"))),
    }
}

/// Everything before the data: magic, version, length, header text.
fn read_head(source: &mut Opened) -> Result<Vec<u8>, DataError> {
    let Some(mut head) = source.take(10)?.filter(|head| head.starts_with(MAGIC)) else {
        return Err(source.error("is no npy file: it does not begin with \\x93NUMPY"));
    };
    let truncated = |source: &Opened| source.error("truncated: the file ends within its npy header");
    let mut length = u64::from(u16::from_le_bytes([head[8], head[9]]));
    match (head[6], head[7]) {
        (1, 0) => {}
        (2, 0) | (3, 0) => {
            let high = source.take(2)?.ok_or_else(|| truncated(source))?;
            length |= u64::from(u16::from_le_bytes([high[0], high[1]])) << 16;
            head.extend(high);
        }
        (major, minor) => {
            return Err(source.error(format!("found npy version {major}.{minor}, expected 1.0, 2.0 or 3.0")));
        }
    }
    if length > MAX_HEADER {
        return Err(source.error(format!(
            "found an npy header of {}, expected at most {MAX_HEADER}",
            counted(length, "byte")
        )));
    }
    let text = source.take(length)?.ok_or_else(|| truncated(source))?;
    check_text(&text).and_then(|()| check_keys(&text)).map_err(|e| source.error(e))?;
    head.extend(text);
    Ok(head)
}

/// Lets only plain literals of bounded depth and product through to the parser, which evaluates sums,
/// recurses without bound and multiplies the shape without an overflow check.
fn check_text(text: &[u8]) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_'\"{}()[]<>|:, \n".contains(&byte);
    if let Some(&byte) = text.iter().find(|&&byte| !plain(byte)) {
        return Err(format!("wrong npy header: found byte 0x{byte:02x}, expected a plain dictionary"));
    }
    let mut depth = 0_usize;
    for &byte in text {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(format!("wrong npy header: found brackets nested deeper than {MAX_NESTING}"));
        }
    }
    let mut product = 1_u64;
    for word in text.split(|&byte| !byte.is_ascii_alphanumeric() && byte != b'_') {
        if word.first().is_some_and(u8::is_ascii_digit) {
            let extent = std::str::from_utf8(word).ok().and_then(|word| word.parse::<u64>().ok());
            product = extent.and_then(|extent| product.checked_mul(extent.max(1))).ok_or(
                "wrong npy header: the shape's extents are no integers, or their product is over 2^64",
            )?;
        }
    }
    Ok(())
}

/// Longest excerpt of a header in a message, in characters.
const EXCERPT: usize = 60;

/// Text of a header as a message shows it.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{} ... ({})", &text[..end], counted(text.chars().count(), "character")),
        None => text.to_owned(),
    }
}

/// Refuses a key that the dictionary has twice: NumPy would take the last.
fn check_keys(text: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(text);
    for key in ["descr", "fortran_order", "shape"] {
        let quoted = [format!("'{key}'"), format!("\"{key}\"")];
        let times: usize = quoted.iter().map(|quoted| keys(&text, quoted)).sum();
        if times > 1 {
            return Err(format!(
                "wrong npy header: `{key}` is there {}, expected once",
                counted(times, "time")
            ));
        }
    }
    Ok(())
}

/// Number of uses of a quoted word as a key.
fn keys(text: &str, quoted: &str) -> usize {
    text.match_indices(quoted)
        .filter(|(at, _)| text[at + quoted.len()..].trim_start().starts_with(':'))
        .count()
}

/// The element type and whether it is big-endian.
fn element_type(descr: &NpyType, wanted: Option<DType>) -> Result<(FileType, bool), String> {
    let descr = descr.descr();
    let name = descr.trim_matches('\'');
    let dtype = match name.trim_start_matches(['<', '>', '|']) {
        "u2" | "V2" if wanted == Some(DType::Bf16) => FileType::Bf16,
        "u1" | "V1" if wanted == Some(DType::F8e4m3) => FileType::F8e4m3,
        "u1" | "V1" if wanted == Some(DType::F8e5m2) => FileType::F8e5m2,
        "i1" => FileType::I8,
        "i2" => FileType::I16,
        "i4" => FileType::I32,
        "i8" => FileType::I64,
        "u1" => FileType::U8,
        "f2" => FileType::F16,
        "f4" => FileType::F32,
        "f8" => FileType::F64,
        _ => {
            return Err(format!(
                "found npy dtype {}, expected '|i1', '|u1', '<i2', '<i4', '<i8', '<f2', '<f4' or '<f8'; convert it \
                 with x.astype(...)",
                shortened(&descr)
            ));
        }
    };
    Ok((dtype, name.starts_with('>')))
}
