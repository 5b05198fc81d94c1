//! Every rewrite keeps the address sequence, against plain nested loops, on all small programs.

use visa_loops::{Entry, PairedEntry, PairedProgram, Program, SequencerLimits, Stride, contiguous};

/// The nested loops as anyone would write them.
fn walk(entries: &[Entry], address: i64, visit: &mut Vec<i64>) {
    match entries.split_first() {
        None => visit.push(address),
        Some((outer, inner)) => {
            for i in 0..outer.limit as i64 {
                let offset = match &outer.stride {
                    Stride::Fixed(stride) => i * stride,
                    Stride::Table(table) => table[i as usize],
                };
                walk(inner, address + offset, visit);
            }
        }
    }
}

fn is_indirect(program: &Program) -> bool {
    program.entries.iter().any(|entry| entry.stride.table().is_some())
}

fn walked(program: &Program) -> Vec<i64> {
    let mut visit = Vec::new();
    walk(&program.entries, program.base, &mut visit);
    visit
}

const LIMITS: [u64; 4] = [1, 2, 3, 4];
const STRIDES: [i64; 7] = [-2, 0, 1, 2, 4, 6, 8];

/// Offset tables of indirect entries: unsorted, repeating, from elsewhere than 0, of one offset, and evenly apart.
const TABLES: [&[i64]; 5] = [&[0, 4, 1], &[2, 2], &[-3, 8, 0, 6], &[5], &[0, 1]];

/// All programs of up to three entries with these limits, strides and tables: 1 + 33 + 1089 + 35937.
fn all_programs() -> Vec<Program> {
    let mut choices: Vec<Entry> =
        LIMITS.into_iter().flat_map(|limit| STRIDES.map(|stride| Entry::new(limit, stride))).collect();
    choices.extend(
        TABLES.map(|table| Entry { limit: table.len() as u64, stride: Stride::from(table.to_vec()) }),
    );
    let mut nests: Vec<Vec<Entry>> = vec![Vec::new()];
    let mut last = nests.clone();
    for _ in 0..3 {
        last = last
            .iter()
            .flat_map(|nest| {
                choices.iter().map(|entry| [nest.as_slice(), std::slice::from_ref(entry)].concat())
            })
            .collect();
        nests.extend_from_slice(&last);
    }
    nests.into_iter().map(|entries| Program { entries, packet: 1, base: 100 }).collect()
}

#[test]
fn positions_steps_and_extent() {
    for program in all_programs() {
        let expected = walked(&program);
        assert_eq!(program.positions().collect::<Vec<i64>>(), expected, "{program}");
        assert_eq!(program.steps(), Some(expected.len() as u64), "{program}");
        let min = expected.iter().min().expect("no limit is 0");
        let max = expected.iter().max().expect("no limit is 0");
        assert_eq!(program.extent(), Ok((*min, max + 1)), "{program}");
    }
}

#[test]
fn addresses_are_every_packet_th_position() {
    for mut program in all_programs() {
        for packet in [1, 2, 3, 5, 8, 100] {
            program.packet = packet;
            let expected: Vec<i64> = walked(&program).into_iter().step_by(packet as usize).collect();
            assert_eq!(program.addresses().collect::<Vec<i64>>(), expected, "{program}");
        }
    }
}

#[test]
fn merge_keeps_addresses_and_leaves_nothing_to_merge() {
    for program in all_programs() {
        let mut short = program.clone();
        short.merge();
        assert_eq!(walked(&short), walked(&program), "{program} -> {short}");
        for pair in short.entries.windows(2) {
            let moves = |entry: &Entry| entry.limit != 1 || entry.stride.table().is_some();
            assert!(pair.iter().all(moves), "{program} -> {short}");
            let (Some(outer), Some(inner)) = (pair[0].stride.fixed(), pair[1].stride.fixed()) else {
                continue;
            };
            assert_ne!(outer, pair[1].limit as i64 * inner, "{program} -> {short}");
        }
        let mut again = short.clone();
        again.merge();
        assert_eq!(again, short);
    }
}

/// With a limit of 5 the larger merged entries must split again; with packets of 2, between packets.
#[test]
fn fit_keeps_addresses_within_the_limits() {
    let limits = SequencerLimits { entries: 2, limit: 5, packet_bytes: vec![1, 2] };
    let mut fitting = 0;
    for mut program in all_programs() {
        for packet in [1, 2] {
            program.packet = packet;
            let Ok(fitted) = program.fit(&limits) else {
                continue;
            };
            fitting += 1;
            assert_eq!(walked(&fitted), walked(&program), "{program} -> {fitted}");
            assert_eq!(fitted.packet, packet);
            assert!(fitted.entries.len() <= 2, "{program} -> {fitted}");
            assert!(fitted.entries.iter().all(|entry| entry.limit <= 5), "{program} -> {fitted}");
        }
    }
    assert!(fitting > 2000, "only {fitting} programs fit");
}

