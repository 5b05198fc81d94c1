//! Equal steps of a function, which have the same plan: they are searched once.

use crate::array::Array;
use crate::program::{Step, Work};
use crate::search::Outcome;
use std::collections::HashMap;
use std::rc::Rc;

/// The outcomes of steps, by their work without names and the written places of their inputs.
#[derive(Default)]
pub struct Memo(HashMap<String, Rc<Outcome>>);

impl Memo {
    /// The outcome of a step: that of an equal one, or the result of `search`.
    pub fn outcome(
        &mut self,
        step: &Step,
        inputs: &[&Array],
        search: impl FnOnce() -> Outcome,
    ) -> Rc<Outcome> {
        let key = format!("{} {:?}", key(&step.work, inputs), step.places);
        if let Some(known) = self.0.get(&key) {
            return Rc::clone(known);
        }
        let outcome = Rc::new(search());
        self.0.insert(key, Rc::clone(&outcome));
        outcome
    }
}

/// The work of a step without the names of values, which no plan depends on.
fn key(work: &Work, inputs: &[&Array]) -> String {
    let unnamed = |array: &Array| Array { name: String::new(), ..array.clone() };
    let inputs: Vec<Array> = inputs.iter().map(|array| unnamed(array)).collect();
    match work {
        Work::Contraction(problem) => {
            let mut problem = problem.clone();
            let operands = problem.operands.iter_mut().chain(&mut problem.epilogue.operands);
            operands.chain([&mut problem.out]).for_each(|array| array.name.clear());
            format!("{problem:?} {inputs:?}")
        }
        Work::Single(single) => format!("{single:?} {inputs:?}"),
        Work::Region(region) => {
            let mut region = region.clone();
            region.values.iter_mut().for_each(|value| value.array.name.clear());
            format!("{region:?} {inputs:?}")
        }
    }
}
