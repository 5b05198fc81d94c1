//! Formats that are not whole bytes: half bytes, and the sideband bit of i5 and i9, which the stream holds in
//! twice the bytes.

use crate::{data, exec, flow, run};
use visa_engine::shadow::{Shadow, ShadowLog};
use visa_engine::{SliceMemory, Stream};
use visa_machine::Machine;
use visa_numerics::{DType, load};

fn values(stream: &Stream) -> Vec<i32> {
    let count = stream.dtype.elements((stream.bytes.len() / stream.dtype.wire_scale()) as u64);
    (0..count as usize).map(|at| load(stream.dtype, &stream.bytes, at).cast_signed()).collect()
}

fn after(stages: &str, memory: &SliceMemory, count: usize) -> Stream {
    flow(&Machine::rngd(), &exec(stages), memory, count, None)
}

const STORE: &str = "hw.store_trf full, rows 1, row_bytes";

#[test]
fn i4_widens_low_half_first() {
    let memory = data(&[0x21, 0x43, 0x87, 0xf0, 0, 0, 0, 0]);
    let stages = "hw.fetch i4, packet 4, to i32, loops [8 : 1] : 4; hw.collect flits 1; hw.store_vrf at 0";
    let stream = after(stages, &memory, 1);
    assert_eq!((stream.dtype, stream.packet), (DType::I32, 32));
    assert_eq!(values(&stream), [1, 2, 3, 4, 7, -8, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0]);
}

/// Book 19: an i5 counts as 4 bits, an i9 as 8: a flit is 64 or 32 of them, regardless of the interpreter's
/// representation.
#[test]
fn extended_integers_fill_flits_by_their_nominal_size() {
    let memory = data(&[0x21, 0x80, 3, 4, 5, 6, 7, 0xff]);
    for (stages, dtype, first) in [
        ("hw.fetch i4, packet 8, to i5", DType::I5, [1, 2, 0, -8]),
        ("hw.fetch i8, packet 8, to i9", DType::I9, [33, -128, 3, 4]),
    ] {
        let stages = format!("{stages}, loops [8 : 1] : 8; hw.collect flits 1; {STORE} 32");
        let fetched = after(&stages, &memory, 1);
        assert_eq!((fetched.dtype, fetched.packet, fetched.bytes.len()), (dtype, 16, 16), "{dtype}");
        assert_eq!(values(&fetched)[..4], first, "{dtype}");
        let collected = after(&stages, &memory, 2);
        assert_eq!((collected.packet, collected.bytes.len()), (64, 64), "{dtype}");
        assert_eq!(values(&collected).len() as u64, dtype.elements(32), "{dtype}");
        assert_eq!(values(&collected)[..4], first, "{dtype}");
        assert!(collected.bytes[16..].iter().all(|&byte| byte == 0), "{dtype}: padding");
    }
}

/// The register file keeps sideband bits in addition to its bytes: a row of i9 is as long as one of i8, and no other
/// format sees it.
#[test]
fn the_register_file_keeps_sideband_bits() {
    let memory = data(&(0..64).collect::<Vec<u8>>());
    let stages = "hw.fetch i8, packet 32, to i9, loops [64 : 1] : 32; hw.collect flits 1; hw.store_trf second, \
                  rows 2, row_bytes 32";
    let exec = exec(stages);
    let mut written = memory.clone();
    let stream = flow(&Machine::rngd(), &exec, &memory, 2, None);
    let cx =
        visa_engine::RunCx { machine: &Machine::rngd(), shadow: None, op: 0, chip: 0, slice: 0, moved: 0 };
    exec.stages[2].as_store().unwrap().store(cx, &mut written, stream);
    assert!(written.trf.bytes().is_empty());
    // Row 1, second half: nominal byte 8192 + 4096, held at twice that.
    let at = 2 * (8192 + 4096);
    assert_eq!(load(DType::I9, &written.trf_extended.bytes()[at..], 31), 63);
    assert_eq!(written.trf_extended.bytes().len(), at + 64);
}

