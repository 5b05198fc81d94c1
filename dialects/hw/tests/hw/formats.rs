//! Formats that are not whole bytes: half bytes, and the sideband bit of i5 and i9, which the stream holds in twice the bytes.

use crate::{data, exec, flow, run};
use visa_hw::stage::{SliceMemory, Stream};
use visa_hw::taint::{Taint, TaintLog};
use visa_machine::Machine;
use visa_numerics::{DType, load};

fn values(stream: &Stream) -> Vec<i32> {
    let count = stream.dtype.elements((stream.bytes.len() / stream.dtype.wire_scale()) as u64);
    (0..count as usize).map(|at| load(stream.dtype, &stream.bytes, at).cast_signed()).collect()
}

fn behind(stages: &str, memory: &SliceMemory, count: usize) -> Stream {
    flow(&Machine::rngd(), &exec(stages), memory, count, None)
}

const STORE: &str = "hw.store_trf full, rows 1, row_bytes";

#[test]
fn i4_widens_low_half_first() {
    let memory = data(&[0x21, 0x43, 0x87, 0xf0, 0, 0, 0, 0]);
    let stages = "hw.fetch i4, packet 4, to i32, loops [8 : 1] : 4; hw.collect flits 1; hw.store_vrf at 0";
    let stream = behind(stages, &memory, 1);
    assert_eq!((stream.dtype, stream.packet), (DType::I32, 32));
    assert_eq!(values(&stream), [1, 2, 3, 4, 7, -8, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0]);
}

/// Book 19: an i5 counts as 4 bits, an i9 as 8: a flit is 64 or 32 of them, whatever the interpreter holds.
#[test]
fn extended_integers_fill_flits_by_their_nominal_size() {
    let memory = data(&[0x21, 0x80, 3, 4, 5, 6, 7, 0xff]);
    for (stages, dtype, first) in [
        ("hw.fetch i4, packet 8, to i5", DType::I5, [1, 2, 0, -8]),
        ("hw.fetch i8, packet 8, to i9", DType::I9, [33, -128, 3, 4]),
    ] {
        let stages = format!("{stages}, loops [8 : 1] : 8; hw.collect flits 1; {STORE} 32");
        let fetched = behind(&stages, &memory, 1);
        assert_eq!((fetched.dtype, fetched.packet, fetched.bytes.len()), (dtype, 16, 16), "{dtype}");
        assert_eq!(values(&fetched)[..4], first, "{dtype}");
        let collected = behind(&stages, &memory, 2);
        assert_eq!((collected.packet, collected.bytes.len()), (64, 64), "{dtype}");
        assert_eq!(values(&collected).len() as u64, dtype.elements(32), "{dtype}");
        assert_eq!(values(&collected)[..4], first, "{dtype}");
        assert!(collected.bytes[16..].iter().all(|&byte| byte == 0), "{dtype}: padding");
    }
}

/// The register file keeps sideband bits beside its bytes: a row of i9 is as long as one of i8, and no other format sees it.
#[test]
fn the_register_file_keeps_sideband_bits() {
    let memory = data(&(0..64).collect::<Vec<u8>>());
    let stages = "hw.fetch i8, packet 32, to i9, loops [64 : 1] : 32; hw.collect flits 1; \
                  hw.store_trf second, rows 2, row_bytes 32";
    let exec = exec(stages);
    let mut written = memory.clone();
    let stream = flow(&Machine::rngd(), &exec, &memory, 2, None);
    let cx = visa_hw::stage::RunCx { machine: &Machine::rngd(), shadow: None, op: 0, chip: 0, slice: 0 };
    exec.stages[2].store(cx, &mut written, stream);
    assert!(written.trf.bytes().is_empty());
    // Row 1, second half: nominal byte 8192 + 4096, held at twice that.
    let at = 2 * (8192 + 4096);
    assert_eq!(load(DType::I9, &written.trf_extended.bytes()[at..], 31), 63);
    assert_eq!(written.trf_extended.bytes().len(), at + 64);
}

