//! Transfers that several calls describe before one of them names the destination: gathers, scatters and
//! redistributions between chips and clusters.

use crate::clauses::TilePart;
use crate::emit::new;
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Stop};
use crate::map::{Map, Pad};
use crate::method::Call;
use crate::value::{Affine, Deferred, Exchange, Memory, Redistribution, Slice, TensorType, Value, View};
use visa_ir::build::NewOp;
use visa_mapping::ops::chip_shuffle::ChipShuffle;

impl<'a> Evaluator<'a> {
    /// The first call of a deferred transfer; `None` for another method.
    pub(crate) fn deferral(&mut self, frame: &Frame, view: &View, call: &Call) -> Eval<Option<Value>> {
        let table = || view.clone();
        let along = || self.wanted_map(frame, call, call.map(0), "the axis that the index replaces");
        let deferred = match call.name.as_str() {
            "gather" => Deferred::Gather { table: table(), along: along()?, index: None },
            "scatter" => Deferred::Scatter { table: table(), along: along()?, index: None },
            name => {
                let Some(step) = Exchange::named(name) else { return Ok(None) };
                let input = view.clone();
                let empty = Redistribution { input, step, chips: None, swaps: false, slices: Vec::new() };
                Deferred::Redistribution(self.step_of(frame, call, empty, step)?)
            }
        };
        Ok(Some(Value::Deferred(deferred.into())))
    }

    /// A further call of a deferred transfer.
    pub(crate) fn deferred_method(
        &mut self,
        frame: &mut Frame,
        deferred: Deferred,
        call: &Call,
    ) -> Eval<Value> {
        let kind = deferred.kind();
        let given = call.given().into_iter().cloned().collect::<Vec<_>>();
        match (deferred, call.name.as_str(), &*given) {
            (Deferred::Gather { table, along, index: None }, name, [Value::View(index)])
                if is_index(name, index) =>
            {
                let index = Some(index.clone());
                Ok(Value::Deferred(Deferred::Gather { table, along, index }.into()))
            }
            (Deferred::Scatter { table, along, index: None }, name, [Value::View(index)])
                if is_index(name, index) =>
            {
                let index = Some(index.clone());
                Ok(Value::Deferred(Deferred::Scatter { table, along, index }.into()))
            }
            (Deferred::Gather { table, along, index: Some(index) }, "to_dm", []) => {
                self.gathered(frame, call, (&table, &index), Some(&along))
            }
            (Deferred::Gather { table, along, index: Some(index) }, "sparse_prefix", [length]) => {
                self.prefix(frame, call, &index, length)?;
                Ok(Value::Deferred(Deferred::Gather { table, along, index: Some(index) }.into()))
            }
            (
                Deferred::Scatter { table, along, index: Some(index) },
                "from_dm" | "from_dm_view",
                [Value::View(rows)],
            ) => self.scattered(frame, call, (rows, &index, &table), Some(&along)),
            (Deferred::Redistribution(plan), "to_dm", []) => {
                let made = self.redistributed(frame, call, &plan)?;
                let element =
                    call.map(0).or_else(|| call.want.tensor().and_then(TensorType::element).cloned());
                match element {
                    Some(element) if Some(&element) != made.ty.element() => {
                        self.transfer(frame, &made, call, Memory::Dm)
                    }
                    Some(_) | None => Ok(Value::View(made)),
                }
            }
            (Deferred::Redistribution(plan), "to_dm_view", [Value::View(to)]) => {
                let made = self.redistributed(frame, call, &plan)?;
                self.written(frame, call.span, &made, to)?;
                Ok(Value::Nothing)
            }
            (Deferred::Redistribution(plan), name, _) => match Exchange::named(name) {
                Some(step) if plan.step < step || (plan.step == step && step.selects()) => Ok(
                    Value::Deferred(Deferred::Redistribution(self.step_of(frame, call, plan, step)?).into()),
                ),
                Some(step) => {
                    let message = format!(
                        "`{name}` after `{}`: shuffles come first, then swaps, slices of chips, and slices of \
                         clusters",
                        plan.step.name()
                    );
                    let fix = format!("call `{}` before", step.name());
                    Err(Error::new(frame.place(call.span), message).fix(fix).into())
                }
                None => Err(self.unknown(frame, call, kind)),
            },
            (Deferred::Gather { index, .. } | Deferred::Scatter { index, .. }, name, given) => {
                let (message, fix) = match (name, given, index) {
                    ("by_byte_offsets" | "by_positions", _, Some(_)) => {
                        (format!("`{name}` of {kind} that has an index"), "leave one of them out")
                    }
                    ("by_byte_offsets", [Value::View(_)], None) => {
                        (format!("`{name}` takes an index in HBM"), "use `by_positions`, or an index in HBM")
                    }
                    ("by_positions", [Value::View(_)], None) => (
                        format!("`{name}` takes an index in scratchpad memory"),
                        "use `by_byte_offsets`, or move the index there by `to_spm`",
                    ),
                    ("to_dm" | "from_dm" | "from_dm_view" | "sparse_prefix", _, None) => (
                        format!("`{name}` of {kind} without an index"),
                        "call `by_byte_offsets` or `by_positions` before",
                    ),
                    (_, _, _) => return Err(self.unknown(frame, call, kind)),
                };
                Err(Error::new(frame.place(call.span), message).fix(fix).into())
            }
        }
    }

