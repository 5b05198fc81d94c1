//! The data that travels with the elements inside the Vector Engine: execution ids, valid counts, the stash, and the
//! marks of ids.

use crate::{codes, data, exec, exec_text, f32s, flow, i32_bytes, i32s, run};
use visa_engine::shadow::{Shadow, ShadowLog};
use visa_engine::{Lanes, RunCx, SliceMemory, Stream};
use visa_machine::Machine;
use visa_numerics::DType;

const UNDEFINED: Shadow = Shadow::NEVER_WRITTEN;

/// `packets` packets of 8 elements of i32, and stages after them.
fn pass(packets: usize, stages: &str) -> String {
    format!("hw.fetch i32, packet 32, loops [{} : 1] : 32; hw.collect flits 1; {stages}", packets * 32)
}

/// `ids` together with as many elements, which count from 0, in packets of 8; all are defined.
fn beside(ids: &[u8]) -> Stream {
    Stream {
        packet: 32,
        bytes: i32_bytes(0..ids.len() as i32),
        shadow: Some(vec![Shadow::DEFINED; ids.len() * 4]),
        lanes: Some(Box::new(Lanes {
            ids: ids.to_vec(),
            id_marks: vec![Shadow::DEFINED; ids.len()],
            ..Lanes::default()
        })),
        ..Stream::empty(DType::I32)
    }
}

fn mark_element(stream: &mut Stream, element: usize) {
    let marks = stream.shadow.as_mut().expect("marks");
    marks[element * 4..element * 4 + 4].fill(UNDEFINED);
}

fn mark_id(stream: &mut Stream, element: usize) {
    stream.lanes.as_mut().expect("ids").id_marks[element] = UNDEFINED;
}

fn undefined(marks: &[Shadow]) -> Vec<usize> {
    (0..marks.len()).filter(|&at| !marks[at].is_defined()).collect()
}

/// The bytes of these words.
fn words(words: &[usize]) -> Vec<usize> {
    words.iter().flat_map(|&word| word * 4..word * 4 + 4).collect()
}

/// Packets of six lanes with elements. Of the first those in lanes 0, 2 and 5 are kept, of the second those in
/// lanes 1 and 2.
const FILTERED: [u8; 16] = [1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0, 0, 1, 1];
const FILTER: &str = "hw.filter keep [xxx1], lanes 6; hw.commit_packed most 8, loops [64 : 1] : 8 @ 4096";

fn filtered(stream: Stream, log: &ShadowLog) -> Stream {
    let (machine, stages) = (Machine::rngd(), exec(&pass(2, FILTER)).stages);
    let cx = RunCx { machine: &machine, shadow: Some(log), op: 2, chip: 0, slice: 0, moved: 0 };
    stages[2].as_map().unwrap().run(cx, &SliceMemory::default(), stream)
}

/// Elements 2 and 10 go to the second place of their packets; those that are not kept are gone, with their marks.
#[test]
fn a_filter_moves_marks_with_their_elements() {
    let mut stream = beside(&FILTERED);
    [2, 3, 8, 10].into_iter().for_each(|element| mark_element(&mut stream, element));
    let out = filtered(stream, &ShadowLog::default());
    assert_eq!(i32s(&out.bytes), [0, 2, 5, 0, 0, 0, 0, 0, 9, 10, 0, 0, 0, 0, 0, 0]);
    assert_eq!(undefined(&out.shadow.expect("marks")), words(&[1, 9]));
    assert_eq!(out.lanes.expect("counts").valid, [3, 2]);
}

/// Lanes 6 and 7 hold nothing, regardless of their ids; the ids of all others decide, including those of dropped
/// elements.
#[test]
fn only_ids_of_lanes_with_elements_are_uncertain() {
    let mut stream = beside(&FILTERED);
    [0, 1, 6, 7, 8, 13, 14, 15].into_iter().for_each(|element| mark_id(&mut stream, element));
    let out = filtered(stream, &ShadowLog::default());
    assert_eq!(undefined(&out.lanes.expect("ids").id_marks), [0, 1, 8, 13]);
}

/// An id of the second packet is undefined: the three elements of the first are where they are, the elements after
/// them are uncertain.
#[test]
fn an_uncertain_count_leaves_the_packets_before_it() {
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let mut stream = beside(&FILTERED);
    mark_id(&mut stream, 12);
    let out = filtered(stream, &log);
    let mut memory = SliceMemory::default();
    let cx = RunCx { machine: &machine, shadow: Some(&log), op: 3, chip: 0, slice: 0, moved: 0 };
    exec(&pass(2, FILTER)).stages[3].as_store().unwrap().store(cx, &mut memory, out);
    let mut marks = Vec::new();
    memory.dm.read_shadow(4096..4096 + 64, UNDEFINED, &mut marks);
    assert_eq!(undefined(&marks), (12..64).collect::<Vec<_>>());
}

