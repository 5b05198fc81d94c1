//! Align, contract and accumulate against a plain loop over scalars.

use crate::{bf16_bytes, data, exec, exec_on, f32s, flow, i32s};
use visa_engine::SliceMemory;
use visa_machine::Machine;
use visa_numerics::SumOrder;

/// Numbers that look random: a linear congruence.
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 16
    }

    /// Integers from -8 to 7, whose products and sums are exact in f32.
    fn small(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| (self.next() % 16) as f32 - 8.0).collect()
    }
}

/// Puts each row's elements at `start` of its row of the register file.
fn fill(memory: &mut SliceMemory, start: usize, rows: &[Vec<u8>]) {
    for (row, bytes) in rows.iter().enumerate() {
        memory.trf.write(row * 8192 + start, bytes);
    }
}

/// 4 packets of 32 bf16 against 8 rows, each packet given twice, with separate addresses.
#[test]
fn eight_rows_of_bf16() {
    let mut numbers = Numbers(1);
    let values = numbers.small(4 * 32);
    let weights: Vec<_> = (0..8).map(|_| numbers.small(3 * 32)).collect();
    let mut memory = data(&bf16_bytes(values.clone()));
    fill(&mut memory, 4096, &weights.iter().map(|row| bf16_bytes(row.clone())).collect::<Vec<_>>());
    let exec = exec(
        "hw.fetch bf16, packet 64, loops [256 : 1] : 32; hw.collect flits 2; hw.align second, flits 2, repeat 2, \
         rows 8, data 64, loops [4 : 0, 2 : 128, 64 : 1] : 64; hw.contract bf16, depth 5; hw.accumulate \
         interleaved, rows 8, columns 1, slots [8 : 1] : 1; hw.commit bytes 32, loops [256 : 1] : 32 @ 4096",
    );
    let stream = flow(&Machine::rngd(), &exec, &memory, 4, None);
    let mut expected = Vec::new();
    for access in 0..8 {
        let (packet, table) = (access / 2, access % 2 * 2);
        for row in &weights {
            let sum: f32 = (0..32).map(|k| values[packet * 32 + k] * row[table * 32 + k]).sum();
            expected.push(sum);
        }
    }
    assert_eq!(f32s(&stream.bytes), expected);
    assert_eq!(stream.packet, 32);
}

/// Depth 2 leaves 8 sums a row, in groups of 4 neighbours; a read of 16 bytes is repeated 4 times.
#[test]
fn groups_and_repeated_reads() {
    let mut numbers = Numbers(2);
    let values = numbers.small(32);
    let weights: Vec<_> = (0..2).map(|_| numbers.small(8)).collect();
    let mut memory = data(&bf16_bytes(values.clone()));
    fill(&mut memory, 0, &weights.iter().map(|row| bf16_bytes(row.clone())).collect::<Vec<_>>());
    let exec = exec(
        "hw.fetch bf16, packet 64, loops [64 : 1] : 32; hw.collect flits 2; hw.align full, flits 2, rows 2, data \
         64, loops [16 : 1] : 16; hw.contract bf16, depth 2; hw.accumulate sequential, rows 2, columns 8, slots \
         [1 : 1] : 1; hw.commit bytes 32, loops [64 : 1] : 32",
    );
    let stream = flow(&Machine::rngd(), &exec, &memory, 4, None);
    let mut expected = Vec::new();
    for row in &weights {
        for group in 0..8 {
            let sum: f32 = (group * 4..group * 4 + 4).map(|k| values[k] * row[k % 8]).sum();
            expected.push(sum);
        }
    }
    assert_eq!(f32s(&stream.bytes), expected);
}

/// Without a tree 32 of the 64 elements of an i8 packet become sums, each a product.
#[test]
fn products_alone_are_the_first_columns() {
    let mut memory = data(&(0..64).collect::<Vec<u8>>());
    fill(&mut memory, 0, &[vec![2; 64], vec![3; 64]]);
    let exec = exec(
        "hw.fetch i8, packet 32, loops [64 : 1] : 32; hw.collect flits 1; hw.align full, flits 2, rows 2, data \
         64, loops [64 : 1] : 64; hw.contract i8, depth 0; hw.accumulate sequential, rows 2, columns 32, slots [1 \
         : 1] : 1; hw.commit bytes 32, loops [256 : 1] : 32 @ 4096",
    );
    let stream = flow(&Machine::rngd(), &exec, &memory, 4, None);
    let expected: Vec<i32> = (0..32).map(|k| 2 * k).chain((0..32).map(|k| 3 * k)).collect();
    assert_eq!(i32s(&stream.bytes), expected);
}

