//! Sources, generators, files good and bad. Expected bytes are worked out by hand or, for the generator, by
//! `test/kernels/data/make.py`, which shares no code with us.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use visa_numerics::DType;

use super::*;

/// A separate directory for each test, removed when it ends.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().expect("a temporary directory"))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).expect("a writable directory");
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a readable directory");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
}

/// An npy version 1.0 file, its header not padded.
fn npy(dict: &str, data: &[u8]) -> Vec<u8> {
    let length = (dict.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), dict.as_bytes(), data].concat()
}

fn npy_of(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"), data)
}

fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// Without a bound that matters.
fn load(source: &Source, dtype: DType, shape: &[u64]) -> Result<Vec<u8>, DataError> {
    super::load(source, dtype, shape, u64::MAX)
}

/// Loads the bytes as `x.npy`.
fn load_npy(bytes: &[u8], dtype: DType, shape: &[u64]) -> Result<Vec<u8>, String> {
    let files = Files::new();
    load(&Source::Npy(files.write("x.npy", bytes)), dtype, shape).map_err(one_line)
}

/// Loads tensor `x` of the bytes as `x.safetensors`.
fn load_safetensors(bytes: &[u8], dtype: DType, shape: &[u64]) -> Result<Vec<u8>, String> {
    let files = Files::new();
    let path = files.write("x.safetensors", bytes);
    load(&Source::Safetensors { path, key: "x".into() }, dtype, shape).map_err(one_line)
}

/// The message, which must be one line.
fn one_line(error: DataError) -> String {
    assert!(!error.message.contains('\n'), "one line: {error}");
    error.message
}

/// Bit by bit.
const EXACT: Tolerance = Tolerance { ulps: 0, bound: None };

