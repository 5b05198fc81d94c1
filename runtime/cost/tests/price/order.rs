//! The schedule: resources, hazards, and the waits of a command.

use visa_cost::{Report, Wait, Why};
use visa_engine::Engine;
use visa_engine::Space;
use visa_engine::Space::{Trf, Vrf};
use visa_hw::program::CommandKind;
use visa_hw::program::Context::{Dual, Main, Sub};
use visa_machine::Medium;

use crate::doubles::{busy, dma, exec, report, stage};

fn starts(report: &Report) -> Vec<u64> {
    report.commands.iter().map(|command| command.start).collect()
}

fn waits(report: &Report, command: usize) -> Vec<(usize, Why)> {
    report.commands[command].waits.iter().map(|&Wait { command, why }| (command, why)).collect()
}

/// The start of the second of two runs of 100 cycles, and why.
fn second(first: CommandKind, second: CommandKind) -> (u64, Vec<(usize, Why)>) {
    let report = report(1, vec![first, second]);
    (report.commands[1].start, waits(&report, 1))
}

#[test]
fn nobody_waits_for_what_takes_no_time() {
    let nothing = || exec(Main, 0..512, &[stage("none", Engine::FETCH, 0)]);
    assert_eq!(second(nothing(), nothing()), (0, vec![]));
}

#[test]
fn independent_transfers_share_one_queue() {
    let report = report(
        1,
        vec![
            dma(Space::HBM, Space::DM, "[1536 : 1 -> 1] : 8"),
            dma(Space::HBM, Space::DM, "[1536 : 1 -> 1] : 8 @ 1536 -> 1536"),
            dma(Space::HOST, Space::HBM, "[30 : 1 -> 1] : 1 @ 0 -> 8192"),
        ],
    );
    // 501 cycles each; PCIe is a separate queue.
    assert_eq!(starts(&report), [0, 501, 0]);
    assert_eq!(waits(&report, 0), []);
    assert_eq!(waits(&report, 1), [(0, Why::Busy)]);
    assert_eq!((report.totals.cycles, report.totals.microseconds), (1002, 1.002));
    let busy: Vec<u64> = report.totals.busy.iter().map(|busy| busy.cycles).collect();
    assert_eq!(busy, [0, 0, 1002, 501]);
}

#[test]
fn transfers_meet_in_the_scratchpad_memory_of_a_pe() {
    let waits = |read: &str| {
        let write =
            dma(Space::HBM, Space::Memory(Medium::Spm), "[2 : 64 -> 4096, 64 : 1 -> 1] : 64 @ 0 -> 8192");
        waits(&report(1, vec![write, dma(Space::Memory(Medium::Spm), Space::HBM, read)]), 1)
    };
    // PEs 2 and 3 are written, bytes 0 to 64.
    let (busy, raw) = ((0, Why::Busy), (0, Why::Raw));
    assert_eq!(waits("[8 : 1 -> 1] : 8 @ 12344 -> 65536"), [busy, raw]);
    assert_eq!(waits("[8 : 1 -> 1] : 8 @ 12352 -> 65536"), [busy]);
    assert_eq!(waits("[2 : 4096 -> 8, 8 : 1 -> 1] : 8 @ 0 -> 65536"), [busy]);
    assert_eq!(waits("[3 : 4096 -> 8, 8 : 1 -> 1] : 8 @ 0 -> 65536"), [busy, raw]);
}

#[test]
fn contexts_overlap_where_nothing_orders_them() {
    let reading = || busy(Main, |work| work.reads(Space::DM, 0..64));
    assert_eq!(second(reading(), busy(Sub, |work| work.reads(Space::DM, 0..64))), (0, vec![]));
    assert_eq!(second(reading(), busy(Sub, |work| work.writes(Space::DM, 64..65))), (0, vec![]));
    assert_eq!(second(reading(), busy(Sub, |work| work.writes(Trf, 0..64))), (0, vec![]));
    assert_eq!(second(reading(), reading()), (100, vec![(0, Why::Busy)]));
}

#[test]
fn a_contraction_waits_for_its_register_file() {
    let load = busy(Sub, |work| work.writes(Trf, 0..4096));
    let read = busy(Main, |work| work.reads(Trf, 4095..4096));
    assert_eq!(second(load, read), (100, vec![(0, Why::Raw)]));
}

#[test]
fn a_write_waits_for_readers_and_writers() {
    let read = busy(Main, |work| work.reads(Vrf, 0..8));
    assert_eq!(second(read, busy(Sub, |work| work.writes(Vrf, 7..9))), (100, vec![(0, Why::War)]));
    let write = busy(Main, |work| work.writes(Space::DM, 0..8));
    assert_eq!(second(write, busy(Sub, |work| work.writes(Space::DM, 0..1))), (100, vec![(0, Why::Waw)]));
    let both = busy(Main, |work| work.reads(Space::DM, 0..8).writes(Space::DM, 8..16));
    let over = busy(Sub, |work| work.writes(Space::DM, 0..16));
    assert_eq!(second(both, over), (100, vec![(0, Why::War), (0, Why::Waw)]));
}

#[test]
fn other_slices_are_other_memories() {
    let write = |slices| exec(Main, slices, &[stage("w", Engine::COMMIT, 100).writes(Space::DM, 0..64)]);
    let read = |slices| exec(Sub, slices, &[stage("r", Engine::FETCH, 100).reads(Space::DM, 0..64)]);
    assert_eq!(second(write(0..256), read(256..512)), (0, vec![]));
    assert_eq!(second(write(0..257), read(256..512)), (100, vec![(0, Why::Raw)]));
}

