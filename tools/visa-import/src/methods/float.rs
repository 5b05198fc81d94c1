//! Methods of floating-point numbers, each in its own format.

use super::HostCall;
use crate::integer::{Int, IntTy};
use crate::value::{Float, Value};

/// The value of a method; `None` if floats have none of that name that is read.
pub(super) fn method(of: Float, call: &HostCall<'_>) -> Option<Value> {
    let args = call.plain();
    let name = call.name;
    macro_rules! of_format {
        ($own:expr, $format:ident, $bits:path) => {{
            let own = $own;
            let float = |number| Some(Value::Float(Float::$format(number)));
            let truth = |truth| Some(Value::Bool(truth));
            match &*args {
                [] => match name {
                    "clone" | "into" | "to_f32" => float(own),
                    "abs" => float(own.abs()),
                    "sqrt" => float(own.sqrt()),
                    "recip" => float(own.recip()),
                    "exp" => float(own.exp()),
                    "exp2" => float(own.exp2()),
                    "ln" => float(own.ln()),
                    "log2" => float(own.log2()),
                    "log10" => float(own.log10()),
                    "sin" => float(own.sin()),
                    "cos" => float(own.cos()),
                    "tan" => float(own.tan()),
                    "tanh" => float(own.tanh()),
                    "floor" => float(own.floor()),
                    "ceil" => float(own.ceil()),
                    "round" => float(own.round()),
                    "round_ties_even" => float(own.round_ties_even()),
                    "trunc" => float(own.trunc()),
                    "fract" => float(own.fract()),
                    "signum" => float(own.signum()),
                    "is_nan" => truth(own.is_nan()),
                    "is_finite" => truth(own.is_finite()),
                    "is_infinite" => truth(own.is_infinite()),
                    "is_normal" => truth(own.is_normal()),
                    "is_sign_negative" => truth(own.is_sign_negative()),
                    "is_sign_positive" => truth(own.is_sign_positive()),
                    "to_bits" => Some(Value::Int(Int::wrapped($bits, own.to_bits().into()))),
                    _ => None,
                },
                [Value::Float(Float::$format(other))] => match name {
                    "min" => float(own.min(*other)),
                    "max" => float(own.max(*other)),
                    "powf" => float(own.powf(*other)),
                    "copysign" => float(own.copysign(*other)),
                    "rem_euclid" => float(own.rem_euclid(*other)),
                    "div_euclid" => float(own.div_euclid(*other)),
                    "hypot" => float(own.hypot(*other)),
                    "log" => float(own.log(*other)),
                    _ => None,
                },
                [Value::Int(by)] if name == "powi" => float(own.powi(i32::try_from(by.number()?).ok()?)),
                [Value::Float(Float::$format(one)), Value::Float(Float::$format(other))] => match name {
                    "mul_add" => float(own.mul_add(*one, *other)),
                    "clamp" if one <= other => float(own.clamp(*one, *other)),
                    _ => None,
                },
                _ => None,
            }
        }};
    }
    match of {
        Float::F32(own) => of_format!(own, F32, IntTy::U32),
        Float::F64(own) => of_format!(own, F64, IntTy::U64),
    }
}
