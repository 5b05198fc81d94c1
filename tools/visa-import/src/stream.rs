//! Tensors on their way through the Tensor Unit.

use crate::eval::{Eval, Evaluator, Frame};
use crate::map::{Map, Pad};
use crate::method::{Call, readable};
use crate::numbers::{context, number};
use crate::value::{Counted, Fetch, Memory, Stream, TensorType, Value, View};
use std::fmt::Display;

/// Bytes of a packet of the contraction: two flits (book 18).
const CONTRACTION_BYTES: u64 = 64;

/// Bytes of a flit (book 14).
const FLIT_BYTES: u64 = 32;

/// Methods that begin the use of a compute engine that the main context alone has.
const COMPUTES: &[&str] = &["vector_init", "contract_outer", "align", "transpose", "commit_cast_relu"];

impl Evaluator<'_> {
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
            views.iter().map(|view| self.read(frame, call.span, view)).collect::<Eval<_>>()?;
        let text = match call.name.as_str() {
            "begin" => format!("stream.begin {context} {}", names.join(", ")),
            "begin_interleaved" => {
                let axis =
                    self.wanted_map(frame, call, call.map(0), "the axis that the tensors alternate along")?;
                format!("stream.begin_interleaved {context} {} axis {}", names.join(", "), self.text(&axis))
            }
            _ => return Err(self.unknown(frame, call, unit.kind())),
        };
        let name = self.made(frame, call.span, None, &text);
        let dim = |name: &str| self.dim(frame, call.span, &ty, name);
        let dtype = self.dtype(frame, call.span, &ty)?;
        Ok(Value::Stream(Box::new(Stream {
            sub: (context == "sub").then(|| name.clone()),
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
            "fetch" => {
                let (time, packet) = pair(call);
                let time = self.wanted_map(frame, call, time, "its time")?;
                let packet = self.wanted_map(frame, call, packet, "its packet")?;
                let begin = stream.name.clone();
                let mut fetch = Fetch { begin, time, packet, clauses: Vec::new(), span: call.span };
                if let Some(format) = call.format(0).filter(|format| *format != stream.dtype) {
                    fetch.clauses.push(format!("dtype {format}"));
                    stream.dtype = format;
                }
                stream.fetch = Some(fetch);
                return Ok(Value::Stream(Box::new(stream)));
            }
            "fetch_mask" => {
                self.mask(frame, &mut stream, call)?;
                return Ok(Value::Stream(Box::new(stream)));
            }
            "fetch_cast" => {
                let format =
                    call.format(0).ok_or_else(|| frame.error(call.span, "`fetch_cast` without a format"))?;
                if format != stream.dtype {
                    let Some(fetch) = &mut stream.fetch else {
                        return Err(self.unknown(frame, call, "this stream"));
                    };
                    fetch.clauses.push(format!("dtype {format}"));
                    stream.dtype = format;
                }
                return Ok(Value::Stream(Box::new(stream)));
            }
            "fetch_table_lookup" => {
                let format =
                    call.format(0).ok_or_else(|| frame.error(call.span, "a lookup without a format"))?;
                let Some(fetch) = &mut stream.fetch else {
                    return Err(self.unknown(frame, call, "this stream"));
                };
                fetch.clauses.push(format!("table @{}", table_name(stream.dtype, format)));
                self.state.tables.insert((stream.dtype.name(), format.name()));
                stream.dtype = format;
                return Ok(Value::Stream(Box::new(stream)));
            }
            "fetch_zero_point_sub" => {
                let Some(fetch) = &mut stream.fetch else {
                    return Err(self.unknown(frame, call, "this stream"));
                };
                if let Some(format) = call.format(0).filter(|format| *format != stream.dtype) {
                    fetch.clauses.push(format!("dtype {format}"));
                    stream.dtype = format;
                }
                let points: Option<Vec<String>> = call.given().into_iter().map(number).collect();
                let points = points.ok_or_else(|| frame.error(call.span, "zero points are numbers"))?;
                fetch.clauses.push(format!("zero_points [{}]", points.join(", ")));
                return Ok(Value::Stream(Box::new(stream)));
            }
            // What memory keeps of a packet follows from the tensor that is written.
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
        // The compute engines are there once: what computes in the sub context waits until main leaves them. A cast
        // alone it has itself.
        if COMPUTES.contains(&call.name.as_str())
            && let Some(begin) = stream.sub.take()
        {
            self.state.out.amend(&begin, "stream.begin sub", "stream.begin main");
        }
        if call.name.starts_with("vector_") {
            stream.vector = true;
            return self.vector_method(frame, stream, call);
        }
        let text = match call.name.as_str() {
            "collect" => {
                let (time, packet) = self.time_and_packet(frame, call)?;
                format!("stream.collect {} time {time}, packet {packet}", stream.name)
            }
            "switch" => self.switch(frame, &mut stream, call)?,
            "transpose" => {
                let (time, packet) = self.time_and_packet(frame, call)?;
                format!("stream.transpose {} time {time}, packet {packet}", stream.name)
            }
            "cast" => {
                let format =
                    call.format(0).ok_or_else(|| frame.error(call.span, "`cast` without a format"))?;
                let packet = self.wanted_map(frame, call, call.map(1), "its packet")?;
                stream.dtype = format;
                format!("stream.cast {} {} packet {}", stream.dtype, stream.name, self.text(&packet))
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
                let (time, packet) = (self.text(&time), self.text(&packet));
                format!("stream.align {}, {weights} time {time}, packet {packet}", stream.name)
            }
            "contract_packet" | "contract" => {
                let packet = self.wanted_map(frame, call, call.map(0), "its packet")?;
                stream.dtype = stream.dtype.accumulator().ok_or_else(|| {
                    frame.error(call.span, format!("{} cannot enter a contraction", stream.dtype))
                })?;
                format!("stream.contract {} packet {}", stream.name, self.text(&packet))
            }
            "contract_lane" | "accumulate" => {
                let (time, packet) = self.time_and_packet(frame, call)?;
                let mode = match &*call.given() {
                    [Value::Variant(mode)] => match mode.name() {
                        "Interleaved" => "interleaved",
                        "Sequential" => "sequential",
                        other => {
                            return Err(
                                frame.error(call.span, format!("`{other}` is no mode of the accumulator"))
                            );
                        }
                    },
                    _ => return Err(frame.error(call.span, "the accumulator's mode is not given")),
                };
                format!("stream.accumulate {mode} {} time {time}, packet {packet}", stream.name)
            }
            "commit_cast" | "commit_cast_relu" => self.commit_cast(frame, &mut stream, call)?,
            "to_trf" | "to_vrf" => return self.register_file(frame, &stream, call),
            "commit" => return self.commit(frame, &stream, call),
            "commit_view" => return self.commit_view(frame, &stream, call),
            _ => return Err(self.unknown(frame, call, "a stream")),
        };
        stream.name = self.made(frame, call.span, None, &text);
        Ok(Value::Stream(Box::new(stream)))
    }

    pub(crate) fn time_and_packet(&mut self, frame: &Frame, call: &Call) -> Eval<(String, String)> {
        let time = self.wanted_map(frame, call, call.map(0), "its time")?;
        let packet = self.wanted_map(frame, call, call.map(1), "its packet")?;
        Ok((self.text(&time), self.text(&packet)))
    }

    /// The conversion of the commit adapter, which the book does not have: that of the cast engine, which gives the
    /// same numbers, after a maximum with 0 where it is asked for.
    fn commit_cast(&mut self, frame: &Frame, stream: &mut Stream, call: &Call) -> Eval<String> {
        let format = call
            .format(0)
            .ok_or_else(|| frame.error(call.span, format!("`{}` without a format", call.name)))?;
        let kept = self.wanted_map(frame, call, stream.kept.clone(), "what is kept of a packet")?;
        if call.name == "commit_cast_relu" {
            if stream.vector {
                let message = "`commit_cast_relu` after the vector engine is not read";
                return Err(frame.error(call.span, message));
            }
            for step in ["vector_init", "vector_branch unconditional", "vector_clip Max", "vector_final"] {
                let constant = if step.ends_with("Max") { " constant 0.0" } else { "" };
                let text = format!("stream.{step} {}{constant}", stream.name);
                stream.name = self.made(frame, call.span, None, &text);
            }
        }
        stream.dtype = format;
        let packet = Map::Padding(kept.into(), format.elements(FLIT_BYTES), Pad::Top);
        let packet = self.text(&Map::List(vec![packet]));
        Ok(format!("stream.cast {format} {} packet {packet}", stream.name))
    }

    /// Writes what is fetched, now that nothing more is said of it.
    fn fetched(&mut self, frame: &Frame, stream: &mut Stream) -> Eval<()> {
        let Some(mut fetch) = stream.fetch.take() else { return Ok(()) };
        // A table's format is that of the stream unless it says so.
        if fetch.clauses.last().is_some_and(|last| last.starts_with("table")) {
            fetch.clauses.push(format!("dtype {}", stream.dtype));
        }
        let clauses: String = fetch.clauses.iter().map(|clause| format!(" {clause},")).collect();
        let (time, packet) = (self.text(&fetch.time), self.text(&fetch.packet));
        let text = format!("stream.fetch {}{clauses} time {time}, packet {packet}", fetch.begin);
        stream.name = self.made(frame, fetch.span, None, &text);
        Ok(())
    }

    /// What padding holds changes from anything to zero, and nothing else does.
    fn mask(&self, frame: &Frame, stream: &mut Stream, call: &Call) -> Eval<()> {
        let time = self.wanted_map(frame, call, call.map(0), "its time")?;
        let packet = self.wanted_map(frame, call, call.map(1), "its packet")?;
        let Some(fetch) = stream.fetch.as_mut().filter(|fetch| fetch.clauses.is_empty()) else {
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

    fn switch(&mut self, frame: &Frame, stream: &mut Stream, call: &Call) -> Eval<String> {
        let slice = self.wanted_map(frame, call, call.map(0), "its slices")?;
        let time = self.wanted_map(frame, call, call.map(1), "its time")?;
        let [Value::Variant(config)] = &*call.given() else {
            return Err(frame.error(call.span, "`switch` takes a topology"));
        };
        let (topology, fields): (&str, &[(&str, &str)]) = match config.name() {
            "Forwarding" => ("forwarding", &[]),
            "Broadcast01" => {
                ("broadcast01", &[("slice1", "slice1"), ("slice0", "slice0"), ("time0", "time0")])
            }
            "Broadcast1" => ("broadcast1", &[("slice1", "slice1"), ("slice0", "slice0")]),
            "Transpose" => ("transpose", &[("slice1", "slice1"), ("slice0", "slice0")]),
            "InterTranspose" => {
                ("inter_transpose", &[("slice1", "slice1"), ("slice0", "slice0"), ("time0", "time0")])
            }
            "TransposedBroadcast1" => {
                ("transposed_broadcast1", &[("slice1", "slice1"), ("slice0", "slice0")])
            }
            "CustomBroadcast" => ("custom", &[("ring_size", "ring")]),
            other => return Err(frame.error(call.span, format!("the topology `{other}` is not known"))),
        };
        let clauses = fields.iter().map(|(theirs, ours)| match config.fields.get(*theirs) {
            Some(Value::Int(number)) => Ok(format!("{ours} {number}, ")),
            Some(_) | None => Err(frame.error(call.span, format!("the topology lacks `{theirs}`"))),
        });
        let clauses = clauses.collect::<Eval<String>>()?;
        let text = format!(
            "stream.switch {topology} {} {clauses}slice {}, time {}",
            stream.name,
            self.text(&slice),
            self.text(&time)
        );
        stream.slice = slice;
        Ok(text)
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
            ty = crate::calls::merged(&ty, wanted);
        }
        let element = self.wanted_map(frame, call, ty.element().cloned(), "what it holds")?;
        let at = self.at(frame, call)?;
        let text = match memory {
            Memory::Trf => {
                let row = self.wanted_map(frame, call, ty.dim("row").cloned(), "its rows")?;
                format!(
                    "stream.to_trf {} at {at}, row {}, element {}",
                    stream.name,
                    self.text(&row),
                    self.text(&element)
                )
            }
            Memory::Vrf | Memory::Hbm | Memory::Dm | Memory::Spm => {
                format!("stream.to_vrf {} at {at}, element {}", stream.name, self.text(&element))
            }
        };
        let name = self.made(frame, call.span, call.want.name.as_deref(), &text);
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
        let at = self.at(frame, call)?;
        let op = match &stream.counted {
            None => format!("stream.commit {}", stream.name),
            Some(Counted::Filter) => format!("stream.commit_packed {}", stream.name),
            Some(Counted::Number(count)) => {
                let counts = self.counts(frame, stream, call, count);
                format!("stream.commit_packed {}, {counts}", stream.name)
            }
        };
        let text = format!("{op} at {at}, element {}", self.text(&element));
        let name = self.made(frame, call.span, call.want.name.as_deref(), &text);
        Ok(Value::View(self.cell(Some(name), ty, call.want.name.clone())))
    }

    /// One number for all flits, where the engine reads it: in data memory.
    fn counts(&mut self, frame: &Frame, stream: &Stream, call: &Call, count: &str) -> String {
        let dims = [("chip", &stream.chip), ("cluster", &stream.cluster), ("slice", &stream.slice)];
        // One chip is what a tensor is on that does not say.
        let dims = dims.into_iter().filter(|(dim, map)| *dim != "chip" || **map != Map::one());
        let dims: String = dims.map(|(dim, map)| format!(", {dim} {}", self.text(&readable(map)))).collect();
        let text = format!("stream.fill {count}, at auto, dtype i32{dims}, element [1 # 2]");
        self.made(frame, call.span, None, &text)
    }

    fn commit_view(&mut self, frame: &mut Frame, stream: &Stream, call: &Call) -> Eval<Value> {
        let [Value::View(to)] = &*call.given() else {
            return Err(frame.error(call.span, "`commit_view` takes the view that is written"));
        };
        if stream.counted.is_some() {
            let message = "`commit_view` of a part of each flit is not read: `commit` makes a tensor of them";
            return Err(frame.error(call.span, message));
        }
        let to = to.clone();
        let text = match self.target(frame, call.span, &to)? {
            Some((tensor, tile)) => format!("stream.commit_tile {}, {tensor}{tile}", stream.name),
            None => {
                let element = self.dim(frame, call.span, &to.ty, "element")?;
                match self.state.cells[to.place.0].name.clone() {
                    None => format!("stream.commit {} at auto, element {}", stream.name, self.text(&element)),
                    Some(tensor) => {
                        format!(
                            "stream.commit_view {}, {tensor} element {}",
                            stream.name,
                            self.text(&element)
                        )
                    }
                }
            }
        };
        self.changed(frame, call.span, to.place, &text);
        Ok(Value::Nothing)
    }
}

/// What a table is called that gives each number of a format in another one.
pub(crate) fn table_name(from: impl Display, to: impl Display) -> String {
    format!("{from}_as_{to}")
}
