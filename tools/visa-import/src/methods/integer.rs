//! Methods of integers, each by the native type: the results of Rust, with Rust's types.
#![expect(
    clippy::unnecessary_cast,
    reason = "`native!` has one expression for all types, of which some need no cast"
)]

use super::{HostCall, panics};
use crate::eval::{Eval, Frame};
use crate::integer::{Int, IntTy, in_native, native};
use crate::value::Value;

/// Methods whose result does not depend on the width of the type, as long as the type holds it.
const OF_ANY_WIDTH: &[&str] = &[
    "abs",
    "abs_diff",
    "clamp",
    "clone",
    "cmp",
    "div_ceil",
    "div_euclid",
    "into",
    "is_multiple_of",
    "is_power_of_two",
    "max",
    "min",
    "next_multiple_of",
    "next_power_of_two",
    "pow",
    "rem_euclid",
    "signum",
];

/// Evaluates an expression in which `$t` is the native type of a signed, or of an unsigned, integer. A number of the
/// toolchain's is not negative where it is taken for an unsigned one: the caller looks.
macro_rules! of_sign {
    (signed $ty:expr, $t:ident => $body:expr) => {
        in_native!(
            $ty, $t => $body;
            I8 as i8, I16 as i16, I32 as i32, I64 as i64, I128 | Toolchain as i128, Isize as isize;
            else U8 | U16 | U32 | U64 | U128 | Usize => None
        )
    };
    (unsigned $ty:expr, $t:ident => $body:expr) => {
        in_native!(
            $ty, $t => $body;
            U8 as u8, U16 as u16, U32 as u32, U64 as u64, U128 | Toolchain as u128, Usize as usize;
            else I8 | I16 | I32 | I64 | I128 | Isize => None
        )
    };
}

/// The value of a method; `None` if integers have none of that name that is read.
pub(super) fn method(frame: &Frame, of: Int, call: &HostCall<'_>) -> Eval<Option<Value>> {
    let args = call.plain();
    let ints: Option<Vec<Int>> = args
        .iter()
        .map(|arg| match arg {
            Value::Int(own) => Some(*own),
            _ => None,
        })
        .collect();
    let Some(ints) = ints else { return Ok(None) };
    if let ("clone" | "into", []) = (call.name, &*ints) {
        return Ok(Some(Value::Int(of)));
    }
    let of_type = ints.iter().find_map(|own| (own.ty != IntTy::Toolchain).then_some(own.ty));
    let same_type = !matches!(call.name, "pow");
    let of = match (of.ty, of_type.filter(|_| same_type)) {
        (IntTy::Toolchain, Some(ty)) => of.cast(ty),
        (_, _) => of,
    };
    if of.ty == IntTy::Toolchain && !OF_ANY_WIDTH.contains(&call.name) {
        let message = format!("`{}` of a number whose type follows from the toolchain alone", call.name);
        return Err(frame.error(call.span, message));
    }
    let found = of_both(of, call.name, &ints)
        .or_else(|| of_signed(of, call.name, &ints))
        .or_else(|| of_unsigned(of, call.name, &ints));
    match found {
        Some(Some(Value::Int(own)))
            if own.ty == IntTy::Toolchain && i32::try_from(own.bits() as i128).is_err() =>
        {
            Err(frame.error(call.span, format!("`{}` of a number whose type is not known", call.name)))
        }
        Some(Some(value)) => Ok(Some(value)),
        Some(None) => Err(panics(frame, call.span, call.name)),
        None => Ok(None),
    }
}

/// The value, or an inner `None` where Rust panics.
type Found = Option<Option<Value>>;

fn int<T>(ty: IntTy, number: T, bits: impl Fn(T) -> u128) -> Value {
    Value::Int(Int::wrapped(ty, bits(number)))
}

