//! Banks of data memory that commands want at once (book 11): transfers that would starve, and sub behind main.

use std::ops::Range;

use visa_cost::{Report, Stalls, Wait, Why};
use visa_engine::Engine;
use visa_engine::Space;
use visa_hw::program::CommandKind;
use visa_hw::program::Context::{self, Main, Sub};

use crate::doubles::{dma, exec, report, stage};

/// A run of `cycles` cycles that comes to the bank of an address `times` times in a row.
fn stays(context: Context, cycles: u64, slices: Range<usize>, times: u64, at: u64) -> CommandKind {
    let walk = format!("[{times} : 128, 8 : 1] : 8 @ {at}");
    exec(context, slices, &[stage("hw.fetch", Engine::FETCH, cycles).walks(&walk)])
}

/// A transfer of 501 cycles to 64 bytes of slices 0 to 23.
fn load() -> CommandKind {
    dma(Space::HBM, Space::DM, "[24 : 64 -> 524288, 64 : 1 -> 1] : 64 @ 0 -> 65536")
}

fn waits(report: &Report, command: usize) -> Vec<(usize, Why)> {
    report.commands[command].waits.iter().map(|&Wait { command, why }| (command, why)).collect()
}

/// The start of the last of some commands, and why.
fn last(kinds: Vec<CommandKind>) -> (u64, Vec<(usize, Why)>) {
    let report = report(1, kinds);
    let command = report.commands.len() - 1;
    (report.commands[command].start, waits(&report, command))
}

const FREE: (u64, Vec<(usize, Why)>) = (0, Vec::new());

fn starved(start: u64, command: usize) -> (u64, Vec<(usize, Why)>) {
    (start, vec![(command, Why::Starvation)])
}

#[test]
fn accesses_to_one_bank_64_times_in_a_row_exclude_a_transfer() {
    for context in [Main, Sub, Context::Dual] {
        let stays = |times| stays(context, 100, 0..512, times, 0);
        assert_eq!(last(vec![stays(63), load()]), FREE, "{context:?}");
        assert_eq!(last(vec![stays(64), load()]), starved(100, 0), "{context:?}");
        assert_eq!(last(vec![load(), stays(63)]), FREE, "{context:?}");
        assert_eq!(last(vec![load(), stays(64)]), starved(501, 0), "{context:?}");
    }
}

#[test]
fn only_transfers_of_the_same_slices_starve() {
    let stays = |slices| stays(Main, 100, slices, 64, 0);
    assert_eq!(last(vec![stays(23..24), load()]), starved(100, 0));
    assert_eq!(last(vec![stays(24..512), load()]), FREE);
    assert_eq!(
        last(vec![stays(0..512), dma(Space::HBM, Space::HBM, "[64 : 1 -> 1] : 64 @ 0 -> 65536")]),
        FREE
    );
    let store = dma(Space::DM, Space::HBM, "[64 : 1 -> 1] : 64 @ 65536 -> 0");
    assert_eq!(last(vec![stays(0..512), store]), starved(100, 0));
}

/// The fetch comes to the bank `fetched` times and the commit to that of another address.
fn both(fetched: u64, committed: u64, at: u64) -> CommandKind {
    let fetch = stage("hw.fetch", Engine::FETCH, 100).walks(&format!("[{fetched} : 128, 8 : 1] : 8"));
    let commit = stage("hw.commit", Engine::COMMIT, 100);
    exec(Main, 0..512, &[fetch, commit.walks(&format!("[{committed} : 128, 8 : 1] : 8 @ {at}"))])
}

#[test]
fn fetch_and_commit_of_a_run_add_up_on_a_bank() {
    assert_eq!(last(vec![both(32, 31, 8192), load()]), FREE);
    assert_eq!(last(vec![both(32, 32, 8192), load()]), starved(100, 0));
    // 8 bytes further is another bank.
    assert_eq!(last(vec![both(32, 32, 8200), load()]), FREE);
}

#[test]
fn main_and_sub_add_up_on_a_bank() {
    let main = || stays(Main, 100, 0..512, 32, 0);
    // Sub has the time that its accesses need in parallel with main.
    let sub = |slices, times, at| stays(Sub, 60, slices, times, at);
    // The transfer waits until one of the two has ended.
    assert_eq!(last(vec![main(), sub(0..512, 31, 0), load()]), FREE);
    assert_eq!(last(vec![main(), sub(0..512, 32, 0), load()]), starved(60, 1));
    // So does the last one, main or sub.
    assert_eq!(last(vec![load(), main(), sub(0..512, 32, 0)]), starved(100, 1));
    assert_eq!(last(vec![sub(0..512, 32, 0), load(), main()]), starved(60, 0));
    // On another bank, or in other slices than main and the transfer.
    assert_eq!(last(vec![main(), sub(0..512, 32, 8), load()]), FREE);
    assert_eq!(last(vec![main(), sub(24..512, 32, 0), load()]), FREE);
}

