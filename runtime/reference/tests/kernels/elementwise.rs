//! Moving, and one operation on each element.

use super::support::{Random, bytes_i32, bytes_u16, run, wide};
use visa_numerics::{DType, SumOrder::Tree};

/// A kernel on i32 that goes through the vector engine once; `OPERATION` reads %v and gives %w.
fn vector(operation: &str) -> String {
    format!(
        "tm.axes [A = 2048]
tm.func @k(%x: !tm.hbm<i32, [1], [A]>) at [0], chips 1 {{
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [A / 8], element [A % 8]
  %b = stream.begin main %d
  %f = stream.fetch %b time [1], packet [A % 8]
  %c = stream.collect %f time [1], packet [A % 8]
  %i = stream.vector_init %c
  %v = stream.vector_branch unconditional %i
  {operation}
  %o = stream.vector_final %w
  %y = stream.commit %o at 4096, element [A % 8]
  %h = tm.to_hbm %y at 0x10000000, element [A]
  tm.return %h
}}"
    )
}

#[test]
fn a_constant_is_added_to_every_element() {
    let x = Random::new(1).i32s(2048);
    for constant in [1, -7, i32::MAX] {
        let text = vector(&format!("%w = stream.vector_fxp AddFxp %v constant {constant}"));
        let results = run(&text, Tree, [("x", bytes_i32(&x))]);
        let expected: Vec<i32> = x.iter().map(|x| x.wrapping_add(constant)).collect();
        assert_eq!(results.len(), 1);
        assert_eq!(
            (&*results[0].name, results[0].dtype, &*results[0].shape),
            ("out", DType::I32, &[2048_u64][..])
        );
        assert_eq!(results[0].bytes, bytes_i32(&expected));
        assert_eq!(results[0].defined, None);
    }
}

/// The stream comes first, the operand second.
#[test]
fn operations_follow_one_another() {
    let x = Random::new(2).i32s(2048);
    let text = vector(
        "%u = stream.vector_fxp SubFxp %v constant 5
  %w = stream.vector_fxp MulInt %u constant 3",
    );
    let results = run(&text, Tree, [("x", bytes_i32(&x))]);
    let expected: Vec<i32> = x.iter().map(|x| x.wrapping_sub(5).wrapping_mul(3)).collect();
    assert_eq!(results[0].bytes, bytes_i32(&expected));
}

