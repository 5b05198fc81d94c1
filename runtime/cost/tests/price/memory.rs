//! Transfers by the `book` model: reports, and the reasons in words.

use visa_cost::{MemoryModel, MemoryReport, Report, price};
use visa_engine::Space;
use visa_engine::Space::Trf;
use visa_hw::program::{Command, CommandKind, Dma, Program};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_machine::Machine;

const SLICE: u64 = 1 << 19;

fn dma(from: Space, to: Space, loops: &str, engine_loops: usize) -> CommandKind {
    let pcie = from == Space::HOST || to == Space::HOST;
    CommandKind::Dma(Dma::homogeneous(pcie, [from, to], loops.parse().expect(loops), engine_loops))
}

fn by(model: MemoryModel, kind: CommandKind) -> Result<Report, Diagnostic> {
    let commands = vec![Command::new(Span::default(), kind)];
    price(
        &Program {
            name: "test".to_owned(),
            chips: 2,
            pes: None,
            buffers: Vec::new(),
            scalars: Vec::new(),
            commands,
        },
        &Machine::rngd(),
        model,
    )
}

fn report(kind: CommandKind) -> (u64, &'static str, MemoryReport) {
    let mut found = by(MemoryModel::Book, kind).expect("a price");
    let command = found.commands.remove(0);
    (command.cycles, command.bottleneck, command.memory.expect("a report of memories"))
}

#[test]
fn the_flat_model_has_no_report_of_memories() {
    let found =
        by(MemoryModel::Flat, dma(Space::HBM, Space::DM, "[256 : 1 -> 1] : 256", 0)).expect("a price");
    assert_eq!((found.memory_model, found.commands[0].memory.clone()), ("flat", None));
}

#[test]
fn each_reason_is_said_in_words() {
    let slices = |stride: u64, run: u64| format!("[64 : {stride} -> {SLICE}, {run} : 1 -> 1] : {run}");
    let reason = |from, to, loops: &str| {
        let (_, bottleneck, found) = report(dma(from, to, loops, 0));
        (bottleneck, found.reason)
    };
    let said = |bottleneck, text: &str| (bottleneck, text.to_owned());
    assert_eq!(
        reason(Space::HBM, Space::HBM, "[8 : 256 -> 256, 256 : 1 -> 1] : 256 @ 0 -> 65536"),
        said("startup", "the slowest engine starts for longer than it moves: 500 cycles a descriptor")
    );
    assert_eq!(
        reason(Space::HBM, Space::HBM, "[4096 : 256 -> 256, 256 : 1 -> 1] : 256 @ 0 -> 1048576"),
        said("dma", "1 of 8 engines work, and make a request of 256 bytes a cycle")
    );
    assert_eq!(
        reason(Space::HBM, Space::DM, &slices(512, 256)),
        said("startup", "the slowest engine starts for longer than it moves: 500 cycles a descriptor")
    );
    assert_eq!(
        reason(Space::HBM, Space::DM, "[512 : 2097152 -> 8, 8 : 1 -> 1] : 8"),
        said(
            "hbm rows",
            "512 of 512 requests go to another row of their bank, and other banks do not hide them"
        )
    );
    assert_eq!(
        reason(Space::HBM, Space::DM, "[4096 : 0 -> 256, 256 : 1 -> 1] : 256"),
        said("hbm", "all requests go to one of 32 channels of HBM")
    );
    assert_eq!(
        reason(Space::DM, Space::HBM, &format!("[64 : {SLICE} -> 2, 2 : 1 -> 1] : 2")),
        said("hbm parts", "64 of 64 requests write a part of 256 bytes of HBM, which are read first")
    );
    assert_eq!(
        reason(Space::HBM, Space::DM, "[512 : 256 -> 256, 256 : 1 -> 1] : 256"),
        said("dm", "1 of 16 networks of data memory, each of 128 bytes a cycle")
    );
    assert_eq!(
        reason(Space::HOST, Space::HBM, "[16 : 4096 -> 4096, 4096 : 1 -> 1] : 4096"),
        said("pcie", "PCIe carries 30 bytes a cycle each way")
    );
}

/// Bits of an address that never change, of the stack and of a channel.
#[test]
fn bits_that_never_change_are_named() {
    let reason = |loops: &str| report(dma(Space::HBM, Space::DM, loops, 1)).2.reason;
    let far = 64 * SLICE;
    let evens = format!("[8 : 131072 -> {far}, 256 : 512 -> 256, 256 : 1 -> 1] : 256");
    assert_eq!(reason(&evens), "bit 8 never changes: 16 of 32 channels of HBM");
    // Bits 10 to 12 and 18 to 20.
    let few = format!("[8 : 262144 -> {far}, 8 : 1024 -> 256, 256 : 1 -> 1] : 256");
    assert_eq!(
        reason(&few),
        "the XOR of bits 9, 13, 17, 21, 25 never changes, bit 8 never changes: 8 of 32 channels of HBM"
    );
}

