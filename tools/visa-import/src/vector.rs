//! The stages of the vector engine.

use crate::emit::new;
use crate::eval::{Eval, Evaluator, Frame, Stop};
use crate::map::Map;
use crate::method::Call;
use crate::numbers::{number, whole_number};
use crate::value::{AXIS_NAME, Counted, Stream, Value, Variant, choice};
use std::cmp::Ordering;
use std::rc::Rc;
use visa_algebra::Expr;
use visa_ir::Word;
use visa_ir::build::NewOp;
use visa_ir::module::ValueId;
use visa_mapping::Dim;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{
    ArgMode, Compare, Comparisons, DType, FpDivName, Guard, Guards, ReduceName, SliceReduceName, Slot,
};
use visa_stream::branch::IdSource;
use visa_stream::ops::vector::{VectorFinal, VectorInit};
use visa_stream::ops::vector_alu::{
    VectorClip, VectorFp, VectorFpDiv, VectorFpToFxp, VectorFxp, VectorFxpToFp, VectorLogic,
};
use visa_stream::ops::vector_branch::VectorBranch;
use visa_stream::ops::vector_filter::VectorFilter;
use visa_stream::ops::vector_inter::VectorInterSliceReduce;
use visa_stream::ops::vector_intra_slice_reduce::VectorIntraSliceReduce;
use visa_stream::ops::vector_lanes::{VectorConcat, VectorPad, VectorSplit, VectorTrim};
use visa_stream::ops::vector_pair::{VectorClipZip, VectorFpZip, VectorFxpZip, VectorLogicZip, VectorUnzip};
use visa_stream::ops::vector_reinterpret::VectorReinterpret;
use visa_stream::ops::vector_stash::VectorStash;

/// The operands that an operation of the vector engine takes in addition to the stream.
#[derive(Default)]
struct Operand {
    /// Register files and stashed streams.
    values: Vec<ValueId>,
    constant: Option<Number>,
    constant1: Option<Number>,
    when: Option<Guards<Number>>,
}

impl Operand {
    /// The operands that a mode reads. The methods take one in any case, also where the stream is all arguments: its
    /// guards still choose the groups.
    fn read_by(self, mode: Option<ArgMode>) -> Self {
        match mode.map(ArgMode::operands) {
            Some([false, false]) => {
                let apply = |Guards(all): Guards<Number>| {
                    Guards(all.into_iter().map(|(guard, _)| (guard, Slot::Apply)).collect())
                };
                Self { when: self.when.map(apply), ..Self::default() }
            }
            Some(_) | None => self,
        }
    }
}

/// The clauses that the operations of all ALUs have.
macro_rules! operated {
    ($ctx:expr, $view:ident, $stream:expr, $op:expr, $mode:expr, $operand:expr) => {{
        let Operand { values, constant, when, .. } = $operand;
        let new = new!($ctx, $view, std::iter::once($stream).chain(values)).op($op).mode($mode);
        new.constant(constant.map(Rc::new)).when(when.map(Rc::new))
    }};
}

