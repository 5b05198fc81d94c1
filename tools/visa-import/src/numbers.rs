//! Arithmetic of the host, and names that stand for numbers.

use crate::condition::{Condition, Ranges};
use crate::constant::computed;
use crate::eval::{Eval, Evaluator, Frame, Generic, Want, affine, names, single};
use crate::program::{Item, Space};
use crate::value::{Affine, Type, Unit, Value, Variant};
use proc_macro2::Span;
use std::collections::BTreeMap;
use syn::spanned::Spanned;

impl Evaluator<'_> {
    pub(crate) fn path(&mut self, frame: &mut Frame, path: &syn::ExprPath) -> Eval<Value> {
        let parts = names(&path.path);
        if let [name] = &*parts {
            if let Some(value) = frame.local(name) {
                return Ok(value.clone());
            }
            match frame.generics.get(name) {
                Some(Generic::Const(number)) => return Ok(Value::Int(*number)),
                Some(Generic::Type(_)) | None => {}
            }
            if let Some(item) = frame.item(name)
                && let syn::Item::Const(item) = &*item
            {
                let item = item.clone();
                let ty = self.ty(frame, &item.ty)?;
                return self.expr(frame, &item.expr, &Want::of(ty));
            }
        }
        if parts.last().is_some_and(|last| last == "SIZE")
            && let Some(size) = self.size_of(frame, path)?
        {
            return Ok(Value::Int(size.into()));
        }
        match self.program.find(frame.module, &parts, Space::Values) {
            Some(Item::Const(module, item)) => {
                let mut own = self.frame(module);
                let frame = frame.clone();
                return self.enter(&frame, path.span(), |eval| {
                    let ty = eval.ty(&mut own, &item.ty)?;
                    eval.expr(&mut own, &item.expr, &Want::of(ty))
                });
            }
            Some(Item::Module(_) | Item::Axis(_) | Item::Fn(..) | Item::Type(..) | Item::Struct(..))
            | None => {}
        }
        if let Some(number) = constant(&parts) {
            return Ok(number);
        }
        // What the engines are given is not looked up: the operation that takes it knows its names.
        match parts.last().is_some_and(|last| last.starts_with(char::is_uppercase)) {
            true => Ok(Value::Variant(Box::new(Variant {
                path: parts,
                args: Vec::new(),
                fields: BTreeMap::new(),
            }))),
            false => Err(frame.error(path.span(), format!("`{}` is not known", parts.join("::")))),
        }
    }

    /// The positions of a mapping: `A::SIZE`, `<m![A / 2]>::SIZE`.
    fn size_of(&mut self, frame: &mut Frame, path: &syn::ExprPath) -> Eval<Option<u64>> {
        let ty = match &path.qself {
            Some(own) => (*own.ty).clone(),
            None => {
                let mut own = path.path.clone();
                own.segments.pop();
                own.segments.pop_punct();
                syn::Type::Path(syn::TypePath { qself: None, path: own })
            }
        };
        let Type::Map(map) = self.ty(frame, &ty)? else { return Ok(None) };
        let size = map.size(self);
        size.map(Some)
            .ok_or_else(|| frame.error(path.span(), "a mapping of more positions than 64 bits count"))
    }

    pub(crate) fn unary(&mut self, frame: &mut Frame, unary: &syn::ExprUnary, want: &Want) -> Eval<Value> {
        let value = self.expr(frame, &unary.expr, want)?;
        match (&unary.op, value) {
            (syn::UnOp::Deref(_), value) => Ok(value),
            (syn::UnOp::Neg(_), Value::Int(number)) => Ok(Value::Int(-number)),
            (syn::UnOp::Neg(_), Value::Float(number)) => Ok(Value::Float(-number)),
            (syn::UnOp::Not(_), Value::Bool(truth)) => Ok(Value::Bool(!truth)),
            (syn::UnOp::Not(_), Value::Condition(own)) => Ok(Value::Condition(own.negated().into())),
            (syn::UnOp::Neg(_), Value::Index(index)) => {
                index.times(-1).map(Value::Index).ok_or_else(|| self.needs_number(frame, unary.span()))
            }
            (_, value) => Err(frame.error(unary.span(), format!("{} has no such sign", value.kind()))),
        }
    }

    pub(crate) fn cast(&mut self, frame: &mut Frame, cast: &syn::ExprCast) -> Eval<Value> {
        let value = self.expr(frame, &cast.expr, &Want::default())?;
        let Type::Number(name) = self.ty(frame, &cast.ty)? else { return Ok(value) };
        match (value, crate::eval::is_float(&name)) {
            (Value::Int(number), true) if &*name == "f64" => Ok(Value::Float(number as f64)),
            (Value::Int(number), true) => Ok(Value::Float((number as f32).into())),
            (Value::Int(number), false) => wrapped(&name, number)
                .map(Value::Int)
                .ok_or_else(|| frame.error(cast.span(), format!("a cast to `{name}` is not read"))),
            (Value::Float(number), false) => Ok(Value::Int(saturated(&name, number))),
            (Value::Bool(truth), _) => Ok(Value::Int(truth.into())),
            (Value::Float(number), true) if &*name == "f32" => Ok(Value::Float(single(number))),
            (Value::Index(_), true) | (Value::Condition(_), _) => Err(self.needs_number(frame, cast.span())),
            (value @ (Value::Float(_) | Value::Index(_)), _) => Ok(value),
            (other, _) => Err(frame.error(cast.span(), format!("{} is no number", other.kind()))),
        }
    }

    pub(crate) fn binary(&mut self, frame: &mut Frame, binary: &syn::ExprBinary) -> Eval<Value> {
        let span = binary.span();
        let left = self.expr(frame, &binary.left, &Want::default())?;
        // Only what is needed is looked at.
        match (&binary.op, &left) {
            (syn::BinOp::And(_), Value::Bool(false)) | (syn::BinOp::Or(_), Value::Bool(true)) => {
                return Ok(left);
            }
            (_, _) => {}
        }
        let right = self.expr(frame, &binary.right, &Want::default())?;
        if let Some(op) = assigned(&binary.op) {
            let value = self.computed(frame, span, &op, left, right)?;
            let syn::Expr::Path(path) = &*binary.left else {
                return Err(frame.error(span, "what is assigned to is a name here"));
            };
            let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
            let why = computed(frame, &binary.right).map(|(_, why)| why);
            frame.assign(&name, value, span)?;
            frame.mark(Some(name), why);
            return Ok(Value::Nothing);
        }
        self.computed(frame, span, &binary.op, left, right)
    }

    fn computed(&self, frame: &Frame, span: Span, op: &syn::BinOp, left: Value, right: Value) -> Eval<Value> {
        match (left, right) {
            (Value::Int(left), Value::Int(right)) => integers(op, left, right).ok_or_else(|| {
                frame.error(span, "an integer that does not fit, a division by 0, or no such operator")
            }),
            (Value::Float(left), Value::Float(right)) => floats(op, left, right)
                .ok_or_else(|| frame.error(span, "floating-point numbers have no such operator")),
            (Value::Bool(left), Value::Bool(right)) => {
                truths(op, left, right).ok_or_else(|| frame.error(span, "truth values have no such operator"))
            }
            (left, right) if [&left, &right].iter().any(|own| matches!(own, Value::Condition(_))) => {
                conditions(op, left, right).ok_or_else(|| self.needs_number(frame, span))
            }
            (left, right) => {
                match (affine(&left), affine(&right)) {
                    (Some(left), Some(right)) => indices(op, &left, &right, &self.state.ranges)
                        .ok_or_else(|| self.needs_number(frame, span)),
                    (_, _) => Err(frame
                        .error(span, format!("{} and {} have no such operator", left.kind(), right.kind()))),
                }
            }
        }
    }

    /// Functions of numbers: `x.max(y)`, `n.div_ceil(m)`.
    pub(crate) fn number_method(
        &mut self,
        frame: &mut Frame,
        span: Span,
        (name, of): (&str, Value),
        args: Vec<Value>,
    ) -> Eval<Value> {
        let found = match (&of, &*args) {
            (Value::Int(of), [Value::Int(other)]) => match name {
                "min" => Some(Value::Int(*of.min(other))),
                "max" => Some(Value::Int(*of.max(other))),
                "div_ceil" if *other > 0 => Some(Value::Int((of + other - 1).div_euclid(*other))),
                "pow" => u32::try_from(*other).ok().and_then(|by| of.checked_pow(by)).map(Value::Int),
                "abs_diff" => Some(Value::Int((of - other).abs())),
                "is_multiple_of" if *other > 0 => Some(Value::Bool(of % other == 0)),
                "next_multiple_of" if *other > 0 => {
                    Some(Value::Int((of + other - 1).div_euclid(*other) * other))
                }
                _ => None,
            },
            (Value::Float(of), [Value::Float(other)]) => match name {
                "min" => Some(Value::Float(of.min(*other))),
                "max" => Some(Value::Float(of.max(*other))),
                "powf" => Some(Value::Float(of.powf(*other))),
                _ => None,
            },
            (Value::Float(of), []) => match name {
                "sqrt" => Some(Value::Float(of.sqrt())),
                "recip" => Some(Value::Float(of.recip())),
                "exp" => Some(Value::Float(of.exp())),
                "ln" => Some(Value::Float(of.ln())),
                "abs" => Some(Value::Float(of.abs())),
                "to_f32" | "clone" | "into" => Some(Value::Float(*of)),
                _ => None,
            },
            (Value::Int(of), []) => match name {
                "abs" => Some(Value::Int(of.abs())),
                "trailing_zeros" => Some(Value::Int(of.trailing_zeros().into())),
                "clone" | "into" => Some(Value::Int(*of)),
                _ => None,
            },
            (Value::Array(values), []) => match name {
                "len" => Some(Value::Int(values.len() as i128)),
                "iter" | "into_iter" | "clone" => Some(Value::Array(values.clone())),
                _ => None,
            },
            (Value::Range(start, end), []) if name == "into_iter" => {
                Some(Value::Range(start.clone(), end.clone()))
            }
            (Value::Index(_), _) => return Err(self.needs_number(frame, span)),
            (_, _) => None,
        };
        found.ok_or_else(|| frame.error(span, format!("`{name}` of {} is not read in a kernel", of.kind())))
    }
}