/// D7 as a report: 4,096 units, 256 in each channel of one stack.
#[test]
fn totals_are_counted_by_channel_and_network() {
    let loops = format!(
        "[2 : 1048576 -> {}, 4 : 262144 -> {}, 8 : 512 -> 256, 32 : 4096 -> {SLICE}, 2 : 131072 -> {}, 256 : 1 -> 1] : 256",
        256 * SLICE,
        64 * SLICE,
        32 * SLICE
    );
    let (cycles, bottleneck, found) = report(dma(Space::HBM, Space::DM, &loops, 2));
    assert_eq!((cycles, bottleneck), (1866, "hbm"));
    assert_eq!((found.requests, found.estimated, found.engines), (8192, 0, vec![1012; 8]));
    assert_eq!((found.hbm_asked, found.hbm_moved), (1 << 20, 1 << 20));
    assert_eq!(found.networks, [512; 16]);
    let channel =
        |at: usize| (found.channels[at].transfers, found.channels[at].row_hits, found.channels[at].cycles);
    assert_eq!(
        (found.channels.len(), channel(0), channel(15), channel(16)),
        (32, (256, 256, Some(1366)), (256, 256, Some(1366)), (0, 0, Some(0)))
    );
}

#[test]
fn what_is_looked_at_in_part_says_so() {
    let text = by(
        MemoryModel::Book,
        dma(Space::HBM, Space::HBM, "[65537 : 768 -> 256, 256 : 1 -> 1] : 256 @ 0 -> 4294967296", 0),
    );
    let text = text.expect("a price").text(|_| None);
    assert!(text.contains("memory    0: 131074 requests, 2 of them taken to be like the others, "), "{text}");
}

#[test]
fn chips_move_at_once_and_pcie_counts_them() {
    let one = report(dma(Space::HOST, Space::HBM, "[4096 : 1 -> 1] : 4096", 0));
    let two = report(dma(
        Space::HOST,
        Space::HBM,
        &format!("[2 : 4096 -> {}, 4096 : 1 -> 1] : 4096", 1_u64 << 40),
        0,
    ));
    assert_eq!((one.0, two.0), (500 + 137, 500 + 137));
}

#[test]
fn what_has_no_price_is_refused() {
    let past = by(MemoryModel::Book, dma(Space::HBM, Space::DM, "[8 : 1 -> 1] : 8 @ 51539607552 -> 0", 0))
        .expect_err("no address");
    assert!(past.message.contains("goes past the end of HBM, 48 GiB"), "{}", past.message);
    assert_eq!(past.fix.as_deref(), Some("choose the `flat` model"));
    let register = by(MemoryModel::Book, dma(Space::HBM, Trf, "[8 : 1 -> 1] : 8", 0)).expect_err("no way");
    assert!(register.message.contains("no way to the register files"), "{}", register.message);
}

#[test]
fn models_have_names() {
    assert_eq!("book".parse(), Ok(MemoryModel::Book));
    assert!(MemoryModel::ALL.iter().all(|model| model.name().parse() == Ok(*model)));
    let wrong = "Book".parse::<MemoryModel>().expect_err("no model");
    assert_eq!(wrong, "there is no model `Book`: the models are `flat`, `book`, `detailed`");
}

/// D3 by requests: 64 reads and then 64 writes, of which some go on at the same time. No model is below the start-up and
/// a request a cycle.
#[test]
fn requests_are_followed_one_by_one() {
    let loops = "[8 : 2048 -> 256, 8 : 256 -> 2048, 256 : 1 -> 1] : 256 @ 0 -> 16384";
    let found = by(MemoryModel::Detailed, dma(Space::HBM, Space::HBM, loops, 0)).expect("a price");
    let command = &found.commands[0];
    assert!((500 + 64..500 + 128 + 64).contains(&command.cycles), "{}", command.cycles);
    let report = command.memory.as_ref().expect("a report of memories");
    assert_eq!((report.requests, report.hbm_asked, report.hbm_moved), (128, 32 << 10, 32 << 10));
    assert!(report.channels.iter().all(|channel| channel.transfers == 4 && channel.cycles.is_none()));
    assert_eq!(report.engines, [command.cycles]);
    let assumed = |field: &str| found.assumptions.iter().any(|assumption| assumption.field == field);
    assert!(assumed("detailed.in_flight") && !assumed("limits.dma_read_ahead"));
}

/// B1: 256 bytes are 32 words, two in each of 16 banks.
#[test]
fn accesses_to_each_bank_of_data_memory() {
    let loops = format!("[4 : 256 -> {SLICE}, 256 : 1 -> 1] : 256");
    let banks = |model, to| {
        let found = by(model, dma(Space::HBM, to, &loops, 0)).expect("a price");
        found.commands[0].memory.as_ref().expect("a report of memories").banks.clone()
    };
    assert_eq!(banks(MemoryModel::Detailed, Space::DM), [8; 16]);
    assert!(banks(MemoryModel::Detailed, Space::HBM).is_empty());
    assert!(banks(MemoryModel::Book, Space::DM).is_empty());
}

#[test]
fn what_is_past_the_end_has_no_price_by_requests() {
    let past =
        by(MemoryModel::Detailed, dma(Space::HBM, Space::DM, "[8 : 1 -> 1] : 8 @ 51539607552 -> 0", 0))
            .expect_err("no address");
    assert!(past.message.starts_with("the `detailed` model has no price for it: "), "{}", past.message);
}
