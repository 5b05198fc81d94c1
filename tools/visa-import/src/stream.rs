//! Tensors on their way through the Tensor Unit.

use crate::clauses::Dims;
use crate::emit::{at, new};
use crate::eval::{Eval, Evaluator, Frame};
use crate::map::{Map, Pad};
use crate::method::{Call, readable};
use crate::numbers::{context, number, whole_number};
use crate::value::{
    Counted, Fetch, FetchClauses, Interleaved, Memory, Packets, Stream, TensorType, Value, View,
};
use std::fmt::Display;
use std::rc::Rc;
use visa_algebra::{Expr, PadKind};
use visa_engine::words::{AccumulatorOrder, TopologyName};
use visa_ir::build::NewOp;
use visa_ir::context::Context;
use visa_ir::module::ValueId;
use visa_machine::Unit;
use visa_mapping::Dim;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{ClipName, DType};
use visa_stream::branch::IdSource;
use visa_stream::ops::begin::Begin;
use visa_stream::ops::begin_interleaved::BeginInterleaved;
use visa_stream::ops::cast::Cast;
use visa_stream::ops::commit::Commit;
use visa_stream::ops::commit_packed::CommitPacked;
use visa_stream::ops::commit_view::CommitView;
use visa_stream::ops::contract::{Accumulate, Align, Contract};
use visa_stream::ops::fetch as fetch_op;
use visa_stream::ops::store::{ToTrf, ToVrf};
use visa_stream::ops::switch::{Switch, SwitchBuilder};
use visa_stream::ops::transpose::Transpose;
use visa_stream::ops::vector::{VectorFinal, VectorInit};
use visa_stream::ops::vector_alu::VectorClip;
use visa_stream::ops::vector_branch::VectorBranch;

/// Bytes of a packet of the contraction: two flits (book 18).
const CONTRACTION_BYTES: u64 = 64;

/// Bytes of a flit (book 14).
pub(crate) const FLIT_BYTES: u64 = 32;

/// Methods that begin the use of a compute engine that the main context alone has.
const COMPUTES: &[&str] = &["vector_init", "contract_outer", "align", "transpose", "commit_cast_relu"];

