//! `cargo bench -p visa-benches --bench text`: parse, verify and print of a 10 MB module of kernels, in both
//! forms, on one core.
//!
//! The baseline finds the line breaks of the same text, byte by byte: what looking at each byte once costs.
//! `VISA_BENCH_MODULE=FILE` writes the generic text to FILE, to give to mlir-opt.

#![allow(missing_docs, reason = "criterion's macros")]

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::{context, median, module, ratio};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use visa_ir::parse::parse;
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_ir::verify::verify;

/// Bytes of the text in each form, at least.
const SIZE: usize = 10_000_000;
const GEMV: &str = include_str!("../../../test/kernels/gemv.visa");

/// The GEMV kernel, again and again, until the text is large enough in the form asked for.
fn generated(form: Form) -> String {
    let ctx = context();
    let (head, function) = GEMV.split_once("\n\n").expect("axes, then a function");
    let kernels = |count: usize| {
        let functions = (0..count).map(|number| function.replace("@gemv", &format!("@gemv_{number}")));
        let text = format!("{head}\n\n{}", functions.collect::<String>());
        print(&ctx, &module(&ctx, &text), form)
    };
    kernels(SIZE.div_ceil(kernels(100).len() / 100 - 8))
}

fn text(criterion: &mut Criterion) {
    for form in [Form::Pretty, Form::Generic] {
        let source = Source::new("bench", generated(form));
        let length = source.text.len();
        assert!(length >= SIZE, "{form:?}: {length} bytes");
        if let (Form::Generic, Some(path)) = (form, std::env::var_os("VISA_BENCH_MODULE")) {
            std::fs::write(path, &*source.text).expect("VISA_BENCH_MODULE can be written");
        }
        let mut group = criterion.benchmark_group(format!("text, {form:?}"));
        group.sample_size(10).throughput(Throughput::Bytes(length as u64));
        let mut parts = Vec::new();
        let whole = median(&mut group, "parse + verify + print", || parts.push(round_trip(&source, form)));
        report(length, &parts);
        let baseline = median(&mut group, "byte scan", || {
            black_box(black_box(&source.text).bytes().filter(|&byte| byte == b'\n').count());
        });
        ratio("parse + verify + print", whole, "a byte scan", baseline);
    }
}

/// Parses, verifies and prints; the time of each.
fn round_trip(source: &Source, form: Form) -> [Duration; 3] {
    let start = Instant::now();
    let ctx = context();
    let parsed = parse(&ctx, source, 0..source.text.len());
    assert!(parsed.diagnostics.is_empty());
    let read = Instant::now();
    assert!(verify(&ctx, &parsed.module).is_empty());
    let verified = Instant::now();
    assert_eq!(print(&ctx, &parsed.module, form).len(), source.text.len());
    [read - start, verified - read, verified.elapsed()]
}

/// Prints the median of each part and of the whole in MB/s.
#[expect(clippy::print_stdout, reason = "a benchmark's report")]
fn report(length: usize, parts: &[[Duration; 3]]) {
    let median = |time: &dyn Fn(&[Duration; 3]) -> Duration| {
        let mut times: Vec<_> = parts.iter().map(time).collect();
        times.sort_unstable();
        times.get(times.len() / 2).map_or(f64::NAN, |time| length as f64 / 1e6 / time.as_secs_f64())
    };
    let [parse, verify, print] = [0, 1, 2].map(|part| median(&|times| times[part]));
    let whole = median(&|times| times.iter().sum());
    let megabytes = length as f64 / 1e6;
    println!(
        "{megabytes:.1} MB: parse {parse:.1}, verify {verify:.1}, print {print:.1}, together {whole:.1} MB/s"
    );
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_secs(2));
    targets = text
}
criterion_main!(benches);
