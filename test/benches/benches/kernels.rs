//! `cargo bench -p visa-benches --bench kernels`: whole kernels, DMA to DMA, beside plain loops and the crate
//! `gemm`. A program is compiled once; only its run is measured.

#![allow(missing_docs, reason = "criterion's macros")]

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::{compiled, median, ratio};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use visa_interpreter::{Interpreter, Options};
use visa_machine::Machine;
use visa_numerics::{from_f32, store};

const GEMV: &str = include_str!("../../../test/kernels/gemv.visa");
const GEMM: &str = include_str!("../../../test/kernels/gemm.visa");
const GEMM_BROADCAST: &str = include_str!("../../../test/kernels/gemm_broadcast.visa");
const GEMM_I8: &str = include_str!("../../../test/kernels/gemm_i8.visa");

/// A matrix product of the benchmarks: rows and columns of the result, and what it sums over.
const ROWS: usize = 512;
const COLUMNS: usize = 512;
const INNER: usize = 1024;

/// Numbers in -1..1 without a pattern.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|at| (at * 2_654_435_761 % 2003) as f32 / 1001.5 - 1.0).collect()
}

/// The kernel `text` on 1 and on 2 threads, then the time of 2.
fn kernel(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    text: &str,
    entry: Option<&str>,
) -> Option<Duration> {
    let (program, machine) = (compiled(text, entry), Machine::rngd());
    let mut last = None;
    for threads in [1, 2] {
        let options = Options { threads: Some(threads), ..Options::default() };
        let mut interpreter = Interpreter::new(&program, &machine, options).expect("it fits");
        for buffer in program.buffers.iter().filter(|buffer| buffer.argument) {
            let count = buffer.shape.iter().product::<u64>() as usize;
            let mut bytes = vec![0; buffer.dtype.bytes(count as u64).expect("it fits") as usize];
            for (at, x) in numbers(count).into_iter().enumerate() {
                let bits = match buffer.dtype.is_float() {
                    true => from_f32(buffer.dtype, x),
                    false => ((x * 127.0) as i32).cast_unsigned(),
                };
                store(buffer.dtype, &mut bytes, at, bits);
            }
            interpreter.set_argument(&buffer.name, &bytes).expect("the right size");
        }
        last = median(group, &format!("{name}, {threads} threads"), || {
            interpreter.run(&mut |_, _| ()).expect("it runs");
        });
    }
    last
}

/// Prints the rate of a matrix product: a product and a sum for each step.
#[expect(clippy::print_stdout, reason = "a benchmark's report")]
fn rate(name: &str, time: Option<Duration>) {
    if let Some(time) = time {
        let operations = 2.0 * (ROWS * COLUMNS * INNER) as f64;
        println!("rate: {name}: {:.1} G operations/s\n", operations / time.as_secs_f64() / 1e9);
    }
}

fn gemv(criterion: &mut Criterion) {
    let (rows, columns) = (256, 2048);
    let mut group = criterion.benchmark_group("gemv 256x2048");
    let time = kernel(&mut group, "visa", GEMV, None);
    let (matrix, vector) = (numbers(rows * columns), numbers(columns));
    let baseline = median(&mut group, "plain f32 loop", || {
        let rows = black_box(&matrix).chunks_exact(columns);
        let products = rows.map(|row| row.iter().zip(&vector).map(|(x, y)| x * y).sum::<f32>());
        black_box(products.collect::<Vec<_>>());
    });
    ratio("gemv on 2 threads", time, "the plain f32 loop on one", baseline);
}

#[expect(clippy::print_stdout, reason = "a benchmark's report")]
fn gemm(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gemm 512x512x1024");
    group.sample_size(10);
    let refetched = kernel(&mut group, "gemm.visa", GEMM, None);
    let time = kernel(&mut group, "gemm_broadcast.visa", GEMM_BROADCAST, None);
    ratio("gemm.visa on 2 threads", refetched, "gemm_broadcast.visa on 2", time);
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
    let mut out = vec![0.0_f32; ROWS * COLUMNS];
    let library = median(&mut group, "crate gemm, 2 threads", || {
        product(&left, &right, &mut out);
        black_box(&out);
    });
    ratio("gemm on 2 threads", time, "the crate gemm on 2", library);
    rate("visa, gemm, bf16", time);
    rate("crate gemm, f32", library);
}