/// An integer in so many bits, as `as` makes it; nothing of a type that is no integer.
fn wrapped(name: &str, number: i128) -> Option<i128> {
    Some(match name {
        "i8" => i128::from(number as i8),
        "i16" => i128::from(number as i16),
        "i32" => i128::from(number as i32),
        "i64" | "isize" => i128::from(number as i64),
        "u8" => i128::from(number as u8),
        "u16" => i128::from(number as u16),
        "u32" => i128::from(number as u32),
        "u64" | "usize" => i128::from(number as u64),
        "i128" => number,
        _ => return None,
    })
}

/// A float as an integer, as `as` makes it: the nearest towards zero, or the last there is.
fn saturated(name: &str, number: f64) -> i128 {
    match name {
        "i8" => (number as i8).into(),
        "i16" => (number as i16).into(),
        "i32" => (number as i32).into(),
        "i64" | "isize" => (number as i64).into(),
        "u8" => (number as u8).into(),
        "u16" => (number as u16).into(),
        "u32" => (number as u32).into(),
        "u64" | "usize" => (number as u64).into(),
        _ => number as i128,
    }
}

/// Numbers that the language names.
fn constant(path: &[String]) -> Option<Value> {
    let [.., of, name] = path else { return None };
    Some(match (of.as_str(), name.as_str()) {
        ("f32", "INFINITY") => Value::Float(f64::INFINITY),
        ("f32", "NEG_INFINITY") => Value::Float(f64::NEG_INFINITY),
        ("f32", "MAX") => Value::Float(f32::MAX.into()),
        ("f32", "MIN") => Value::Float(f32::MIN.into()),
        ("f32", "EPSILON") => Value::Float(f32::EPSILON.into()),
        ("i32", "MAX") => Value::Int(i32::MAX.into()),
        ("i32", "MIN") => Value::Int(i32::MIN.into()),
        ("i8", "MAX") => Value::Int(i8::MAX.into()),
        ("i8", "MIN") => Value::Int(i8::MIN.into()),
        ("consts", "LN_2") => Value::Float(std::f32::consts::LN_2.into()),
        ("consts", "LOG2_E") => Value::Float(std::f32::consts::LOG2_E.into()),
        ("consts", "PI") => Value::Float(std::f32::consts::PI.into()),
        ("consts", "SQRT_2") => Value::Float(std::f32::consts::SQRT_2.into()),
        ("consts", "FRAC_1_SQRT_2") => Value::Float(std::f32::consts::FRAC_1_SQRT_2.into()),
        _ => return None,
    })
}

