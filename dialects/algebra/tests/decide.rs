//! Equality and refinement against enumeration: over a whole universe of small expressions, and over random deep
//! ones.
//!
//! `cargo test` runs a part. The figures in docs/benchmarks.md come from
//! `VISA_DECIDE=full cargo test --release -p visa-algebra --test main decide -- --nocapture`.

#![expect(clippy::print_stdout, reason = "the counts say how much the tests cover")]

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use visa_algebra::{
    Axes, Cell, Digits, Equality, Expr, Map, PadKind, Refinement, Tier, decide, digits, refines,
};

const KINDS: [PadKind; 3] = [PadKind::Bottom, PadKind::Zero, PadKind::Top];

/// Largest size in the universe.
const LARGEST: u64 = 96;

fn full() -> bool {
    std::env::var("VISA_DECIDE").is_ok_and(|value| value == "full")
}

fn table(sizes: &[u64]) -> Axes {
    let mut axes = Axes::new();
    for (name, size) in ["A", "B", "C"].iter().zip(sizes) {
        axes.declare(name, *size).unwrap();
    }
    axes
}

fn cells(expr: &Expr, axes: &Axes) -> Vec<Cell> {
    let map = Map::new(expr, axes).unwrap_or_else(|error| panic!("{expr}: {error}"));
    (0..map.size()).map(|i| map.cell(i).unwrap()).collect()
}

fn fingerprint(cells: &[Cell]) -> u64 {
    let mut hasher = DefaultHasher::new();
    cells.hash(&mut hasher);
    hasher.finish()
}

/// The answer of enumeration for two lists of cells.
fn expected(left: &[Cell], right: &[Cell]) -> Equality {
    let common = left.len().min(right.len());
    let at = left.iter().zip(right).position(|(a, b)| a != b);
    match at.or((left.len() != right.len()).then_some(common)) {
        None => Equality::Equal,
        Some(at) => {
            Equality::Different { at: at as u64, left: left.get(at).cloned(), right: right.get(at).cloned() }
        }
    }
}

fn refining(left: &Cell, right: &Cell) -> bool {
    match (left, right) {
        (Cell::Pad(ours), Cell::Pad(theirs)) => ours <= theirs,
        (Cell::Live(_) | Cell::Shared(_), Cell::Pad(kind)) => *kind == PadKind::Top,
        (ours, theirs) => ours == theirs,
    }
}

/// Every operator with every number that fits: divisors, lengths, offsets; padding of each kind and side to the
/// next sizes, to multiples and to a few fixed totals.
fn operators(expr: &Expr, size: u64, to: &mut Vec<Expr>) {
    for n in 1..=size {
        if size.is_multiple_of(n) {
            to.push(expr.clone().stride(n));
            to.push(expr.clone().modulo(n));
        }
        to.push(expr.clone().resize(n));
        to.push(expr.clone().slice(n - 1));
    }
    let mut totals = vec![size + 1, size + 2, 2 * size, 3 * size, 8, 12, 16, 30, 64, LARGEST];
    totals.retain(|total| (size..=LARGEST).contains(total));
    totals.sort_unstable();
    totals.dedup();
    for total in totals {
        to.extend(KINDS.map(|kind| expr.clone().pad(total, kind)));
        to.extend(KINDS.map(|kind| expr.clone().pad_left(total, kind)));
    }
}

/// One expression for each function of at most `LARGEST` positions that `levels` levels of nesting denote.
fn distinct(axes: &Axes, levels: usize) -> Vec<(Expr, u64)> {
    let mut seen: HashMap<u64, ()> = HashMap::new();
    let mut found: Vec<(Expr, u64)> = Vec::new();
    let mut keep = |exprs: Vec<Expr>, found: &mut Vec<(Expr, u64)>| {
        for expr in exprs {
            let cells = cells(&expr, axes);
            if seen.insert(fingerprint(&cells), ()).is_none() {
                found.push((expr, cells.len() as u64));
            }
        }
    };
    keep(vec![Expr::axis("A"), Expr::axis("B"), Expr::Literal(1), Expr::Literal(2)], &mut found);
    for _ in 0..levels {
        let mut next = Vec::new();
        level(&found, &mut |expr| next.push(expr));
        keep(next, &mut found);
    }
    found
}

/// Everything one level above: each operator on each expression, each pair, each split into `[E / n, E % n]`.
fn level(below: &[(Expr, u64)], with: &mut dyn FnMut(Expr)) {
    let mut exprs = Vec::new();
    for (major, high) in below {
        operators(major, *high, &mut exprs);
        for n in (1..=*high).filter(|n| high.is_multiple_of(*n)) {
            exprs.push(Expr::pair([major.clone().stride(n), major.clone().modulo(n)]));
        }
        for (minor, low) in below {
            if high * low <= LARGEST {
                exprs.push(Expr::pair([major.clone(), minor.clone()]));
            }
        }
        exprs.drain(..).for_each(&mut *with);
    }
}