impl<'a> Evaluator<'a> {
    pub(crate) fn vector_method(
        &mut self,
        frame: &mut Frame,
        mut stream: Stream,
        call: &Call,
    ) -> Eval<Value> {
        let (ctx, source) = (self.ctx, [self.value(&stream.name)]);
        let new: NewOp<'a> = match call.name.as_str() {
            "vector_init" => new!(ctx, VectorInit, source).into(),
            // A filter leaves the engine by itself.
            "vector_final" if matches!(stream.counted, Some(Counted::Filter)) => {
                return Ok(Value::Stream(Box::new(stream)));
            }
            "vector_final" => new!(ctx, VectorFinal, source).into(),
            "vector_filter" => {
                let [guard] = &*call.given() else {
                    return Err(frame.error(call.span, "`vector_filter` takes a guard"));
                };
                let kept = guards(guard).ok_or_else(|| frame.error(call.span, "a guard that is not read"))?;
                stream.counted = Some(Counted::Filter);
                let kept = kept.into_iter().map(|guard| (guard, Slot::Apply)).collect();
                new!(ctx, VectorFilter, source).keep(Guards(kept)).into()
            }
            "vector_intra_slice_tag" | "vector_intra_slice_branch" => self.tagged(frame, &stream, call)?,
            "vector_stash" => {
                let stashed = self.made(frame, call.span, None, new!(ctx, VectorStash, source));
                stream.stash = Some(stashed.clone());
                stream.name = stashed;
                return Ok(Value::Stream(Box::new(stream)));
            }
            "vector_reinterpret" => {
                let format = call.format(0).ok_or_else(|| {
                    frame.error(call.span, "`vector_reinterpret` takes a format, as `::<i32>`")
                })?;
                stream.dtype = format;
                new!(ctx, VectorReinterpret, source).dtype(format).into()
            }
            "vector_narrow_trim" | "vector_trim_way4" => {
                new!(ctx, VectorTrim, source).packet(self.packet(frame, call)?).into()
            }
            "vector_widen_pad" | "vector_pad_way8" => {
                new!(ctx, VectorPad, source).packet(self.packet(frame, call)?).into()
            }
            "vector_narrow_split" | "vector_split" => {
                let (time, packet) = self.both(frame, call, &stream, true)?;
                new!(ctx, VectorSplit, source).time(time).packet(packet).into()
            }
            "vector_widen_concat" | "vector_concat" => {
                let (time, packet) = self.both(frame, call, &stream, false)?;
                new!(ctx, VectorConcat, source).time(time).packet(packet).into()
            }
            "vector_intra_slice_reduce" => {
                let axis = self.wanted_map(frame, call, call.map(0), "the axis that it reduces")?;
                let time = self.wanted_map(frame, call, call.map(1), "its time")?;
                let packet = self.wanted_map(frame, call, call.map(2), "its packet")?;
                let op: SliceReduceName = self.op(frame, call)?;
                let new = new!(ctx, VectorIntraSliceReduce, source).op(op).axis(self.mapping(&axis));
                new.time(self.mapping(&time)).packet(self.mapping(&packet)).into()
            }
            "vector_inter_slice_reduce" => {
                let slice = self.wanted_map(frame, call, call.map(0), "its slices")?;
                let slice = self.with_idle(frame, call.span, Dim::Slice, slice);
                let time = self.wanted_map(frame, call, call.map(1), "its time")?;
                let op: ReduceName = self.op(frame, call)?;
                let new = new!(ctx, VectorInterSliceReduce, source).op(op).slice(self.mapping(&slice));
                stream.slice = slice;
                new.time(Some(self.mapping(&time))).into()
            }
            "vector_intra_slice_unzip" => {
                let axis = self.wanted_map(frame, call, call.map(0), "the axis of the groups")?;
                let new = new!(ctx, VectorUnzip, source).axis(self.mapping(&axis));
                if let Some(interleaved) = stream.interleaved.take() {
                    self.alternate(interleaved)?;
                }
                stream.groups = Some(axis);
                new.into()
            }
            "vector_fxp_to_fp" => {
                stream.dtype = DType::F32;
                new!(ctx, VectorFxpToFp, source).width(width(frame, call)?).into()
            }
            "vector_fp_to_fxp" => {
                stream.dtype = DType::I32;
                new!(ctx, VectorFpToFxp, source).width(width(frame, call)?).into()
            }
            "vector_logic_zip" | "vector_logic_zip_with_mode" => {
                let new = new!(ctx, VectorLogicZip, source).op(self.op(frame, call)?);
                new.mode(self.zipped(frame, &mut stream, call)?).into()
            }
            "vector_fxp_zip" | "vector_fxp_zip_with_mode" => {
                let new = new!(ctx, VectorFxpZip, source).op(self.op(frame, call)?);
                new.mode(self.zipped(frame, &mut stream, call)?).into()
            }
            "vector_fp_zip" | "vector_fp_zip_with_mode" => {
                let new = new!(ctx, VectorFpZip, source).op(self.op(frame, call)?);
                new.mode(self.zipped(frame, &mut stream, call)?).into()
            }
            "vector_clip_zip" | "vector_clip_zip_with_mode" => {
                let new = new!(ctx, VectorClipZip, source).op(self.op(frame, call)?);
                new.mode(self.zipped(frame, &mut stream, call)?).into()
            }
            "vector_fp_unary" => {
                let guarded = match &*call.given() {
                    [Value::Tuple(pair)] => match &**pair {
                        [guard, _] => guards(guard),
                        _ => None,
                    },
                    _ => None,
                };
                let group = match &*call.given() {
                    [_, Value::Bool(first), Value::Bool(second)] => match (first, second) {
                        (true, true) => None,
                        (true, false) => Some(GROUPS[0]),
                        (false, true) => Some(GROUPS[1]),
                        (false, false) => return Err(frame.error(call.span, "an operation of no group")),
                    },
                    _ => None,
                };
                let group = group.and_then(guard).map(|guard| vec![guard]);
                let when = guarded
                    .or(group)
                    .map(|all| Guards(all.into_iter().map(|guard| (guard, Slot::Apply)).collect()));
                let new = new!(ctx, VectorFp, source).op(self.op(frame, call)?);
                new.when(when.map(Rc::new)).into()
            }
            "vector_fp_div" | "vector_fp_div_with_mode" => {
                let given: Vec<&Value> = call.given().into_iter().filter(|value| !is_mode(value)).collect();
                let given: Vec<&Value> = given.into_iter().filter(|value| !is_division(value)).collect();
                let mode = mode(frame, call)?;
                let operand = self.operands(frame, &stream, call, &given)?.read_by(mode);
                if operand.constant1.is_some() {
                    return Err(frame.error(call.span, "a division of three operands"));
                }
                let [stream] = source;
                operated!(ctx, VectorFpDiv, stream, FpDivName::DivF, mode, operand).into()
            }
            "vector_logic"
            | "vector_fxp"
            | "vector_clip"
            | "vector_fp_binary"
            | "vector_fp_ternary"
            | "vector_logic_with_mode"
            | "vector_fxp_with_mode"
            | "vector_clip_with_mode"
            | "vector_fp_binary_with_mode"
            | "vector_fp_ternary_with_mode" => self.alu(frame, &stream, call)?,
            _ => return Err(self.unknown(frame, call, "a stream in the vector engine")),
        };
        stream.name = self.made(frame, call.span, None, new);
        Ok(Value::Stream(Box::new(stream)))
    }

    fn alu(&mut self, frame: &Frame, stream: &Stream, call: &Call) -> Eval<NewOp<'a>> {
        operation(frame, call)?;
        let (ctx, source, given) = (self.ctx, self.value(&stream.name), call.given());
        let mode = if call.name.ends_with("_with_mode") { mode(frame, call)? } else { None };
        let rest: Vec<&Value> =
            given.get(1..).unwrap_or_default().iter().copied().filter(|value| !is_mode(value)).collect();
        let operand = self.operands(frame, stream, call, &rest)?.read_by(mode);
        let two = |operand: &Operand| match operand.constant1 {
            None => Ok(()),
            Some(_) => Err(frame.error(call.span, format!("`{}` takes two operands", call.name))),
        };
        Ok(match call.name.trim_end_matches("_with_mode") {
            "vector_logic" => {
                two(&operand)?;
                operated!(ctx, VectorLogic, source, self.op(frame, call)?, mode, operand).into()
            }
            "vector_fxp" => {
                two(&operand)?;
                operated!(ctx, VectorFxp, source, self.op(frame, call)?, mode, operand).into()
            }
            "vector_clip" => {
                two(&operand)?;
                operated!(ctx, VectorClip, source, self.op(frame, call)?, mode, operand).into()
            }
            "vector_fp_binary" | "vector_fp_ternary" => {
                let constant1 = operand.constant1.map(Rc::new);
                let new = operated!(ctx, VectorFp, source, self.op(frame, call)?, mode, operand);
                new.constant1(constant1).into()
            }
            _ => return Err(self.unknown(frame, call, "a stream in the vector engine")),
        })
    }

    /// The mode of an operation that makes one group of two.
    fn zipped(&self, frame: &Frame, stream: &mut Stream, call: &Call) -> Eval<Option<ArgMode>> {
        stream.groups = None;
        if !call.name.ends_with("_with_mode") {
            return Ok(None);
        }
        let mode = mode(frame, call)?;
        mode.map(Some).ok_or_else(|| frame.error(call.span, "the mode is not given"))
    }

    /// The operation that the first argument names.
    fn op<T: Word>(&self, frame: &Frame, call: &Call) -> Eval<T> {
        let name = operation(frame, call)?;
        T::from_word(&name).ok_or_else(|| {
            let known = T::WORDS.join("`, `");
            let message = format!("`{}` has no operation `{name}`, expected one of `{known}`", call.name);
            frame.error(call.span, message)
        })
    }

    fn packet(&mut self, frame: &Frame, call: &Call) -> Eval<Rc<Expr>> {
        let packet = self.wanted_map(frame, call, call.map(0), "its packet")?;
        Ok(self.mapping(&packet).into())
    }

    fn both(
        &mut self,
        frame: &Frame,
        call: &Call,
        stream: &Stream,
        splits: bool,
    ) -> Eval<(Rc<Expr>, Rc<Expr>)> {
        let time = self.wanted_map(frame, call, call.map(0), "its time")?;
        let packet = self.wanted_map(frame, call, call.map(1), "its packet")?;
        // The author's time leaves the groups out, which alternate packet by packet before they are split.
        let time = match &stream.groups {
            None => time,
            Some(groups) => {
                let mut factors: Vec<Map> = time.factors().into_iter().cloned().collect();
                let at = if splits { factors.len().saturating_sub(1) } else { factors.len() };
                factors.insert(at, groups.clone());
                Map::List(factors)
            }
        };
        Ok((self.mapping(&time).into(), self.mapping(&packet).into()))
    }

    /// The operation that gives elements their execution ids.
    fn tagged(&mut self, frame: &Frame, stream: &Stream, call: &Call) -> Eval<NewOp<'a>> {
        let given = call.given();
        let Some(mode) = given.first().and_then(|value| choice(value)) else {
            return Err(frame.error(call.span, format!("`{}` takes a mode", call.name)));
        };
        let new = new!(self.ctx, VectorBranch, [self.value(&stream.name)]);
        Ok(match mode.name() {
            "Zero" | "Unconditional" => new.mode(IdSource::Unconditional).into(),
            "AxisToggle" => {
                let axis = mode.fields.get("axis").and_then(choice).map(|axis| &*axis.path);
                let Some([_, axis]) =
                    axis.filter(|path| path.first().is_some_and(|first| first == AXIS_NAME))
                else {
                    let message = "`AxisToggle` takes the name of an axis, as `axis: A::NAME`";
                    return Err(frame.error(call.span, message));
                };
                new.mode(IdSource::AxisToggle).axis(Some(Expr::axis(axis))).into()
            }
            "ValidCount" => new.mode(IdSource::ValidCount).into(),
            "Comparison" => {
                let Some(Value::Array(all)) = mode.args.first() else {
                    return Err(frame.error(call.span, "comparisons are an array"));
                };
                let all: Vec<_> =
                    all.iter().map(|own| self.comparison(frame, call, own)).collect::<Eval<_>>()?;
                // Bits that nothing sets are 0 without a comparison.
                let set = all.iter().rposition(|(kind, _)| *kind != Compare::False).unwrap_or_default();
                let all = all.into_iter().take(set + 1).collect();
                new.mode(IdSource::Comparison).compare(Some(Comparisons(all))).into()
            }
            other => return Err(frame.error(call.span, format!("the mode `{other}` is not read"))),
        })
    }

    fn comparison(&self, frame: &Frame, call: &Call, value: &Value) -> Eval<(Compare, Option<Number>)> {
        let Some(own) = choice(value) else { return Err(frame.error(call.span, "no comparison")) };
        let kind = match own.name() {
            "True" => return Ok((Compare::True, None)),
            "False" => return Ok((Compare::False, None)),
            "Equal" => Compare::Equal,
            "Less" => Compare::Less,
            "Greater" => Compare::Greater,
            "LessUnsigned" => Compare::LessUnsigned,
            "GreaterUnsigned" => Compare::GreaterUnsigned,
            other => return Err(frame.error(call.span, format!("the comparison `{other}` is not known"))),
        };
        match own.args.first().and_then(number) {
            Some(number) => Ok((kind, Some(number))),
            None => Err(frame.error(call.span, "a comparison takes a number")),
        }
    }

    /// The operand of an operation, or those of its two groups.
    fn operands(&mut self, frame: &Frame, stream: &Stream, call: &Call, given: &[&Value]) -> Eval<Operand> {
        let [first, second] = given else {
            return self.operand(frame, stream, call, given.first().copied());
        };
        let mut operand = Operand::default();
        let mut guards = Vec::new();
        let mut both = Vec::new();
        for (group, value) in GROUPS.into_iter().zip([first, second]) {
            let (own, second) = match value {
                Value::Nothing => continue,
                Value::Tuple(pair) => match &**pair {
                    [own, second] => (own, Some(second)),
                    _ => return Err(frame.error(call.span, "an operand of two numbers")),
                },
                own => (*own, None),
            };
            both.extend(second.and_then(number));
            let slot = match (number(own), own) {
                (Some(number), _) => Slot::Immediate(number),
                (None, Value::View(view)) => {
                    let name = self.read(frame, call.span, view)?;
                    operand.values = vec![self.value(&name)];
                    Slot::Value
                }
                (None, other) => {
                    return Err(frame.error(call.span, format!("{} is no operand of a group", other.kind())));
                }
            };
            guards.extend(guard(group).map(|guard| (guard, slot)));
        }
        operand.constant1 = self.second(frame, call, both)?;
        operand.when = Some(Guards(guards));
        Ok(operand)
    }

    fn operand(
        &mut self,
        frame: &Frame,
        stream: &Stream,
        call: &Call,
        value: Option<&Value>,
    ) -> Eval<Operand> {
        let Some(value) = value else {
            return Err(frame.error(call.span, format!("`{}` takes an operand", call.name)));
        };
        if let Some(number) = number(value) {
            return Ok(Operand { constant: Some(number), ..Operand::default() });
        }
        match value {
            Value::View(view) => {
                let name = self.read(frame, call.span, view)?;
                Ok(Operand { values: vec![self.value(&name)], ..Operand::default() })
            }
            Value::Tuple(pair) => self.two(frame, stream, call, pair),
            Value::Variant(variant) if variant.name() == "Stash" => {
                let stash = self.value(&stashed(frame, stream, call)?);
                Ok(Operand { values: vec![stash], ..Operand::default() })
            }
            Value::Variant(variant) if variant.path.iter().any(|part| part == "Branched") => {
                self.branched(frame, stream, call, variant)
            }
            other => Err(no_operand(frame, call, other)),
        }
    }

    /// Two operands: of an operation on three.
    fn two(&mut self, frame: &Frame, stream: &Stream, call: &Call, pair: &[Value]) -> Eval<Operand> {
        let [first, second] = pair else {
            return Err(frame.error(call.span, "operands that are not two"));
        };
        let mut operand = Operand::default();
        for (at, value) in [first, second].into_iter().enumerate() {
            match (number(value), value) {
                (Some(number), _) if at == 0 => operand.constant = Some(number),
                (Some(number), _) => operand.constant1 = Some(number),
                (None, Value::View(view)) => {
                    let name = self.read(frame, call.span, view)?;
                    operand.values.push(self.value(&name));
                }
                (None, Value::Variant(variant)) if variant.name() == "Stash" => {
                    operand.values.push(self.value(&stashed(frame, stream, call)?));
                }
                (None, other) => {
                    return Err(no_operand(frame, call, other));
                }
            }
        }
        Ok(operand)
    }

    /// Operands under guards: the arguments of `imm` and `rf` alternate, a guard and an operand each.
    fn branched(&mut self, frame: &Frame, stream: &Stream, call: &Call, variant: &Variant) -> Eval<Operand> {
        let mut operand = Operand::default();
        let (mut slots, mut seconds) = (Vec::new(), Vec::new());
        for pair in variant.args.chunks(2) {
            let [guard, value] = pair else {
                return Err(frame.error(call.span, "a guard without an operand"));
            };
            let own = guards(guard).ok_or_else(|| frame.error(call.span, "a guard that is not read"))?;
            let (value, second) = match value {
                Value::Tuple(both) => match &**both {
                    [own, second] => (own, number(second)),
                    _ => return Err(frame.error(call.span, "an operand of two numbers")),
                },
                own => (own, None),
            };
            seconds.extend(second);
            let chosen = match (number(value), value) {
                (Some(number), _) => Slot::Immediate(number),
                (None, Value::View(view)) => {
                    let name = self.read(frame, call.span, view)?;
                    operand.values = vec![self.value(&name)];
                    Slot::Value
                }
                (None, Value::Variant(own)) if own.name() == "Stash" => {
                    operand.values = vec![self.value(&stashed(frame, stream, call)?)];
                    Slot::Value
                }
                (None, other) => {
                    return Err(
                        frame.error(call.span, format!("{} is no operand under a guard", other.kind()))
                    );
                }
            };
            slots.extend(own.into_iter().map(|guard| (guard, chosen)));
        }
        operand.constant1 = self.second(frame, call, seconds)?;
        operand.when = Some(Guards(slots));
        Ok(operand)
    }

    /// The second operand of an operation on three: one for all guards.
    fn second(&self, frame: &Frame, call: &Call, mut found: Vec<Number>) -> Eval<Option<Number>> {
        found.dedup();
        match *found {
            [] => Ok(None),
            [second] => Ok(Some(second)),
            _ => {
                let found: Vec<String> = found.iter().map(Number::to_string).collect();
                let message = format!(
                    "the second operands are {}: the engine has one for all groups and guards",
                    found.join(" and ")
                );
                Err(frame.error(call.span, message))
            }
        }
    }
}

