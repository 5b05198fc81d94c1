//! The small examples that rules are checked on.

use std::rc::Rc;
use std::sync::Arc;

use visa_algebra::{Axes, Expr};

/// Mappings over three axes of 4, 6 and 5 positions: all kinds of padding at both ends, slices, broadcasts, tables,
/// overlaps, and digits that leave their axis.
pub(crate) struct Pool {
    /// The axes.
    pub(crate) axes: Axes,
    /// Values of a metavariable for mappings.
    pub(crate) expressions: Vec<Rc<Expr>>,
    /// Values of the rest of a group.
    pub(crate) rests: Vec<Rc<Expr>>,
    /// Values of a term of a sliding expression: few, because there are several.
    pub(crate) sliding: Vec<Rc<Expr>>,
    /// Contexts for both sides: terms of one position near the ends of all axes.
    pub(crate) contexts: Vec<Expr>,
    /// Values of the rest of a sliding expression.
    pub(crate) terms: Vec<Rc<[(Expr, u64)]>>,
}

const EXPRESSIONS: &[&str] = &[
    "[A]",
    "[B]",
    "[C]",
    "[1]",
    "[2]",
    "[6]",
    "[A / 2]",
    "[B / 3]",
    "[B % 3]",
    "[B / 2 % 3]",
    "[A = 3]",
    "[C = 4]",
    "[A = 1]",
    "[C # 6]",
    "[C # 8 {0}]",
    "[A # 6 {!}]",
    "[C # 8 / 2]",
    "[A / 2 # 4 {0}]",
    "[A # 6 {left}]",
    "[C # 8 {left 0}]",
    "[A / 2 # 4 {left !}]",
    "[1 # 4]",
    "[1 # 3 {0}]",
    "[2 # 4 {!}]",
    "[1 # 2 {left}]",
    "[B @ 2]",
    "[A @ 1]",
    "[C @ 4]",
    "[C # 6 @ 3]",
    "[A, B % 2]",
    "[2, A]",
    "[A, 3]",
    "[B % 2, A / 2]",
    "[B / 2, B % 2]",
    "[A, A % 2]",
    "[C # 6 / 2, C # 6 % 2]",
    "[[A, C] # 24 {0}]",
    "[A @ (2, 0, 1)]",
    "[B @ (1, 2, 3, 4)]",
    "[$(A:1, B % 2:2)]",
    "[$(A:2, B % 2:1)]",
];

const RESTS: &[&str] =
    &["[1]", "[A]", "[B % 2, 3]", "[C # 6 {0}]", "[A # 6 {left}]", "[B @ 2]", "[1 # 2 {!}]"];

const SLIDING: &[&str] =
    &["[A]", "[C]", "[B % 3]", "[1]", "[C # 6 {0}]", "[A # 6 {left}]", "[B @ 2]", "[1 # 2 {!}]"];

const CONTEXTS: &[&str] = &["[A @ 3, B @ 5, C @ 4]", "[A @ 2 = 1, B @ 3 = 1, C @ 2 = 1]"];

const TERMS: &[&[(&str, u64)]] = &[&[], &[("[A]", 1)], &[("[C # 6]", 2), ("[A % 2]", 1)]];

impl Pool {
    /// The pool.
    pub(crate) fn new() -> Self {
        let mut axes = Axes::new();
        for (name, size) in [("A", 4), ("B", 6), ("C", 5)] {
            // Three different names.
            let _ = axes.declare(name, size);
        }
        let read =
            |texts: &[&str]| texts.iter().filter_map(|text| Expr::parse(text).ok().map(Rc::new)).collect();
        let term = |(text, stride): &(&str, u64)| Some((Expr::parse(text).ok()?, *stride));
        let terms = TERMS.iter().map(|terms| terms.iter().filter_map(term).collect()).collect();
        let (expressions, rests, sliding) = (read(EXPRESSIONS), read(RESTS), read(SLIDING));
        let contexts = CONTEXTS.iter().filter_map(|text| Expr::parse(text).ok()).collect();
        Self { axes, expressions, rests, sliding, contexts, terms }
    }
}

/// Strides of a sliding expression's terms.
pub(crate) const STRIDES: [u64; 5] = [1, 2, 3, 4, 6];

/// Divisors of a size.
pub(crate) fn divisors(size: u64) -> Vec<u64> {
    (1..=size.min(64)).filter(|n| size.is_multiple_of(*n)).collect()
}

/// Sizes for truncation: the small ones, those near the whole, and half of it.
pub(crate) fn sizes_to(size: u64) -> Vec<u64> {
    distinct([1, 2, 3, 4, 6, size / 2, size.saturating_sub(1), size], |n| (1..=size).contains(&n))
}

/// Sizes for padding: none, one, and multiples.
pub(crate) fn sizes_from(size: u64) -> Vec<u64> {
    distinct([size, size + 1, 2 * size, 3 * size, size.next_multiple_of(8), 12], |n| n >= size)
}

/// Offsets into a size.
pub(crate) fn offsets(size: u64) -> Vec<u64> {
    distinct([0, 1, 2, 3, size / 2, size.saturating_sub(1)], |n| n < size)
}

/// Offset tables into a size: counting up, a single entry, repeated and backwards.
pub(crate) fn tables(size: u64) -> Vec<Arc<[u64]>> {
    let last = size - 1;
    let all: [Vec<u64>; 6] =
        [(0..size).collect(), vec![0], vec![last], (size / 2..size).collect(), vec![0, 0], vec![last, 0]];
    all.into_iter().map(Arc::from).collect()
}

fn distinct<const N: usize>(numbers: [u64; N], fits: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.into_iter().filter(|n| fits(*n)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_there_and_sound() {
        let pool = Pool::new();
        assert_eq!(pool.axes.iter().count(), 3);
        assert_eq!(
            (pool.expressions.len(), pool.rests.len(), pool.sliding.len()),
            (EXPRESSIONS.len(), RESTS.len(), SLIDING.len())
        );
        for expr in pool.expressions.iter().chain(&pool.rests).chain(&pool.sliding) {
            assert!(expr.size(&pool.axes).is_ok_and(|size| size <= 24), "{expr}");
        }
        assert_eq!(pool.contexts.len(), CONTEXTS.len());
        assert!(pool.contexts.iter().all(|context| context.size(&pool.axes) == Ok(1)));
        for (terms, written) in pool.terms.iter().zip(TERMS) {
            assert_eq!(terms.len(), written.len());
        }
    }

    #[test]
    fn numbers_keep_the_size_rules() {
        assert_eq!(divisors(6), [1, 2, 3, 6]);
        assert_eq!(sizes_to(2), [1, 2]);
        assert_eq!(sizes_from(5), [5, 6, 8, 10, 12, 15]);
        assert_eq!(offsets(1), [0]);
        assert!(tables(1).iter().all(|table| table.iter().all(|at| *at < 1)));
    }
}
