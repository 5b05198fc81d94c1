//! `hw.switch`: the packets that each topology delivers, by hand and against the book's recipes, and its registers'
//! constraints.

use crate::{codes, exec, exec_text};
use visa_engine::{Flow, RunCx, Stream};
use visa_machine::Machine;
use visa_numerics::DType;

fn text(packets: u64, switch: &str) -> String {
    let bytes = packets * 8;
    format!(
        "hw.fetch i8, packet 8, loops [{bytes} : 1] : 8; hw.switch {switch}; hw.collect flits 1; hw.store_vrf at \
         0"
    )
}

/// The packets that a slice receives when packet `t` of slice `n` is `packets * n + t`, as numbers.
fn received(switch: &str, slices: u64, packets: u64, slice: usize) -> Vec<u64> {
    let exec = exec(&text(packets, switch));
    let input = |slice: u64| Stream {
        packet: 8,
        bytes: (0..packets).flat_map(|time| (packets * slice + time).to_le_bytes()).collect(),
        ..Stream::empty(DType::I8)
    };
    let inputs: Vec<_> = (0..slices).map(input).collect();
    let cx = RunCx { machine: &Machine::rngd(), shadow: None, op: 0, chip: 0, slice: 0, moved: 0 };
    let stream = exec.stages[1]
        .as_exchange()
        .unwrap()
        .exchange(cx, &inputs, slice)
        .expect("the ring is among the inputs");
    let cost = exec.stages[1].cost(cx.machine, Flow { packets, packet: 8 });
    assert_eq!(cost.out, Flow { packets: stream.bytes.len() as u64 / 8, packet: 8 }, "{switch}");
    stream.bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap_or_default())).collect()
}

#[test]
fn forwarding() {
    assert_eq!(received("forwarding", 2, 3, 1), [3, 4, 5]);
}

#[test]
fn broadcast1_sends_a_column_to_itself() {
    // Rings of 2 x 2; slice 1 has s0 = 1: it hears slices 1 and 3, time outside.
    assert_eq!(received("broadcast1, slice1 2, slice0 2", 8, 2, 1), [2, 6, 3, 7]);
    assert_eq!(received("broadcast1, slice1 2, slice0 2", 8, 2, 3), [2, 6, 3, 7]);
    assert_eq!(received("broadcast1, slice1 2, slice0 2", 8, 2, 6), [8, 12, 9, 13]);
}

#[test]
fn transpose_exchanges_digits() {
    // slice1 4, slice0 2: slice d = s0 * 4 + s1 hears s1 * 2 + s0.
    let heard: Vec<_> =
        (0..8).map(|slice| received("transpose, slice1 4, slice0 2", 8, 1, slice)[0]).collect();
    assert_eq!(heard, [0, 2, 4, 6, 1, 3, 5, 7]);
}

#[test]
fn inter_transpose_exchanges_slices_and_time() {
    // slice1 2, slice0 1, time0 2, 8 packets [t2, t1, t0]: slice d hears t1 = d, in the order [t2, t0, s1].
    let switch = "inter_transpose, slice1 2, slice0 1, time0 2";
    assert_eq!(received(switch, 2, 8, 0), [0, 8, 1, 9, 4, 12, 5, 13]);
    assert_eq!(received(switch, 2, 8, 1), [2, 10, 3, 11, 6, 14, 7, 15]);
}

#[test]
fn transposed_broadcast1_sends_rows() {
    // slice1 2, slice0 4: slice d hears s1 = d % 2, all four of s0.
    let switch = "transposed_broadcast1, slice1 2, slice0 4";
    assert_eq!(received(switch, 8, 1, 2), [0, 1, 2, 3]);
    assert_eq!(received(switch, 8, 1, 7), [4, 5, 6, 7]);
}

#[test]
fn custom_follows_its_bitmap() {
    let switch = "custom, ring 4, snoop [{1, 3} x 2, {0, 2}, {2, 3}]";
    assert_eq!(received(switch, 8, 2, 0), [2, 6, 3, 7]);
    assert_eq!(received(switch, 8, 2, 3), [4, 6, 5, 7]);
    // The rows repeat, and count from the ring's first slice.
    assert_eq!(received(switch, 8, 2, 6), [8, 12, 9, 13]);
    // Two rings with separate rows.
    let switch = "custom, ring 2, snoop [{0}, {1}, {3}, {2}]";
    let heard: Vec<_> = (0..8).map(|slice| received(switch, 8, 1, slice)[0]).collect();
    assert_eq!(heard, [0, 1, 3, 2, 4, 5, 7, 6]);
}