/// A result whose elements are all defined.
fn elements<'a>(dtype: DType, shape: &'a [u64], bytes: &'a [u8]) -> Elements<'a> {
    Elements { dtype, shape, bytes, defined: None }
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn i32s(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn i64s(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The error contains each of the parts.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, String>, parts: &[&str]) {
    let message = result.expect_err("must be refused");
    for part in parts {
        assert!(message.contains(part), "`{message}` lacks `{part}`");
    }
}

#[test]
fn sources_parse() {
    assert_eq!(Source::parse("a/b.npy"), Ok(Source::Npy("a/b.npy".into())));
    let tensor = Source::Safetensors { path: "a.safetensors".into(), key: "model.w:0".into() };
    assert_eq!(Source::parse("a.safetensors:model.w:0"), Ok(tensor));
    assert_eq!(Source::parse("rand:18446744073709551615"), Ok(Source::Rand(u64::MAX)));
    assert_eq!(Source::parse("zeros"), Ok(Source::Zeros));
    assert_eq!(Source::parse("iota"), Ok(Source::Iota));
}

#[test]
fn wrong_sources_are_refused() {
    for text in ["", "ones", "a.txt", "a.safetensors", "a.safetensors:", "npy", "Zeros"] {
        refused(Source::parse(text).map_err(one_line), &["FILE.safetensors:KEY, rand:SEED, zeros or iota"]);
    }
    for text in ["rand:", "rand:-1", "rand:x", "rand:18446744073709551616"] {
        refused(Source::parse(text).map_err(one_line), &["found seed", "expected an integer"]);
    }
}

/// Element 0 of seed 1 is the generator's state 2G: the second output of SplitMix64 seeded with 0, which is
/// published as 0x6e789e6aa1b965f4.
#[test]
fn rand_is_the_documented_generator() {
    let of = |dtype| load(&Source::Rand(1), dtype, &[1]).expect("generated");
    // mix(mix(1) + G) = 0xbfef8030ddc2d772, from a few lines of Python integers.
    assert_eq!(of(DType::I32), [0x72, 0xd7, 0xc2, 0xdd]);
    assert_eq!(of(DType::I8), [0x72]);
    // 0xbfef80 / 2^23 - 1 = 0x3fef80 / 2^23 = 1.1111111 10111110 * 2^-2: bits 0x3effbe00.
    assert_eq!(of(DType::F32), 0x3eff_be00_u32.to_le_bytes());
    // The dropped half 0xbe00 is over a half of the last place: up to 0.5.
    assert_eq!(of(DType::Bf16), [0x00, 0x3f]);
}

/// The committed NumPy oracle adds 1 to `rand:1`, and wrote `rand:3` and `rand:2` to a safetensors file.
#[test]
fn rand_agrees_with_the_numpy_oracle() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/kernels/data");
    let plus_one: Vec<u8> = load(&Source::Rand(1), DType::I32, &[2048])
        .expect("generated")
        .chunks_exact(4)
        .flat_map(|x| i32::from_le_bytes([x[0], x[1], x[2], x[3]]).wrapping_add(1).to_le_bytes())
        .collect();
    let expected = Array::read_npy(&data.join("constant_add.out.npy"), u64::MAX).expect("committed");
    assert_eq!(compare(&elements(DType::I32, &[2048], &plus_one), &expected, EXACT), Ok(()));
    for (key, seed, dtype) in [("lhs", 3, DType::F32), ("rhs", 2, DType::Bf16)] {
        let file = Source::Safetensors { path: data.join("lhs_rhs.safetensors"), key: key.into() };
        let generated = load(&Source::Rand(seed), dtype, &[2048]);
        assert!(generated == load(&file, dtype, &[2048]) && generated.is_ok(), "{key}");
    }
}

#[test]
fn iota_wraps_integers_and_rounds_floats() {
    let i8s = load(&Source::Iota, DType::I8, &[2, 129]).expect("generated");
    assert_eq!((i8s[127], i8s[128], i8s[255], i8s[256], i8s[257]), (127, 128, 255, 0, 1));
    let bf16s = load(&Source::Iota, DType::Bf16, &[260]).expect("generated");
    // 257 is a tie between 256 (0x4380) and 258 (0x4381), 259 one between 258 and 260 (0x4382): even wins.
    assert_eq!(bf16s[2 * 257..], [0x80, 0x43, 0x81, 0x43, 0x82, 0x43]);
    assert_eq!(load(&Source::Iota, DType::I32, &[2]), Ok(i32s(&[0, 1])));
    assert_eq!(load(&Source::Zeros, DType::F32, &[2]), Ok(vec![0; 8]));
    assert_eq!(load(&Source::Iota, DType::F32, &[]), Ok(vec![0; 4]));
}

#[test]
fn a_shape_past_memory_is_refused() {
    refused(load(&Source::Zeros, DType::I32, &[1 << 32, 1 << 32]).map_err(one_line), &["over 2^64 bytes"]);
    refused(load(&Source::Zeros, DType::I32, &[1 << 61]).map_err(one_line), &["out of memory"]);
}

#[test]
fn floats_round_to_nearest_even() {
    const TIE: f32 = 1.0 / 256.0;
    // In bf16, 1 + 2^-8 is halfway between 0x3f80 (1, even) and 0x3f81; 1 + 3 * 2^-8 between 0x3f81 and
    // 0x3f82 (even).
    let file = npy_of("<f4", "(4,)", &f32s(&[1.0 + TIE, 1.0 + 3.0 * TIE, -1.5, 1.0 + TIE + f32::EPSILON]));
    let expected = vec![0x80, 0x3f, 0x82, 0x3f, 0xc0, 0xbf, 0x81, 0x3f];
    assert_eq!(load_npy(&file, DType::Bf16, &[4]), Ok(expected));
    // 2^-126 less a quarter of the step of bf16 there: a double rounds up to the least normal number. An f32 is a
    // subnormal, which the engines take for zero.
    let below = f64::from(f32::MIN_POSITIVE) - 2_f64.powi(-135);
    let file = npy_of("<f8", "(2,)", &f64s(&[below, -below]));
    assert_eq!(load_npy(&file, DType::Bf16, &[2]), Ok(vec![0x80, 0, 0x80, 0x80]));
    let file = npy_of("<f4", "(1,)", &f32s(&[below as f32]));
    assert_eq!(load_npy(&file, DType::Bf16, &[1]), Ok(vec![0, 0]));
    // Just over that tie, by less than f32 can represent: rounding through f32 would give 1.
    let file = npy_of("<f8", "(3,)", &f64s(&[1.00390625 + 1e-12, 1.00390625, -1.00390625 - 1e-12]));
    assert_eq!(load_npy(&file, DType::Bf16, &[3]), Ok(vec![0x81, 0x3f, 0x80, 0x3f, 0x81, 0xbf]));
    // The tie between 1 and 1.125 of f8e4m3, and just over it by less than f32 can represent.
    let file = npy_of("<f8", "(2,)", &f64s(&[1.0625, 1.0625 + 1e-12]));
    assert_eq!(load_npy(&file, DType::F8e4m3, &[2]), Ok(vec![0x38, 0x39]));
    // 1e300 is past both; 1 + 2^-24 is a tie in f32.
    let file = npy_of("<f8", "(2,)", &f64s(&[1e300, 1.0 + f64::from(f32::EPSILON) / 2.0]));
    assert_eq!(load_npy(&file, DType::F32, &[2]), Ok(f32s(&[f32::INFINITY, 1.0])));
    assert_eq!(load_npy(&file, DType::Bf16, &[2]), Ok(vec![0x80, 0x7f, 0x80, 0x3f]));
}

#[test]
fn integers_convert_when_they_are_exact() {
    let file = npy_of("<i8", "(2,)", &i64s(&[127, -128]));
    assert_eq!(load_npy(&file, DType::I8, &[2]), Ok(vec![0x7f, 0x80]));
    let file = npy_of("|i1", "(2,)", &[0x80, 0x7f]);
    assert_eq!(load_npy(&file, DType::I32, &[2]), Ok(i32s(&[-128, 127])));
    assert_eq!(load_npy(&file, DType::Bf16, &[2]), Ok(vec![0x00, 0xc3, 0xfe, 0x42]));
    let file = npy_of("<f8", "(2,)", &f64s(&[2147483647.0, -2147483648.0]));
    assert_eq!(load_npy(&file, DType::I32, &[2]), Ok(i32s(&[i32::MAX, i32::MIN])));
    // 7 and -8 share a byte, -1 has half of the next.
    let file = npy_of("|i1", "(3,)", &[7, 0xf8, 0xff]);
    assert_eq!(load_npy(&file, DType::I4, &[3]), Ok(vec![0x87, 0x0f]));
    let file = npy_of("<i2", "(2,)", &[0x00, 0x80, 0xff, 0x7f]);
    assert_eq!(load_npy(&file, DType::I16, &[2]), Ok(vec![0x00, 0x80, 0xff, 0x7f]));
    let file = npy_of("<f2", "(2,)", &[0x00, 0x3e, 0x01, 0x80]);
    assert_eq!(load_npy(&file, DType::F16, &[2]), Ok(vec![0x00, 0x3e, 0x01, 0x80]));
    assert_eq!(load_npy(&file, DType::F8e5m2, &[2]), Ok(vec![0x3e, 0x80]));
    let file = npy_of("|u1", "(2,)", &[0, 255]);
    assert_eq!(load_npy(&file, DType::U8, &[2]), Ok(vec![0, 255]));
    assert_eq!(load_npy(&file, DType::I32, &[2]), Ok(i32s(&[0, 255])));
    // 6 and -0.5 share a byte, -0 has half of the next; 1.25 is a tie, to even.
    let file = npy_of("<f4", "(4,)", &f32s(&[6.0, -0.5, -0.0, 1.25]));
    assert_eq!(load_npy(&file, DType::F4e2m1, &[4]), Ok(vec![0x97, 0x28]));
    let file = npy_of("<f4", "(2,)", &f32s(&[-0.0, -128.0]));
    assert_eq!(load_npy(&file, DType::I8, &[2]), Ok(vec![0, 0x80]));
}

#[test]
fn values_out_of_range_are_refused_with_their_index() {
    let refuse = |descr, data: &[u8], dtype, parts: &[&str]| {
        refused(load_npy(&npy_of(descr, "(2, 2)", data), dtype, &[2, 2]), parts);
    };
    refuse("<i4", &i32s(&[0, 127, 128, 129]), DType::I8, &["element (1, 0) is 128", "exact i8"]);
    refuse("<i4", &i32s(&[0, -128, 0, -129]), DType::I8, &["element (1, 1) is -129"]);
    refuse("<i8", &i64s(&[0, 1 << 31, 0, 0]), DType::I32, &["element (0, 1) is 2147483648", "exact i32"]);
    refuse("<f4", &f32s(&[0.5, 0.0, 0.0, 0.0]), DType::I8, &["element (0, 0) is 0.5"]);
    refuse("<f4", &f32s(&[0.0, 128.0, 0.0, 0.0]), DType::I8, &["element (0, 1) is 128"]);
    refuse("<f4", &f32s(&[0.0, 0.0, f32::NAN, 0.0]), DType::I32, &["element (1, 0) is NaN"]);
    refuse("<f8", &f64s(&[0.0, 0.0, 0.0, f64::INFINITY]), DType::I32, &["element (1, 1) is inf"]);
    refuse("<f8", &f64s(&[2147483648.0, 0.0, 0.0, 0.0]), DType::I32, &["element (0, 0) is 2147483648,"]);
    refuse("<f4", &f32s(&[2147483648.0, 0.0, 0.0, 0.0]), DType::I32, &["element (0, 0) is 2147483648,"]);
    refuse("<f4", &f32s(&[0.0, -4294967296.0, 0.0, 0.0]), DType::I32, &["element (0, 1) is -4294967296,"]);
    // 2^100 has 31 digits, all of which are shown; past the range of f32 the digits that name a double.
    refuse(
        "<f4",
        &f32s(&[1.2676506e30, 0.0, 0.0, 0.0]),
        DType::I16,
        &["element (0, 0) is 1267650600228229401496703205376,"],
    );
    refuse("<f8", &f64s(&[0.0, 1e300, 0.0, 0.0]), DType::I32, &["element (0, 1) is 1e300,"]);
    refuse("<f8", &f64s(&[0.0, 1e-300, 0.0, 0.0]), DType::I32, &["element (0, 1) is 1e-300,"]);
    // A double that is an f32, too, is named among doubles.
    refuse("<f8", &f64s(&[f64::from(0.1_f32), 0.0, 0.0, 0.0]), DType::I8, &["is 0.10000000149011612,"]);
    refuse("<f4", &f32s(&[0.1, 0.0, 0.0, 0.0]), DType::I8, &["element (0, 0) is 0.1,"]);
    refuse("|i1", &[7, 0xf8, 8, 9], DType::I4, &["element (1, 0) is 8", "exact i4"]);
    refuse("|i1", &[0, 0xf7, 0, 0], DType::I4, &["element (0, 1) is -9"]);
    refuse("<i4", &i32s(&[255, 256, 0, 0]), DType::U8, &["element (0, 1) is 256", "exact u8"]);
    refuse("|i1", &[0, 0, 0, 0xff], DType::U8, &["element (1, 1) is -1", "exact u8"]);
    refuse("|u1", &[0, 0, 128, 0], DType::I8, &["element (1, 0) is 128", "exact i8"]);
    refuse("<i4", &i32s(&[6, 4, 5, 0]), DType::F4e2m1, &["element (1, 0) is 5", "exact f4e2m1"]);
    refuse("<i4", &i32s(&[32767, 32768, 0, 0]), DType::I16, &["element (0, 1) is 32768", "exact i16"]);
    refuse("<i4", &i32s(&[448, 449, 0, 0]), DType::F8e4m3, &["element (0, 1) is 449", "exact f8e4m3"]);
    refuse("<i4", &i32s(&[256, 257, 0, 0]), DType::Bf16, &["element (0, 1) is 257", "exact bf16"]);
    refuse("<i8", &i64s(&[0, i64::MAX, 0, 0]), DType::F32, &["element (0, 1) is 9223372036854775807"]);
}

#[test]
fn big_endian_and_one_axis_of_fortran_order_are_read() {
    let file = npy_of(">i4", "(2,)", &[0, 0, 1, 2, 0xff, 0xff, 0xff, 0xfe]);
    assert_eq!(load_npy(&file, DType::I32, &[2]), Ok(i32s(&[258, -2])));
    let file = npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2,)}", &i32s(&[1, 2]));
    assert_eq!(load_npy(&file, DType::I32, &[2]), Ok(i32s(&[1, 2])));
    let file = npy("{'descr': '<i4', 'fortran_order': True, 'shape': (1, 2)}", &i32s(&[1, 2]));
    refused(load_npy(&file, DType::I32, &[1, 2]), &["Fortran order", "ascontiguousarray"]);
}