/// Counts 8, 3 and 0.
#[test]
fn ids_say_which_elements_are_valid() {
    let stages = "hw.vector_valid_count counters [3 : 8 p], packet 11; hw.vector_branch valid_count; hw.commit \
                  bytes 32, loops [96 : 1] : 32 @ 4096";
    let out = flow(&Machine::rngd(), &exec(&pass(3, stages)), &data(&[0; 96]), 4, None);
    let ids = [[1; 8], [1, 1, 1, 0, 0, 0, 0, 0], [0; 8]].concat();
    assert_eq!(out.lanes.expect("ids").ids, ids);
}

/// The lower four lanes of each packet, with their ids.
#[test]
fn ids_are_trimmed_with_their_lanes() {
    let stages = "hw.vector_branch comparison, compare [less 0]; hw.vector_lanes trim; hw.vector_lanes pad; \
                  hw.commit bytes 32, loops [64 : 1] : 32 @ 4096";
    let elements = [-1, 2, -3, 4, -5, -6, -7, -8, 1, -2, 3, -4, 5, 6, 7, 8];
    let out = flow(&Machine::rngd(), &exec(&pass(2, stages)), &data(&i32_bytes(elements)), 4, None);
    assert_eq!(i32s(&out.bytes), [-1, 2, -3, 4, 1, -2, 3, -4]);
    assert_eq!(out.lanes.expect("ids").ids, [1, 0, 1, 0, 0, 1, 0, 1]);
}

/// Counts 8 and 3 become 3: 6 + 8 + 10 of the sums 6, 8, 10, 12.
#[test]
fn a_zip_keeps_the_smaller_count() {
    let stages = "hw.vector_valid_count counters [2 : 8 p], packet 11; hw.vector_zip AddFxp, stage fxp, apart 1; \
                  hw.vector_lanes trim; hw.vector_reduce AddSat, lanes tree, slots [1 : 1] : 1; hw.vector_lanes \
                  pad; hw.commit bytes 32, loops [32 : 1] : 32 @ 4096";
    let elements = [1, 2, 3, 4, 10, 20, 30, 40, 5, 6, 7, 8, 50, 60, 70, 80];
    let out = flow(&Machine::rngd(), &exec(&pass(2, stages)), &data(&i32_bytes(elements)), 6, None);
    assert_eq!(i32s(&out.bytes)[0], 24);
}

/// Book 21: there is no stash where there are groups, nor after them.
#[test]
fn there_is_no_stash_beside_a_zip() {
    let stages = |zip: &str, packets: u64| {
        let stages = format!(
            "hw.vector_stash; hw.vector_lanes split; {zip} hw.vector_lanes {}; hw.vector Max, stage clip, stash",
            if packets == 2 { "concat" } else { "pad" }
        );
        let stages = format!("{}; hw.commit bytes 32, loops [64 : 1] : 32 @ 4096", pass(2, &stages));
        codes(&exec_text("main", &stages.replace("i32", "f32")))
    };
    assert_eq!(stages("", 2), Vec::<String>::new());
    assert_eq!(stages("hw.vector_zip MulF0, stage fp, apart 1;", 1), ["hw.exec-C4"]);
}

/// The stash holds 1 to 8. Lanes 0 to 3 come back unchanged from a reduction of one packet a slot; 4 to 7 are
/// padding.
#[test]
fn the_stash_outlives_a_reduction() {
    let stages = "hw.vector_stash; hw.vector_lanes trim; hw.vector_reduce Max, lanes apart, slots [1 : 1] : 1; \
                  hw.vector_lanes pad; hw.vector AddFxp, stage clip, stash; hw.commit bytes 32, loops [32 : 1] : \
                  32 @ 4096";
    let out = flow(&Machine::rngd(), &exec(&pass(1, stages)), &data(&i32_bytes(1..9)), 7, None);
    assert_eq!(i32s(&out.bytes)[..4], [2, 4, 6, 8]);
}

