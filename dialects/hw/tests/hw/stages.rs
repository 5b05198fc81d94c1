//! The results of each stage, against cases worked out by hand.

use crate::{data, exec, f32s, flow, i32_bytes, i32s, run};
use visa_engine::{Flow, Operand, RunCx, SliceMemory, Stream};
use visa_machine::Machine;
use visa_numerics::DType;

fn cx(machine: &Machine) -> RunCx<'_> {
    RunCx { machine, shadow: None, op: 0, chip: 0, slice: 0, moved: 0 }
}

fn fetched(fetch: &str, flits: u64, bytes: &[u8]) -> Stream {
    let exec = exec(&format!("{fetch}; hw.collect flits {flits}; hw.store_vrf at 0"));
    flow(&Machine::rngd(), &exec, &data(bytes), 1, None)
}

#[test]
fn fetch_reorders() {
    // A 2 x 4 matrix of bytes, columns first.
    let stream = fetched("hw.fetch i8, packet 8, loops [4 : 1, 2 : 4] : 1", 1, &[0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(stream.bytes, [0, 4, 1, 5, 2, 6, 3, 7]);
    assert_eq!((stream.dtype, stream.packet), (DType::I8, 8));
}

#[test]
fn fetch_broadcasts_goes_backwards_and_starts_at_its_base() {
    let stream =
        fetched("hw.fetch i8, packet 8, loops [2 : 0, 8 : 1] : 8 @ 2", 1, &[9, 9, 0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(stream.bytes, [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
    let stream = fetched("hw.fetch i8, packet 8, loops [8 : -1] : 1 @ 7", 1, &[0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(stream.bytes, [7, 6, 5, 4, 3, 2, 1, 0]);
    // Bytes that were never written are not zero.
    let stream = fetched("hw.fetch i8, packet 8, loops [8 : 1] : 8", 1, &[5]);
    assert_eq!(stream.bytes, [5, 0x77, 0x77, 0x77, 0xf5, 0xf5, 0xf5, 0xf5]);
}

#[test]
fn fetch_masks_before_it_converts() {
    let bytes: Vec<u8> = (1..=16).collect();
    // Rows of 4: two on the left of the first, one on the right of the last.
    let ends = "hw.fetch i8, packet 8, mask [dim 0, left 2, valid [3]], loops [4 : 4, 4 : 1] : 4";
    assert_eq!(fetched(ends, 1, &bytes).bytes, [0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]);
    // A count for each of the 4 rows.
    let each = "hw.fetch i8, packet 8, mask [dim 1, by 0, valid [4, 3, 0, 1], value 200], loops [4 : 4, 1 : 0, 4 \
                : 1] : 4";
    let expected = [1, 2, 3, 4, 5, 6, 7, 200, 200, 200, 200, 200, 13, 200, 200, 200];
    assert_eq!(fetched(each, 1, &bytes).bytes, expected);
    // The smallest i8 is the smallest i32 after the conversion, not 0x80.
    let smallest =
        "hw.fetch i8, packet 8, to i32, mask [dim 0, valid [6], value 128], loops [1 : 0, 8 : 1] : 8";
    assert_eq!(i32s(&fetched(smallest, 1, &bytes).bytes), [1, 2, 3, 4, 5, 6, -128, -128]);
    // Elements of two bytes that are 4 bytes apart.
    let apart = "hw.fetch bf16, packet 8, mask [dim 0, left 1, valid [3], value 258], loops [1 : 0, 4 : 4, 2 : 1] \
                 : 2";
    assert_eq!(fetched(apart, 1, &bytes).bytes, [2, 1, 5, 6, 9, 10, 2, 1]);
}

#[test]
fn fetch_converts() {
    let bytes = [1, 0xff, 0x80, 0x7f, 0, 2, 3, 4];
    let stream = fetched("hw.fetch i8, packet 8, to i32, loops [8 : 1] : 8", 1, &bytes);
    assert_eq!(i32s(&stream.bytes), [1, -1, -128, 127, 0, 2, 3, 4]);
    assert_eq!((stream.dtype, stream.packet), (DType::I32, 32));
    let stream = fetched(
        "hw.fetch bf16, packet 8, to f32, loops [8 : 1] : 8",
        1,
        &[0x80, 0x3f, 0x20, 0xc0, 0, 0, 0x80, 0x7f],
    );
    assert_eq!(f32s(&stream.bytes), [1.0, -2.5, 0.0, f32::INFINITY]);
    let mut floats = 1.0_f32.to_le_bytes().to_vec();
    floats.extend_from_slice(&(-2.0_f32).to_le_bytes());
    floats.extend_from_slice(&[0; 8]);
    let stream = fetched("hw.fetch f32, packet 16, to bf16, loops [16 : 1] : 16", 1, &floats);
    assert_eq!(stream.bytes, [0x80, 0x3f, 0x00, 0xc0, 0, 0, 0, 0]);
    assert_eq!((stream.dtype, stream.packet), (DType::Bf16, 8));
}

/// An i8 pattern is an unsigned index: -1 is 255. Beyond a table is 0.
#[test]
fn fetch_looks_up() {
    let table = (0..=255).map(|index| format!("{:#04x}", 255 - index)).collect::<Vec<_>>().join(", ");
    let bytes = [0, 1, 0x7f, 0x80, 0xff, 2, 3, 4];
    let stream = fetched(&format!("hw.fetch i8, packet 8, table i8 [{table}], loops [8 : 1] : 8"), 1, &bytes);
    assert_eq!(stream.bytes, [0xff, 0xfe, 0x80, 0x7f, 0, 0xfd, 0xfc, 0xfb]);
    let stream = fetched("hw.fetch i8, packet 8, table bf16 [0x3f80, 0x4000], loops [8 : 1] : 8", 1, &bytes);
    assert_eq!(stream.bytes, [0x80, 0x3f, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((stream.dtype, stream.packet), (DType::Bf16, 16));
}

/// Table, conversion, zero point, in this order: 0 and 1 become -2 and 5, then 32 bits wide, then 10 less.
#[test]
fn the_adapters_stages_stand_in_pipeline_order() {
    let fetch = "hw.fetch i8, packet 2, table i8 [0xfe, 0x05], to i32, zero [10], loops [4 : 1] : 2";
    let stream = fetched(fetch, 1, &[0, 1, 1, 0]);
    assert_eq!(i32s(&stream.bytes), [-12, -5, -5, -12]);
}

/// Of two zero points the second belongs to every second packet, of however many accesses: here two.
#[test]
fn zero_points_alternate_by_packet() {
    let fetch = "hw.fetch i8, packet 2, to i32, zero [100, -100], loops [4 : 2, 2 : 1] : 1";
    let stream = fetched(fetch, 1, &[0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(i32s(&stream.bytes), [-100, -99, 102, 103, -96, -95, 106, 107]);
    // 32 bits wrap.
    let stream =
        fetched("hw.fetch i8, packet 2, to i32, zero [2147483647], loops [2 : 1] : 1", 1, &[0xff, 0xfe]);
    assert_eq!(i32s(&stream.bytes), [i32::MIN, i32::MAX]);
}

/// A lookup and a conversion take longer, and need no more cycles an access (book 08).
#[test]
fn the_adapter_costs_latency_only() {
    let cost = |clauses: &str| {
        let fetch = format!(
            "hw.fetch i8, packet 8, {clauses}loops [64 : 1] : 8; hw.collect flits 1; hw.store_vrf at 0"
        );
        let exec = exec(&fetch);
        let cost = exec.stages[0].cost(&Machine::rngd(), Flow { packets: 0, packet: 0 });
        (cost.cycles, cost.latency, exec.stages[0].assumed())
    };
    assert_eq!(cost(""), (8, 1, vec![]));
    assert_eq!(cost("table i8 [0x00], "), (8, 2, vec!["timing.fetch_table_cycles"]));
    assert_eq!(cost("to i32, zero [1], "), (8, 3, vec!["timing.fetch_cast_cycles"]));
    let both = vec!["timing.fetch_table_cycles", "timing.fetch_cast_cycles"];
    assert_eq!(cost("table i8 [0x00], to i32, "), (8, 4, both));
}

#[test]
fn collect_fills_up_and_cuts() {
    let exec = exec("hw.fetch i8, packet 40, loops [80 : 1] : 8; hw.collect flits 2; hw.store_vrf at 0");
    let bytes: Vec<u8> = (1..=80).collect();
    let stream = flow(&Machine::rngd(), &exec, &data(&bytes), 2, None);
    let mut expected = vec![0; 128];
    expected[..40].copy_from_slice(&bytes[..40]);
    expected[64..104].copy_from_slice(&bytes[40..]);
    assert_eq!(stream.bytes, expected);
    assert_eq!(stream.packet, 32);
}

/// Packets of 8 equal bytes; those of slice n are `first[n]`.
fn routed(switch: &str, slices: &[&[u8]], slice: usize) -> Option<Vec<u8>> {
    let packets = slices.iter().map(|slice| slice.len()).max().unwrap_or(0);
    let stages = format!(
        "hw.fetch i8, packet 8, loops [{} : 1] : 8; {switch}; hw.collect flits 1; hw.store_vrf at 0",
        packets * 8
    );
    let exec = exec(&stages);
    let inputs: Vec<_> = slices
        .iter()
        .map(|packets| Stream {
            packet: 8,
            bytes: packets.iter().flat_map(|&packet| [packet; 8]).collect(),
            ..Stream::empty(DType::I8)
        })
        .collect();
    assert!(exec.stages[1].as_exchange().is_some());
    let stream = exec.stages[1].as_exchange().unwrap().exchange(cx(&Machine::rngd()), &inputs, slice)?;
    Some(stream.bytes.chunks(8).map(|packet| packet[0]).collect())
}

/// Book 13's table of two slices, whose output time is `[B / 2, B % 2, A % 2]`.
#[test]
fn switch_of_two_slices() {
    for slice in 0..2 {
        let out = routed("hw.switch broadcast01, slice1 1, slice0 2, time0 1", &[&[0, 1], &[2, 3]], slice);
        assert_eq!(out.as_deref(), Some(&[0, 2, 1, 3][..]));
        let out = routed("hw.switch broadcast01, slice1 2, slice0 1, time0 2", &[&[0, 1], &[2, 3]], slice);
        assert_eq!(out.as_deref(), Some(&[0, 1, 2, 3][..]));
    }
}

/// `[t1, s1, t0, s0]` of a 2 x 2 ring with two packets each in two halves; packet `10 * slice + time`.
#[test]
fn switch_of_a_square_ring() {
    let slices: [&[u8]; 8] = [
        &[0, 1, 2, 3],
        &[10, 11, 12, 13],
        &[20, 21, 22, 23],
        &[30, 31, 32, 33],
        &[40, 41, 42, 43],
        &[50, 51, 52, 53],
        &[60, 61, 62, 63],
        &[70, 71, 72, 73],
    ];
    let switch = "hw.switch broadcast01, slice1 2, slice0 2, time0 2";
    let first = [0, 10, 1, 11, 20, 30, 21, 31, 2, 12, 3, 13, 22, 32, 23, 33];
    assert_eq!(routed(switch, &slices, 3).as_deref(), Some(&first[..]));
    let second: Vec<u8> = first.iter().map(|packet| packet + 40).collect();
    assert_eq!(routed(switch, &slices, 4), Some(second));
}

#[test]
fn switch_gives_what_nothing_wrote_for_an_inactive_slice() {
    let switch = "hw.switch broadcast01, slice1 1, slice0 2, time0 1";
    assert_eq!(routed(switch, &[&[7, 8], &[]], 0).as_deref(), Some(&[7, 0x77, 8, 0x77][..]));
    assert_eq!(routed(switch, &[&[], &[7, 8]], 1).as_deref(), Some(&[0x77, 7, 0x77, 8][..]));
    // A ring that is outside the inputs.
    assert_eq!(routed(switch, &[&[7, 8], &[1, 2]], 2), None);
}

#[test]
fn register_files_are_filled() {
    let machine = Machine::rngd();
    let bytes: Vec<u8> = (1..=128).collect();
    let mut memory = data(&bytes);
    let fetch = "hw.fetch i8, packet 32, loops [128 : 1] : 8; hw.collect flits 1";
    run(&machine, &exec(&format!("{fetch}; hw.store_trf second, rows 2, row_bytes 64")), &mut memory, None);
    assert_eq!(memory.trf.bytes()[4096..4160], bytes[..64]);
    assert_eq!(memory.trf.bytes()[8192 + 4096..], bytes[64..]);
    run(&machine, &exec(&format!("{fetch}; hw.store_vrf at 40")), &mut memory, None);
    assert_eq!(memory.vrf.bytes()[40..], bytes[..]);
}

/// A stream of i32 packets after a contraction of `rows` rows.
fn sums(packet: usize, rows: usize, values: impl IntoIterator<Item = i32>) -> Stream {
    let operand = Operand { addresses: Vec::new().into(), repeat: 1, read: 32, rows, data: 32, terms: 1 };
    Stream { packet, bytes: i32_bytes(values), operand: Some(operand), ..Stream::empty(DType::I32) }
}

/// A whole run around an accumulator: `flits` flits of i8, trees of `depth` levels.
fn accumulator(flits: u64, rows: u64, depth: u64, accumulate: &str, kept: u64) -> visa_hw::program::Exec {
    exec(&format!(
        "hw.fetch i8, packet 32, loops [{} : 1] : 32; hw.collect flits 1; hw.align full, flits 1, rows {rows}, \
         data 32, loops [{flits} : 0, 32 : 1] : 32; hw.contract i8, depth {depth}; hw.accumulate {accumulate}; \
         hw.commit bytes 32, loops [{} : 1] : 32 @ 65536",
        flits * 32,
        kept * 32
    ))
}

/// Book 19's table: 16 packets, A % 8 kept in 8 slots, B / 4 reduced.
#[test]
fn accumulate_adds_into_slots() {
    let accumulate = "interleaved, rows 1, columns 1, slots [2 : 0, 8 : 1] : 1";
    let exec = accumulator(16, 1, 6, accumulate, 8);
    let out = exec.stages[4].as_map().unwrap().run(
        cx(&Machine::rngd()),
        &SliceMemory::default(),
        sums(4, 1, 100..116),
    );
    // Packets n and n + 8: 100 + n + 108 + n.
    let expected: Vec<i32> = (0..8).flat_map(|n| [208 + 2 * n, 0, 0, 0, 0, 0, 0, 0]).collect();
    assert_eq!(i32s(&out.bytes), expected);
    assert_eq!((out.packet, out.operand), (32, None));
}

/// Two rows of two columns, two slots, nothing reduced: values `100 * slot + 10 * row + column`.
#[test]
fn accumulate_in_both_output_orders() {
    let values = [0, 1, 10, 11, 100, 101, 110, 111];
    let interleaved = accumulator(2, 2, 5, "interleaved, rows 2, columns 2, slots [2 : 1] : 1", 4);
    let out = interleaved.stages[4].as_map().unwrap().run(
        cx(&Machine::rngd()),
        &SliceMemory::default(),
        sums(16, 2, values),
    );
    let expected = [[0, 10], [1, 11], [100, 110], [101, 111]];
    let lanes = |packet: [i32; 2]| [packet[0], packet[1], 0, 0, 0, 0, 0, 0];
    assert_eq!(i32s(&out.bytes), expected.map(lanes).concat());

    let sequential = accumulator(2, 2, 5, "sequential, rows 2, columns 2, slots [2 : 1] : 1", 4);
    let out = sequential.stages[4].as_map().unwrap().run(
        cx(&Machine::rngd()),
        &SliceMemory::default(),
        sums(16, 2, values),
    );
    let expected = [[0, 1], [10, 11], [100, 101], [110, 111]];
    assert_eq!(i32s(&out.bytes), expected.map(lanes).concat());
}

/// One of two columns is kept, and the slots come out in another order than they go in.
#[test]
fn accumulate_slices_columns_and_permutes_slots() {
    let exec = accumulator(4, 1, 5, "interleaved, rows 1, columns 1, slots [2 : 1, 2 : 2] : 1", 4);
    let out = exec.stages[4].as_map().unwrap().run(
        cx(&Machine::rngd()),
        &SliceMemory::default(),
        sums(8, 1, [1, -1, 2, -2, 3, -3, 4, -4]),
    );
    // Packets go to slots 0, 2, 1, 3.
    let firsts: Vec<i32> = i32s(&out.bytes).chunks(8).map(|packet| packet[0]).collect();
    assert_eq!(firsts, [1, 3, 2, 4]);
}

/// Two columns of eight rows, `10 * row + column`: a packet for each column.
#[test]
fn accumulate_of_all_rows_gives_packets_of_columns() {
    let exec = accumulator(1, 8, 5, "interleaved, rows 8, columns 2, slots [1 : 1] : 1", 2);
    let values = (0..8).flat_map(|row| [10 * row, 10 * row + 1]);
    let out = exec.stages[4].as_map().unwrap().run(
        cx(&Machine::rngd()),
        &SliceMemory::default(),
        sums(64, 8, values),
    );
    assert_eq!(i32s(&out.bytes), [0, 10, 20, 30, 40, 50, 60, 70, 1, 11, 21, 31, 41, 51, 61, 71]);
}

/// Packets of eight values that are no eight sums: four of eight columns are kept, or two values each are four sums.
#[test]
fn accumulate_of_eight_values_that_are_four_sums() {
    let exec = accumulator(2, 1, 3, "sequential, rows 1, columns 4, slots [2 : 1] : 1", 2);
    let values = || (1..9).chain(11..19);
    let out = exec.stages[4].as_map().unwrap().run(
        cx(&Machine::rngd()),
        &SliceMemory::default(),
        sums(32, 1, values()),
    );
    assert_eq!(i32s(&out.bytes), [1, 2, 3, 4, 0, 0, 0, 0, 11, 12, 13, 14, 0, 0, 0, 0]);
    let mut pairs = sums(32, 1, values());
    pairs.operand = pairs.operand.map(|operand| Operand { terms: 2, ..operand });
    let out = exec.stages[4].as_map().unwrap().run(cx(&Machine::rngd()), &SliceMemory::default(), pairs);
    assert_eq!(i32s(&out.bytes), [3, 7, 11, 15, 0, 0, 0, 0, 23, 27, 31, 35, 0, 0, 0, 0]);
}

/// Columns that are no multiple of 8 take a padded packet more.
#[test]
fn accumulate_sequential_cuts_columns_into_packets() {
    let exec = accumulator(1, 1, 2, "sequential, rows 1, columns 9, slots [1 : 1] : 1", 2);
    let out = exec.stages[4].as_map().unwrap().run(
        cx(&Machine::rngd()),
        &SliceMemory::default(),
        sums(64, 1, 1..17),
    );
    assert_eq!(i32s(&out.bytes), [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn vector_with_a_constant_and_with_the_register_file() {
    let machine = Machine::rngd();
    let fetch = "hw.fetch i32, packet 32, loops [64 : 1] : 32; hw.collect flits 1";
    let commit = "hw.commit bytes 32, loops [64 : 1] : 32 @ 1024";
    let values: Vec<i32> = (0..16).map(|n| n * 1000 - 5).collect();
    let mut memory = data(&i32_bytes(values.clone()));
    run(&machine, &exec(&format!("{fetch}; hw.vector AddFxp, constant -7; {commit}")), &mut memory, None);
    let expected: Vec<i32> = values.iter().map(|value| value - 7).collect();
    assert_eq!(i32s(&memory.dm.bytes()[1024..]), expected);

    let operands: Vec<i32> = (1..=24).collect();
    memory.vrf.write(0, &i32_bytes(operands));
    // The second packet first: elements 9..17 of the file, then 17..25.
    let vector = "hw.vector MulInt, vrf [2 : 32, 32 : 1] : 32 @ 32";
    run(&machine, &exec(&format!("{fetch}; {vector}; {commit}")), &mut memory, None);
    let expected: Vec<i32> = values.iter().zip(9..25).map(|(value, operand)| value * operand).collect();
    assert_eq!(i32s(&memory.dm.bytes()[1024..]), expected);
}

#[test]
fn cast_narrows_and_fills_up() {
    let machine = Machine::rngd();
    let fetch = "hw.fetch i32, packet 32, loops [32 : 1] : 32; hw.collect flits 1";
    let values = [1, -1, 127, 128, 255, 256, -129, 65536];
    let exec_i8 = exec(&format!("{fetch}; hw.cast i8; hw.commit bytes 8, loops [8 : 1] : 8"));
    let stream = flow(&machine, &exec_i8, &data(&i32_bytes(values)), 3, None);
    let mut expected = [0; 32];
    expected[..8].copy_from_slice(&[1, 0xff, 127, 0x80, 0xff, 0, 127, 0]);
    assert_eq!(stream.bytes, expected);
    assert_eq!((stream.dtype, stream.packet), (DType::I8, 32));

    let floats: Vec<u8> =
        [1.0_f32, -2.0, 0.5, 0.0, 4.0, 8.0, 16.0, -1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let fetch = fetch.replace("i32", "f32");
    let exec_bf16 = exec(&format!("{fetch}; hw.cast bf16; hw.commit bytes 16, loops [16 : 1] : 16"));
    let stream = flow(&machine, &exec_bf16, &data(&floats), 3, None);
    let halves = [0x3f80_u16, 0xc000, 0x3f00, 0, 0x4080, 0x4100, 0x4180, 0xbf80];
    let expected: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    assert_eq!(stream.bytes[..16], expected);
    assert_eq!(stream.bytes[16..], [0; 16]);
}

/// Book 09's chunking: a packet of 32 is written in four pieces of 8, at 0, 16, 32 and 48.
#[test]
fn commit_cuts_into_chunks() {
    let machine = Machine::rngd();
    let bytes: Vec<u8> = (1..=64).collect();
    let mut memory = data(&bytes);
    let commit = "hw.commit bytes 32, loops [2 : 64, 4 : 16, 8 : 1] : 8 @ 128";
    run(
        &machine,
        &exec(&format!("hw.fetch i8, packet 32, loops [64 : 1] : 32; hw.collect flits 1; {commit}")),
        &mut memory,
        None,
    );
    // Between the chunks nothing was written.
    let mut expected = [0x77, 0x77, 0x77, 0x77, 0xf5, 0xf5, 0xf5, 0xf5].repeat(15);
    for (chunk, piece) in bytes.chunks(8).enumerate() {
        expected[chunk * 16..chunk * 16 + 8].copy_from_slice(piece);
    }
    assert_eq!(memory.dm.bytes()[128..], expected);
}

/// Starts 0, 8 and 16, one after another, counted through the 512 slices of a chip and on through the next: the first
/// two of chip 1 are numbers 512 and 513, or 2 and 0 of three.
#[test]
fn slices_start_where_the_list_says() {
    let stages = exec(
        "hw.fetch i8, packet 8, loops [8 : 1] : 8, starts [3 : 8] : 1; hw.collect flits 1; hw.store_vrf at 0",
    )
    .stages;
    let (machine, memory) = (Machine::rngd(), data(&(0..24).collect::<Vec<u8>>()));
    for (chip, slice, first) in [(0, 0, 0), (0, 1, 8), (0, 2, 16), (0, 3, 0), (1, 0, 16), (1, 1, 0)] {
        let cx = RunCx { machine: &machine, shadow: None, op: 0, chip, slice, moved: 0 };
        let out = stages[0].as_map().unwrap().run(cx, &memory, Stream::empty(DType::I8));
        assert_eq!(out.bytes, (first..first + 8).collect::<Vec<u8>>(), "slice {slice} of chip {chip}");
    }
}

/// Only the first 8 bytes of each packet are kept.
#[test]
fn commit_truncates() {
    let machine = Machine::rngd();
    let bytes: Vec<u8> = (1..=96).collect();
    let mut memory = data(&bytes);
    let stages = "hw.fetch i8, packet 32, loops [96 : 1] : 32; hw.collect flits 1; hw.commit bytes 8, loops [3 : \
                  8, 8 : 1] : 8 @ 256";
    run(&machine, &exec(stages), &mut memory, None);
    let expected = [&bytes[..8], &bytes[32..40], &bytes[64..72]].concat();
    assert_eq!(memory.dm.bytes()[256..], expected);
}