#[test]
fn npy_versions_two_and_three_are_read() {
    let dict = "{'descr': '|i1', 'fortran_order': False, 'shape': ()}";
    for version in [2, 3] {
        let head = [b"\x93NUMPY".as_slice(), &[version, 0], &(dict.len() as u32).to_le_bytes()].concat();
        assert_eq!(load_npy(&[&head, dict.as_bytes(), &[7]].concat(), DType::I8, &[]), Ok(vec![7]));
    }
    let file = [b"\x93NUMPY\x04\x00\x00\x00".as_slice(), &[0; 8]].concat();
    refused(load_npy(&file, DType::I8, &[]), &["found npy version 4.0"]);
}

#[test]
fn files_that_are_no_files_are_refused() {
    let files = Files::new();
    let of = |path: &Path| load(&Source::Npy(path.to_path_buf()), DType::I8, &[1]).map_err(one_line);
    refused(of(&files.0.path().join("none.npy")), &["none.npy`: No such file"]);
    refused(of(files.0.path()), &["not a regular file"]);
    refused(of(Path::new("/dev/zero")), &["not a regular file"]);
}

/// For 8-byte elements that become bytes both are in memory; data in the kernel's format is in memory once.
#[test]
fn what_is_loaded_fits_the_bound() {
    let files = Files::new();
    let wide = Source::Npy(files.write("wide.npy", &npy_of("<f8", "(4,)", &[0; 32])));
    let same = Source::Npy(files.write("same.npy", &npy_of("|i1", "(4,)", &[0; 4])));
    let header = r#"{"x":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}"#;
    let path = files.write("x.safetensors", &safetensors(header, &[0; 8]));
    let narrow = Source::Safetensors { path, key: "x".into() };
    for (source, dtype, needed) in [
        (&wide, DType::I8, 36),
        (&same, DType::I8, 4),
        (&narrow, DType::Bf16, 8),
        (&narrow, DType::F32, 24),
        (&Source::Zeros, DType::F32, 16),
        (&Source::Rand(1), DType::I4, 2),
    ] {
        assert!(super::load(source, dtype, &[4], needed).is_ok(), "{source:?}");
        let refusal = format!("it takes {needed} bytes of memory, expected at most {}", needed - 1);
        refused(super::load(source, dtype, &[4], needed - 1).map_err(one_line), &[&refusal]);
    }
    let path = files.0.path().join("wide.npy");
    assert!(Array::read_npy(&path, 32).is_ok());
    refused(Array::read_npy(&path, 31).map_err(one_line), &["32 bytes of memory, expected at most 31"]);
    // A header that names more than 64 bits count is over every bound.
    refused(
        super::load(&Source::Zeros, DType::I32, &[1 << 62, 4], 1 << 40).map_err(one_line),
        &["expected at most"],
    );
}

