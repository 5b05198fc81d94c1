//! `cargo bench --bench kernels`: whole kernels, DMA to DMA, beside a plain loop over f32. A program is compiled once; only its run is measured.

#![allow(missing_docs, reason = "criterion's macros")]

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::{compiled, median, ratio};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use visa_interpreter::{Interpreter, Options};
use visa_machine::Machine;
use visa_numerics::f32_to_bf16;

const GEMV: &str = include_str!("../../../test/kernels/gemv.visa");
const GEMM: &str = include_str!("../../../test/kernels/gemm.visa");

/// Numbers in -1..1 without a pattern.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| (at * 2_654_435_761 % 2003) as f32 / 1001.5 - 1.0).collect()
}

/// The kernel `text` on 1 and on 2 threads, then the time of 2.
fn kernel(group: &mut BenchmarkGroup<'_, WallTime>, text: &str) -> Option<Duration> {
    let (program, machine) = (compiled(text), Machine::rngd());
    let mut last = None;
    for threads in [1, 2] {
        let options = Options { threads: Some(threads), ..Options::default() };
        let mut interpreter = Interpreter::new(&program, &machine, options).expect("it fits");
        for buffer in program.buffers.iter().filter(|buffer| buffer.argument) {
            let elements = numbers(buffer.shape.iter().product::<u64>() as usize);
            let bytes: Vec<u8> =
                elements.iter().flat_map(|&x| (f32_to_bf16(x) as u16).to_le_bytes()).collect();
            interpreter.set_argument(&buffer.name, &bytes).expect("the right size");
        }
        last = median(group, &format!("visa, {threads} threads"), || {
            interpreter.run(&mut |_, _| ()).expect("it runs");
        });
    }
    last
}

fn gemv(criterion: &mut Criterion) {
    const ROWS: usize = 256;
    const COLUMNS: usize = 2048;
    let mut group = criterion.benchmark_group("gemv 256x2048");
    let time = kernel(&mut group, GEMV);
    let (matrix, vector) = (numbers(ROWS * COLUMNS), numbers(COLUMNS));
    let baseline = median(&mut group, "plain f32 loop", || {
        let rows = black_box(&matrix).chunks_exact(COLUMNS);
        let products = rows.map(|row| row.iter().zip(&vector).map(|(x, y)| x * y).sum::<f32>());
        black_box(products.collect::<Vec<_>>());
    });
    ratio("gemv on 2 threads", time, "the plain f32 loop on one", baseline);
}

#[expect(clippy::print_stdout, reason = "a benchmark's report")]
fn gemm(criterion: &mut Criterion) {
    const ROWS: usize = 512;
    const COLUMNS: usize = 512;
    const INNER: usize = 1024;
    let mut group = criterion.benchmark_group("gemm 512x512x1024");
    group.sample_size(10);
    let time = kernel(&mut group, GEMM);
    if let Some(peak) = peak_memory() {
        println!("peak memory of this process so far (VmHWM): {peak}\n");
    }
    let (left, right) = (numbers(ROWS * INNER), numbers(INNER * COLUMNS));
    let baseline = median(&mut group, "plain f32 loop", || {
        let mut out = vec![0.0_f32; ROWS * COLUMNS];
        for (out, left) in out.chunks_exact_mut(COLUMNS).zip(black_box(&left).chunks_exact(INNER)) {
            for (x, right) in left.iter().zip(right.chunks_exact(COLUMNS)) {
                out.iter_mut().zip(right).for_each(|(sum, y)| *sum += x * y);
            }
        }
        black_box(out);
    });
    ratio("gemm on 2 threads", time, "the plain f32 loop on one", baseline);
}

/// The most memory that this process held, as Linux counts it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    targets = gemv, gemm
}
criterion_main!(benches);
