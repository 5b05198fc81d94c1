//! The memo of a choice. Pipelines that share tensors are chosen once for each layout of their inputs, and again for
//! each distribution and for the price of the whole kernel. Most of their operations are then in the same state as
//! before. So the proposals of the rules for an operation, and the verdict of verifiers, lowering and cost function on
//! it, are computed once and stored under all their possible inputs.

use crate::config::candidate::{Clauses, Made};
use crate::config::computation::Computations;
use crate::config::graph::Candidates;
use crate::config::task::Task;
use crate::effort::budget::Budget;
use crate::rules::ruleset::RuleSet;
use rustc_hash::FxBuildHasher as Fast;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{AttrId, OpId, OpRef, TypeId, ValueId};
use visa_mapping::facts::{Names, Support};

/// The context of a choice: the rules, the budget, the computations of the kernels, and the memo. It is valid for one
/// module and for copies of it that differ only in the inputs of pipelines and in the values of clauses that were
/// open.
pub struct Means<'a> {
    /// The rules.
    pub rules: &'a RuleSet,
    /// The limit of work.
    pub budget: &'a Budget,
    /// The computations of the kernels.
    pub computations: Rc<Computations>,
    /// The answers that were given before.
    pub memo: Memo,
}

impl<'a> Means<'a> {
    /// These rules, with an empty memo.
    #[must_use]
    pub fn new(rules: &'a RuleSet, budget: &'a Budget, computations: Rc<Computations>) -> Self {
        Self { rules, budget, computations, memo: Memo::default() }
    }

    /// The same context with an empty memo: for a module that differs in more than the memo allows.
    #[must_use]
    pub fn with_empty_memo(&self) -> Self {
        Self::new(self.rules, self.budget, self.computations.clone())
    }
}

/// The answers that were given before.
#[derive(Default)]
pub struct Memo {
    waiting: RefCell<Numbers<Waiting>>,
    tasks: RefCell<Numbers<Task>>,
    verdicts: RefCell<HashMap<(Moment, Clauses), Verdict, Fast>>,
    candidates: RefCell<HashMap<(Moment, usize), Rc<Candidates>, Fast>>,
}

/// The verdict on an operation with its clauses: its result, with the past for the operations after it, or the reason
/// that it is not legal.
type Verdict = Result<(Rc<Made>, Past), Rc<Diagnostic>>;

/// The operations of a pipeline that have their clauses: a number for all of them together. Nothing is chosen in
/// the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Past(usize);

/// An operation that waits for its clauses, by its number, after others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// The choices of the pipeline so far.
    pub past: Past,
    /// The operation's number, of [`Memo::waiting`].
    pub waiting: usize,
}

/// The content of an operation, for any stream.
#[derive(PartialEq, Eq, Hash)]
struct Waiting {
    op: OpId,
    name: &'static str,
    clauses: Vec<(String, AttrId)>,
    /// Its operands in addition to the stream: the type, and the axes that it depends on.
    others: Vec<(ValueId, TypeId, Option<Rc<Names>>)>,
}

impl Memo {
    /// The number of an operation of a pipeline as written, with the operands `others` in addition to the stream.
    pub fn waiting(&self, op: OpRef<'_>, others: &[ValueId], support: &Support) -> usize {
        let others = others.iter().copied();
        self.waiting.borrow_mut().of(Waiting {
            op: op.id,
            name: op.decl().map_or("", |decl| decl.name),
            clauses: op.clauses().iter().map(|clause| (clause.name.to_string(), clause.value)).collect(),
            others: others.map(|value| (value, op.module.ty(value), support.axes(value))).collect(),
        })
    }

    /// The number of a task.
    pub fn task(&self, task: &Task) -> usize {
        self.tasks.borrow_mut().of(task.clone())
    }

    /// The verdict on an operation with these clauses, by `ask` if it was not asked before.
    ///
    /// # Errors
    /// Why it is not legal.
    pub fn verdict(
        &self,
        moment: Moment,
        clauses: &Clauses,
        ask: impl FnOnce() -> Result<Made, Diagnostic>,
    ) -> Verdict {
        let key = (moment, clauses.clone());
        if let Some(known) = self.verdicts.borrow().get(&key) {
            return known.clone();
        }
        let answer = ask();
        let mut verdicts = self.verdicts.borrow_mut();
        let past = Past(verdicts.len() + 1);
        let verdict = answer.map(|made| (Rc::new(made), past)).map_err(Rc::new);
        verdicts.entry(key).or_insert(verdict).clone()
    }

    /// The candidates for an operation with the task of this number, from `ask` if they are not known yet.
    pub fn candidates(
        &self,
        moment: Moment,
        task: usize,
        ask: impl FnOnce() -> Candidates,
    ) -> Rc<Candidates> {
        let known = self.candidates.borrow().get(&(moment, task)).cloned();
        known.unwrap_or_else(|| {
            let found = Rc::new(ask());
            self.candidates.borrow_mut().insert((moment, task), found.clone());
            found
        })
    }
}

/// Numbers of things: equal ones have the same.
struct Numbers<T>(HashMap<T, usize, Fast>);

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T: Eq + Hash> Numbers<T> {
    fn of(&mut self, thing: T) -> usize {
        let new = self.0.len();
        *self.0.entry(thing).or_insert(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use visa_ir::span::Span;

    #[test]
    fn what_was_asked_is_asked_again_only_after_another_past_or_for_another_task() {
        let (memo, asked) = (Memo::default(), Cell::new(0));
        let ask = |(past, waiting), task| {
            memo.candidates(Moment { past: Past(past), waiting }, task, || {
                asked.set(asked.get() + 1);
                Candidates::default()
            });
            asked.get()
        };
        assert_eq!([ask((0, 0), 0), ask((0, 0), 0)], [1, 1]);
        assert_eq!([ask((1, 0), 0), ask((0, 1), 0), ask((0, 0), 1)], [2, 3, 4]);
        assert_eq!([ask((0, 1), 0), ask((0, 0), 1)], [4, 4]);
    }

    #[test]
    fn a_refusal_is_remembered() {
        let (memo, clauses) = (Memo::default(), Clauses::from([("ring", None)]));
        let moment = Moment { past: Past::default(), waiting: 0 };
        let refused = || Err(Diagnostic::error("C1", Span::default(), "too large"));
        assert!(memo.verdict(moment, &clauses, refused).is_err());
        let again = memo.verdict(moment, &clauses, || unreachable!("asked again"));
        assert_eq!(again.err().map(|refused| refused.code.clone()), Some("C1".to_owned()));
    }

    #[test]
    fn equal_tasks_have_the_same_number() {
        let memo = Memo::default();
        let optional = Task { optional: [1].into(), ..Task::default() };
        assert_eq!([memo.task(&Task::default()), memo.task(&optional), memo.task(&optional)], [0, 1, 1]);
    }
}
