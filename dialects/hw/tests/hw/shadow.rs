//! Marks of undefined bytes: which ones a stage gives, and the operations they name.

use crate::{bf16_bytes, exec, exec_on, flow, run};
use visa_engine::shadow::{Shadow, ShadowLog};
use visa_engine::{Operand, RunCx, SliceMemory, Stream};
use visa_machine::Machine;
use visa_numerics::{DType, SumOrder};

/// Data memory where `undefined` bytes of the first `size` were never written.
fn holes(bytes: &[u8], undefined: &[usize]) -> SliceMemory {
    let mut memory = SliceMemory::default();
    memory.dm.write(0, bytes);
    for at in (0..bytes.len()).filter(|at| !undefined.contains(at)) {
        memory.dm.write_shadow(at, &[Shadow::DEFINED]);
    }
    memory
}

/// Indices of the undefined bytes after `count` stages.
fn undefined(stages: &str, memory: &SliceMemory, count: usize) -> (Vec<usize>, Vec<u32>) {
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let stream = flow(&machine, &exec(stages), memory, count, Some(&log));
    let marks = stream.shadow.unwrap_or_default();
    assert_eq!(marks.len(), stream.bytes.len(), "one mark a byte after stage {count} of {stages}");
    let at: Vec<_> = (0..marks.len()).filter(|&at| !marks[at].is_defined()).collect();
    let chain = at.first().map_or_else(Vec::new, |&at| log.chain(marks[at]));
    (at, chain)
}

#[test]
fn fetch_moves_marks_and_spreads_them_over_converted_elements() {
    let memory = holes(&[0; 8], &[3]);
    let end = "; hw.collect flits 1; hw.store_vrf at 0";
    let (at, chain) = undefined(&format!("hw.fetch i8, packet 8, loops [4 : 1, 2 : 4] : 1{end}"), &memory, 1);
    assert_eq!((at, chain), (vec![6], vec![0]));
    let (at, _) = undefined(&format!("hw.fetch i8, packet 8, to i32, loops [8 : 1] : 8{end}"), &memory, 1);
    assert_eq!(at, [12, 13, 14, 15]);
    // One byte of two makes a bf16 undefined.
    let (at, _) = undefined(&format!("hw.fetch bf16, packet 8, to f32, loops [8 : 1] : 8{end}"), &memory, 1);
    assert_eq!(at, [4, 5, 6, 7]);
}

/// An undefined index is undefined as it was; one outside the table begins a separate chain.
#[test]
fn fetch_marks_what_it_looks_up_outside_the_table() {
    let mut memory = holes(&[0, 1, 2, 0, 0, 0, 0, 0], &[4]);
    memory.dm.write(5, &[9]);
    let stages = "hw.fetch i8, packet 8, table bf16 [0x3f80, 0x4000], loops [8 : 1] : 8; hw.collect flits 1; \
                  hw.store_vrf at 0";
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let stream = flow(&machine, &exec(stages), &memory, 2, Some(&log));
    let marks = stream.shadow.unwrap_or_default();
    let at: Vec<_> = (0..16).filter(|&at| !marks[at].is_defined()).collect();
    assert_eq!(at, [4, 5, 8, 9, 10, 11]);
    assert_eq!((log.origin(marks[4]), log.chain(marks[4])), (Shadow::OUTSIDE_TABLE, vec![0, 1]));
    assert_eq!((log.origin(marks[8]), log.chain(marks[8])), (Shadow::NEVER_WRITTEN, vec![0, 1]));
    assert_eq!(log.origin(marks[10]), Shadow::OUTSIDE_TABLE);
}

/// Slice 2 starts at byte 16: of the bytes that it reads, byte 17 was never written.
#[test]
fn fetch_takes_marks_from_where_a_slice_starts() {
    let stages =
        "hw.fetch i8, packet 8, loops [8 : 1] : 8, starts [3 : 8] : 1; hw.collect flits 1; hw.store_vrf at 0";
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let cx = RunCx { machine: &machine, shadow: Some(&log), op: 0, chip: 0, slice: 2, moved: 0 };
    let stream = exec(stages).stages[0].as_map().unwrap().run(
        cx,
        &holes(&[0; 24], &[2, 11, 17]),
        Stream::empty(DType::I8),
    );
    let marks = stream.shadow.expect("marks");
    assert_eq!((0..marks.len()).filter(|&at| !marks[at].is_defined()).collect::<Vec<_>>(), [1]);
}

