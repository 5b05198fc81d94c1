//! merge, fit, widen, retile and address arithmetic at their edges.

use visa_loops::{Entry, Program, SequencerLimits};

use crate::{merged, paired, program};

fn fitted(text: &str) -> Result<String, &'static str> {
    let fitted = program(text).fit(&SequencerLimits::rngd());
    fitted.map(|program| program.to_string()).map_err(|error| error.code)
}

fn retiled(text: &str, access: u64) -> Result<String, &'static str> {
    let retiled = program(text).retile(access);
    retiled.map(|program| program.to_string()).map_err(|error| error.code)
}

#[test]
fn merge_by_hand() {
    assert_eq!(merged("[4 : 8, 8 : 1] : 8 @ 5"), "[32 : 1] : 8 @ 5");
    assert_eq!(merged("[4 : 0, 4 : 0] : 4"), "[16 : 0] : 4");
    assert_eq!(merged("[3 : -4, 2 : -2] : 1"), "[6 : -2] : 1");
    assert_eq!(merged("[1 : 99, 4 : 8, 1 : 7, 8 : 1, 1 : 0] : 1"), "[32 : 1] : 1");
    assert_eq!(merged("[2 : 16, 2 : 8, 2 : 4, 2 : 2, 2 : 1] : 1"), "[32 : 1] : 1");
    // A single step keeps one entry.
    assert_eq!(merged("[1 : 5, 1 : 3] : 1"), "[1 : 3] : 1");
    assert_eq!(merged("[] : 1"), "[] : 1");
}

#[test]
fn merge_refuses() {
    for text in [
        "[4 : 7, 8 : 1] : 1",
        "[4 : 9, 8 : 1] : 1",
        "[4 : 0, 8 : 1] : 1",
        "[4 : 1, 8 : 0] : 1",
        "[4 : -8, 8 : 1] : 1",
        // 2^62 * 2 does not fit a literal.
        "[2 : 0, 4611686018427387904 : 0] : 1",
    ] {
        assert_eq!(merged(text), text);
    }
    // One less on each side does: 2^61 * 2.
    assert_eq!(merged("[2 : 0, 2305843009213693952 : 0] : 1"), "[4611686018427387904 : 0] : 1");
}

#[test]
fn paired_merge_needs_both_sides() {
    let merged = |text: &str| {
        let mut program = paired(text);
        program.merge();
        program.to_string()
    };
    assert_eq!(merged("[4 : 8 -> 16, 8 : 1 -> 2] : 1"), "[32 : 1 -> 2] : 1");
    for text in ["[4 : 8 -> 8, 8 : 1 -> 2] : 1", "[4 : 16 -> 16, 8 : 1 -> 2] : 1"] {
        assert_eq!(merged(text), text);
    }
}

#[test]
fn fit_splits_what_merging_made_too_long() {
    assert_eq!(fitted("[65536 : 1] : 32").as_deref(), Ok("[65536 : 1] : 32"));
    assert_eq!(fitted("[4096 : 32, 32 : 1] : 32").as_deref(), Ok("[2 : 65536, 65536 : 1] : 32"));
    // 2 * 65536 * 65536 needs three loops.
    assert_eq!(
        fitted("[8589934592 : 0, 8 : 1] : 8").as_deref(),
        Ok("[2 : 0, 65536 : 0, 65536 : 0, 8 : 1] : 8")
    );
    // 65538 = 2 * 3^2 * 11 * 331: in halves, but packets of 2 stay whole only in thirds.
    assert_eq!(fitted("[65538 : 1] : 1").as_deref(), Ok("[2 : 32769, 32769 : 1] : 1"));
    assert_eq!(fitted("[65538 : 1] : 2").as_deref(), Ok("[3 : 21846, 21846 : 1] : 2"));
}

#[test]
fn fit_refuses() {
    // Primes above the limit, alone and with the packet.
    assert_eq!(fitted("[65537 : 1] : 1"), Err("S2"));
    assert_eq!(fitted("[65537 : 8, 8 : 1] : 8"), Err("S2"));
    assert_eq!(fitted("[0 : 1] : 1"), Err("S2"));
    assert_eq!(fitted("[] : 1"), Err("S1"));
    // Eight entries of which one must split: nine.
    let seven = ["2 : 1"; 7].join(", ");
    assert_eq!(fitted(&format!("[65536 : 5, {seven}] : 1")).map(|_| ()), Ok(()));
    assert_eq!(fitted(&format!("[131072 : 5, {seven}] : 1")), Err("S1"));
    // The stride of the outer factor does not fit 64 bits.
    assert_eq!(fitted("[131072 : 9223372036854775807] : 1"), Err("S2"));
}

#[test]
fn widen_takes_the_largest_supported_multiple() {
    let widened = |text: &str| {
        let mut program = program(text);
        program.widen(&[1, 2, 4, 8, 16, 32]);
        program.packet
    };
    assert_eq!(widened("[16 : 1] : 8"), 16);
    assert_eq!(widened("[384 : 1] : 8"), 32);
    assert_eq!(widened("[96 : 1] : 96"), 96);
    assert_eq!(widened("[24 : 1] : 8"), 8);
    assert_eq!(widened("[24 : 1] : 3"), 3);
    assert_eq!(widened("[16 : 0] : 8"), 8);
    assert_eq!(widened("[16 : 2] : 1"), 1);
    assert_eq!(widened("[16 : 1] : 0"), 0);
    assert_eq!(widened("[] : 1"), 1);
}

