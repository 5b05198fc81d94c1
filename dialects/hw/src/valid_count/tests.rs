//! The tables of book 24 (V5, V6), and the generator against a direct enumeration of its formula.

use super::*;
use proptest::prelude::*;

fn configuration(counters: &str, packet: u64, gates: &str) -> ValidCount {
    ValidCount {
        counters: counters.parse().unwrap_or_else(|error: BodyError| panic!("{}", error.message)),
        packet: Some(packet),
        gates: gates.parse().unwrap_or_else(|error: BodyError| panic!("{}", error.message)),
    }
}

/// The counts of the first `slices` slices, a row a slice.
fn table(counters: &str, packet: u64, gates: &str, slices: u64) -> Vec<Vec<u8>> {
    let generator = configuration(counters, packet, gates);
    (0..slices).map(|slice| generator.counts(slice, 8)).collect()
}

/// Book 24, packet dim: V_p = 19 in packets of 8; V_p = 11 in packets of which 4 elements belong to the axis.
#[test]
fn sawtooth() {
    assert_eq!(table("[3 : 8 p]", 19, "[]", 1), [[8, 8, 3]]);
    assert_eq!(table("[3 : 4 p]", 11, "[]", 1), [[4, 4, 3]]);
}

/// V5, step 2: C = 5 over Co (4 slices, inner) and Ci (time).
#[test]
fn v5_one_gate() {
    let full = vec![8, 8, 3, 8, 8, 3];
    let expected = [full.clone(), full, vec![8, 8, 3, 0, 0, 0], vec![0; 6]];
    assert_eq!(table("[2 : 1 g0, 3 : 8 p]", 19, "[mask 0x3 match 2 valid 1]", 4), expected);
}

/// V5, step 3: the heat map of 16 slices and 12 packets, its rows as the page prints them (t down, slices across).
#[test]
fn v5_heat_map() {
    let rows = [
        "8880 8880 8880 0000",
        "8880 8880 8880 0000",
        "3330 3330 3330 0000",
        "8800 8800 8800 0000",
        "8800 8800 8800 0000",
        "3300 3300 3300 0000",
        "8880 8880 0000 0000",
        "8880 8880 0000 0000",
        "3330 3330 0000 0000",
        "8800 8800 0000 0000",
        "8800 8800 0000 0000",
        "3300 3300 0000 0000",
    ];
    let gates = "[mask 0x3 match 2 valid 1, mask 0xc match 8 valid 1]";
    let found = table("[2 : 1 g1, 2 : 1 g0, 3 : 8 p]", 19, gates, 16);
    for (t, row) in rows.iter().enumerate() {
        let row: Vec<u8> = row.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
        assert_eq!(found.iter().map(|slice| slice[t]).collect::<Vec<_>>(), row, "t = {t}");
    }
}

/// V6: H = 14 over 8 slices and 3 steps, standard; H = 19 likewise, transposed; both H = 5 examples.
#[test]
fn v6_slice_and_time() {
    let standard = table("[3 : 1 g0]", 0, "[mask 0x7 match 4 valid 2]", 8);
    let all = vec![8, 8, 8];
    assert_eq!(standard[..4], [all.clone(), all.clone(), all.clone(), all.clone()]);
    assert_eq!(standard[4..], [vec![8, 8, 0], vec![0; 3], vec![0; 3], vec![0; 3]]);
    let transposed = table("[3 : 1 g0]", 0, "[mask 0x7 match 3 valid 2 transposed]", 8);
    assert_eq!(transposed[..3], [all.clone(), all.clone(), all]);
    assert!(transposed[3..].iter().all(|counts| *counts == [8, 8, 0]));
    let five = |mode| table("[2 : 1 g0]", 0, mode, 4);
    assert_eq!(five("[mask 0x3 match 2 valid 1]"), [[8, 8], [8, 8], [8, 0], [0, 0]]);
    assert_eq!(five("[mask 0x3 match 1 valid 1 transposed]"), [[8, 8], [8, 0], [8, 0], [8, 0]]);
}

/// V6: n = 50 with two counters of the packet dimension.
#[test]
fn v6_packet_and_time() {
    assert_eq!(table("[3 : 24 p, 3 : 8 p]", 50, "[]", 1), [[8, 8, 8, 8, 8, 8, 2, 0, 0]]);
}

/// Book 24, sequencer example: limits 3, 2, 2 make 12 packets; at t = 4 the counters are 1, 1, 0. A separate gate for
/// each counter shows its value: it is open while the value is 0.
#[test]
fn the_sequencer_example() {
    let shown = |counters| table(counters, 0, "[mask 0 match 0 valid 1]", 1).remove(0);
    assert_eq!(shown("[2, 2, 3 : 1 g0]"), [8, 0, 0].repeat(4));
    assert_eq!(shown("[2, 2 : 1 g0, 3]"), [8, 8, 8, 0, 0, 0].repeat(2));
    assert_eq!(shown("[2 : 1 g0, 2, 3]"), [[8; 6], [0; 6]].concat());
}

