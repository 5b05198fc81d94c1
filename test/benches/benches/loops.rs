//! `cargo bench -p visa-benches --bench loops`: a loop of 10,000 small iterations, run and priced, beside the same
//! commands written out; and the price of a loop of 10,000 and of a million iterations.

#![allow(missing_docs, reason = "criterion's macros")]

mod common;

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use common::{compiled, median, median_of, ratio};
use criterion::{Criterion, criterion_group, criterion_main};
use visa_cost::{MemoryModel, price};
use visa_hw::program::Program;
use visa_interpreter::{Interpreter, Options};
use visa_machine::Machine;

const ITERATIONS: u64 = 10_000;

/// Rows of a matrix through data memory and back, a row after the other.
fn looped(rows: u64) -> Program {
    let body = format!(
        "  %c = tm.empty hbm, dtype i32, at {RESULT}, element [M, N]
  %r = tm.for [M](%i, %acc) %c {{
    %t = tm.tile %x, %i along [M]
{}    %n = tm.to_tile %y, %acc, %i along [M]
    tm.yield %n
  }}
  tm.return %r\n",
        row("", "%t")
    );
    compiled(&kernel(rows, &body), None)
}

/// The same, written out.
fn written_out(rows: u64) -> Program {
    let mut body = format!("  %n = tm.empty hbm, dtype i32, at {RESULT}, element [M, N]\n");
    let mut filled = "%n".to_owned();
    for at in 0..rows {
        let (tile, next) = (format!("%t{at}"), format!("%n{at}"));
        let _infallible = writeln!(body, "    {tile} = tm.tile %x along [M], index {at}");
        body += &row(&at.to_string(), &tile);
        let _infallible = writeln!(body, "    {next} = tm.to_tile %y{at}, {filled} along [M], index {at}");
        filled = next;
    }
    let _infallible = writeln!(body, "  tm.return {filled}");
    compiled(&kernel(rows, &body), None)
}

/// Where the result is.
const RESULT: u64 = 1 << 32;

fn kernel(rows: u64, body: &str) -> String {
    format!(
        "visa 1\ntm.axes [M = {rows}, N = 64]\ntm.func @f(%x: !tm.hbm<i32, [1], [M, N]>) at [0] {{\n{body}}}\n"
    )
}

/// A row in, through a pipeline, and to `%y`; names end in `number`.
fn row(number: &str, tile: &str) -> String {
    format!(
        "    %d{number} = tm.to_dm {tile} at 0, cluster [1 # 2], slice [1 # 256], element [N]
    %b{number} = stream.begin main %d{number}
    %f{number} = stream.fetch %b{number} time [N / 8], packet [N % 8]
    %k{number} = stream.collect %f{number} time [N / 8], packet [N % 8]
    %y{number} = stream.commit %k{number} at 4096, element [N]\n"
    )
}

/// The run of a program on one thread.
fn run(program: &'static Program) -> impl FnMut() -> Duration {
    let machine = Box::leak(Box::new(Machine::rngd()));
    let options = Options { threads: Some(1), ..Options::default() };
    let mut interpreter = Interpreter::new(program, machine, options).expect("it fits");
    for buffer in program.buffers.iter().filter(|buffer| buffer.argument) {
        let elements = buffer.shape.iter().product::<u64>();
        interpreter.set_argument(&buffer.name, &vec![1; elements as usize * 4]).expect("the right size");
    }
    move || {
        let start = Instant::now();
        interpreter.run(&mut |_, _| ()).expect("it runs");
        start.elapsed()
    }
}

fn loops(criterion: &mut Criterion) {
    let machine = Machine::rngd();
    let mut group = criterion.benchmark_group("loops");
    group.sample_size(10);
    let (short, straight): (&'static Program, &'static Program) =
        (Box::leak(Box::new(looped(ITERATIONS))), Box::leak(Box::new(written_out(ITERATIONS))));
    let baseline = median_of(&mut group, "run, written out", run(straight));
    let time = median_of(&mut group, "run, a loop", run(short));
    ratio("a run of 10,000 iterations", time, "the same commands written out", baseline);
    let priced =
        |program: &Program| drop(black_box(price(program, &machine, MemoryModel::Book).expect("a price")));
    let baseline = median(&mut group, "price, written out", || priced(straight));
    let few = median(&mut group, "price, a loop", || priced(short));
    ratio("the price of a loop of 10,000 iterations", few, "that of the commands written out", baseline);
    let long = looped(1_000_000);
    let many = median(&mut group, "price, a loop of a million", || priced(&long));
    ratio("the price of a loop of a million iterations", many, "that of one of 10,000", few);
}

criterion_group!(benches, loops);
criterion_main!(benches);
