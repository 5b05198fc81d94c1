//! Branches on the indices of loops, and loops.

use super::blocks::Insertion;
use super::condition::{Bounds, Frame};
use super::lift::{Carried, Lift};
use super::notes;
use super::reading::Symbols;
use super::scope::{Dimension, Scope, dimension};
use super::solve::{Solver, Step};
use super::terms::{Reason, is};
use crate::tensor::facts::Kind;
use crate::tensor::term::{Head, Term};
use egg::Id;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use visa_ir::context::TypeId;
use visa_mapping::ops::restrict;
use visa_mapping::summed::named;
use visa_mapping::tensor::value::{Value, value_type};

impl Lift<'_, '_> {
    pub(super) fn branch(&mut self, branch: &Term, number: usize, scope: &Scope) -> Result<Id, Reason> {
        let (bounds, given, initial) = self.branch_parts(branch, number)?;
        self.choice(&bounds, (given, initial), scope)
    }

    pub(super) fn branch_parts(&self, branch: &Term, number: usize) -> Result<(Bounds, Id, Id), Reason> {
        let &[from, below, index, ..] = branch.children.as_slice() else {
            return Err("a branch has no condition".to_owned());
        };
        let bounds = Bounds::of_branch(&self.terms, [from, below, index])?;
        let values = &branch.children[3..];
        Ok((bounds, values[values.len() / 2 + number], values[number]))
    }

    /// `then` in iterations in which the bounds hold, and `otherwise` in others.
    pub(super) fn choice(
        &mut self,
        bounds: &Bounds,
        (then, otherwise): (Id, Id),
        scope: &Scope,
    ) -> Result<Id, Reason> {
        match bounds.decided(&scope.frames, &scope.known) {
            Some(true) => self.lift(then, scope),
            Some(false) => self.lift(otherwise, scope),
            None => {
                let tests = bounds.tests(&mut self.terms, &scope.frames)?;
                let mut value = self.lift(then, &scope.knowing(Some(bounds.clone())))?;
                let other = self.lift(otherwise, &scope.knowing(bounds.opposite()))?;
                for (test, holds) in tests {
                    let (then, otherwise) = if holds { (value, other) } else { (other, value) };
                    value = self.terms.choose(test, then, otherwise)?;
                }
                Ok(value)
            }
        }
    }

    /// The frame of a loop: its dimension, or that of the first block at its index.
    pub(super) fn frame(&self, of: Id, depth: usize, term: &Term) -> Result<Frame, Reason> {
        let over = self.terms.mapping(term.children[0]).ok_or("a loop has no dimension")?;
        let times = over.size(&self.terms.graph.analysis.axes).map_err(|error| error.to_string())?;
        let found = match named(&over).is_empty() {
            false => dimension(&self.terms, &over),
            true => self.first_block(depth, term),
        };
        let found = found.filter(|found| found.count == times);
        let Dimension { axis, block, count } = found
            .ok_or_else(|| format!("the iterations of the loop over `{over}` are no blocks of an axis"))?;
        Ok(Frame { of, depth, axis, block, count })
    }

    /// The dimension of the first block that is at the index of a loop.
    pub(super) fn first_block(&self, depth: usize, term: &Term) -> Option<Dimension> {
        let (mut open, mut seen) = (term.children.clone(), HashSet::new());
        let mut found: Vec<(Id, Id)> = Vec::new();
        while let Some(id) = open.pop() {
            let id = self.terms.graph.find(id);
            let Ok(term) = self.terms.term(id) else { continue };
            if !seen.insert(id) {
                continue;
            }
            if is(&term, &restrict::EXTRACT) || is(&term, &restrict::INSERT) {
                let (operands, clauses) = self.terms.parts(&term).ok()?;
                let at_index = operands.iter().any(|&operand| {
                    let term = self.terms.term(operand);
                    term.is_ok_and(|term| matches!(term.head, Head::Index(at, _) if at == depth))
                });
                found.extend(at_index.then_some((id, clauses[0])));
            }
            open.extend(term.children);
        }
        let (_, along) = found.into_iter().min()?;
        dimension(&self.terms, &*self.terms.mapping(along)?)
    }

