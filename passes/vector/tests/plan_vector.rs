//! `plan-vector` against brute force: on a hundred generated expressions no plan has more passes than there must be.
//!
//! The brute force is written from book 21 alone. It rewrites expressions as trees, one step at a time, and runs each
//! pass forwards: from the available values it computes every value that some way through the stages can give, a set
//! of ALUs and a stash in hand. So it shares neither the e-graph nor the search from the end, only the numbers of the
//! machine: the operations of each ALU.

use std::collections::{BTreeMap, BTreeSet};
use visa_mapping::expression::{Dag, Expression};
use visa_numerics::DType;
use visa_vector::{BUILTIN, Counted, MAX_ITERATIONS, count_passes, parse_rules};

/// An expression as a tree.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Tree {
    /// The stream.
    X,
    /// The register file.
    B,
    /// A number: its bits.
    N(u32),
    Op(&'static str, Vec<Tree>),
}

use Tree::{B, N, Op, X};

/// Stage, ALU of each way to compute a function of f32: book 21's tables. Stages 1 and 2 are on 4 lanes, 3 on 8.
const UNITS: &[(&str, u8, &str)] = &[
    ("add", 1, "FpFma"),
    ("sub", 1, "FpFma"),
    ("fma", 1, "FpFma"),
    ("mul", 1, "FpMul0"),
    ("mul", 1, "FpMul1"),
    ("div", 1, "FpFpu"),
    ("exp", 1, "FpExp"),
    ("negexp", 1, "FpExp"),
    ("sqrt", 1, "FpFpu"),
    ("tanh", 1, "FpFpu"),
    ("sigmoid", 1, "FpFpu"),
    ("log", 1, "FpFpu"),
    ("div", 2, "FpDiv"),
    ("add", 3, "ClipAdd"),
    ("max", 3, "ClipMax"),
    ("min", 3, "ClipMin"),
];

fn n(x: f32) -> Tree {
    N(x.to_bits())
}

fn op(name: &'static str, args: impl Into<Vec<Tree>>) -> Tree {
    Op(name, args.into())
}

fn text(tree: &Tree) -> String {
    match tree {
        X => "x".to_owned(),
        B => "b".to_owned(),
        N(bits) => format!("{}", f32::from_bits(*bits)),
        Op(name, args) => format!("{name}({})", args.iter().map(text).collect::<Vec<_>>().join(", ")),
    }
}

fn operations(tree: &Tree) -> usize {
    match tree {
        X | B | N(_) => 0,
        Op(_, args) => 1 + args.iter().map(operations).sum::<usize>(),
    }
}

/// The results of one exact law of f32 for the top of a tree: written out here, not read from the rules.
fn top(tree: &Tree) -> Vec<Tree> {
    let Op(name, args) = tree else { return Vec::new() };
    let minus = |tree: &Tree| match tree {
        N(bits) => N(bits ^ 1 << 31),
        other => op("mul", [other.clone(), n(-1.0)]),
    };
    /// Of `-x` the x.
    fn negative(tree: &Tree) -> Option<&Tree> {
        match tree {
            Op("mul", args) if args[1] == n(-1.0) => Some(&args[0]),
            _ => None,
        }
    }
    let mut all = Vec::new();
    let swapped = |args: &[Tree]| [&[args[1].clone(), args[0].clone()], &args[2..]].concat();
    match *name {
        "add" | "mul" | "max" | "min" | "fma" => all.push(op(name, swapped(args))),
        _ => {}
    }
    match (*name, args.as_slice()) {
        ("max" | "min", [Op(inner, below), z]) if inner == name => {
            all.push(op(name, [below[0].clone(), op(name, [below[1].clone(), z.clone()])]));
        }
        ("mul", [x, y]) => {
            all.push(op("fma", [x.clone(), y.clone(), n(-0.0)]));
            if *y == n(2.0) {
                all.push(op("add", [x.clone(), x.clone()]));
            }
            if *y == n(-1.0) {
                all.push(op("sub", [n(-0.0), x.clone()]));
            }
            if let Some(inner) = negative(x) {
                all.push(op("mul", [inner.clone(), minus(y)]));
            }
        }
        ("add", [x, y]) => {
            if x == y {
                all.push(op("mul", [x.clone(), n(2.0)]));
            }
            if let Some(inner) = negative(y) {
                all.push(op("sub", [x.clone(), inner.clone()]));
            }
            if let N(_) = y {
                all.push(op("sub", [x.clone(), minus(y)]));
            }
        }
        ("sub", [x, y]) => all.push(op("add", [x.clone(), minus(y)])),
        ("div", [x, N(c)]) if matches!(f32::from_bits(*c), 0.5 | 2.0 | 4.0) => {
            all.push(op("mul", [x.clone(), n(1.0 / f32::from_bits(*c))]));
        }
        ("div", [x, y]) => {
            if let Some(inner) = negative(x) {
                all.push(minus(&op("div", [inner.clone(), y.clone()])));
            }
        }
        ("exp", [x]) => all.extend(negative(x).map(|inner| op("negexp", [inner.clone()]))),
        ("negexp", [x]) => {
            all.push(op("exp", [minus(x)]));
            all.extend(negative(x).map(|inner| op("exp", [inner.clone()])));
        }
        ("tanh", [x]) => all.extend(negative(x).map(|inner| minus(&op("tanh", [inner.clone()])))),
        _ => {}
    }
    all
}

