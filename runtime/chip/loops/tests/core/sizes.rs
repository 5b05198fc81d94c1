//! Contiguous runs, fetch and commit sizes, elements to bytes.

use visa_loops::{CommitSize, Entry, Program, commit_size, contiguous, contiguous_paired, fetch_size};
use visa_numerics::DType;

use crate::{paired, program};

#[test]
fn contiguous_runs() {
    let run = |text: &str| contiguous(&program(text));
    assert_eq!(run("[4 : 9, 8 : 1] : 8"), 8);
    assert_eq!(run("[1 : 77, 4 : 8, 1 : 5, 8 : 1, 1 : 0] : 8"), 32);
    // The run ends at the first gap, however the outer entries continue.
    assert_eq!(run("[2 : 64, 4 : 16, 8 : 1] : 8"), 8);
    assert_eq!(run("[8 : 2] : 1"), 1);
    assert_eq!(run("[8 : -1] : 1"), 1);
    assert_eq!(run("[4 : 1, 4 : 0] : 4"), 1);
    assert_eq!(run("[1 : 1] : 1"), 1);
    assert_eq!(run("[] : 1"), 1);
    assert_eq!(run("[0 : 1] : 1"), 1);
}

#[test]
fn paired_runs_end_at_the_first_gap_of_either_side() {
    let run = |text: &str| contiguous_paired(&paired(text));
    assert_eq!(run("[4 : 8 -> 8, 8 : 1 -> 1] : 8"), 32);
    assert_eq!(run("[4 : 8 -> 9, 8 : 1 -> 1] : 8"), 8);
    assert_eq!(run("[4 : 9 -> 8, 8 : 1 -> 1] : 8"), 8);
    assert_eq!(run("[8 : 1 -> 2] : 1"), 1);
}

#[test]
fn fetch_sizes() {
    let main = [1, 2, 4, 8, 16, 32];
    assert_eq!(fetch_size(64, 384, &main), Some(32));
    assert_eq!(fetch_size(24, 384, &main), Some(8));
    assert_eq!(fetch_size(2, 30, &main), Some(2));
    assert_eq!(fetch_size(15, 30, &main), Some(1));
    // The order of the list does not matter.
    assert_eq!(fetch_size(64, 384, &[32, 1]), Some(32));
    // The sub context fetches 8 bytes and nothing else.
    assert_eq!(fetch_size(8, 8, &[8]), Some(8));
    assert_eq!(fetch_size(8, 4, &[8]), None);
    assert_eq!(fetch_size(4, 8, &[8]), None);
    assert_eq!(fetch_size(8, 8, &[]), None);
    assert_eq!(fetch_size(0, 0, &main), None);
    assert_eq!(fetch_size(8, 8, &[0]), None);
}

#[test]
fn commit_sizes_and_support() {
    let main = [8, 16, 24, 32];
    let size = |bytes, supported| CommitSize { bytes, supported };
    assert_eq!(commit_size(72, 24, &main), size(24, true));
    assert_eq!(commit_size(40, 32, &main), size(8, true));
    assert_eq!(commit_size(4, 32, &main), size(4, false));
    assert_eq!(commit_size(7, 8, &main), size(1, false));
    assert_eq!(commit_size(16, 8, &[8]), size(8, true));
    assert_eq!(commit_size(16, 16, &[8]), size(16, false));
}

#[test]
fn bytes_by_hand() {
    let bytes = |text: &str, size| program(text).to_bytes(size).map(|program| program.to_string());
    assert_eq!(bytes("[4 : 8, 8 : 1] : 8 @ 3", 4).as_deref(), Ok("[4 : 32, 32 : 1] : 32 @ 12"));
    assert_eq!(bytes("[4 : 8, 8 : 2] : 1", 2).as_deref(), Ok("[4 : 16, 8 : 4, 2 : 1] : 2"));
    assert_eq!(bytes("[16 : 1, 4 : 0] : 4", 2).as_deref(), Ok("[16 : 2, 4 : 0, 2 : 1] : 8"));
    assert_eq!(bytes("[] : 1", 4).as_deref(), Ok("[4 : 1] : 4"));
    assert_eq!(bytes("[8 : 2, 4 : 0] : 4", 1).as_deref(), Ok("[8 : 2, 4 : 0] : 4"));
    let dma = paired("[4 : 8 -> 2, 8 : 1 -> 8] : 1 @ 3 -> -5").to_bytes(2);
    assert_eq!(
        dma.map(|program| program.to_string()).as_deref(),
        Ok("[4 : 16 -> 4, 8 : 2 -> 16, 2 : 1 -> 1] : 2 @ 6 -> -10")
    );
}