#[test]
fn another_shape_is_refused() {
    let file = npy_of("|i1", "(2, 3)", &[0; 6]);
    let found = "found shape [2, 3], expected";
    refused(load_npy(&file, DType::I8, &[2, 4]), &["x.npy", found, "[2, 4]"]);
    refused(load_npy(&file, DType::I8, &[3, 2]), &[found, "[3, 2]", "reshape"]);
    refused(load_npy(&file, DType::I8, &[6]), &[found, "[6]", "reshape"]);
    refused(load_npy(&file, DType::I8, &[]), &[found, "[]"]);
}

#[test]
fn npy_files_cut_short_or_too_long_are_refused() {
    let file = npy_of("<i4", "(2,)", &i32s(&[1, 2]));
    for length in 0..file.len() {
        refused(load_npy(&file[..length], DType::I32, &[2]), &["x.npy"]);
    }
    refused(load_npy(&file[..5], DType::I32, &[2]), &["is no npy file"]);
    refused(load_npy(&file[..20], DType::I32, &[2]), &["ends within its npy header"]);
    let one_less = &file[..file.len() - 1];
    refused(load_npy(one_less, DType::I32, &[2]), &["truncated: found 7 bytes of data, expected 8"]);
    let one_more = [file.as_slice(), &[0]].concat();
    refused(load_npy(&one_more, DType::I32, &[2]), &["found 9 bytes of data, expected 8"]);
    assert_eq!(load_npy(&file, DType::I32, &[2]), Ok(i32s(&[1, 2])));
}

#[test]
fn npy_types_that_we_do_not_read_are_refused() {
    for descr in ["<c8", "<f2", "|u1", "|b1", "<i2", "<u4", "|S4", "|O", "<M8[ns]"] {
        refused(load_npy(&npy_of(descr, "(1,)", &[0; 8]), DType::I8, &[1]), &["npy"]);
    }
    refused(
        load_npy(&npy_of("<c8", "(1,)", &[0; 8]), DType::I8, &[1]),
        &["found npy dtype '<c8'", "'<f4' or '<f8'"],
    );
    let record = npy("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}", &[0; 4]);
    refused(load_npy(&record, DType::I32, &[1]), &["found npy dtype [('a', '<i4')"]);
}

#[test]
fn what_a_header_says_twice_is_refused() {
    let twice = npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), 'shape': (1, 2)}", &[0; 8]);
    refused(
        load_npy(&twice, DType::I32, &[2]),
        &["wrong npy header: `shape` is there 2 times, expected once"],
    );
    let twice = npy("{'descr': '<f4', \"descr\": '<i4', 'fortran_order': False, 'shape': (2,)}", &[0; 8]);
    refused(load_npy(&twice, DType::I32, &[2]), &["`descr` is there 2 times"]);
    let tensor =
        |end: usize| format!("\"x\":{{\"dtype\":\"I8\",\"shape\":[{end}],\"data_offsets\":[0,{end}]}}");
    let once = safetensors(&format!("{{{}}}", tensor(2)), &[1, 2]);
    assert_eq!(load_safetensors(&once, DType::I8, &[2]), Ok(vec![1, 2]));
    let twice = safetensors(&format!("{{{},{}}}", tensor(1), tensor(2)), &[1, 2]);
    refused(load_safetensors(&twice, DType::I8, &[2]), &["wrong safetensors header: key `x` is there twice"]);
}

#[test]
fn long_headers_are_shown_in_part() {
    let fields: Vec<String> = (0..40).map(|at| format!("('f{at}', '<i4')")).collect();
    let record = format!("{{'descr': [{}], 'fortran_order': False, 'shape': (1,)}}", fields.join(", "));
    let found = load_npy(&npy(&record, &[0; 160]), DType::I32, &[1]).expect_err("a record");
    assert!(found.contains("found npy dtype [('f0', '<i4')") && found.contains(" ... ("), "{found}");
    assert!(found.len() < 300, "{found}");
}

#[test]
fn a_missing_file_names_the_nearest_one() {
    let files = Files::new();
    let path = files.write("weights.npy", &[]);
    let of = |name: &str| Array::read_npy(&path.with_file_name(name), u64::MAX).map_err(one_line);
    refused(of("wieghts.npy"), &["did you mean `weights.npy`?"]);
    assert!(!of("unlike_that.npy").expect_err("missing").contains("did you mean"));
}

