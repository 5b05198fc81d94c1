//! Conditions on indices of loops: the ranges in which they hold, and those in which they do not.

use crate::value::{Affine, Value};
use std::collections::BTreeMap;

/// Cases that a condition may have: each of them becomes a separate branch.
const MAX_CASES: usize = 8;

/// The least and the greatest number that an index is.
pub(crate) type Ranges = BTreeMap<String, (i64, i64)>;

/// A sum of indices that is at least `from` and less than `below`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Within {
    /// The sum, to which nothing is added.
    pub(crate) of: Affine,
    pub(crate) from: Option<i64>,
    pub(crate) below: Option<i64>,
}

/// Ranges that are all true; none of them is always.
pub(crate) type Case = Vec<Within>;

/// A condition. There is always exactly one of all its cases.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// Where it is true.
    pub(crate) holds: Vec<Case>,
    /// Where it is not.
    pub(crate) fails: Vec<Case>,
}

impl Condition {
    /// `left OP right`; `None` for an operator that compares nothing, and for numbers that are too large.
    pub(crate) fn compare(op: &syn::BinOp, left: &Affine, right: &Affine, ranges: &Ranges) -> Option<Self> {
        let of = left.add(right, -1)?;
        let at = of.plus.checked_neg()?;
        let after = at.checked_add(1)?;
        let of = Affine { plus: 0, ..of };
        let (from, below) = match op {
            syn::BinOp::Lt(_) => (None, Some(at)),
            syn::BinOp::Le(_) => (None, Some(after)),
            syn::BinOp::Ge(_) => (Some(at), None),
            syn::BinOp::Gt(_) => (Some(after), None),
            syn::BinOp::Eq(_) | syn::BinOp::Ne(_) => (Some(at), Some(after)),
            _ => return None,
        };
        let within = |from, below| Within { of: of.clone(), from, below }.reduced(ranges);
        let outside =
            [from.map(|from| within(None, Some(from))), below.map(|below| within(Some(below), None))];
        let mut fails = Vec::new();
        for case in outside.into_iter().flatten() {
            fails.extend(case?);
        }
        let own = Self { holds: within(from, below)?.into_iter().collect(), fails };
        Some(if matches!(op, syn::BinOp::Ne(_)) { own.negated() } else { own })
    }

    /// Its truth value, if that is always the same.
    pub(crate) fn known(&self) -> Option<bool> {
        match (self.holds.is_empty(), self.fails.is_empty()) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        }
    }

    /// The condition, or its truth value if that is always the same.
    pub(crate) fn value(self) -> Value {
        self.known().map_or_else(|| Value::Condition(self.into()), Value::Bool)
    }

    pub(crate) fn negated(self) -> Self {
        Self { holds: self.fails, fails: self.holds }
    }

    /// The iterations in which both are true; `None` for too many cases.
    pub(crate) fn and(&self, other: &Self) -> Option<Self> {
        let mut fails = self.fails.clone();
        fails.extend(together(&self.holds, &other.fails));
        let own = Self { holds: together(&self.holds, &other.holds), fails };
        (own.holds.len() + own.fails.len() <= MAX_CASES).then_some(own)
    }

    /// The iterations in which one of them is true; `None` for too many cases.
    pub(crate) fn or(&self, other: &Self) -> Option<Self> {
        let neither = self.clone().negated().and(&other.clone().negated())?;
        Some(neither.negated())
    }
}

impl Within {
    /// The case that it is: with no range if it is always so. The inner nothing if it never is, the outer one of
    /// numbers that are too large.
    fn reduced(self, ranges: &Ranges) -> Option<Option<Case>> {
        let own = self.positive()?.divided();
        let Some((least, greatest)) = range(&own.of, ranges) else { return Some(Some(vec![own])) };
        let from = own.from.filter(|&from| from > least);
        let below = own.below.filter(|&below| below <= greatest);
        if own.from.is_some_and(|from| from > greatest) || own.below.is_some_and(|below| below <= least) {
            return Some(None);
        }
        let always = from.is_none() && below.is_none();
        Some(Some(if always { Vec::new() } else { vec![Self { from, below, ..own }] }))
    }

    /// The same with a first factor that is positive: so is a sum the same sum wherever it is asked about.
    fn positive(self) -> Option<Self> {
        if self.of.terms.values().next().is_none_or(|&factor| factor > 0) {
            return Some(self);
        }
        let turned = |bound: Option<i64>| match bound {
            Some(bound) => 1_i64.checked_sub(bound).map(Some),
            None => Some(None),
        };
        Some(Self { of: self.of.times(-1)?, from: turned(self.below)?, below: turned(self.from)? })
    }

    /// The same of the index itself, where there is one alone.
    fn divided(self) -> Self {
        let mut terms = self.of.terms.iter();
        let (Some((name, &factor)), None) = (terms.next(), terms.next()) else { return self };
        if factor <= 1 {
            return self;
        }
        // The least index with which the product is not less.
        let up = |bound: i64| bound.div_euclid(factor) + i64::from(bound.rem_euclid(factor) != 0);
        Self { of: Affine::index(name), from: self.from.map(up), below: self.below.map(up) }
    }
}

/// The least and the greatest number that a sum may be; `None` where an index may be anything.
pub(crate) fn range(of: &Affine, ranges: &Ranges) -> Option<(i64, i64)> {
    let (mut least, mut greatest) = (of.plus, of.plus);
    for (name, factor) in &of.terms {
        let (low, high) = ranges.get(name)?;
        let ends = [low.checked_mul(*factor)?, high.checked_mul(*factor)?];
        least = least.checked_add(ends[0].min(ends[1]))?;
        greatest = greatest.checked_add(ends[0].max(ends[1]))?;
    }
    Some((least, greatest))
}

/// The cases in which one of each is.
fn together(one: &[Case], other: &[Case]) -> Vec<Case> {
    one.iter().flat_map(|own| other.iter().filter_map(|other| merged(own, other))).collect()
}

/// The case in which two are; `None` if they are never together.
fn merged(one: &Case, other: &Case) -> Option<Case> {
    let mut case = one.clone();
    for within in other {
        match case.iter_mut().find(|own| own.of == within.of) {
            Some(own) => {
                own.from = own.from.max(within.from);
                own.below = own.below.into_iter().chain(within.below).min();
                if let (Some(from), Some(below)) = (own.from, own.below)
                    && from >= below
                {
                    return None;
                }
            }
            None => case.push(within.clone()),
        }
    }
    Some(case)
}
