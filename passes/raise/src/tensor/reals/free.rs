//! The choice of the maxima to which exponentials are relative.
//!
//! A softmax is the same relative to any number. So the initial value of a running maximum is left out if no result
//! depends on the maximum.

use super::laws::Laws;
use super::notes::Notes;
use super::reading::{Reading, Symbols};
use super::real::Factor;
use super::terms::{Reason, Terms};
use egg::Id;
use std::collections::HashMap;
use visa_numerics::DType;

/// Leaves out the initial values of the maxima on which no result depends.
///
/// # Errors
/// A value without a term.
pub(crate) fn choose(
    terms: &mut Terms<'_>,
    laws: &Laws,
    notes: &mut Notes,
    values: &mut [Id],
) -> Result<(), Reason> {
    for at in 0..notes.maxima.len() {
        let maximum = notes.maxima[at];
        if !are_independent(terms, laws, maximum.bounded, values)? {
            notes.maxima[at].plain = maximum.bounded;
            continue;
        }
        let mut known = HashMap::from([(terms.graph.find(maximum.bounded), maximum.plain)]);
        for value in values.iter_mut() {
            *value = replaced(terms, *value, &mut known)?;
        }
        rename(terms, notes, &known);
    }
    Ok(())
}

/// The notes about the values that replace others.
fn rename(terms: &Terms<'_>, notes: &mut Notes, known: &HashMap<Id, Id>) {
    let new = |id: Id| known.get(&terms.graph.find(id)).copied().unwrap_or(id);
    let old = std::mem::take(&mut notes.differences);
    for (id, mut difference) in old {
        difference.references.iter_mut().for_each(|id| *id = new(*id));
        notes.differences.insert(new(id), difference);
    }
    for maximum in &mut notes.maxima {
        maximum.plain = new(maximum.plain);
        maximum.bounded = new(maximum.bounded);
    }
}

/// A value with some values replaced.
fn replaced(terms: &mut Terms<'_>, id: Id, known: &mut HashMap<Id, Id>) -> Result<Id, Reason> {
    let id = terms.graph.find(id);
    if let Some(&known) = known.get(&id) {
        return Ok(known);
    }
    let term = terms.term(id)?;
    let mut children = Vec::new();
    for &child in &term.children {
        children.push(replaced(terms, child, known)?);
    }
    let new = if children == term.children { id } else { terms.add(term.head, children)? };
    known.insert(id, new);
    Ok(new)
}

/// Returns true if some values are the same for each choice of another one.
fn are_independent(terms: &mut Terms<'_>, laws: &Laws, of: Id, values: &[Id]) -> Result<bool, Reason> {
    let symbols = Symbols { free: vec![of], ..Symbols::default() };
    let mut independence =
        Independence { reading: Reading::new(terms, laws, &symbols), known: HashMap::new() };
    for &value in values {
        if !independence.holds(value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

struct Independence<'t, 'a> {
    reading: Reading<'t, 'a>,
    known: HashMap<Id, bool>,
}

impl Independence<'_, '_> {
    fn holds(&mut self, id: Id) -> Result<bool, Reason> {
        if let Some(&known) = self.known.get(&id) {
            return Ok(known);
        }
        let holds = !self.reading.is_open(id)? || self.cancels(id)? || self.parts_hold(id)?;
        self.known.insert(id, holds);
        Ok(holds)
    }

    /// Returns true if the normal form of a number lacks the free value.
    fn cancels(&mut self, id: Id) -> Result<bool, Reason> {
        if self.reading.dtype(id) != Some(DType::F32) {
            return Ok(false);
        }
        let real = self.reading.read(id)?;
        let mut failed = None;
        let depends = real.any(&mut |factor| match factor {
            Factor::Free(_) => true,
            Factor::Value(id) | Factor::Where { test: id, .. } => match self.reading.is_open(*id) {
                Ok(open) => open,
                Err(why) => {
                    failed = Some(why);
                    true
                }
            },
            Factor::Before(_) | Factor::After(_) | Factor::Rounded(..) | Factor::Sum(..) => false,
        });
        failed.map_or(Ok(!depends), Err)
    }

    /// Returns true if a term is made of values that are the same for each choice.
    fn parts_hold(&mut self, id: Id) -> Result<bool, Reason> {
        if self.reading.is_symbol(id) {
            return Ok(false);
        }
        for child in self.reading.children(id)? {
            if !self.holds(child)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
