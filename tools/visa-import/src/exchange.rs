//! Chips and clusters that exchange their parts of a tensor.

use crate::clauses::TilePart;
use crate::emit::new;
use crate::eval::{Eval, Evaluator, Frame};
use crate::method::{Call, readable};
use crate::value::{Affine, Memory, TensorType, Unit, Value, View};
use visa_algebra::Expr;
use visa_ir::build::NewOp;
use visa_mapping::ops::chip_shuffle::ChipShuffle;

impl<'a> Evaluator<'a> {
    /// Numbers that are given one for each chip or cluster, `what` they are in a message.
    pub(crate) fn each(&self, frame: &Frame, call: &Call, what: &str) -> Eval<Vec<i64>> {
        let all = call.given().into_iter().find_map(|value| match value {
            Value::Array(all) => all.iter().map(|own| self.index_of(frame, call.span, own).ok()).collect(),
            _ => None,
        });
        let numbers = all.and_then(|all: Vec<Affine>| all.iter().map(Affine::number).collect());
        numbers.ok_or_else(|| frame.error(call.span, format!("`{}` takes {what}", call.name)))
    }

    /// Chips exchange their parts.
    pub(crate) fn chip_shuffle(&mut self, frame: &mut Frame, view: &View, call: &Call) -> Eval<Value> {
        let chips = self.each(frame, call, "the chip that each chip gets its part from")?;
        let source = self.read(frame, call.span, view)?;
        let new = new!(self.ctx, ChipShuffle, [self.value(&source)]).by(chips).at_auto();
        let name = self.made(frame, call.span, call.want.name.as_deref(), new);
        Ok(Value::View(self.cell(Some(name), view.ty.clone(), call.want.name.clone())))
    }

    /// Clusters exchange their parts: a transfer for each of them.
    pub(crate) fn cluster_shuffle(&mut self, frame: &mut Frame, view: &View, call: &Call) -> Eval<Value> {
        let clusters = self.each(frame, call, "the cluster that each cluster gets its part from")?;
        let along = self.shared(frame, view, call, "cluster", clusters.len())?;
        let source = self.read(frame, call.span, view)?;
        let (ctx, source) = (self.ctx, self.value(&source));
        let tile = |&from: &i64| TilePart::at(along.clone(), from).tile(ctx, source);
        let parts = clusters.iter().map(tile).zip(0..).map(|(part, to)| (to, part));
        self.parts(frame, view.ty.clone(), call, &along, parts.collect())
    }

    /// Each chip or cluster gets a separate part of its tensor.
    pub(crate) fn parallel_copy(&mut self, frame: &mut Frame, unit: &Value, call: &Call) -> Eval<Value> {
        let [Value::View(view), _] = &*call.given() else {
            return Err(frame.error(call.span, format!("`{}` takes a tensor and positions", call.name)));
        };
        if !matches!(unit, Value::Unit(Unit::Sub)) {
            return Err(frame.error(call.span, format!("`{}` is of the sub context", call.name)));
        }
        let dim = if call.name == "parallel_copy_chip_slice" { "chip" } else { "cluster" };
        let positions = self.each(frame, call, "a position for each of them")?;
        let axis = self.wanted_map(frame, call, call.map(0), "the axis whose positions are copied")?;
        let held = self.wanted_map(frame, call, call.map(1), "what one position holds")?;
        let element = call.map(2).or_else(|| call.want.tensor().and_then(TensorType::element).cloned());
        let element = self.wanted_map(frame, call, element, "what the copy holds")?;
        let count = positions.len();
        let along = self.shared(frame, view, call, dim, count)?;
        let mut source = self.read(frame, call.span, view)?;
        // Chips run in lockstep, so none makes a copy that no other makes: each reads from the next one, which gets
        // all.
        let apart = usize::from(dim == "chip");
        if apart > 0 {
            let before: Vec<i64> = (0..count).map(|at| ((at + count - 1) % count) as i64).collect();
            let new = new!(self.ctx, ChipShuffle, [self.value(&source)]).by(before).at_auto();
            source = self.made(frame, call.span, None, new);
        }
        let (ctx, axis, held) = (self.ctx, self.mapping(&axis), self.mapping(&readable(&held)));
        let mut parts = Vec::new();
        for (&position, to) in positions.iter().zip(0..) {
            let from = (to as usize + apart) % count;
            let own = TilePart::at(along.clone(), from as i64).tile(ctx, self.value(&source));
            let own = self.made(frame, call.span, None, own);
            let part = TilePart { element: Some(held.clone()), ..TilePart::at(axis.clone(), position) };
            parts.push((to, part.tile(ctx, self.value(&own))));
        }
        self.parts(frame, view.ty.with_dim("element", element), call, &along, parts)
    }

    /// The dimension of chips or clusters, for whose positions `given` numbers are given.
    pub(crate) fn shared(
        &self,
        frame: &Frame,
        view: &View,
        call: &Call,
        dim: &str,
        given: usize,
    ) -> Eval<Expr> {
        let map = self.dim(frame, call.span, &view.ty, dim)?;
        match map.size(self) == u64::try_from(given).ok() {
            true => Ok(self.mapping(&map)),
            false => {
                let text = self.text(&map);
                let message =
                    format!("`{}` is given {given} numbers: one for each {dim} of {text}", call.name);
                Err(frame.error(call.span, message))
            }
        }
    }

    /// A new tensor, written part by part: each part has its position along `along`, and the operation that makes it.
    pub(crate) fn parts(
        &mut self,
        frame: &mut Frame,
        ty: TensorType,
        call: &Call,
        along: &Expr,
        parts: Vec<(i64, NewOp<'a>)>,
    ) -> Eval<Value> {
        let made = self.cell(None, TensorType { memory: Memory::Dm, ..ty }, call.want.name.clone());
        for (to, part) in parts {
            let part = self.made(frame, call.span, None, part);
            let tensor = self.current(frame, call.span, made.place)?;
            let tile = TilePart::at(along.clone(), to);
            let new = tile.transfer(self.ctx, self.value(&part), self.value(&tensor));
            self.changed(frame, call.span, made.place, new);
        }
        Ok(Value::View(made))
    }
}
