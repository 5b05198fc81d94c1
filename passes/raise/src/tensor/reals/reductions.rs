//! Reductions of a block of each iteration.

use super::condition::Frame;
use super::lift::Lift;
use super::scope::Scope;
use super::terms::{Reason, is};
use crate::tensor::term::Term;
use egg::Id;
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Cell, Expr, Map};
use visa_ir::context::Attr;
use visa_ir::decl::OpDecl;
use visa_mapping::expression::{Expression, Term as Formula};
use visa_mapping::ops::{contract, reduce, restrict, sequence};
use visa_mapping::summed::named;
use visa_numerics::ReduceName;

impl Lift<'_, '_> {
    /// A value at one coordinate of each block of a frame.
    pub(super) fn local(
        &mut self,
        id: Id,
        frame: &Frame,
        coordinate: u64,
        scope: &Scope,
    ) -> Result<Id, Reason> {
        if !self.terms.has(id, &frame.axis) {
            return self.lift(id, scope);
        }
        let term = self.terms.term(id)?;
        if is(&term, &restrict::RESTRICT) {
            let to = self.terms.mapping(term.children[1]).ok_or("a restriction has no mapping")?;
            self.partial(&to, &scope.without(frame.depth)).map(drop)?;
            return self.local(term.children[0], frame, coordinate, scope);
        }
        if is(&term, &restrict::EXTRACT) && term.children.len() == 4 {
            let along = self.terms.mapping(term.children[1]).ok_or("an extraction has no dimension")?;
            let first = self.first(&term.children[1..]).and_then(|first| u64::try_from(first).ok());
            let axes = Arc::clone(&self.terms.graph.analysis.axes);
            let axis = axes.id(&frame.axis).ok_or("an axis is not declared")?;
            let cell = Map::new(&along, &axes).ok().and_then(|map| map.cell(first?));
            if let (Some(Cell::Live(index)), true) = (cell, *named(&along) == [Arc::clone(&frame.axis)]) {
                return self.local(term.children[0], frame, coordinate + index.get(axis), scope);
            }
        }
        if is(&term, &sequence::SCAN) && coordinate + 1 == frame.block {
            return self.last_maximum(&term, frame, scope);
        }
        Err(format!("one coordinate along `{}` of each block is taken", frame.axis))
    }

    /// The last step of a running maximum: the maximum of its state and of the block.
    pub(super) fn last_maximum(&mut self, term: &Term, frame: &Frame, scope: &Scope) -> Result<Id, Reason> {
        let no = || format!("a running value along `{}` is no maximum", frame.axis);
        let ctx = self.terms.graph.analysis.ctx;
        let expression: Option<Rc<Expression>> =
            self.terms.clause(term, "expression").and_then(|attr| ctx.attr_value(attr));
        let mapping = |name| self.terms.clause(term, name).and_then(|attr| ctx.attr_value::<Expr>(attr));
        let (Some(expression), Some(steps), Some(keys)) = (expression, mapping("steps"), mapping("keys"))
        else {
            return Err(no());
        };
        let is_maximum = match (&expression.term, expression.names.as_slice()) {
            (Formula::Call(name, arguments), [_, _]) if **name == *"max" => {
                let names = [Formula::Name(0), Formula::Name(1)];
                arguments.len() == 2 && names.iter().all(|name| arguments.contains(name))
            }
            (_, _) => false,
        };
        let (value, state, mode) = (term.children[0], term.children[1], term.children[2]);
        let others = self.terms.value(value)?;
        let keys = named(&keys);
        let by_element = others.axes.iter().all(|axis| *axis == frame.axis || keys.contains(axis));
        let all_steps = *named(&steps) == [Arc::clone(&frame.axis)]
            && self.terms.counted_once(&steps) == Some(frame.block)
            && !keys.contains(&frame.axis);
        if !is_maximum || !by_element || !all_steps || self.terms.number_of(mode) != Some(3.0) {
            return Err(no());
        }
        self.partial(&steps, scope).map(drop)?;
        let value = self.lift(value, scope)?;
        let greatest = self.block(&reduce::DECL, &[value], frame, &[], ReduceName::Max)?;
        let state = self.lift(state, scope)?;
        self.terms.apply("max", &[greatest, state])
    }

