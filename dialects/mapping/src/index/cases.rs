//! Cases: a value that depends on a `tm.select` is one of several, and each holds where some numbers are in ranges.

use crate::index::affine::{Affine, Indices, Term};
use std::ops::Range;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_loops::{Condition, narrowed};

/// Most cases of a number, an address or a command.
pub const MAX_CASES: usize = 16;

/// The bounds of a number: at least `from` and less than `below`. `None` is no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The number, in all iterations of the loops around it.
    pub number: Affine,
    /// The least that it is.
    pub from: Option<i64>,
    /// The exclusive upper bound.
    pub below: Option<i64>,
}

impl Bound {
    /// Returns true if it holds in an iteration; `None` where the number does not fit 64 bits.
    #[must_use]
    pub fn holds(&self, indices: &Indices) -> Option<bool> {
        let number = self.number.at(indices)?;
        Some(self.from.is_none_or(|from| number >= from) && self.below.is_none_or(|below| number < below))
    }

    /// The ranges that are left of the number where this does not hold.
    #[must_use]
    pub fn others(&self) -> Vec<Self> {
        let part = |from, below| Self { number: self.number.clone(), from, below };
        let before = self.from.map(|from| part(None, Some(from)));
        let after = self.below.map(|below| part(Some(below), None));
        before.into_iter().chain(after).collect()
    }

    /// Returns true if it holds wherever another one does, as they are written.
    fn follows_from(&self, other: &Self) -> bool {
        let from = self.from.is_none_or(|own| other.from.is_some_and(|other| other >= own));
        let below = self.below.is_none_or(|own| other.below.is_some_and(|other| other <= own));
        self.number == other.number && from && below
    }

    /// Where both hold of the same number.
    fn meet(&mut self, other: &Self) {
        self.from = self.from.into_iter().chain(other.from).max();
        self.below = self.below.into_iter().chain(other.below).min();
    }
}

/// The bounds of both, with one for each number.
fn both(one: &[Bound], other: &[Bound]) -> Vec<Bound> {
    let mut all = one.to_vec();
    for bound in other {
        match all.iter_mut().find(|known| known.number == bound.number) {
            Some(known) => known.meet(bound),
            None => all.push(bound.clone()),
        }
    }
    all
}

/// Something that is one of several, by where numbers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cases<T>(Vec<Case<T>>);

/// One of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case<T> {
    /// Where it applies: all of these hold. Elsewhere other cases do.
    pub bounds: Vec<Bound>,
    /// The value in the case.
    pub what: T,
}

impl<T: Default> Default for Cases<T> {
    fn default() -> Self {
        Self::always(T::default())
    }
}

impl<T> Cases<T> {
    /// The same everywhere.
    #[must_use]
    pub fn always(what: T) -> Self {
        Self(vec![Case { bounds: Vec::new(), what }])
    }

    /// One where a bound holds, and another one elsewhere.
    pub(crate) fn select(bound: &Bound, holds: &Self, elsewhere: &Self) -> Self
    where
        T: Clone,
    {
        let under = |bound: &Bound, case: &Case<T>| {
            let bounds = both(&case.bounds, std::slice::from_ref(bound));
            Case { bounds, what: case.what.clone() }
        };
        let first = holds.0.iter().map(|case| under(bound, case));
        let others = bound.others();
        let second = others.iter().flat_map(|other| elsewhere.0.iter().map(|case| under(other, case)));
        Self(first.chain(second).filter(|case| narrowing(&case.bounds).is_some()).collect())
    }