    /// `sparse_prefix(n)`: the rows from the n-th on have undefined contents, which those that the index chooses are.
    fn prefix(&mut self, frame: &Frame, call: &Call, index: &View, length: &Value) -> Eval<()> {
        if index.ty.memory != Memory::Hbm {
            return Err(self.unknown(frame, call, "a gather by positions"));
        }
        let length = self.index_of(frame, call.span, length)?;
        let rows = self.dim(frame, call.span, &index.ty, "element")?.size(self);
        let rows = rows.and_then(|rows| i64::try_from(rows).ok()).unwrap_or(i64::MAX);
        self.compared_with(&length, &Affine::of(rows));
        let message = "`sparse_prefix` leaves the rows after the prefix undefined: here the gather chooses them as \
                       well";
        self.state.remarks.push(Error::new(frame.place(call.span), message));
        Ok(())
    }

    /// `asymmetric_chip_slice`, `asymmetric_cluster_slice`: each chip or cluster keeps one position of its tensor.
    pub(crate) fn asymmetric_slice(
        &mut self,
        frame: &mut Frame,
        view: &View,
        call: &Call,
    ) -> Eval<Option<Value>> {
        let Some(step) = Exchange::named(&call.name).filter(|_| call.name.starts_with("asymmetric")) else {
            return Ok(None);
        };
        let empty =
            Redistribution { input: view.clone(), step, chips: None, swaps: false, slices: Vec::new() };
        let plan = self.step_of(frame, call, empty, step)?;
        let element = self.dim(frame, call.span, &view.ty, "element")?;
        let axis = &plan.slices[0].axis;
        let outer = element.factors().into_iter().next();
        if outer.is_none_or(|outer| axis.factors() != [outer]) {
            let message = format!(
                "`{}` along {}, which is not the outermost axis of {}",
                call.name,
                self.text(axis),
                self.text(&element)
            );
            let fix = format!("use `{}`, or make it the outermost axis", step.name());
            return Err(Error::new(frame.place(call.span), message).fix(fix).into());
        }
        self.redistributed(frame, call, &plan).map(|made| Some(Value::View(made)))
    }

