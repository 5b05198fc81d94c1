//! Reductions between slices: the order, the packets that each slice receives, and marks, against cases worked out by
//! hand.

use crate::{exec, f32s, i32s};
use visa_engine::shadow::{Shadow, ShadowLog};
use visa_engine::{RunCx, Stream};
use visa_machine::Machine;
use visa_numerics::DType;

/// The packets that `slice` receives of slices that hold these elements, in packets of 8.
fn routed(reduce: &str, dtype: DType, slices: &[Option<Vec<u32>>], slice: usize) -> Option<Stream> {
    let kept = if reduce.contains("parts 2") { 128 } else { 256 };
    let exec = exec(&format!(
        "hw.fetch {dtype}, packet 32, loops [256 : 1] : 32; hw.collect flits 1; {reduce}; hw.commit bytes 32, \
         loops [{kept} : 1] : 32"
    ));
    let stream = |elements: &Option<Vec<u32>>| match elements {
        None => Stream::empty(DType::I8),
        Some(elements) => {
            let bytes = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
            Stream { packet: 32, bytes, ..Stream::empty(dtype) }
        }
    };
    let inputs: Vec<Stream> = slices.iter().map(stream).collect();
    let machine = Machine::rngd();
    exec.stages[2].as_exchange().unwrap().exchange(
        RunCx { machine: &machine, shadow: None, op: 0, chip: 0, slice, moved: 0 },
        &inputs,
        slice,
    )
}

fn lanes(value: u32) -> Option<Vec<u32>> {
    Some(vec![value; 8])
}

/// Of the first lane.
fn f32_of(op: &str, values: [f32; 4]) -> f32 {
    let slices = values.map(|value| lanes(value.to_bits()));
    let stream = routed(&format!("hw.vector_inter_reduce {op}, bits 3"), DType::F32, &slices, 2);
    f32s(&stream.expect("a stream").bytes)[0]
}

fn i32_of(op: &str, values: [i32; 4]) -> i32 {
    let slices = values.map(|value| lanes(value.cast_unsigned()));
    let stream = routed(&format!("hw.vector_inter_reduce {op}, bits 3"), DType::I32, &slices, 1);
    i32s(&stream.expect("a stream").bytes)[0]
}

#[test]
fn slices_are_reduced_in_their_order() {
    let big = 16_777_216.0; // 2^24
    assert_eq!(f32_of("Add", [big, 1.0, 1.0, 1.0]), big);
    assert_eq!(f32_of("Add", [1.0, 1.0, 1.0, big]), big + 4.0); // 3 + 2^24, to even
    assert_eq!(f32_of("Add", [1.0, 1.0, big, 0.0]), big + 2.0);
    assert_eq!(f32_of("Mul", [1.5, -2.0, 4.0, 0.5]), -6.0);
    assert_eq!(f32_of("Max", [f32::NAN, -2.0, -4.0, -3.0]), -2.0);
    assert_eq!(f32_of("Min", [1.0, -2.0, 4.0, 0.5]), -2.0);
    assert_eq!(i32_of("AddSat", [i32::MAX, 1, -1, 0]), i32::MAX - 1);
    assert_eq!(i32_of("AddSat", [i32::MAX, -1, 1, 0]), i32::MAX);
    assert_eq!(i32_of("Add", [i32::MAX, 1, 0, 0]), i32::MIN);
    assert_eq!(i32_of("Max", [-5, -3, -9, -4]), -3);
    assert_eq!(i32_of("Min", [-5, -3, -9, -4]), -9);
}

/// Bits 0 and 2 of 3: the group of slice 0 is 0, 1, 4, 5, that of slice 2 is 2, 3, 6, 7.
#[test]
fn a_group_is_what_differs_in_its_bits() {
    let slices: Vec<_> = (0..8).map(|slice| lanes(10_u32.pow(slice))).collect();
    let sum = |slice| {
        let stream = routed("hw.vector_inter_reduce Add, bits 5", DType::I32, &slices, slice);
        i32s(&stream.expect("a stream").bytes)[0]
    };
    for slice in [0, 1, 4, 5] {
        assert_eq!(sum(slice), 110_011, "{slice}");
    }
    for slice in [2, 3, 6, 7] {
        assert_eq!(sum(slice), 11_001_100, "{slice}");
    }
}

/// Time is [2 outer, 2 parts, 2 packets]; packet t of slice n holds 10 t + n, so that two slices have 20 t + 1.
#[test]
fn a_slice_keeps_its_part_of_the_time() {
    let packets = |slice: u32| Some((0..8).flat_map(|time| vec![10 * time + slice; 8]).collect());
    let kept = |slice| {
        let reduce = "hw.vector_inter_reduce Add, bits 1, parts 2, packets 2, width 1";
        let stream = routed(reduce, DType::I32, &[packets(0), packets(1)], slice).expect("a stream");
        i32s(&stream.bytes).into_iter().step_by(8).collect::<Vec<_>>()
    };
    assert_eq!(kept(0), [1, 21, 81, 101]);
    assert_eq!(kept(1), [41, 61, 121, 141]);
}

#[test]
fn a_slice_that_is_not_active_gives_zeros() {
    let reduce = "hw.vector_inter_reduce Max, bits 1";
    let minus = |value: i32| lanes(value.cast_unsigned());
    let stream = routed(reduce, DType::I32, &[None, minus(-3)], 0).expect("a stream");
    assert_eq!(i32s(&stream.bytes), [0; 8]);
    assert_eq!(routed(reduce, DType::I32, &[None, None], 0), None);
}

/// A result is undefined where some element of the group is, and the chain names the reduction.
#[test]
fn marks_of_all_slices_reach_the_result() {
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let exec = exec(
        "hw.fetch i32, packet 32, loops [32 : 1] : 32; hw.collect flits 1; hw.vector_inter_reduce Add, bits 1; \
         hw.commit bytes 32, loops [32 : 1] : 32",
    );
    let input = |undefined: usize| {
        let mut marks = vec![Shadow::DEFINED; 32];
        marks[undefined] = Shadow::NEVER_WRITTEN;
        Stream { packet: 32, bytes: vec![0; 32], shadow: Some(marks), ..Stream::empty(DType::I32) }
    };
    let cx = RunCx { machine: &machine, shadow: Some(&log), op: 2, chip: 0, slice: 0, moved: 0 };
    let marks = exec.stages[2]
        .as_exchange()
        .unwrap()
        .exchange(cx, &[input(5), input(31)], 0)
        .and_then(|stream| stream.shadow);
    let marks = marks.expect("marks");
    let undefined: Vec<usize> = (0..32).filter(|&at| !marks[at].is_defined()).collect();
    assert_eq!(undefined, [4, 5, 6, 7, 28, 29, 30, 31]);
    assert_eq!(log.chain(marks[4]), [2]);
}