fn of_both(of: Int, name: &str, args: &[Int]) -> Found {
    let ty = of.ty;
    native!(ty, T => {
        let own = of.bits() as T;
        let value = |number: T| int(ty, number, |number| number as u128);
        let some = |number: T| Some(Some(value(number)));
        let option = |number: Option<T>| Some(Some(Value::option(number.map(value))));
        let word = |number: u32| Some(Some(Value::Int(Int::word(number))));
        let words = |number: Option<u32>| {
            Some(Some(Value::option(number.map(|own| Value::Int(Int::word(own))))))
        };
        let both = |(number, truth): (T, bool)| Some(Some(Value::Tuple(vec![value(number), Value::Bool(truth)])));
        match args {
            [] => match name {
                "count_ones" => word(own.count_ones()),
                "count_zeros" => word(own.count_zeros()),
                "leading_zeros" => word(own.leading_zeros()),
                "trailing_zeros" => word(own.trailing_zeros()),
                "leading_ones" => word(own.leading_ones()),
                "trailing_ones" => word(own.trailing_ones()),
                "swap_bytes" => some(own.swap_bytes()),
                "reverse_bits" => some(own.reverse_bits()),
                "to_be" => some(own.to_be()),
                "to_le" => some(own.to_le()),
                "wrapping_neg" => some(own.wrapping_neg()),
                "checked_neg" => option(own.checked_neg()),
                "overflowing_neg" => both(own.overflowing_neg()),
                "isqrt" => Some((own >= 0 as T).then(|| value(own.isqrt()))),
                "ilog2" => Some(own.checked_ilog2().map(|own| Value::Int(Int::word(own)))),
                "ilog10" => Some(own.checked_ilog10().map(|own| Value::Int(Int::word(own)))),
                "checked_ilog2" => words(own.checked_ilog2()),
                "checked_ilog10" => words(own.checked_ilog10()),
                _ => None,
            },
            [one] => of_two((of, name, *one), own, one.bits() as T),
            [low, high] if name == "clamp" => {
                let (low, high) = (low.bits() as T, high.bits() as T);
                Some((low <= high).then(|| value(own.clamp(low, high))))
            }
            _ => None,
        }
    })
}

/// The numbers of a native type that a method of two needs.
trait Native: Copy {
    fn of_two(of: Int, name: &str, by: Option<u32>, own: Self, other: Self) -> Found;
}

fn of_two<T: Native>((of, name, arg): (Int, &str, Int), own: T, other: T) -> Found {
    let by = arg.number().and_then(|by| u32::try_from(by).ok());
    let of_words = matches!(name.rsplit('_').next(), Some("shl" | "shr" | "pow" | "left" | "right"));
    if !of_words && of.ty.common(arg.ty).is_none() {
        return None;
    }
    T::of_two(of, name, by, own, other)
}

macro_rules! native_of_two {
    ($($t:ty)*) => {$(
        impl Native for $t {
            fn of_two(of: Int, name: &str, by: Option<u32>, own: Self, other: Self) -> Found {
                let value = |number: Self| int(of.ty, number, |number| number as u128);
                let some = |number: Self| Some(Some(value(number)));
                let option = |number: Option<Self>| Some(Some(Value::option(number.map(value))));
                let both = |(number, truth): (Self, bool)| {
                    Some(Some(Value::Tuple(vec![value(number), Value::Bool(truth)])))
                };
                match name {
                    "min" => some(own.min(other)),
                    "max" => some(own.max(other)),
                    "cmp" => Some(Some(super::option::order(own.cmp(&other)))),
                    "partial_cmp" => Some(Some(Value::option(Some(super::option::order(own.cmp(&other)))))),
                    "eq" => Some(Some(Value::Bool(own == other))),
                    "ne" => Some(Some(Value::Bool(own != other))),
                    "abs_diff" => Some(Some(int(of.ty.unsigned(), own.abs_diff(other), |number| number as u128))),
                    "wrapping_add" => some(own.wrapping_add(other)),
                    "wrapping_sub" => some(own.wrapping_sub(other)),
                    "wrapping_mul" => some(own.wrapping_mul(other)),
                    "wrapping_div" => Some((other != 0).then(|| value(own.wrapping_div(other)))),
                    "wrapping_rem" => Some((other != 0).then(|| value(own.wrapping_rem(other)))),
                    "wrapping_div_euclid" => Some((other != 0).then(|| value(own.wrapping_div_euclid(other)))),
                    "wrapping_rem_euclid" => Some((other != 0).then(|| value(own.wrapping_rem_euclid(other)))),
                    "checked_add" => option(own.checked_add(other)),
                    "checked_sub" => option(own.checked_sub(other)),
                    "checked_mul" => option(own.checked_mul(other)),
                    "checked_div" => option(own.checked_div(other)),
                    "checked_rem" => option(own.checked_rem(other)),
                    "checked_div_euclid" => option(own.checked_div_euclid(other)),
                    "checked_rem_euclid" => option(own.checked_rem_euclid(other)),
                    "saturating_add" => some(own.saturating_add(other)),
                    "saturating_sub" => some(own.saturating_sub(other)),
                    "saturating_mul" => some(own.saturating_mul(other)),
                    "saturating_div" => Some((other != 0).then(|| value(own.saturating_div(other)))),
                    "overflowing_add" => both(own.overflowing_add(other)),
                    "overflowing_sub" => both(own.overflowing_sub(other)),
                    "overflowing_mul" => both(own.overflowing_mul(other)),
                    "div_euclid" => Some(own.checked_div_euclid(other).map(value)),
                    "rem_euclid" => Some(own.checked_rem_euclid(other).map(value)),
                    "ilog" => Some(own.checked_ilog(other).map(|own| Value::Int(Int::word(own)))),
                    _ => {
                        let by = by?;
                        match name {
                            "pow" => Some(own.checked_pow(by).map(value)),
                            "wrapping_pow" => some(own.wrapping_pow(by)),
                            "checked_pow" => option(own.checked_pow(by)),
                            "saturating_pow" => some(own.saturating_pow(by)),
                            "overflowing_pow" => both(own.overflowing_pow(by)),
                            "wrapping_shl" => some(own.wrapping_shl(by)),
                            "wrapping_shr" => some(own.wrapping_shr(by)),
                            "checked_shl" => option(own.checked_shl(by)),
                            "checked_shr" => option(own.checked_shr(by)),
                            "overflowing_shl" => both(own.overflowing_shl(by)),
                            "overflowing_shr" => both(own.overflowing_shr(by)),
                            "unbounded_shl" => some(own.checked_shl(by).unwrap_or_default()),
                            "rotate_left" => some(own.rotate_left(by)),
                            "rotate_right" => some(own.rotate_right(by)),
                            _ => None,
                        }
                    }
                }
            }
        }
    )*};
}