/// Book 13, Broadcast01: the bitmap that the page gives for it names the same packets; time0 sets their order.
#[test]
fn broadcast01_is_a_bitmap() {
    let sorted = |switch: &str| {
        let mut all = received(switch, 8, 4, 5);
        all.sort_unstable();
        all
    };
    assert_eq!(
        sorted("broadcast01, slice1 2, slice0 2, time0 2"),
        sorted("custom, ring 4, snoop [{0-3} x 4]")
    );
    let inner = "broadcast01, slice1 1, slice0 4, time0 1";
    assert_eq!(received(inner, 8, 4, 5), received("custom, ring 4, snoop [{0-3} x 4]", 8, 4, 5));
}

/// Book 13's formula: ring size * packets * flits, regardless of the packets received.
#[test]
fn cycles() {
    let cost = |switch: &str, packets: u64, packet: u64| {
        let text = text(packets, switch);
        let cost = exec(&text).stages[1].cost(&Machine::rngd(), Flow { packets, packet });
        (cost.cycles, cost.latency)
    };
    assert_eq!(cost("forwarding", 16, 32), (16, 0));
    assert_eq!(cost("broadcast01, slice1 2, slice0 2, time0 4", 64, 64), (512, 3));
    assert_eq!(cost("transpose, slice1 32, slice0 2", 64, 64), (8192, 63));
    // A bitmap is written first: 256 rows of 8 words.
    assert_eq!(cost("custom, ring 4, snoop [{0-2} x 4]", 8, 64), (64, 2048 + 3));
    assert_eq!(cost("custom, ring 4, snoop [{0} x 4]", 8, 40), (64, 2048 + 3));
}

fn inside(packets: u64, switch: &str) {
    assert_eq!(codes(&exec_text("main", &text(packets, switch))), Vec::<String>::new(), "{switch}");
}

fn outside(code: &str, packets: u64, switch: &str) {
    assert_eq!(codes(&exec_text("main", &text(packets, switch))), [code], "{switch}");
}

#[test]
fn registers_of_each_topology() {
    inside(2, "forwarding");
    outside("hw.switch-C4", 2, "forwarding, slice1 1");
    inside(2, "transpose, slice1 16, slice0 16");
    outside("hw.switch-C4", 2, "transpose, slice1 16");
    outside("hw.switch-C4", 2, "transpose, slice0 16");
    outside("hw.switch-C4", 2, "transpose, slice1 16, slice0 16, time0 1");
    outside("hw.switch-C4", 2, "broadcast01, slice1 16, slice0 1");
    outside("hw.switch-C4", 2, "custom, ring 2");
    outside("hw.switch-C4", 2, "custom, snoop [{0}]");
    outside("hw.switch-C4", 2, "custom, ring 2, snoop [{0} x 2], time0 1");
    outside("hw.switch-C1", 2, "transpose, slice1 12, slice0 16");
    outside("hw.switch-C1", 2, "transposed_broadcast1, slice1 16, slice0 3");
    outside("hw.switch-C2", 2, "broadcast1, slice1 32, slice0 16");
    outside("hw.switch-C2", 2, "broadcast1, slice1 4611686018427387904, slice0 4");
    inside(4, "inter_transpose, slice1 2, slice0 1, time0 2");
    outside("hw.switch-C3", 4, "inter_transpose, slice1 2, slice0 1, time0 4");
    outside("hw.switch-C3", 4, "inter_transpose, slice1 8, slice0 1, time0 1");
    outside("hw.switch-C3", 4, "inter_transpose, slice1 4, slice0 1, time0 9223372036854775807");
    outside("hw.switch-C3", 4, "inter_transpose, slice1 4, slice0 1, time0 0");
}

#[test]
fn bitmaps() {
    outside("hw.switch-C1", 2, "custom, ring 3, snoop [{0} x 3]");
    outside("hw.switch-C1", 2, "custom, ring 0, snoop [{0}]");
    inside(1, "custom, ring 256, snoop [{0-255} x 256]");
    outside("hw.switch-C2", 2, "custom, ring 512, snoop [{0} x 512]");
    inside(2, "custom, ring 4, snoop [{0} x 4, {5} x 4]");
    outside("hw.switch-C5", 2, "custom, ring 4, snoop [{0} x 2]");
    outside("hw.switch-C5", 2, "custom, ring 4, snoop [{0} x 4, {5} x 4, {9} x 4]");
    outside("hw.switch-C5", 2, "custom, ring 256, snoop [{0} x 512]");
    inside(2, "custom, ring 4, snoop [{3} x 4]");
    outside("hw.switch-C6", 2, "custom, ring 4, snoop [{0} x 3, {4}]");
    outside("hw.switch-C6", 2, "custom, ring 4, snoop [{0} x 4, {5} x 3, {3}]");
    inside(2, "custom, ring 2, snoop [{0, 1}, {0, 1}]");
    outside("hw.switch-C7", 2, "custom, ring 2, snoop [{0, 1}, {1}]");
    outside("hw.switch-C7", 2, "custom, ring 2, snoop [{0, 1}, {}]");
    outside("hw.switch-C7", 2, "custom, ring 2, snoop [{} x 2]");
}