/// `left` times `right` by the crate `gemm`.
#[expect(unsafe_code, reason = "the crate takes pointers")]
fn product(left: &[f32], right: &[f32], out: &mut [f32]) {
    assert!(left.len() == ROWS * INNER && right.len() == INNER * COLUMNS && out.len() == ROWS * COLUMNS);
    let (inner, columns) = (INNER as isize, COLUMNS as isize);
    // SAFETY: the three are row-major matrices of just those sizes, and `out` is borrowed alone.
    unsafe {
        gemm::gemm(
            ROWS,
            COLUMNS,
            INNER,
            out.as_mut_ptr(),
            1,
            columns,
            false,
            left.as_ptr(),
            1,
            inner,
            right.as_ptr(),
            1,
            columns,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::Rayon(2),
        );
    }
}

fn gemm_i8(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gemm_i8 512x512x1024");
    group.sample_size(10);
    let time = kernel(&mut group, "visa", GEMM_I8, Some("wide"));
    let integers = |count| numbers(count).into_iter().map(|x| (x * 127.0) as i8).collect::<Vec<_>>();
    let (left, right) = (integers(ROWS * INNER), integers(INNER * COLUMNS));
    let baseline = median(&mut group, "plain i8 to i32 loop", || {
        let mut out = vec![0_i32; ROWS * COLUMNS];
        for (out, left) in out.chunks_exact_mut(COLUMNS).zip(black_box(&left).chunks_exact(INNER)) {
            for (&x, right) in left.iter().zip(right.chunks_exact(COLUMNS)) {
                out.iter_mut().zip(right).for_each(|(sum, &y)| *sum += i32::from(x) * i32::from(y));
            }
        }
        black_box(out);
    });
    ratio("gemm_i8 on 2 threads", time, "the plain loop on one", baseline);
    rate("visa, gemm, i8", time);
}

/// 4 M additions of i32: the vector register file holds 2048 addends of a slice at a time, so there are 8 rounds.
fn elementwise() -> String {
    let mut text = "visa 1\ntm.axes [S = 256, T = 8, E = 2048]\n\
        tm.func @add(%a: !tm.hbm<i32, [1], [S, T, E]>, %b: !tm.hbm<i32, [1], [S, T, E]>) at [0, 0x10000000] {\n\
        %x = tm.to_dm %a at 0, cluster [1 # 2], slice [S], element [T, E]\n\
        %y = tm.to_dm %b at 65536, cluster [1 # 2], slice [S], element [T, E]\n"
        .to_owned();
    for round in 0..8 {
        text += &format!(
            "%p{round} = tm.tile %y along [T], size 1, index {round}, element [T = 1 # 8, E]\n\
             %q{round} = stream.begin sub %p{round}\n\
             %r{round} = stream.fetch %q{round} time [E / 8], packet [E % 8]\n\
             %s{round} = stream.collect %r{round} time [E / 8], packet [E % 8]\n\
             %v{round} = stream.to_vrf %s{round} at 0, element [E]\n\
             %c{round} = tm.tile %x along [T], size 1, index {round}, element [T = 1 # 8, E]\n\
             %d{round} = stream.begin main %c{round}\n\
             %e{round} = stream.fetch %d{round} time [E / 8], packet [E % 8]\n\
             %f{round} = stream.collect %e{round} time [E / 8], packet [E % 8]\n\
             %g{round} = stream.vector_init %f{round}\n\
             %h{round} = stream.vector_branch unconditional %g{round}\n\
             %i{round} = stream.vector_fxp AddFxp %h{round}, %v{round}\n\
             %j{round} = stream.vector_final %i{round}\n\
             %k{round} = stream.commit %j{round} at {}, element [E]\n\
             %o{round} = tm.to_hbm %k{round} at {}, element [S, E]\n",
            131_072 + round * 8192,
            0x2000_0000 + round * 256 * 8192
        );
    }
    text + "tm.return %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7\n}\n"
}

fn add(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("add of 4 M i32");
    group.sample_size(10);
    let time = kernel(&mut group, "visa", &elementwise(), None);
    let (left, right) = (vec![1_i32; 4 << 20], vec![2_i32; 4 << 20]);
    let baseline = median(&mut group, "plain loop", || {
        black_box(black_box(&left).iter().zip(&right).map(|(x, y)| x.wrapping_add(*y)).collect::<Vec<_>>());
    });
    ratio("4 M additions on 2 threads", time, "the plain loop on one", baseline);
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
    targets = gemv, gemm, gemm_i8, add
}
criterion_main!(benches);
