//! `cargo bench -p visa-benches --bench movement`: 64 MB from data memory to data memory through one pipeline, 256
//! slices with 256 KiB each, beside a copy of as many bytes. Only the run of the Tensor Unit is measured, not the
//! transfers that fill the slices before it.

#![allow(missing_docs, reason = "criterion's macros")]

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::{compiled, median, median_of, ratio};
use criterion::{Criterion, criterion_group, criterion_main};
use visa_interpreter::{Interpreter, Options};
use visa_machine::Machine;

/// Bytes that a pipeline writes.
const BYTES: usize = 64 << 20;

/// A kernel that loads `element` into every slice, and takes it through the engines of `pipeline` to 256 KiB a slice.
fn kernel(element: &str, pipeline: &str) -> String {
    format!(
        "visa 1
tm.axes [S = 256, A = 8192, B = 32, T = 4]
tm.func @move(%x: !tm.hbm<i8, [1], [S, {element}]>) at [0] {{
  %d = tm.to_dm %x at 0, cluster [1 # 2], slice [S], element [{element}]
  %b = stream.begin main %d
{pipeline}
  %out = tm.to_hbm %y at 1073741824, element [S % 2, {element}]
  tm.return %out
}}
"
    )
}

/// The run of the only pipeline of `text` on `threads` threads.
fn pipeline(text: &str, threads: usize) -> impl FnMut() -> Duration {
    let program = Box::leak(Box::new(compiled(text, None)));
    let machine = Box::leak(Box::new(Machine::rngd()));
    let options = Options { threads: Some(threads), ..Options::default() };
    let mut interpreter = Interpreter::new(program, machine, options).expect("it fits");
    for buffer in program.buffers.iter().filter(|buffer| buffer.argument) {
        let bytes: Vec<u8> = (0..buffer.shape.iter().product::<u64>()).map(|at| (at % 251) as u8).collect();
        interpreter.set_argument(&buffer.name, &bytes).expect("the right size");
    }
    move || {
        let mut times = Vec::new();
        interpreter.run(&mut |_, _| times.push(Instant::now())).expect("it runs");
        times[1] - times[0]
    }
}

fn movement(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("64 MB from data memory to data memory");
    group.sample_size(10);
    let source = vec![7_u8; BYTES];
    let mut target = vec![0_u8; BYTES];
    let baseline = median(&mut group, "a copy in memory", || {
        black_box(&mut target).copy_from_slice(black_box(&source));
    });
    let cases = [
        (
            "in order",
            "A, B",
            "  %f = stream.fetch %b time [A], packet [B]
  %c = stream.collect %f time [A], packet [B]
  %y = stream.commit %c at 262144, element [A, B]",
        ),
        (
            "reordered by flits",
            "A, B",
            "  %f = stream.fetch %b time [A % 128, A / 128], packet [B]
  %c = stream.collect %f time [A % 128, A / 128], packet [B]
  %y = stream.commit %c at 262144, element [A / 128, A % 128, B]",
        ),
        (
            "reordered by 8 bytes",
            "A, B",
            "  %f = stream.fetch %b time [B / 8, A], packet [B % 8]
  %c = stream.collect %f time [B / 8, A], packet [B % 8 # 32]
  %y = stream.commit %c at 262144, element [B / 8, A, B % 8]",
        ),
        (
            "switched, broadcast1 of 4",
            "A % 2048, B",
            "  %f = stream.fetch %b time [A % 2048], packet [B]
  %s = stream.switch broadcast1 %f slice1 4, slice0 1
  %c = stream.collect %s time [A % 2048, S % 4], packet [B]
  %y = stream.commit %c at 262144, element [S % 4, A % 2048, B]",
        ),
        (
            "switched, broadcast01 of 4",
            "A % 2048, B",
            "  %f = stream.fetch %b time [A % 2048], packet [B]
  %s = stream.switch broadcast01 %f slice1 2, slice0 2, time0 1
  %c = stream.collect %s time [A % 2048, S / 2 % 2, S % 2], packet [B]
  %y = stream.commit %c at 262144, element [S / 2 % 2, S % 2, A % 2048, B]",
        ),
    ];
    for (name, element, engines) in cases {
        let text = kernel(element, engines);
        let mut last = None;
        for threads in [1, 2] {
            last = median_of(&mut group, &format!("{name}, {threads} threads"), pipeline(&text, threads));
        }
        ratio(&format!("{name} on 2 threads"), last, "the copy", baseline);
        rate(name, last);
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark's report")]
fn rate(name: &str, time: Option<Duration>) {
    if let Some(time) = time {
        println!("rate: {name} on 2 threads moves {:.2} GB/s\n", BYTES as f64 / time.as_secs_f64() / 1e9);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    targets = movement
}
criterion_main!(benches);
