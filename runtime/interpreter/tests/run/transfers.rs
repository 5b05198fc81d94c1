//! Transfers against a plain loop over single bytes.

use visa_engine::Space;
use visa_hw::program::CHIP_STRIDE;
use visa_loops::{PairedProgram, Stride};
use visa_machine::Machine;
use visa_machine::Medium;

use crate::doubles::{UNWRITTEN, buffer, dma, options, program, run};

/// Bytes of a slice's data memory, the distance of slices in DM addresses.
const SLICE: u64 = 512 << 10;

/// The oracle: every unit of the loops, one after the other, on a plain array.
fn copy_units(loops: &str, from: &[u8], to: &mut [u8]) {
    fn visit(program: &PairedProgram, depth: usize, read: i64, write: i64, from: &[u8], to: &mut [u8]) {
        let Some(entry) = program.entries.get(depth) else {
            to[write as usize] = from[read as usize];
            return;
        };
        for i in 0..entry.limit as i64 {
            let offset = |stride: &Stride| match stride {
                Stride::Fixed(stride) => i * stride,
                Stride::Table(table) => table[i as usize],
            };
            let (read, write) = (read + offset(&entry.read), write + offset(&entry.write));
            visit(program, depth + 1, read, write, from, to);
        }
    }
    let program: PairedProgram = loops.parse().unwrap();
    visit(&program, 0, program.read_base, program.write_base, from, to);
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 31 + i / 256) as u8).collect()
}

/// Moves 768 bytes HBM to HBM by `loops` and reads the 1024 bytes from 65536 - 512 on, across a page border.
fn moved(loops: &str) -> Vec<u8> {
    let buffers = vec![
        buffer(true, "in", Space::HBM, &[768], "[768 : 1 -> 1] : 1 @ 0 -> 1024"),
        buffer(false, "out", Space::HBM, &[1024], "[1024 : 1 -> 1] : 1 @ 0 -> 65024"),
    ];
    let program = program(1, buffers, vec![dma(Space::HBM, Space::HBM, loops)]);
    let machine = Machine::rngd();
    let mut interpreter = run(&program, &machine, options(1, false), &[("in", &numbers(768))]).unwrap();
    interpreter.result("out").unwrap().bytes
}

fn expected(loops: &str) -> Vec<u8> {
    let mut from = vec![0; 1024];
    from.extend(numbers(768));
    let mut to = UNWRITTEN.repeat((65024 + 1024) / 8);
    copy_units(loops, &from, &mut to);
    to.split_off(65024)
}

#[test]
fn every_loop_order_moves_what_a_plain_loop_moves() {
    let programs = [
        // Case D1 of the book: [N,C,H,W] to [H,C,N,W] with 4, 3, 8, 8.
        "[8 : 8 -> 96, 3 : 64 -> 32, 4 : 192 -> 8, 8 : 1 -> 1] : 8 @ 1024 -> 65024",
        "[768 : 1 -> 1] : 256 @ 1024 -> 65100",
        "[16 : 1 -> 48, 48 : 16 -> 1] : 1 @ 1024 -> 65024",
        "[768 : -1 -> 1] : 1 @ 1791 -> 65024",
        "[128 : 0 -> 8, 8 : 1 -> 1] : 8 @ 1032 -> 65024",
        "[5 : 7 -> 0, 8 : 1 -> 1] : 8 @ 1024 -> 65532",
        "[1 : 99 -> 99, 3 : 0 -> 1] : 1 @ 1030 -> 65025",
        "[3 : (0, 128, 64) -> (16, 0, 8), 8 : 1 -> 1] : 8 @ 1024 -> 65024",
        "[2 : 256 -> 24, 3 : (8, 0, 24) -> 8, 8 : 1 -> 1] : 8 @ 1100 -> 65520",
    ];
    for loops in programs {
        assert_eq!(moved(loops), expected(loops), "{loops}");
    }
}

