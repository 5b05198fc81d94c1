//! Rules S1-S6, each just inside and just outside, and the texts of the messages.

use visa_loops::{Entry, Program, SequencerLimits, Stride, check, check_paired};

use crate::{codes, paired, program};

fn broken(text: &str) -> Vec<&'static str> {
    codes(&check(&program(text), &SequencerLimits::rngd()))
}

/// `count` entries that do not merge.
fn entries(count: usize) -> String {
    format!("[{}] : 1", vec!["2 : 1"; count].join(", "))
}

#[test]
fn s1_one_to_eight_entries() {
    assert_eq!(broken("[] : 1"), ["S1"]);
    assert_eq!(broken(&entries(1)), [""; 0]);
    assert_eq!(broken(&entries(8)), [""; 0]);
    assert_eq!(broken(&entries(9)), ["S1"]);
}

#[test]
fn s2_one_to_65536_iterations() {
    assert_eq!(broken("[0 : 1] : 1"), ["S2"]);
    assert_eq!(broken("[1 : 1] : 1"), [""; 0]);
    assert_eq!(broken("[65536 : 1] : 1"), [""; 0]);
    assert_eq!(broken("[65537 : 1] : 1"), ["S2"]);
    assert_eq!(broken("[65537 : 2, 0 : 1] : 1"), ["S2", "S2"]);
}

#[test]
fn s3_packet_sizes() {
    for packet in [1, 2, 4, 8, 16, 32] {
        assert_eq!(broken(&format!("[96 : 1] : {packet}")), [""; 0], "{packet}");
    }
    for packet in [3, 6, 12, 24, 48, 96] {
        assert_eq!(broken(&format!("[96 : 1] : {packet}")), ["S3"], "{packet}");
    }
    assert_eq!(broken("[96 : 1] : 0"), ["S3", "S4"]);
}

#[test]
fn s3_sizes_are_those_of_the_engine() {
    let commit = SequencerLimits { packet_bytes: vec![8, 16, 24, 32], ..SequencerLimits::rngd() };
    assert_eq!(check(&program("[24 : 1] : 24"), &commit), []);
    assert_eq!(codes(&check(&program("[24 : 1] : 4"), &commit)), ["S3"]);
}

#[test]
fn s4_innermost_contiguous_or_single() {
    for text in ["[8 : 1] : 8", "[8 : 0] : 8", "[16 : 1] : 8", "[7 : 5] : 1", "[8 : -1] : 1"] {
        assert_eq!(broken(text), [""; 0], "{text}");
    }
    for text in ["[8 : 2] : 8", "[8 : -1] : 8", "[9 : 1] : 8", "[7 : 1] : 8", "[8 : 1, 1 : 1] : 8"] {
        assert_eq!(broken(text), ["S4"], "{text}");
    }
}

#[test]
fn s5_strides_of_32_bits() {
    for stride in [2_147_483_647, -2_147_483_648_i64] {
        assert_eq!(broken(&format!("[2 : {stride}] : 1")), [""; 0], "{stride}");
    }
    for stride in [2_147_483_648, -2_147_483_649_i64] {
        assert_eq!(broken(&format!("[2 : {stride}] : 1")), ["S5"], "{stride}");
    }
}

#[test]
fn all_broken_rules_are_reported_in_order() {
    let many = ["65537 : 4294967296"; 9].join(", ");
    let mut expected = vec!["S1"];
    expected.extend(["S2"; 9]);
    expected.extend(["S3", "S4"]);
    expected.extend(["S5"; 9]);
    assert_eq!(broken(&format!("[{many}] : 3")), expected);
}