/// i9 under i8 that came later: the i8 is defined, the i9 no more.
#[test]
fn a_format_overwrites_the_other_in_the_register_file() {
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let mut memory = data(&[1; 32]);
    memory.dm.write_shadow(0, &[Shadow::DEFINED; 32]);
    let store = |cast: &str| {
        exec(&format!("hw.fetch i8, packet 32{cast}, loops [32 : 1] : 32; hw.collect flits 1; {STORE} 32"))
    };
    let defined = |memory: &SliceMemory, dtype: DType| {
        let (bytes, mut marks) = (32 * dtype.wire_scale(), Vec::new());
        memory.trf_of(dtype).read_shadow(0..bytes, Shadow::NEVER_WRITTEN, &mut marks);
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
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let mut memory = data(&[0; 512]);
    memory.dm.write_shadow(0, &[Shadow::DEFINED; 512]);
    holes.iter().for_each(|&at| memory.dm.write_shadow(at, &[Shadow::NEVER_WRITTEN]));
    let stream = flow(&machine, &exec(stages), &memory, count, Some(&log));
    let marks = stream.shadow.expect("shadow mode");
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
    let cast = "hw.fetch i32, packet 32, loops [32 : 1] : 32; hw.collect flits 1; hw.cast i4; hw.commit bytes 8, \
                loops [8 : 1] : 8 @ 4096";
    assert_eq!(undefined(cast, &[13], 3), [1]);
}

/// Row r of the register file at nominal address 32 * access: elements of i9, 32 of them.
fn weigh(memory: &mut SliceMemory, row: usize, access: usize, elements: &[(usize, i16)]) {
    let mut values = [0_i16; 32];
    elements.iter().for_each(|&(at, value)| values[at] = value);
    let bytes: Vec<u8> = values.into_iter().flat_map(i16::to_le_bytes).collect();
    memory.write_trf(DType::I9, row * 8192 + 32 * access, &bytes, Some(&[Shadow::DEFINED; 64]));
}

const I9: &str = "hw.fetch i8, packet 32, to i9, loops [64 : 1] : 32; hw.collect flits 1; hw.align full, flits 1, \
                  rows 2, data 32, loops [2 : 32, 32 : 1] : 32; hw.contract i9, depth 6; hw.accumulate \
                  interleaved, rows 2, columns 1, slots [2 : 1] : 1; hw.commit bytes 32, loops [64 : 1] : 32 @ \
                  4096";

/// Two packets, whose last elements are 3 and 5, and two rows at separate addresses.
#[test]
fn i9_of_every_row_at_every_address() {
    let mut bytes = [0; 64];
    (bytes[31], bytes[63]) = (3, 5);
    let mut memory = data(&bytes);
    for (row, access, weight) in [(0, 0, 10), (0, 1, 100), (1, 0, 7), (1, 1, -200)] {
        weigh(&mut memory, row, access, &[(31, weight)]);
    }
    assert_eq!(values(&after(I9, &memory, 4)), [30, 21, 500, -1000]);
}

/// Element 5 of packet 0 is undefined, and only row 0 has no zero there. Element 6 of row 1 is undefined at the
/// second address, and packet 1 has no zero there.
#[test]
fn marks_of_i9_are_those_of_its_two_bytes() {
    let mut bytes = [0; 64];
    bytes[32 + 6] = 1;
    let mut memory = data(&bytes);
    memory.dm.write_shadow(0, &[Shadow::DEFINED; 64]);
    memory.dm.write_shadow(5, &[Shadow::NEVER_WRITTEN]);
    for (row, access) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        weigh(&mut memory, row, access, if (row, access) == (0, 0) { &[(5, 1)] } else { &[] });
    }
    memory.trf_extended.write_shadow(2 * (8192 + 32 + 6), &[Shadow::NEVER_WRITTEN; 2]);
    let stream = flow(&Machine::rngd(), &exec(I9), &memory, 4, Some(&ShadowLog::default()));
    let marks = stream.shadow.expect("shadow mode");
    let undefined: Vec<usize> = (0..marks.len()).filter(|&at| !marks[at].is_defined()).collect();
    assert_eq!((marks.len(), undefined), (16, vec![0, 1, 2, 3, 12, 13, 14, 15]));
}

/// Of 96 elements, 64 from the first on and 64 from byte 32 on.
#[test]
fn i9_is_shifted_by_its_nominal_size() {
    let stages = "hw.fetch i8, packet 32, to i9, loops [96 : 1] : 32; hw.collect flits 1; hw.align full, flits 3, \
                  shifts 1, shift_bytes 32, repeat 1, rows 8, data 64, loops [2 : 0, 64 : 1] : 64; hw.contract \
                  i9, depth 6; hw.accumulate interleaved, rows 8, columns 1, slots [2 : 1] : 1; hw.commit bytes \
                  32, loops [64 : 1] : 32 @ 4096";
    let found = values(&after(stages, &data(&(0..96).collect::<Vec<u8>>()), 3));
    assert_eq!(found, (0..64).chain(32..96).collect::<Vec<i32>>());
}

/// 16 rows of 16 elements: the element in row r and column c of the input is in row c, column r of the output.
#[test]
fn transposed_half_bytes() {
    let element = |row: usize, column: usize| ((row * 3 + column * 5) % 16) as u8;
    let byte = |row: usize, at: usize| element(row, 2 * at) | element(row, 2 * at + 1) << 4;
    let input: Vec<u8> =
        (0..16 * 32).map(|at| if at % 32 < 8 { byte(at / 32, at % 32) } else { 0x99 }).collect();
    let stages = "hw.fetch i4, packet 32, loops [512 : 1] : 32; hw.collect flits 1; hw.transpose double, bits 4, \
                  rows 16, columns 16, kept 15; hw.commit bytes 8, loops [120 : 1] : 8 @ 4096";
    let stream = after(stages, &data(&input), 3);
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
