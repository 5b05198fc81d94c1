//! Blocks of tensors that a loop reads, and those that it writes.

use super::condition::Bounds;
use super::lift::{Carried, Lift};
use super::scope::{Dimension, Scope, dimension};
use super::terms::{Reason, is};
use crate::tensor::term::{Head, Term};
use egg::Id;
use std::rc::Rc;
use visa_algebra::Expr;
use visa_mapping::ops::restrict;
use visa_mapping::summed::named;

/// The insertion of a block into a carried value.
pub(super) struct Insertion {
    /// The block.
    pub(super) block: Id,
    /// The loops whose indices are its position, each with the blocks that it counts.
    pub(super) indices: Vec<(usize, Dimension)>,
    /// The dimensions.
    along: Rc<Expr>,
    /// The coordinates of a block.
    pub(super) part: Rc<Expr>,
}

impl Lift<'_, '_> {
    /// The block of a tensor that each iteration reads: the tensor.
    pub(super) fn extracted(&mut self, term: &Term, scope: &Scope) -> Result<Id, Reason> {
        let (operands, clauses) = self.terms.parts(term)?;
        let (operands, clauses) = (operands.to_vec(), clauses.to_vec());
        let part = self.terms.mapping(clauses[2]);
        let along = self.terms.mapping(clauses[0]).ok_or("an extraction has no dimension")?;
        if operands.len() == 1 {
            return self.at_constant(term, &along, part, scope);
        }
        let indices = self.indices(&operands[1..], &along)?;
        if let [(depth, dimension)] = indices.as_slice()
            && let Some(chosen) = self.collected(term, *depth, dimension, scope)?
        {
            return Ok(chosen);
        }
        let mut outside = scope.clone();
        for (depth, dimension) in &indices {
            let frame = scope.frame(*depth).ok_or("a block is at the index of a loop that is not folded")?;
            if !dimension.is_of(frame) || self.first(&clauses) != Some(0) {
                return Err(format!(
                    "the index of the loop over `{}` counts blocks of `{along}`",
                    frame.axis
                ));
            }
            if self.terms.depends(operands[0], *depth)? {
                return Err("a block is of a value that its loop changes".to_owned());
            }
            outside = outside.without(*depth);
        }
        let value = self.lift(operands[0], &outside)?;
        match part {
            Some(part) => self.cut(value, &part, scope),
            None => Err("a block has no `part`".to_owned()),
        }
    }

    /// An extraction at a constant position, which is not along the axis of a frame.
    fn at_constant(
        &mut self,
        term: &Term,
        along: &Expr,
        part: Option<Rc<Expr>>,
        scope: &Scope,
    ) -> Result<Id, Reason> {
        let part = part.as_deref().map(named).unwrap_or_default();
        if named(along).iter().chain(&part).any(|axis| scope.along(axis).is_some()) {
            return Err(format!("a part along `{along}` of a block is taken alone"));
        }
        let value = self.lift(term.children[0], scope)?;
        self.terms.add(term.head.clone(), [&[value], &term.children[1..]].concat())
    }

    /// The loops whose indices count blocks, each with the blocks that it counts.
    fn indices(&self, indices: &[Id], along: &Expr) -> Result<Vec<(usize, Dimension)>, Reason> {
        let terms = if indices.len() == 1 { vec![along] } else { along.terms() };
        if terms.len() != indices.len() {
            return Err(format!("`{along}` has not one dimension for each index"));
        }
        let mut all = Vec::new();
        for (&index, term) in indices.iter().zip(terms) {
            let Head::Index(depth, _) = self.terms.term(index)?.head else {
                return Err("a block is at a number other than the index of a loop".to_owned());
            };
            let found = dimension(&self.terms, term);
            let found = found.ok_or_else(|| format!("the positions of `{term}` are no blocks of an axis"))?;
            all.push((depth, found));
        }
        Ok(all)
    }

    /// The number that clause `index` of an extraction or insertion adds.
    pub(super) fn first(&self, clauses: &[Id]) -> Option<i64> {
        self.terms.integer(*clauses.get(1)?)
    }