    /// A contraction or reduction, perhaps of each block.
    pub(super) fn reduction(&mut self, term: &Term, scope: &Scope) -> Result<Id, Reason> {
        let (operands, clauses) = self.terms.parts(term)?;
        let (operands, clauses) = (operands.to_vec(), clauses.to_vec());
        let ctx = self.terms.graph.analysis.ctx;
        let over: Option<Rc<Expr>> = self.terms.clause(term, "over").and_then(|attr| ctx.attr_value(attr));
        let over = over.ok_or("a reduction has no axes")?;
        let values = self.all(&operands, scope)?;
        let axes = named(&over);
        let frames: Vec<&Frame> = axes.iter().filter_map(|axis| scope.along(axis)).collect();
        let [frame] = frames.as_slice() else {
            return match frames.is_empty() {
                true => self.terms.add(term.head.clone(), [values, clauses].concat()),
                false => Err("a sum is over blocks of two loops".to_owned()),
            };
        };
        let frame = (*frame).clone();
        let word = |name| self.terms.clause(term, name).map(|attr| ctx.attr_data(attr));
        let is_word = |name, word_: &str| matches!(word(name), Some(Attr::Str(found)) if *found == *word_);
        let of_sum =
            is(term, &contract::DECL) && is_word("kind", "add") || is_word("op", ReduceName::Add.word());
        let of_max = is_word("op", ReduceName::Max.word());
        let mut positions = frame.block;
        for axis in axes.iter().filter(|axis| **axis != frame.axis) {
            positions = positions.saturating_mul(self.terms.axis_size(axis)?);
        }
        let innermost = scope.frames.last().is_some_and(|last| last.depth == frame.depth);
        let whole =
            self.partial(&over, scope)?.is_empty() && self.terms.counted_once(&over) == Some(positions);
        if !(of_sum || of_max) || !innermost || !whole || self.terms.clause(term, "keep").is_some() {
            return Err(format!("a reduction over `{over}` is not one of a whole block"));
        }
        let others: Vec<Arc<str>> = axes.iter().filter(|axis| **axis != frame.axis).cloned().collect();
        let op = if of_max { ReduceName::Max } else { ReduceName::Add };
        let decl = if is(term, &contract::DECL) { &contract::DECL } else { &reduce::DECL };
        self.block(decl, &values, &frame, &others, op)
    }

    /// A reduction of each block of a frame, and along other axes.
    pub(super) fn block(
        &mut self,
        decl: &'static OpDecl,
        values: &[Id],
        frame: &Frame,
        others: &[Arc<str>],
        op: ReduceName,
    ) -> Result<Id, Reason> {
        let whole = self.terms.axis_size(&frame.axis)? == frame.block;
        let axis = Expr::axis(&frame.axis);
        let block = if whole { axis } else { axis.modulo(frame.block) };
        let over = Expr::pair(std::iter::once(block).chain(others.iter().map(|axis| Expr::axis(axis))));
        let over = self.terms.map(over);
        let word = self.terms.graph.analysis.ctx.attr(Attr::Str(op.word().into()));
        let axes: Vec<Arc<str>> = std::iter::once(&frame.axis).chain(others).cloned().collect();
        let values: Vec<Id> =
            values.iter().map(|&value| self.terms.along(value, &axes)).collect::<Result<_, _>>()?;
        let clauses = [("over", over), ("op", word)];
        let id = self.terms.operation(decl, &values, &clauses)?;
        self.blocks.insert(self.terms.graph.find(id));
        Ok(id)
    }
}