/// The operator of `+=` and the like.
fn assigned(op: &syn::BinOp) -> Option<syn::BinOp> {
    Some(match op {
        syn::BinOp::AddAssign(_) => syn::BinOp::Add(Default::default()),
        syn::BinOp::SubAssign(_) => syn::BinOp::Sub(Default::default()),
        syn::BinOp::MulAssign(_) => syn::BinOp::Mul(Default::default()),
        syn::BinOp::DivAssign(_) => syn::BinOp::Div(Default::default()),
        syn::BinOp::RemAssign(_) => syn::BinOp::Rem(Default::default()),
        _ => return None,
    })
}

fn integers(op: &syn::BinOp, left: i128, right: i128) -> Option<Value> {
    Some(match op {
        syn::BinOp::Add(_) => Value::Int(left.checked_add(right)?),
        syn::BinOp::Sub(_) => Value::Int(left.checked_sub(right)?),
        syn::BinOp::Mul(_) => Value::Int(left.checked_mul(right)?),
        syn::BinOp::Div(_) => Value::Int(left.checked_div(right)?),
        syn::BinOp::Rem(_) => Value::Int(left.checked_rem(right)?),
        syn::BinOp::BitAnd(_) => Value::Int(left & right),
        syn::BinOp::BitOr(_) => Value::Int(left | right),
        syn::BinOp::BitXor(_) => Value::Int(left ^ right),
        syn::BinOp::Shl(_) => Value::Int(left.checked_mul(1_i128.checked_shl(u32::try_from(right).ok()?)?)?),
        syn::BinOp::Shr(_) => Value::Int(left.checked_shr(u32::try_from(right).ok()?)?),
        syn::BinOp::Eq(_) => Value::Bool(left == right),
        syn::BinOp::Ne(_) => Value::Bool(left != right),
        syn::BinOp::Lt(_) => Value::Bool(left < right),
        syn::BinOp::Le(_) => Value::Bool(left <= right),
        syn::BinOp::Gt(_) => Value::Bool(left > right),
        syn::BinOp::Ge(_) => Value::Bool(left >= right),
        _ => return None,
    })
}

