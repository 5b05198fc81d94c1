//! Elements that no operation produced.

use super::support::{Random, bytes_i32, run, run_unverified};
use visa_numerics::SumOrder::Tree;

/// The text verifies only if each operation holds the elements that the next one requires, so only a result shows
/// missing ones.
#[test]
fn all_that_is_held_is_defined() {
    let text = "tm.axes [A = 64]
tm.func @k(%x: !tm.host<i32, [A]>) {
  %h = tm.to_hbm %x at 0, element [A = 40]
  %y = tm.to_host %h element [A = 30]
  tm.return %y
}";
    let x = Random::new(1).i32s(64);
    let results = run(text, Tree, [("x", bytes_i32(&x))]);
    assert_eq!(results[0].shape, [30]);
    assert_eq!(results[0].bytes, bytes_i32(&x[..30]));
    assert_eq!(results[0].defined, None);
}

/// A result that asks for elements that were left behind: those are undefined, and zero in the bytes.
#[test]
fn what_was_left_behind_is_undefined() {
    let text = "tm.axes [I = 4, J = 8, N = 2]
tm.func @k(%x: !tm.host<i32, [I, J]>) {
  %h = tm.to_hbm %x at 0, element [I = 3, J / 2 % 2, J / 4]
  %y = tm.to_host %h element [I, N, J]
  tm.return %y
}";
    let x = Random::new(2).i32s(32);
    let results = run_unverified(text, Tree, [("x", bytes_i32(&x))]);
    assert_eq!(results[0].shape, [4, 2, 8]);
    let defined = results[0].defined.as_ref().unwrap();
    for (flat, &defined) in defined.iter().enumerate() {
        // The result repeats along N, on which the argument does not depend.
        let (i, j) = (flat / 16, flat % 8);
        let found = i32::from_le_bytes(results[0].bytes[4 * flat..][..4].try_into().unwrap());
        assert_eq!(defined, i < 3 && j % 2 == 0, "{i}, {j}");
        assert_eq!(found, if defined { x[i * 8 + j] } else { 0 }, "{i}, {j}");
    }
}

/// Along an axis that a type does not mention it holds coordinate 0, and from then on the tensor does not depend
/// on it.
#[test]
fn dropped_axes_keep_coordinate_zero() {
    let text = "tm.axes [I = 4, J = 8]
tm.func @k(%x: !tm.host<i32, [I, J]>) {
  %h = tm.to_hbm %x at 0, element [J]
  %y = tm.to_host %h element [I, J]
  tm.return %y
}";
    let x = Random::new(3).i32s(32);
    let results = run_unverified(text, Tree, [("x", bytes_i32(&x))]);
    let expected: Vec<i32> = (0..32).map(|flat| x[flat % 8]).collect();
    assert_eq!(results[0].bytes, bytes_i32(&expected));
    assert_eq!(results[0].defined, None);
}