/// Number of questions that each tier decided.
#[derive(Default)]
struct Count {
    tiers: BTreeMap<Tier, u64>,
    equal: u64,
    wrong: u64,
}

impl Count {
    fn ask(&mut self, (a, left): (&Expr, &[Cell]), (b, right): (&Expr, &[Cell]), axes: &Axes) {
        let (answer, tier) = decide(a, b, axes);
        *self.tiers.entry(tier).or_default() += 1;
        let expected = expected(left, right);
        self.equal += u64::from(expected == Equality::Equal);
        if answer != expected {
            self.wrong += 1;
            println!("wrong: {a} and {b}: {answer:?}, not {expected:?}");
        }
    }

    fn total(&self) -> u64 {
        self.tiers.values().sum()
    }

    fn print(&self, what: &str) {
        let total = self.total();
        println!("{what}: {total} questions, {} of them equal, {} wrong", self.equal, self.wrong);
        for (tier, count) in &self.tiers {
            println!("  {tier}: {count} ({:.2} %)", 100.0 * *count as f64 / total as f64);
        }
    }
}

/// Every pair of distinct functions of nesting two, asked one by one.
#[test]
fn every_pair_of_nesting_two() {
    let axes = if full() { table(&[4, 6]) } else { table(&[2, 3]) };
    let mut all = distinct(&axes, if full() { 2 } else { 1 });
    if full() {
        // All pairs of some 26,000 functions would be 3 * 10^8: every fourth function keeps it at 2 * 10^7.
        all = all.into_iter().step_by(4).collect();
    }
    let listed: Vec<(Expr, Vec<Cell>)> =
        all.into_iter().map(|(expr, _)| (expr.clone(), cells(&expr, &axes))).collect();
    let mut count = Count::default();
    for (at, (a, left)) in listed.iter().enumerate() {
        for (b, right) in &listed[at..] {
            count.ask((a, left), (b, right), &axes);
        }
    }
    count.print("every pair of distinct functions");
    assert_eq!((count.wrong, count.tiers.get(&Tier::Undecided)), (0, None));
    assert!(count.total() > 10_000, "the universe is too small to mean anything: {}", count.total());
}

/// All expressions of nesting three: digits are equal exactly when cells are, which settles every pair of them; a
/// mapping without digits is asked against the first of its function and against the expression before it.
#[test]
fn every_expression_of_nesting_three() {
    let axes = if full() { table(&[4, 6]) } else { table(&[2, 3]) };
    let below = distinct(&axes, if full() { 2 } else { 1 });
    // By fingerprint: the digits of the function, and its first expression.
    let mut functions: HashMap<u64, (Option<Digits>, Expr)> = HashMap::new();
    let mut by_digits: HashMap<Digits, u64> = HashMap::new();
    let (mut total, mut ragged, mut conflicts) = (0_u64, 0_u64, 0_u64);
    let mut count = Count::default();
    let mut before: Option<(Expr, Vec<Cell>)> = None;
    level(&below, &mut |expr| {
        total += 1;
        let own = cells(&expr, &axes);
        let print = fingerprint(&own);
        let form = digits(&expr, &axes).ok();
        let (known, first) = functions.entry(print).or_insert_with(|| (form.clone(), expr.clone()));
        match (&form, &known) {
            (Some(form), Some(known)) if form != known => conflicts += 1,
            (Some(form), None) => *known = Some(form.clone()),
            _ => {}
        }
        if let Some(form) = form {
            conflicts += u64::from(*by_digits.entry(form).or_insert(print) != print);
        } else {
            ragged += 1;
        }
        if ragged % 16 == 0 || before.is_none() {
            let first = first.clone();
            count.ask((&expr, &own), (&first, &cells(&first, &axes)), &axes);
            if let Some((other, theirs)) = &before {
                count.ask((&expr, &own), (other, theirs), &axes);
            }
            before = Some((expr, own));
        }
    });
    println!(
        "nesting three: {total} expressions of {} functions, {ragged} without digits, {} pairs",
        functions.len(),
        total * (total - 1) / 2
    );
    count.print("asked");
    assert_eq!((conflicts, count.wrong, count.tiers.get(&Tier::Undecided)), (0, 0, None));
    assert!(total > 10_000, "the universe is too small to mean anything: {total}");
}

