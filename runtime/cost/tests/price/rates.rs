//! Cost of single commands.

use visa_cost::{EngineCycles, Traffic};
use visa_engine::Engine;
use visa_engine::Space;
use visa_engine::Space::Trf;
use visa_hw::program::Context::{Main, Sub};
use visa_machine::Medium;
use visa_numerics::DType;

use crate::doubles::{dma, exec, report, stage};

fn engines(list: &[(&'static str, u64)]) -> Vec<EngineCycles> {
    list.iter().map(|&(engine, cycles)| EngineCycles { engine, cycles }).collect()
}

#[test]
fn a_transfer_of_64_kib_is_mostly_start_up() {
    let report = report(1, vec![dma(Space::HBM, Space::DM, "[16 : 4096 -> 524288, 4096 : 1 -> 1] : 4096")]);
    let command = &report.commands[0];
    // 65536 / 1536 = 42.7; 65536 / (16 * 128) = 32; 65536 / (8 * 256) = 32.
    assert_eq!(command.engines, engines(&[("hbm", 43), ("dm", 32), ("dma", 32)]));
    assert_eq!((command.latency, command.cycles, command.bottleneck), (500, 543, "startup"));
    assert_eq!(command.label, "hbm>dm");
    let expected = {
        let mut bytes = Traffic::default();
        bytes.of_mut(Medium::Hbm).read = 65536;
        bytes.of_mut(Medium::Dm).written = 65536;
        bytes
    };
    assert_eq!((command.bytes, report.totals.bytes), (expected, expected));
}

#[test]
fn a_memory_read_and_written_carries_the_bytes_twice() {
    // 1,536,000 bytes out of and into HBM: 2000 cycles. 2,048,000 within data memory: 2000 cycles.
    let hbm = report(1, vec![dma(Space::HBM, Space::HBM, "[1536000 : 1 -> 1] : 1 @ 0 -> 2000000")]);
    let command = &hbm.commands[0];
    assert_eq!(command.engines, engines(&[("hbm", 2000), ("dma", 750)]));
    assert_eq!((command.cycles, command.bottleneck), (2500, "hbm"));
    assert_eq!(
        (command.bytes.of(Medium::Hbm).read, command.bytes.of(Medium::Hbm).written),
        (1_536_000, 1_536_000)
    );
    let dm = report(1, vec![dma(Space::DM, Space::DM, "[2048000 : 1 -> 1] : 1")]);
    assert_eq!((dm.commands[0].cycles, dm.commands[0].bottleneck), (2500, "dm"));
}

/// Each scratchpad memory moves 128 bytes a cycle (book 11), however many take part.
#[test]
fn scratchpad_memories_have_a_bandwidth_each() {
    // 32768 bytes into eight: 32768 / (8 * 128) = 32; into one, copies of 4096 out of it: 32768 / 128 = 256.
    let all = report(
        1,
        vec![dma(Space::HBM, Space::Memory(Medium::Spm), "[8 : 4096 -> 4096, 4096 : 1 -> 1] : 4096")],
    );
    assert_eq!(all.commands[0].engines, engines(&[("hbm", 22), ("spm", 32), ("dma", 16)]));
    assert_eq!((all.commands[0].cycles, all.commands[0].label.as_str()), (532, "hbm>spm"));
    let one = report(
        1,
        vec![dma(Space::Memory(Medium::Spm), Space::DM, "[8 : 0 -> 524288, 4096 : 1 -> 1] : 4096")],
    );
    assert_eq!(one.commands[0].engines, engines(&[("dm", 16), ("spm", 256), ("dma", 16)]));
    assert_eq!((one.commands[0].cycles, one.commands[0].bottleneck), (756, "startup"));
    let expected = {
        let mut bytes = Traffic::default();
        bytes.of_mut(Medium::Spm).read = 32768;
        bytes.of_mut(Medium::Dm).written = 32768;
        bytes
    };
    assert_eq!(one.commands[0].bytes, expected);
}

#[test]
fn scratchpad_memory_read_and_written_carries_the_bytes_twice() {
    // 8192 bytes out of two PEs, 32, and into four, 16.
    let within = report(
        1,
        vec![dma(
            Space::Memory(Medium::Spm),
            Space::Memory(Medium::Spm),
            "[4 : 2048 -> 4096, 2048 : 1 -> 1] : 2048 @ 0 -> 16384",
        )],
    );
    assert_eq!(within.commands[0].engines, engines(&[("spm", 48), ("dma", 4)]));
    let bytes = within.totals.bytes;
    assert_eq!(
        (bytes.of(Medium::Spm).read, bytes.of(Medium::Spm).written, bytes.of(Medium::Hbm).read),
        (8192, 8192, 0)
    );
}

#[test]
fn every_chip_moves_its_own_bytes_at_once() {
    let loops = "[1536 : 1 -> 1] : 8";
    let one = report(1, vec![dma(Space::HBM, Space::DM, loops)]);
    let four = report(4, vec![dma(Space::HBM, Space::DM, loops)]);
    assert_eq!((one.totals.cycles, four.totals.cycles), (501, 501));
    assert_eq!(four.totals.bytes.of(Medium::Hbm).read, 4 * 1536);
}

#[test]
fn pcie_moves_thirty_bytes_a_cycle_to_each_chip() {
    let two =
        report(2, vec![dma(Space::HOST, Space::HBM, "[2 : 30000 -> 1099511627776, 30000 : 1 -> 1] : 1")]);
    let command = &two.commands[0];
    // 30000 bytes to each chip.
    assert_eq!(command.engines, engines(&[("hbm", 20), ("pcie", 1000)]));
    assert_eq!((command.cycles, command.bottleneck), (1500, "pcie"));
    assert_eq!((command.bytes.of(Medium::Host).read, command.bytes.of(Medium::Hbm).written), (60000, 60000));
    // One chip: 30001 bytes take a cycle more.
    let one = report(1, vec![dma(Space::HBM, Space::HOST, "[30001 : 1 -> 1] : 1")]);
    assert_eq!(one.totals.cycles, 1501);
    assert_eq!(one.totals.bytes.of(Medium::Host).written, 30001);
}

#[test]
fn start_up_is_the_bottleneck_only_while_it_is_longer() {
    for (bytes, bottleneck) in [(499 * 30, "startup"), (499 * 30 + 1, "pcie")] {
        let report = report(1, vec![dma(Space::HOST, Space::HBM, &format!("[{bytes} : 1 -> 1] : 1"))]);
        assert_eq!(report.commands[0].bottleneck, bottleneck, "{bytes}");
    }
}

#[test]
fn a_run_takes_its_busiest_engine_and_every_latency() {
    let stages = [
        stage("hw.fetch", Engine::FETCH, 40).latency(1).reads(Space::DM, 0..320),
        stage("hw.vector", Engine::VECTOR, 60).latency(2),
        stage("hw.vector", Engine::VECTOR, 70).latency(3),
        stage("hw.commit", Engine::COMMIT, 70).latency(4).writes(Space::DM, 512..1072),
    ];
    let report = report(2, vec![exec(Main, 0..100, &stages)]);
    let command = &report.commands[0];
    // The two ALUs are stations of one pipeline: 70, not 130. Vector comes before commit, which is as busy.
    assert_eq!(command.engines, engines(&[("fetch", 40), ("vector", 70), ("commit", 70)]));
    assert_eq!((command.latency, command.cycles, command.bottleneck), (10, 80, "vector"));
    assert_eq!(command.label, "fetch>vector>vector>commit");
    // 40 and 70 packets of 8 bytes in 100 slices of 2 chips.
    let expected = {
        let mut bytes = Traffic::default();
        bytes.of_mut(Medium::Dm).read = 64_000;
        bytes.of_mut(Medium::Dm).written = 112_000;
        bytes
    };
    assert_eq!(command.bytes, expected);
    assert_eq!((command.macs, report.totals.share_of_peak), (0, None));
}

#[test]
fn register_files_are_not_data_memory() {
    let report =
        report(1, vec![exec(Sub, 0..1, &[stage("hw.store_trf", Engine::COMMIT, 9).writes(Trf, 0..72)])]);
    assert_eq!(report.commands[0].bytes, Traffic::default());
    assert_eq!(report.totals.operations_per_hbm_byte, None);
}

#[test]
fn a_run_of_no_stages_costs_nothing() {
    let report = report(1, vec![exec(Main, 0..1, &[])]);
    assert_eq!((report.commands[0].cycles, report.commands[0].bottleneck), (0, "none"));
}

/// 1000 cycles of 8 rows of `width` products in `slices` slices of each chip.
fn share(chips: usize, slices: usize, dtype: DType, width: u64) -> Option<f64> {
    let stages = [
        stage("hw.fetch", Engine::FETCH, 1).dtype(dtype),
        stage("hw.contract", Engine::CONTRACTION, 1000).macs(8 * width * 1000),
    ];
    report(chips, vec![exec(Main, 0..slices, &stages)]).totals.share_of_peak
}

#[test]
fn the_share_of_peak_measures_each_format_by_its_own_peak() {
    assert_eq!(share(1, 512, DType::Bf16, 32), Some(1.0));
    assert_eq!(share(8, 512, DType::Bf16, 32), Some(1.0));
    assert_eq!(share(1, 512, DType::I8, 64), Some(1.0));
    assert_eq!(share(1, 512, DType::I8, 32), Some(0.5));
    assert_eq!(share(1, 128, DType::Bf16, 32), Some(0.25));
    assert_eq!(share(1, 512, DType::F32, 16), None);
}

#[test]
fn no_time_has_no_share_of_peak() {
    let stages = [
        stage("hw.fetch", Engine::FETCH, 0).dtype(DType::Bf16),
        stage("hw.contract", Engine::CONTRACTION, 0).macs(64),
    ];
    assert_eq!(report(1, vec![exec(Main, 0..512, &stages)]).totals.share_of_peak, None);
}

#[test]
fn totals_count_macs_once_and_intensity_by_hbm_bytes() {
    let stages =
        [stage("hw.fetch", Engine::FETCH, 1), stage("hw.contract", Engine::CONTRACTION, 10).macs(600)];
    let kinds = vec![dma(Space::HBM, Space::DM, "[1200 : 1 -> 1] : 8"), exec(Main, 0..2, &stages)];
    let totals = report(1, kinds).totals;
    // 2 slices of 600; 2400 operations on 1200 bytes.
    assert_eq!((totals.macs, totals.operations_per_hbm_byte), (1200, Some(2.0)));
}

#[test]
fn figures_too_large_to_count_saturate() {
    let stages = [stage("hw.contract", Engine::CONTRACTION, u64::MAX)
        .macs(u64::MAX)
        .latency(u64::MAX)
        .reads(Space::DM, 0..1)];
    let loops = "[9223372036854775807 : 0 -> 1, 9 : 0 -> 0] : 1";
    let report = report(
        8,
        vec![exec(Main, 0..512, &stages), dma(Space::HBM, Space::DM, loops), exec(Main, 0..512, &stages)],
    );
    assert_eq!(report.totals.cycles, u64::MAX);
    assert_eq!(report.totals.macs, u64::MAX);
}
