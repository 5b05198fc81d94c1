//! Bounds worked out by hand.

use crate::kernel::{GEMV, priced};
use visa_cost::BoundPart;

fn parts(text: &str) -> Vec<(&'static str, u64)> {
    priced(text).bound.parts.iter().map(|&BoundPart { of, cycles }| (of, cycles)).collect()
}

#[test]
fn gemv() {
    // 256 x 2048 products, 2^17 a cycle on all slices of a chip. Each of 256 slices fetches 4096 bytes in each context, and
    // 512 slices can fetch 32 + 8 bytes a cycle. HBM: 1 MiB, 4 KiB and 512 bytes at 1536 a cycle.
    let (contraction, fetch, hbm) = (4, (2_u64 << 20).div_ceil(40 * 512), 1_053_184_u64.div_ceil(1536));
    assert_eq!((fetch, hbm), (103, 686));
    // Three transfers in one queue, with a start-up of 500 cycles each. The contraction needs two of them before it, and
    // the store needs the contraction; the fetches of the first run need one before and one after them.
    let expected =
        [("dma", 2186), ("start-ups", 1504), ("hbm", hbm), ("fetch", fetch), ("contraction", contraction)];
    assert_eq!(parts(GEMV), expected);
    let bound = priced(GEMV).bound;
    assert_eq!(bound.cycles, 2186);
    assert!((bound.times - 3522.0 / 2186.0).abs() < 1e-12, "{}", bound.times);
}

#[test]
fn loops_count_and_arguments_do_so_once() {
    let one = "hw.dma tensor, from hbm, to dm, loops [4096 : 1 -> 1] : 256\nhw.exec main, slices [0, 1] {\nhw.fetch i8, packet \
               32, loops [4096 : 1] : 32\nhw.collect flits 1\nhw.commit bytes 32, loops [4096 : 1] : 32 @ 8192\n}\nhw.dma \
               tensor, from dm, to hbm, loops [4096 : 1 -> 1] : 256 @ 8192 -> 8192\n";
    let buffers = "hw.buffer \"x\", role arg, space hbm, dtype i8, shape [4096], layout [4096 : 1 -> 1] : 1\n\
                   hw.buffer \"y\", role result, space hbm, dtype i8, shape [4096], layout [4096 : 1 -> 1] : 1 @ 0 -> 8192\n";
    let program = |body: &str| format!("visa 1\nhw.program @p, chips 1 {{\n{buffers}{body}}}\n");
    // 4096 bytes in and out at 1536 a cycle; 4096 bytes that a slice fetches, of 512 that fetch 40 bytes a cycle.
    assert_eq!(parts(&program(one)), [("dma", 1006), ("start-ups", 1001), ("hbm", 6), ("fetch", 1)]);
    // A hundred times the fetches; the argument still has to be read once.
    let looped = program(&format!("hw.for 100 {{\n{one}}}\n"));
    assert_eq!(parts(&looped), [("start-ups", 1020), ("dma", 1006), ("fetch", 20), ("hbm", 6)]);
}

#[test]
fn a_run_that_waits_for_no_transfer_has_no_start_up_before_it() {
    // It reads bytes that nothing wrote, and another slice than the transfer writes.
    let text = "visa 1\nhw.program @p, chips 1 {\n\
                hw.dma tensor, from hbm, to dm, loops [4096 : 1 -> 1] : 256 @ 0 -> 524288\n\
                hw.exec main, slices [0, 1] {\nhw.fetch i8, packet 32, loops [4096 : 1] : 32\nhw.collect flits 1\nhw.commit \
                bytes 32, loops [4096 : 1] : 32 @ 8192\n}\n}\n";
    assert_eq!(parts(text), [("fetch", 1)]);
}

/// Dual fetches 64 bytes of each slice a cycle, while main and sub fetch nothing.
#[test]
fn dual_fetches_by_itself() {
    let run = |context, packet, flits| {
        format!(
            "hw.exec {context}, slices [0, 512] {{\nhw.fetch i8, packet {packet}, loops [8192 : 1] : \
             {packet}\nhw.collect flits 1{flits}\nhw.commit bytes 32, loops [8192 : 1] : 32 @ 65536\n}}\n"
        )
    };
    let (dual, main) = (run("dual", 64, ", halves"), run("main", 32, ""));
    let fetch = |body: &str| parts(&format!("visa 1\nhw.program @p, chips 1 {{\n{body}}}\n"));
    // 8192 / 64, and 8192 / (32 + 8).
    assert_eq!(fetch(&dual), [("fetch", 128)]);
    assert_eq!(fetch(&main), [("fetch", 205)]);
    assert_eq!(fetch(&[dual, main].concat()), [("fetch", 333)]);
}

/// A conversion of the bytes does not make the fetch longer: in two contexts at once, more than 32 + 8 bytes a cycle
/// may come out.
#[test]
fn fetches_read_what_is_in_memory() {
    let run = |context, from, store| {
        format!(
            "hw.exec {context}, slices [0, 512] {{\nhw.fetch i8, packet 8, to i32, loops [8192 : 1] : 8 @ \
             {from}\nhw.collect flits 1\n{store}\n}}\n"
        )
    };
    let main = run("main", 0, "hw.commit bytes 32, loops [32768 : 1] : 32 @ 65536");
    let sub = run("sub", 16384, "hw.store_trf full, rows 4, row_bytes 8192");
    let report = priced(&format!("visa 1\nhw.program @p, chips 1 {{\n{main}{sub}}}\n"));
    // 1024 accesses each, of 8 bytes of 40.
    assert_eq!((report.bound.cycles, report.totals.cycles), (410, 1045));
}
