//! `cargo bench --bench mapping`: the digit normal form and equality by it, beside comparing cells one by one.

#![allow(missing_docs, reason = "criterion's macros")]

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::{median, ratio};
use criterion::{Criterion, criterion_group, criterion_main};
use visa_mapping::{Axes, Equality, Expr, Map, digits, equal};

fn mapping(criterion: &mut Criterion) {
    let mut axes = Axes::new();
    for (name, size) in [("I", 512), ("J", 512), ("K", 1024)] {
        axes.declare(name, size).expect("a new axis");
    }
    let expr = |text| Expr::parse(text).expect("a mapping");
    // GEMM's tile order, and its spelling by one division less: 2^18 positions.
    let tiled = expr("[I / 32, J / 32, I % 32, J / 8 % 4, J % 8]");
    let merged = expr("[I / 32, J / 32, I % 32, J % 32]");

    let mut group = criterion.benchmark_group("mapping");
    median(&mut group, "digits", || drop(black_box(digits(black_box(&tiled), &axes))));
    let by_digits = median(&mut group, "equal by digits", || {
        assert_eq!(equal(black_box(&tiled), black_box(&merged), &axes), Equality::Equal);
    });
    group.sample_size(10);
    let maps = [&tiled, &merged].map(|expr| Map::new(expr, &axes).expect("it holds the size rules"));
    let by_cells = median(&mut group, "equal cell by cell", || {
        assert!((0..maps[0].size()).all(|at| maps[0].cell(at) == maps[1].cell(at)));
    });
    ratio("comparing 2^18 positions cell by cell", by_cells, "equality by digits", by_digits);
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    targets = mapping
}
criterion_main!(benches);
