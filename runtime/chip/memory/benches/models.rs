//! `cargo bench -p visa-memory --bench models`: requests a second of the detailed memory model on one core, of
//! which the goal is 5 million, and microseconds that the book model takes for a descriptor, of which the goal is
//! at most 20.

#![expect(clippy::print_stdout, reason = "a benchmark's report")]

use std::hint::black_box;
use std::time::Instant;

use visa_loops::PairedProgram;
use visa_machine::Machine;
use visa_memory::detailed::{Direction, Timing, simulate, stream};
use visa_memory::{Descriptor, Engine, Medium, Memory, Request, Transfer, book};

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

/// The book model's time for a transfer of one descriptor.
fn report_book(name: &str, from: Medium, to: Medium, text: &str) {
    let (machine, transfer) = (Machine::rngd(), transfer(1, from, to, |_| text.to_owned()));
    let each = (0..20 * RUNS).map(|_| {
        let start = Instant::now();
        black_box(book(&transfer, &machine).expect("a price"));
        start.elapsed().as_secs_f64()
    });
    let least = each.fold(f64::INFINITY, f64::min);
    println!("{name:<44} {:6.2} microseconds a descriptor", least * 1e6);
}

fn books() {
    let slice = 512 << 10;
    let to_slices = format!(
        "[256 : 65536 -> 256, 4 : 256 -> 65536, 32 : 1024 -> {slice}, 2 : 32768 -> {}, 256 : 1 -> 1] : 256",
        32 * slice
    );
    report_book("book, HBM to DM (book 10, example 2)", Medium::Hbm, Medium::Dm, &to_slices);
    let rows = "[256 : 65536 -> 256, 256 : 256 -> 65536, 256 : 1 -> 1] : 256 @ 0 -> 16777216";
    report_book("book, HBM to HBM (book 10, internals)", Medium::Hbm, Medium::Hbm, rows);
    let within = format!(
        "[256 : 256 -> 1024, 4 : 65536 -> 256, 32 : {slice} -> {slice}, 256 : 1 -> 1] : 256 @ 0 -> 262144"
    );
    report_book("book, DM to DM", Medium::Dm, Medium::Dm, &within);
    let odd = "[65536 : 768 -> 256, 256 : 1 -> 1] : 256 @ 0 -> 1073741824";
    report_book("book, 65,536 requests looked at", Medium::Hbm, Medium::Hbm, odd);
}

fn main() {
    books();
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