/// Where one of the two is enough, the transfer waits for that one alone.
#[test]
fn a_transfer_waits_for_the_one_that_starves_it() {
    let (main, sub) = (stays(Main, 100, 0..512, 64, 0), stays(Sub, 40, 0..512, 63, 0));
    assert_eq!(last(vec![main, sub, load()]), starved(100, 0));
}

/// Cycles that sub waits for banks, and the ends of main and of sub, of which the second number is the sum and the
/// other one the maximum of 100 and 40.
fn beside(main: CommandKind, sub: CommandKind) -> (u64, u64, u64) {
    let report = report(1, vec![main, sub]);
    let [main, sub] = &report.commands[..] else { panic!("two commands") };
    assert_eq!(sub.stalls_for, Stalls { banks: sub.stalls, ..Stalls::default() });
    let waits: Vec<_> = sub.waits.iter().map(|wait| (wait.command, wait.why)).collect();
    assert_eq!(waits, if sub.stalls > 0 { vec![(0, Why::Banks)] } else { Vec::new() });
    assert_eq!(main.stalls, 0);
    (sub.stalls, main.end, sub.end)
}

#[test]
fn sub_beside_main_takes_from_the_maximum_to_the_sum() {
    let main = |times| stays(Main, 100, 0..8, times, 0);
    let sub = |slices, times, at| stays(Sub, 40, slices, times, at);
    // Main takes bank 0 in every cycle.
    assert_eq!(beside(main(100), sub(0..8, 40, 8192)), (100, 100, 140));
    assert_eq!(beside(main(100), sub(7..9, 1, 8192)), (100, 100, 140));
    // Other banks, other slices.
    assert_eq!(beside(main(100), sub(0..8, 40, 8200)), (0, 100, 40));
    assert_eq!(beside(main(100), sub(8..9, 40, 8192)), (0, 100, 40));
    // Every second cycle is free: 40 accesses take 80 cycles.
    assert_eq!(beside(main(50), sub(0..8, 40, 8192)), (40, 100, 80));
    // 20 accesses have the time that they need, 21 have not.
    assert_eq!(beside(main(50), sub(0..8, 20, 8192)), (0, 100, 40));
    assert_eq!(beside(main(50), sub(0..8, 21, 8192)), (2, 100, 42));
}

#[test]
fn the_order_in_the_program_does_not_matter_to_who_waits() {
    let (main, sub) = (stays(Main, 100, 0..8, 50, 0), stays(Sub, 40, 0..8, 40, 8192));
    let report = report(1, vec![sub, main]);
    assert_eq!((report.commands[0].stalls, report.commands[0].end, report.commands[1].end), (40, 80, 100));
    assert_eq!(waits(&report, 0), [(1, Why::Banks)]);
}

#[test]
fn streams_that_walk_all_banks_do_not_wait() {
    let main = exec(Main, 0..8, &[stage("hw.fetch", Engine::FETCH, 100).walks("[3200 : 1] : 32")]);
    let sub = exec(Sub, 0..8, &[stage("hw.fetch", Engine::FETCH, 100).walks("[800 : 1] : 8 @ 8192")]);
    assert_eq!(report(1, vec![main, sub]).commands[1].stalls, 0);
}

#[test]
fn reports_name_what_is_waited_for() {
    let kinds = vec![stays(Main, 100, 0..8, 64, 0), stays(Sub, 40, 0..8, 40, 8192), load()];
    // Main leaves bank 0 in 36 of its 100 cycles, in which 35 of the 40 accesses are made.
    let report = report(1, kinds);
    let text = report.text(|_| None);
    assert!(
        text.contains("stalls    1: 65 cycles waiting for banks of data memory that main takes\n"),
        "{text}"
    );
    let row = |number: usize| text.lines().nth(3 + number).unwrap().rsplit("  ").next().unwrap().trim();
    assert_eq!([row(1), row(2)], ["0 banks", "0 starvation"], "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["commands"][1]["stalls_for"]["banks"], 65);
    assert_eq!(json["commands"][1]["waits"][0]["why"], "banks");
    assert_eq!(json["commands"][2]["waits"][0]["why"], "starvation");
    assert!(json["commands"][0].get("stalls_for").is_none());
}