/// The whole run in i8: two reduced time steps of 32 bytes each, 4 rows.
#[test]
fn i8_reduced_over_time() {
    let mut numbers = Numbers(3);
    let mut byte = || numbers.next() as u8;
    let values: Vec<u8> = (0..64).map(|_| byte()).collect();
    let weights: Vec<Vec<u8>> = (0..4).map(|_| (0..64).map(|_| byte()).collect()).collect();
    let mut memory = data(&values);
    fill(&mut memory, 0, &weights);
    let exec = exec(
        "hw.fetch i8, packet 32, loops [64 : 1] : 32; hw.collect flits 1; hw.align full, flits 1, rows 4, data \
         32, loops [2 : 32, 32 : 1] : 32; hw.contract i8, depth 6; hw.accumulate interleaved, rows 4, columns 1, \
         slots [2 : 0] : 1; hw.commit bytes 32, loops [32 : 1] : 32",
    );
    let stream = flow(&Machine::rngd(), &exec, &memory, 5, None);
    let signed = |byte: u8| i32::from(byte.cast_signed());
    let dot = |row: &Vec<u8>| (0..64).map(|k| signed(values[k]) * signed(row[k])).sum();
    let mut expected: Vec<i32> = weights.iter().map(dot).collect();
    expected.resize(8, 0);
    assert_eq!(i32s(&stream.bytes), expected);
}

/// Half a packet is data; after it the register file holds NaN and infinity, and the flit itself holds infinity.
#[test]
fn elements_after_the_data_count_nothing() {
    let mut values = vec![1.0; 16];
    values[12..].fill(f32::INFINITY);
    let mut weights = vec![2.0; 12];
    weights.resize(32, f32::NAN);
    let mut memory = data(&bf16_bytes(values));
    fill(&mut memory, 0, &[bf16_bytes(weights)]);
    let align = |data: u64| {
        format!(
            "hw.fetch bf16, packet 32, loops [32 : 1] : 32; hw.collect flits 1; hw.align full, flits 1, rows 1, \
             data {data}, loops [64 : 1] : 64; hw.contract bf16, depth 5; hw.accumulate interleaved, rows 1, \
             columns 1, slots [1 : 1] : 1; hw.commit bytes 8, loops [8 : 1] : 8"
        )
    };
    let machine = Machine::rngd();
    assert_eq!(f32s(&flow(&machine, &exec(&align(24)), &memory, 4, None).bytes), [24.0]);
    // The products of a sequential sum, before anything is added.
    let sequential = Machine { sum_order: SumOrder::Sequential, ..Machine::rngd() };
    let products = f32s(&flow(&sequential, &exec_on(&sequential, &align(24)), &memory, 4, None).bytes);
    assert_eq!(products, [[2.0; 12].as_slice(), &[0.0; 20]].concat());
    // One element more, and the infinity counts.
    assert!(f32s(&flow(&machine, &exec(&align(26)), &memory, 4, None).bytes)[0].is_nan());
}

/// 2^24 swallows a 1 that comes alone, but not two that were added before. Tree: (2^24 + 1) + (1 + 1), then + (1 +
/// 1) of the second packet; on the wire every 1 comes alone.
#[test]
fn the_machine_chooses_the_order_of_sums() {
    let mut values = vec![0.0; 64];
    values[0] = 16_777_216.0;
    values[1] = 1.0;
    values[2..4].fill(1.0);
    values[32..34].fill(1.0);
    let mut memory = data(&bf16_bytes(values));
    fill(&mut memory, 0, &[bf16_bytes(vec![1.0; 32])]);
    let stages = "hw.fetch bf16, packet 64, loops [128 : 1] : 32; hw.collect flits 2; hw.align full, flits 2, \
                  rows 1, data 64, loops [2 : 0, 64 : 1] : 64; hw.contract bf16, depth 5; hw.accumulate \
                  interleaved, rows 1, columns 1, slots [2 : 0] : 1; hw.commit bytes 32, loops [32 : 1] : 32";
    for (order, sum) in [(SumOrder::Tree, 16_777_220.0), (SumOrder::Sequential, 16_777_216.0)] {
        let machine = Machine { sum_order: order, ..Machine::rngd() };
        let stream = flow(&machine, &exec_on(&machine, stages), &memory, 5, None);
        assert_eq!(f32s(&stream.bytes), [sum, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "{order}");
    }
}

/// Rows, groups and slots keep their places in sequential order too: exact numbers give the tree's values.
#[test]
fn both_orders_agree_on_exact_numbers() {
    let mut numbers = Numbers(4);
    let mut memory = data(&bf16_bytes(numbers.small(4 * 32)));
    let rows: Vec<_> = (0..2).map(|_| bf16_bytes(numbers.small(64))).collect();
    fill(&mut memory, 0, &rows);
    for accumulate in ["interleaved, rows 2, columns 3", "sequential, rows 2, columns 8"] {
        let stages = |packets: u64| {
            format!(
                "hw.fetch bf16, packet 64, loops [256 : 1] : 32; hw.collect flits 2; hw.align full, flits 2, rows \
                 2, data 64, loops [2 : 64, 2 : 0, 64 : 1] : 64; hw.contract bf16, depth 2; hw.accumulate \
                 {accumulate}, slots [2 : 0, 2 : 1] : 1; hw.commit bytes 32, loops [{} : 1] : 32 @ 1024",
                packets * 32
            )
        };
        let packets = if accumulate.starts_with('i') { 6 } else { 4 };
        let outputs = [SumOrder::Tree, SumOrder::Sequential].map(|order| {
            let machine = Machine { sum_order: order, ..Machine::rngd() };
            f32s(&flow(&machine, &exec_on(&machine, &stages(packets)), &memory, 5, None).bytes)
        });
        assert_eq!(outputs[0], outputs[1]);
        assert!(outputs[0].iter().any(|&value| value != 0.0));
    }
}
