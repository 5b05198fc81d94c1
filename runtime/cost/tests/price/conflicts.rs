//! Loads of the tensor register file in parallel with contractions, and the resources of a contraction (books 18, 19).

use visa_cost::Report;
use visa_engine::Engine;
use visa_engine::Space::Trf;
use visa_engine::read_cache::CacheReads;
use visa_engine::{BankUse, TreeUse};
use visa_hw::program::CommandKind;
use visa_hw::program::Context::{Main, Sub};

use crate::doubles::{exec, report, stage};

/// A load of `writes` flits, a flit a cycle, fetched in `fetched` cycles.
fn load(fetched: u64, writes: u64) -> CommandKind {
    let store =
        stage("hw.store_trf", Engine::COMMIT, writes).bank(BankUse::Writes(writes)).writes(Trf, 4096..8192);
    exec(Sub, 0..512, &[stage("hw.fetch", Engine::FETCH, fetched), store])
}

/// 100 cycles of a contraction that misses `misses` times in both columns.
fn contraction(misses: u64, in_step: bool) -> CommandKind {
    let reads = CacheReads { reads: 100, misses, columns: 2, occupied: [misses; 2], in_step };
    let align = stage("hw.align", Engine::CONTRACTION, 100).bank(BankUse::Reads(reads)).reads(Trf, 0..4096);
    let trees = TreeUse { rows: 4, all_rows: 8, depth: 5, latency: 5, most_macs: 25_600 };
    exec(Main, 0..512, &[align, stage("hw.contract", Engine::CONTRACTION, 100).macs(6400).trees(trees)])
}

/// Stalls and end of the load, which is command `number`.
fn stalls(report: &Report, number: usize) -> (u64, u64) {
    (report.commands[number].stalls, report.commands[number].end)
}

#[test]
fn a_load_gives_way_to_misses() {
    let beside = |fetched, writes, misses| {
        stalls(&report(1, vec![contraction(misses, false), load(fetched, writes)]), 1)
    };
    // 20 writes to each column, and it is free every second cycle: 80 cycles.
    assert_eq!(beside(40, 40, 50), (40, 80));
    // 80 writes would take 160. In the 100 cycles of the contraction 50 are done, then 30 more.
    assert_eq!(beside(80, 80, 50), (50, 130));
    // Every read misses: nothing is written until the contraction has ended.
    assert_eq!(beside(40, 40, 100), (100, 140));
    // The fetch brings a flit every 4 cycles, so that the writes have time to wait.
    assert_eq!(beside(160, 40, 50), (0, 160));
    assert_eq!(beside(40, 40, 0), (0, 40));
}

#[test]
fn a_contraction_that_waits_for_its_fetch_leaves_the_banks_free() {
    // 100 reads in 200 cycles: every second cycle is free.
    let reads = CacheReads { reads: 100, misses: 100, columns: 2, occupied: [100; 2], in_step: false };
    let align = stage("hw.align", Engine::CONTRACTION, 100).bank(BankUse::Reads(reads)).reads(Trf, 0..4096);
    let slow = exec(Main, 0..512, &[stage("hw.fetch", Engine::FETCH, 200), align]);
    assert_eq!(stalls(&report(1, vec![slow, load(40, 40)]), 1), (40, 80));
}

#[test]
fn reads_in_step_leave_a_column_free() {
    assert_eq!(stalls(&report(1, vec![contraction(100, true), load(40, 40)]), 1), (0, 40));
}

/// Every read misses, and a load would wait for the last one.
#[test]
fn what_writes_no_register_file_waits_for_no_reads() {
    let fetch = exec(Sub, 0..512, &[stage("hw.fetch", Engine::FETCH, 40)]);
    assert_eq!(stalls(&report(1, vec![contraction(100, false), fetch]), 1), (0, 40));
}

#[test]
fn what_waits_for_a_load_waits_for_its_stalls() {
    // The order in the program does not matter to who waits. The last contraction reads the bytes that the load
    // writes, so that it is no reason to wait, however much it misses.
    let reads = CacheReads { reads: 10, misses: 10, columns: 2, occupied: [10; 2], in_step: false };
    let user = stage("hw.align", Engine::CONTRACTION, 10).bank(BankUse::Reads(reads)).reads(Trf, 4096..8192);
    let report = report(1, vec![load(40, 40), contraction(50, false), exec(Main, 0..512, &[user])]);
    assert_eq!(stalls(&report, 0), (40, 80));
    assert_eq!((report.commands[1].start, report.commands[1].end), (0, 100));
    assert_eq!(report.commands[2].start, 100);
    let alone = crate::doubles::report(1, vec![load(40, 40)]);
    assert_eq!(stalls(&alone, 0), (0, 40));
}

/// 80 writes from cycle 10 on, at half their speed in parallel with a contraction that runs for 100 cycles.
#[test]
fn a_contraction_may_begin_in_the_middle_of_a_load() {
    let beside = |starts| {
        let before = exec(Main, 0..512, &[stage("hw.vector", Engine::VECTOR, starts)]);
        let first = exec(Sub, 0..512, &[stage("hw.fetch", Engine::FETCH, 10)]);
        stalls(&report(1, vec![before, contraction(50, false), first, load(80, 80)]), 3)
    };
    // From cycle 50 on: 40 are written before, the others in 80 cycles.
    assert_eq!(beside(50), (40, 130));
    // From cycle 20 on: 10 before, 50 in parallel with it, 20 after cycle 120.
    assert_eq!(beside(20), (50, 140));
}

/// The last contraction reads the bytes that the load writes, and begins in the cycle in which the load would end
/// without the first.
#[test]
fn a_load_does_not_wait_for_what_begins_when_it_ends() {
    let all_miss = |cycles, range| {
        let occupied = [cycles; 2];
        let reads = CacheReads { reads: cycles, misses: cycles, columns: 2, occupied, in_step: false };
        let align = stage("hw.align", Engine::CONTRACTION, cycles).bank(BankUse::Reads(reads));
        exec(Main, 0..512, &[align.reads(Trf, range)])
    };
    let report = report(1, vec![load(40, 40), all_miss(20, 0..4096), all_miss(10, 4096..8192)]);
    assert_eq!(stalls(&report, 0), (20, 60));
    assert_eq!(report.commands[2].start, 60);
}

#[test]
fn the_text_says_what_a_contraction_uses() {
    let report = report(1, vec![contraction(50, false), load(40, 40)]);
    let text = report.text(|_| None);
    // 4 of 8 rows, and half of a packet's elements.
    let reducer = "reducer   0: 4 of 8 rows, 25.0% of the MACs, 5 tree levels in 5 cycles, 100 packets, 50.0% of \
                   the reads hit the cache\n";
    assert!(text.contains(reducer), "{text}");
    assert!(text.contains("stalls    1: 40 cycles waiting for reads of the register file\n"), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["commands"][0]["contraction"]["misses"], 50);
    assert_eq!(json["commands"][1]["stalls"], 40);
    assert!(json["commands"][1].get("contraction").is_none());
}