/// The results of one law for a tree, anywhere in it.
fn step(tree: &Tree) -> Vec<Tree> {
    let mut all = top(tree);
    if let Op(name, args) = tree {
        for (at, arg) in args.iter().enumerate() {
            for changed in step(arg) {
                let mut args = args.clone();
                args[at] = changed;
                all.push(op(name, args));
            }
        }
    }
    all
}

/// Every tree that up to `depth` laws make of one, without those that only grow; at most `most`.
fn equivalents(tree: &Tree, depth: usize, most: usize) -> Vec<Tree> {
    let mut all: BTreeSet<Tree> = BTreeSet::from([tree.clone()]);
    let mut last = vec![tree.clone()];
    for _ in 0..depth {
        let mut next = Vec::new();
        for changed in last.iter().flat_map(step) {
            if all.len() < most && operations(&changed) <= operations(tree) + 1 && all.insert(changed.clone())
            {
                next.push(changed);
            }
        }
        last = next;
    }
    all.into_iter().collect()
}

/// The subterms of one tree, numbered.
#[derive(Default)]
struct Terms {
    numbers: BTreeMap<Tree, usize>,
    /// The function and arguments of each; a number has neither.
    of: Vec<Option<(&'static str, Vec<usize>)>>,
    constant: Vec<bool>,
}

impl Terms {
    fn add(&mut self, tree: &Tree) -> usize {
        if let Some(&known) = self.numbers.get(tree) {
            return known;
        }
        let of = match tree {
            X | B | N(_) => None,
            Op(name, args) => Some((*name, args.iter().map(|arg| self.add(arg)).collect())),
        };
        self.of.push(of);
        self.constant.push(matches!(tree, N(_)));
        self.numbers.insert(tree.clone(), self.of.len() - 1);
        self.of.len() - 1
    }
}

/// The state of a pass: stage, ALUs in use at it, the value that flows, the value that the stash keeps and its number
/// of lanes, and a flag that is true if it has been read.
type Place = (u8, BTreeSet<&'static str>, usize, Option<(usize, bool)>, bool);

/// Every value that one pass can end with, from streams and register files that are there.
fn reach(terms: &Terms, streams: &BTreeSet<usize>, files: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut seen: BTreeSet<Place> =
        streams.iter().map(|&stream| (0, BTreeSet::new(), stream, None, false)).collect();
    let mut open: Vec<Place> = seen.iter().cloned().collect();
    while let Some(place) = open.pop() {
        for next in advance(terms, files, &place) {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    seen.into_iter().map(|(_, _, flows, _, _)| flows).collect()
}

fn advance(terms: &Terms, files: &BTreeSet<usize>, place: &Place) -> Vec<Place> {
    let (stage, used, flows, stash, read) = place;
    let mut all = Vec::new();
    // On: to a later stage, where no ALU has worked yet.
    for later in stage + 1..=3 {
        all.push((later, BTreeSet::new(), *flows, *stash, *read));
    }
    // Into the stash: after entry, on 4 lanes, or after an operation of clip, but not after the widening alone.
    if stash.is_none() && (*stage < 3 || !used.is_empty()) {
        all.push((*stage, used.clone(), *flows, Some((*flows, matches!(stage, 1 | 2))), *read));
    }
    // Bitwise operations come first, and `and(b, b)` is b.
    for alu in ["LogicAnd", "LogicOr"].into_iter().filter(|alu| *stage == 0 && !used.contains(alu)) {
        let used: BTreeSet<&'static str> = used.iter().copied().chain([alu]).collect();
        all.extend(files.iter().map(|&file| (0, used.clone(), file, *stash, *read)));
    }
    for (result, of) in terms.of.iter().enumerate() {
        let Some((name, args)) = of else { continue };
        for &(_, _, alu) in
            UNITS.iter().filter(|unit| unit.0 == *name && unit.1 == *stage && !used.contains(unit.2))
        {
            let narrow = matches!(stage, 1 | 2);
            let kept = stash.filter(|&(_, lanes)| lanes == narrow && !read).map(|(kept, _)| kept);
            for (takes, taken) in ways(terms, args, *flows, kept, files) {
                if takes {
                    let mut used = used.clone();
                    used.insert(alu);
                    all.push((*stage, used, result, *stash, *read || taken));
                }
            }
        }
    }
    all
}

/// Combinations in which arguments can come from the stream, numbers and one value; the flag is true if the stash is
/// read.
fn ways(
    terms: &Terms,
    args: &[usize],
    flows: usize,
    kept: Option<usize>,
    files: &BTreeSet<usize>,
) -> Vec<(bool, bool)> {
    let mut all = Vec::new();
    // Each argument is the stream (0), operand 0 (1) or operand 1 (2): the book's tables of modes.
    let modes: &[&[u8]] = match args.len() {
        1 => &[&[0], &[1]],
        2 => &[&[0, 0], &[0, 1], &[1, 0], &[1, 1]],
        _ => &[&[0, 1, 2], &[0, 0, 2], &[1, 0, 2], &[1, 1, 2], &[0, 2, 0], &[0, 2, 1], &[1, 2, 0]],
    };
    for mode in modes {
        let at = |slot: u8| -> BTreeSet<usize> {
            mode.iter().zip(args).filter(|(own, _)| **own == slot).map(|(_, &arg)| arg).collect()
        };
        let (stream, first, second) = (at(0), at(1), at(2));
        if stream.iter().any(|&arg| arg != flows) || first.len() > 1 || second.len() > 1 {
            continue;
        }
        let values: Vec<usize> =
            first.into_iter().chain(second).filter(|&arg| !terms.constant[arg]).collect();
        match values.as_slice() {
            [] => all.push((true, false)),
            [value] => {
                all.push((files.contains(value), false));
                all.push((kept == Some(*value), true));
            }
            _ => {}
        }
    }
    all
}

/// The fewest passes in which a tree can be computed as it is, up to `most`.
fn passes(tree: &Tree, most: usize) -> Option<usize> {
    let mut terms = Terms::default();
    let (x, b, root) = (terms.add(&X), terms.add(&B), terms.add(tree));
    let mut sets: BTreeSet<BTreeSet<usize>> = BTreeSet::from([BTreeSet::new()]);
    for count in 1..=most {
        let mut next = BTreeSet::new();
        for made in &sets {
            let streams: BTreeSet<usize> = made.iter().copied().chain([x]).collect();
            let files: BTreeSet<usize> = streams.iter().copied().chain([b]).collect();
            let reached = reach(&terms, &streams, &files);
            if reached.contains(&root) {
                return Some(count);
            }
            for &value in reached.difference(&streams) {
                next.insert(made.iter().copied().chain([value]).collect());
            }
        }
        sets = next;
    }
    None
}

/// The fewest passes of every equivalent.
fn brute_force(tree: &Tree, depth: usize, equivalents_at_most: usize) -> usize {
    let mut least = passes(tree, operations(tree)).expect("an operation a pass always works");
    for tree in equivalents(tree, depth, equivalents_at_most) {
        if least == 1 {
            break;
        }
        least = passes(&tree, least - 1).unwrap_or(least);
    }
    least
}

/// A linear congruential generator: the same expressions each time.
struct Random(visa_support::Random);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    fn leaf(&mut self) -> Tree {
        match self.below(8) {
            0..4 => X,
            4 | 5 => B,
            _ => n([2.0, -1.0, 0.5, 3.0, 0.1][self.below(5)]),
        }
    }

    /// A tree of `operations` operations, none of numbers alone.
    fn tree(&mut self, operations: usize) -> Tree {
        const UNARY: [&str; 6] = ["exp", "negexp", "sqrt", "tanh", "sigmoid", "log"];
        const BINARY: [&str; 6] = ["add", "sub", "mul", "div", "max", "min"];
        if operations == 0 {
            return [X, X, B][self.below(3)].clone();
        }
        let rest = operations - 1;
        match self.below(10) {
            0..4 => op(UNARY[self.below(6)], [self.tree(rest)]),
            4..9 => {
                let left = self.below(rest + 1);
                let name = BINARY[self.below(6)];
                let side =
                    |random: &mut Self, count| if count == 0 { random.leaf() } else { random.tree(count) };
                let mut args = [side(self, left), side(self, rest - left)];
                if args.iter().all(|arg| matches!(arg, N(_))) {
                    args[0] = X;
                }
                op(name, args)
            }
            _ => op("fma", [self.tree(rest), self.leaf(), n(0.5)]),
        }
    }
}

fn dag(tree: &Tree) -> Dag {
    let text = format!("[x, b: {}]", text(tree));
    let expression = Expression::parse(&text).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    Dag::new(&expression, &[DType::F32; 2]).unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

fn compare(seed: u64, count: usize, depth: usize, equivalents: usize) {
    let rules = parse_rules(BUILTIN).expect("the rules parse");
    let mut random = Random(visa_support::Random(seed));
    let mut several = 0;
    for at in 0..count {
        let tree = random.tree(1 + at % 6);
        let planned = count_passes(&dag(&tree), &rules, false, true).expect("rules");
        let planned = planned.unwrap_or_else(|| panic!("{}: no plan", text(&tree)));
        let least = brute_force(&tree, depth, equivalents);
        assert!(planned.fewest, "{}: the search stopped at its bound", text(&tree));
        assert!(
            planned.passes <= least,
            "{}: {} passes, brute force finds {least}",
            text(&tree),
            planned.passes
        );
        several += usize::from(planned.passes > 1);
    }
    assert!(several * 5 > count, "only {several} of {count} take several passes: the comparison says little");
}

/// The figure: 0 more passes on 100 expressions of up to 6 operations. `VISA_PLAN_VECTOR_FULL=1` takes
/// more of them, and more equivalents of each.
#[test]
fn no_plan_has_more_passes_than_brute_force() {
    match std::env::var("VISA_PLAN_VECTOR_FULL") {
        Ok(_) => compare(0x5eed, 1_000, 4, 2_000),
        Err(_) => compare(0x5eed, 100, 3, 200),
    }
}

/// Worked by hand from book 21.
#[test]
fn brute_force_by_hand() {
    let x = || X;
    for (tree, expected) in [
        // One ALU each.
        (op("tanh", [x()]), 1),
        // tanh and sqrt are both FpFpu's (the book's own example).
        (op("tanh", [op("sqrt", [x()])]), 2),
        // x sigmoid(x): the stash keeps x.
        (op("mul", [x(), op("sigmoid", [x()])]), 1),
        // Two products by Mul0 and Mul1, the third only by fma.
        (op("mul", [op("mul", [op("mul", [x(), n(3.0)]), n(3.0)]), n(3.0)]), 1),
        // max comes after float: the operation that follows it cannot.
        (op("exp", [op("max", [x(), n(0.0)])]), 2),
    ] {
        assert_eq!(brute_force(&tree, 3, 200), expected, "{}", text(&tree));
        let planned = count_passes(&dag(&tree), &parse_rules(BUILTIN).expect("rules"), false, true);
        assert_eq!(planned.expect("rules").expect("a plan").passes, expected, "{}", text(&tree));
    }
}

fn planned(text: &str, dtype: DType) -> Counted {
    let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    let dag = Dag::new(&expression, &vec![dtype; expression.names.len()]).expect("formats that fit");
    let rules = parse_rules(BUILTIN).expect("the rules parse");
    count_passes(&dag, &rules, false, true).expect("rules").unwrap_or_else(|| panic!("{text}: no plan"))
}

/// Twelve sums can be grouped in more ways than an e-graph may hold: rewriting stops at its bound, and there is a
/// plan all the same.
#[test]
fn rules_that_explode_stop_at_the_bound() {
    let sum: Vec<String> = (1..=12).map(|at| format!("shl(x, {at})")).collect();
    let found = planned(&format!("[x: {}]", sum.join(" + ")), DType::I32);
    assert!(!found.statistics.saturated);
    assert!(found.statistics.iterations <= MAX_ITERATIONS);
    let small = planned("[x: x + 1]", DType::I32);
    assert!(small.statistics.saturated);
}

/// Where the ways to group twelve sums are too many to examine, the plan reports that it may not be the shortest.
/// Fourteen functions of one ALU take fourteen passes, and that is sure: there is one order for them.
#[test]
fn a_search_that_stops_says_so() {
    let sum: Vec<String> = (1..=12).map(|at| format!("shl(x, {at})")).collect();
    assert!(!planned(&format!("[x: {}]", sum.join(" + ")), DType::I32).fewest);
    let functions = ["tanh", "sqrt", "sin", "erf"].iter().cycle().take(14);
    let nested = functions.fold("x".to_owned(), |inner, function| format!("{function}({inner})"));
    let found = planned(&format!("[x: {nested}]"), DType::F32);
    assert_eq!((found.passes, found.fewest), (14, true));
}

/// An expression of 60 operations is planned too.
#[test]
fn a_large_expression_has_a_plan() {
    let term = (1..=48).fold("x".to_owned(), |inner, at| match at % 4 {
        0 => format!("tanh({inner})"),
        1 => format!("({inner} + {at})"),
        2 => format!("max({inner}, x * {at})"),
        _ => format!("({inner} * x)"),
    });
    let found = planned(&format!("[x: {term}]"), DType::F32);
    // tanh is FpFpu's, once a pass.
    assert!((12..=60).contains(&found.passes), "{}", found.passes);
}