    /// A result of a loop, as a value without it.
    pub(super) fn fold(&mut self, of: Id, number: usize, scope: &Scope) -> Result<Id, Reason> {
        let term = self.terms.term(of)?;
        let Head::Loop(depth) = term.head else { return Err("a term is no loop".to_owned()) };
        let frame = self.frame(of, depth, &term)?;
        let reason = |why: Reason| format!("the loop over {}: {why}", notes::dimension(&frame));
        if scope.along(&frame.axis).is_some() {
            return Err(reason("a loop around it is over the same axis".to_owned()));
        }
        let carried = Carried::of(&term);
        let before = self.carried.insert(depth, carried.clone());
        let value = self.folded(&carried, &frame, number, scope).map_err(reason)?;
        if let Some(before) = before {
            self.carried.insert(depth, before);
        }
        match self.terms.depends(value, depth)? {
            true => Err(reason(format!("carried value {number} depends on the iteration before"))),
            false => Ok(value),
        }
    }

    pub(super) fn folded(
        &mut self,
        carried: &Carried,
        frame: &Frame,
        number: usize,
        scope: &Scope,
    ) -> Result<Id, Reason> {
        if let Some((inner, insertion)) = self.filling(carried, frame.depth, number)? {
            self.notes.independent(frame);
            return self.filled_by(carried, frame, (&inner, insertion), number, scope);
        }
        let step = self.step(carried, frame, number, scope)?;
        match step {
            Some(step) => Solver::new(&mut self.terms, self.laws, step, &mut self.notes).solve(number),
            None => self.lift(carried.initial[number], scope),
        }
    }

    /// A value that loops fill block by block.
    fn filled_by(
        &mut self,
        carried: &Carried,
        frame: &Frame,
        (inner, insertion): (&[Id], Insertion),
        number: usize,
        scope: &Scope,
    ) -> Result<Id, Reason> {
        let mut inside = scope.with(frame.clone());
        for &of in inner {
            let term = self.terms.term(of)?;
            let Head::Loop(depth) = term.head else { return Err("a term is no loop".to_owned()) };
            let frame = self.frame(of, depth, &term)?;
            if inside.along(&frame.axis).is_some() {
                return Err("a loop inside of it is over the same axis".to_owned());
            }
            self.carried.insert(depth, Carried::of(&term));
            self.notes.independent(&frame);
            inside = inside.with(frame);
        }
        let frames = &inside.frames[scope.frames.len()..];
        let indices = &insertion.indices;
        let fills =
            |frame: &Frame| indices.iter().any(|(depth, of)| *depth == frame.depth && of.is_of(frame));
        if indices.len() == frames.len() && frames.iter().all(fills) {
            if !self.partial(&insertion.part, &inside)?.is_empty() {
                return Err(format!("the blocks `{}` that it fills are not whole", insertion.part));
            }
            let value = self.lift(insertion.block, &inside)?;
            for frame in frames {
                if self.terms.depends(value, frame.depth)? {
                    return Err("a block depends on the iteration before".to_owned());
                }
            }
            return Ok(value);
        }
        let given = self.terms.term(carried.given[number])?;
        let filled = self.filled(&given, frame.depth, number, None)?;
        let all = matches!(indices.as_slice(), [(_, only)] if only.count == frame.count);
        let (source, part) = filled.filter(|_| all).ok_or("it fills another axis than its own")?;
        let value = self.lift(source, scope)?;
        self.cut(value, &part, scope)
    }