#[test]
fn masked_bytes_are_defined() {
    let end = "; hw.collect flits 1; hw.store_vrf at 0";
    let masked = "hw.fetch i8, packet 8, mask [dim 0, left 1, valid [6]], loops [1 : 0, 8 : 1] : 8";
    assert_eq!(undefined(&format!("{masked}{end}"), &holes(&[1; 8], &[0, 3, 7]), 1).0, [3]);
}

#[test]
fn without_shadow_there_are_no_marks() {
    let exec = exec("hw.fetch i8, packet 8, loops [8 : 1] : 8; hw.collect flits 1; hw.store_vrf at 0");
    assert_eq!(flow(&Machine::rngd(), &exec, &SliceMemory::default(), 2, None).shadow, None);
}

#[test]
fn padding_is_defined() {
    let stages = "hw.fetch i8, packet 8, loops [16 : 1] : 8; hw.collect flits 1; hw.store_vrf at 0";
    let (at, chain) = undefined(stages, &holes(&[0; 16], &[0, 9]), 2);
    assert_eq!((at, chain), (vec![0, 33], vec![0, 1]));
}

#[test]
fn switch_carries_marks_and_makes_them_for_inactive_slices() {
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let cx = RunCx { machine: &machine, shadow: Some(&log), op: 7, chip: 0, slice: 0, moved: 0 };
    let stages = "hw.fetch i8, packet 8, loops [8 : 1] : 8; hw.switch broadcast01, slice1 1, slice0 2, time0 1; \
                  hw.collect flits 1; hw.store_vrf at 0";
    let mut shadow = vec![Shadow::DEFINED; 8];
    shadow[2] = log.through(3, Shadow::NEVER_WRITTEN);
    let active = Stream { packet: 8, bytes: vec![1; 8], shadow: Some(shadow), ..Stream::empty(DType::I8) };
    let inputs = [active, Stream::empty(DType::I8)];
    let Some(out) = exec(stages).stages[1].as_exchange().unwrap().exchange(cx, &inputs, 0) else {
        panic!("a ring of two")
    };
    let marks = out.shadow.unwrap_or_default();
    let at: Vec<_> = (0..marks.len()).filter(|&at| !marks[at].is_defined()).collect();
    assert_eq!(at, [2, 8, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!((log.chain(marks[2]), log.chain(marks[8])), (vec![3, 7], vec![7]));
}

const CONTRACTION: &str = "hw.fetch bf16, packet 32, loops [64 : 1] : 32; hw.collect flits 1; hw.align full, \
                           flits 1, rows 2, data 32, loops [2 : 0, 64 : 1] : 64; hw.contract bf16, depth 3; \
                           hw.accumulate interleaved, rows 2, columns 2, slots [2 : 0] : 1; hw.cast bf16; \
                           hw.commit bytes 8, loops [16 : 1] : 8 @ 4096";

/// Two rows of two live groups of 8 elements (of four groups); the register file is defined up to the end of the data.
fn with_weights(mut memory: SliceMemory, undefined_row_1: Option<usize>) -> SliceMemory {
    for row in 0..2 {
        let at = row * 8192;
        memory.trf.write(at, &bf16_bytes(vec![1.0; 16]));
        memory.trf.write_shadow(at, &[Shadow::DEFINED; 32]);
    }
    if let Some(byte) = undefined_row_1 {
        memory.trf.write_shadow(8192 + byte, &[Shadow::NEVER_WRITTEN]);
    }
    memory
}

#[test]
fn elements_after_the_data_mark_nothing() {
    let memory = with_weights(holes(&[0; 64], &[]), None);
    for count in 1..=6 {
        assert_eq!(undefined(CONTRACTION, &memory, count).0, Vec::<usize>::new(), "stage {count}");
    }
}

/// Byte 49 of data memory: packet 1, element 8, group 1, in both rows.
#[test]
fn an_undefined_element_marks_its_group_in_every_row() {
    let memory = with_weights(holes(&[0; 64], &[49]), None);
    let words =
        |words: &[usize]| -> Vec<usize> { words.iter().flat_map(|&word| word * 4..word * 4 + 4).collect() };
    // A packet is 2 rows of 4 groups: 8 words.
    let (at, chain) = undefined(CONTRACTION, &memory, 4);
    assert_eq!((at, chain), (words(&[8 + 1, 8 + 4 + 1]), vec![0, 1, 2, 3]));
    // Column 1 is the second packet, rows 0 and 1 its first lanes.
    let (at, chain) = undefined(CONTRACTION, &memory, 5);
    assert_eq!((at, chain), (words(&[8, 9]), vec![0, 1, 2, 3, 4]));
    // Narrowed: 2 bytes a value.
    let (at, chain) = undefined(CONTRACTION, &memory, 6);
    assert_eq!((at, chain), (vec![32, 33, 34, 35], vec![0, 1, 2, 3, 4, 5]));
}

/// Byte 3 of row 1 of the register file: element 1, group 0, in row 1 only, in both packets.
#[test]
fn an_undefined_weight_marks_its_row() {
    let memory = with_weights(holes(&bf16_bytes(vec![1.0; 32]), &[]), Some(3));
    let (at, chain) = undefined(CONTRACTION, &memory, 4);
    let words = |word: usize| word * 4..word * 4 + 4;
    assert_eq!((at, chain), (words(4).chain(words(12)).collect(), vec![3]));
}

/// The same with zeros as the other factors, which make the product zero for any number; but not with an infinity.
#[test]
fn a_defined_zero_hides_what_is_undefined() {
    let finite = with_weights(holes(&[0; 64], &[]), Some(3));
    assert_eq!(undefined(CONTRACTION, &finite, 4).0, Vec::<usize>::new());
    let mut infinite = finite.clone();
    infinite.trf.write(8192 + 2, &[0x80, 0x7f]);
    assert_eq!(undefined(CONTRACTION, &infinite, 4).0.len(), 8);
    // The zero itself is undefined.
    let zeros = with_weights(holes(&[0; 64], &[49]), None);
    assert_eq!(undefined(CONTRACTION, &zeros, 4).0.len(), 8);
    // The other way round: an undefined 1 in data memory next to a weight of zero, in row 0 only.
    let mut weights = with_weights(holes(&bf16_bytes(vec![1.0; 32]), &[49]), None);
    weights.trf.write(2 * 8, &[0, 0]);
    assert_eq!(undefined(CONTRACTION, &weights, 4).0, (13 * 4..14 * 4).collect::<Vec<_>>());
}

/// Packet 1 is zeros, and in packet 0 there are none: the undefined weight counts together with that packet only.
#[test]
fn every_packet_is_asked_for_its_own_zeros() {
    let values = [[1.0; 16], [0.0; 16]].concat();
    let memory = with_weights(holes(&bf16_bytes(values), &[]), Some(3));
    assert_eq!(undefined(CONTRACTION, &memory, 4).0, [16, 17, 18, 19]);
}

/// Each packet meets two accesses: those of packet 1 are 2 and 3.
#[test]
fn a_repeated_packet_takes_its_marks_along() {
    let repeated = CONTRACTION
        .replace("flits 1, rows 2", "flits 1, repeat 2, rows 2")
        .replace("loops [2 : 0, 64 : 1]", "loops [4 : 0, 64 : 1]")
        .replace("slots [2 : 0]", "slots [4 : 0]");
    let memory = with_weights(holes(&[0; 64], &[49]), None);
    let expected: Vec<usize> = [16 + 1, 16 + 4 + 1, 24 + 1, 24 + 4 + 1]
        .into_iter()
        .flat_map(|word| word * 4..word * 4 + 4)
        .collect();
    assert_eq!(undefined(&repeated, &memory, 4).0, expected);
}

/// In sequential order a packet is 2 rows of 32 products: element 8 of packet 1 marks one in each row.
#[test]
fn a_product_has_a_mark_of_its_own() {
    let (machine, log) =
        (Machine { sum_order: SumOrder::Sequential, ..Machine::rngd() }, ShadowLog::default());
    let memory = with_weights(holes(&[0; 64], &[49]), None);
    let marks =
        flow(&machine, &exec_on(&machine, CONTRACTION), &memory, 4, Some(&log)).shadow.expect("marks");
    let at: Vec<_> = (0..marks.len()).filter(|&at| !marks[at].is_defined()).collect();
    let expected: Vec<usize> =
        [64 + 8, 64 + 32 + 8].into_iter().flat_map(|word| word * 4..word * 4 + 4).collect();
    assert_eq!((marks.len(), at), (2 * 2 * 32 * 4, expected));
}

/// Two slots of two rows of two columns; row 1, column 0 of the second is undefined. It comes out in the third
/// packet, lane 1.
#[test]
fn marks_go_to_their_slot() {
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let stages = "hw.fetch i8, packet 32, loops [64 : 1] : 32; hw.collect flits 1; hw.align full, flits 1, rows \
                  2, data 32, loops [2 : 0, 32 : 1] : 32; hw.contract i8, depth 5; hw.accumulate interleaved, \
                  rows 2, columns 2, slots [2 : 1] : 1; hw.commit bytes 32, loops [128 : 1] : 32 @ 4096";
    let operand = Operand { addresses: vec![0, 0].into(), repeat: 1, read: 32, rows: 2, data: 32, terms: 1 };
    let mut marks = vec![Shadow::DEFINED; 32];
    marks[6 * 4..7 * 4].fill(Shadow::NEVER_WRITTEN);
    let input = Stream {
        packet: 16,
        bytes: vec![0; 32],
        shadow: Some(marks),
        operand: Some(operand),
        ..Stream::empty(DType::I32)
    };
    let cx = RunCx { machine: &machine, shadow: Some(&log), op: 4, chip: 0, slice: 0, moved: 0 };
    let marks = exec(stages).stages[4]
        .as_map()
        .unwrap()
        .run(cx, &SliceMemory::default(), input)
        .shadow
        .expect("marks");
    let at: Vec<_> = (0..marks.len()).filter(|&at| !marks[at].is_defined()).collect();
    assert_eq!((marks.len(), at), (4 * 32, (17 * 4..18 * 4).collect::<Vec<_>>()));
}

#[test]
fn vector_takes_marks_of_both_operands() {
    let memory = {
        let mut memory = holes(&[0; 32], &[5]);
        memory.vrf.write_shadow(0, &[Shadow::DEFINED; 32]);
        memory.vrf.write_shadow(30, &[Shadow::NEVER_WRITTEN]);
        memory
    };
    let stages = |operand: &str| {
        format!(
            "hw.fetch i32, packet 32, loops [32 : 1] : 32; hw.collect flits 1; hw.vector AddFxp, {operand}; \
             hw.commit bytes 32, loops [32 : 1] : 32"
        )
    };
    assert_eq!(undefined(&stages("constant 1"), &memory, 3).0, [4, 5, 6, 7]);
    assert_eq!(undefined(&stages("vrf [32 : 1] : 32"), &memory, 3).0, [4, 5, 6, 7, 28, 29, 30, 31]);
}

/// Four bytes are written and defined, and none next to them.
#[test]
fn generate_writes_one_number() {
    let text = crate::exec_text("sub", "hw.generate 305419896, at 4");
    let program = crate::program(&text);
    let visa_hw::program::CommandKind::Exec(exec) = &program.commands[0].kind else { panic!("a run") };
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let mut memory = SliceMemory::default();
    run(&machine, exec, &mut memory, Some(&log));
    assert_eq!(memory.dm.bytes(), [0x77, 0x77, 0x77, 0x77, 0x78, 0x56, 0x34, 0x12]);
    let mut marks = Vec::new();
    memory.dm.read_shadow(0..12, Shadow::NEVER_WRITTEN, &mut marks);
    let defined: Vec<_> = (0..12).filter(|&at| marks[at].is_defined()).collect();
    assert_eq!(defined, [4, 5, 6, 7]);
    assert_eq!(
        exec.accesses(),
        [visa_engine::Access { space: visa_engine::Space::DM, write: true, range: 4..8 }]
    );
}

/// A run of the sub context that packs three flits of i8, five live elements each.
fn packed(counts: [Option<i32>; 3]) -> (SliceMemory, ShadowLog) {
    let stages = "hw.fetch i8, packet 8, loops [24 : 1] : 8; hw.collect flits 1; hw.commit_packed most 5, counts \
                  64, stride 4, loops [24 : 1] : 8 @ 128";
    let program = crate::program(&crate::exec_text("sub", stages));
    let visa_hw::program::CommandKind::Exec(exec) = &program.commands[0].kind else { panic!("a run") };
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let mut memory = holes(&(1..=24).collect::<Vec<u8>>(), &[9]);
    memory.dm.write(128, &[0xaa; 24]);
    for (at, count) in counts.iter().enumerate().filter_map(|(at, count)| Some((at, (*count)?))) {
        memory.dm.write(64 + 4 * at, &count.to_le_bytes());
        memory.dm.write_shadow(64 + 4 * at, &[Shadow::DEFINED; 4]);
    }
    run(&machine, exec, &mut memory, Some(&log));
    (memory, log)
}

/// Two of the first flit, none of the second, all five of the third; 7 bytes and a zero.
#[test]
fn packing_keeps_what_counts_say() {
    let (memory, _) = packed([Some(2), Some(-1), Some(99)]);
    assert_eq!(
        memory.dm.bytes()[128..144],
        [1, 2, 17, 18, 19, 20, 21, 0, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa]
    );
    // Nothing kept is nothing written.
    let (memory, _) = packed([Some(0), Some(0), Some(i32::MIN)]);
    assert_eq!(memory.dm.bytes()[128..136], [0xaa; 8]);
}

/// The counts are at address 0, before the packed elements.
#[test]
fn counts_may_stand_at_the_start() {
    let stages = "hw.fetch i8, packet 8, loops [16 : 1] : 8 @ 64; hw.collect flits 1; hw.commit_packed most 5, \
                  counts 0, stride 4, loops [16 : 1] : 8 @ 128";
    let program = crate::program(&crate::exec_text("sub", stages));
    let visa_hw::program::CommandKind::Exec(exec) = &program.commands[0].kind else { panic!("a run") };
    let mut memory = SliceMemory::default();
    memory.dm.write(0, &[3, 0, 0, 0, 1, 0, 0, 0]);
    memory.dm.write(64, &(1..=16).collect::<Vec<u8>>());
    run(&Machine::rngd(), exec, &mut memory, None);
    assert_eq!(memory.dm.bytes()[128..136], [1, 2, 3, 9, 0, 0, 0, 0]);
}

/// An undefined element (byte 9, the second of the second flit) stays one; an undefined count makes all that
/// follows so.
#[test]
fn packing_marks() {
    let undefined = |counts| {
        let (memory, log) = packed(counts);
        let mut marks = Vec::new();
        memory.dm.read_shadow(128..152, Shadow::NEVER_WRITTEN, &mut marks);
        let at: Vec<_> = (0..24).filter(|&at| !marks[at].is_defined()).collect();
        (at.clone(), at.first().map_or_else(Vec::new, |&at| log.chain(marks[at])))
    };
    // Bytes 0 to 2 of the first flit, then two of the second: the fourth place. Bytes that were never written stay so.
    assert_eq!(
        undefined([Some(3), Some(2), Some(0)]),
        ([vec![4], (8..24).collect()].concat(), vec![0, 1, 2])
    );
    assert_eq!(undefined([Some(3), None, Some(5)]), ((3..24).collect(), vec![2]));
}

/// Stores write marks where they write bytes, and only there; truncated bytes leave none.
#[test]
fn stores_write_marks() {
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let fetch = "hw.fetch i8, packet 32, loops [64 : 1] : 32; hw.collect flits 1";
    let marks = |bank: &visa_engine::Bank, range: std::ops::Range<usize>| {
        let mut marks = Vec::new();
        bank.read_shadow(range, Shadow::NEVER_WRITTEN, &mut marks);
        marks
    };
    let mut memory = holes(&[0; 64], &[1, 33, 40]);
    run(
        &machine,
        &exec(&format!("{fetch}; hw.store_trf first, rows 2, row_bytes 32")),
        &mut memory,
        Some(&log),
    );
    let row = marks(&memory.trf, 8192..8224);
    assert!(row[7].is_defined() && log.chain(row[8]) == [0, 1, 2]);
    run(&machine, &exec(&format!("{fetch}; hw.store_vrf at 8")), &mut memory, Some(&log));
    assert_eq!(log.chain(marks(&memory.vrf, 9..10)[0]), [0, 1, 2]);
    let commit = "hw.commit bytes 8, loops [2 : 16, 8 : 1] : 8 @ 128";
    run(&machine, &exec(&format!("{fetch}; {commit}")), &mut memory, Some(&log));
    let written = marks(&memory.dm, 128..152);
    let defined: Vec<_> = (0..24).filter(|&at| written[at].is_defined()).collect();
    assert_eq!(defined, [0, 2, 3, 4, 5, 6, 7, 16, 18, 19, 20, 21, 22, 23]);
    assert_eq!((log.chain(written[17]), written[8]), (vec![0, 1, 2], Shadow::NEVER_WRITTEN));
}