    /// The block of a tensor that an outer loop fills block by block: the tensor that it is filled from, where that
    /// has happened.
    pub(super) fn collected(
        &mut self,
        term: &Term,
        inner: usize,
        dimension: &Dimension,
        scope: &Scope,
    ) -> Result<Option<Id>, Reason> {
        let mut of = self.terms.term(term.children[0])?;
        let filled_now = is(&of, &restrict::INSERT);
        if filled_now {
            of = self.terms.term(of.children[1])?;
        }
        let Head::Carried { depth: outer, number, .. } = of.head else { return Ok(None) };
        let Some(carried) = self.carried.get(&outer).cloned() else { return Ok(None) };
        let given = self.terms.term(carried.given[number])?;
        if filled_now
            && self.terms.graph.find(term.children[0]) != self.terms.graph.find(carried.given[number])
        {
            return Ok(None);
        }
        let Some((source, part)) = self.filled(&given, outer, number, Some(dimension))? else {
            return Ok(None);
        };
        if outer == inner || self.terms.mapping(*term.children.last().ok_or("no part")?) != Some(part) {
            return Ok(None);
        }
        let bounds = Bounds::order(inner, outer, filled_now);
        let before = |lift: &mut Self, of: Id| {
            let mut children = term.children.clone();
            children[0] = of;
            lift.terms.add(term.head.clone(), children)
        };
        let (then, otherwise) = (before(self, source)?, before(self, carried.initial[number])?);
        self.choice(&bounds, (then, otherwise), scope).map(Some)
    }

    /// The tensor from which a loop fills a carried one block by block, and the part that is a block.
    pub(super) fn filled(
        &mut self,
        given: &Term,
        depth: usize,
        number: usize,
        wanted: Option<&Dimension>,
    ) -> Result<Option<(Id, Rc<Expr>)>, Reason> {
        let Some(Insertion { block, indices, part, along }) = self.insertion(given, depth, number)? else {
            return Ok(None);
        };
        let from = self.terms.term(block)?;
        let ([(at, found)], true) = (indices.as_slice(), is(&from, &restrict::EXTRACT)) else {
            return Ok(None);
        };
        if *at != depth || wanted.is_some_and(|wanted| wanted != found) {
            return Ok(None);
        }
        let (operands, clauses) = self.terms.parts(&from)?;
        let same = self.terms.mapping(clauses[0]) == Some(along)
            && self.terms.mapping(clauses[2]).as_ref() == Some(&part)
            && self.first(clauses) == Some(0);
        let (&[source, index], true) = (operands, same) else { return Ok(None) };
        let is_index = matches!(self.terms.term(index)?.head, Head::Index(at, _) if at == depth);
        let invariant = !self.terms.depends(source, depth)?;
        Ok((is_index && invariant).then_some((source, part)))
    }

    /// The insertion into a carried value of a block at the indices of loops; `None` if a term is none.
    pub(super) fn insertion(
        &mut self,
        given: &Term,
        depth: usize,
        number: usize,
    ) -> Result<Option<Insertion>, Reason> {
        if !is(given, &restrict::INSERT) {
            return Ok(None);
        }
        let (operands, clauses) = self.terms.parts(given)?;
        let [block, base, indices @ ..] = operands else { return Ok(None) };
        let (along, part) = (self.terms.mapping(clauses[0]), self.terms.mapping(clauses[2]));
        let (Some(along), Some(part), false) = (along, part, indices.is_empty()) else { return Ok(None) };
        if !self.is_carried(*base, depth, number) || self.first(clauses) != Some(0) {
            return Ok(None);
        }
        let indices = self.indices(indices, &along)?;
        Ok(Some(Insertion { block: *block, indices, along, part }))
    }

    /// The loops inside of each other of which the innermost inserts a block into a value that all of them carry, and
    /// the insertion; `None` if a loop gives another value.
    pub(super) fn filling(
        &mut self,
        carried: &Carried,
        depth: usize,
        number: usize,
    ) -> Result<Option<(Vec<Id>, Insertion)>, Reason> {
        let given = self.terms.term(carried.given[number])?;
        if let Some(insertion) = self.insertion(&given, depth, number)? {
            return Ok(Some((Vec::new(), insertion)));
        }
        let Head::Result(result) = given.head else { return Ok(None) };
        let inner = self.terms.term(given.children[0])?;
        let Head::Loop(inner_depth) = inner.head else { return Ok(None) };
        let inside = Carried::of(&inner);
        if !self.is_carried(inside.initial[result], depth, number) {
            return Ok(None);
        }
        let filling = self.filling(&inside, inner_depth, result)?;
        Ok(filling.map(|(mut loops, insertion)| {
            loops.insert(0, given.children[0]);
            (loops, insertion)
        }))
    }

    /// Returns true if a value is a carried one at the start of an iteration.
    pub(super) fn is_carried(&self, id: Id, depth: usize, number: usize) -> bool {
        self.terms.term(id).is_ok_and(|term| match term.head {
            Head::Carried { depth: at, number: own, .. } => at == depth && own == number,
            Head::Argument(..) | Head::Index(..) | Head::Number(..) | Head::Apply | Head::WhereDefined => {
                false
            }
            Head::Operation(_) | Head::Loop(_) | Head::Branch | Head::Result(_) => false,
            Head::Clause(_) | Head::Absent | Head::Name(_) => false,
        })
    }
}
