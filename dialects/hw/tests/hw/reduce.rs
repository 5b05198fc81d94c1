//! The reduction within a slice and the valid counts that go before it: their results, their marks, their limits.

use crate::{codes, data, exec, exec_text, flow, i32_bytes, i32s};
use visa_engine::shadow::ShadowLog;
use visa_engine::{Flow, RunCx, SliceMemory, Stream};
use visa_machine::Machine;

/// A pass over `packets` packets of 8 elements of `dtype` that gives `out` such packets.
fn pass(dtype: &str, packets: u64, out: u64, stages: &str) -> String {
    let (bytes, kept) = (packets * 32, out * 32);
    format!(
        "hw.fetch {dtype}, packet 32, loops [{bytes} : 1] : 32; hw.collect flits 1; {stages}; hw.commit bytes 32, \
         loops [{kept} : 1] : 32 @ 4096"
    )
}

/// The results of `stages`, the last of them included, for i32 elements in slice `slice`.
fn made(elements: &[i32], slice: usize, out: u64, stages: &str) -> Vec<i32> {
    let machine = Machine::rngd();
    // A last `pad` makes the flits that a commit takes.
    let widened = format!("{stages}; hw.vector_lanes pad");
    let exec = exec(&pass("i32", elements.len() as u64 / 8, out, &widened));
    let memory = data(&i32_bytes(elements.iter().copied()));
    let mut stream = Stream::empty(visa_numerics::DType::I8);
    for stage in &exec.stages[..exec.stages.len() - 2] {
        stream = stage.as_map().unwrap().run(
            RunCx { machine: &machine, shadow: None, op: 0, chip: 0, slice, moved: 0 },
            &memory,
            stream,
        );
    }
    i32s(&stream.bytes)
}

const SIXTEEN: [i32; 16] = [1, 2, 3, 4, 10, 20, 30, 40, 5, 6, 7, 8, 50, 60, 70, 80];

#[test]
fn lanes_by_a_tree_then_time() {
    let split = "hw.vector_lanes split; hw.vector_reduce";
    // All four packets: 10 + 100 + 26 + 260.
    assert_eq!(made(&SIXTEEN, 0, 1, &format!("{split} AddSat, lanes tree, slots [4 : 0] : 1"))[..1], [396]);
    // Halves of each packet apart: 10 + 26 and 100 + 260.
    let two = made(&SIXTEEN, 0, 2, &format!("{split} AddSat, lanes tree, slots [2 : 0, 2 : 1] : 1"));
    assert_eq!((two[0], two[4], two.len()), (36, 360, 8));
    assert_eq!(made(&SIXTEEN, 0, 1, &format!("{split} Max, lanes tree, slots [4 : 0] : 1"))[..1], [80]);
    assert_eq!(
        made(&SIXTEEN, 0, 2, &format!("{split} Min, lanes tree, slots [2 : 1, 2 : 0] : 1"))[4..5],
        [5]
    );
}

#[test]
fn lanes_apart() {
    let apart = "hw.vector_lanes split; hw.vector_reduce AddSat, lanes apart, slots [2 : 0, 2 : 1] : 1";
    assert_eq!(made(&SIXTEEN, 0, 2, apart), [6, 8, 10, 12, 60, 80, 100, 120]);
}

/// Counts 8 and 3 become 4, 4 and 3, 0: the last packet and the last lane of the one before are left out.
#[test]
fn invalid_lanes_count_as_the_identity() {
    let counted = |rest: &str| {
        format!(
            "hw.vector_valid_count counters [2 : 8 p], packet 11; hw.vector_lanes split; hw.vector_reduce {rest}"
        )
    };
    assert_eq!(made(&SIXTEEN, 0, 1, &counted("AddSat, lanes tree, slots [4 : 0] : 1"))[0], 10 + 100 + 18);
    assert_eq!(made(&SIXTEEN, 0, 2, &counted("Max, lanes tree, slots [2 : 1, 2 : 0] : 1"))[4], 7);
    let apart = made(&SIXTEEN, 0, 4, &counted("Min, lanes apart, slots [4 : 1] : 1"));
    assert_eq!(apart[8..], [5, 6, 7, i32::MAX, i32::MAX, i32::MAX, i32::MAX, i32::MAX]);
}

