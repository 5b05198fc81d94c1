//! Valid count packing: the preserved elements, their order, and the defined ones.

use super::support::{Random, bytes_i32, run};
use visa_numerics::SumOrder::Tree;

const KEPT: usize = 32;

/// Packs four flits of eight in each of 256 slices; `REST` makes the result of %y.
fn kernel(rest: &str) -> String {
    format!(
        "tm.axes [S = 256, T = 4, A = 8, P = 32]
tm.func @k(%x: !tm.hbm<i32, [1], [S, T, A]>, %n: !tm.hbm<i32, [1], [S, T]>) at [0, 0x1000000] {{
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [S], element [T, A]
  %c = tm.to_dm %n at 512, cluster [1 # 2], slice [S], element [T]
  %0 = stream.begin sub %d
  %1 = stream.fetch %0 time [T], packet [A]
  %2 = stream.collect %1 time [T], packet [A]
  %y = stream.commit_packed %2, %c at 4096, element [P]
  {rest}
  tm.return %h
}}"
    )
}

/// The preserved elements of each slice.
fn packed(x: &[i32], counts: &[i32]) -> Vec<Vec<i32>> {
    let slices = x.chunks(KEPT).zip(counts.chunks(4));
    let kept = |(x, counts): (&[i32], &[i32])| {
        let flits = x.chunks(8).zip(counts);
        flits.flat_map(|(flit, &count)| flit[..count.clamp(0, 8) as usize].to_vec()).collect()
    };
    slices.map(kept).collect()
}

#[test]
fn each_slice_keeps_what_its_counts_say() {
    let (x, mut counts) = (Random::new(5).i32s(8192), Random::new(6).i32s(1024));
    counts.iter_mut().for_each(|count| *count = *count % 12 - 2);
    let text = kernel("%h = tm.to_hbm %y at 0x2000000, element [S, P]");
    let results = run(&text, Tree, [("x", bytes_i32(&x)), ("n", bytes_i32(&counts))]);
    let (mut bytes, mut defined) = (Vec::new(), Vec::new());
    for kept in packed(&x, &counts) {
        defined.extend((0..KEPT).map(|at| at < kept.len()));
        bytes.extend((0..KEPT).map(|at| kept.get(at).copied().unwrap_or(0)));
    }
    assert_eq!(results[0].bytes, bytes_i32(&bytes));
    assert_eq!(results[0].defined.as_deref(), Some(&defined[..]));
}

/// After an operation on elements, those are defined that were before: in each slice as many as it kept.
#[test]
fn an_element_is_defined_where_its_operands_are() {
    let (x, mut counts) = (Random::new(7).i32s(8192), Random::new(8).i32s(1024));
    counts.iter_mut().for_each(|count| *count = 2 + count.rem_euclid(4));
    counts[..4].fill(2);
    let text = kernel(
        "%3 = stream.begin main %y
  %4 = stream.fetch %3 time [P / 8], packet [P % 8]
  %5 = stream.collect %4 time [P / 8], packet [P % 8]
  %6 = stream.vector_init %5
  %7 = stream.vector_branch unconditional %6
  %8 = stream.vector_fxp AddFxp %7 constant 1
  %9 = stream.vector_final %8
  %z = stream.commit %9 at 8192, element [P]
  %h = tm.to_hbm %z at 0x2000000, element [S, P]",
    );
    let results = run(&text, Tree, [("x", bytes_i32(&x)), ("n", bytes_i32(&counts))]);
    let (mut bytes, mut defined) = (Vec::new(), Vec::new());
    for kept in packed(&x, &counts) {
        defined.extend((0..KEPT).map(|at| at < kept.len()));
        bytes.extend((0..KEPT).map(|at| kept.get(at).map_or(0, |x| x.wrapping_add(1))));
    }
    assert_eq!(results[0].bytes, bytes_i32(&bytes));
    assert_eq!(results[0].defined.as_deref(), Some(&defined[..]));
}

/// Nothing is kept of a count below 0, and then nothing is defined.
#[test]
fn a_negative_count_keeps_nothing() {
    let text = kernel("%h = tm.to_hbm %y at 0x2000000, element [S, P]");
    let (x, counts) = (Random::new(9).i32s(8192), vec![-1; 1024]);
    let results = run(&text, Tree, [("x", bytes_i32(&x)), ("n", bytes_i32(&counts))]);
    assert_eq!(results[0].defined.as_deref(), Some(&[false; 8192][..]));
}
