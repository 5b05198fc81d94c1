//! Chips and clusters that exchange their parts of a tensor.

use crate::eval::{Eval, Evaluator, Frame};
use crate::method::{Call, readable};
use crate::value::{Affine, Memory, TensorType, Unit, Value, View};

impl Evaluator<'_> {
    /// Numbers that are given one for each chip or cluster, `what` they are in a message.
    fn each(&self, frame: &Frame, call: &Call, what: &str) -> Eval<Vec<i64>> {
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
        let chips: Vec<String> = chips.iter().map(i64::to_string).collect();
        let text = format!("tm.chip_shuffle {source} by [{}], at auto", chips.join(", "));
        let name = self.made(frame, call.span, call.want.name.as_deref(), &text);
        Ok(Value::View(self.cell(Some(name), view.ty.clone(), call.want.name.clone())))
    }

    /// Clusters exchange their parts: a transfer for each of them.
    pub(crate) fn cluster_shuffle(&mut self, frame: &mut Frame, view: &View, call: &Call) -> Eval<Value> {
        let clusters = self.each(frame, call, "the cluster that each cluster gets its part from")?;
        let along = self.shared(frame, view, call, "cluster", clusters.len())?;
        let source = self.read(frame, call.span, view)?;
        let parts = clusters.iter().enumerate();
        let parts = parts.map(|(to, from)| (to, format!("tm.tile {source} along {along}, index {from}")));
        self.parts(frame, view.ty.clone(), call, &along, parts.collect())
    }

    /// Each chip or cluster gets a part of its own from what it holds.
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
        // Chips run in lockstep, so none copies what no other copies: each reads from the next one, which gets all.
        let apart = usize::from(dim == "chip");
        if apart > 0 {
            let before: Vec<String> = (0..count).map(|at| ((at + count - 1) % count).to_string()).collect();
            let text = format!("tm.chip_shuffle {source} by [{}], at auto", before.join(", "));
            source = self.made(frame, call.span, None, &text);
        }
        let (axis, held) = (self.text(&axis), self.text(&readable(&held)));
        let mut parts = Vec::new();
        for (to, position) in positions.iter().enumerate() {
            let own = format!("tm.tile {source} along {along}, index {}", (to + apart) % count);
            let own = self.made(frame, call.span, None, &own);
            parts.push((to, format!("tm.tile {own} along {axis}, index {position}, element {held}")));
        }
        self.parts(frame, view.ty.with_dim("element", element), call, &along, parts)
    }

    /// The dimension of chips or clusters as text, for whose positions so many numbers are given.
    fn shared(&self, frame: &Frame, view: &View, call: &Call, dim: &str, given: usize) -> Eval<String> {
        let map = self.dim(frame, call.span, &view.ty, dim)?;
        let text = self.text(&map);
        match map.size(self) == u64::try_from(given).ok() {
            true => Ok(text),
            false => {
                let message =
                    format!("`{}` is given {given} numbers: one for each {dim} of {text}", call.name);
                Err(frame.error(call.span, message))
            }
        }
    }

    /// A new tensor, written part by part: by its position along `along`, and what makes it.
    fn parts(
        &mut self,
        frame: &mut Frame,
        ty: TensorType,
        call: &Call,
        along: &str,
        parts: Vec<(usize, String)>,
    ) -> Eval<Value> {
        let made = self.cell(None, TensorType { memory: Memory::Dm, ..ty }, call.want.name.clone());
        for (to, part) in parts {
            let part = self.made(frame, call.span, None, &part);
            let tensor = self.current(frame, call.span, made.place)?;
            let text = format!("tm.to_tile {part}, {tensor} along {along}, index {to}");
            self.changed(frame, call.span, made.place, &text);
        }
        Ok(Value::View(made))
    }
}
