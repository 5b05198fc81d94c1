//! Random pairs of ranges of addresses: whether they meet, against lists of their addresses.

use crate::Settings;
use visa_loops::{Entry, Program, overlap};
use visa_support::Random;

/// Most addresses of a program.
const MOST: u64 = 4096;

/// Loops whose strides are small, near one another, or apart as tiles are.
fn program(random: &mut Random) -> Program {
    let (mut entries, mut left) = (Vec::new(), MOST);
    for _ in 0..random.below(5) {
        let limit = 1 + random.bits() % left.min(40);
        left /= limit;
        let magnitude = 1 + random.bits() % [3, 16, 64, 700][random.below(4)];
        let stride = magnitude.cast_signed() * if random.below(4) == 0 { -1 } else { 1 };
        entries.push(Entry::new(limit, stride));
    }
    Program { entries, packet: 1, base: (random.bits() % 2000).cast_signed() }
}

/// The addresses, in order.
fn listed(program: &Program) -> Vec<i64> {
    let mut all = vec![program.base];
    for entry in &program.entries {
        let steps = (0..entry.limit).map(|index| entry.stride.offset(index));
        all = steps.flat_map(|step| all.iter().map(move |at| at + step)).collect();
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Decides so many pairs.
///
/// # Panics
/// If one is decided wrongly, or not at all.
pub fn run(settings: &Settings<'_>) {
    let mut random = Random(settings.seed);
    let mut meet = 0;
    for case in 0..settings.count {
        let (one, other) = (program(&mut random), program(&mut random));
        let others = listed(&other);
        let expected = listed(&one).iter().any(|at| others.binary_search(at).is_ok());
        assert_eq!(overlap(&one, &other), Some(expected), "case {case}: {one} and {other}");
        meet += u64::from(expected);
    }
    let Settings { count, seed, .. } = settings;
    println!("overlaps, seed {seed}: {count} pairs, {meet} meet, 0 wrong, 0 undecided");
}