/// The whole message and fix of each rule: the program, the entry, the expectation.
#[test]
fn messages_show_program_entry_and_fix() {
    let cases = [
        (
            "[2 : 70000, 70000 : 1] : 1",
            "S2: entry 1, `70000 : 1`, of `[2 : 70000, 70000 : 1] : 1` iterates 70000 times, expected 1 to 65536 \
             (fix: split it into `[2 : 35000, 35000 : 1]`)",
        ),
        // 65537 is prime.
        (
            "[65537 : 1] : 1",
            "S2: entry 0, `65537 : 1`, of `[65537 : 1] : 1` iterates 65537 times, expected 1 to 65536",
        ),
        (
            "[24 : 1] : 24",
            "S3: the packet of `[24 : 1] : 24` is 24 bytes, expected one of 1, 2, 4, 8, 16, 32 (fix: transfer it \
             in accesses of 8 bytes)",
        ),
        (
            "[4 : 64, 12 : 1] : 8",
            "S4: entry 1, `12 : 1`, the innermost of `[4 : 64, 12 : 1] : 8`, does not fill packets of 8: expected \
             stride 0 or 1 and a multiple of 8 iterations, or packets of 1 (fix: use packets of 4)",
        ),
        (
            "[2 : 2147483648, 4 : 1] : 4 @ 8",
            "S5: stride 2147483648 of entry 0, `2 : 2147483648`, of `[2 : 2147483648, 4 : 1] : 4 @ 8` does not \
             fit 32 bits, expected -2147483648 to 2147483647",
        ),
        ("[] : 1", "S1: `[] : 1` has no entry, expected 1 to 8 (fix: write `[1 : 1]` for a single step)"),
    ];
    for (text, expected) in cases {
        let errors = check(&program(text), &SequencerLimits::rngd());
        let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(found, [expected]);
    }
}

/// 65538 = 2 * 3^2 * 11 * 331: halves of 32769 would cut a packet of 2, thirds of 21846 do not.
#[test]
fn fix_never_cuts_a_packet() {
    let errors = check(&program("[65538 : 1] : 2"), &SequencerLimits::rngd());
    assert_eq!(errors[0].fix.as_deref(), Some("split it into `[3 : 21846, 21846 : 1]`"));
    // 131074 = 2 * 65537, and 65537 is prime.
    let errors = check(&program("[131074 : 1] : 2"), &SequencerLimits::rngd());
    assert_eq!(codes(&errors), ["S2"]);
    assert_eq!(errors[0].fix, None);
}

#[test]
fn paired_rules_hold_on_both_sides() {
    let limits = SequencerLimits::rngd();
    let broken = |text: &str| codes(&check_paired(&paired(text), &limits, 4096));
    assert_eq!(broken("[256 : 65536 -> 256, 4096 : 1 -> 1] : 4096"), [""; 0]);
    assert_eq!(broken("[256 : 65536 -> 256, 4097 : 1 -> 1] : 4097"), ["S3"]);
    assert_eq!(broken("[8 : 1 -> 1] : 0"), ["S3", "S4"]);
    assert_eq!(broken("[8 : 1 -> 2] : 8"), ["S4"]);
    assert_eq!(broken("[8 : 2 -> 1] : 8"), ["S4"]);
    assert_eq!(broken("[2 : 2147483648 -> 8, 8 : 1 -> 1] : 8"), ["S5"]);
    assert_eq!(broken("[2 : 8 -> -2147483649, 8 : 1 -> 1] : 8"), ["S5"]);
    assert_eq!(broken("[65537 : 8 -> 8, 8 : 1 -> 1] : 8"), ["S2"]);
    assert_eq!(broken("[] : 1"), ["S1"]);
}

/// An indirect entry is one entry, its table is its limit, and it is neither contiguous nor split.
#[test]
fn indirect_entries_obey_the_rules() {
    let table = |count: usize| (0..count).map(|at| (at * at).to_string()).collect::<Vec<_>>().join(", ");
    assert_eq!(broken(&format!("[65536 : ({}), 8 : 1] : 8", vec!["8"; 65_536].join(", "))), [""; 0]);
    let long = format!("[65537 : ({}), 8 : 1] : 8", vec!["8"; 65_537].join(", "));
    assert_eq!(broken(&long), ["S2"]);
    assert_eq!(check(&program(&long), &SequencerLimits::rngd())[0].fix, None);
    let nine = vec![format!("3 : ({})", table(3)); 9].join(", ");
    assert_eq!(broken(&format!("[{nine}] : 1")), ["S1"]);
    assert_eq!(broken("[3 : (0, 1, 2)] : 1"), [""; 0]);
    assert_eq!(broken("[2 : (0, 1)] : 2"), ["S4"]);
    assert_eq!(broken("[2 : (0, 2147483647), 8 : 1] : 8"), [""; 0]);
    assert_eq!(broken("[2 : (0, 2147483648), 8 : 1] : 8"), ["S5"]);
    assert_eq!(broken("[2 : (-2147483649, 0), 8 : 1] : 8"), ["S5"]);
    let entries = vec![Entry { limit: 3, stride: Stride::from(vec![0, 8]) }];
    let short = Program { entries, packet: 1, base: 0 };
    assert_eq!(codes(&check(&short, &SequencerLimits::rngd())), ["S6"]);
}