#[test]
fn an_overlapping_copy_within_a_memory_goes_packet_by_packet() {
    // Each packet reads the bytes that the one before wrote: the first 8 bytes spread over all.
    let buffers = vec![
        buffer(true, "in", Space::HBM, &[64], "[64 : 1 -> 1] : 1"),
        buffer(false, "out", Space::HBM, &[64], "[64 : 1 -> 1] : 1"),
    ];
    let program = program(1, buffers, vec![dma(Space::HBM, Space::HBM, "[56 : 1 -> 1] : 8 @ 0 -> 8")]);
    let machine = Machine::rngd();
    let input = numbers(64);
    let mut interpreter = run(&program, &machine, options(1, false), &[("in", &input)]).unwrap();
    assert_eq!(interpreter.result("out").unwrap().bytes, input[..8].repeat(8));
}

#[test]
fn a_broadcast_reaches_every_slice_and_rows_cross_slices() {
    // 16 bytes into slices 0..512, then 24 bytes of which 8 end slice 1 and 16 begin slice 2.
    let across = 2 * SLICE - 8;
    let to_slices = format!("[512 : 0 -> {SLICE}, 16 : 1 -> 1] : 16");
    let to_border = format!("[24 : 1 -> 1] : 24 @ 0 -> {across}");
    let back = format!("[512 : {SLICE} -> 16, 16 : 1 -> 1] : 16 @ 0 -> 4096");
    let end = format!("[8 : 1 -> 1] : 8 @ {across} -> 65536");
    let buffers = vec![
        buffer(true, "in", Space::HBM, &[24], "[24 : 1 -> 1] : 1"),
        buffer(false, "all", Space::HBM, &[512, 16], "[8192 : 1 -> 1] : 1 @ 0 -> 4096"),
        buffer(false, "end", Space::HBM, &[8], "[8 : 1 -> 1] : 1 @ 0 -> 65536"),
    ];
    let kinds = vec![
        dma(Space::HBM, Space::DM, &to_slices),
        dma(Space::HBM, Space::DM, &to_border),
        dma(Space::DM, Space::HBM, &back),
        dma(Space::DM, Space::HBM, &end),
    ];
    let program = program(1, buffers, kinds);
    let machine = Machine::rngd();
    let input = numbers(24);
    let mut interpreter = run(&program, &machine, options(1, false), &[("in", &input)]).unwrap();
    let all = interpreter.result("all").unwrap().bytes;
    for (slice, row) in all.chunks(16).enumerate() {
        let expected = if slice == 2 { &input[8..24] } else { &input[..16] };
        assert_eq!(row, expected, "slice {slice}");
    }
    assert_eq!(interpreter.result("end").unwrap().bytes, input[..8]);
}

#[test]
fn pcie_scatters_over_chips_and_the_tensor_dma_runs_on_each() {
    // Host bytes 0..8 to chip 0 and 8..16 to chip 1; each chip turns its own bytes round; back to the host.
    let chip = CHIP_STRIDE;
    let out = format!("[2 : 8 -> {chip}, 8 : 1 -> 1] : 8 @ 0 -> 64");
    let back = format!("[2 : {chip} -> 8, 8 : 1 -> 1] : 8 @ 128 -> 32");
    let buffers = vec![
        buffer(true, "in", Space::HOST, &[16], "[16 : 1 -> 1] : 1"),
        buffer(false, "out", Space::HOST, &[2, 8], "[16 : 1 -> 1] : 1 @ 0 -> 32"),
        buffer(
            false,
            "on_chips",
            Space::HBM,
            &[2, 8],
            &format!("[2 : 8 -> {chip}, 8 : 1 -> 1] : 1 @ 0 -> 128"),
        ),
    ];
    let reverse = dma(Space::HBM, Space::HBM, "[8 : -1 -> 1] : 1 @ 71 -> 128");
    let program = program(
        2,
        buffers,
        vec![dma(Space::HOST, Space::HBM, &out), reverse, dma(Space::HBM, Space::HOST, &back)],
    );
    let machine = Machine::rngd();
    let input: Vec<u8> = (0..16).collect();
    let mut interpreter = run(&program, &machine, options(1, false), &[("in", &input)]).unwrap();
    let expected = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8];
    assert_eq!(interpreter.result("out").unwrap().bytes, expected);
    assert_eq!(interpreter.result("on_chips").unwrap().bytes, expected);
}