#[test]
fn a_register_file_meets_the_stream_at_each_index() {
    let text = "tm.axes [A = 2048]
tm.func @mul(%lhs: !tm.hbm<i32, [1], [A]>, %rhs: !tm.hbm<i32, [1], [A]>) at [0, 0x10000000], chips 1 {
  %l = tm.to_dm %lhs at 0, cluster [1 # 2], slice [A / 8], element [A % 8]
  %r = tm.to_dm %rhs at 4096, cluster [1 # 2], slice [A / 8], element [A % 8]
  %r0 = stream.begin sub %r
  %r1 = stream.fetch %r0 time [1], packet [A % 8]
  %r2 = stream.collect %r1 time [1], packet [A % 8]
  %factor = stream.to_vrf %r2 at 0, element [A % 8]
  %l0 = stream.begin main %l
  %l1 = stream.fetch %l0 time [1], packet [A % 8]
  %l2 = stream.collect %l1 time [1], packet [A % 8]
  %l3 = stream.vector_init %l2
  %l4 = stream.vector_branch unconditional %l3
  %l5 = stream.vector_fxp SubFxp %l4, %factor
  %l6 = stream.vector_final %l5
  %y = stream.commit %l6 at 8192, element [A % 8]
  %out = tm.to_hbm %y at 0x20000000, element [A]
  tm.return %out
}";
    let (lhs, rhs) = (Random::new(3).i32s(2048), Random::new(4).i32s(2048));
    let results = run(text, Tree, [("lhs", bytes_i32(&lhs)), ("rhs", bytes_i32(&rhs))]);
    let expected: Vec<i32> = lhs.iter().zip(&rhs).map(|(x, y)| x.wrapping_sub(*y)).collect();
    assert_eq!(results[0].bytes, bytes_i32(&expected));
}

/// The register file does not depend on I: each slice of its axis meets the same row.
#[test]
fn a_register_file_is_broadcast() {
    let text = "tm.axes [I = 256, J = 16]
tm.func @row(%x: !tm.hbm<i32, [1], [I, J]>, %row: !tm.hbm<i32, [1], [J]>) at [0, 0x10000000], chips 1 {
  %l = tm.to_dm %x at 0, cluster [1 # 2], slice [I], element [J]
  %r = tm.to_dm %row at 4096, cluster [1 # 2], slice [I], element [J]
  %r0 = stream.begin sub %r
  %r1 = stream.fetch %r0 time [J / 8], packet [J % 8]
  %r2 = stream.collect %r1 time [J / 8], packet [J % 8]
  %v = stream.to_vrf %r2 at 0, element [J]
  %l0 = stream.begin main %l
  %l1 = stream.fetch %l0 time [J / 8], packet [J % 8]
  %l2 = stream.collect %l1 time [J / 8], packet [J % 8]
  %l3 = stream.vector_init %l2
  %l4 = stream.vector_branch unconditional %l3
  %l5 = stream.vector_fxp AddFxp %l4, %v
  %l6 = stream.vector_final %l5
  %y = stream.commit %l6 at 8192, element [J]
  %out = tm.to_hbm %y at 0x20000000, element [J, I]
  tm.return %out
}";
    let (x, row) = (Random::new(5).i32s(256 * 16), Random::new(6).i32s(16));
    let results = run(text, Tree, [("x", bytes_i32(&x)), ("row", bytes_i32(&row))]);
    // The result's array is [J, I].
    let mut expected = Vec::new();
    for (j, added) in row.iter().enumerate() {
        expected.extend((0..256).map(|i| x[i * 16 + j].wrapping_add(*added)));
    }
    assert_eq!(results[0].shape, [16, 256]);
    assert_eq!(results[0].bytes, bytes_i32(&expected));
}

/// Blocked and plain layouts of the same tensor are the same array.
#[test]
fn layouts_keep_the_array() {
    let text = "tm.axes [I = 64, J = 32]
tm.func @move(%x: !tm.host<bf16, [I / 8, J / 8, I % 8, J % 8]>) {
  %h = tm.to_hbm %x at 0, element [J, I]
  %y = tm.to_host %h element [I, J]
  %z = tm.to_host %h element [J % 8, I, J / 8]
  tm.return %y, %z
}";
    let x = Random::new(7).bf16s(64 * 32);
    let results = run(text, Tree, [("x", bytes_u16(&x))]);
    assert_eq!(results[0].bytes, bytes_u16(&x));
    assert_eq!((&*results[0].name, &*results[0].shape), ("out0", &[64_u64, 32][..]));
    let mut transposed = Vec::new();
    for j in 0..32 {
        transposed.extend((0..64).map(|i| x[i * 32 + j]));
    }
    assert_eq!(results[1].bytes, bytes_u16(&transposed));
    assert_eq!((&*results[1].name, &*results[1].shape), ("out1", &[32_u64, 64][..]));
}

/// Moving changes no bit; converting flushes subnormals and makes NaN canonical.
#[test]
fn a_fetch_converts() {
    let text = "tm.axes [A = 2048]
tm.func @k(%x: !tm.hbm<bf16, [1], [A]>) at [0], chips 1 {
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [A / 8], element [A % 8]
  %b = stream.begin main %d
  %f = stream.fetch %b dtype f32, time [1], packet [A % 8]
  %c = stream.collect %f time [1], packet [A % 8]
  %y = stream.commit %c at 4096, element [A % 8]
  %h = tm.to_hbm %y at 0x10000000, element [A]
  %same = tm.to_host %x element [A]
  tm.return %h, %same
}";
    let mut x = Random::new(8).bf16s(2048);
    x[..4].copy_from_slice(&[0x8001, 0xff81, 0x7f80, 0x8000]);
    let results = run(text, Tree, [("x", bytes_u16(&x))]);
    let mut expected: Vec<u32> = x.iter().map(|&x| wide(x).to_bits()).collect();
    expected[..4].copy_from_slice(&[0x8000_0000, 0x7fc0_0000, 0x7f80_0000, 0x8000_0000]);
    let expected: Vec<u8> = expected.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    assert_eq!((results[0].dtype, &results[0].bytes), (DType::F32, &expected));
    assert_eq!((results[1].dtype, &results[1].bytes), (DType::Bf16, &bytes_u16(&x)));
}