/// The generator sees the slice's number within its cluster: 256 is slice 0 of the second one.
#[test]
fn gates_see_the_slice_of_the_cluster() {
    let gated = "hw.vector_valid_count counters [2 : 1 g0], gates [mask 0x3 match 1 valid 1]; hw.vector_lanes \
                 trim; hw.vector_reduce AddSat, lanes tree, slots [2 : 0] : 1";
    for (slice, sum) in [(0, 36), (1, 10), (2, 0), (4, 36), (256, 36), (257, 10)] {
        assert_eq!(made(&SIXTEEN, slice, 1, gated)[0], sum, "slice {slice}");
    }
}

#[test]
fn padding_that_counts_is_marked() {
    let machine = Machine::rngd();
    let marked = |count: &str, lanes: &str| {
        let stages = format!(
            "{count} hw.vector_lanes trim; hw.vector_reduce Max, lanes {lanes}, slots [1 : 1] : 1; \
             hw.vector_lanes pad"
        );
        let exec = exec(&pass("f32", 1, 1, &stages));
        let log = ShadowLog::default();
        // Three elements were written.
        let memory: SliceMemory = data(&[0; 12]);
        let mut memory = memory;
        memory.dm.write_shadow(0, &[visa_engine::shadow::Shadow::DEFINED; 12]);
        let stream = flow(&machine, &exec, &memory, exec.stages.len() - 2, Some(&log));
        stream.shadow.into_iter().flatten().step_by(4).map(|mark| mark.is_defined()).collect::<Vec<_>>()
    };
    assert!(!marked("", "tree")[0]);
    assert_eq!(
        marked("hw.vector_valid_count counters [1 : 8 p], packet 3;", "tree"),
        [true, false, false, false]
    );
    assert_eq!(marked("", "apart"), [true, true, true, false]);
    assert_eq!(marked("hw.vector_valid_count counters [1 : 8 p], packet 3;", "apart"), [true; 4]);
}

/// Two slots of four lanes; element 1 of the second packet, byte 36 of the fetched bytes, was never written.
#[test]
fn marks_of_lanes_apart_stay_in_their_slot() {
    let stages =
        "hw.vector_lanes trim; hw.vector_reduce Max, lanes apart, slots [2 : 1] : 1; hw.vector_lanes pad";
    let exec = exec(&pass("i32", 2, 2, stages));
    let mut memory = data(&[0; 64]);
    memory.dm.write_shadow(0, &[visa_engine::shadow::Shadow::DEFINED; 64]);
    memory.dm.write_shadow(36, &[visa_engine::shadow::Shadow::NEVER_WRITTEN]);
    let stream = flow(&Machine::rngd(), &exec, &memory, 4, Some(&ShadowLog::default()));
    let marks = stream.shadow.expect("marks");
    let undefined: Vec<usize> = (0..marks.len()).filter(|&at| !marks[at].is_defined()).collect();
    assert_eq!((marks.len(), undefined), (32, vec![20, 21, 22, 23]));
}

#[test]
fn constraints_of_the_valid_count() {
    let count = |packets: u64, clauses: &str| {
        codes(&exec_text("main", &pass("i32", packets, packets, &format!("hw.vector_valid_count {clauses}"))))
    };
    let (good, code) = (Vec::<String>::new(), |number: u64| vec![format!("hw.vector_valid_count-C{number}")]);
    let narrow = "hw.vector_lanes split; hw.vector_valid_count counters [4]; hw.vector_lanes concat";
    assert_eq!(codes(&exec_text("main", &pass("i32", 2, 2, narrow))), ["hw.exec-C4"]);
    assert_eq!(codes(&exec_text("main", &pass("i8", 1, 1, "hw.vector_valid_count counters [1]"))), code(1));
    assert_eq!(count(2, "counters [1, 1, 1, 1, 1, 1, 1, 2]"), good);
    assert_eq!(count(2, "counters [1, 1, 1, 1, 1, 1, 1, 1, 2]"), code(2));
    assert_eq!(count(3, "counters [2]"), code(2));
    assert_eq!(count(2, "counters [2, 0]"), code(2));
    let gate = "mask 1 match 0 valid 1";
    let gates = |count: usize| vec![gate; count].join(", ");
    assert_eq!(count(2, &format!("counters [2 : 1 g2], gates [{}]", gates(3))), good);
    assert_eq!(count(2, &format!("counters [2], gates [{}]", gates(4))), code(3));
    assert_eq!(count(2, &format!("counters [2 : 1 g3], gates [{}]", gates(3))), code(3));
    assert_eq!(count(2, "counters [2 : 1 g0]"), code(3));
    assert_eq!(count(2, "counters [2 : 8 p], packet 9"), good);
    assert_eq!(count(2, "counters [2 : 9 p], packet 9"), code(4));
    assert_eq!(count(2, "counters [2 : 0 p], packet 9"), code(4));
    assert_eq!(count(2, "counters [2 : 8 p]"), code(4));
    assert_eq!(count(2, "counters [2], packet 9"), code(4));
    assert_eq!(count(2, "counters [2 : 8 p], packet 0"), good);
    assert_eq!(count(2, "counters [2 : 8 p], packet -1"), code(4));
    assert_eq!(count(2, "counters [2], gates [mask 0xff match 0 valid 1]"), good);
    assert_eq!(count(2, "counters [2], gates [mask 0x100 match 0 valid 1]"), code(5));
}