/// Rows of a page that go through the scratchpad memories, in any loop order, across the border of two PEs.
#[test]
fn scratchpad_memories_are_one_after_the_other() {
    let buffers = || {
        vec![
            buffer(true, "in", Space::HBM, &[1024], "[1024 : 1 -> 1] : 1"),
            buffer(false, "out", Space::HBM, &[1024], "[1024 : 1 -> 1] : 1 @ 0 -> 4096"),
        ]
    };
    let back = "[8 : 4096 -> 128, 128 : 1 -> 1] : 128 @ 0 -> 4096";
    let (machine, input) = (Machine::rngd(), numbers(1024));
    let result = |kinds| {
        let program = program(1, buffers(), kinds);
        run(&program, &machine, options(1, false), &[("in", &input)]).unwrap().result("out").unwrap().bytes
    };
    let to_pes = dma(Space::HBM, Space::Memory(Medium::Spm), "[8 : 128 -> 4096, 128 : 1 -> 1] : 128");
    assert_eq!(result(vec![to_pes, dma(Space::Memory(Medium::Spm), Space::HBM, back)]), input);
    // From the last bytes of PE 0 into the first of PE 1.
    let across = dma(Space::HBM, Space::Memory(Medium::Spm), "[256 : 1 -> 1] : 256 @ 0 -> 3968");
    let found = result(vec![across, dma(Space::Memory(Medium::Spm), Space::HBM, back)]);
    assert_eq!(found[..128], UNWRITTEN.repeat(16));
    assert_eq!(found[128..256], input[128..256]);
    assert_eq!(found[256..], UNWRITTEN.repeat(96));
}

#[test]
fn each_chip_has_scratchpad_memory_of_its_own() {
    let chip = CHIP_STRIDE;
    let both = |base: u64| format!("[2 : 8 -> {chip}, 8 : 1 -> 1] : 1 @ 0 -> {base}");
    let buffers = vec![
        buffer(true, "in", Space::HBM, &[2, 8], &both(0)),
        buffer(false, "out", Space::HBM, &[2, 8], &both(64)),
    ];
    let to_spm = dma(Space::HBM, Space::Memory(Medium::Spm), "[8 : 1 -> 1] : 8 @ 0 -> 32760");
    let reverse = dma(Space::Memory(Medium::Spm), Space::HBM, "[8 : -1 -> 1] : 1 @ 32767 -> 64");
    let program = program(2, buffers, vec![to_spm, reverse]);
    let machine = Machine::rngd();
    let input: Vec<u8> = (0..16).collect();
    let mut interpreter = run(&program, &machine, options(1, false), &[("in", &input)]).unwrap();
    let expected = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8];
    assert_eq!(interpreter.result("out").unwrap().bytes, expected);
}

#[test]
fn a_transfer_outside_its_memory_is_an_error() {
    let machine = Machine::rngd();
    let chip_dm = 512 * SLICE;
    for (base, ok) in [(chip_dm - 8, true), (chip_dm - 7, false)] {
        let loops = format!("[8 : 1 -> 1] : 8 @ 0 -> {base}");
        let program = program(1, Vec::new(), vec![dma(Space::HBM, Space::DM, &loops)]);
        assert_eq!(run(&program, &machine, options(1, false), &[]).is_ok(), ok, "{base}");
    }
    for (base, ok) in [(8 * 4096 - 8, true), (8 * 4096 - 7, false)] {
        let loops = format!("[8 : 1 -> 1] : 8 @ 0 -> {base}");
        let program = program(1, Vec::new(), vec![dma(Space::HBM, Space::Memory(Medium::Spm), &loops)]);
        assert_eq!(run(&program, &machine, options(1, false), &[]).is_ok(), ok, "{base}");
    }
    // Register files are out of a transfer's reach, and so is a second chip's HBM for the tensor DMA.
    let beyond = format!("[8 : 1 -> 1] : 8 @ {CHIP_STRIDE} -> 0");
    for kind in
        [dma(Space::HBM, visa_engine::Space::Trf, "[8 : 1 -> 1] : 8"), dma(Space::HBM, Space::DM, &beyond)]
    {
        let program = program(2, Vec::new(), vec![kind]);
        let error = run(&program, &machine, options(1, false), &[]).err().unwrap().to_string();
        assert!(error.contains("expected within 0 to"), "{error}");
    }
}
