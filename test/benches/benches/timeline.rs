//! `cargo bench -p visa-benches --bench timeline`: the page of 20,000 commands, beside the text of its data; and the
//! trace of a million runs, beside their timeline.

#![allow(missing_docs, reason = "criterion's macros")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;

use common::{context, median, module, ratio};
use criterion::{Criterion, criterion_group, criterion_main};
use visa_cost::{Each, MemoryModel, Priced, Rows, priced};
use visa_hw::program::Program;
use visa_machine::Machine;
use visa_timeline::document::Text;
use visa_timeline::{Document, TimelineInput, collect, page, perfetto};

/// Commands of the page.
const COMMANDS: u64 = 20_000;
/// Runs of the trace, two in each iteration.
const RUNS: u64 = 1_000_000;

/// Loads and stores of 16 KB, at other addresses each.
fn written_out() -> String {
    let mut text = "visa 1\nhw.program @many, chips 1 {\n".to_owned();
    for pair in 0..COMMANDS / 2 {
        let (dm, from, to) = (pair * 4096 % 400_000, pair * 32_768, (1 << 30) + pair * 32_768);
        let _infallible = write!(
            text,
            "  hw.dma tensor, from hbm, to dm, loops [64 : 256 -> 524288, 256 : 1 -> 1] : 256 @ {from} -> {dm}\n  \
             hw.dma tensor, from dm, to hbm, loops [64 : 524288 -> 256, 256 : 1 -> 1] : 256 @ {dm} -> {to}\n"
        );
    }
    text + "}\n"
}

fn looped() -> String {
    format!(
        "visa 1\nhw.program @many, chips 1 {{\n  hw.for {} {{\n    \
         hw.dma tensor, from hbm, to dm, loops [64 : 256 -> 524288, 256 : 1 -> 1] : 256\n    \
         hw.dma tensor, from dm, to hbm, loops [64 : 524288 -> 256, 256 : 1 -> 1] : 256 @ 0 -> 1048576\n  }}\n}}\n",
        RUNS / 2
    )
}

/// A text at the hardware level as a program.
fn program(text: &str) -> Program {
    let ctx = context();
    visa_hw::compile(&ctx, &module(&ctx, text), None).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn document(text: &str, program: &Program, with_memory: bool) -> Document {
    let (machine, model, rows) = (Machine::rngd(), MemoryModel::Book, Rows::default());
    let each = if with_memory { Each::PlaceAndMemory } else { Each::Place };
    let Priced { report, timeline } = priced(program, &machine, model, &rows, each).expect("a price");
    let line = |span: visa_ir::span::Span| Some((0, 1 + text[..span.range().start].matches('\n').count()));
    collect(TimelineInput {
        program,
        machine: &machine,
        report: &report,
        timeline,
        texts: vec![Text { name: "many.visa".to_owned(), text: text.to_owned() }],
        place: &line,
        name: &|_| None,
        compared: None,
        theirs: BTreeMap::new(),
        advice: Vec::new(),
    })
}

#[expect(clippy::print_stdout, reason = "a benchmark's report")]
fn timelines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("timeline");
    group.sample_size(10);
    let text = written_out();
    let many = document(&text, &program(&text), true);
    println!("the page of 20,000 commands has {} bytes", page::page(&many).expect("a page").len());
    let baseline = median(&mut group, "data of 20,000 commands", || {
        drop(black_box(serde_json::to_string(&many).expect("JSON")));
    });
    let time = median(&mut group, "page of 20,000 commands", || drop(black_box(page::page(&many))));
    ratio("the page of 20,000 commands", time, "their data", baseline);
    let text = looped();
    let looped = program(&text);
    let (machine, rows) = (Machine::rngd(), Rows::default());
    let baseline = median(&mut group, "timeline of a million runs", || {
        drop(black_box(priced(&looped, &machine, MemoryModel::Book, &rows, Each::Place)));
    });
    let million = document(&text, &looped, false);
    let time = median(&mut group, "trace of a million runs", || {
        perfetto::trace(&million, &mut std::io::sink()).expect("a sink takes all");
    });
    ratio("the trace of a million runs", time, "their timeline", baseline);
}

criterion_group!(benches, timelines);
criterion_main!(benches);
