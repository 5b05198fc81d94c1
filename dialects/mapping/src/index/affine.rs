//! Numbers that are affine in the indices of loops: a base, and for each loop its index times a factor.

use std::collections::HashMap;
use visa_ir::module::ValueId;

/// The indices of the loops around an operation in one of their iterations, by the arguments that hold them.
pub type Indices = HashMap<ValueId, u64>;

/// A number that is affine in the indices of loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    /// The number where all indices are 0.
    pub base: i64,
    /// The growth with each loop.
    pub terms: Vec<Term>,
}

/// The growth of a number with a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The argument of the loop's body that is its index.
    pub index: ValueId,
    /// The index in the first iteration that counts: not 0 where a branch leaves out others before it.
    pub first: u64,
    /// Iterations of the loop that count, one after the other.
    pub times: u64,
    /// Growth of the number from one iteration to the next; not 0.
    pub factor: i64,
}

impl Affine {
    /// 0 in every iteration.
    pub const ZERO: Self = Self { base: 0, terms: Vec::new() };

    /// A number that depends on no index.
    #[must_use]
    pub fn constant(base: i64) -> Self {
        Self { base, terms: Vec::new() }
    }

    /// The index of a loop of `times` iterations.
    #[must_use]
    pub fn index(index: ValueId, times: u64) -> Self {
        Self { base: 0, terms: vec![Term { index, first: 0, times, factor: 1 }] }
    }

    /// Returns true if two numbers are the same in every iteration.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        let apart = other.times(-1).and_then(|other| self.plus(&other));
        apart.and_then(|apart| apart.range()) == Some((0, 0))
    }

    /// The number times another one; `None` on overflow.
    #[must_use]
    pub fn times(&self, by: i64) -> Option<Self> {
        let scaled = |term: &Term| Some(Term { factor: term.factor.checked_mul(by)?, ..*term });
        let mut terms = self.terms.iter().map(scaled).collect::<Option<Vec<_>>>()?;
        terms.retain(|term| term.factor != 0);
        Some(Self { base: self.base.checked_mul(by)?, terms })
    }

    /// The sum of two numbers; `None` on overflow.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = Self { base: self.base.checked_add(other.base)?, terms: self.terms.clone() };
        for term in &other.terms {
            match sum.terms.iter_mut().find(|known| known.index == term.index) {
                Some(known) => known.factor = known.factor.checked_add(term.factor)?,
                None => sum.terms.push(*term),
            }
        }
        sum.terms.retain(|term| term.factor != 0);
        Some(sum)
    }

    /// The number in an iteration; an index that is not known is 0. `None` on overflow.
    #[must_use]
    pub fn at(&self, indices: &Indices) -> Option<i64> {
        self.terms.iter().try_fold(self.base, |sum, term| {
            let index = indices.get(&term.index).copied().unwrap_or_default();
            sum.checked_add(term.factor.checked_mul(i64::try_from(index).ok()?)?)
        })
    }

    /// The number in the first iteration that counts; `None` on overflow.
    #[must_use]
    pub fn first(&self) -> Option<i64> {
        self.terms.iter().try_fold(self.base, |sum, term| {
            sum.checked_add(term.factor.checked_mul(i64::try_from(term.first).ok()?)?)
        })
    }

    /// The least and the greatest number of all iterations; `None` on overflow.
    #[must_use]
    pub fn range(&self) -> Option<(i64, i64)> {
        let first = self.first()?;
        self.terms.iter().try_fold((first, first), |(least, most), term| {
            let last = term.factor.checked_mul(i64::try_from(term.times.saturating_sub(1)).ok()?)?;
            Some((least.checked_add(last.min(0))?, most.checked_add(last.max(0))?))
        })
    }

    /// The least number of an iteration that is not below `from`; `None` if there is none.
    #[must_use]
    pub fn first_from(&self, from: i64) -> Option<i64> {
        let (least, most) = self.range()?;
        // Each loop by itself, the one of the greatest factor first: the remainder is for those of smaller ones.
        let mut terms = self.terms.clone();
        terms.sort_by_key(|term| std::cmp::Reverse(term.factor.unsigned_abs()));
        if from > most { None } else { first_from(&terms, least, i128::from(from.max(least))) }
    }
}

/// The least number from `from` on that `least` becomes by the loops of `terms`, of which each is counted from where
/// it adds least.
fn first_from(terms: &[Term], least: i64, from: i128) -> Option<i64> {
    let Some((term, rest)) = terms.split_first() else {
        return (i128::from(least) >= from).then_some(least);
    };
    let reach = |terms: &[Term]| {
        let last =
            |term: &Term| i128::from(term.factor.unsigned_abs()) * i128::from(term.times.saturating_sub(1));
        terms.iter().map(last).sum::<i128>()
    };
    let factor = i128::from(term.factor.unsigned_abs());
    let steps = |distance: i128| (distance.max(0) + factor - 1) / factor;
    // The fewest iterations after which the rest can reach `from`, and those after it up to where it must.
    let missing = from - i128::from(least) - reach(rest);
    let first = steps(missing);
    let last = steps(from - i128::from(least)).min(i128::from(term.times) - 1);
    let found = (first..=last).filter_map(|index| {
        let least = i64::try_from(i128::from(least) + index * factor).ok()?;
        first_from(rest, least, from)
    });
    found.min()
}