    /// The cases, of which one applies at a time.
    pub fn iter(&self) -> std::slice::Iter<'_, Case<T>> {
        self.0.iter()
    }

    /// Returns true if something holds of it in some case.
    #[must_use]
    pub fn any(&self, holds: impl Fn(&T) -> bool) -> bool {
        self.0.iter().any(|case| holds(&case.what))
    }

    /// The value in the first of all cases.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.0.first().map(|case| &case.what)
    }

    /// The value in an iteration.
    #[must_use]
    pub fn at(&self, indices: &Indices) -> Option<&T> {
        let applies = |case: &&Case<T>| case.bounds.iter().all(|bound| bound.holds(indices) == Some(true));
        self.0.iter().find(applies).map(|case| &case.what)
    }

    /// The value where bounds hold, of which those of a case are a part; `None` if they do not select one case.
    #[must_use]
    pub fn under(&self, bounds: &[Bound]) -> Option<&T> {
        let known = |own: &Bound| bounds.iter().any(|bound| own.follows_from(bound));
        self.0.iter().find(|case| case.bounds.iter().all(known)).map(|case| &case.what)
    }

    /// Something that follows in each case.
    ///
    /// # Errors
    /// Those of `follows`.
    pub fn map<U, E>(&self, mut follows: impl FnMut(&T) -> Result<U, E>) -> Result<Cases<U>, E> {
        let case = |case: &Case<T>| Ok(Case { bounds: case.bounds.clone(), what: follows(&case.what)? });
        self.0.iter().map(case).collect::<Result<_, E>>().map(Cases)
    }

    /// The consequence of both values, in each case of both that exists.
    pub fn join<U, V>(&self, other: &Cases<U>, follows: impl Fn(&T, &U) -> V) -> Cases<V> {
        let pairs = self.0.iter().flat_map(|one| other.0.iter().map(move |other| (one, other)));
        let case = |(one, other): (&Case<T>, &Case<U>)| {
            let bounds = both(&one.bounds, &other.bounds);
            narrowing(&bounds).map(|_| Case { what: follows(&one.what, &other.what), bounds })
        };
        Cases(pairs.filter_map(case).collect())
    }

    /// The cases that also exist where other bounds hold, with the consequence of the ranges of their indices.
    pub(crate) fn within(&self, around: &[Bound], follows: impl Fn(&T, &Narrowing) -> T) -> Self {
        let case = |case: &Case<T>| {
            let narrowing = narrowing(&both(around, &case.bounds))?;
            Some(Case { bounds: case.bounds.clone(), what: follows(&case.what, &narrowing) })
        };
        Self(self.0.iter().filter_map(case).collect())
    }

    /// The same, unless they are too many for `op`.
    ///
    /// # Errors
    /// More than [`MAX_CASES`].
    pub fn bounded(self, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        if self.0.len() <= MAX_CASES {
            return Ok(self);
        }
        let message =
            format!("by `tm.select` there are {} cases, at most {MAX_CASES} are told apart", self.0.len());
        let fix = "put operations that need only one of them into a branch (`tm.if`)".to_owned();
        Err(op.error("C0", message).fix(fix))
    }
}

impl Cases<()> {
    /// One case: where all of these hold.
    pub(crate) fn under_all(bounds: Vec<Bound>) -> Self {
        Self(vec![Case { bounds: both(&[], &bounds), what: () }])
    }
}

impl Cases<Bound> {
    /// Where its bound holds, too, in each case.
    pub(crate) fn held(&self) -> Cases<()> {
        let held = |case: &Case<Bound>| {
            let bounds = both(&case.bounds, std::slice::from_ref(&case.what));
            Case { bounds, what: () }
        };
        Cases(self.0.iter().map(held).filter(|case| narrowing(&case.bounds).is_some()).collect())
    }
}

impl<T> Cases<Cases<T>> {
    /// The cases in each case.
    pub(crate) fn flat(self) -> Cases<T> {
        let within = |outer: Case<Cases<T>>| {
            let inner = outer.what.0.into_iter();
            inner.map(move |case| Case { bounds: both(&outer.bounds, &case.bounds), what: case.what })
        };
        Cases(self.0.into_iter().flat_map(within).filter(|case| narrowing(&case.bounds).is_some()).collect())
    }
}

/// The numbers that indices are, where some bounds hold.
pub(crate) struct Narrowing(Vec<(Term, Range<u64>)>);

impl Narrowing {
    /// The number there.
    pub(crate) fn of(&self, number: &Affine) -> Affine {
        let mut number = number.clone();
        for (known, range) in &self.0 {
            for term in number.terms.iter_mut().filter(|term| term.index == known.index) {
                (term.first, term.times) = (range.start, range.end - range.start);
            }
        }
        number
    }
}

/// Where all bounds may hold; `None` if that is nowhere.
pub(crate) fn narrowing(bounds: &[Bound]) -> Option<Narrowing> {
    let mut terms: Vec<Term> = Vec::new();
    for term in bounds.iter().flat_map(|bound| &bound.number.terms) {
        if !terms.iter().any(|known| known.index == term.index) {
            terms.push(*term);
        }
    }
    let condition = |bound: &Bound| {
        let factor = |known: &Term| bound.number.terms.iter().find(|term| term.index == known.index);
        let factors = terms.iter().map(|known| factor(known).map_or(0, |term| term.factor)).collect();
        let mut condition = Condition::new(factors, bound.from, bound.below);
        let base = i128::from(bound.number.base);
        condition.range = condition.range.start - base..condition.range.end - base;
        condition
    };
    let conditions: Vec<Condition> = bounds.iter().map(condition).collect();
    let times: Vec<u64> = terms.iter().map(|term| term.first + term.times).collect();
    let ranges = narrowed(&times, &conditions)?;
    Some(Narrowing(terms.into_iter().zip(ranges).collect()))
}