/// Two packets of 1 to 16 are trimmed to 1 to 4 and 9 to 12, and so is the stash: their squares.
#[test]
fn the_stash_is_trimmed_to_the_stream() {
    let stages = "hw.vector_stash; hw.vector_lanes trim; hw.vector MulF0, stage fp, stash; hw.vector_lanes pad; \
                  hw.commit bytes 32, loops [64 : 1] : 32 @ 4096";
    let floats: Vec<u8> = (1..17).flat_map(|value| (value as f32).to_le_bytes()).collect();
    let stages = pass(2, stages).replace("i32", "f32");
    let out = flow(&Machine::rngd(), &exec(&stages), &data(&floats), 5, None);
    assert_eq!(f32s(&out.bytes), [1.0, 4.0, 9.0, 16.0, 81.0, 100.0, 121.0, 144.0]);
}

/// Where no other slice of its group sends, a slice goes on with its elements, and nothing in addition.
#[test]
fn ids_end_where_slices_are_reduced() {
    let stages = "hw.vector_branch comparison, compare [less 0]; hw.vector_inter_reduce Add, bits 1; hw.commit \
                  bytes 32, loops [32 : 1] : 32 @ 4096";
    let out = flow(&Machine::rngd(), &exec(&pass(1, stages)), &data(&i32_bytes(-4..4)), 4, None);
    assert_eq!((i32s(&out.bytes), out.lanes), ((-4..4).collect(), None));
}

/// Eight words of ids, and no more.
#[test]
fn ids_are_stored_one_a_word() {
    let stages = pass(1, "hw.vector_branch comparison, compare [less 0]; hw.store_ids at 8");
    let mut memory = data(&i32_bytes([-1, 1, -1, 1, -1, -1, 1, 1]));
    memory.vrf.write(0, &[9; 44]);
    run(&Machine::rngd(), &exec(&stages), &mut memory, None);
    let mut expected = vec![9; 44];
    expected[8..40].copy_from_slice(&i32_bytes([1, 0, 1, 0, 1, 1, 0, 0]));
    assert_eq!(memory.vrf.bytes(), expected);
}

/// A register file whose first 64 bytes are defined, but for these words.
fn register_file(undefined: &[usize]) -> SliceMemory {
    let mut memory = SliceMemory::default();
    memory.vrf.write(0, &[0; 64]);
    memory.vrf.write_shadow(0, &[Shadow::DEFINED; 64]);
    undefined.iter().for_each(|word| memory.vrf.write_shadow(word * 4, &[UNDEFINED; 4]));
    memory
}

/// Words 0 and 2 of the register file are undefined. Element 0 reads its word, element 2 passes without reading.
/// Whether element 3 reads is uncertain.
#[test]
fn a_guard_that_does_not_hold_reads_nothing() {
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let stages = pass(
        1,
        "hw.vector AddFxp, when [xxx1: value], vrf [32 : 1] : 32; hw.commit bytes 32, loops [32 : 1] : 32 @ 4096",
    );
    let mut stream = beside(&[1, 1, 0, 0, 0, 1, 0, 1]);
    mark_id(&mut stream, 3);
    let cx = RunCx { machine: &machine, shadow: Some(&log), op: 2, chip: 0, slice: 0, moved: 0 };
    let out = exec(&stages).stages[2].as_map().unwrap().run(cx, &register_file(&[0, 2]), stream);
    assert_eq!(undefined(&out.shadow.expect("marks")), words(&[0, 3]));
}

/// Elements 0 and 9 are undefined, and so is the id of element 10, which decides whether its word is replaced.
#[test]
fn what_is_written_back_takes_marks_along() {
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let stages = pass(
        2,
        "hw.vector AddFxp, write_back [xxx1], vrf [64 : 1] : 32; hw.commit bytes 32, loops [64 : 1] : 32 @ 4096",
    );
    let mut stream = beside(&[1; 16]);
    [0, 9].into_iter().for_each(|element| mark_element(&mut stream, element));
    mark_id(&mut stream, 10);
    let cx = RunCx { machine: &machine, shadow: Some(&log), op: 2, chip: 0, slice: 0, moved: 0 };
    let out = exec(&stages).stages[2].as_map().unwrap().run(cx, &register_file(&[]), stream);
    assert_eq!(undefined(&out.shadow.expect("marks")), words(&[0, 9]));
    let (file, mut marks) = (out.lanes.and_then(|lanes| lanes.written).expect("a register file"), Vec::new());
    file.read_shadow(0..64, UNDEFINED, &mut marks);
    assert_eq!(undefined(&marks), words(&[0, 9, 10]));
}
