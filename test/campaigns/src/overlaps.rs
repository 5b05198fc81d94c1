//! Random pairs of ranges of addresses: whether they meet, against lists of their addresses. One in two is in
//! loops: there they meet in the same iteration, or in an earlier and a later one.

use crate::settings::Settings;
use std::ops::Range;
use visa_loops::{Condition, Entry, Moving, Pairs, Program, Step, Steps, meet, overlap};
use visa_support::Random;

/// Most addresses of a program.
const MOST: u64 = 4096;

/// Loops whose strides are small, near one another, or apart as tiles are.
fn program(random: &mut Random, most: u64) -> Program {
    let (mut entries, mut left) = (Vec::new(), most);
    for _ in 0..random.below(5) {
        let limit = 1 + random.bits() % left.min(40);
        left /= limit;
        entries.push(Entry::new(limit, stride(random)));
    }
    Program { entries, packet: 1, base: (random.bits() % 2000).cast_signed() }
}

fn stride(random: &mut Random) -> i64 {
    let magnitude = 1 + random.bits() % [3, 16, 64, 700][random.below(4)];
    magnitude.cast_signed() * if random.below(4) == 0 { -1 } else { 1 }
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

/// A range of addresses that moves with loops.
struct InLoops {
    program: Program,
    steps: Steps,
    loops: Vec<Range<u64>>,
    when: Vec<Condition>,
}

impl InLoops {
    /// Some loops around a program, the outermost of which are given.
    fn draw(random: &mut Random, shared: &[u64], steps: &[Step]) -> Self {
        let own = random.below(2);
        let times = (0..own).map(|_| 1 + random.bits() % 5).collect::<Vec<_>>();
        let times: Vec<u64> = shared.iter().copied().chain(times).collect();
        // Of some loops only a part counts.
        let mut part = |times: &u64| match random.below(4) {
            0 => {
                let start = random.bits() % times;
                start..start + 1 + random.bits() % (times - start)
            }
            _ => 0..*times,
        };
        let loops: Vec<Range<u64>> = times.iter().map(&mut part).collect();
        let mut each: Vec<Step> = steps.to_vec();
        for depth in 0..loops.len() {
            let turns = if random.below(4) == 0 { 1 + random.below(3) } else { 0 };
            let by = if random.below(3) == 0 { 0 } else { stride(random) };
            let drawn = Step { by, turns: (0..turns).map(|_| stride(random)).collect() };
            // Mostly both move alike in the loops that they share.
            match each.get_mut(depth) {
                Some(step) if random.below(3) == 0 => *step = drawn,
                Some(_) => {}
                None => each.push(drawn),
            }
        }
        let condition = |random: &mut Random| {
            let factors = loops.iter().map(|_| random.below(3) as i64 - 1).collect();
            let from = random.below(6) as i64 - 3;
            Condition::new(
                factors,
                Some(from),
                (random.below(2) == 0).then(|| from + 1 + random.below(4) as i64),
            )
        };
        let when = if random.below(3) == 0 { vec![condition(random)] } else { Vec::new() };
        Self { program: program(random, 48), steps: Steps { each, plus: 0 }, loops, when }
    }

    fn moving(&self) -> Moving<'_> {
        Moving { program: &self.program, steps: &self.steps, loops: &self.loops, when: &self.when }
    }

    /// The iterations in which it runs, each with its addresses.
    fn iterations(&self) -> Vec<(Vec<u64>, Vec<i64>)> {
        let mut all: Vec<Vec<u64>> = vec![Vec::new()];
        for times in &self.loops {
            all = all
                .iter()
                .flat_map(|outer| times.clone().map(|own| [outer.as_slice(), &[own]].concat()))
                .collect();
        }
        all.retain(|indices| self.when.iter().all(|condition| condition.holds(indices)));
        let addresses = listed(&self.program);
        let moved = |indices: &[u64]| addresses.iter().map(|at| at + self.steps.at(indices)).collect();
        all.into_iter().map(|indices| (indices.clone(), moved(&indices))).collect()
    }
}

/// Whether two iterations are a pair that is looked at.
fn is_pair(pairs: Pairs, one: &[u64], other: &[u64]) -> bool {
    match pairs {
        Pairs::Same(shared) => one[..shared] == other[..shared],
        Pairs::Earlier(shared) => one[..shared] == other[..shared] && one[shared] < other[shared],
    }
}

/// Decides a pair in loops; whether the two meet.
fn in_loops(random: &mut Random, case: u64) -> bool {
    let shared: Vec<u64> = (0..1 + random.below(2)).map(|_| 1 + random.bits() % 9).collect();
    let turns = if random.below(4) == 0 { 1 + random.below(3) } else { 0 };
    let step = |random: &mut Random| Step {
        by: stride(random),
        turns: (0..turns).map(|_| stride(random)).collect(),
    };
    let steps: Vec<Step> = shared.iter().map(|_| step(random)).collect();
    let [one, other] = [(), ()].map(|()| InLoops::draw(random, &shared, &steps));
    let pairs = match random.below(2) {
        0 => Pairs::Same(random.below(shared.len() + 1)),
        _ => Pairs::Earlier(random.below(shared.len())),
    };
    let others = other.iterations();
    let expected = one.iterations().iter().any(|(indices, own)| {
        let mut later = others.iter().filter(|(later, _)| is_pair(pairs, indices, later));
        later.any(|(_, theirs)| own.iter().any(|at| theirs.binary_search(at).is_ok()))
    });
    let mut left = visa_loops::MAX_SUMS;
    let found = meet(one.moving(), other.moving(), pairs, &mut left);
    assert_eq!(
        found,
        Some(expected),
        "case {case}: {pairs:?}\n{} {} {:?} {:?}\n{} {} {:?} {:?}",
        one.program,
        one.steps,
        one.loops,
        one.when,
        other.program,
        other.steps,
        other.loops,
        other.when
    );
    expected
}

/// Decides so many pairs.
///
/// # Panics
/// If one is decided wrongly, or not at all.
pub fn run(settings: &Settings<'_>) {
    let mut random = Random(settings.seed);
    let mut meeting = 0;
    for case in 0..settings.count {
        let expected = if case % 2 == 0 {
            let (one, other) = (program(&mut random, MOST), program(&mut random, MOST));
            let others = listed(&other);
            let expected = listed(&one).iter().any(|at| others.binary_search(at).is_ok());
            assert_eq!(overlap(&one, &other), Some(expected), "case {case}: {one} and {other}");
            expected
        } else {
            in_loops(&mut random, case)
        };
        meeting += u64::from(expected);
    }
    let Settings { count, seed, .. } = settings;
    println!("overlaps, seed {seed}: {count} pairs, {meeting} meet, 0 wrong, 0 undecided");
}
