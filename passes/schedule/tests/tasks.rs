//! Orders of random tasks, against every order that they may have.

use visa_cost::Queues;
use visa_schedule::exact::{Unfound, permitted, sooner};
use visa_schedule::tasks::{Task, Tasks};
use visa_schedule::{improve, list};
use visa_support::Random;

/// Conflicts that are enough for a few tasks.
const CONFLICTS: u64 = 100_000;

/// Up to `most` tasks, each after some of those before it.
fn draw(random: &mut Random, most: usize) -> Tasks {
    let count = random.below(most + 1);
    let task = |number: usize, random: &mut Random| {
        let [first, second] = [0, 1].map(Queues::of_cluster);
        let all = [
            first,
            second,
            first.and(second),
            Queues::MAIN,
            Queues::SUB,
            Queues::MAIN.and(Queues::SUB),
            Queues::default(),
        ];
        let uses = all[random.below(all.len())];
        let after = (0..number).filter(|_| random.below(4) == 0).collect();
        Task { cycles: random.below(12) as u64, uses, after }
    };
    let mut tasks = Vec::new();
    for number in 0..count {
        tasks.push(task(number, random));
    }
    Tasks(tasks)
}

/// The least cycles of all orders, by trying them.
fn least(tasks: &Tasks, order: &mut Vec<usize>) -> u64 {
    if order.len() == tasks.0.len() {
        return tasks.placed(order).1;
    }
    let mut best = u64::MAX;
    for (number, task) in tasks.0.iter().enumerate() {
        if !order.contains(&number) && task.after.iter().all(|other| order.contains(other)) {
            order.push(number);
            best = best.min(least(tasks, order));
            order.pop();
        }
    }
    best
}

#[test]
fn no_order_takes_less_than_what_is_found() {
    let mut better = 0;
    for seed in 0..400 {
        let tasks = draw(&mut Random(seed), 6);
        let listed = list::order(&tasks);
        assert_eq!(listed.len(), tasks.0.len(), "seed {seed}: all are in the list");
        let (_, listed) = tasks.placed(&listed);
        let best = least(&tasks, &mut Vec::new());
        assert!(tasks.bound() <= best, "seed {seed}: the bound {} is above {best}", tasks.bound());
        match sooner(&tasks, listed, CONFLICTS) {
            Ok(found) => {
                assert!(found.proven, "seed {seed}");
                assert_eq!(tasks.placed(&found.order).1, best, "seed {seed}: {tasks:?}");
                better += 1;
            }
            Err(Unfound::Proven(_)) => assert_eq!(listed, best, "seed {seed}: {tasks:?}"),
            Err(unknown @ (Unfound::TooLong | Unfound::Undecided(_))) => panic!("seed {seed}: {unknown:?}"),
        }
    }
    assert!(better > 10, "the solver found {better} orders that the list does not");
}

/// A search from an order never ends in a worse one or in one that breaks a need, and finds most of the best.
#[test]
fn a_search_from_an_order_ends_in_no_worse_one() {
    let (mut best, mut better) = (0, 0);
    for seed in 0..400 {
        let tasks = draw(&mut Random(seed), 6);
        let (written, listed) = ((0..tasks.0.len()).collect(), list::order(&tasks));
        let mut least_found = u64::MAX;
        for start in [written, listed] {
            let (_, before) = tasks.placed(&start);
            let found = improve::order(&tasks, start);
            let mut sorted = found.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..tasks.0.len()).collect::<Vec<_>>(), "seed {seed}");
            for (place, &number) in found.iter().enumerate() {
                let after = &tasks.0[number].after;
                assert!(after.iter().all(|other| found[..place].contains(other)), "seed {seed}: {found:?}");
            }
            let (_, now) = tasks.placed(&found);
            assert!(now <= before, "seed {seed}: {now} after {before}");
            better += u32::from(now < before);
            least_found = least_found.min(now);
        }
        best += u32::from(least_found == least(&tasks, &mut Vec::new()));
    }
    assert!(better > 20, "{better} orders became better");
    assert!(best > 380, "{best} of 400 are the best");
}

/// Two commands of 4 cycles have a tail of 10 each, a third one of 6 cycles has none. The longest chain has 14 cycles,
/// and the queue works for 14; but one of the two ends after 8 cycles at least, and its tail after 18.
#[test]
fn a_bound_counts_the_tails_of_several_commands() {
    let queue = Queues::of_cluster(0);
    let task = |cycles, uses, after: &[usize]| Task { cycles, uses, after: after.to_vec() };
    let tail = |after| task(10, Queues::default(), &[after]);
    let tasks = Tasks(vec![task(6, queue, &[]), task(4, queue, &[]), task(4, queue, &[]), tail(1), tail(2)]);
    assert_eq!((tasks.bound(), least(&tasks, &mut Vec::new())), (18, 18));
    // A command that starts late interrupts another one: both tails end at 9, not at 10.
    let late = task(5, Queues::MAIN, &[]);
    let tasks = Tasks(vec![late, task(7, queue, &[]), task(1, queue, &[0]), task(3, Queues::SUB, &[2])]);
    assert_eq!((tasks.bound(), least(&tasks, &mut Vec::new())), (9, 11));
}

#[test]
fn conflicts_are_fewer_for_more_commands() {
    assert_eq!([0, 8, 16].map(|commands| permitted(commands, 20_000)), [20_000; 3]);
    assert_eq!([32, 40].map(|commands| permitted(commands, 20_000)), [10_000, 8_000]);
    assert_eq!((permitted(40, 1), permitted(17, u64::MAX)), (0, u64::MAX / 17));
}

#[test]
fn a_search_ends_after_its_conflicts() {
    // Jobs of three queues, one after another: hard enough that ten conflicts prove nothing.
    let queues = [Queues::of_cluster(0), Queues::MAIN, Queues::SUB];
    let mut tasks = Tasks::default();
    for job in 0..8_usize {
        for step in 0..3 {
            let number = tasks.0.len();
            let after = if step == 0 { Vec::new() } else { vec![number - 1] };
            let cycles = 3 + ((job * 7 + step * 5) % 11) as u64;
            tasks.0.push(Task { cycles, uses: queues[(job + step) % 3], after });
        }
    }
    let (_, known) = tasks.placed(&list::order(&tasks));
    let few = sooner(&tasks, tasks.bound().max(1), 1);
    assert!(matches!(few, Err(Unfound::Undecided(1) | Unfound::Proven(_))), "{few:?}");
    assert!(tasks.bound() <= known);
}

#[test]
fn what_takes_longer_than_the_solver_counts_is_left_to_the_list() {
    let task = || Task { cycles: 1 << 31, uses: Queues::of_cluster(0), after: Vec::new() };
    let tasks = Tasks(vec![task(), task()]);
    assert_eq!(sooner(&tasks, 1 << 32, CONFLICTS), Err(Unfound::TooLong));
    let tasks = Tasks(vec![Task { cycles: (1 << 31) - 2, uses: Queues::of_cluster(0), after: Vec::new() }]);
    assert_eq!(sooner(&tasks, (1 << 31) - 2, CONFLICTS), Err(Unfound::Proven(0)));
}