#[test]
fn wide_numbers_are_said_to_be_narrowed() {
    let files = Files::new();
    let of = |descr: &str, dtype| {
        let path = files.write("x.npy", &npy_of(descr, "(1,)", &[0; 8]));
        narrowing(&Source::Npy(path), dtype)
    };
    let float = of("<f8", DType::Bf16).expect("float64");
    assert!(float.contains("float64 elements are rounded to the nearest `bf16`"), "{float}");
    assert!(of("<f8", DType::I8).expect("float64").contains("must be an integer"));
    assert!(of("<i8", DType::I32).expect("int64").contains("int64 elements become `i32`"));
    assert_eq!(narrowing(&Source::Zeros, DType::I8), None);
    let path = files.write("y.npy", &npy_of("<f4", "(1,)", &[0; 4]));
    assert_eq!(narrowing(&Source::Npy(path), DType::Bf16), None);
}

/// Each would make a careless reader allocate, overflow, recurse or evaluate.
#[test]
fn lying_npy_headers_are_refused() {
    let of = |shape: &str| load_npy(&npy_of("<i4", shape, &[0; 8]), DType::I32, &[2]);
    refused(of("(1152921504606846976,)"), &["truncated: found 8 bytes of data"]);
    refused(of("(9223372036854775808, 3)"), &["product is over 2^64"]);
    refused(of("(4294967296, 4294967296, 0)"), &["product is over 2^64"]);
    refused(of("(4611686018427387904,)"), &["over 2^64 bytes"]);
    refused(of("(18446744073709551616,)"), &["product is over 2^64"]);
    refused(of("(0x2,)"), &["no integers"]);
    refused(of("(-2,)"), &["found byte 0x2d"]);
    refused(of("(1+1,)"), &["found byte 0x2b"]);
    refused(of("(2.0,)"), &["found byte 0x2e"]);
    refused(of("2"), &["wrong npy header"]);
    refused(of("((2,),)"), &["wrong npy header"]);
    refused(of(&"(".repeat(60_000)), &["nested deeper than 4"]);
    let long = [b"\x93NUMPY\x02\x00".as_slice(), &[0xff; 4], b"{}"].concat();
    refused(load_npy(&long, DType::I32, &[2]), &["header of 4294967295 bytes, expected at most 65536"]);
    for dict in ["", "{}", "[]", "{'descr': '<i4'}", "{'shape': (2,), 'descr': '<i4', 'fortran_order': 1}"] {
        refused(load_npy(&npy(dict, &[0; 8]), DType::I32, &[2]), &["wrong npy header"]);
    }
}

#[test]
fn npy_header_limits() {
    let of = |length: usize| {
        let mut dict = b"{'descr': '|i1', 'fortran_order': False, 'shape': ()}".to_vec();
        dict.resize(length, b' ');
        let head = [b"\x93NUMPY\x02\x00", (length as u32).to_le_bytes().as_slice()].concat();
        load_npy(&[head, dict, vec![7]].concat(), DType::I8, &[])
    };
    assert_eq!(of(65_536), Ok(vec![7]));
    refused(of(65_537), &["header of 65537 bytes, expected at most 65536"]);
    // Braces, list, record and its shape are four levels; a shape in a shape is a fifth.
    let nested = |shape: &str| {
        npy(&format!("{{'descr': [('a', '<i4', {shape})], 'fortran_order': False, 'shape': ()}}"), &[0; 8])
    };
    refused(load_npy(&nested("(2,)"), DType::I32, &[]), &["found npy dtype [('a', '<i4', (2,))"]);
    refused(load_npy(&nested("((2,),)"), DType::I32, &[]), &["nested deeper than 4"]);
}

/// For any bytes of the header: an answer, no panic.
#[test]
fn any_byte_of_a_header_may_be_wrong() {
    let file = npy_of("<i4", "(2,)", &i32s(&[1, 2]));
    let files = Files::new();
    for at in 0..file.len() - 8 {
        for byte in [0, b'\n', b' ', b'\'', b'(', b',', b'1', b'9', b':', b'>', b'O', b'[', b'}', 0x80, 0xff]
        {
            let mut wrong = file.clone();
            wrong[at] = byte;
            let source = Source::Npy(files.write("x.npy", &wrong));
            if let Ok(bytes) = load(&source, DType::I32, &[2]) {
                assert_eq!(bytes.len(), 8);
            }
        }
    }
}

#[test]
fn safetensors_are_read() {
    let header = r#"{"__metadata__":{"a":"b"},"w":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},
        "x":{"dtype":"BF16","shape":[1,2],"data_offsets":[1,5]}}"#;
    let file = safetensors(header, &[9, 0x80, 0x3f, 0x00, 0xc0]);
    assert_eq!(load_safetensors(&file, DType::Bf16, &[1, 2]), Ok(vec![0x80, 0x3f, 0x00, 0xc0]));
    assert_eq!(load_safetensors(&file, DType::F32, &[1, 2]), Ok(f32s(&[1.0, -2.0])));
    assert_eq!(load_safetensors(&file, DType::I8, &[1, 2]), Ok(vec![1, 0xfe]));
    refused(load_safetensors(&file, DType::I8, &[2]), &["found shape [1, 2], expected [2]"]);
}

#[test]
fn unsigned_and_four_bit_safetensors_are_read() {
    let header =
        |dtype, shape| format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,2]}}}}"#);
    let bytes = safetensors(&header("U8", "[2]"), &[0x80, 0xff]);
    assert_eq!(load_safetensors(&bytes, DType::U8, &[2]), Ok(vec![0x80, 0xff]));
    assert_eq!(load_safetensors(&bytes, DType::I32, &[2]), Ok(i32s(&[128, 255])));
    // 2 and 3, -0 and -6: the low half first.
    let halves = safetensors(&header("F4", "[2,2]"), &[0x54, 0xf8]);
    assert_eq!(load_safetensors(&halves, DType::F4e2m1, &[2, 2]), Ok(vec![0x54, 0xf8]));
    assert_eq!(load_safetensors(&halves, DType::F32, &[2, 2]), Ok(f32s(&[2.0, 3.0, -0.0, -6.0])));
    refused(load_safetensors(&halves, DType::F4e2m1, &[4]), &["found shape [2, 2], expected [4]"]);
}

