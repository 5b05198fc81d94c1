//! `cargo bench -p visa-memory --bench detailed`: requests a second of the detailed memory model on one core. The goal
//! is 5 million.

#![expect(clippy::print_stdout, reason = "a benchmark's report")]

use std::hint::black_box;
use std::time::Instant;

use visa_loops::PairedProgram;
use visa_machine::Machine;
use visa_memory::detailed::{Direction, Timing, simulate, stream};
use visa_memory::{Descriptor, Engine, Medium, Memory, Request, Transfer};

/// Runs of each, of some milliseconds. The best counts: other work on the machine only adds time.
const RUNS: usize = 60;

/// A transfer of `engines` engines, whose programs `text` gives, number by number.
fn transfer(engines: u64, from: Medium, to: Medium, text: impl Fn(u64) -> String) -> Transfer {
    let memory = |medium| Memory { medium, chip: 0 };
    let engines = (0..engines).map(|number| {
        let loops: PairedProgram = text(number).parse().expect("a program");
        let descriptor = Descriptor { from: memory(from), to: memory(to), loops };
        (Engine { chip: 0, cluster: number / 4, pe: number % 4 }, vec![descriptor])
    });
    Transfer { engines: engines.collect() }
}

fn report(name: &str, mut run: impl FnMut() -> u64) {
    let mut rates: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            let requests = black_box(run());
            requests as f64 / start.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    println!("{name:<44} {:6.2} million requests a second", rates[RUNS - 1] / 1e6);
}

fn main() {
    let machine = Machine::rngd();
    let timing = Timing::of(&machine);
    let sequence = |count: u64, stride: u64| {
        (0..count).map(move |at| (Request { address: at * stride % (48 << 30), bytes: 256 }, Direction::Read))
    };
    for (name, stride) in
        [("stream, in sequence", 256), ("stream, one channel", 1 << 13), ("stream, stride 2^21", 1 << 21)]
    {
        report(name, || {
            stream(sequence(1 << 16, stride), &timing).expect("addresses of HBM");
            1 << 16
        });
    }
    // A request is read and written: each of the two is counted.
    let of = |transfer: Transfer| {
        move || {
            let found = simulate(&transfer, &Machine::rngd(), &timing, &[]).expect("addresses");
            2 * found.engines.iter().map(|(_, totals)| totals.requests).sum::<u64>()
        }
    };
    let slice = 512 << 10;
    report(
        "HBM to DM, 1 engine (book 10, example 2)",
        of(transfer(1, Medium::Hbm, Medium::Dm, |_| {
            format!(
                "[64 : 65536 -> 256, 4 : 256 -> 65536, 32 : 1024 -> {slice}, 2 : 32768 -> {}, 256 : 1 -> 1] : 256",
                32 * slice
            )
        })),
    );
    report(
        "HBM to DM, 8 engines (book 10, example 4)",
        of(transfer(8, Medium::Hbm, Medium::Dm, |engine| {
            format!(
                "[8 : 1024 -> 1024, 4 : 256 -> 256, 32 : 2097152 -> {slice}, 2 : 67108864 -> {}, 256 : 1 -> 1] \
                 : 256 @ {} -> {}",
                32 * slice,
                engine << 18,
                engine * 64 * slice
            )
        })),
    );
    report(
        "DM to DM, 1 engine (book 10, example 3)",
        of(transfer(1, Medium::Dm, Medium::Dm, |_| {
            format!(
                "[64 : 256 -> 1024, 4 : 65536 -> 256, 32 : {slice} -> {slice}, 2 : {0} -> {0}, 256 : 1 -> 1] : 256 @ \
                 0 -> 262144",
                32 * slice
            )
        })),
    );
}