#[test]
fn a_slice_bitmap_narrows_what_is_written_but_not_what_is_read() {
    let run = || {
        let commit = stage("w", Engine::COMMIT, 100)
            .reads(Space::DM, 64..128)
            .writes(Space::DM, 0..64)
            .stores_in(0..8);
        exec(Main, 0..16, &[commit])
    };
    let read = |slices| exec(Sub, slices, &[stage("r", Engine::FETCH, 100).reads(Space::DM, 0..64)]);
    let write = |slices| exec(Sub, slices, &[stage("x", Engine::COMMIT, 100).writes(Space::DM, 64..128)]);
    assert_eq!(second(run(), read(7..8)), (100, vec![(0, Why::Raw)]));
    assert_eq!(second(run(), read(8..16)), (0, vec![]));
    assert_eq!(second(run(), write(15..16)), (100, vec![(0, Why::War)]));
}

#[test]
fn a_transfer_orders_only_the_slices_and_bytes_that_it_writes() {
    // Bytes 64..72 of slices 256..512: 2048 bytes, 502 cycles.
    let load = || dma(Space::HBM, Space::DM, "[256 : 8 -> 524288, 8 : 1 -> 1] : 8 @ 0 -> 134217792");
    let read = |slices, bytes| exec(Main, slices, &[stage("r", Engine::FETCH, 100).reads(Space::DM, bytes)]);
    assert_eq!(second(load(), read(256..512, 71..72)), (502, vec![(0, Why::Raw)]));
    assert_eq!(second(load(), read(0..256, 64..72)), (0, vec![]));
    assert_eq!(second(load(), read(256..512, 72..80)), (0, vec![]));
}

#[test]
fn pcie_and_the_tensor_dma_meet_in_each_chips_hbm() {
    let chips = "[2 : 64 -> 1099511627776, 64 : 1 -> 1] : 64 @ 0 -> 4096";
    let meets = |read: u64| {
        let kinds = vec![
            dma(Space::HOST, Space::HBM, chips),
            dma(Space::HBM, Space::DM, &format!("[8 : 1 -> 1] : 8 @ {read} -> 0")),
        ];
        !report(2, kinds).commands[1].waits.is_empty()
    };
    assert!(meets(4096));
    assert!(meets(4159));
    assert!(!meets(4160));
    assert!(!meets(4088));
}

#[test]
fn only_what_ends_last_is_waited_for() {
    let report = report(
        1,
        vec![
            exec(Sub, 0..512, &[stage("short", Engine::FETCH, 40).writes(Trf, 0..64)]),
            exec(Main, 0..512, &[stage("long", Engine::FETCH, 100).reads(Space::DM, 0..64)]),
            exec(Main, 0..512, &[stage("both", Engine::FETCH, 10).reads(Trf, 0..64)]),
            exec(Sub, 0..512, &[stage("after", Engine::FETCH, 10).writes(Trf, 0..64)]),
        ],
    );
    // 2 needs 0 (ended at 40) and main (free at 100). 3 needs sub (free at 40) and 2 (ended at 110).
    assert_eq!(starts(&report), [0, 0, 100, 110]);
    assert_eq!(waits(&report, 2), [(1, Why::Busy)]);
    assert_eq!(waits(&report, 3), [(2, Why::War)]);
    assert_eq!(report.totals.cycles, 120);
}

#[test]
fn everything_that_ends_last_is_waited_for() {
    let report = report(
        1,
        vec![
            busy(Sub, |work| work.writes(Trf, 0..64)),
            busy(Main, |work| work.reads(Space::DM, 0..64)),
            busy(Main, |work| work.reads(Trf, 0..64)),
        ],
    );
    assert_eq!(starts(&report), [0, 0, 100]);
    assert_eq!(waits(&report, 2), [(0, Why::Raw), (1, Why::Busy)]);
}

#[test]
fn a_command_keeps_its_place_although_a_later_one_could_run() {
    let report = report(
        1,
        vec![
            busy(Sub, |work| work.writes(Trf, 0..64)),
            busy(Main, |work| work.reads(Trf, 0..64)),
            busy(Main, |work| work.reads(Space::DM, 0..64)),
        ],
    );
    assert_eq!(starts(&report), [0, 100, 200]);
    assert_eq!(waits(&report, 2), [(1, Why::Busy)]);
}

/// Main and sub as one: it waits for both, and both wait for it (book 08).
#[test]
fn dual_takes_main_and_sub() {
    let run = |context, cycles| exec(context, 0..512, &[stage("test.work", Engine::FETCH, cycles)]);
    let report =
        report(1, vec![run(Main, 10), run(Sub, 20), run(Dual, 5), run(Sub, 7), run(Main, 3), run(Dual, 1)]);
    assert_eq!(starts(&report), [0, 0, 20, 25, 25, 32]);
    let busy = |command| vec![(command, Why::Busy)];
    // Main is free in cycle 10, sub in 20; then sub is the last to end.
    let waited: Vec<_> = (2..6).map(|command| waits(&report, command)).collect();
    assert_eq!(waited, [busy(1), busy(2), busy(2), busy(3)]);
    assert_eq!(report.commands[2].kind.name(), "dual");
    let busy: Vec<_> = report.totals.busy.iter().map(|busy| (busy.resource.name(), busy.cycles)).collect();
    assert_eq!(busy, [("main", 19), ("sub", 33), ("dma", 0), ("pcie", 0)]);
}

#[test]
fn a_wait_for_dual_is_said_once() {
    let reads = busy(Dual, |stage| stage.writes(Space::DM, 0..8));
    assert_eq!(
        second(reads, busy(Dual, |stage| stage.reads(Space::DM, 0..8))),
        (100, vec![(0, Why::Busy), (0, Why::Raw)])
    );
}