#[test]
fn wrong_safetensors_are_refused() {
    let tensor = |dtype, shape, offsets| {
        format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#)
    };
    let of = |header: &str, data: &[u8]| load_safetensors(&safetensors(header, data), DType::I8, &[4]);
    let good = tensor("I8", "[4]", "[0,4]");
    assert_eq!(of(&good, &[1, 2, 3, 4]), Ok(vec![1, 2, 3, 4]));
    refused(of(&good, &[1, 2, 3]), &["found 3 bytes of data, expected 4"]);
    refused(of(&good, &[1, 2, 3, 4, 5]), &["found 5 bytes of data, expected 4"]);
    refused(
        of(&tensor("U16", "[2]", "[0,4]"), &[0; 4]),
        &["tensor `x`", "found dtype U16", "I8, I16, I32, U8, F4, F8_E4M3, F8_E5M2, F16, BF16 or F32"],
    );
    refused(of(&tensor("F4", "[7]", "[0,4]"), &[0; 4]), &["wrong safetensors header"]);
    refused(of(&tensor("F4", "[8]", "[0,4]"), &[0; 4]), &["found shape [8], expected [4]"]);
    refused(of(&tensor("I8", "[5]", "[0,4]"), &[0; 4]), &["wrong safetensors header"]);
    refused(of(&tensor("I8", "[9223372036854775808,2]", "[0,4]"), &[0; 4]), &["wrong safetensors header"]);
    refused(of(&tensor("I8", "[4]", "[4,8]"), &[0; 8]), &["wrong safetensors header"]);
    refused(of(&good.replace("\"x\"", "\"y\""), &[0; 4]), &["holds no tensor `x`; it holds `y`"]);
    refused(of("not json", &[]), &["wrong safetensors header"]);
    refused(of(&"[".repeat(100_000), &[]), &["wrong safetensors header"]);
    let file = safetensors(&good, &[0; 4]);
    refused(load_safetensors(&file[..7], DType::I8, &[4]), &["found 7 bytes"]);
    refused(load_safetensors(&file[..20], DType::I8, &[4]), &["ends within its header"]);
    let lying = [(1_u64 << 24).to_le_bytes().as_slice(), b"{}"].concat();
    refused(load_safetensors(&lying, DType::I8, &[4]), &["ends within its header"]);
    let lying = [((1_u64 << 24) + 1).to_le_bytes().as_slice(), b"{}"].concat();
    refused(load_safetensors(&lying, DType::I8, &[4]), &["expected at most 16777216"]);
}

