//! Tasks that no operation stands for.

use visa_cost::Queues;
use visa_schedule::hidden::{Hidden, WithHidden};
use visa_schedule::list;
use visa_schedule::tasks::{Task, Tasks};

fn task(cycles: u64, uses: Queues, after: &[usize]) -> Task {
    Task { cycles, uses, after: after.to_vec() }
}

fn both() -> Queues {
    Queues::of_cluster(0).and(Queues::of_cluster(1))
}

/// An independent load of 70 cycles, a store of 10, and a reload after the store.
fn hop() -> Tasks {
    Tasks(vec![task(70, both(), &[]), task(10, both(), &[]), task(5, both(), &[1])])
}

fn reload(store: usize, cycles: u64) -> Hidden {
    Hidden { table: None, reloads: vec![(store, cycles)] }
}

#[test]
fn a_wait_takes_no_queue() {
    let with = WithHidden::of(&hop(), &[Hidden::default(), Hidden::default(), reload(1, 100)]);
    let wait = task(100, Queues::default(), &[1]);
    let [load, store, _] = hop().0.try_into().expect("three tasks");
    assert_eq!(with.tasks.0, [load, store, wait, task(5, both(), &[1, 2])]);
    // As written 70 + 10 + 100 + 5; with the store first, the load is within the wait: 10 + 100 + 5.
    assert_eq!(with.tasks.placed(&[0, 1, 2, 3]).1, 185);
    assert_eq!((with.tasks.placed(&[1, 2, 0, 3]).1, with.tasks.bound()), (115, 115));
    assert_eq!(with.order(&[1, 2, 0, 3]), [1, 0, 2]);
}

#[test]
fn without_waits_the_order_stays() {
    let with = WithHidden::of(&hop(), &[Hidden::default(), Hidden::default(), Hidden::default()]);
    assert_eq!((with.tasks.clone(), with.tasks.placed(&[0, 1, 2]).1), (hop(), 85));
    assert_eq!(with.order(&list::order(&with.tasks)), [0, 1, 2]);
}

/// Two stores are read back by one transfer, and a pass looks up a table. The wait of the first store is over when
/// that of the second begins.
#[test]
fn several_hidden_tasks_of_a_command() {
    let tasks = Tasks(vec![
        task(10, Queues::of_cluster(0), &[]),
        task(20, Queues::of_cluster(1), &[]),
        task(5, both(), &[0, 1]),
        task(7, Queues::MAIN, &[2]),
    ]);
    let hidden = [
        Hidden::default(),
        Hidden::default(),
        Hidden { table: None, reloads: vec![(0, 100), (1, 100)] },
        Hidden { table: Some((30, both())), reloads: Vec::new() },
    ];
    let with = WithHidden::of(&tasks, &hidden);
    let numbers: Vec<Vec<usize>> = with.tasks.0.iter().map(|task| task.after.clone()).collect();
    let expected: [&[usize]; 7] = [&[], &[], &[0], &[1], &[0, 1, 2, 3], &[], &[4, 5]];
    assert_eq!(numbers, expected);
    // The reload starts at 120; the table's transfer before it, in the wait: 120 + 5 + 7. After it, 30 more.
    assert_eq!(with.tasks.placed(&[0, 1, 2, 3, 5, 4, 6]).1, 132);
    assert_eq!(with.tasks.placed(&[0, 1, 2, 3, 4, 5, 6]).1, 162);
    // The pass has the position of its table, but not before the reload.
    assert_eq!(with.order(&[0, 1, 2, 3, 5, 4, 6]), [0, 1, 2, 3]);
}

/// A pass has the position of its table's transfer in the queue, unless it needs a command that comes later.
#[test]
fn a_pass_follows_its_table() {
    let looked_up = |after: &[usize]| {
        let tasks = Tasks(vec![task(70, both(), &[]), task(7, Queues::MAIN, after)]);
        let table = Hidden { table: Some((30, both())), reloads: Vec::new() };
        WithHidden::of(&tasks, &[Hidden::default(), table])
    };
    // The table, the load, and the pass.
    assert_eq!(looked_up(&[]).order(&[1, 0, 2]), [1, 0]);
    assert_eq!(looked_up(&[0]).order(&[1, 0, 2]), [0, 1]);
    assert_eq!(looked_up(&[]).order(&[0, 1, 2]), [0, 1]);
}
