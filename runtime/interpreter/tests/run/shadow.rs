//! Shadow mode: the undefined element, and the operations that it came through.

use visa_engine::Space;
use visa_hw::program::CommandKind;
use visa_hw::program::PlacedStage;
use visa_interpreter::{Origin, UndefinedReport};
use visa_machine::Machine;
use visa_machine::Medium;

use crate::doubles::{Add, Fetch, Rotate, Store, buffer, dma, exec, options, program, run, span};

/// 8 bytes in slice 0; `kinds`; bytes 64..80 of slice 0 are the result, 2 rows of 8.
fn report(kinds: Vec<CommandKind>, shadow: bool) -> Option<UndefinedReport> {
    let buffers = vec![
        buffer(true, "in", Space::HBM, &[8], "[8 : 1 -> 1] : 1"),
        buffer(false, "out", Space::HBM, &[2, 8], "[16 : 1 -> 1] : 1 @ 0 -> 512"),
    ];
    let mut all = vec![dma(Space::HBM, Space::DM, "[8 : 1 -> 1] : 8")];
    all.extend(kinds);
    all.push(dma(Space::DM, Space::HBM, "[16 : 1 -> 1] : 16 @ 64 -> 512"));
    let program = program(1, buffers, all);
    let machine = Machine::rngd();
    let mut interpreter = run(&program, &machine, options(2, shadow), &[("in", &[1; 8])]).unwrap();
    interpreter.result("out").unwrap().undefined
}

fn copy(from: usize, length: usize, to: usize) -> CommandKind {
    let stages: Vec<PlacedStage> = vec![
        PlacedStage::from(Fetch(from..from + length)),
        PlacedStage::from(Add(1)),
        PlacedStage::from(Store(to, length)),
    ];
    exec(&[[0, 1]], stages)
}

fn names(report: &UndefinedReport) -> Vec<&str> {
    report.chain.iter().map(|step| step.name.as_str()).collect()
}

#[test]
fn what_scratchpad_memory_never_held_is_undefined() {
    // 8 bytes there and 16 back, of which the last 8 were never written; they go through slice 0 to the result.
    let there = || dma(Space::HBM, Space::Memory(Medium::Spm), "[8 : 1 -> 1] : 8 @ 0 -> 4096");
    let back = |length: u64| {
        dma(Space::Memory(Medium::Spm), Space::DM, &format!("[{length} : 1 -> 1] : 8 @ 4096 -> 64"))
    };
    let found = report(vec![there(), back(16)], true).unwrap();
    assert_eq!(found.index, [1, 0]);
    assert_eq!(names(&found), ["hw.dma", "hw.dma"]);
    assert_eq!(found.origin, Origin::NeverWritten);
    assert_eq!(report(vec![there(), back(8), copy(0, 8, 72)], true), None);
    // The other PEs hold nothing.
    let other = dma(Space::Memory(Medium::Spm), Space::DM, "[16 : 1 -> 1] : 8 @ 0 -> 64");
    assert_eq!(report(vec![there(), other], true).unwrap().index, [0, 0]);
}

#[test]
fn defined_data_stays_defined() {
    assert_eq!(report(vec![copy(0, 8, 64), copy(0, 8, 72)], true), None);
}

#[test]
fn without_shadow_mode_nothing_is_reported() {
    assert_eq!(report(vec![copy(4, 8, 64)], false), None);
}

#[test]
fn the_chain_names_every_operation_from_the_first_read_on() {
    // Bytes 8..12 were never written: elements 4..8 of the first row come from them.
    let report = report(vec![copy(4, 8, 64), copy(0, 8, 72)], true).unwrap();
    assert_eq!(report.index, [0, 4]);
    assert_eq!(names(&report), ["test.fetch", "test.add", "test.store", "hw.dma"]);
    // The doubles are at 100, 102 and 103; the last transfer is command 3.
    let spans: Vec<_> = report.chain.iter().map(|step| step.span).collect();
    assert_eq!(spans, [span(100), span(102), span(103), span(3)]);
    assert_eq!(report.origin, Origin::NeverWritten);
    assert_eq!(
        report.to_string(),
        "element [0, 4] of result `out` is undefined: test.fetch read memory that was never written; it came \
         through test.fetch, test.add, test.store, hw.dma"
    );
}

#[test]
fn a_chain_runs_through_two_commands() {
    let report = report(vec![copy(0, 8, 64), copy(40, 8, 24), copy(24, 8, 72)], true).unwrap();
    assert_eq!(report.index, [1, 0]);
    let once = ["test.fetch", "test.add", "test.store"];
    assert_eq!(names(&report), [&once[..], &once[..], &["hw.dma"]].concat());
}

#[test]
fn a_transfer_that_reads_untouched_memory_begins_the_chain() {
    let report = report(vec![copy(0, 8, 64)], true).unwrap();
    assert_eq!((report.index.as_slice(), names(&report)), (&[1, 0][..], vec!["hw.dma"]));
}

#[test]
fn data_of_an_inactive_slice_is_named_as_such() {
    let stages: Vec<PlacedStage> =
        vec![PlacedStage::from(Fetch(0..8)), PlacedStage::from(Rotate(7)), PlacedStage::from(Store(64, 8))];
    let report = report(vec![exec(&[[0, 1]], stages)], true).unwrap();
    assert_eq!(report.origin, Origin::InactiveSlice);
    assert_eq!(names(&report), ["test.rotate", "test.store", "hw.dma"]);
    assert!(report.to_string().contains("test.rotate took data of a slice that takes no part"), "{report}");
}

#[test]
fn overwriting_makes_defined_again() {
    let report = report(vec![copy(40, 16, 64), copy(0, 8, 64), copy(0, 8, 72)], true);
    assert_eq!(report, None);
}

#[test]
fn a_result_that_nothing_wrote_has_no_chain() {
    let program = program(1, vec![buffer(false, "out", Space::HBM, &[3], "[3 : 1 -> 1] : 1")], Vec::new());
    let machine = Machine::rngd();
    let mut interpreter = run(&program, &machine, options(1, true), &[]).unwrap();
    let report = interpreter.result("out").unwrap().undefined.unwrap();
    assert_eq!((report.index.as_slice(), report.chain.len()), (&[0][..], 0));
    assert_eq!(report.to_string(), "element [0] of result `out` is undefined: it was never written");
}
