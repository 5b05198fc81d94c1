//! The stages of the vector engine.

use crate::eval::{Eval, Evaluator, Frame, Stop};
use crate::map::Map;
use crate::method::Call;
use crate::numbers::number;
use crate::value::{Counted, Stream, Value, Variant, choice};
use std::cmp::Ordering;
use visa_numerics::DType;

/// What an operation of the vector engine takes beside the stream.
#[derive(Default)]
struct Operand {
    /// Register files and stashed streams, each after a comma.
    values: String,
    /// Clauses.
    clauses: String,
}

impl Evaluator<'_> {
    pub(crate) fn vector_method(
        &mut self,
        frame: &mut Frame,
        mut stream: Stream,
        call: &Call,
    ) -> Eval<Value> {
        let name = stream.name.clone();
        let text = match call.name.as_str() {
            "vector_init" => format!("stream.vector_init {name}"),
            // A filter leaves the engine by itself.
            "vector_final" if matches!(stream.counted, Some(Counted::Filter)) => {
                return Ok(Value::Stream(Box::new(stream)));
            }
            "vector_final" => format!("stream.vector_final {name}"),
            "vector_filter" => {
                let [guard] = &*call.given() else {
                    return Err(frame.error(call.span, "`vector_filter` takes a guard"));
                };
                let guards =
                    guard_texts(guard).ok_or_else(|| frame.error(call.span, "a guard that is not read"))?;
                stream.counted = Some(Counted::Filter);
                format!("stream.vector_filter {name} keep [{}]", guards.join(", "))
            }
            "vector_intra_slice_tag" | "vector_intra_slice_branch" => self.tagged(frame, &stream, call)?,
            "vector_stash" => {
                let stashed = self.made(frame, call.span, None, &format!("stream.vector_stash {name}"));
                stream.stash = Some(stashed.clone());
                stream.name = stashed;
                return Ok(Value::Stream(Box::new(stream)));
            }
            "vector_reinterpret" => {
                let format = call.format(0).ok_or_else(|| {
                    frame.error(call.span, "`vector_reinterpret` takes a format, as `::<i32>`")
                })?;
                stream.dtype = format;
                format!("stream.vector_reinterpret {format} {name}")
            }
            "vector_narrow_trim" | "vector_trim_way4" => self.packet(frame, call, "vector_trim", &name)?,
            "vector_widen_pad" | "vector_pad_way8" => self.packet(frame, call, "vector_pad", &name)?,
            "vector_narrow_split" | "vector_split" => self.both(frame, call, "vector_split", &stream)?,
            "vector_widen_concat" | "vector_concat" => self.both(frame, call, "vector_concat", &stream)?,
            "vector_intra_slice_reduce" => {
                let axis = self.wanted_map(frame, call, call.map(0), "the axis that it reduces")?;
                let time = self.wanted_map(frame, call, call.map(1), "its time")?;
                let packet = self.wanted_map(frame, call, call.map(2), "its packet")?;
                let op = self.op(frame, call)?;
                let [axis, time, packet] = [axis, time, packet].map(|map| self.text(&map));
                format!(
                    "stream.vector_intra_slice_reduce {op} {name} axis {axis}, time {time}, packet {packet}"
                )
            }
            "vector_inter_slice_reduce" => {
                let slice = self.wanted_map(frame, call, call.map(0), "its slices")?;
                let time = self.wanted_map(frame, call, call.map(1), "its time")?;
                let op = self.op(frame, call)?;
                let text = format!(
                    "stream.vector_inter_slice_reduce {op} {name} slice {}, time {}",
                    self.text(&slice),
                    self.text(&time)
                );
                stream.slice = slice;
                text
            }
            "vector_intra_slice_unzip" => {
                let axis = self.wanted_map(frame, call, call.map(0), "the axis of the groups")?;
                let text = format!("stream.vector_unzip {name} axis {}", self.text(&axis));
                stream.groups = Some(axis);
                text
            }
            "vector_fxp_to_fp" | "vector_fp_to_fxp" => {
                let width = match &*call.given() {
                    [Value::Int(width)] => width,
                    _ => {
                        return Err(frame
                            .error(call.span, format!("`{}` takes the bits before the point", call.name)));
                    }
                };
                stream.dtype = if call.name == "vector_fxp_to_fp" { DType::F32 } else { DType::I32 };
                format!("stream.{} {name} int_width {width}", call.name)
            }
            "vector_logic_zip" | "vector_fxp_zip" | "vector_fp_zip" | "vector_clip_zip" => {
                stream.groups = None;
                let op = self.op(frame, call)?;
                format!("stream.{} {op} {name}", call.name)
            }
            "vector_logic_zip_with_mode"
            | "vector_fxp_zip_with_mode"
            | "vector_fp_zip_with_mode"
            | "vector_clip_zip_with_mode" => {
                stream.groups = None;
                let op = self.op(frame, call)?;
                let mode =
                    mode(&call.given()).ok_or_else(|| frame.error(call.span, "the mode is not given"))?;
                format!("stream.{} {op} {name} mode {mode}", call.name.trim_end_matches("_with_mode"))
            }
            "vector_fp_unary" => {
                let op = self.op(frame, call)?;
                let guards = match &*call.given() {
                    [_, Value::Bool(first), Value::Bool(second)] => match (first, second) {
                        (true, true) => "",
                        (true, false) => " when [0xxx]",
                        (false, true) => " when [1xxx]",
                        (false, false) => return Err(frame.error(call.span, "an operation of no group")),
                    },
                    _ => "",
                };
                format!("stream.vector_fp {op} {name}{guards}")
            }
            "vector_fp_div" | "vector_fp_div_with_mode" => {
                let given: Vec<&Value> = call.given().into_iter().filter(|value| !is_mode(value)).collect();
                let given: Vec<&Value> = given.into_iter().filter(|value| !is_division(value)).collect();
                let operand = self.operands(frame, &stream, call, &given)?;
                let mode = mode(&call.given()).map_or_else(String::new, |mode| format!(" mode {mode}"));
                let comma = if mode.is_empty() || operand.clauses.is_empty() { "" } else { "," };
                format!("stream.vector_fp_div DivF {name}{}{mode}{comma}{}", operand.values, operand.clauses)
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
        stream.name = self.made(frame, call.span, None, &text);
        Ok(Value::Stream(Box::new(stream)))
    }

    fn alu(&mut self, frame: &Frame, stream: &Stream, call: &Call) -> Eval<String> {
        let op = self.op(frame, call)?;
        let given = call.given();
        let with_mode = call.name.ends_with("_with_mode");
        let mode = if with_mode { mode(&given) } else { None };
        let own = match call.name.trim_end_matches("_with_mode") {
            "vector_fp_binary" | "vector_fp_ternary" => "vector_fp",
            other => other,
        };
        let rest: Vec<&Value> =
            given.get(1..).unwrap_or_default().iter().copied().filter(|value| !is_mode(value)).collect();
        let operand = self.operands(frame, stream, call, &rest)?;
        let mode = mode.map_or_else(String::new, |mode| format!(" mode {mode}"));
        let clauses = match (mode.is_empty(), operand.clauses.is_empty()) {
            (false, false) => format!("{mode},{}", operand.clauses),
            (_, _) => format!("{mode}{}", operand.clauses),
        };
        Ok(format!("stream.{own} {op} {}{}{clauses}", stream.name, operand.values))
    }

    /// The operation that the first argument names.
    fn op(&self, frame: &Frame, call: &Call) -> Eval<String> {
        let given = call.given();
        let Some(variant) = given.first().and_then(|value| choice(value)) else {
            return Err(frame.error(call.span, format!("`{}` takes an operation", call.name)));
        };
        Ok(match (variant.name(), variant.args.first().and_then(choice)) {
            ("MulF", Some(alu)) if alu.name() == "Mul1" => "MulF1".to_owned(),
            ("MulF", Some(alu)) if alu.name() == "Fma" => "MulFma".to_owned(),
            ("MulF", _) => "MulF0".to_owned(),
            (name, _) => name.to_owned(),
        })
    }

    fn packet(&mut self, frame: &Frame, call: &Call, op: &str, name: &str) -> Eval<String> {
        let packet = self.wanted_map(frame, call, call.map(0), "its packet")?;
        Ok(format!("stream.{op} {name} packet {}", self.text(&packet)))
    }

    fn both(&mut self, frame: &Frame, call: &Call, op: &str, stream: &Stream) -> Eval<String> {
        let time = self.wanted_map(frame, call, call.map(0), "its time")?;
        let packet = self.wanted_map(frame, call, call.map(1), "its packet")?;
        // The author's time leaves the groups out, which alternate packet by packet before they are split.
        let time = match &stream.groups {
            None => time,
            Some(groups) => {
                let mut factors: Vec<Map> = time.factors().into_iter().cloned().collect();
                let at = if op == "vector_split" { factors.len().saturating_sub(1) } else { factors.len() };
                factors.insert(at, groups.clone());
                Map::List(factors)
            }
        };
        Ok(format!("stream.{op} {} time {}, packet {}", stream.name, self.text(&time), self.text(&packet)))
    }

    /// How elements get their execution ids.
    fn tagged(&mut self, frame: &Frame, stream: &Stream, call: &Call) -> Eval<String> {
        let name = &stream.name;
        let given = call.given();
        let Some(mode) = given.first().and_then(|value| choice(value)) else {
            return Err(frame.error(call.span, format!("`{}` takes a mode", call.name)));
        };
        match mode.name() {
            "Zero" | "Unconditional" => Ok(format!("stream.vector_branch unconditional {name}")),
            "ValidCount" => Ok(format!("stream.vector_branch valid_count {name}")),
            "Comparison" => {
                let Some(Value::Array(all)) = mode.args.first() else {
                    return Err(frame.error(call.span, "comparisons are an array"));
                };
                let all =
                    all.iter().map(|own| self.comparison(frame, call, own)).collect::<Eval<Vec<_>>>()?;
                Ok(format!("stream.vector_branch comparison {name} compare [{}]", all.join(", ")))
            }
            other => Err(frame.error(call.span, format!("the mode `{other}` is not read"))),
        }
    }

    fn comparison(&self, frame: &Frame, call: &Call, value: &Value) -> Eval<String> {
        let Some(own) = choice(value) else { return Err(frame.error(call.span, "no comparison")) };
        let kind = match own.name() {
            "True" => return Ok("true".to_owned()),
            "False" => return Ok("false".to_owned()),
            "Equal" => "equal",
            "Less" => "less",
            "Greater" => "greater",
            "LessUnsigned" => "less_unsigned",
            "GreaterUnsigned" => "greater_unsigned",
            other => return Err(frame.error(call.span, format!("the comparison `{other}` is not known"))),
        };
        match own.args.first().and_then(number) {
            Some(number) => Ok(format!("{kind} {number}")),
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
        for (guard, value) in [("0xxx", first), ("1xxx", second)] {
            let (own, second) = match value {
                Value::Nothing => continue,
                Value::Tuple(pair) => match &**pair {
                    [own, second] => (own, Some(second)),
                    _ => return Err(frame.error(call.span, "an operand of two numbers")),
                },
                own => (*own, None),
            };
            both.extend(second.and_then(number));
            match (number(own), own) {
                (Some(number), _) => guards.push(format!("{guard}: {number}")),
                (None, Value::View(view)) => {
                    operand.values = format!(", {}", self.read(frame, call.span, view)?);
                    guards.push(format!("{guard}: value"));
                }
                (None, other) => {
                    return Err(frame.error(call.span, format!("{} is no operand of a group", other.kind())));
                }
            }
        }
        let second = self.second(frame, call, both)?;
        operand.clauses = format!("{second} when [{}]", guards.join(", "));
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
            return Ok(Operand { values: String::new(), clauses: format!(" constant {number}") });
        }
        match value {
            Value::View(view) => Ok(Operand {
                values: format!(", {}", self.read(frame, call.span, view)?),
                clauses: String::new(),
            }),
            Value::Tuple(pair) => self.two(frame, stream, call, pair),
            Value::Variant(variant) if variant.name() == "Stash" => {
                Ok(Operand { values: format!(", {}", stashed(frame, stream, call)?), clauses: String::new() })
            }
            Value::Variant(variant) if variant.path.iter().any(|part| part == "Branched") => {
                self.branched(frame, stream, call, variant)
            }
            other => Err(no_operand(frame, call, other)),
        }
    }

    /// Two operands: of an operation on three.
    fn two(&mut self, frame: &Frame, stream: &Stream, call: &Call, pair: &[Value]) -> Eval<Operand> {
        let mut operand = Operand::default();
        let mut constants = Vec::new();
        for (at, value) in pair.iter().enumerate() {
            let clause = if at == 0 { "constant" } else { "constant1" };
            match (number(value), value) {
                (Some(number), _) => constants.push(format!("{clause} {number}")),
                (None, Value::View(view)) => {
                    operand.values.push_str(&format!(", {}", self.read(frame, call.span, view)?));
                }
                (None, Value::Variant(variant)) if variant.name() == "Stash" => {
                    operand.values.push_str(&format!(", {}", stashed(frame, stream, call)?));
                }
                (None, other) => {
                    return Err(no_operand(frame, call, other));
                }
            }
        }
        if !constants.is_empty() {
            operand.clauses = format!(" {}", constants.join(", "));
        }
        Ok(operand)
    }

    /// Operands under guards: the arguments of `imm` and `rf` in turn, a guard and an operand each.
    fn branched(&mut self, frame: &Frame, stream: &Stream, call: &Call, variant: &Variant) -> Eval<Operand> {
        let mut operand = Operand::default();
        let (mut guards, mut seconds) = (Vec::new(), Vec::new());
        for pair in variant.args.chunks(2) {
            let [guard, value] = pair else {
                return Err(frame.error(call.span, "a guard without an operand"));
            };
            let own = guard_texts(guard).ok_or_else(|| frame.error(call.span, "a guard that is not read"))?;
            let (value, second) = match value {
                Value::Tuple(both) => match &**both {
                    [own, second] => (own, number(second)),
                    _ => return Err(frame.error(call.span, "an operand of two numbers")),
                },
                own => (own, None),
            };
            seconds.extend(second);
            let chosen = match (number(value), value) {
                (Some(number), _) => number,
                (None, Value::View(view)) => {
                    operand.values = format!(", {}", self.read(frame, call.span, view)?);
                    "value".to_owned()
                }
                (None, Value::Variant(own)) if own.name() == "Stash" => {
                    operand.values = format!(", {}", stashed(frame, stream, call)?);
                    "value".to_owned()
                }
                (None, other) => {
                    return Err(
                        frame.error(call.span, format!("{} is no operand under a guard", other.kind()))
                    );
                }
            };
            guards.extend(own.into_iter().map(|guard| format!("{guard}: {chosen}")));
        }
        let second = self.second(frame, call, seconds)?;
        operand.clauses = format!("{second} when [{}]", guards.join(", "));
        Ok(operand)
    }

    /// The second operand of an operation on three: one for all guards.
    fn second(&self, frame: &Frame, call: &Call, mut found: Vec<String>) -> Eval<String> {
        found.dedup();
        match &*found {
            [] => Ok(String::new()),
            [second] => Ok(format!(" constant1 {second},")),
            _ => {
                let message = format!(
                    "the second operands are {}: the engine has one for all groups and guards",
                    found.join(" and ")
                );
                Err(frame.error(call.span, message))
            }
        }
    }
}

fn stashed(frame: &Frame, stream: &Stream, call: &Call) -> Eval<String> {
    stream.stash.clone().ok_or_else(|| frame.error(call.span, "nothing was stashed before"))
}

/// Refuses what the vector engine does not take as an operand.
fn no_operand(frame: &Frame, call: &Call, value: &Value) -> Stop {
    let expected = "expected a number of `i32` or `f32`, a tensor of the vector register file, or `Stash`";
    frame.error(call.span, format!("{} is no operand of the vector engine: {expected}", value.kind()))
}

/// `TagGuard::matches([One, Ignore, ..])`: bit 0 comes first there, and last in ours. What does not match differs in
/// one of its bits: the first, or the second where the first is the same, and so on.
fn guard_texts(value: &Value) -> Option<Vec<String>> {
    let own = choice(value)?;
    let bits = match (own.name(), own.args.first()) {
        ("all", None) => return Some(vec!["xxxx".to_owned()]),
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
        return Some(vec![bits.into_iter().collect()]);
    }
    let differs = |at: usize| {
        let text = bits.iter().enumerate().map(|(place, &bit)| match (place.cmp(&at), bit) {
            (Ordering::Less, bit) => bit,
            (Ordering::Equal, '0') => '1',
            (Ordering::Equal, _) => '0',
            (Ordering::Greater, _) => 'x',
        });
        text.collect()
    };
    Some((0..bits.len()).filter(|&at| bits[at] != 'x').map(differs).collect())
}

fn is_division(value: &Value) -> bool {
    choice(value).is_some_and(|own| own.name() == "DivF")
}

fn is_mode(value: &Value) -> bool {
    choice(value).is_some_and(|own| own.name().starts_with("Mode"))
}

/// `BinaryArgMode::Mode10`
fn mode(given: &[&Value]) -> Option<String> {
    given.iter().find(|value| is_mode(value)).and_then(|value| choice(value)).map(|own| own.name().to_owned())
}
