//! `cargo bench -p visa-benches --bench report`: price and report of programs of many commands, as text and as JSON.
//!
//! The baseline is the same of a quarter of the commands: a ratio near 4 is a report that grows with its commands,
//! one near 16 is one that grows with their square.

#![allow(missing_docs, reason = "criterion's macros")]

mod common;

use std::hint::black_box;

use common::{compiled, median, ratio};
use criterion::{Criterion, criterion_group, criterion_main};
use visa_cost::MemoryModel;
use visa_hw::program::Program;
use visa_ir::span::Source;
use visa_machine::Machine;

/// Commands of the larger program, in transfers of the GEMV kernel's arguments.
const COMMANDS: usize = 8_000;
const GEMV: &str = include_str!("../../../test/kernels/gemv.visa");

/// The GEMV kernel, its last pipeline and what it reads again and again until it has that many commands; and its
/// text.
fn repeated(commands: usize) -> (Program, Source) {
    let (head, rest) = GEMV.split_once("  %m =").expect("the first transfer");
    let (body, tail) = rest.split_once("  %out").expect("the last transfer");
    let body = format!("  %m ={body}");
    let copies = (0..commands / 4).map(|copy| {
        let mut text = body.clone();
        for name in ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "v0", "v1", "v2", "weights", "m", "v", "y"] {
            for end in [" ", ",", "\n"] {
                text = text.replace(&format!("%{name}{end}"), &format!("%c{copy}_{name}{end}"));
            }
        }
        text
    });
    let last = format!("%c{}_y", commands / 4 - 1);
    let text = format!("{head}{}  %out{}", copies.collect::<String>(), tail.replace("%y", &last));
    (compiled(&text, None), Source::new("bench", text))
}

fn report(criterion: &mut Criterion) {
    let machine = Machine::rngd();
    let mut group = criterion.benchmark_group("report");
    group.sample_size(10);
    let (few, many) = (repeated(COMMANDS / 4), repeated(COMMANDS));
    assert_eq!(many.0.commands.len(), COMMANDS + 1);
    let mut measure = |name: &str, work: &dyn Fn(&(Program, Source))| {
        let small = median(&mut group, &format!("{name}, {} commands", COMMANDS / 4), || work(&few));
        let large = median(&mut group, &format!("{name}, {COMMANDS} commands"), || work(&many));
        ratio(&format!("{name} of {COMMANDS} commands"), large, "a quarter of them", small);
    };
    measure("price", &|(program, _)| {
        drop(black_box(visa_cost::price(program, &machine, MemoryModel::default()).expect("a price")))
    });
    measure("price and text", &|(program, source)| {
        let report = visa_cost::price(program, &machine, MemoryModel::default()).expect("a price");
        black_box(report.text(|span| Some(source.line(span.range().start).to_string())));
    });
    measure("price and JSON", &|(program, _)| {
        let report = visa_cost::price(program, &machine, MemoryModel::default()).expect("a price");
        black_box(serde_json::to_string_pretty(&report).expect("a report has JSON"));
    });
}

criterion_group!(benches, report);
criterion_main!(benches);