/// The name of the operation that the first argument is.
fn operation(frame: &Frame, call: &Call) -> Eval<String> {
    let given = call.given();
    let first = given.first().map(|first| match first {
        // A guard and an operation (0.8).
        Value::Tuple(pair) => pair.last().unwrap_or(first),
        _ => first,
    });
    let Some(variant) = first.and_then(choice) else {
        return Err(frame.error(call.span, format!("`{}` takes an operation", call.name)));
    };
    let name = match (variant.name(), variant.args.first().and_then(choice)) {
        ("MulF", Some(alu)) if alu.name() == "Mul1" => "MulF1",
        ("MulF", Some(alu)) if alu.name() == "Fma" => "MulFma",
        ("MulF", _) => "MulF0",
        (name, _) => name,
    };
    Ok(name.to_owned())
}

fn stashed(frame: &Frame, stream: &Stream, call: &Call) -> Eval<String> {
    stream.stash.clone().ok_or_else(|| frame.error(call.span, "nothing was stashed before"))
}

/// Refuses a value that the vector engine does not take as an operand.
fn no_operand(frame: &Frame, call: &Call, value: &Value) -> Stop {
    let expected = "expected a number of `i32` or `f32`, a tensor of the vector register file, or `Stash`";
    frame.error(call.span, format!("{} is no operand of the vector engine: {expected}", value.kind()))
}