    /// The step of a loop; `None` if its branch never runs.
    pub(super) fn step(
        &mut self,
        carried: &Carried,
        frame: &Frame,
        number: usize,
        scope: &Scope,
    ) -> Result<Option<Step>, Reason> {
        let mut inside = scope.with(frame.clone());
        let branch = self.branch_around(carried, frame.depth, number)?;
        let mut given: Vec<Option<Id>> = carried.given.iter().copied().map(Some).collect();
        let mut tests = Vec::new();
        if let Some(branch) = branch {
            let term = self.terms.term(branch)?;
            let (bounds, ..) = self.branch_parts(&term, 0)?;
            match bounds.decided(&inside.frames, &inside.known) {
                Some(true) => {}
                Some(false) => return Ok(None),
                None => {
                    tests = bounds.tests(&mut self.terms, &inside.frames)?;
                    inside = inside.knowing(Some(bounds));
                }
            }
            for (own, given) in given.iter_mut().enumerate() {
                *given = self.inside_branch(carried, frame.depth, own, branch)?;
            }
        }
        let mut symbols = Symbols::default();
        for (own, initial) in carried.initial.iter().enumerate() {
            let Kind::Value(ty) = self.terms.graph[*initial].data.kind else {
                return Err("a carried value has no type".to_owned());
            };
            symbols.before.push(self.symbol(frame.depth, own, ty, &inside)?);
        }
        for (own, given) in given.into_iter().enumerate() {
            let lifted = given.map(|given| self.lift(given, &inside));
            symbols.after.push(match lifted {
                Some(Err(why)) if own == number => return Err(why),
                Some(Err(_)) | None => None,
                Some(Ok(lifted)) => Some(lifted),
            });
        }
        let initial = self.all(&carried.initial, scope)?;
        symbols.blocks.clone_from(&self.blocks);
        Ok(Some(Step { frame: frame.clone(), tests, initial, symbols }))
    }

    /// The branch that gives a carried value at the end of a loop's body, or else leaves it as it is.
    pub(super) fn branch_around(
        &self,
        carried: &Carried,
        depth: usize,
        number: usize,
    ) -> Result<Option<Id>, Reason> {
        let term = self.terms.term(carried.given[number])?;
        let Head::Result(_) = term.head else { return Ok(None) };
        let branch = self.terms.graph.find(term.children[0]);
        let is_around = self.terms.term(branch)?.head == Head::Branch
            && self.inside_branch(carried, depth, number, branch)?.is_some();
        Ok(is_around.then_some(branch))
    }

    /// The value that a branch gives to a carried one; `None` if that is not unchanged without the branch.
    pub(super) fn inside_branch(
        &self,
        carried: &Carried,
        depth: usize,
        number: usize,
        branch: Id,
    ) -> Result<Option<Id>, Reason> {
        let term = self.terms.term(carried.given[number])?;
        let is_own = |id: Id| self.is_carried(id, depth, number);
        if is_own(carried.given[number]) {
            return Ok(Some(carried.given[number]));
        }
        let Head::Result(result) = term.head else { return Ok(None) };
        if self.terms.graph.find(term.children[0]) != branch {
            return Ok(None);
        }
        let values = self.terms.term(branch)?.children.split_off(3);
        Ok(is_own(values[result]).then(|| values[values.len() / 2 + result]))
    }

    /// The symbol of a carried value: it may depend on each frame around its loop.
    pub(super) fn symbol(
        &mut self,
        depth: usize,
        number: usize,
        ty: TypeId,
        scope: &Scope,
    ) -> Result<Id, Reason> {
        let ctx = self.terms.graph.analysis.ctx;
        let value: Rc<Value> = ctx.type_value(ty).ok_or("a carried value has no type")?;
        let mut axes = value.axes.clone();
        let own = scope.frame(depth).ok_or("a carried value is of a loop that is not folded")?;
        if axes.contains(&own.axis) {
            return Err(format!("carried value {number} has the axis of its loop"));
        }
        for frame in scope.frames.iter().take_while(|frame| frame.depth != depth) {
            if !axes.contains(&frame.axis) {
                axes.push(Arc::clone(&frame.axis));
            }
        }
        self.terms.add(Head::Carried { depth, number, ty: value_type(ctx, value.dtype, axes) }, Vec::new())
    }
}
