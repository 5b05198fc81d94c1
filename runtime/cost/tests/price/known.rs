//! Prices that programs share: each report is the one without them.

use visa_cost::{KnownPrices, MemoryModel, price, price_knowing};
use visa_engine::Space;
use visa_hw::program::{Command, CommandKind, Dma, Program};
use visa_ir::span::Span;
use visa_machine::Machine;

const SLICE: u64 = 1 << 19;

/// A kernel of transfers, each at its position in the source.
fn program(loops: &[String], chips: usize, first: usize) -> Program {
    let command = |(at, loops): (usize, &String)| {
        let dma = Dma::homogeneous(false, [Space::HBM, Space::DM], loops.parse().expect(loops), 0);
        Command::new(Span::new(first + at..first + at + 1), CommandKind::Dma(dma))
    };
    let commands = loops.iter().enumerate().map(command).collect();
    let (buffers, scalars) = (Vec::new(), Vec::new());
    Program { name: "test".to_owned(), chips, pes: None, buffers, scalars, commands }
}

/// Rows of `bytes` bytes, each to another slice.
fn rows(bytes: u64, from: u64) -> String {
    format!("[64 : {bytes} -> {SLICE}, {bytes} : 1 -> 1] : {bytes} @ {from} -> 0")
}

#[test]
fn known_prices_change_no_report() {
    let known = KnownPrices::default();
    let mut slow = Machine::rngd();
    slow.timing.dma_startup_cycles = 700;
    for machine in [Machine::rngd(), slow, Machine::rngd()] {
        for model in [MemoryModel::Book, MemoryModel::Flat, MemoryModel::Detailed] {
            let all = [(256, 0, 1, 0), (256, 0, 1, 9), (512, 0, 1, 0), (256, 64, 1, 0), (256, 0, 4, 0)];
            for (bytes, from, chips, at) in all {
                let program = program(&[rows(bytes, from), rows(64, 0), rows(bytes, from)], chips, at);
                let alone = price(&program, &machine, model).expect("a price");
                let shared = price_knowing(&program, &machine, model, &known).expect("a price");
                assert_eq!(
                    format!("{alone:?}"),
                    format!("{shared:?}"),
                    "{model:?} {bytes} {from} {chips} {at}"
                );
            }
        }
    }
}

/// Two transfers are equal, and the third has another address. Only the `book` model knows prices, those of one
/// machine: the start-up is a part of them.
#[test]
fn each_transfer_of_the_book_model_is_priced_once_a_machine() {
    let known = KnownPrices::default();
    let program = program(&[rows(256, 0), rows(256, 0), rows(256, 64)], 1, 0);
    let count = |machine: &Machine, model| {
        price_knowing(&program, machine, model, &known).expect("a price");
        known.count()
    };
    assert_eq!(count(&Machine::rngd(), MemoryModel::Flat), 0);
    assert_eq!(count(&Machine::rngd(), MemoryModel::Detailed), 0);
    assert_eq!(count(&Machine::rngd(), MemoryModel::Book), 2);
    assert_eq!(count(&Machine::rngd(), MemoryModel::Book), 2);
    let mut slow = Machine::rngd();
    slow.timing.dma_startup_cycles = 700;
    assert_eq!(count(&slow, MemoryModel::Flat), 0);
    assert_eq!(count(&slow, MemoryModel::Book), 2);
}