    /// A redistribution with one more step.
    fn step_of(
        &self,
        frame: &Frame,
        call: &Call,
        plan: Redistribution,
        step: Exchange,
    ) -> Eval<Redistribution> {
        if plan.input.ty.memory != Memory::Dm {
            return Err(self.unknown(frame, call, "a tensor outside of data memory"));
        }
        let mut plan = Redistribution { step, ..plan };
        match step {
            Exchange::ChipShuffle => {
                let chips = self.each(frame, call, "the chip that each chip gets its part from")?;
                self.shared(frame, &plan.input, call, "chip", chips.len())?;
                plan.chips = Some(chips);
            }
            Exchange::ClusterSwap => {
                let cluster = self.dim(frame, call.span, &plan.input.ty, "cluster")?;
                if cluster.live(self) != Some(2) {
                    let message = format!(
                        "`cluster_swap` of clusters {}, expected two that hold something",
                        self.text(&cluster)
                    );
                    return Err(frame.error(call.span, message));
                }
                plan.swaps = true;
            }
            Exchange::ChipSlice | Exchange::ClusterSlice => {
                let slice = self.slice_of(frame, call, &plan, step)?;
                plan.slices.push(slice);
            }
        }
        Ok(plan)
    }

    /// The positions that a step selects.
    fn slice_of(&self, frame: &Frame, call: &Call, plan: &Redistribution, step: Exchange) -> Eval<Slice> {
        let dim = if step == Exchange::ChipSlice { "chip" } else { "cluster" };
        let positions = self.each(frame, call, "a position for each of them")?;
        self.shared(frame, &plan.input, call, dim, positions.len())?;
        let axis = self.wanted_map(frame, call, call.map(0), "the axis whose positions are selected")?;
        let before = match plan.slices.last() {
            Some(slice) => slice.element.clone(),
            None => self.dim(frame, call.span, &plan.input.ty, "element")?,
        };
        let wanted = call.want.tensor().and_then(TensorType::element).cloned();
        let element = self.wanted_map(frame, call, call.map(1).or(wanted), "what is left of the element")?;
        let refuse = |message: String| Err(frame.error(call.span, message));
        let live = axis.live(self).and_then(|live| i64::try_from(live).ok()).unwrap_or(i64::MAX);
        if let Some(position) = positions.iter().find(|position| !(0..live).contains(*position)) {
            let text = self.text(&axis);
            return refuse(format!(
                "`{}` selects position {position} of {text}, which holds {live}",
                call.name
            ));
        }
        let sizes = [&axis, &element, &before].map(|map| map.size(self));
        let [Some(axis_size), Some(left), Some(whole)] = sizes else {
            return refuse(format!("`{}` of more than 2^64 positions", call.name));
        };
        if axis_size.checked_mul(left) != Some(whole) || has_bottom(&element) {
            let [axis, element, before] = [&axis, &element, &before].map(|map| self.text(map));
            return refuse(format!(
                "`{}` leaves {element} of {before}, expected it without {axis}",
                call.name
            ));
        }
        Ok(Slice { step, axis, positions, element })
    }

    /// The tensor that a redistribution makes.
    fn redistributed(&mut self, frame: &mut Frame, call: &Call, plan: &Redistribution) -> Eval<View> {
        let of =
            |step: Exchange| plan.slices.iter().filter(move |slice| slice.step == step).collect::<Vec<_>>();
        let (chips, clusters) = (of(Exchange::ChipSlice), of(Exchange::ClusterSlice));
        let mut view = plan.input.clone();
        if !chips.is_empty() {
            view = self.chips_sliced(frame, call, (view, plan.chips.as_deref()), &chips)?;
        } else if let Some(by) = &plan.chips {
            view = self.chips_shuffled(frame, call, &view, by.clone())?;
        }
        if plan.swaps || !clusters.is_empty() {
            let count = self.count(frame, call, &view, "cluster")?;
            let from = if plan.swaps { vec![1, 0] } else { (0..count).collect() };
            view = self.sliced(frame, call, (view, "cluster"), &from, &clusters)?;
        }
        Ok(view)
    }

