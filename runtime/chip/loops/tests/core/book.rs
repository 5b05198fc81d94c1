//! Worked figures of the book: cases S1-S6, S9, F1, F3, C1, X1-X3 and D1 of `book-cases.md`.

use visa_loops::{
    CommitSize, SequencerLimits, check, commit_size, contiguous, contiguous_paired, fetch_size,
};

use crate::{codes, merged, paired, program};

const FETCH: [u64; 6] = [1, 2, 4, 8, 16, 32];
const COMMIT: [u64; 4] = [8, 16, 24, 32];

/// S1: the loop nest w, h, c, n reads `w + 8h + 64c + 192n`.
#[test]
fn s1_axes_reversed() {
    let whcn = program("[8 : 1, 8 : 8, 3 : 64, 4 : 192] : 1");
    assert_eq!(check(&whcn, &SequencerLimits::rngd()), []);
    let mut expected = Vec::new();
    for w in 0..8 {
        for h in 0..8 {
            for c in 0..3 {
                for n in 0..4 {
                    expected.push(w + 8 * h + 64 * c + 192 * n);
                }
            }
        }
    }
    assert_eq!(whcn.addresses().collect::<Vec<i64>>(), expected);
    assert_eq!(whcn.extent(), Ok((0, 768)));
    assert_eq!(contiguous(&whcn), 1);
    // 1 != 8 * 8, 8 != 3 * 64, 64 != 4 * 192: nothing merges.
    assert_eq!(merged("[8 : 1, 8 : 8, 3 : 64, 4 : 192] : 1"), whcn.to_string());
}

/// S2-S5: legal as printed; (text, merged, contiguous run, accesses).
#[test]
fn s2_to_s5_configurations() {
    let cases = [
        ("[8 : 32, 8 : 256, 16 : 1] : 16", "[8 : 32, 8 : 256, 16 : 1] : 16", 16, 64),
        // Splitting: 64 != 4 * 8, 8 != 4 * 128, 128 != 2 * 32, but 32 == 32 * 1.
        ("[2 : 64, 4 : 8, 4 : 128, 2 : 32, 32 : 1] : 32", "[2 : 64, 4 : 8, 4 : 128, 64 : 1] : 32", 64, 64),
        // Slicing: 256 != 3 * 64, 64 == 2 * 32, 32 != 2 * 8, 8 == 8 * 1.
        ("[4 : 256, 3 : 64, 2 : 32, 2 : 8, 8 : 1] : 8", "[4 : 256, 6 : 32, 16 : 1] : 8", 16, 48),
        ("[4 : 0, 16 : 1, 4 : 0] : 4", "[4 : 0, 16 : 1, 4 : 0] : 4", 1, 64),
    ];
    for (text, short, run, accesses) in cases {
        let printed = program(text);
        assert_eq!(check(&printed, &SequencerLimits::rngd()), [], "{text}");
        assert_eq!(merged(text), short);
        assert_eq!(contiguous(&printed), run, "{text}");
        assert_eq!(printed.accesses(), Some(accesses), "{text}");
    }
}

/// S6: nine entries are one too many; merged they are six, and the packet may grow from 8 to 16.
#[test]
fn s6_merging() {
    let limits = SequencerLimits::rngd();
    let text = "[2 : 16, 2 : 32, 4 : 64, 4 : 512, 2 : 256, 4 : 4096, 2 : 2048, 2 : 8, 8 : 1] : 8";
    let errors = check(&program(text), &limits);
    assert_eq!(codes(&errors), ["S1"]);
    let six = "[2 : 16, 2 : 32, 4 : 64, 8 : 256, 8 : 2048, 16 : 1]";
    assert_eq!(errors[0].fix.as_deref(), Some(format!("merge them to `{six}`").as_str()));

    let mut short = program(text);
    short.merge();
    assert_eq!(short.to_string(), format!("{six} : 8"));
    assert_eq!(check(&short, &limits), []);
    assert_eq!(program(text).fit(&limits), Ok(short.clone()));
    short.widen(&limits.packet_bytes);
    assert_eq!(short.to_string(), format!("{six} : 16"));
    assert_eq!(check(&short, &limits), []);
    assert!(short.positions().eq(program(text).positions()));
}

/// S9: each limit has its own number.
#[test]
fn s9_each_limit_has_its_number() {
    let limits = SequencerLimits::rngd();
    let nine = "[2:1, 2:1, 2:1, 2:1, 2:1, 2:1, 2:1, 2:1, 2:1] : 1";
    let cases = [
        (nine, "S1"),
        ("[65537 : 1] : 1", "S2"),
        ("[64 : 1] : 64", "S3"),
        ("[4 : 8, 8 : 2] : 8", "S4"),
        ("[2 : 2147483648, 1 : 1] : 1", "S5"),
    ];
    for (text, code) in cases {
        assert_eq!(codes(&check(&program(text), &limits)), [code], "{text}");
    }
    let error = program(nine).fit(&limits).expect_err("nothing merges: 1 != 2 * 1");
    assert_eq!(error.code, "S1");
    assert!(error.message.contains("9 entries"), "{error}");
}