impl<'a> Evaluator<'a> {
    pub(crate) fn begin(&mut self, frame: &mut Frame, unit: &Value, call: &Call) -> Eval<Value> {
        if matches!(call.name.as_str(), "parallel_copy_chip_slice" | "parallel_copy_cluster_slice") {
            return self.parallel_copy(frame, unit, call);
        }
        let Some(context) = context(unit) else { return Err(self.unknown(frame, call, unit.kind())) };
        let views: Vec<&View> = call
            .args
            .iter()
            .filter_map(|value| match value {
                Value::View(view) => Some(view),
                _ => None,
            })
            .collect();
        let Some(first) = views.first().copied() else {
            return Err(frame.error(call.span, format!("`{}` takes a tensor", call.name)));
        };
        let ty = first.ty.clone();
        let names: Vec<String> =
            views.iter().map(|view| self.begun(frame, call.span, view)).collect::<Eval<_>>()?;
        let tensors = self.values(&names);
        let mut interleaved = None;
        let new: NewOp<'a> = match (call.name.as_str(), &*tensors) {
            ("begin", &[tensor]) => new!(self.ctx, Begin, [tensor]).context(context).into(),
            ("begin", _) => {
                return Err(frame.error(call.span, format!("`{}` takes one tensor", call.name)));
            }
            ("begin_interleaved", _) => {
                let axis =
                    self.wanted_map(frame, call, call.map(0), "the axis that the tensors alternate along")?;
                let new = new!(self.ctx, BeginInterleaved, tensors).context(context);
                let new = new.axis(self.mapping(&axis));
                interleaved =
                    Some(Interleaved { axis, alternates: false, times: Vec::new(), too_long: None });
                new.into()
            }
            (_, _) => return Err(self.unknown(frame, call, unit.kind())),
        };
        let name = self.made(frame, call.span, None, new);
        let dim = |name: &str| self.dim(frame, call.span, &ty, name);
        let dtype = self.dtype(frame, call.span, &ty)?;
        Ok(Value::Stream(Box::new(Stream {
            sub: (context == Unit::Sub).then(|| name.clone()),
            kept: None,
            counted: None,
            vector: false,
            name,
            fetch: None,
            dtype,
            chip: dim("chip")?,
            cluster: dim("cluster")?,
            slice: dim("slice")?,
            stash: None,
            groups: None,
            interleaved,
            fetched: None,
            collected: None,
        })))
    }

    pub(crate) fn stream_method(
        &mut self,
        frame: &mut Frame,
        mut stream: Stream,
        call: &Call,
    ) -> Eval<Value> {
        let pair = |call: &Call| -> (Option<Map>, Option<Map>) {
            // The format may come first: `fetch::<bf16, m![..], m![..]>`.
            let at = usize::from(call.format(0).is_some());
            (call.map(at), call.map(at + 1))
        };
        match call.name.as_str() {
            "fetch_chip_lift" => return self.lift(frame, stream, call, Dim::Chip),
            "fetch_cluster_lift" => return self.lift(frame, stream, call, Dim::Cluster),
            "fetch_slice_lift" => return self.lift(frame, stream, call, Dim::Slice),
            "fetch" => {
                let (time, packet) = pair(call);
                let time = self.wanted_map(frame, call, time, "its time")?;
                let packet = self.wanted_map(frame, call, packet, "its packet")?;
                let begin = stream.name.clone();
                let clauses = FetchClauses::default();
                stream.fetch =
                    Some(Fetch { begin, time, packet, clauses, lifts: Vec::new(), span: call.span });
                if let Some(format) = call.format(0) {
                    converted(frame, &mut stream, call, format)?;
                }
                return Ok(Value::Stream(Box::new(stream)));
            }
            "fetch_mask" => {
                self.mask(frame, &mut stream, call)?;
                return Ok(Value::Stream(Box::new(stream)));
            }
            "fetch_cast" => {
                let format =
                    call.format(0).ok_or_else(|| frame.error(call.span, "`fetch_cast` without a format"))?;
                if stream.fetch.is_none() && format != stream.dtype {
                    return Err(self.unknown(frame, call, "this stream"));
                }
                converted(frame, &mut stream, call, format)?;
                return Ok(Value::Stream(Box::new(stream)));
            }
            "fetch_table_lookup" => {
                let format =
                    call.format(0).ok_or_else(|| frame.error(call.span, "a lookup without a format"))?;
                let Some(fetch) = &mut stream.fetch else {
                    return Err(self.unknown(frame, call, "this stream"));
                };
                if fetch.clauses.table.replace(table_name(stream.dtype, format).into()).is_some() {
                    return Err(frame.error(call.span, "a second lookup of a fetch"));
                }
                // A table's format is that of the stream, unless a conversion follows.
                fetch.clauses.looked_up = true;
                self.state.tables.insert((stream.dtype, format));
                stream.dtype = format;
                return Ok(Value::Stream(Box::new(stream)));
            }
            "fetch_zero_point_sub" => {
                if stream.fetch.is_none() {
                    return Err(self.unknown(frame, call, "this stream"));
                }
                if let Some(format) = call.format(0) {
                    converted(frame, &mut stream, call, format)?;
                }
                let points: Option<Vec<i64>> = call.given().into_iter().map(whole_number).collect();
                let points = points.ok_or_else(|| frame.error(call.span, "zero points are numbers"))?;
                if let Some(fetch) = &mut stream.fetch {
                    fetch.clauses.looked_up = false;
                    // A zero point of 0 is the conversion alone.
                    let points = points.iter().any(|&point| point != 0).then_some(points);
                    if fetch.clauses.zero_points.is_some() {
                        return Err(frame.error(call.span, "second zero points of a fetch"));
                    }
                    fetch.clauses.zero_points = points;
                }
                return Ok(Value::Stream(Box::new(stream)));
            }
            // The part of a packet that memory keeps follows from the tensor that is written.
            "commit_trim" => {
                stream.kept = call.map(0);
                return Ok(Value::Stream(Box::new(stream)));
            }
            "commit_valid_count_pack" => {
                let count = match &*call.given() {
                    [value] => number(value),
                    _ => None,
                };
                let count = count.ok_or_else(|| {
                    frame.error(call.span, format!("`{}` takes how many of a flit are kept", call.name))
                })?;
                self.fetched(frame, &mut stream)?;
                stream.counted = Some(Counted::Number(count));
                return Ok(Value::Stream(Box::new(stream)));
            }
            "contract_time" => return Ok(Value::Stream(Box::new(stream))),
            _ => {}
        }
        self.fetched(frame, &mut stream)?;
        let (fetched, collected) = (stream.fetched.take(), stream.collected.take());
        // The compute engines are there once: a computation in the sub context waits until main leaves them. A cast
        // alone it has itself.
        if COMPUTES.contains(&call.name.as_str())
            && let Some(begin) = stream.sub.take()
        {
            self.state.out.set_context(self.ctx, &begin, Unit::Main);
        }
        if call.name.starts_with("vector_") {
            stream.vector = true;
            return self.vector_method(frame, stream, call);
        }
        let (ctx, source) = (self.ctx, [self.value(&stream.name)]);
        let new: NewOp<'a> = match call.name.as_str() {
            "collect" => return self.collect(frame, stream, call, fetched),
            "switch" => return self.switch(frame, stream, call),
            "transpose" => {
                if let Some((fetch, collect)) = collected {
                    self.split_packets(frame, call, &stream, &fetch, &collect);
                }
                let (time, packet) = self.time_and_packet(frame, call)?;
                new!(ctx, Transpose, source).time(time).packet(packet).into()
            }
            "cast" => {
                let format =
                    call.format(0).ok_or_else(|| frame.error(call.span, "`cast` without a format"))?;
                let packet = self.wanted_map(frame, call, call.map(1), "its packet")?;
                stream.dtype = format;
                new!(ctx, Cast, source).dtype(format).packet(self.mapping(&packet)).into()
            }
            "contract_outer" | "align" => {
                let [Value::View(weights)] = &*call.given() else {
                    return Err(frame.error(call.span, format!("`{}` takes a register file", call.name)));
                };
                let weights = self.read(frame, call.span, weights)?;
                let time = self.wanted_map(frame, call, call.map(0), "its time")?;
                let packet = self.wanted_map(frame, call, call.map(1), "its packet")?;
                // One flit of two: the other is padding.
                let whole = stream.dtype.elements(CONTRACTION_BYTES);
                let packet = match packet.size(self) {
                    Some(size) if size < whole => {
                        Map::List(vec![Map::Padding(packet.into(), whole, Pad::Top)])
                    }
                    Some(_) | None => packet,
                };
                let [stream] = source;
                let new = new!(ctx, Align, [stream, self.value(&weights)]);
                new.time(self.mapping(&time)).packet(self.mapping(&packet)).into()
            }
            "contract_packet" | "contract" => {
                let packet = self.wanted_map(frame, call, call.map(0), "its packet")?;
                stream.dtype = stream.dtype.accumulator().ok_or_else(|| {
                    frame.error(call.span, format!("{} cannot enter a contraction", stream.dtype))
                })?;
                new!(ctx, Contract, source).packet(self.mapping(&packet)).into()
            }
            "contract_lane" | "accumulate" => {
                let (time, packet) = self.time_and_packet(frame, call)?;
                let mode = match &*call.given() {
                    [Value::Variant(mode)] => match mode.name() {
                        "Interleaved" => AccumulatorOrder::Interleaved,
                        "Sequential" => AccumulatorOrder::Sequential,
                        other => {
                            return Err(
                                frame.error(call.span, format!("`{other}` is no mode of the accumulator"))
                            );
                        }
                    },
                    _ => return Err(frame.error(call.span, "the accumulator's mode is not given")),
                };
                new!(ctx, Accumulate, source).mode(mode).time(time).packet(packet).into()
            }
            "commit_cast" | "commit_cast_relu" => self.commit_cast(frame, &mut stream, call)?,
            "to_trf" | "to_vrf" => return self.register_file(frame, &stream, call),
            "commit" => return self.commit(frame, &stream, call),
            "commit_view" => return self.commit_view(frame, &stream, call),
            _ => return Err(self.unknown(frame, call, "a stream")),
        };
        stream.name = self.made(frame, call.span, None, new);
        Ok(Value::Stream(Box::new(stream)))
    }

    pub(crate) fn time_and_packet(&mut self, frame: &Frame, call: &Call) -> Eval<(Expr, Expr)> {
        let time = self.wanted_map(frame, call, call.map(0), "its time")?;
        let packet = self.wanted_map(frame, call, call.map(1), "its packet")?;
        Ok((self.mapping(&time), self.mapping(&packet)))
    }

    /// The conversion of the commit adapter, which the book does not have: that of the cast engine, which gives the
    /// same numbers, after a maximum with 0 where it is asked for.
    fn commit_cast(&mut self, frame: &Frame, stream: &mut Stream, call: &Call) -> Eval<NewOp<'a>> {
        let format = call
            .format(0)
            .ok_or_else(|| frame.error(call.span, format!("`{}` without a format", call.name)))?;
        let kept = self.wanted_map(frame, call, stream.kept.clone(), "what is kept of a packet")?;
        if call.name == "commit_cast_relu" {
            if stream.vector {
                let message = "`commit_cast_relu` after the vector engine is not read";
                return Err(frame.error(call.span, message));
            }
            let ctx = self.ctx;
            let steps: [fn(&'a Context, ValueId) -> NewOp<'a>; 4] = [
                |ctx, stream| new!(ctx, VectorInit, [stream]).into(),
                |ctx, stream| new!(ctx, VectorBranch, [stream]).mode(IdSource::Unconditional).into(),
                |ctx, stream| {
                    let zero = Rc::new(Number(0.0));
                    new!(ctx, VectorClip, [stream]).op(ClipName::Max).constant(Some(zero)).into()
                },
                |ctx, stream| new!(ctx, VectorFinal, [stream]).into(),
            ];
            for step in steps {
                let new = step(ctx, self.value(&stream.name));
                stream.name = self.made(frame, call.span, None, new);
            }
        }
        stream.dtype = format;
        let packet = Map::Padding(kept.into(), format.elements(FLIT_BYTES), Pad::Top);
        let new = new!(self.ctx, Cast, [self.value(&stream.name)]).dtype(format);
        Ok(new.packet(self.mapping(&packet)).into())
    }

    /// Writes the fetch, now that all its clauses are known.
    fn fetched(&mut self, frame: &Frame, stream: &mut Stream) -> Eval<()> {
        let Some(fetch) = stream.fetch.take() else { return Ok(()) };
        let FetchClauses { table, mut dtype, zero_points, looked_up } = fetch.clauses;
        if looked_up && dtype.replace(stream.dtype).is_some() {
            return Err(frame.error(fetch.span, TWO_FORMATS));
        }
        let new =
            fetch_op::Fetch::build_at(self.ctx, visa_ir::span::Span::default(), [self.value(&fetch.begin)]);
        let new = new.table(table).dtype(dtype.map(Rc::new)).zero_points(zero_points);
        let part = |dim| fetch.lifts.iter().find(|(own, _)| *own == dim).map(|(_, map)| self.mapping(map));
        let new = new.chip(part(Dim::Chip)).cluster(part(Dim::Cluster)).slice(part(Dim::Slice));
        if let Some(interleaved) = &mut stream.interleaved {
            interleaved.alternates = interleaved.inward(&fetch.time).is_some();
        }
        let time = stream.written_time(&fetch.time);
        let new = new.time(self.mapping(&time)).packet(self.mapping(&fetch.packet));
        stream.name = self.made(frame, fetch.span, None, new);
        stream.passed(&fetch.time);
        stream.fetched = Some(Packets { name: stream.name.clone(), time, packet: fetch.packet });
        Ok(())
    }

    /// The contents of padding change from anything to zero, and nothing else does.
    fn mask(&self, frame: &Frame, stream: &mut Stream, call: &Call) -> Eval<()> {
        let time = self.wanted_map(frame, call, call.map(0), "its time")?;
        let packet = self.wanted_map(frame, call, call.map(1), "its packet")?;
        let Some(fetch) = stream.fetch.as_mut().filter(|fetch| fetch.clauses == FetchClauses::default())
        else {
            return Err(frame.error(call.span, "`fetch_mask` comes right after `fetch`"));
        };
        for (before, after) in [(&mut fetch.time, time), (&mut fetch.packet, packet)] {
            if before.with_pads(|_| Pad::Top) != after.with_pads(|_| Pad::Top) {
                let message = format!(
                    "`fetch_mask` makes {} of {}: it changes what padding holds, as `# 8` to `#{{0}} 8`, and \
                     nothing else",
                    self.text(&after),
                    self.text(before)
                );
                return Err(frame.error(call.span, message));
            }
            *before = after;
        }
        Ok(())
    }

    fn switch(&mut self, frame: &Frame, mut stream: Stream, call: &Call) -> Eval<Value> {
        let slice = self.wanted_map(frame, call, call.map(0), "its slices")?;
        let slice = self.with_idle(frame, call.span, Dim::Slice, slice);
        let time = self.wanted_map(frame, call, call.map(1), "its time")?;
        let [Value::Variant(config)] = &*call.given() else {
            return Err(frame.error(call.span, "`switch` takes a topology"));
        };
        let topology = match config.name() {
            "Forwarding" => TopologyName::Forwarding,
            "Broadcast01" => TopologyName::Broadcast01,
            "Broadcast1" => TopologyName::Broadcast1,
            "Transpose" => TopologyName::Transpose,
            "InterTranspose" => TopologyName::InterTranspose,
            "TransposedBroadcast1" => TopologyName::TransposedBroadcast1,
            "CustomBroadcast" => TopologyName::Custom,
            other => return Err(frame.error(call.span, format!("the topology `{other}` is not known"))),
        };
        let field = |name: &str| {
            let found = config.fields.get(name).and_then(whole_number);
            found.ok_or_else(|| frame.error(call.span, format!("the topology lacks `{name}`")))
        };
        let new = new!(self.ctx, Switch, [self.value(&stream.name)]).topology(topology);
        let parts = |new: SwitchBuilder<'a>| {
            Eval::Ok(new.slice1(Some(field("slice1")?)).slice0(Some(field("slice0")?)))
        };
        let new = match topology {
            TopologyName::Forwarding => new,
            TopologyName::Broadcast01 | TopologyName::InterTranspose => {
                parts(new)?.time0(Some(field("time0")?))
            }
            TopologyName::Broadcast1 | TopologyName::Transpose | TopologyName::TransposedBroadcast1 => {
                parts(new)?
            }
            TopologyName::Custom => new.ring(Some(field("ring_size")?)),
        };
        let new = new.slice(Some(self.mapping(&slice))).time(Some(self.mapping(&stream.written_time(&time))));
        stream.slice = slice;
        stream.name = self.made(frame, call.span, None, new);
        stream.passed(&time);
        Ok(Value::Stream(Box::new(stream)))
    }

    fn register_file(&mut self, frame: &mut Frame, stream: &Stream, call: &Call) -> Eval<Value> {
        let memory = if call.name == "to_trf" { Memory::Trf } else { Memory::Vrf };
        let dims = memory.dims().len();
        let mut maps =
            vec![Some(stream.chip.clone()), Some(stream.cluster.clone()), Some(stream.slice.clone())];
        maps.resize(dims, None);
        for at in 0..call.types.len() {
            if let Some(own) = (dims + at).checked_sub(call.types.len()) {
                maps[own] = call.map(at).or_else(|| maps[own].clone());
            }
        }
        let mut ty = TensorType { memory, dtype: Some(stream.dtype), maps };
        if let Some(wanted) = call.want.tensor() {
            ty = crate::value::merged(&ty, wanted);
        }
        let element = self.wanted_map(frame, call, ty.element().cloned(), "what it holds")?;
        let (ctx, source) = (self.ctx, [self.value(&stream.name)]);
        let new: NewOp<'a> = match memory {
            Memory::Trf => {
                let row = self.wanted_map(frame, call, ty.dim("row").cloned(), "its rows")?;
                let new = at!(new!(ctx, ToTrf, source), self.region(frame, call)?);
                new.row(self.mapping(&row)).element(self.mapping(&element)).into()
            }
            Memory::Vrf | Memory::Hbm | Memory::Dm | Memory::Spm | Memory::Host => {
                let at = self.address(frame, call)?;
                let new = at!(new!(ctx, ToVrf, source), self.kept(frame, call.span, at));
                new.element(self.mapping(&element)).into()
            }
        };
        let name = self.made(frame, call.span, call.want.name.as_deref(), new);
        Ok(Value::View(self.cell(Some(name), ty, call.want.name.clone())))
    }

    fn commit(&mut self, frame: &mut Frame, stream: &Stream, call: &Call) -> Eval<Value> {
        let wanted = call.want.tensor().and_then(TensorType::element).cloned();
        let element = self.wanted_map(frame, call, call.map(0).or(wanted), "what is stored")?;
        let maps = vec![
            Some(stream.chip.clone()),
            Some(stream.cluster.clone()),
            Some(stream.slice.clone()),
            Some(element.clone()),
        ];
        let ty = TensorType { memory: Memory::Dm, dtype: Some(stream.dtype), maps };
        let address = self.address(frame, call)?;
        let at = self.kept(frame, call.span, address);
        let (ctx, source) = (self.ctx, self.value(&stream.name));
        let stored = self.mapping(&element);
        let packed = match &stream.counted {
            None => None,
            Some(Counted::Filter) => Some(vec![source]),
            Some(Counted::Number(count)) => {
                let counts = self.counts(frame, stream, call, *count);
                Some(vec![source, self.value(&counts)])
            }
        };
        let new: NewOp<'a> = match packed {
            None => at!(new!(ctx, Commit, [source]), at).element(stored).into(),
            Some(operands) => at!(new!(ctx, CommitPacked, operands), at).element(stored).into(),
        };
        let name = self.made(frame, call.span, call.want.name.as_deref(), new);
        Ok(Value::View(self.stored(name, ty, call.want.name.clone(), address)))
    }

    /// One number for all flits, where the engine reads it: in data memory.
    fn counts(&mut self, frame: &Frame, stream: &Stream, call: &Call, count: Number) -> String {
        let dim = |map: &Map| Some(self.mapping(&readable(map)));
        let dims = Dims {
            // A tensor without this clause is on one chip.
            chip: dim(&stream.chip).filter(|_| stream.chip != Map::one()),
            cluster: dim(&stream.cluster),
            slice: dim(&stream.slice),
            pe: None,
            row: None,
            element: Some(Expr::Literal(1).pad(2, PadKind::Top)),
        };
        let new = self.fill(count, DType::I32, dims, None);
        self.made(frame, call.span, None, new)
    }

    fn commit_view(&mut self, frame: &mut Frame, stream: &Stream, call: &Call) -> Eval<Value> {
        let [Value::View(to)] = &*call.given() else {
            return Err(frame.error(call.span, "`commit_view` takes the view that is written"));
        };
        if stream.counted.is_some() {
            let message = "`commit_view` of a part of each flit is not read: `commit` makes a tensor of them";
            return Err(frame.error(call.span, message));
        }
        let to = self.aliased(to);
        let (ctx, source) = (self.ctx, self.value(&stream.name));
        let new: NewOp<'a> = match self.target(frame, call.span, &to)? {
            Some((tensor, part)) => part.commit(ctx, source, self.value(&tensor)),
            None => {
                let element = self.mapping(&self.dim(frame, call.span, &to.ty, "element")?);
                match self.state.cells[to.place.0].name.clone() {
                    None => {
                        let at = self.kept_of(to.place);
                        at!(new!(ctx, Commit, [source]), at).element(element).into()
                    }
                    Some(tensor) => {
                        new!(ctx, CommitView, [source, self.value(&tensor)]).element(element).into()
                    }
                }
            }
        };
        self.changed(frame, call.span, to.place, new);
        Ok(Value::Nothing)
    }
}

/// Reason for refusing a fetch that converts twice.
const TWO_FORMATS: &str = "a fetch that converts to two formats";

/// A fetch converts its stream to a format.
fn converted(frame: &Frame, stream: &mut Stream, call: &Call, format: DType) -> Eval<()> {
    let Some(fetch) = stream.fetch.as_mut().filter(|_| format != stream.dtype) else { return Ok(()) };
    fetch.clauses.looked_up = false;
    stream.dtype = format;
    match fetch.clauses.dtype.replace(format) {
        None => Ok(()),
        Some(_) => Err(frame.error(call.span, TWO_FORMATS)),
    }
}

/// The name of a table that gives each number of a format in another one.
pub(crate) fn table_name(from: impl Display, to: impl Display) -> String {
    format!("{from}_as_{to}")
}
