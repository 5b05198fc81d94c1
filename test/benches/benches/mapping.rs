//! `cargo bench -p visa-benches --bench mapping`: the digit normal form and equality by it, beside comparing cells
//! one by one.

#![allow(missing_docs, reason = "criterion's macros")]

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::{median, ratio};
use criterion::{Criterion, criterion_group, criterion_main};
use visa_algebra::{Axes, Equality, Expr, Map, PadKind, digits, equal};

fn mapping(criterion: &mut Criterion) {
    let mut axes = Axes::new();
    for (name, size) in [("I", 512), ("J", 512), ("K", 1024)] {
        axes.declare(name, size).expect("a new axis");
    }
    let expr = |text| Expr::parse(text).expect("a mapping");
    // GEMM's tile order, and its spelling by one division less: 2^18 positions.
    let tiled = expr("[I / 32, J / 32, I % 32, J / 8 % 4, J % 8]");
    let merged = expr("[I / 32, J / 32, I % 32, J % 32]");
    // Eight digits that do not merge, and the same with the last one split.
    let eight = expr("[I / 64, J / 64, K / 128, I / 8 % 8, J / 8 % 8, K / 8 % 16, I % 8, J % 8]");
    let split = expr("[I / 64, J / 64, K / 128, I / 8 % 8, J / 8 % 8, K / 8 % 16, I % 8, J / 2 % 4, J % 2]");

    let mut group = criterion.benchmark_group("mapping");
    median(&mut group, "digits", || drop(black_box(digits(black_box(&tiled), &axes))));
    let by_digits = median(&mut group, "equal by digits", || {
        assert_eq!(equal(black_box(&tiled), black_box(&merged), &axes), Equality::Equal);
    });
    let equality = median(&mut group, "equal, 8 digits", || {
        assert_eq!(equal(black_box(&eight), black_box(&split), &axes), Equality::Equal);
    });
    report("equality of two 8-digit mappings, us", equality, |seconds| seconds * 1e6);
    let divisible = divisible_expressions();
    let all = median(&mut group, "digits of 1000 divisible expressions", || {
        divisible.iter().for_each(|expr| drop(black_box(digits(black_box(expr), &axes))));
    });
    report("normal forms of the divisible fragment, millions a second", all, |seconds| {
        divisible.len() as f64 / seconds / 1e6
    });
    group.sample_size(10);
    let maps = [&tiled, &merged].map(|expr| Map::new(expr, &axes).expect("it holds the size rules"));
    let by_cells = median(&mut group, "equal cell by cell", || {
        assert!((0..maps[0].size()).all(|at| maps[0].cell(at) == maps[1].cell(at)));
    });
    ratio("comparing 2^18 positions cell by cell", by_cells, "equality by digits", by_digits);
}

/// Prints a figure made of a median time in seconds.
#[expect(clippy::print_stdout, reason = "a benchmark's report")]
fn report(name: &str, time: Option<Duration>, figure: impl Fn(f64) -> f64) {
    if let Some(time) = time {
        println!("{name}: {:.3}\n", figure(time.as_secs_f64()));
    }
}

/// A thousand random expressions of the divisible fragment over I, J and K: groups of one to four terms, each an axis
/// under up to three of `/`, `%`, `=` and `#` with numbers that divide.
fn divisible_expressions() -> Vec<Expr> {
    let mut state = 2026_u64;
    let mut below = move |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    let term = |below: &mut dyn FnMut(u64) -> u64| {
        let (name, mut size) = [("I", 512_u64), ("J", 512), ("K", 1024)][below(3) as usize];
        let mut term = Expr::axis(name);
        for _ in 0..below(4) {
            let n = (1 << below(5)).min(size);
            (term, size) = match below(4) {
                0 => (term.stride(n), size / n),
                1 => (term.modulo(n), n),
                2 => (term.resize(n), n),
                _ => (term.pad(size * n, PadKind::Top), size * n),
            };
        }
        term
    };
    (0..1000).map(|_| Expr::pair((0..=below(4)).map(|_| term(&mut below)).collect::<Vec<_>>())).collect()
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    targets = mapping
}
criterion_main!(benches);