    /// Chips take their positions from other chips. They run in lockstep, so none makes a copy within its memory that
    /// no other makes: each reads from another one, to which its part moves first if it is its own.
    fn chips_sliced(
        &mut self,
        frame: &mut Frame,
        call: &Call,
        (view, by): (View, Option<&[i64]>),
        slices: &[&Slice],
    ) -> Eval<View> {
        let count = self.count(frame, call, &view, "chip")?;
        let sources: Vec<i64> = by.map_or_else(|| (0..count).collect(), <[i64]>::to_vec);
        let moves = sources.iter().zip(0..).all(|(&from, to)| from != to);
        if moves || count == 1 {
            return self.sliced(frame, call, (view, "chip"), &sources, slices);
        }
        let before: Vec<i64> = (0..count).map(|at| sources[((at + count - 1) % count) as usize]).collect();
        let view = self.chips_shuffled(frame, call, &view, before)?;
        let next: Vec<i64> = (0..count).map(|to| (to + 1) % count).collect();
        self.sliced(frame, call, (view, "chip"), &next, slices)
    }

    fn chips_shuffled(&mut self, frame: &Frame, call: &Call, view: &View, by: Vec<i64>) -> Eval<View> {
        let source = self.read(frame, call.span, view)?;
        let new = new!(self.ctx, ChipShuffle, [self.value(&source)]).by(by).at_auto();
        let name = self.made(frame, call.span, call.want.name.as_deref(), new);
        Ok(self.cell(Some(name), view.ty.clone(), call.want.name.clone()))
    }

    /// Each chip or cluster gets its positions of the tensor of another one.
    fn sliced(
        &mut self,
        frame: &mut Frame,
        call: &Call,
        (view, dim): (View, &str),
        from: &[i64],
        slices: &[&Slice],
    ) -> Eval<View> {
        let along = self.shared(frame, &view, call, dim, from.len())?;
        let source = self.read(frame, call.span, &view)?;
        let (ctx, source) = (self.ctx, self.value(&source));
        let mut parts: Vec<(i64, NewOp<'a>)> = Vec::new();
        for (to, &from) in from.iter().enumerate() {
            let mut part = TilePart::at(along.clone(), from).tile(ctx, source);
            for slice in slices {
                let name = self.made(frame, call.span, None, part);
                let axis = self.mapping(&slice.axis);
                part = TilePart::at(axis, slice.positions[to]).tile(ctx, self.value(&name));
            }
            parts.push((to as i64, part));
        }
        let ty = match slices.last() {
            Some(slice) => view.ty.with_dim("element", slice.element.clone()),
            None => view.ty,
        };
        match self.parts(frame, ty, call, &along, parts)? {
            Value::View(made) => Ok(made),
            other => Err(frame.error(call.span, format!("{} of a redistribution", other.kind()))),
        }
    }

    /// Number of positions of a dimension.
    fn count(&self, frame: &Frame, call: &Call, view: &View, dim: &str) -> Eval<i64> {
        let size = self.dim(frame, call.span, &view.ty, dim)?.size(self);
        let size = size.and_then(|size| i64::try_from(size).ok());
        size.ok_or_else(|| -> Stop { frame.error(call.span, format!("more than 2^63 {dim}s")) })
    }
}

/// Returns true if a method gives a gather or a scatter an index in its memory.
fn is_index(name: &str, index: &View) -> bool {
    match index.ty.memory {
        Memory::Hbm => name == "by_byte_offsets",
        Memory::Spm => name == "by_positions",
        Memory::Dm | Memory::Trf | Memory::Vrf | Memory::Host => false,
    }
}

/// Returns true if a mapping has padding that must not be written.
fn has_bottom(map: &Map) -> bool {
    match map {
        Map::Padding(of, _, pad) => *pad == Pad::Bottom || has_bottom(of),
        Map::Stride(of, _) | Map::Modulo(of, _) | Map::Resize(of, _) => has_bottom(of),
        Map::List(all) => all.iter().any(has_bottom),
        Map::Copies(_) | Map::Axis(_) => false,
    }
}