/// Expressions from a seed.
struct Random(visa_support::Random);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0.under(n)
    }

    fn divisor(&mut self, n: u64) -> u64 {
        let divisors: Vec<u64> = (1..=n.min(64)).filter(|d| n.is_multiple_of(*d)).collect();
        divisors[self.below(divisors.len() as u64) as usize]
    }

    fn kind(&mut self) -> PadKind {
        KINDS[self.below(3) as usize]
    }

    /// An expression of up to `depth` levels and `MOST` positions that keeps the size rules.
    fn expr(&mut self, depth: u64, axes: &Axes) -> Expr {
        const MOST: u64 = 2000;
        if depth == 0 || self.below(8) == 0 {
            return match self.below(7) {
                0 => Expr::Literal(1 + self.below(4)),
                n => Expr::axis(["A", "B", "C"][n as usize % 3]),
            };
        }
        let inner = self.expr(depth - 1, axes);
        let size = inner.size(axes).unwrap();
        let made = match self.below(12) {
            0..=3 => Expr::pair([inner.clone(), self.expr(depth - 1, axes)]),
            4 => inner.clone().stride(self.divisor(size)),
            5 => inner.clone().modulo(self.divisor(size)),
            6 => inner.clone().resize(1 + self.below(size)),
            7 => inner.clone().slice(self.below(size)),
            8 => inner.clone().pad_left(size + self.below(9), self.kind()),
            9 => inner.clone().pad(size * (1 + self.below(4)), self.kind()),
            _ => inner.clone().pad(size + self.below(20), self.kind()),
        };
        if made.size(axes).is_ok_and(|size| size <= MOST) { made } else { inner }
    }

    /// An expression like `expr`: equal by one of the laws, or off by one number or kind somewhere.
    fn alike(&mut self, expr: &Expr, axes: &Axes) -> Expr {
        let size = expr.size(axes).unwrap();
        match self.below(8) {
            0 => Expr::pair([Expr::Literal(1), expr.clone()]),
            1 => expr.clone().pad(size + self.below(5), PadKind::Top).resize(size),
            2 => {
                let n = self.divisor(size);
                Expr::pair([expr.clone().stride(n), expr.clone().modulo(n)])
            }
            3 => expr.clone().pad_left(size + 1, self.kind()).slice(1),
            _ => self.changed(expr, axes),
        }
    }

    /// The expression with one number, kind or axis changed, as long as it keeps the size rules.
    fn changed(&mut self, expr: &Expr, axes: &Axes) -> Expr {
        let here = self.below(3) == 0;
        let changed = match expr {
            Expr::Axis(_) => Expr::axis(["A", "B", "C"][self.below(3) as usize]),
            Expr::Literal(n) => Expr::Literal(n + 1),
            Expr::Pad { inner, size, side, .. } if here => {
                let size = size + self.below(2);
                Expr::Pad { inner: inner.clone(), size, kind: self.kind(), side: *side }
            }
            Expr::Resize { inner, size } if here => inner.clone().resize(*size - self.below(2).min(size - 1)),
            Expr::Slice { inner, offset } if here => inner.clone().slice(offset + 1),
            _ => {
                let at = self.below(expr.children().len().max(1) as u64) as usize;
                let mut seen = 0;
                let result = expr.map_children(|child| {
                    seen += 1;
                    Ok::<_, ()>(if seen == at + 1 { self.changed(child, axes) } else { child.clone() })
                });
                result.unwrap_or_else(|()| expr.clone())
            }
        };
        if changed.size(axes).is_ok() { changed } else { expr.clone() }
    }
}

#[test]
fn random_deep_expressions() {
    let (seed, rounds) = (2026_1120, if full() { 1_000_000 } else { 5_000 });
    let mut random = Random(visa_support::Random(seed));
    let (mut count, mut refinements, mut wrong) = (Count::default(), 0_u64, 0_u64);
    let tables = [[4, 6, 5], [8, 3, 7], [13, 16, 2], [1, 61, 9]].map(|sizes| table(&sizes));
    for round in 0..rounds {
        let axes = &tables[round % tables.len()];
        let depth = 3 + random.below(6);
        let a = random.expr(depth, axes);
        let b = random.alike(&a, axes);
        let (left, right) = (cells(&a, axes), cells(&b, axes));
        count.ask((&a, &left), (&b, &right), axes);
        if left.len() == right.len() {
            refinements += 1;
            let at = left.iter().zip(&right).position(|(a, b)| !refining(a, b));
            let right_answer = match (refines(&a, &b, axes), at) {
                (Refinement::Refines, None) => true,
                (Refinement::Violated { at, .. }, Some(expected)) => at == expected as u64,
                _ => false,
            };
            if !right_answer {
                wrong += 1;
                println!("wrong refinement: {a} and {b}: expected {at:?}");
            }
        }
    }
    count.print(&format!("random deep expressions, seed {seed}"));
    println!("refinement: {refinements} questions, {wrong} wrong");
    assert_eq!((count.wrong, wrong, count.tiers.get(&Tier::Undecided)), (0, 0, None));
    assert!(count.equal > rounds as u64 / 10, "too few are equal: {}", count.equal);
}