native_of_two!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

fn of_signed(of: Int, name: &str, args: &[Int]) -> Found {
    let ty = of.ty;
    if !args.is_empty() {
        return None;
    }
    of_sign!(signed ty, T => {
        let own = of.bits() as T;
        let value = |number: T| int(ty, number, |number| number as u128);
        let some = |number: T| Some(Some(value(number)));
        match name {
            "abs" => Some(own.checked_abs().map(value)),
            "signum" => some(own.signum()),
            "wrapping_abs" => some(own.wrapping_abs()),
            "saturating_abs" => some(own.saturating_abs()),
            "saturating_neg" => some(own.saturating_neg()),
            "checked_abs" => Some(Some(Value::option(own.checked_abs().map(value)))),
            "overflowing_abs" => {
                let (number, truth) = own.overflowing_abs();
                Some(Some(Value::Tuple(vec![value(number), Value::Bool(truth)])))
            }
            "unsigned_abs" | "cast_unsigned" => {
                let number = if name == "unsigned_abs" { own.unsigned_abs() as u128 } else { own as u128 };
                Some(Some(Value::Int(Int::wrapped(ty.unsigned(), number))))
            }
            "is_negative" => Some(Some(Value::Bool(own.is_negative()))),
            "is_positive" => Some(Some(Value::Bool(own.is_positive()))),
            _ => None,
        }
    })
}

fn of_unsigned(of: Int, name: &str, args: &[Int]) -> Found {
    let ty = of.ty;
    if ty == IntTy::Toolchain && [of].iter().chain(args).any(|own| (own.bits() as i128) < 0) {
        return None;
    }
    of_sign!(unsigned ty, T => {
        let own = of.bits() as T;
        let value = |number: T| int(ty, number, |number| number as u128);
        match (name, args) {
            ("is_power_of_two", []) => Some(Some(Value::Bool(own.is_power_of_two()))),
            ("next_power_of_two", []) => Some(own.checked_next_power_of_two().map(value)),
            ("checked_next_power_of_two", []) => {
                Some(Some(Value::option(own.checked_next_power_of_two().map(value))))
            }
            ("cast_signed", []) => Some(Some(Value::Int(of.cast(ty.signed())))),
            (_, [other]) => {
                ty.common(other.ty)?;
                let other = other.bits() as T;
                match name {
                    "div_ceil" => Some((other != 0).then(|| value(own.div_ceil(other)))),
                    "is_multiple_of" => Some(Some(Value::Bool(own.is_multiple_of(other)))),
                    "next_multiple_of" => Some(own.checked_next_multiple_of(other).map(value)),
                    "checked_next_multiple_of" => {
                        Some(Some(Value::option(own.checked_next_multiple_of(other).map(value))))
                    }
                    _ => None,
                }
            }
            (_, _) => None,
        }
    })
}
