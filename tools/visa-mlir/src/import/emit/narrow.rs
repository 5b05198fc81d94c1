//! Elements that other operations are built of: one of two, and integers with fewer bits or without a sign.

use crate::import::emit::elem::{Data, Elem, Unequal};
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::read::types::Kind;
use visa_ir::diag::Diagnostic;

/// An integer read without a sign.
///
/// # Errors
/// Integers of 32 bits or more that may be negative.
pub(crate) fn unsigned(emit: &mut Emitter<'_>, elem: &Elem) -> Result<Elem, Diagnostic> {
    if elem.range.0 >= 0 {
        return emit.computed(elem);
    }
    let mask = match elem.kind {
        Kind::I4 => 15,
        Kind::I8 => 255,
        Kind::I16 => 65_535,
        Kind::F64
        | Kind::F32
        | Kind::F16
        | Kind::Bf16
        | Kind::F8e4m3
        | Kind::F8e5m2
        | Kind::I64
        | Kind::I32
        | Kind::I1
        | Kind::Index => {
            return Err(emit.refuse(
                "reads a number that may be negative without its sign, and the machine's `i32` has one",
            ));
        }
    };
    let ones = Elem::number(Kind::I32, f64::from(mask));
    let wide = elem.clone().of_kind(elem.kind);
    let elem = emit.apply(Function::And, &[&wide, &ones], Kind::I32)?;
    Ok(elem.with_range((0, i64::from(mask))))
}

/// An integer with fewer bits.
pub(crate) fn truncated(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let elem = emit.computed(elem)?;
    let limits = kind.range();
    let inside = limits.0 <= elem.range.0 && elem.range.1 <= limits.1;
    let range = if inside { elem.range } else { limits };
    if kind == Kind::I1 && !inside {
        let one = Elem::number(Kind::I32, 1.0);
        return Ok(emit.apply(Function::And, &[&elem, &one], kind)?.with_range((0, 1)));
    }
    emit.rounded(Elem { narrow: None, ..elem.of_kind(kind) }.with_range(range))
}

/// One of two elements.
pub(crate) fn select(emit: &mut Emitter<'_>, args: &[&Elem], kind: Kind) -> Result<Elem, Diagnostic> {
    let (condition, then, otherwise) = (args[0], args[1], args[2]);
    if let Some(known) = condition.as_number() {
        return Ok(if known != 0.0 { then } else { otherwise }.clone());
    }
    // An element that nothing has written may be the other one.
    match (&then.data, &otherwise.data) {
        (Data::Undefined, _) => return Ok(otherwise.clone()),
        (_, Data::Undefined) => return Ok(then.clone()),
        (
            Data::Value(_) | Data::Number(_) | Data::Term(..),
            Data::Value(_) | Data::Number(_) | Data::Term(..),
        ) => {}
    }
    let condition = emit.built(condition)?;
    let condition = emit.computed_value(&condition)?;
    let (condition, then, otherwise) = match emit.unequal(condition) {
        Some(Unequal::Number(number)) => (number, then, otherwise),
        Some(Unequal::Condition(equal)) => (equal, otherwise, then),
        None => (condition, then, otherwise),
    };
    let [then, otherwise] = [emit.not_a_number(then, otherwise)?, emit.not_a_number(otherwise, then)?];
    let (then, otherwise) = (&then, &otherwise);
    // Elements in their stored format stay in it, unless the other one is computed.
    let (mut left, mut right) = (emit.value(then)?, emit.value(otherwise)?);
    if emit.dtype(left)? != emit.dtype(right)? {
        (left, right) = (emit.computed_value(then)?, emit.computed_value(otherwise)?);
    }
    let value = emit.choose(condition, left, right)?;
    let range = (then.range.0.min(otherwise.range.0), then.range.1.max(otherwise.range.1));
    Ok(Elem::value(kind, value).with_range(range))
}