/// `TagGuard::matches([One, Ignore, ..])`: bit 0 comes first there, and last in visa. An id that does not match
/// differs in one of its bits: the first, or the second where the first is the same, and so on.
fn guards(value: &Value) -> Option<Vec<Guard>> {
    let own = choice(value)?;
    let bits = match (own.name(), own.args.first()) {
        ("all", None) => return Some(vec![guard("xxxx")?]),
        ("matches" | "not_matches", Some(Value::Array(bits))) => bits,
        (_, _) => return None,
    };
    let bit = |value: &Value| {
        Some(match choice(value)?.name() {
            "One" => '1',
            "Zero" => '0',
            "Ignore" => 'x',
            _ => return None,
        })
    };
    let bits: Vec<char> = bits.iter().rev().map(bit).collect::<Option<_>>()?;
    if own.name() == "matches" {
        return Some(vec![guard(&bits.into_iter().collect::<String>())?]);
    }
    let differs = |at: usize| {
        let text = bits.iter().enumerate().map(|(place, &bit)| match (place.cmp(&at), bit) {
            (Ordering::Less, bit) => bit,
            (Ordering::Equal, '0') => '1',
            (Ordering::Equal, _) => '0',
            (Ordering::Greater, _) => 'x',
        });
        guard(&text.collect::<String>())
    };
    (0..bits.len()).filter(|&at| bits[at] != 'x').map(differs).collect()
}

