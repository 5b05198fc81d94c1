//! Parts of expressions that depend on values with fewer axes than the result: a separate pipeline computes each of
//! them once, not for every element of the result.

use crate::array::Array;
use crate::region::{Computation, Operation, Region, RegionValue, Slot};
use crate::vector::substituted;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_mapping::expression::{Dag, Expression, Term};

impl Region {
    /// The region with a map for each part of an expression whose operands lack axes of the result.
    #[must_use]
    pub fn hoisted(mut self, axes: &Axes) -> Self {
        for operation in std::mem::take(&mut self.operations) {
            let Operation { computation, result } = operation;
            let computation = match computation {
                Computation::Map { expression: Some(expression), operands, cast } => {
                    let (expression, operands) = self.hoist(&expression, operands, result, axes);
                    Computation::Map { expression: Some(expression), operands, cast }
                }
                own @ (Computation::Map { expression: None, .. }
                | Computation::Reduce { .. }
                | Computation::Coordinates { .. }
                | Computation::Compare { .. }
                | Computation::Choose { .. }) => own,
            };
            self.operations.push(Operation { computation, result });
        }
        self
    }

    /// Appends the maps of the parts of an expression. Returns the rest of it, and its operands.
    fn hoist(
        &mut self,
        expression: &Expression,
        mut operands: Vec<Slot>,
        result: Slot,
        axes: &Axes,
    ) -> (Expression, Vec<Slot>) {
        let term = self.rest(&expression.term, &mut operands, result, axes);
        let mut used = Vec::new();
        names(&term, &mut used);
        (numbered(&term, &used), used.into_iter().map(|at| operands[at]).collect())
    }

    /// A term without its parts that have maps: these are further operands.
    fn rest(&mut self, term: &Term, operands: &mut Vec<Slot>, result: Slot, axes: &Axes) -> Term {
        let Term::Call(name, arguments) = term else { return term.clone() };
        let arguments = arguments.iter().map(|argument| {
            let Term::Call(..) = argument else { return argument.clone() };
            match self.part(argument, operands, result, axes) {
                Some(slot) => {
                    operands.push(slot);
                    Term::Name(operands.len() - 1)
                }
                None => self.rest(argument, operands, result, axes),
            }
        });
        Term::Call(Arc::clone(name), arguments.collect())
    }

    /// The result of a map that computes a term, if its operands lack axes of the whole.
    fn part(&mut self, term: &Term, operands: &[Slot], result: Slot, axes: &Axes) -> Option<Slot> {
        let mut used = Vec::new();
        names(term, &mut used);
        let slots: Vec<Slot> = used.iter().map(|&at| operands[at]).collect();
        let whole = self.values[result].array.clone();
        let has = |axis: &&Arc<str>| slots.iter().any(|&slot| self.values[slot].array.axes.contains(axis));
        let held: Vec<Arc<str>> = whole.axes.iter().filter(has).cloned().collect();
        let size = |all: &[Arc<str>]| -> u64 {
            all.iter().filter_map(|axis| axes.id(axis)).map(|id| axes.size(id)).product()
        };
        if slots.is_empty() || size(&held) == size(&whole.axes) {
            return None;
        }
        let expression = numbered(term, &used);
        let reads: Vec<_> = slots.iter().map(|&slot| self.values[slot].read).collect();
        let dtype = Dag::new(&expression, &reads).ok()?.dtype()?;
        let slot = self.values.len();
        let array = Array { name: format!("{}_part", whole.name), dtype, axes: held, ..whole };
        self.values.push(RegionValue::stored(array, slot));
        let computation = Computation::Map { expression: Some(expression), operands: slots, cast: None };
        self.operations.push(Operation { computation, result: slot });
        Some(slot)
    }
}

/// A term as an expression of its operands `used`, by their positions there.
fn numbered(term: &Term, used: &[usize]) -> Expression {
    let mut terms: Vec<Term> = (0..=used.iter().copied().max().unwrap_or_default()).map(Term::Name).collect();
    for (number, &at) in used.iter().enumerate() {
        terms[at] = Term::Name(number);
    }
    let names = (0..used.len()).map(|at| format!("x{at}").into()).collect();
    Expression { names, term: substituted(term, &terms) }
}

/// Adds the operands of a term, each once.
fn names(term: &Term, all: &mut Vec<usize>) {
    match term {
        Term::Name(at) => {
            if !all.contains(at) {
                all.push(*at);
            }
        }
        Term::Number(_) => {}
        Term::Call(_, arguments) => arguments.iter().for_each(|argument| names(argument, all)),
    }
}
