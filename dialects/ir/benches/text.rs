//! `cargo bench -p visa-ir`: parse, verify and print of a 10 MB module, in MB/s of its text on one core (medians of CPU time).

#![allow(
    clippy::print_stdout,
    missing_docs,
    dead_code,
    reason = "a benchmark's report; the toy is shared with tests"
)]

#[path = "../tests/core/toy.rs"]
mod toy;

use std::time::{Duration, Instant};
use visa_ir::parse::parse;
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_ir::verify::verify;

const SIZE: usize = 10 << 20;
const RUNS: usize = 5;

/// Functions of a kernel's shape: short bodies, a loop, clauses of all kinds.
fn module() -> String {
    let mut text = String::from("visa 1\n");
    let mut number = 0;
    while text.len() < SIZE {
        text += &format!(
            "toy.func @kernel_{number}(%lhs: !toy.tensor<[4, 8]>, %rhs: !toy.tensor<[256]>) chips 1 {{\n  \
             %m = toy.make size {number}, mode exact, strides [64, 1, {number}], tile [8, 16]\n  \
             %n = toy.make size 1048576, tile [256, 2, 64, {number}]\n  \
             %s, %c = toy.mix sum %m, %n : !toy.tensor<[256]>, !toy.tensor<[1]>\n  \
             toy.loop [2, 3] {{\n    toy.note \"a comment\", at {number}\n    %k = toy.make size 3, volatile\n  }}\n  \
             toy.return %s, %c\n}}\n"
        );
        number += 1;
    }
    text
}

/// CPU time of this thread where the system tells it (Linux), so that a busy machine does not count; else wall time.
fn now(start: Instant) -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|field| field.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<_> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            let before = now(start);
            work();
            now(start) - before
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}

fn main() {
    let ctx = toy::context();
    for form in [Form::Pretty, Form::Generic] {
        let pretty = module();
        let module = parse(&ctx, &Source::new("bench", pretty.as_str()), 0..pretty.len()).module;
        let text = print(&ctx, &module, form);
        let source = Source::new("bench", text);
        let length = source.text.len();
        let reading = median(|| {
            assert!(parse(&toy::context(), &source, 0..length).diagnostics.is_empty());
        });
        let verifying = median(|| assert!(verify(&ctx, &module).is_empty()));
        let printing = median(|| assert_eq!(print(&ctx, &module, form).len(), length));
        let rate = |time: Duration| length as f64 / 1e6 / time.as_secs_f64();
        println!(
            "{form:?}: {:.1} MB; parse {:.1}, verify {:.1}, print {:.1}; together {:.1} MB/s",
            length as f64 / 1e6,
            rate(reading),
            rate(verifying),
            rate(printing),
            rate(reading + verifying + printing)
        );
    }
}