/// F1: contiguous access of N=4, C=3, H=4, W=8 in three orders.
#[test]
fn f1_contiguous_access() {
    let run = |text: &str| contiguous(&program(text));
    assert_eq!(run("[4 : 96, 3 : 32, 4 : 8, 8 : 1] : 8"), 384);
    assert_eq!(run("[3 : 32, 4 : 96, 4 : 8, 8 : 1] : 8"), 32);
    assert_eq!(run("[4 : 96, 4 : 8, 3 : 32, 8 : 1] : 8"), 8);
}

/// F3: packets of 8, 16, 32 and 96 bytes from a run of 384; the last takes three fetches a packet.
#[test]
fn f3_fetch_sizes_and_cycles() {
    let nchw = program("[4 : 96, 3 : 32, 4 : 8, 8 : 1] : 8");
    let run = contiguous(&nchw);
    for (packet, size, cycles) in [(8, 8, 48), (16, 16, 24), (32, 32, 12), (96, 32, 12)] {
        assert_eq!(fetch_size(packet, run, &FETCH), Some(size));
        let fetches = nchw.retile(size).expect("the size divides the run");
        assert_eq!(fetches.accesses(), Some(cycles), "packet {packet}");
    }
}

/// C1: (element program, bytes an element, commit_in_size, run in bytes, commit size).
#[test]
fn c1_commit_sizes() {
    let cases = [
        ("[4 : 16, 2 : 8, 8 : 1] : 8", 1, 8, 64, 8),
        ("[4 : 8, 2 : 32, 8 : 1] : 8", 4, 32, 32, 32),
        ("[4 : 8, 2 : 32, 8 : 1] : 8", 2, 16, 16, 16),
        ("[2 : 64, 4 : 16, 8 : 1] : 32", 1, 32, 8, 8),
    ];
    for (text, element_bytes, commit_in, run, size) in cases {
        let bytes = program(text).to_bytes(element_bytes).expect("small numbers");
        assert_eq!(contiguous(&bytes), run, "{text}");
        let expected = CommitSize { bytes: size, supported: true };
        assert_eq!(commit_size(run, commit_in, &COMMIT), expected, "{text}");
    }
}

/// C1, chunked: a 32-byte packet is four writes of 8 at 0, 16, 32, 48; the next starts at 64.
#[test]
fn c1_chunked_writes() {
    let writes = program("[2 : 64, 4 : 16, 8 : 1] : 32").retile(8).expect("runs of 8");
    assert_eq!(writes.to_string(), "[2 : 64, 4 : 16, 8 : 1] : 8");
    assert_eq!(writes.addresses().collect::<Vec<i64>>(), [0, 16, 32, 48, 64, 80, 96, 112]);
}

/// X1: fifteen commits, the sixth of them at 1032.
#[test]
fn x1_axis_permutation() {
    let writes = program("[3 : 8, 5 : 24, 8 : 1] : 8 @ 1024");
    assert_eq!(writes.accesses(), Some(15));
    assert_eq!(writes.addresses().nth(5), Some(1032));
}

/// X2, X3: a run is cut into commits and the loops around it stay as they are.
#[test]
fn x2_x3_cut_into_commits() {
    let cases = [
        ("[96 : 1] : 96 @ 1024", 32, "[3 : 32, 32 : 1] : 32 @ 1024", 3),
        ("[2 : 72, 72 : 1] : 72 @ 1024", 24, "[2 : 72, 3 : 24, 24 : 1] : 24 @ 1024", 6),
        ("[2 : 80, 80 : 1] : 80 @ 1024", 16, "[2 : 80, 5 : 16, 16 : 1] : 16 @ 1024", 10),
        ("[2 : 88, 88 : 1] : 88 @ 1024", 8, "[2 : 88, 11 : 8, 8 : 1] : 8 @ 1024", 22),
        ("[2 : 96, 96 : 1] : 96 @ 1024", 32, "[2 : 96, 3 : 32, 32 : 1] : 32 @ 1024", 6),
    ];
    for (text, size, expected, cycles) in cases {
        let cut = program(text).retile(size).expect("the size divides the run");
        assert_eq!(cut.to_string(), expected);
        assert_eq!(cut.accesses(), Some(cycles));
    }
}

/// D1: [N,C,H,W] -> [H,C,N,W] with 4,3,8,8. Byte (n,c,h,w) goes from its place to its place.
#[test]
fn d1_paired_transposition() {
    let dma = paired("[8 : 8 -> 96, 3 : 64 -> 32, 4 : 192 -> 8, 8 : 1 -> 1] : 8 @ 1024 -> 2048");
    assert_eq!(contiguous_paired(&dma), 8);
    assert_eq!(dma.accesses(), Some(96));
    let moves: Vec<(i64, i64)> = dma.read().positions().zip(dma.write().positions()).collect();
    let mut expected = Vec::new();
    for h in 0..8 {
        for c in 0..3 {
            for n in 0..4 {
                for w in 0..8 {
                    let read = ((n * 3 + c) * 8 + h) * 8 + w;
                    let write = ((h * 3 + c) * 4 + n) * 8 + w;
                    expected.push((1024 + read, 2048 + write));
                }
            }
        }
    }
    assert_eq!(moves, expected);
    assert_eq!(dma.read_extent(), Ok((1024, 1792)));
    assert_eq!(dma.write_extent(), Ok((2048, 2816)));
}
