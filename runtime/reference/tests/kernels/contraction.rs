//! Contractions, bit for bit.

use super::support::{
    Random, bytes_i8, bytes_i32, bytes_u16, narrow, refused, run, run_unverified, total, wide,
};
use visa_numerics::DType;
use visa_numerics::SumOrder::{self, Sequential, Tree};

const ORDERS: [SumOrder; 2] = [Tree, Sequential];

/// A dot product of `length` bf16 in one slice, in f32: the fetch and collect steps of the stream and the weights, the
/// alignment of the stream, and the content of a slice and the register file.
fn dot(length: usize, stream: &str, weights: &str, aligned: &str, element: &str) -> String {
    format!(
        "tm.axes [A = {length}]
tm.func @dot(%lhs: !tm.hbm<bf16, [1], [A]>, %rhs: !tm.hbm<bf16, [1], [A]>) at [0, 0x10000000], chips 1 {{
  %l = tm.to_dm %lhs at 0, cluster [1 # 2], slice [1 # 256], element {element}
  %r = tm.to_dm %rhs at 8192, cluster [1 # 2], slice [1 # 256], element {element}
  %r0 = stream.begin sub %r
  %r1 = stream.fetch %r0 {weights}
  %r2 = stream.collect %r1 {weights}
  %w = stream.to_trf %r2 at full, row [1], element {element}
  %l0 = stream.begin main %l
  %l1 = stream.fetch %l0 {stream}
  %l2 = stream.collect %l1 {stream}
  %l3 = stream.align %l2, %w {aligned}
  %l4 = stream.contract %l3 packet [1]
  %l5 = stream.accumulate interleaved %l4 time [1], packet [1 # 8]
  %y = stream.commit %l5 at 16384, element [1 # 8]
  %out = tm.to_hbm %y at 0x20000000, element [1]
  tm.return %out
}}"
    )
}

fn products(lhs: &[u16], rhs: &[u16]) -> Vec<f32> {
    lhs.iter().zip(rhs).map(|(&x, &y)| wide(x) * wide(y)).collect()
}

const FLITS: &str = "time [A / 16], packet [A % 16]";

fn run_dot(text: &str, order: SumOrder, lhs: &[u16], rhs: &[u16]) -> u32 {
    let results = run(text, order, [("lhs", bytes_u16(lhs)), ("rhs", bytes_u16(rhs))]);
    assert_eq!((results[0].dtype, &*results[0].shape), (DType::F32, &[][..]));
    u32::from_le_bytes(results[0].bytes[..].try_into().unwrap())
}

#[test]
fn dot_in_both_orders() {
    let text = dot(128, FLITS, FLITS, "time [A / 32], packet [A % 32]", "[A]");
    let mut differ = 0;
    for seed in 0..10 {
        let (lhs, rhs) = (Random::new(seed).bf16s(128), Random::new(seed + 100).bf16s(128));
        let expected = ORDERS.map(|order| total(&products(&lhs, &rhs), 32, order).to_bits());
        for (order, expected) in ORDERS.into_iter().zip(expected) {
            assert_eq!(run_dot(&text, order, &lhs, &rhs), expected, "{order}, seed {seed}");
        }
        differ += usize::from(expected[0] != expected[1]);
    }
    assert!(differ > 5, "the data tells the orders apart");
}

/// One flit a packet: its 16 products are a separate tree.
#[test]
fn half_a_packet() {
    let text = dot(64, FLITS, FLITS, "time [A / 16], packet [A % 16 # 32]", "[A]");
    for order in ORDERS {
        let (lhs, rhs) = (Random::new(31).bf16s(64), Random::new(32).bf16s(64));
        let expected = total(&products(&lhs, &rhs), 16, order).to_bits();
        assert_eq!(run_dot(&text, order, &lhs, &rhs), expected, "{order}");
    }
}

/// Padding within a group is a product of +0.0, with any content.
#[test]
fn padding_is_positive_zero() {
    let flits = "time [A # 32 / 16], packet [A # 32 % 16]";
    let text = dot(24, flits, flits, "time [1], packet [A # 32]", "[A # 32]");
    let full = dot(32, FLITS, FLITS, "time [1], packet [A]", "[A]");
    for order in ORDERS {
        let (lhs, rhs) = (Random::new(33).bf16s(24), Random::new(34).bf16s(24));
        let mut expected = products(&lhs, &rhs);
        expected.resize(32, 0.0);
        assert_eq!(run_dot(&text, order, &lhs, &rhs), total(&expected, 32, order).to_bits(), "{order}");
        // Products of -0.0 alone stay -0.0; with padding among them the sum is +0.0.
        assert_eq!(run_dot(&text, order, &[0x8000; 24], &[0x3f80; 24]), 0, "{order}");
        assert_eq!(run_dot(&full, order, &[0x8000; 32], &[0x3f80; 32]), 0x8000_0000, "{order}");
    }
}

/// The axis ends in the middle of the third packet: the rest is padding too.
#[test]
fn the_axis_ends_within_a_packet() {
    let flits = "time [A # 96 / 16], packet [A # 96 % 16]";
    let text = dot(72, flits, flits, "time [A # 96 / 32], packet [A # 96 % 32]", "[A # 96]");
    for order in ORDERS {
        let (lhs, rhs) = (Random::new(35).bf16s(72), Random::new(36).bf16s(72));
        let mut expected = products(&lhs, &rhs);
        expected.resize(96, 0.0);
        assert_eq!(run_dot(&text, order, &lhs, &rhs), total(&expected, 32, order).to_bits(), "{order}");
    }
}

/// Packets are summed in the order of time, regardless of the order of their coordinates.
#[test]
fn time_decides_the_order_of_packets() {
    // Time runs over the packets 0, 2, 1, 3.
    let stream = "time [A / 32 % 2, A / 64, A / 16 % 2], packet [A % 16]";
    let text = dot(128, stream, FLITS, "time [A / 32 % 2, A / 64], packet [A % 32]", "[A]");
    let mut differ = 0;
    for seed in 0..10 {
        let (lhs, rhs) = (Random::new(seed).bf16s(128), Random::new(seed + 100).bf16s(128));
        let products = products(&lhs, &rhs);
        let packets: Vec<&[f32]> = products.chunks(32).collect();
        let reordered = [packets[0], packets[2], packets[1], packets[3]].concat();
        for order in ORDERS {
            let expected = total(&reordered, 32, order);
            assert_eq!(run_dot(&text, order, &lhs, &rhs), expected.to_bits(), "{order}");
            differ += usize::from(expected != total(&products, 32, order));
        }
    }
    assert!(differ > 5, "the data tells the orders apart");
}

/// An axis that neither operand depends on is a broadcast: summed, each packet counts as often as time repeats it;
/// kept, it is in the result as often.
#[test]
fn broadcasts_are_summed_or_kept() {
    let (lhs, rhs) = (Random::new(37).bf16s(64), Random::new(38).bf16s(64));
    let once = products(&lhs, &rhs);
    let twice = [&once[..], &once[..]].concat();
    // Repeated from without, and each packet repeated from within.
    let within = [&once[..32], &once[..32], &once[32..], &once[32..]].concat();
    for order in ORDERS {
        let sums = [&once, &twice, &within].map(|products| total(products, 32, order).to_bits());
        for (time, kept, expected) in [
            ("2, A / 16", "1", sums[1]),
            ("N, A / 16", "1", sums[1]),
            ("A / 32, 2, A / 16 % 2", "1", sums[2]),
            ("2, A / 16", "2", sums[0]),
            ("A / 32, 2, A / 16 % 2", "2", sums[0]),
        ] {
            let flits = format!("time [{time}], packet [A % 16]");
            let packets = format!(
                "time [{}], packet [A % 32]",
                time.replace("A / 16 % 2", "1").replace("A / 16", "A / 32")
            );
            let text = dot(64, &flits, FLITS, &packets, "[A]");
            let text = text
                .replace("%l4 time [1]", &format!("%l4 time [{kept}]"))
                .replace("tm.axes [", "tm.axes [N = 2, ");
            let given = [("lhs", bytes_u16(&lhs)), ("rhs", bytes_u16(&rhs))];
            // A commit writes no element twice, so the kept literal is evaluated but does not verify.
            let results =
                if kept == "1" { run(&text, order, given) } else { run_unverified(&text, order, given) };
            assert_eq!(results[0].bytes, expected.to_le_bytes(), "{order}: {time}, kept {kept}");
        }
        let flits = "time [N, A / 16], packet [A % 16]";
        let text = dot(64, flits, FLITS, "time [N, A / 32], packet [A % 32]", "[A]");
        let text = text.replace("%l4 time [1]", "%l4 time [N]").replace("tm.axes [", "tm.axes [N = 2, ");
        let text = text
            .replace("element [1 # 8]", "element [N, 1 # 8]")
            .replace("0x20000000, element [1]", "0x20000000, element [N]");
        let results = run(&text, order, [("lhs", bytes_u16(&lhs)), ("rhs", bytes_u16(&rhs))]);
        assert_eq!(results[0].shape, [2]);
        assert_eq!(results[0].bytes, [sums[0].to_le_bytes(), sums[0].to_le_bytes()].concat(), "{order}");
    }
}

const GEMV: &str = "tm.axes [I = 256, J = 96]
tm.func @gemv(%matrix: !tm.hbm<bf16, [1], [I, J]>, %vector: !tm.hbm<bf16, [1], [J]>) at [0, 0x10000000], chips 1 {
  %m = tm.to_dm %matrix at 0, cluster [1 # 2], slice [I], element [J]
  %v = tm.to_dm %vector at 4096, cluster [1 # 2], slice [I], element [J]
  %v0 = stream.begin sub %v
  %v1 = stream.fetch %v0 time [1], packet [J]
  %v2 = stream.collect %v1 time [J / 16], packet [J % 16]
  %w = stream.to_trf %v2 at full, row [1], element [J]
  %m0 = stream.begin main %m
  %m1 = stream.fetch %m0 time [J / 32], packet [J % 32]
  %m2 = stream.collect %m1 time [J / 16], packet [J % 16]
  %m3 = stream.align %m2, %w time [J / 32], packet [J % 32]
  %m4 = stream.contract %m3 packet [1]
  %m5 = stream.accumulate interleaved %m4 time [1], packet [1 # 8]
  %m6 = stream.cast bf16 %m5 packet [1 # 16]
  %y = stream.commit %m6 at 8192, element [1 # 4]
  %out = tm.to_hbm %y at 0x20000000, element [I]
  tm.return %out
}";

#[test]
fn gemv() {
    let (matrix, vector) = (Random::new(51).bf16s(256 * 96), Random::new(52).bf16s(96));
    for order in ORDERS {
        let results = run(GEMV, order, [("matrix", bytes_u16(&matrix)), ("vector", bytes_u16(&vector))]);
        let rows = matrix.chunks(96).map(|row| narrow(total(&products(row, &vector), 32, order)));
        assert_eq!(results[0].shape, [256]);
        assert_eq!(results[0].bytes, bytes_u16(&rows.collect::<Vec<_>>()), "{order}");
        assert_eq!(results[0].defined, None);
    }
}

/// b has K outermost; the array of the result is [I, J] though slices, time and rows hold its parts.
#[test]
fn gemm_in_tiles() {
    let (i, j, k) = (32, 128, 64);
    let text = "tm.axes [I = 32, J = 128, K = 64]
tm.func @gemm(%a: !tm.hbm<bf16, [1], [I, K]>, %b: !tm.hbm<bf16, [1], [K, J]>) at [0, 0x10000000], chips 1 {
  %ad = tm.to_dm %a at 0, cluster [1 # 2], slice [I / 2, J / 16 # 16], element [I % 2, K]
  %bd = tm.to_dm %b at 65536, cluster [1 # 2], slice [I / 2, J / 16 # 16], element [K, J % 16]
  %b0 = stream.begin main %bd
  %b1 = stream.fetch %b0 time [J % 8, J / 8 % 2], packet [K]
  %b2 = stream.collect %b1 time [J % 8, J / 8 % 2, K / 16], packet [K % 16]
  %w = stream.to_trf %b2 at full, row [J % 8], element [J / 8 % 2, K]
  %a0 = stream.begin main %ad
  %a1 = stream.fetch %a0 time [I % 2, J / 8 % 2], packet [K]
  %a2 = stream.collect %a1 time [I % 2, J / 8 % 2, K / 16], packet [K % 16]
  %a3 = stream.align %a2, %w time [I % 2, J / 8 % 2, K / 32], packet [K % 32]
  %a4 = stream.contract %a3 packet [1]
  %a5 = stream.accumulate interleaved %a4 time [I % 2, J / 8 % 2], packet [J % 8]
  %a6 = stream.cast bf16 %a5 packet [J % 8 # 16]
  %y = stream.commit %a6 at 131072, element [I % 2, J % 16]
  %out = tm.to_hbm %y at 0x20000000, element [I, J]
  tm.return %out
}";
    let (a, b) = (Random::new(61).bf16s(i * k), Random::new(62).bf16s(k * j));
    for order in ORDERS {
        let results = run(text, order, [("a", bytes_u16(&a)), ("b", bytes_u16(&b))]);
        let mut expected = Vec::new();
        for row in a.chunks(k) {
            for column in 0..j {
                let column: Vec<u16> = (0..k).map(|k| b[k * j + column]).collect();
                expected.push(narrow(total(&products(row, &column), 32, order)));
            }
        }
        assert_eq!(results[0].shape, [32, 128]);
        assert_eq!(results[0].bytes, bytes_u16(&expected), "{order}");
    }
}

/// A batch in the packet: groups of 8 within each packet of 64 i8, and sums that wrap nowhere.
#[test]
fn groups_within_a_packet() {
    let text = "tm.axes [I = 256, P = 8, K = 16]
tm.func @k(%x: !tm.hbm<i8, [1], [I, P, K]>, %y: !tm.hbm<i8, [1], [K]>) at [0, 0x10000000], chips 1 {
  %x1 = tm.to_dm %x at 0, cluster [1 # 2], slice [I], element [K / 8, P, K % 8]
  %y1 = tm.to_dm %y at 4096, cluster [1 # 2], slice [I], element [K / 8, P, K % 8]
  %y2 = stream.begin sub %y1
  %y3 = stream.fetch %y2 time [K / 8, P / 4], packet [P % 4, K % 8]
  %y4 = stream.collect %y3 time [K / 8, P / 4], packet [P % 4, K % 8]
  %w = stream.to_trf %y4 at full, row [1], element [K / 8, P, K % 8]
  %x2 = stream.begin main %x1
  %x3 = stream.fetch %x2 time [K / 8, P / 4], packet [P % 4, K % 8]
  %x4 = stream.collect %x3 time [K / 8, P / 4], packet [P % 4, K % 8]
  %x5 = stream.align %x4, %w time [K / 8], packet [P, K % 8]
  %x6 = stream.contract %x5 packet [P]
  %x7 = stream.accumulate sequential %x6 time [1], packet [P]
  %z = stream.commit %x7 at 8192, element [P]
  %out = tm.to_hbm %z at 0x20000000, element [I, P]
  tm.return %out
}";
    let (x, y) = (Random::new(71).i8s(256 * 8 * 16), Random::new(72).i8s(16));
    let sum = |row: &[i8]| row.iter().zip(&y).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum::<i32>();
    let expected: Vec<i32> = x.chunks(16).map(sum).collect();
    for order in ORDERS {
        let results = run(text, order, [("x", bytes_i8(&x)), ("y", bytes_i8(&y))]);
        assert_eq!(results[0].shape, [256, 8]);
        assert_eq!(results[0].bytes, bytes_i32(&expected), "{order}");
    }
}

/// Half of J is kept: the outer part is summed in time while the inner part stays.
#[test]
fn part_of_an_axis_is_kept() {
    let text = "tm.axes [I = 256, J = 4, K = 32]
tm.func @k(%x: !tm.hbm<bf16, [1], [I, J, K]>, %y: !tm.hbm<bf16, [1], [K]>) at [0, 0x10000000], chips 1 {
  %x1 = tm.to_dm %x at 0, cluster [1 # 2], slice [I], element [J, K]
  %y1 = tm.to_dm %y at 4096, cluster [1 # 2], slice [I], element [K]
  %y2 = stream.begin sub %y1
  %y3 = stream.fetch %y2 time [K / 16], packet [K % 16]
  %y4 = stream.collect %y3 time [K / 16], packet [K % 16]
  %w = stream.to_trf %y4 at full, row [1], element [K]
  %x2 = stream.begin main %x1
  %x3 = stream.fetch %x2 time [J, K / 16], packet [K % 16]
  %x4 = stream.collect %x3 time [J, K / 16], packet [K % 16]
  %x5 = stream.align %x4, %w time [J], packet [K]
  %x6 = stream.contract %x5 packet [1]
  %x7 = stream.accumulate interleaved %x6 time [J % 2], packet [1 # 8]
  %z = stream.commit %x7 at 8192, element [J % 2, 1 # 8]
  %out = tm.to_hbm %z at 0x20000000, element [I, J % 2]
  tm.return %out
}";
    let (x, y) = (Random::new(81).bf16s(256 * 4 * 32), Random::new(82).bf16s(32));
    for order in ORDERS {
        let results = run(text, order, [("x", bytes_u16(&x)), ("y", bytes_u16(&y))]);
        let mut expected = Vec::new();
        for row in x.chunks(4 * 32) {
            for j in 0..2 {
                let (low, high) = (&row[j * 32..][..32], &row[(j + 2) * 32..][..32]);
                let both = [products(low, &y), products(high, &y)].concat();
                expected.extend(total(&both, 32, order).to_bits().to_le_bytes());
            }
        }
        assert_eq!(results[0].shape, [256, 2]);
        assert_eq!(results[0].bytes, expected, "{order}");
    }
}

/// Evaluation does not trust the verifier: it refuses operations that it cannot evaluate.
#[test]
fn broken_contractions_are_refused() {
    let given = || [("matrix", vec![0; 256 * 96 * 2]), ("vector", vec![0; 96 * 2])];
    let aligned = "%w time [J / 32], packet [J % 32]";
    let cases = [
        (
            "contract %m3 packet [1]",
            "contract %m3 packet [J / 32 % 3]",
            "axis `J`: the coordinates of a packet's sums",
        ),
        (aligned, "%w time [J / 32], packet [J]", "gives no `[1]`"),
        ("%m4 time [1]", "%m4 time [3]", "part of a broadcast"),
        ("%m4 time [1]", "%m4 time [J % 5]", "5 does not divide 96"),
        (aligned, "%w time [6, J / 32], packet [J % 32]", "part of a broadcast"),
        ("row [1], element [J]", "row [1], element [J = 90]", "axis `J`: a product is taken at 90"),
    ];
    for (found, broken, message) in cases {
        let mut text = GEMV.replace(found, broken);
        assert_ne!(text, GEMV, "{found}");
        if broken.contains("[6, ") {
            text = text.replace("%m4 time [1]", "%m4 time [3]");
        }
        let error = refused(&text, None, given());
        assert!(error.message.contains(message), "{broken}: {error:?}");
    }
    let text = GEMV.replace("bf16", "f32").replace("stream.cast f32 ", "stream.cast bf16 ");
    let given = [("matrix", vec![0; 256 * 96 * 4]), ("vector", vec![0; 96 * 4])];
    let error = refused(&text, None, given);
    assert!(error.message.contains("f32 cannot enter"), "{error:?}");
}
