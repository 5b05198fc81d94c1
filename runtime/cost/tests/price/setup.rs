//! The set-up of a custom switch (book 13): DMA and the other context stand still.

use visa_cost::{Wait, Why};
use visa_engine::Engine;
use visa_engine::Space;
use visa_hw::program::CommandKind;
use visa_hw::program::Context::{self, Main, Sub};

use crate::doubles::{dma, exec, report, stage};

/// A run that takes 130 cycles, in the first 30 of which it writes registers.
fn custom(context: Context) -> CommandKind {
    exec(context, 0..512, &[stage("hw.switch", Engine::SWITCH, 100).sets_up(30)])
}

fn plain(context: Context, cycles: u64) -> CommandKind {
    exec(context, 0..512, &[stage("hw.fetch", Engine::FETCH, cycles)])
}

/// Start and end of the last of some commands, and its waits.
fn last(kinds: Vec<CommandKind>) -> (u64, u64, Vec<(usize, Why)>) {
    let report = report(1, kinds);
    let last = report.commands.last().unwrap();
    let waits = last.waits.iter().map(|&Wait { command, why }| (command, why)).collect();
    (last.start, last.end, waits)
}

#[test]
fn what_comes_later_begins_after_the_set_up() {
    let load = || dma(Space::HBM, Space::DM, "[1536 : 1 -> 1] : 8");
    assert_eq!(last(vec![custom(Main), load()]), (30, 531, vec![(0, Why::Setup)]));
    assert_eq!(last(vec![custom(Main), plain(Sub, 10)]), (30, 40, vec![(0, Why::Setup)]));
    assert_eq!(last(vec![custom(Sub), plain(Main, 10)]), (30, 40, vec![(0, Why::Setup)]));
    assert_eq!(last(vec![plain(Main, 130), load()]), (0, 501, vec![]));
    // In its own context a run waits for the whole of it.
    assert_eq!(last(vec![custom(Main), plain(Main, 10)]), (130, 140, vec![(0, Why::Busy)]));
    assert_eq!(last(vec![custom(Main), plain(Context::Dual, 10)]), (130, 140, vec![(0, Why::Busy)]));
}

#[test]
fn the_set_up_waits_for_what_comes_earlier() {
    let load = dma(Space::HBM, Space::DM, "[1536 : 1 -> 1] : 8");
    assert_eq!(last(vec![load, custom(Main)]), (501, 631, vec![(0, Why::Setup)]));
    assert_eq!(last(vec![plain(Sub, 10), custom(Main)]), (10, 140, vec![(0, Why::Setup)]));
    assert_eq!(last(vec![custom(Sub), custom(Main)]), (130, 260, vec![(0, Why::Setup)]));
}

#[test]
fn the_link_to_the_host_goes_on() {
    let from_host = dma(Space::HOST, Space::HBM, "[30 : 1 -> 1] : 1 @ 0 -> 8192");
    assert_eq!(last(vec![custom(Main), from_host]), (0, 501, vec![]));
}

#[test]
fn the_report_names_the_set_up() {
    let report = report(1, vec![custom(Main), plain(Sub, 10)]);
    let text = report.text(|_| None);
    assert!(text.lines().nth(4).unwrap().ends_with("  0 set-up"), "{text}");
    assert_eq!(serde_json::to_value(&report).unwrap()["commands"][1]["waits"][0]["why"], "setup");
}
