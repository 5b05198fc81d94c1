//! The report as text and as JSON.

use serde_json::json;
use visa_cost::Report;
use visa_engine::Engine;
use visa_engine::Space;
use visa_engine::Space::Trf;
use visa_hw::program::Context::{Main, Sub};
use visa_machine::Medium;

use crate::doubles::{dma, exec, report, stage};

/// A transfer of 1536 bytes, a load of the register file and a contraction at full rate that needs both.
fn kernel() -> Report {
    let load = [
        stage("hw.fetch", Engine::FETCH, 20).reads(Space::DM, 4096..4256),
        stage("hw.store_trf", Engine::COMMIT, 20).writes(Trf, 0..160),
    ];
    let work = [
        stage("hw.fetch", Engine::FETCH, 50).reads(Space::DM, 0..400),
        stage("hw.contract", Engine::CONTRACTION, 99).macs(99 * 256).latency(1).reads(Trf, 0..160),
    ];
    let kinds = vec![
        dma(Space::HBM, Space::DM, "[1536 : 1 -> 1] : 8"),
        exec(Sub, 0..512, &load),
        exec(Main, 0..512, &work),
    ];
    report(1, kinds)
}

#[test]
fn a_memory_that_is_only_written_is_named() {
    let text = report(1, vec![dma(Space::DM, Space::HBM, "[1536 : 1 -> 1] : 8")]).text(|_| None);
    assert!(text.contains("bytes     HBM 0 read 1536 written, DM 1536 read 0 written\n"), "{text}");
}

#[test]
fn the_table_is_aligned_and_says_what_is_waited_for() {
    let text = kernel().text(|span| (span.start < 2).then(|| (span.start + 9).to_string()));
    // 99 cycles at full rate of 601. 512 * 160 bytes and 512 * 400 bytes are fetched, of 512 * 40 a cycle.
    let expected = "test on rngd, 1 chip

#  line  context  command          start  end  cycles  bottleneck   waits for
0     9  dma      hbm>dm               0  501     501  startup
1    10  sub      fetch>store_trf      0   20      20  fetch
2     -  main     fetch>contract     501  601     100  contraction  0 RAW

total     601 cycles, 0.601 us at 1 GHz
busy      main 100 (16.6%), sub 20 (3.3%), dma 501 (83.4%)
work      12976128 MACs, 16.47% of peak, 16896.00 operations per HBM byte
bytes     HBM 1536 read 0 written, DM 286720 read 1536 written
assumed   timing.dma_startup_cycles: book 10 gives the start-up time as approximate
bound     599 cycles by start-ups (contraction 99, fetch 14); the program takes 1.00 times as long
";
    assert_eq!(text, expected);
}

#[test]
fn an_empty_program_has_a_report() {
    let text = report(2, Vec::new()).text(|_| None);
    let heads = "#  line  context  command  start  end  cycles  bottleneck  waits for";
    let totals = "total     0 cycles, 0.000 us at 1 GHz\nwork      0 MACs\n";
    assert_eq!(text, format!("test on rngd, 2 chips\n\n{heads}\n\n{totals}"));
}

#[test]
fn json_names_everything() {
    let value = serde_json::to_value(kernel()).unwrap();
    let command = &value["commands"][2];
    assert_eq!(command["kind"], json!("main"));
    assert_eq!(command["span"], json!({ "start": 2, "end": 3 }));
    assert_eq!(command["waits"], json!([{ "command": 0, "why": "raw" }]));
    assert_eq!(command["engines"][1], json!({ "engine": "contraction", "cycles": 99 }));
    assert_eq!((&command["start"], &command["end"]), (&json!(501), &json!(601)));
    assert_eq!(value["totals"]["busy"][2], json!({ "resource": "dma", "cycles": 501 }));
    assert_eq!(value["totals"]["bytes"]["hbm_read"], json!(1536));
    assert_eq!(value["commands"][0]["bottleneck"], json!("startup"));
}

/// A memory that no transfer touches is not in JSON, as it is not in the text.
#[test]
fn scratchpad_memory_is_named_where_it_is_used() {
    let shown = |kinds| {
        let report = report(1, kinds);
        let bytes = serde_json::to_value(&report).unwrap()["totals"]["bytes"].clone();
        (bytes["spm_read"].clone(), bytes["spm_written"].clone(), report.text(|_| None).contains("SPM"))
    };
    let without = shown(vec![dma(Space::HBM, Space::DM, "[8 : 1 -> 1] : 8")]);
    assert_eq!(without, (json!(null), json!(null), false));
    let within =
        shown(vec![dma(Space::Memory(Medium::Spm), Space::Memory(Medium::Spm), "[8 : 1 -> 1] : 8 @ 0 -> 8")]);
    assert_eq!(within, (json!(8), json!(8), true));
    let written = shown(vec![dma(Space::DM, Space::Memory(Medium::Spm), "[8 : 1 -> 1] : 8")]);
    assert_eq!(written, (json!(null), json!(8), true));
}

#[test]
fn assumptions_are_named_only_where_a_figure_rests_on_them() {
    let fields = |kinds| -> Vec<&'static str> {
        report(1, kinds).assumptions.iter().map(|assumed| assumed.field).collect()
    };
    assert!(fields(vec![exec(Main, 0..1, &[stage("hw.fetch", Engine::FETCH, 1)])]).is_empty());
    assert_eq!(
        fields(vec![dma(Space::HBM, Space::HBM, "[8 : 1 -> 1] : 8 @ 0 -> 8")]),
        ["timing.dma_startup_cycles"]
    );
    let pcie = fields(vec![dma(Space::HOST, Space::HBM, "[8 : 1 -> 1] : 8")]);
    assert_eq!(pcie, ["timing.dma_startup_cycles", "timing.pcie_bytes_per_cycle"]);
}

#[test]
fn the_same_program_gives_the_same_text() {
    let lines = |_| None;
    assert_eq!(kernel().text(lines), kernel().text(lines));
    assert_eq!(serde_json::to_string(&kernel()).unwrap(), serde_json::to_string(&kernel()).unwrap());
}
