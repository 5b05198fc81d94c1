//! The vendor's order, compared with the orders of the vendor's schedules.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use visa_cost::Queues;
use visa_schedule::tasks::Task;
use visa_schedule::vendor::{VendorCommand, order};

/// The facts of a schedule, in the order of its entries.
fn facts(name: &str) -> Vec<VendorCommand> {
    let path = folder().join(name);
    let text = read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("kind,begin,end,line,operands,last"), "{name}");
    lines.map(|line| fact(line, name)).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/peers/silicon/orders")
}

fn fact(line: &str, name: &str) -> VendorCommand {
    let number = |text: &str| text.parse::<usize>().unwrap_or_else(|why| panic!("{name}: `{line}`: {why}"));
    let parts: Vec<&str> = line.split(',').collect();
    let [kind, begin, end, _, operands, last] = &*parts else { panic!("{name}: `{line}` has no 6 columns") };
    let uses = match *kind {
        "main" => Queues::MAIN,
        "sub" => Queues::SUB,
        "load" | "move" | "store" => Queues::of_cluster(0),
        other => panic!("{name}: unknown kind `{other}`"),
    };
    let operands: Vec<usize> = operands.split_whitespace().map(number).collect();
    VendorCommand {
        task: Task { cycles: (number(end) - number(begin)) as u64, uses, after: operands.clone() },
        operands,
        stores: *kind == "store",
        text: if last.is_empty() { 0 } else { number(last) },
    }
}

/// Pairs of entries in the same relative order as in the schedule, and all pairs.
fn agreement(commands: &[VendorCommand]) -> (usize, usize) {
    let order = order(commands, usize::MAX);
    let pairs =
        (0..order.len()).flat_map(|first| (first + 1..order.len()).map(move |second| (first, second)));
    let agree = pairs.clone().filter(|&(first, second)| order[first] < order[second]).count();
    (agree, pairs.count())
}

/// The schedule that the rule is not learned from, with its pairs that agree.
const UNSEEN: (&str, usize, usize) = ("p028.csv", 1891, 2016);

/// The pairs of each schedule that agree: at least 95 % of those that the rule is learned from, and fewer of the other
/// one.
#[test]
fn orders_agree_with_the_schedules() {
    let expected = [
        ("k2-baseline.csv", 253, 253),
        ("p024.csv", 2535, 2628),
        ("v18.csv", 3184, 3240),
        ("add.csv", 6, 6),
        ("dot.csv", 10, 10),
        ("gemm.csv", 10, 10),
        ("gemv.csv", 10, 10),
        ("mul.csv", 10, 10),
        ("reduce_sum.csv", 3, 3),
        ("reduce_sum_exp.csv", 3, 3),
        ("reduce_sum_ragged.csv", 3, 3),
        ("rmsnorm.csv", 21, 21),
        ("softmax.csv", 21, 21),
    ];
    let found = expected.map(|(name, ..)| {
        let (agree, all) = agreement(&facts(name));
        (name, agree, all)
    });
    assert_eq!(found, expected);
    assert!(found.iter().all(|(_, agree, all)| agree * 100 >= all * 95));
    let (agree, all) = agreement(&facts(UNSEEN.0));
    assert_eq!((UNSEEN.0, agree, all), UNSEEN);
    let files = std::fs::read_dir(folder()).expect("the folder").count();
    assert_eq!(files, expected.len() + 1, "every file of the folder is in the list");
}

/// A command of `cycles` after its operands.
fn command(cycles: u64, uses: Queues, operands: &[usize], text: usize) -> VendorCommand {
    let task = Task { cycles, uses, after: operands.to_vec() };
    VendorCommand { task, operands: operands.to_vec(), stores: false, text }
}

/// The order is one of the dependences, also if all commands take no time.
#[test]
fn commands_without_cost_keep_their_dependences() {
    let dma = Queues::of_cluster(0);
    let commands =
        [command(0, Queues::MAIN, &[1], 0), command(0, dma, &[2], 1), command(0, Queues::SUB, &[], 2)];
    assert_eq!(order(&commands, usize::MAX), [2, 1, 0]);
    assert_eq!(order(&[], 0), [0_usize; 0]);
}

/// A short load that could start at once waits if a command of a lower rank can start before it would end.
#[test]
fn a_load_of_a_higher_rank_waits() {
    let dma = Queues::of_cluster(0);
    let commands = |cycles| {
        [
            command(100, dma, &[], 0),
            command(20, Queues::MAIN, &[0], 1),
            command(50, dma, &[1], 2),
            command(cycles, dma, &[], 3),
            command(10, Queues::MAIN, &[2, 3], 4),
        ]
    };
    assert_eq!(order(&commands(21), usize::MAX), [0, 1, 2, 3, 4]);
    // It ends when the other one can start.
    assert_eq!(order(&commands(20), usize::MAX), [0, 1, 3, 2, 4]);
}

/// Of several last stores, the operands of the last one in the text come first.
#[test]
fn the_last_store_is_first() {
    let dma = Queues::of_cluster(0);
    let stores = |first, second| {
        let all = [
            command(10, dma, &[], 0),
            command(10, dma, &[], 1),
            command(10, Queues::MAIN, &[0], 2),
            command(10, Queues::SUB, &[1], 3),
            command(10, dma, &[2], first),
            command(10, dma, &[3], second),
        ];
        order(&all, usize::MAX)[0]
    };
    assert_eq!((stores(4, 5), stores(5, 4)), (1, 0));
}

/// An operand that a pass makes of a load is before one that is loaded. If no command may be ahead, commands run in
/// the order of the walk.
#[test]
fn longer_chains_come_first() {
    let dma = Queues::of_cluster(0);
    let commands = [
        command(10, dma, &[], 0),
        command(10, dma, &[], 1),
        command(30, Queues::SUB, &[1], 2),
        command(10, Queues::MAIN, &[0, 2], 3),
        command(10, dma, &[3], 4),
    ];
    assert_eq!(order(&commands, 0), [1, 2, 0, 3, 4]);
    // The load of rank 2 ends before the pass of rank 1.
    assert_eq!(order(&commands, 1), [1, 0, 2, 3, 4]);
    let chain: Vec<VendorCommand> = (0..9)
        .map(|number| command(10, if number % 2 == 0 { dma } else { Queues::SUB }, &[], number))
        .collect();
    // Nine commands that need nothing: by ranks, or each unit's in turn.
    assert_eq!(order(&chain, 0), [8, 6, 4, 2, 0, 7, 5, 3, 1]);
    assert_eq!(order(&chain, usize::MAX)[..4], [7, 8, 5, 6]);
}
