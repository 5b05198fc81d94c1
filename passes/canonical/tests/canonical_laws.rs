//! Random expressions: the canonical form holds the same cells, is its own canonical form, and is the same text for
//! expressions with the same digits; every proof ends in it.

use proptest::prelude::*;
use proptest::sample::select;
use visa_algebra::{Axes, Cell, Expr, Map, PadKind, digits, rebuild};
use visa_canonical::{RuleSet, canonicalize, explain};

/// Most positions of a random expression.
const LARGEST: u64 = 1024;

fn table(sizes: [u64; 3]) -> Axes {
    let mut axes = Axes::new();
    for (name, size) in ["A", "B", "C"].iter().zip(sizes) {
        axes.declare(name, size).unwrap();
    }
    axes
}

/// A shape of an expression, whose numbers are picked when the sizes are known.
#[derive(Clone, Debug)]
enum Shape {
    Leaf(usize),
    Group(Vec<Shape>),
    Slide(Box<Shape>, Box<Shape>, u64),
    Apply(Box<Shape>, usize, u64, PadKind),
}

fn shape() -> impl Strategy<Value = Shape> {
    let kinds = vec![PadKind::Bottom, PadKind::Zero, PadKind::Top];
    (0usize..5).prop_map(Shape::Leaf).prop_recursive(4, 12, 3, move |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(Shape::Group),
            1 => (inner.clone(), inner.clone(), 1u64..7).prop_map(|(e, f, n)| Shape::Slide(e.into(), f.into(), n)),
            8 => (inner, 0usize..8, 0u64..64, select(kinds.clone()))
                .prop_map(|(e, operator, pick, kind)| Shape::Apply(e.into(), operator, pick, kind)),
        ]
    })
}

/// The expression of a shape, with numbers that keep the size rules.
fn build(shape: &Shape, axes: &Axes) -> Expr {
    let expr = match shape {
        Shape::Leaf(at) => match at {
            0..=2 => Expr::axis(["A", "B", "C"][*at]),
            _ => Expr::Literal(*at as u64 - 2),
        },
        Shape::Group(terms) => Expr::pair(terms.iter().map(|term| build(term, axes))),
        Shape::Slide(e, f, n) => Expr::Slide(vec![(build(e, axes), *n), (build(f, axes), 1)]),
        Shape::Apply(inner, operator, pick, kind) => apply(build(inner, axes), *operator, *pick, *kind, axes),
    };
    match expr.size(axes) {
        Ok(size) if size <= LARGEST => expr,
        _ => Expr::axis("A"),
    }
}

fn apply(inner: Expr, operator: usize, pick: u64, kind: PadKind, axes: &Axes) -> Expr {
    let size = inner.size(axes).unwrap();
    let divisors: Vec<u64> = (1..=size).filter(|n| size.is_multiple_of(*n)).collect();
    let divisor = divisors[pick as usize % divisors.len()];
    let total = if pick.is_multiple_of(3) { size + pick % 7 } else { size * (1 + pick % 4) };
    match operator {
        0 => inner.stride(divisor),
        1 => inner.modulo(divisor),
        2 => inner.resize(1 + pick % size),
        3 | 4 => inner.pad(total, kind),
        5 => inner.pad_left(total, kind),
        6 => inner.slice(if pick.is_multiple_of(2) { (size - divisor) % size } else { pick % size }),
        _ => {
            let start = pick % size;
            let up = (start..size).take(3).collect::<Vec<_>>();
            inner.gather(if pick.is_multiple_of(2) { up } else { up.into_iter().rev().collect() })
        }
    }
}

fn sample() -> impl Strategy<Value = (Axes, Expr)> {
    let size = select(vec![1u64, 2, 3, 4, 5, 6, 8]);
    (prop::array::uniform3(size), shape()).prop_map(|(sizes, shape)| {
        let axes = table(sizes);
        let expr = build(&shape, &axes);
        (axes, expr)
    })
}

fn cells(expr: &Expr, axes: &Axes) -> Vec<Option<Cell>> {
    let map = Map::new(expr, axes).unwrap();
    (0..=map.size()).map(|at| map.cell(at)).collect()
}

/// Other texts for the same cells.
fn disguised(expr: &Expr, axes: &Axes) -> Vec<Expr> {
    let size = expr.size(axes).unwrap();
    vec![
        Expr::pair([Expr::Literal(1), expr.clone()]),
        expr.clone().pad(size, PadKind::Zero),
        Expr::pair([expr.clone(), Expr::Literal(3)]).stride(3),
        expr.clone().pad(size + 5, PadKind::Bottom).resize(size),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rebuilt_digits_hold_the_same_cells((axes, expr) in sample()) {
        let Ok(form) = digits(&expr, &axes) else { return Ok(()) };
        let rebuilt = rebuild(&form, &axes).unwrap();
        prop_assert_eq!(cells(&rebuilt, &axes), cells(&expr, &axes), "{} and {}", expr, rebuilt);
        prop_assert_eq!(digits(&rebuilt, &axes), Ok(form), "{} and {}", expr, rebuilt);
    }

    #[test]
    fn canonical_forms_hold_the_same_cells_and_are_their_own((axes, expr) in sample()) {
        let rules = RuleSet::default();
        let canonical = canonicalize(&expr, &axes, &rules).unwrap().expr;
        prop_assert_eq!(cells(&canonical, &axes), cells(&expr, &axes), "{} and {}", expr, canonical);
        let again = canonicalize(&canonical, &axes, &rules).unwrap().expr;
        prop_assert_eq!(again.to_string(), canonical.to_string(), "{}", expr);
    }

    #[test]
    fn equal_digits_have_one_canonical_text((axes, expr) in sample()) {
        let rules = RuleSet::default();
        let Ok(form) = digits(&expr, &axes) else { return Ok(()) };
        let canonical = canonicalize(&expr, &axes, &rules).unwrap().expr;
        for other in disguised(&expr, &axes) {
            if digits(&other, &axes).as_ref() == Ok(&form) {
                let same = canonicalize(&other, &axes, &rules).unwrap().expr;
                prop_assert_eq!(same.to_string(), canonical.to_string(), "{} and {}", expr, other);
            }
        }
    }

    #[test]
    fn every_step_of_a_proof_holds_the_same_cells((axes, expr) in sample()) {
        let rules = RuleSet::default();
        let canonical = canonicalize(&expr, &axes, &rules).unwrap().expr;
        let proof = explain(&expr, &canonical, &axes, &rules).unwrap();
        let last = proof.steps.last().map_or(&proof.from, |step| &step.expr);
        prop_assert_eq!(last.to_string(), canonical.to_string(), "{}\n{}", expr, &proof);
        let expected = cells(&expr, &axes);
        for step in &proof.steps {
            prop_assert_eq!(&cells(&step.expr, &axes), &expected, "{}", &proof);
        }
    }
}