/// Of numbers that are `f32`, a result is one: an operation in `f64` that is rounded is the same (twice as many bits
/// and two more).
fn floats(op: &syn::BinOp, left: f64, right: f64) -> Option<Value> {
    let both = single(left).to_bits() == left.to_bits() && single(right).to_bits() == right.to_bits();
    let float = |number: f64| Value::Float(if both { single(number) } else { number });
    Some(match op {
        syn::BinOp::Add(_) => float(left + right),
        syn::BinOp::Sub(_) => float(left - right),
        syn::BinOp::Mul(_) => float(left * right),
        syn::BinOp::Div(_) => float(left / right),
        syn::BinOp::Lt(_) => Value::Bool(left < right),
        syn::BinOp::Gt(_) => Value::Bool(left > right),
        _ => return None,
    })
}

fn truths(op: &syn::BinOp, left: bool, right: bool) -> Option<Value> {
    Some(Value::Bool(match op {
        syn::BinOp::And(_) | syn::BinOp::BitAnd(_) => left && right,
        syn::BinOp::Or(_) | syn::BinOp::BitOr(_) => left || right,
        syn::BinOp::Eq(_) => left == right,
        syn::BinOp::Ne(_) | syn::BinOp::BitXor(_) => left != right,
        _ => return None,
    }))
}

