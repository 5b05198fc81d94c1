//! Answers that are worked out once in a context, however often they are asked for.

use crate::context::Context;
use crate::module::{OpId, OpRef, Stamp};
use rustc_hash::FxBuildHasher as Fast;
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

/// The answers known so far; part of a context.
#[derive(Default)]
pub(crate) struct Memo {
    kinds: RefCell<Kinds>,
    state: RefCell<Option<State>>,
    /// Number of computations for each type of answer.
    worked: RefCell<HashMap<TypeId, u64, Fast>>,
}

/// Answers about the operations of one state of a module.
struct State {
    stamp: Stamp,
    answers: HashMap<(TypeId, OpId), Rc<dyn Any>, Fast>,
}

/// Answers by the types of question and answer.
type Kinds = HashMap<(TypeId, TypeId), Rc<dyn Any>, Fast>;

/// The answers to questions of one type.
type Answers<Q, A> = RefCell<HashMap<Q, Rc<A>, Fast>>;

impl Memo {
    fn answers<Q: 'static, A: 'static>(&self) -> Rc<Answers<Q, A>> {
        let kind = (TypeId::of::<Q>(), TypeId::of::<A>());
        let mut kinds = self.kinds.borrow_mut();
        let answers = kinds.entry(kind).or_insert_with(|| Rc::new(Answers::<Q, A>::default())).clone();
        answers.downcast().expect("answers are kept by their type")
    }

    fn count<A: 'static>(&self) {
        *self.worked.borrow_mut().entry(TypeId::of::<A>()).or_default() += 1;
    }

    /// The answer about an operation of the module's state, if it is known.
    fn known<A: 'static>(&self, op: OpRef<'_>) -> Option<Rc<A>> {
        let state = self.state.borrow();
        let state = state.as_ref().filter(|state| state.stamp == op.module.stamp())?;
        state.answers.get(&(TypeId::of::<A>(), op.id))?.clone().downcast().ok()
    }

    /// Keeps an answer about an operation; those about another state of the module, or another module, are forgotten.
    fn keep<A: 'static>(&self, op: OpRef<'_>, answer: Rc<A>) {
        let mut state = self.state.borrow_mut();
        let stamp = op.module.stamp();
        if state.as_ref().is_none_or(|state| state.stamp != stamp) {
            *state = Some(State { stamp, answers: HashMap::default() });
        }
        if let Some(state) = state.as_mut() {
            state.answers.insert((TypeId::of::<A>(), op.id), answer);
        }
    }
}

impl Context {
    /// The answer to `question`: the cached answer or the result of `work`. The question must include all inputs of
    /// the answer except the data of the context; [`Context::set_data`] drops all answers.
    ///
    /// # Errors
    /// That of `work`. It is not kept: its places in the source belong to this question.
    pub fn once<Q: Hash + Eq + 'static, A: 'static, E>(
        &self,
        question: Q,
        work: impl FnOnce() -> Result<A, E>,
    ) -> Result<Rc<A>, E> {
        let answers = self.memo.answers::<Q, A>();
        if let Some(known) = answers.borrow().get(&question) {
            return Ok(known.clone());
        }
        self.memo.count::<A>();
        let answer = Rc::new(work()?);
        answers.borrow_mut().insert(question, answer.clone());
        Ok(answer)
    }

    /// The answer of `work` to a question about an operation, cached while its module is in this state. Verifiers,
    /// passes and readers of the same module share it. The type of the answer identifies the question, and the answer
    /// may depend on the data of the context.
    pub fn once_of<A: 'static>(&self, op: OpRef<'_>, work: impl FnOnce() -> A) -> Rc<A> {
        if let Some(known) = self.memo.known(op) {
            return known;
        }
        self.memo.count::<A>();
        let answer = Rc::new(work());
        self.memo.keep(op, answer.clone());
        answer
    }

    /// Number of computations of an answer of this type since the last change of the context's data: for tests of
    /// sharing.
    #[must_use]
    pub fn worked<A: 'static>(&self) -> u64 {
        self.memo.worked.borrow().get(&TypeId::of::<A>()).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn work_is_done_once_for_a_question() {
        let (ctx, runs) = (Context::default(), RefCell::new(0));
        let double = |number: u64| {
            let work = || {
                *runs.borrow_mut() += 1;
                Ok::<_, Infallible>(number * 2)
            };
            ctx.once(number, work).unwrap_or_else(|never| match never {})
        };
        assert_eq!((*double(3), *double(3), *double(4)), (6, 6, 8));
        assert_eq!((ctx.worked::<u64>(), ctx.worked::<u32>()), (2, 0));
        assert_eq!(*runs.borrow(), 2);
    }

    #[test]
    fn answers_of_another_type_are_other_answers() {
        let ctx = Context::default();
        let number = ctx.once(1_u8, || Ok::<_, Infallible>(1_u32));
        let text = ctx.once(1_u8, || Ok::<_, Infallible>("one"));
        assert_eq!((number.map(|number| *number), text.map(|text| *text)), (Ok(1), Ok("one")));
    }

    #[test]
    fn errors_are_not_kept() {
        let ctx = Context::default();
        assert_eq!(ctx.once(1_u8, || Err::<u32, _>("no")), Err("no"));
        assert_eq!(ctx.once(1_u8, || Ok::<_, &str>(2_u32)).as_deref(), Ok(&2));
    }

    #[test]
    fn new_data_forgets_answers() {
        let mut ctx = Context::default();
        let ask =
            |ctx: &Context, answer: u32| *ctx.once((), || Ok::<_, Infallible>(answer)).expect("an answer");
        assert_eq!((ask(&ctx, 1), ask(&ctx, 2)), (1, 1));
        ctx.set_data(5_u64);
        assert_eq!(ask(&ctx, 2), 2);
    }
}