/// i9 under i8 that came later: the i8 is defined, the i9 no more.
#[test]
fn a_format_overwrites_the_other_in_the_register_file() {
    let (machine, log) = (Machine::rngd(), TaintLog::default());
    let mut memory = data(&[1; 32]);
    memory.dm.write_taint(0, &[Taint::DEFINED; 32]);
    let store = |cast: &str| {
        exec(&format!("hw.fetch i8, packet 32{cast}, loops [32 : 1] : 32; hw.collect flits 1; {STORE} 32"))
    };
    let defined = |memory: &SliceMemory, dtype: DType| {
        let (bytes, mut marks) = (32 * dtype.wire_scale(), Vec::new());
        memory.trf_of(dtype).read_taint(0..bytes, Taint::NEVER_WRITTEN, &mut marks);
        marks.iter().all(|mark| mark.is_defined())
    };
    run(&machine, &store(", to i9"), &mut memory, Some(&log));
    assert_eq!((defined(&memory, DType::I9), defined(&memory, DType::I8)), (true, false));
    run(&machine, &store(""), &mut memory, Some(&log));
    assert_eq!((defined(&memory, DType::I9), defined(&memory, DType::I8)), (false, true));
    run(&machine, &store(", to i9"), &mut memory, Some(&log));
    assert_eq!((defined(&memory, DType::I9), defined(&memory, DType::I8)), (true, false));
}

fn undefined(stages: &str, holes: &[usize], count: usize) -> Vec<usize> {
    let (machine, log) = (Machine::rngd(), TaintLog::default());
    let mut memory = data(&[0; 512]);
    memory.dm.write_taint(0, &[Taint::DEFINED; 512]);
    holes.iter().for_each(|&at| memory.dm.write_taint(at, &[Taint::NEVER_WRITTEN]));
    let stream = flow(&machine, &exec(stages), &memory, count, Some(&log));
    let marks = stream.taint.expect("shadow mode");
    assert_eq!(marks.len(), stream.bytes.len(), "one mark a byte");
    (0..marks.len()).filter(|&at| !marks[at].is_defined()).collect()
}

#[test]
fn marks_of_half_bytes_are_those_of_the_byte() {
    let end = format!("hw.collect flits 1; {STORE} 32");
    // Byte 1 holds elements 2 and 3: 8 bytes of i32, 2 bytes of i5.
    let wide = "hw.fetch i4, packet 4, to i32, loops [4 : 1] : 4; hw.collect flits 1; hw.store_vrf at 0";
    assert_eq!(undefined(wide, &[1], 1), [8, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!(
        undefined(&format!("hw.fetch i4, packet 8, to i5, loops [8 : 1] : 8; {end}"), &[1], 1),
        [2, 3]
    );
    assert_eq!(
        undefined(&format!("hw.fetch i8, packet 8, to i9, loops [8 : 1] : 8; {end}"), &[1], 1),
        [2, 3]
    );
    // A byte of i4 comes from two i32.
    let cast = "hw.fetch i32, packet 32, loops [32 : 1] : 32; hw.collect flits 1; hw.cast i4; \
                hw.commit bytes 8, loops [8 : 1] : 8 @ 4096";
    assert_eq!(undefined(cast, &[13], 3), [1]);
}

/// 16 rows of 16 elements: what stands in row r and column c of the input stands in row c, column r of the output.
#[test]
fn transposed_half_bytes() {
    let element = |row: usize, column: usize| ((row * 3 + column * 5) % 16) as u8;
    let byte = |row: usize, at: usize| element(row, 2 * at) | element(row, 2 * at + 1) << 4;
    let input: Vec<u8> =
        (0..16 * 32).map(|at| if at % 32 < 8 { byte(at / 32, at % 32) } else { 0x99 }).collect();
    let stages = "hw.fetch i4, packet 32, loops [512 : 1] : 32; hw.collect flits 1; \
                  hw.transpose double, bits 4, rows 16, columns 16, kept 15; \
                  hw.commit bytes 8, loops [120 : 1] : 8 @ 4096";
    let stream = behind(stages, &data(&input), 3);
    assert_eq!((stream.packet, stream.bytes.len()), (32, 15 * 32));
    for (column, flit) in stream.bytes.chunks(32).enumerate() {
        for row in 0..16 {
            let found = flit[row / 2] >> (row % 2 * 4) & 0xf;
            assert_eq!(found, element(row, column), "row {row}, column {column}");
        }
        assert_eq!(flit[8..], [0; 24], "padding");
    }
    // Row 2, column 3 alone: byte 2 * 32 + 1 is columns 2 and 3, which go out in byte 1 of those flits.
    assert_eq!(undefined(stages, &[2 * 32 + 1], 3), [2 * 32 + 1, 3 * 32 + 1]);
}