#[test]
fn constraints_of_the_reduction() {
    let reduce = |dtype: &str, packets: u64, out: u64, clauses: &str| {
        codes(&exec_text(
            "main",
            &pass(
                dtype,
                packets,
                out,
                &format!("hw.vector_lanes trim; hw.vector_reduce {clauses}; hw.vector_lanes pad"),
            ),
        ))
    };
    let (good, code) = (Vec::<String>::new(), |number: u64| vec![format!("hw.vector_reduce-C{number}")]);
    assert_eq!(reduce("i32", 4, 1, "AddSat, lanes tree, slots [4 : 0] : 1"), good);
    assert_eq!(reduce("i32", 5, 1, "AddSat, lanes tree, slots [4 : 0] : 1"), code(1));
    assert_eq!(reduce("i32", 4, 4, "AddSat, lanes tree, slots [2 : 1, 2 : 2] : 1"), good);
    assert_eq!(reduce("i32", 4, 4, "AddSat, lanes tree, slots [2 : 1, 2 : 1] : 1"), code(2));
    assert_eq!(reduce("i32", 16, 8, "AddSat, lanes apart, slots [2 : 0, 8 : 1] : 1"), good);
    assert_eq!(reduce("i32", 18, 9, "AddSat, lanes apart, slots [2 : 0, 9 : 1] : 1"), code(3));
    assert_eq!(reduce("i32", 24, 12, "AddSat, lanes apart, slots [12 : 1, 2 : 0] : 1"), good);
    // An entry of one iteration neither numbers slots nor reduces.
    assert_eq!(reduce("i32", 4, 4, "AddSat, lanes tree, slots [1 : 5, 4 : 1] : 1"), good);
    assert_eq!(reduce("i32", 12, 12, "AddSat, lanes apart, slots [1 : 0, 12 : 1] : 1"), good);
    assert_eq!(reduce("f32", 1, 1, "Add, lanes tree, slots [1 : 1] : 1"), good);
    assert_eq!(reduce("i32", 1, 1, "Add, lanes tree, slots [1 : 1] : 1"), code(4));
    assert_eq!(reduce("f32", 1, 1, "AddSat, lanes tree, slots [1 : 1] : 1"), code(4));
    let wide = "hw.vector_reduce Max, lanes tree, slots [1 : 1] : 1";
    assert_eq!(codes(&exec_text("main", &pass("i32", 1, 1, wide))), code(5));
    let twice = "hw.vector_lanes trim; hw.vector_reduce Max, lanes tree, slots [2 : 1] : 1; hw.vector_reduce Max, \
                 lanes tree, slots [2 : 0] : 1; hw.vector_lanes pad";
    assert_eq!(codes(&exec_text("main", &pass("i32", 2, 1, twice))), ["hw.exec-C4"]);
}

/// Book 22: a packet a cycle, and the first result waits for the packets that are reduced: 12, or 3 for each of four.
#[test]
fn cost() {
    let machine = Machine::rngd();
    let cost = |out: u64, slots: &str| {
        let stages = format!(
            "hw.vector_lanes trim; hw.vector_reduce Max, lanes tree, slots {slots} : 1; hw.vector_lanes pad"
        );
        let exec = exec(&pass("i32", 12, out, &stages));
        let cost = exec.stages[3].cost(&machine, Flow { packets: 12, packet: 16 });
        (cost.cycles, cost.latency, exec.stages[3].streaming(), cost.out.packets)
    };
    assert_eq!(cost(1, "[12 : 0]"), (12, 1, 12, 1));
    assert_eq!(cost(4, "[3 : 0, 4 : 1]"), (12, 1, 3, 4));
    assert_eq!(cost(12, "[12 : 1]"), (12, 1, 0, 12));
}
