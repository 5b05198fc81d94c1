//! Conditions on indices, against lists of all iterations.

use visa_loops::{Condition, iterations, narrowed, some_iteration};
use visa_support::Random;

/// All iterations of nested loops.
fn all(times: &[u64]) -> Vec<Vec<u64>> {
    times.iter().fold(vec![Vec::new()], |outer, &times| {
        let with = |indices: &Vec<u64>, index| indices.iter().copied().chain([index]).collect();
        outer.iter().flat_map(|indices| (0..times).map(move |index| with(indices, index))).collect()
    })
}

fn random_condition(random: &mut Random, loops: usize) -> Condition {
    let mut number = |most: u64| (random.bits() % (2 * most + 1)).cast_signed() - most.cast_signed();
    let factors = (0..loops).map(|_| number(3)).collect();
    let (from, width) = (number(8), number(8));
    let from = (width != 3).then_some(from);
    Condition::new(factors, from, (width != -3).then_some(from.unwrap_or_default() + width + 5))
}

#[test]
fn as_lists_of_iterations_say() {
    let (mut never, mut always, mut some) = (0, 0, 0);
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let times: Vec<u64> = (0..random.bits() % 3 + 1).map(|_| random.bits() % 6 + 1).collect();
        let count = random.bits() % 3 + 1;
        let conditions: Vec<_> = (0..count).map(|_| random_condition(&mut random, times.len())).collect();
        let everywhere = all(&times);
        let holding: Vec<_> = everywhere
            .iter()
            .filter(|indices| {
                conditions.iter().all(|condition| {
                    let terms = condition.factors.iter().zip(*indices);
                    let sum: i64 = terms.map(|(factor, index)| factor * index.cast_signed()).sum();
                    condition.range.contains(&i128::from(sum))
                })
            })
            .collect();
        let found = narrowed(&times, &conditions);
        assert_eq!(iterations(&times, &conditions), Some(holding.len() as u128), "{times:?} {conditions:?}");
        let one = some_iteration(&times, &conditions);
        assert!(
            one.as_ref().map_or(holding.is_empty(), |one| holding.contains(&one)),
            "{one:?}: {times:?} {conditions:?}"
        );
        for indices in &holding {
            let ranges = found.as_ref().expect("some iteration is left");
            assert!(
                indices.iter().zip(ranges).all(|(index, range)| range.contains(index)),
                "{indices:?} is not in {ranges:?}: {conditions:?}"
            );
        }
        let alone =
            |condition: &Condition| condition.factors.iter().filter(|factor| **factor != 0).count() <= 1;
        if conditions.iter().all(alone) {
            // Then the ranges hold nothing else.
            let left = found.map_or(0, |ranges| ranges.iter().map(|range| range.end - range.start).product());
            assert_eq!(left, holding.len() as u64, "{times:?} {conditions:?}");
        }
        match holding.len() {
            0 => never += 1,
            count if count == everywhere.len() => always += 1,
            _ => some += 1,
        }
    }
    assert!(never > 1000 && always > 500 && some > 1000, "{never} never, {always} always, {some} at times");
}

#[test]
fn a_triangle_of_many_iterations_takes_too_long_to_count() {
    let triangle = Condition::new(vec![1, -1], Some(0), None);
    assert_eq!(iterations(&[1000, 1000], std::slice::from_ref(&triangle)), Some(1000 * 1001 / 2));
    assert_eq!(iterations(&[1 << 32, 1 << 32], &[triangle]), None);
}

#[test]
fn what_is_known_leaves_a_condition_on_the_rest() {
    let condition = Condition::new(vec![4, -1], Some(3), Some(6));
    // 8 - j is 3 to 5.
    let rest = condition.after(&[2]);
    let holding: Vec<u64> = (0..10).filter(|&index| rest.holds(&[index])).collect();
    assert_eq!(holding, [3, 4, 5]);
}

#[test]
fn far_numbers_do_not_overflow() {
    let condition = Condition::new(vec![i64::MAX, i64::MIN], Some(i64::MIN), None);
    assert!(condition.holds(&[1 << 32, 0]));
    assert!(!condition.holds(&[0, 1 << 32]));
    // i is at least j.
    let ranges = narrowed(&[1 << 32, 1 << 32], &[condition]).expect("the first iteration is inside");
    assert_eq!(ranges, [0..1 << 32, 0..1 << 32]);
}