#[test]
fn retile_merges_only_what_it_needs() {
    let nchw = "[4 : 96, 3 : 32, 4 : 8, 8 : 1] : 8";
    assert_eq!(retiled(nchw, 8).as_deref(), Ok(nchw));
    assert_eq!(retiled(nchw, 4).as_deref(), Ok("[4 : 96, 3 : 32, 4 : 8, 2 : 4, 4 : 1] : 4"));
    assert_eq!(retiled(nchw, 16).as_deref(), Ok("[4 : 96, 3 : 32, 2 : 16, 16 : 1] : 16"));
    assert_eq!(retiled(nchw, 32).as_deref(), Ok("[4 : 96, 3 : 32, 32 : 1] : 32"));
    assert_eq!(retiled("[3 : 8, 8 : 1, 1 : 0] : 1", 8).as_deref(), Ok("[3 : 8, 8 : 1] : 8"));
    assert_eq!(retiled("[3 : 7] : 1", 1).as_deref(), Ok("[3 : 7] : 1"));
}

#[test]
fn retile_refuses() {
    assert_eq!(retiled("[8 : 1] : 1", 0), Err("A3"));
    assert_eq!(retiled("[8 : 1] : 1", 16), Err("A3"));
    assert_eq!(retiled("[8 : 1] : 1", 3), Err("A3"));
    assert_eq!(retiled("[8 : 2] : 1", 2), Err("A3"));
    assert_eq!(retiled("[8 : 0] : 1", 2), Err("A3"));
    assert_eq!(retiled("[] : 1", 2), Err("A3"));
    assert_eq!(retiled("[8 : 1] : 1", u64::MAX), Err("A3"));
    let error = program("[4 : 64, 24 : 1] : 24").retile(16).expect_err("24 is no multiple of 16");
    assert_eq!(
        error.to_string(),
        "A3: `[4 : 64, 24 : 1] : 24` cannot be cut into accesses of 16 bytes: its contiguous run is 24 bytes \
         (fix: use accesses of 8 bytes)"
    );
    assert!(paired("[8 : 1 -> 2] : 1").retile(2).is_err());
}

#[test]
fn extents_up_to_64_bits_and_not_past() {
    let extent = |text: &str| program(text).extent().map_err(|error| error.code);
    assert_eq!(extent("[3 : -4, 2 : 1] : 1 @ 10"), Ok((2, 12)));
    assert_eq!(extent("[0 : 5, 9 : 1] : 1 @ 10"), Ok((10, 10)));
    assert_eq!(extent("[] : 1 @ -3"), Ok((-3, -2)));
    assert_eq!(extent("[1 : 1] : 1 @ 9223372036854775806"), Ok((i64::MAX - 1, i64::MAX)));
    assert_eq!(extent("[1 : 1] : 1 @ 9223372036854775807"), Err("A1"));
    assert_eq!(extent("[2 : 1] : 1 @ 9223372036854775806"), Err("A1"));
    assert_eq!(extent("[2 : -1] : 1 @ -9223372036854775807"), Ok((i64::MIN, i64::MIN + 2)));
    assert_eq!(extent("[3 : -1] : 1 @ -9223372036854775807"), Err("A1"));
    // Past 128 bits, too.
    let huge = Entry::new(u64::MAX, i64::MAX);
    let program = Program { entries: vec![huge; 8], packet: 1, base: 0 };
    assert_eq!(program.extent().map_err(|error| error.code), Err("A1"));
}

#[test]
fn steps_and_accesses_at_their_edges() {
    let huge = program("[4294967296 : 0, 4294967296 : 0] : 1");
    assert_eq!(huge.steps(), None);
    assert_eq!(huge.accesses(), None);
    assert_eq!(program("[4294967296 : 0, 4294967295 : 0] : 1").steps(), Some(u64::MAX - 4_294_967_295));
    assert_eq!(program("[4294967296 : 0, 4294967296 : 0, 0 : 1] : 1").steps(), Some(0));
    assert_eq!(program("[24 : 1] : 8").accesses(), Some(3));
    assert_eq!(program("[25 : 1] : 8").accesses(), None);
    assert_eq!(program("[24 : 1] : 0").accesses(), None);
    assert_eq!(paired("[24 : 1 -> 1] : 8").accesses(), Some(3));
}

#[test]
fn addresses_at_their_edges() {
    let addresses = |text: &str| program(text).addresses().collect::<Vec<i64>>();
    assert_eq!(addresses("[] : 1 @ 7"), [7]);
    assert_eq!(addresses("[0 : 1] : 1"), []);
    assert_eq!(addresses("[4 : 8, 0 : 1] : 1"), []);
    assert_eq!(addresses("[8 : 1] : 0"), []);
    // A packet across two inner loops starts where the second of each pair ends.
    assert_eq!(addresses("[4 : 10, 2 : 1] : 4"), [0, 20]);
    // Lazy: the first of 2^64 addresses is there at once.
    assert_eq!(program("[4294967296 : 1, 4294967296 : 0] : 1").addresses().next(), Some(0));
}