/// Tensors up to byte 2^64 - 1 of the data: with the header before it the file's length is past 2^64.
#[test]
fn safetensors_past_every_address_are_refused() {
    const STEP: u64 = 1 << 60;
    let tensors: Vec<String> = (0..16)
        .map(|k| {
            let (begin, end) = (k * STEP, (k * STEP).saturating_add(STEP));
            let key = if k == 0 { "x".to_string() } else { format!("t{k}") };
            let shape = end - begin;
            format!(r#""{key}":{{"dtype":"I8","shape":[{shape}],"data_offsets":[{begin},{end}]}}"#)
        })
        .collect();
    let file = safetensors(&format!("{{{}}}", tensors.join(",")), &[]);
    refused(
        load_safetensors(&file, DType::I8, &[STEP]),
        &["found 0 bytes of data, expected 18446744073709551615"],
    );
}

#[test]
fn a_saved_header_is_numpy_s_byte_by_byte() {
    let files = Files::new();
    let path = files.0.path().join("x.npy");
    let cases: [(DType, &[u64], &str); 10] = [
        (DType::U8, &[3], "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }"),
        (DType::F4e2m1, &[3], "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"),
        (DType::I8, &[3], "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }"),
        (DType::I4, &[3], "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }"),
        (DType::I16, &[2], "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }"),
        (DType::F8e4m3, &[2], "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"),
        (DType::F16, &[2], "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }"),
        (DType::I32, &[2, 3], "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }"),
        (DType::Bf16, &[], "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"),
        (DType::F32, &[1, 1, 1], "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1), }"),
    ];
    for (dtype, shape, dict) in cases {
        let bytes = load(&Source::Zeros, dtype, shape).expect("generated");
        save_npy(&path, dtype, shape, &bytes, None).expect("written");
        let file = fs::read(&path).expect("readable");
        assert_eq!(file[..10], *b"\x93NUMPY\x01\x00\x76\x00", "0x76 = 118 bytes of text make 128");
        assert_eq!(file[10..127], *format!("{dict:<117}").as_bytes());
        assert_eq!(file[127], b'\n');
        assert_eq!(file.len(), 128 + FileType::of(dtype).width() * shape.iter().product::<u64>() as usize);
    }
    assert_eq!(files.names(), ["x.npy"]);
}

#[test]
fn what_is_saved_loads_the_same() {
    let files = Files::new();
    let path = files.0.path().join("x.npy");
    for dtype in DType::all().filter(|dtype| dtype.is_stored()) {
        let bytes = load(&Source::Rand(5), dtype, &[3, 7]).expect("generated");
        save_npy(&path, dtype, &[3, 7], &bytes, None).expect("written");
        assert_eq!(load(&Source::Npy(path.clone()), dtype, &[3, 7]), Ok(bytes.clone()), "{dtype}");
        let array = Array::read_npy(&path, u64::MAX).expect("readable");
        assert_eq!(compare(&elements(dtype, &[3, 7], &bytes), &array, EXACT), Ok(()), "{dtype}");
    }
    // -3 and 5 in one byte, -1 in half of another; int8 in the file.
    save_npy(&path, DType::I4, &[3], &[0x5d, 0x0f], None).expect("written");
    assert_eq!(fs::read(&path).expect("readable")[128..], [0xfd, 0x05, 0xff]);
    // 1.5 and -6 in one byte, -0 in half of another; float32 in the file.
    save_npy(&path, DType::F4e2m1, &[3], &[0xf3, 0x78], None).expect("written");
    assert_eq!(fs::read(&path).expect("readable")[128..], f32s(&[1.5, -6.0, -0.0]));
    // 1.5 in f8e5m2 is 0x3e.
    save_npy(&path, DType::F8e5m2, &[1], &[0x3e], None).expect("written");
    assert_eq!(fs::read(&path).expect("readable")[128..], [0, 0, 0xc0, 0x3f]);
    // 1.5 in bf16 is 0x3fc0, in f32 0x3fc00000.
    save_npy(&path, DType::Bf16, &[], &[0xc0, 0x3f], None).expect("written");
    assert_eq!(fs::read(&path).expect("readable")[128..], [0, 0, 0xc0, 0x3f]);
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let files = Files::new();
    let directory = files.0.path().join("directory.npy");
    fs::create_dir(&directory).expect("a writable directory");
    let save = |path: &Path, bytes: &[u8]| save_npy(path, DType::I8, &[2], bytes, None).map_err(one_line);
    refused(save(&directory, &[0; 2]), &["directory.npy", "not a regular file"]);
    refused(
        save(&files.0.path().join("none/x.npy"), &[0; 2]),
        &["none/x.npy`: cannot be written: No such file"],
    );
    let socket = files.0.path().join("socket.npy");
    let _listener = UnixListener::bind(&socket).expect("a socket");
    refused(save(&socket, &[0; 2]), &["not a regular file"]);
    refused(save(Path::new(""), &[0; 2]), &["cannot be written"]);
    let kept = files.write("kept.npy", b"as it was");
    refused(save(&kept, &[0; 1]), &["found 1 byte for a result of shape [2]"]);
    refused(save(&kept, &[0; 3]), &["found 3 bytes"]);
    assert_eq!(fs::read(&kept).expect("readable"), b"as it was");
    let mut names = files.names();
    names.sort();
    assert_eq!(names, ["directory.npy", "kept.npy", "socket.npy"]);
}

/// CRC-32 values by Python: `zlib.crc32(numpy.array([...], dtype).tobytes())`.
#[test]
fn a_summary_is_one_line() {
    let of = |dtype, shape: &[u64], bytes: &[u8]| summary(dtype, shape, bytes).to_string();
    assert_eq!(
        of(DType::I32, &[2, 2], &i32s(&[3, -5, 2147483647, 1])),
        "shape [2, 2], first [3, -5, 2147483647, 1], min -5, max 2147483647, mean 536870911.5, crc32 0xd1d80a29"
    );
    // bf16 1.5 and -0.25, summed as the f32 that the file would hold.
    assert_eq!(
        of(DType::Bf16, &[2], &[0xc0, 0x3f, 0x80, 0xbe]),
        "shape [2], first [1.5, -0.25], min -0.25, max 1.5, mean 0.625, crc32 0x40e1e84a"
    );
    assert_eq!(
        of(DType::I8, &[9], &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
        "shape [9], first [0, 1, 2, 3, 4, 5, 6, 7, ...], min 0, max 8, mean 4, crc32 0xbce14302"
    );
    let with_nan = summary(DType::F32, &[3], &f32s(&[1.0, f32::NAN, 0.0]));
    for value in [with_nan.min, with_nan.max] {
        assert!(value.is_some_and(|value| value.as_f64().is_nan()));
    }
    assert_eq!(summary(DType::F32, &[0], &[]).min, None);
}

#[test]
fn comparison_names_the_first_difference() {
    let expected =
        Array::new(vec![2, 2], FileType::F32, f32s(&[1.0, 0.0, f32::NAN, 4.0])).expect("consistent");
    let compare = |values: &[f32]| {
        compare(&elements(DType::F32, &[2, 2], &f32s(values)), &expected, EXACT).map_err(|e| e.to_string())
    };
    assert_eq!(compare(&[1.0, 0.0, f32::NAN, 4.0]), Ok(()));
    refused(
        compare(&[1.0, -0.0, f32::NAN, 5.0]),
        &["2 of 4 elements differ, first at (0, 1): found -0 (0x80000000), expected 0 (0x0)"],
    );
    refused(
        compare(&[1.0, 0.0, f32::NAN, 4.5]),
        &["1 of 4", "(1, 1): found 4.5 (0x40900000), expected 4 (0x40800000)"],
    );
    refused(compare(&[1.0, 0.0, f32::NAN]), &["found 12 bytes, expected 16"]);
}

#[test]
fn comparison_with_a_tolerance_counts_numbers_of_the_format() {
    let values = [1.0, -0.0, f32::NAN, f32::MAX];
    let expected = Array::new(vec![4], FileType::F32, f32s(&values)).expect("consistent");
    let compare = |values: [f32; 4], ulps| {
        let tolerance = Tolerance { ulps, bound: None };
        compare(&elements(DType::F32, &[4], &f32s(&values)), &expected, tolerance).is_ok()
    };
    let up = |x: f32, steps: u32| f32::from_bits(x.to_bits() + steps);
    assert!(compare([up(1.0, 2), 0.0, -f32::NAN, f32::MAX], 2));
    assert!(!compare([up(1.0, 3), 0.0, f32::NAN, f32::MAX], 2));
    assert!(!compare([1.0, 0.0, 1.0, f32::MAX], 1000));
    assert!(!compare([1.0, 0.0, f32::NAN, f32::MAX], 0));
    // Infinity is the number after the largest finite one; the smallest of either sign are two apart.
    assert!(compare([1.0, -0.0, f32::NAN, f32::INFINITY], 1));
    assert!(compare([1.0, up(0.0, 1), f32::NAN, f32::MAX], 1));
    // A bf16 is 2^16 numbers of f32 from the next.
    let next = 1.0 + 1.0 / 128.0;
    let array = Array::new(vec![1], FileType::F32, f32s(&[next])).expect("consistent");
    let bf16 = |ulps| {
        let tolerance = Tolerance { ulps, bound: None };
        super::compare(&elements(DType::Bf16, &[1], &[0x80, 0x3f]), &array, tolerance).is_ok()
    };
    assert!(bf16(1) && !bf16(0));
}

#[test]
fn comparison_with_a_bound_takes_values_just_inside() {
    // All numbers here are exact, so that the bound is 0.5 + 0.25 * |expected| without rounding.
    let expected = [8.0, -8.0, 0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let expected = Array::new(vec![6], FileType::F32, f32s(&expected)).expect("consistent");
    let compare = |values: [f32; 6], text: &str| {
        let tolerance = Tolerance { ulps: 0, bound: Some(text.parse().expect("a bound")) };
        compare(&elements(DType::F32, &[6], &f32s(&values)), &expected, tolerance).is_ok()
    };
    let equal = [8.0, -8.0, -0.0, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let inside = [10.5, -5.5, -0.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    assert!(compare(equal, "0"));
    assert!(compare(inside, "0.25,0.5"));
    assert!(compare([6.0, -10.0, 0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY], "0.25"));
    assert!(!compare(inside, "0.25"));
    for (at, value) in [
        (0, 10.5_f32.next_up()),
        (0, f32::NAN),
        (0, f32::INFINITY),
        (1, (-5.5_f32).next_up()),
        (2, 0.5_f32.next_up()),
        (3, 0.0),
        (4, f32::MAX),
        (4, f32::NEG_INFINITY),
        (5, f32::NAN),
    ] {
        let mut outside = inside;
        outside[at] = value;
        assert!(!compare(outside, "0.25,0.5"), "{value} at {at}");
    }
    // Integers are compared bit by bit.
    let integers = Array::new(vec![1], FileType::I8, vec![8]).expect("consistent");
    let tolerance = Tolerance { ulps: 9, bound: Some(Bound { relative: 1.0, absolute: 1.0 }) };
    assert!(super::compare(&elements(DType::I8, &[1], &[7]), &integers, tolerance).is_err());
}

#[test]
fn a_bound_is_one_number_or_two_from_0_on() {
    assert_eq!("1e-3".parse(), Ok(Bound { relative: 1e-3, absolute: 0.0 }));
    assert_eq!("0,2.5".parse(), Ok(Bound { relative: 0.0, absolute: 2.5 }));
    for (text, wrong) in [
        ("", ""),
        (",1", ""),
        ("1,", ""),
        ("1,2,3", "2,3"),
        ("-1", "-1"),
        ("1,-0.5", "-0.5"),
        ("inf", "inf"),
        ("nan", "nan"),
        ("1e-3;1", "1e-3;1"),
    ] {
        refused(
            text.parse::<Bound>().map_err(one_line),
            &[&format!("found `{wrong}`, expected a number from 0 on")],
        );
    }
}

#[test]
fn undefined_elements_equal_any_number() {
    let expected = Array::new(vec![3], FileType::I32, [1_i32, 2, 3].map(i32::to_le_bytes).concat());
    let expected = expected.expect("consistent");
    let bytes = [1_i32, 0, 0].map(i32::to_le_bytes).concat();
    let compare = |defined| {
        let result = Elements { defined: Some(defined), ..elements(DType::I32, &[3], &bytes) };
        compare(&result, &expected, EXACT).map_err(|e| e.to_string())
    };
    assert_eq!(compare(&[true, false, false]), Ok(()));
    refused(compare(&[true, false, true]), &["1 of 3 elements differ, first at (2): found 0"]);
}

#[test]
fn comparison_refuses_another_shape_or_type() {
    let expected = Array::new(vec![2], FileType::F32, f32s(&[1.0, 2.0])).expect("consistent");
    let of = |dtype, shape: &[u64], bytes: &[u8]| {
        compare(&elements(dtype, shape, bytes), &expected, EXACT).map_err(|e| e.to_string())
    };
    assert_eq!(of(DType::Bf16, &[2], &[0x80, 0x3f, 0x00, 0x40]), Ok(()));
    refused(of(DType::F32, &[1, 2], &[0; 8]), &["found shape [1, 2], expected [2]"]);
    refused(of(DType::I32, &[2], &[0; 8]), &["found i32 elements, expected f32"]);
    refused(Array::new(vec![2], FileType::F32, vec![0; 7]).map_err(one_line), &["found 7 bytes"]);
    refused(Array::new(vec![1 << 63, 2], FileType::I8, vec![]).map_err(one_line), &["found 0 bytes"]);
}

/// NumPy has no type for bf16 and floats of 8 bits: an argument of these formats takes the bits of such a file.
#[test]
fn bits_of_formats_that_numpy_lacks() {
    // 1.0 and -2.0 in bf16; 1.0 in f8e4m3 and f8e5m2.
    for descr in ["<u2", "<V2"] {
        let file = npy_of(descr, "(2,)", &[0x80, 0x3f, 0x00, 0xc0]);
        assert_eq!(load_npy(&file, DType::Bf16, &[2]).unwrap(), [0x80, 0x3f, 0x00, 0xc0]);
    }
    for descr in ["|u1", "|V1"] {
        assert_eq!(load_npy(&npy_of(descr, "(1,)", &[0x38]), DType::F8e4m3, &[1]).unwrap(), [0x38]);
        assert_eq!(load_npy(&npy_of(descr, "(1,)", &[0x3c]), DType::F8e5m2, &[1]).unwrap(), [0x3c]);
    }
    // Bytes are numbers elsewhere, and no other format has these bits.
    assert_eq!(load_npy(&npy_of("|u1", "(1,)", &[0x38]), DType::I8, &[1]).unwrap(), [0x38]);
    for (descr, dtype) in [("<u2", DType::F16), ("<V2", DType::F32), ("|V1", DType::I8), ("<V4", DType::Bf16)]
    {
        let file = npy_of(descr, "(1,)", &[0x80, 0x3f, 0, 0][..descr[2..].parse().unwrap()]);
        refused(load_npy(&file, dtype, &[1]), &["found npy dtype"]);
    }
}
