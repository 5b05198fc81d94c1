//! The amount of work of choosing. It is counted, never timed: the same kernel gets the same choice on every machine.

use crate::effort::watch::{Progress, Watch};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use visa_algebra::effort;
use visa_ir::span::Span;

/// Units of work of the option `budget`, if it is not given: about 10 s (docs/benchmarks.md has the measurements).
pub(crate) const DEFAULT: &str = "400000";

/// So many terms, runs and positions that the mapping algebra looks at are a unit: most candidates take fewer.
const EFFORT: u64 = 200;

/// One in this number of units is added, for parts without a legal choice when the budget ends.
const RESERVE: u64 = 4;

/// Most candidates of an operation that a narrow search tries.
pub(crate) const WIDTH: usize = 6;

/// The work limit of a module, and the work so far. A candidate is a unit when it is proposed, and one more when it is
/// verified, lowered and priced. If mappings are long or have to be compared position by position, it is more by that
/// work. Answers of the memo are no work.
pub struct Budget {
    most: u64,
    spent: Cell<u64>,
    /// The limit for parts without a legal choice.
    hard: Cell<u64>,
    /// Functions that have something open and are not chosen yet.
    functions: Cell<u64>,
    /// Most candidates of an operation.
    width: usize,
    cut: RefCell<BTreeSet<Cut>>,
    watch: Rc<Watch>,
}

/// An omission because the budget ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// Distributions of a function's tensors, with the number of compared ones.
    Distributions(usize),
    /// The comparison with the dual context of the pipeline that begins there.
    Context(Span),
    /// Configurations of the pipeline that ends there.
    Pipeline(Span),
    /// Layouts of the inputs of the pipeline that ends there.
    Layouts(Span),
    /// The exchange of the operands of the contraction whose register file is loaded there.
    Exchange(Span),
}

impl Budget {
    /// A budget of `most` units; `watch` is told of the units spent.
    #[must_use]
    pub fn new(most: u64, watch: Rc<Watch>) -> Self {
        let zero = || Cell::new(0);
        Self {
            most,
            spent: zero(),
            hard: Cell::new(most),
            functions: zero(),
            width: usize::MAX,
            cut: RefCell::default(),
            watch,
        }
    }

    /// The budget of the narrow search for a module whose search this budget ends, as large again: of each
    /// operation it tries [`WIDTH`] candidates, from all over those that are proposed.
    #[must_use]
    pub fn narrow(&self) -> Self {
        Self { width: WIDTH, ..Self::new(self.most, self.watch.clone()) }
    }

    /// The numbers of the candidates to compare, out of `candidates`.
    pub fn tried(&self, candidates: usize) -> impl Iterator<Item = usize> + use<> {
        let tried = candidates.min(self.width);
        (0..tried).map(move |at| at * candidates / tried)
    }

    /// A budget that never ends.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, Rc::default())
    }

    /// The units that were spent.
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// The units that it began with.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Counts units of work.
    pub fn spend(&self, units: u64) {
        self.spent.set(self.spent.get().saturating_add(units));
        let (done, most) = (self.spent.get().min(self.most), self.most);
        self.watch.tell(Some(Progress::Candidates { done, most }));
    }

    /// Does some work, and counts the mapping algebra's effort for it.
    pub fn charge<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = effort();
        let made = work();
        self.spend(effort().wrapping_sub(before) / EFFORT);
        made
    }

    /// Returns true if the budget has ended: a caller with a legal choice keeps it.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.spent.get() >= self.most
    }

    /// Returns true if the reserve has ended too: a caller without a legal choice gives up.
    #[must_use]
    pub fn exhausted(&self) -> bool {
        self.spent.get() >= self.hard.get()
    }

    /// Says how many functions are to be chosen.
    pub fn share_among(&self, functions: usize) {
        self.functions.set(functions as u64);
    }

    /// Begins a function: it gets its share of the reserve.
    pub fn begin(&self) {
        let (most, left) = (self.most, self.functions.get().max(1));
        let used = self.spent.get().saturating_sub(most);
        let reserve = (most / RESERVE).saturating_sub(used);
        self.hard.set(self.spent.get().max(most).saturating_add(reserve / left));
        self.functions.set(left - 1);
    }

    /// The result of `work` without the reserve: there is something legal already.
    pub fn without_reserve<T>(&self, work: impl FnOnce() -> T) -> T {
        let hard = self.hard.replace(self.most);
        let made = work();
        self.hard.set(hard);
        made
    }

    /// Notes an omission.
    pub fn cut(&self, what: Cut) {
        self.cut.borrow_mut().insert(what);
    }

    /// Takes the omissions since the last call.
    pub fn take_cut(&self) -> BTreeSet<Cut> {
        self.cut.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_algebra::count_effort;

    #[test]
    fn long_work_is_several_units() {
        let budget = Budget::unlimited();
        assert_eq!(budget.charge(|| 7), 7);
        budget.charge(|| count_effort(EFFORT - 1));
        assert_eq!(budget.spent(), 0);
        budget.charge(|| count_effort(3 * EFFORT));
        assert_eq!(budget.spent(), 3);
    }
}
