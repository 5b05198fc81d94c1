//! Transfers of the rows that indices choose.

use visa_cost::{MemoryModel, Report, Why, price};
use visa_engine::Space;
use visa_hw::program::{Command, CommandKind, Direction, Dma, DmaPart, Indexed, Program};
use visa_ir::span::Span;
use visa_machine::{Machine, Medium};

const SLICE: u64 = 1 << 19;

/// A gather of `rows` rows of 256 bytes into slices, from a table of `count` of them.
fn gather(rows: u64, count: u64, index: Space, at: u64) -> Indexed {
    let loops = format!("[{rows} : 0 -> {SLICE}, 256 : 1 -> 1] : 256").parse().expect("loops");
    let indices = format!("[{rows} : 4, 4 : 1] : 4 @ {at}").parse().expect("indices");
    let part = DmaPart { first: 0, engine_loops: 0, loops };
    Indexed {
        from: Space::HBM,
        to: Space::DM,
        part,
        direction: Direction::Gather,
        index,
        indices,
        distance: 256,
        count,
        steps: Default::default(),
    }
}

fn report(model: MemoryModel, kinds: Vec<CommandKind>) -> Report {
    let command = |kind| Command::new(Span::default(), kind);
    let commands = kinds.into_iter().map(command).collect();
    let program = Program {
        name: "test".to_owned(),
        chips: 1,
        pes: None,
        buffers: Vec::new(),
        scalars: Vec::new(),
        commands,
    };
    price(&program, &Machine::rngd(), model).expect("a price")
}

fn cycles(model: MemoryModel, transfer: &Indexed) -> u64 {
    report(model, vec![CommandKind::Indexed(transfer.clone())]).totals.cycles
}

/// The cycles of the engine that reads indices.
fn index(model: MemoryModel, transfer: &Indexed) -> u64 {
    let report = report(model, vec![CommandKind::Indexed(transfer.clone())]);
    let engines = &report.commands[0].engines;
    engines.iter().find(|engine| engine.engine == "index").expect("an engine").cycles
}

#[test]
fn the_flat_price_is_that_of_the_bytes_of_rows_and_indices() {
    let transfer = gather(256, 1000, Space::HBM, 1 << 20);
    let plain = report(MemoryModel::Flat, vec![CommandKind::Dma(transfer.unindexed())]);
    // 1,024 bytes of indices, of which HBM reads 1,536 a cycle.
    assert_eq!(index(MemoryModel::Flat, &transfer), 1);
    assert_eq!(cycles(MemoryModel::Flat, &transfer), plain.totals.cycles + 1);
    let found = report(MemoryModel::Flat, vec![CommandKind::Indexed(transfer)]);
    assert_eq!(
        (found.totals.bytes.of(Medium::Hbm).read, found.totals.bytes.of(Medium::Dm).written),
        (65_536 + 1024, 65_536)
    );
}

#[test]
fn indices_are_read_at_the_rate_of_their_memory() {
    let of = |memory| index(MemoryModel::Book, &gather(256, 1000, memory, 0));
    // Four units of HBM in four channels, and 128 bytes a cycle.
    assert_eq!((of(Space::HBM), of(Space::Memory(Medium::Spm))), (6, 8));
    // An engine without an index asks for none; one index is a request.
    let one = gather(1, 1000, Space::Memory(Medium::Spm), 0);
    assert_eq!(index(MemoryModel::Book, &one), 1);
}

#[test]
fn an_index_that_several_iterations_share_is_read_once() {
    let mut transfer = gather(64, 1000, Space::HBM, 0);
    transfer.part.loops =
        format!("[4 : 64 -> 64, 64 : 0 -> {SLICE}, 64 : 1 -> 1] : 64").parse().expect("loops");
    transfer.indices = "[4 : 0, 64 : 4, 4 : 1] : 4".parse().expect("indices");
    let found = report(MemoryModel::Book, vec![CommandKind::Indexed(transfer)]);
    assert_eq!(found.totals.bytes.of(Medium::Hbm).read, 64 * 256 + 64 * 4);
}

/// Rows of a table of 1 GB go to other rows of their banks; those of one of 64 KB stay in open ones.
#[test]
fn rows_are_spread_over_the_table() {
    let switches = |count: u64| {
        let kind = CommandKind::Indexed(gather(512, count, Space::HBM, 1 << 40 >> 5));
        let found = report(MemoryModel::Book, vec![kind]).commands.remove(0).memory.expect("a report");
        let transfers: u64 = found.channels.iter().map(|channel| channel.transfers).sum();
        let switches: u64 = found.channels.iter().map(|channel| channel.switches).sum();
        assert_eq!((transfers, found.requests), (512, 1024));
        (switches, found.channels.iter().filter(|channel| channel.transfers > 0).count())
    };
    let ((near, _), (far, channels)) = (switches(256), switches(1 << 22));
    assert_eq!((near, channels), (0, 32));
    assert!(far > 150, "{far} switches");
    for model in MemoryModel::ALL {
        let [near, far] = [256, 1 << 22].map(|count| cycles(model, &gather(512, count, Space::HBM, 0)));
        assert!(near <= far, "{}: {near}, {far}", model.name());
    }
}

/// Loops are looked at up to 65,536 rows; the requests of all are counted.
#[test]
fn as_many_rows_as_there_are() {
    let mut transfer = gather(4096, 1 << 20, Space::HBM, 1 << 34);
    transfer.part.loops = "[64 : 0 -> 16777216, 4096 : 0 -> 4096, 256 : 1 -> 1] : 256 @ 0 -> 1073741824"
        .parse()
        .expect("loops");
    transfer.indices = "[64 : 16384, 4096 : 4, 4 : 1] : 4 @ 17179869184".parse().expect("indices");
    transfer.to = Space::HBM;
    let found = report(MemoryModel::Book, vec![CommandKind::Indexed(transfer)]);
    let memory = found.commands[0].memory.as_ref().expect("a report");
    assert_eq!(memory.requests, 2 * 64 * 4096);
    assert!(memory.estimated > 0);
}

/// The waits of a gather are known, though its rows are not: for all of the table, and the indices.
#[test]
fn any_row_of_the_table_may_be_meant() {
    let waits = |to: Space, at: u64| {
        let loops = format!("[64 : 1 -> 1] : 64 @ 4294967296 -> {at}").parse().expect("loops");
        let write = CommandKind::Dma(Dma::homogeneous(false, [Space::HBM, to], loops, 0));
        let found = report(
            MemoryModel::Flat,
            vec![write, CommandKind::Indexed(gather(8, 1000, Space::Memory(Medium::Spm), 128))],
        );
        found.commands[1].waits.iter().any(|wait| wait.why == Why::Raw)
    };
    // The last row, and the byte after it.
    assert!(waits(Space::HBM, 999 * 256) && !waits(Space::HBM, 1000 * 256));
    assert!(
        waits(Space::Memory(Medium::Spm), 152)
            && waits(Space::Memory(Medium::Spm), 64 + 8)
            && !waits(Space::Memory(Medium::Spm), 160)
            && !waits(Space::Memory(Medium::Spm), 64)
    );
}