#[test]
fn half_bytes_by_hand() {
    let bytes = |text: &str| program(text).in_bytes(DType::I4);
    let text = |text: &str| bytes(text).map(|program| program.to_string());
    assert_eq!(text("[4 : 8, 8 : 1] : 8 @ 6").as_deref(), Ok("[16 : 1] : 4 @ 3"));
    assert_eq!(text("[4 : 0, 3 : -2, 2 : 1] : 2").as_deref(), Ok("[4 : 0, 3 : -1, 1 : 1] : 1"));
    // Merging makes six neighbours of two threes.
    assert_eq!(text("[2 : 3, 3 : 1] : 6").as_deref(), Ok("[3 : 1] : 3"));
    for (odd, words) in [
        ("[4 : 8, 8 : 1] : 8 @ 5", "the base is 5"),
        ("[6 : 1] : 3", "the packet is 3"),
        ("[4 : 9, 8 : 1] : 8", "a loop is 4 : 9"),
        ("[4 : 8, 3 : 1] : 6", "the innermost loop is 3 : 1"),
        ("[4 : 9, 4 : 2] : 4", "the innermost loop is 4 : 2"),
        ("[8 : 0] : 8", "the innermost loop is 8 : 0"),
        ("[1 : 1] : 2", "the innermost loop is 1 : 1"),
    ] {
        let error = bytes(odd).expect_err(odd);
        assert_eq!(error.code, "A4");
        assert!(error.message.contains(words), "{odd}: {error}");
    }
    assert_eq!(program("[8 : 1] : 8").in_bytes(DType::F16), program("[8 : 1] : 8").to_bytes(2));
}

/// The bytes of a halved program are those of its elements, each named by its first half.
#[test]
fn half_bytes_are_the_bytes_of_the_elements() {
    let mut halved = 0;
    for program in all_programs_in_halves() {
        let Ok(bytes) = program.in_bytes(DType::I4) else { continue };
        let elements: Vec<i64> = program.positions().collect();
        let firsts: Vec<i64> = elements.chunks(2).map(|pair| pair[0] / 2).collect();
        assert!(elements.chunks(2).all(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1), "{program}");
        assert_eq!(bytes.positions().collect::<Vec<_>>(), firsts, "{program} -> {bytes}");
        halved += 1;
    }
    assert!(halved > 50, "only {halved} programs");
}

/// Two loops of limits up to 4 and strides up to 6.
fn all_programs_in_halves() -> impl Iterator<Item = Program> {
    let entries = || (1..=4).flat_map(|limit| [-2, 0, 1, 2, 4, 6].map(|stride| Entry::new(limit, stride)));
    entries().flat_map(move |outer| {
        entries().map(move |inner| Program { entries: vec![outer.clone(), inner], packet: 2, base: 4 })
    })
}

#[test]
fn bytes_past_64_bits() {
    let code = |text: &str| program(text).to_bytes(2).map(|_| ()).map_err(|error| error.code);
    assert_eq!(code("[2 : 4611686018427387903] : 1"), Ok(()));
    assert_eq!(code("[2 : 4611686018427387904] : 1"), Err("A1"));
    assert_eq!(code("[2 : -4611686018427387904] : 1"), Ok(()));
    assert_eq!(code("[2 : -4611686018427387905] : 1"), Err("A1"));
    assert_eq!(code("[2 : 1] : 1 @ 4611686018427387904"), Err("A1"));
    let inner = Entry::new(u64::MAX, 1);
    let long = Program { entries: vec![inner], packet: 1, base: 0 };
    assert_eq!(long.to_bytes(2).map_err(|error| error.code), Err("A1"));
    let wide = Program { entries: Vec::new(), packet: u64::MAX, base: 0 };
    assert_eq!(wide.to_bytes(2).map_err(|error| error.code), Err("A1"));
    assert_eq!(program("[2 : 1] : 1").to_bytes(0).map_err(|error| error.code), Err("A2"));
    assert!(paired("[2 : 1 -> 1] : 1 @ 0 -> 4611686018427387904").to_bytes(2).is_err());
    assert!(paired("[2 : 1 -> 1] : 1").to_bytes(0).is_err());
}