/// A gate that is off: `match` 1 under no mask.
#[test]
fn a_disabled_gate_passes() {
    assert_eq!(table("[4 : 1 g0]", 0, "[mask 0 match 1 valid 0]", 3), vec![vec![8; 4]; 3]);
    assert_eq!(table("[4]", 0, "[]", 1), [[8; 4]]);
}

#[test]
fn text_is_canonical() {
    let counters =
        |text: &str| text.parse::<Counters>().map(|read| read.to_string()).map_err(|error| error.code);
    assert_eq!(counters("[ 2:1 g1,3 : 8  p , 4 ]").as_deref(), Ok("[2 : 1 g1, 3 : 8 p, 4]"));
    assert_eq!(counters("[]").as_deref(), Ok("[]"));
    for bad in [
        "",
        "2 : 1 p",
        "[2 : 1]",
        "[2 : p]",
        "[2 1 p]",
        "[2 : 1 q]",
        "[2 : 1 g]",
        "[2 : 1 p p]",
        "[-1]",
        "[2 : -1 p]",
        "[,]",
    ] {
        assert_eq!(counters(bad), Err("valid-count-text".to_owned()), "{bad}");
    }
    let gates = |text: &str| text.parse::<Gates>().map(|read| read.to_string()).map_err(|error| error.code);
    assert_eq!(
        gates("[mask 12 match 0x8 valid 1,mask 0 match 0 valid 2 transposed]").as_deref(),
        Ok("[mask 0xc match 8 valid 1, mask 0x0 match 0 valid 2 transposed]")
    );
    for bad in [
        "[mask 1]",
        "[match 1 mask 1 valid 1]",
        "[mask 1 match 1 valid 1 turned]",
        "[mask 1 match 1 valid 1 transposed 1]",
        "[mask 4294967296 match 0 valid 0]",
    ] {
        assert_eq!(gates(bad), Err("valid-count-text".to_owned()), "{bad}");
    }
    let many = |count: usize| counters(&format!("[{}]", vec!["1"; count].join(", "))).is_ok();
    assert!(many(MAX_LISTED) && !many(MAX_LISTED + 1));
}

/// Book 24's formula, term by term.
fn formula(generator: &ValidCount, slice: u64, step: u64, lanes: u64) -> u64 {
    let (mut rest, mut packet, mut gates) = (step, 0, vec![0; generator.gates.0.len()]);
    for counter in generator.counters.0.iter().rev() {
        let value = rest % counter.limit;
        rest /= counter.limit;
        match counter.dim {
            None => {}
            Some(CountDim::Packet) => packet += value * counter.stride,
            Some(CountDim::Gate(gate)) => gates[gate] += value * counter.stride,
        }
    }
    let width = generator.counters.0.iter().rfind(|counter| counter.dim == Some(CountDim::Packet));
    let full = width
        .map_or(lanes, |width| width.stride.min(generator.packet.expect("a packet").saturating_sub(packet)));
    let gate = |(gate, index): (&Gate, &u64)| {
        let masked = slice & gate.mask;
        masked < gate.matches || (*index < gate.valid && (masked == gate.matches || gate.transposed))
    };
    if generator.gates.0.iter().zip(&gates).all(gate) { full } else { 0 }
}

fn counter() -> impl Strategy<Value = Counter> {
    let dim = prop_oneof![
        Just(None),
        Just(Some(CountDim::Packet)),
        (0_usize..3).prop_map(|gate| Some(CountDim::Gate(gate)))
    ];
    (1_u64..4, 1_u64..9, dim).prop_map(|(limit, stride, dim)| Counter { limit, stride, dim })
}

fn gate() -> impl Strategy<Value = Gate> {
    (0_u64..16, 0_u64..16, 0_u64..8, any::<bool>()).prop_map(|(mask, matches, valid, transposed)| Gate {
        mask,
        matches,
        valid,
        transposed,
    })
}

proptest! {
    #[test]
    fn counts_are_the_formula(
        counters in prop::collection::vec(counter(), 0..6),
        packet in 0_u64..60,
        gates in prop::collection::vec(gate(), 3),
        slice in 0_u64..16,
    ) {
        let generator = ValidCount { counters: Counters(counters), packet: Some(packet), gates: Gates(gates) };
        let found = generator.counts(slice, 8);
        for (step, &count) in found.iter().enumerate() {
            prop_assert_eq!(u64::from(count), formula(&generator, slice, step as u64, 8));
        }
        prop_assert_eq!(found.len() as u64, generator.counters.0.iter().map(|counter| counter.limit).product::<u64>());
    }
}