fn is_division(value: &Value) -> bool {
    choice(value).is_some_and(|own| own.name() == "DivF")
}

fn is_mode(value: &Value) -> bool {
    choice(value).is_some_and(|own| own.name().starts_with("Mode"))
}

/// `BinaryArgMode::Mode10`, if the call has one.
fn mode(frame: &Frame, call: &Call) -> Eval<Option<ArgMode>> {
    let given = call.given();
    let found = given.iter().find(|value| is_mode(value)).and_then(|value| choice(value));
    let Some(name) = found.map(Variant::name) else { return Ok(None) };
    let mode = ArgMode::from_word(name);
    mode.map(Some).ok_or_else(|| frame.error(call.span, format!("the mode `{name}` is not known")))
}

/// The integer width of a conversion.
fn width(frame: &Frame, call: &Call) -> Eval<i64> {
    let width = match &*call.given() {
        [width @ Value::Int(_)] => whole_number(width),
        _ => None,
    };
    width.ok_or_else(|| frame.error(call.span, format!("`{}` takes the bits before the point", call.name)))
}

/// The guards of the two groups.
const GROUPS: [&str; 2] = ["0xxx", "1xxx"];

/// The guard that a pattern over the bits of an execution id is.
fn guard(pattern: &str) -> Option<Guard> {
    let Guards(all) = Guards::<Number>::parse(&format!("[{pattern}]"), |_| None).ok()?;
    all.first().map(|(guard, _)| *guard)
}