/// What holds in some iterations, together with what holds in others, or in all, or in none.
fn conditions(op: &syn::BinOp, left: Value, right: Value) -> Option<Value> {
    match (op, left, right) {
        (syn::BinOp::And(_) | syn::BinOp::BitAnd(_), Value::Condition(left), Value::Condition(right)) => {
            left.and(&right).map(truth)
        }
        (syn::BinOp::Or(_) | syn::BinOp::BitOr(_), Value::Condition(left), Value::Condition(right)) => {
            left.or(&right).map(truth)
        }
        (syn::BinOp::And(_) | syn::BinOp::BitAnd(_), Value::Bool(truth), other)
        | (syn::BinOp::And(_) | syn::BinOp::BitAnd(_), other, Value::Bool(truth)) => {
            Some(if truth { other } else { Value::Bool(false) })
        }
        (syn::BinOp::Or(_) | syn::BinOp::BitOr(_), Value::Bool(truth), other)
        | (syn::BinOp::Or(_) | syn::BinOp::BitOr(_), other, Value::Bool(truth)) => {
            Some(if truth { Value::Bool(true) } else { other })
        }
        (_, _, _) => None,
    }
}

/// A condition, or what it is worth where that is known.
fn truth(condition: Condition) -> Value {
    condition.known().map_or_else(|| Value::Condition(condition.into()), Value::Bool)
}

/// What stays a sum of indices, and comparisons of one with a number.
fn indices(op: &syn::BinOp, left: &Affine, right: &Affine, ranges: &Ranges) -> Option<Value> {
    match op {
        syn::BinOp::Add(_) => left.add(right, 1).map(Value::Index),
        syn::BinOp::Sub(_) => left.add(right, -1).map(Value::Index),
        syn::BinOp::Mul(_) => match (left.number(), right.number()) {
            (Some(by), _) => right.times(by).map(Value::Index),
            (None, Some(by)) => left.times(by).map(Value::Index),
            (None, None) => None,
        },
        syn::BinOp::Eq(_)
        | syn::BinOp::Ne(_)
        | syn::BinOp::Lt(_)
        | syn::BinOp::Le(_)
        | syn::BinOp::Ge(_)
        | syn::BinOp::Gt(_) => Condition::compare(op, left, right, ranges).map(truth),
        _ => None,
    }
}

/// The context that a value is, for `begin`.
pub(crate) fn context(value: &Value) -> Option<&'static str> {
    match value {
        Value::Unit(Unit::Main) => Some("main"),
        Value::Unit(Unit::Sub) => Some("sub"),
        _ => None,
    }
}

/// A number as our text has it.
pub(crate) fn number(value: &Value) -> Option<String> {
    match value {
        Value::Int(number) => Some(number.to_string()),
        // The shortest text that is the number.
        Value::Float(number) if single(*number) == *number => Some(format!("{:?}", *number as f32)),
        Value::Float(number) => Some(format!("{number:?}")),
        _ => None,
    }
}
