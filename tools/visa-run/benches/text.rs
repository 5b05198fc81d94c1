//! `cargo bench --bench text`: parse, verify and print of a 10 MB module of kernels, in both forms, on one core.
//!
//! The baseline finds the line breaks of the same text, byte by byte: what looking at each byte once costs.
//! `VISA_BENCH_MODULE=FILE` writes the generic text to FILE, to give to mlir-opt.

#![allow(missing_docs, reason = "criterion's macros")]

mod common;

use std::hint::black_box;
use std::time::Duration;

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
        let ctx = context();
        let module = module(&ctx, &source.text);
        let mut group = criterion.benchmark_group(format!("text, {form:?}"));
        group.sample_size(10).throughput(Throughput::Bytes(length as u64));
        median(&mut group, "parse", || {
            black_box(parse(&context(), &source, 0..length));
        });
        median(&mut group, "verify", || assert!(verify(&ctx, &module).is_empty()));
        median(&mut group, "print", || assert_eq!(print(&ctx, &module, form).len(), length));
        let whole = median(&mut group, "parse + verify + print", || {
            let ctx = context();
            let parsed = parse(&ctx, &source, 0..length);
            assert!(parsed.diagnostics.is_empty());
            assert!(verify(&ctx, &parsed.module).is_empty());
            assert_eq!(print(&ctx, &parsed.module, form).len(), length);
        });
        let baseline = median(&mut group, "byte scan", || {
            black_box(black_box(&source.text).bytes().filter(|&byte| byte == b'\n').count());
        });
        ratio("parse + verify + print", whole, "a byte scan", baseline);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_secs(2));
    targets = text
}
criterion_main!(benches);
