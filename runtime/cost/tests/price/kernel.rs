//! A whole kernel from hw text, priced by hand.

use visa_cost::{MemoryModel, Report, Wait, Why, price};
use visa_ir::context::Context;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_machine::{Machine, Medium};

pub(crate) const GEMV: &str = r#"visa 1
hw.program @gemv, chips 1 {
  hw.buffer "matrix", role arg, space hbm, dtype bf16, shape [256, 2048], layout [524288 : 1 -> 2] : 1
  hw.buffer "vector", role arg, space hbm, dtype bf16, shape [2048], layout [2048 : 1 -> 2] : 1 @ 0 -> 2097152
  hw.buffer "out", role result, space hbm, dtype bf16, shape [256], layout [256 : 1 -> 2] : 1 @ 0 -> 4194304
  hw.dma tensor, from hbm, to dm, loops [256 : 4096 -> 524288, 4096 : 1 -> 1] : 4096
  hw.dma tensor, from hbm, to dm, loops [256 : 0 -> 524288, 4096 : 1 -> 1] : 4096 @ 2097152 -> 8192
  hw.exec sub, slices [0, 256] {
    hw.fetch bf16, packet 4096, loops [512 : 8, 8 : 1] : 8 @ 8192
    hw.collect flits 128
    hw.store_trf full, rows 1, row_bytes 4096, load short
  }
  hw.exec main, slices [0, 256] {
    hw.fetch bf16, packet 32, loops [128 : 32, 32 : 1] : 32
    hw.collect flits 1
    hw.align full, flits 2, repeat 1, rows 1, data 64, loops [64 : 64, 64 : 1] : 64
    hw.contract bf16, depth 5
    hw.accumulate interleaved, rows 1, columns 1, slots [64 : 0] : 1
    hw.cast bf16
    hw.commit bytes 8, loops [8 : 1] : 8 @ 16384
  }
  hw.dma tensor, from dm, to hbm, loops [256 : 524288 -> 2, 2 : 1 -> 1] : 2 @ 16384 -> 4194304
}
"#;

pub(crate) fn priced(text: &str) -> Report {
    let ctx = Context::new(&[&visa_hw::DIALECT]);
    let parsed = parse(&ctx, &Source::new("test", text), 0..text.len());
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let program = visa_hw::compile(&ctx, &parsed.module, None).unwrap_or_else(|errors| panic!("{errors:?}"));
    price(&program, &Machine::rngd(), MemoryModel::Flat).expect("a price")
}

#[test]
fn gemv_by_hand() {
    let report = priced(GEMV);
    let cycles: Vec<u64> = report.commands.iter().map(|command| command.cycles).collect();
    // 1 MiB at 1536 bytes a cycle: 683 and the start-up, for each load. 512 fetches of 8 bytes, three engines to
    // fill. 128 fetches of 32 bytes; fill: five engines and the aligner of 1, five levels of the tree and its output.
    // 512 bytes: 1 and the start-up.
    assert_eq!(cycles, [1183, 1183, 515, 140, 501]);
    let starts: Vec<u64> = report.commands.iter().map(|command| command.start).collect();
    assert_eq!(starts, [0, 1183, 2366, 2881, 3021]);
    let bottlenecks: Vec<&str> = report.commands.iter().map(|command| command.bottleneck).collect();
    assert_eq!(bottlenecks, ["hbm", "hbm", "fetch", "fetch", "startup"]);
}

#[test]
fn gemv_waits_for_its_data() {
    let report = priced(GEMV);
    let waits: Vec<&[Wait]> = report.commands.iter().map(|command| command.waits.as_slice()).collect();
    let wait = |command, why| vec![Wait { command, why }];
    assert!(waits[0].is_empty());
    assert_eq!(waits[1], wait(0, Why::Busy));
    assert_eq!(waits[2], wait(1, Why::Raw));
    assert_eq!(waits[3], wait(2, Why::Raw));
    assert_eq!(waits[4], wait(3, Why::Raw));
}

#[test]
fn gemv_works_at_a_thousandth_of_the_peak() {
    let totals = priced(GEMV).totals;
    assert_eq!((totals.cycles, totals.macs), (3522, 256 * 2048));
    // 2^20 operations of 2^18 a cycle take 4 cycles of 3522.
    assert_eq!(totals.share_of_peak, Some(4.0 / 3522.0));
    // Fetched: a row and the vector in each of 256 slices. Committed: 8 bytes. Transfers: in 2 MiB, out 512 bytes.
    assert_eq!(
        (totals.bytes.of(Medium::Dm).read, totals.bytes.of(Medium::Dm).written),
        ((2 << 20) + 512, (2 << 20) + 2048)
    );
    assert_eq!((totals.bytes.of(Medium::Hbm).read, totals.bytes.of(Medium::Hbm).written), (2 << 20, 512));
}

#[test]
fn a_load_of_the_vector_into_other_bytes_need_not_be_waited_for() {
    // The vector arrives in parallel with the fetch, and nothing but the sub context's own work orders the
    // contraction.
    let text = GEMV.replace("2097152 -> 8192", "2097152 -> 32768");
    let starts: Vec<u64> = priced(&text).commands.iter().map(|command| command.start).collect();
    assert_eq!(starts, [0, 1183, 0, 1183, 2366]);
}
