//! Any text as two mappings, a line each: nothing panics, printing is a fixed point, and every answer about small
//! ones is that of enumeration.

#![no_main]

use libfuzzer_sys::fuzz_target;
use visa_algebra::{
    Axes, Cell, Equality, Expr, Map, PadKind, Refinement, decide, digits, divide, inverse, normalize, place,
    refines,
};
use visa_canonical::{RuleSet, canonicalize};

/// Positions that are enumerated.
const MOST: u64 = 2048;

thread_local! {
    static RULES: RuleSet = RuleSet::default();
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let axes = axes();
    let mut lines = text.lines().filter_map(|line| Expr::parse(line).ok());
    let Some(left) = lines.next() else { return };
    let right = lines.next().unwrap_or_else(|| left.clone());
    for expr in [&left, &right] {
        assert_eq!(Expr::parse(&expr.to_string()).as_ref(), Ok(expr), "{expr} is printed as another mapping");
        RULES.with(|rules| forms(expr, &axes, rules));
    }
    pair(&left, &right, &axes);
});

fn axes() -> Axes {
    let mut axes = Axes::new();
    for (name, size) in [("A", 4), ("B", 6), ("C", 5), ("D", 16), ("H", 1 << 40)] {
        axes.declare(name, size).expect("a new axis");
    }
    axes.declare_skew("B'", "B", "A").expect("a new skewed axis");
    axes.define("L", &Expr::parse("[A / 2, B]").expect("a mapping")).expect("a new alias");
    axes
}

fn cells(expr: &Expr, axes: &Axes) -> Option<Vec<Cell>> {
    let map = Map::new(expr, axes).ok()?;
    // A sliding position may have many combinations; a few nested ones would take minutes to list.
    (map.size() <= MOST && expr.to_string().matches('$').count() < 3)
        .then(|| (0..map.size()).filter_map(|i| map.cell(i)).collect())
}

/// Digits, normal and canonical form hold the same cells.
fn forms(expr: &Expr, axes: &Axes, rules: &RuleSet) {
    let form = digits(expr, axes);
    let normal = normalize(expr, axes);
    let Some(cells) = cells(expr, axes) else { return };
    if let Ok(digits) = form {
        assert!(
            cells.iter().enumerate().all(|(i, cell)| digits.cell(i as u64).as_ref() == Some(cell)),
            "{expr}"
        );
    }
    let normal = normal.unwrap_or_else(|error| panic!("{expr}: {error}"));
    assert_eq!(self::cells(&normal, axes).as_ref(), Some(&cells), "{expr} has the normal form {normal}");
    let canonical = canonicalize(expr, axes, rules).unwrap_or_else(|error| panic!("{expr}: {error}")).expr;
    assert_eq!(
        self::cells(&canonical, axes).as_ref(),
        Some(&cells),
        "{expr} has the canonical form {canonical}"
    );
}

fn refining(left: &Cell, right: &Cell) -> bool {
    match (left, right) {
        (Cell::Pad(ours), Cell::Pad(theirs)) => ours <= theirs,
        (Cell::Live(_) | Cell::Shared(_), Cell::Pad(kind)) => *kind == PadKind::Top,
        (ours, theirs) => ours == theirs,
    }
}

/// Equality, refinement and division.
fn pair(left: &Expr, right: &Expr, axes: &Axes) {
    let (answer, _) = decide(left, right, axes);
    let refined = refines(left, right, axes);
    if let (Ok(stream), Ok(buffer)) = (digits(left, axes), digits(right, axes)) {
        let _ = divide(&place(&stream, 1), &place(&buffer, 1), &|_| false, axes);
        let _ = inverse(&buffer);
    }
    let (Some(ours), Some(theirs)) = (cells(left, axes), cells(right, axes)) else { return };
    let beginning = (ours.len() != theirs.len()).then_some(ours.len().min(theirs.len()));
    let first = |related: &dyn Fn(&Cell, &Cell) -> bool| {
        let at = ours.iter().zip(&theirs).position(|(a, b)| !related(a, b));
        at.or(beginning).map(|at| at as u64)
    };
    match (answer, first(&|a, b| a == b)) {
        (Equality::Equal, None) => {}
        (Equality::Different { at, .. }, Some(expected)) if at == expected => {}
        (answer, expected) => panic!("{left} and {right}: {answer:?}, first difference {expected:?}"),
    }
    match (refined, first(&refining)) {
        (Refinement::Refines, None) => {}
        (Refinement::Violated { at, .. }, Some(expected)) if at == expected => {}
        (answer, expected) => panic!("{left} refines {right}: {answer:?}, first violation {expected:?}"),
    }
}