#[test]
fn bytes_are_the_bytes_of_the_elements() {
    for program in all_programs() {
        for size in [1, 2, 3, 4] {
            let bytes = program.to_bytes(size).expect("small numbers");
            let size = size as i64;
            let expected: Vec<i64> = walked(&program)
                .into_iter()
                .flat_map(|element| (0..size).map(move |byte| element * size + byte))
                .collect();
            assert_eq!(walked(&bytes), expected, "{program} -> {bytes}");
            assert_eq!(bytes.accesses(), program.accesses(), "{program} -> {bytes}");
        }
    }
}

/// Retiling succeeds exactly where every access is consecutive bytes, and then its accesses spelt out
/// byte by byte are the original sequence.
#[test]
fn retile_keeps_bytes_wherever_it_can_be_done() {
    for program in all_programs() {
        let bytes = walked(&program);
        for access in [1, 2, 3, 4, 6, 8, 12] {
            let consecutive =
                |chunk: &[i64]| chunk.len() == access && chunk.windows(2).all(|pair| pair[1] == pair[0] + 1);
            let possible = bytes.chunks(access).all(consecutive);
            let retiled = program.retile(access as u64);
            // An access never goes on past an indirect entry, even where its offsets happen to be evenly apart.
            assert!(possible || retiled.is_err(), "{program} in accesses of {access}");
            assert_eq!(
                retiled.is_ok() || is_indirect(&program),
                possible || is_indirect(&program),
                "{program}"
            );
            let Ok(retiled) = retiled else { continue };
            let spelt: Vec<i64> = retiled.addresses().flat_map(|start| (start..).take(access)).collect();
            assert_eq!(spelt, bytes, "{program} -> {retiled}");
            assert_eq!(walked(&retiled), bytes, "{program} -> {retiled}");
        }
    }
}

/// The contiguous run is the longest access that divides the steps and is consecutive throughout.
#[test]
fn contiguous_is_the_longest_access() {
    for program in all_programs() {
        let bytes = walked(&program);
        let consecutive = |chunk: &[i64]| chunk.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let longest = (1..=bytes.len())
            .rev()
            .find(|&size| bytes.len().is_multiple_of(size) && bytes.chunks(size).all(consecutive))
            .expect("single bytes are consecutive");
        match is_indirect(&program) {
            true => assert!(longest.is_multiple_of(contiguous(&program) as usize), "{program}"),
            false => assert_eq!(contiguous(&program), longest as u64, "{program}"),
        }
    }
}

#[test]
fn paired_rewrites_keep_both_sides() {
    let strides: Vec<(i64, i64)> =
        [1, 2, 4, 8].into_iter().flat_map(|r| [0, 1, 2, 6].map(|w| (r, w))).collect();
    for &(read0, write0) in &strides {
        for &(read1, write1) in &strides {
            for (outer, inner) in [(1, 4), (2, 1), (2, 2), (3, 4), (4, 6)] {
                let entries =
                    vec![PairedEntry::new(outer, read0, write0), PairedEntry::new(inner, read1, write1)];
                keeps_both_sides(&PairedProgram { entries, packet: 1, read_base: 7, write_base: 90 });
                let table = Stride::from((0..outer as i64).map(|at| (at - 1) * at * 8).collect::<Vec<_>>());
                let gather = PairedEntry { limit: outer, read: table, write: write0.into() };
                let entries = vec![gather, PairedEntry::new(inner, read1, write1)];
                keeps_both_sides(&PairedProgram { entries, packet: 1, read_base: 7, write_base: 90 });
            }
        }
    }
}

fn keeps_both_sides(program: &PairedProgram) {
    let sides = |program: &PairedProgram| (walked(&program.read()), walked(&program.write()));
    let original = sides(program);
    let mut short = program.clone();
    short.merge();
    assert_eq!(sides(&short), original, "{program} -> {short}");
    if let Ok(fitted) = program.fit(&SequencerLimits { entries: 3, limit: 5, packet_bytes: Vec::new() }) {
        assert_eq!(sides(&fitted), original, "{program} -> {fitted}");
    }
    for access in [1, 2, 4, 8] {
        if let Ok(retiled) = program.retile(access) {
            assert_eq!(sides(&retiled), original, "{program} -> {retiled}");
        }
    }
    let bytes = program.to_bytes(2).expect("small numbers");
    assert_eq!(walked(&bytes.read()), walked(&program.read().to_bytes(2).expect("small numbers")));
    assert_eq!(walked(&bytes.write()), walked(&program.write().to_bytes(2).expect("small numbers")));
}
