//! Elements of `f64`. No engine computes in it: operations on numbers that are known here are computed here, and
//! those whose result `f32` has if it has the operands are computed in `f32`. Others are refused.

use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::Emitter;
use crate::import::read::operations::ScalarOp;
use crate::import::read::types::Kind;
use visa_ir::diag::Diagnostic;
use visa_ir::words;

words! {
    /// An operation of known numbers that is computed here, with the one rounding that MLIR specifies.
    enum OfNumbers: ScalarOp {
        AddF, SubF, MulF, DivF, Sqrt, NegF, AbsF, MaximumF, MinimumF, MaxNumF, MinNumF, CmpF, ExtF, TruncF, SIToFP,
        UIToFP,
    }
}

words! {
    /// An operation whose result `f32` has if it has the operands.
    enum Exact: ScalarOp {
        Constant, NegF, AbsF, MaximumF, MinimumF, MaxNumF, MinNumF, ClampF, CmpF, Select, ExtF, TruncF, SIToFP, UIToFP,
        FPToSI, FPToUI, IsNan, IsInf, IsFinite, Floor, Ceil, Round, RoundEven, Trunc, CopySign,
    }
}

/// The greatest number up to which `f32` has all integers.
const INTEGERS: i64 = 1 << 24;

/// An operation on elements without `f64`: its operands, and the kind of its result.
pub(crate) struct Single {
    pub(crate) args: Vec<Elem>,
    pub(crate) kind: Kind,
}

/// The operands of an operation, and the kind in which it is computed, without `f64`.
///
/// # Errors
/// An operation that computes in `f64`, and numbers that `f32` lacks.
pub(crate) fn single(
    emit: &Emitter<'_>,
    read: ScalarOp,
    args: &[Elem],
    kind: Kind,
) -> Result<Single, Diagnostic> {
    let is_double = kind == Kind::F64 || args.iter().any(|arg| arg.kind == Kind::F64);
    let are_numbers = args.iter().all(|arg| arg.as_number().is_some());
    if !is_double || are_numbers && (OfNumbers::of(read).is_some() || args.is_empty()) {
        return Ok(Single { args: args.to_vec(), kind });
    }
    if Exact::of(read).is_none() {
        return Err(emit.double());
    }
    for arg in args.iter().filter(|arg| kind == Kind::F64 && !arg.kind.is_float()) {
        let largest = arg.range.0.saturating_abs().max(arg.range.1.saturating_abs());
        if largest > INTEGERS {
            let message = format!(
                "converts integers up to {largest} to `f64`; expected at most {INTEGERS}, as `f32` has"
            );
            return Err(emit.refuse(message).fix("convert them to `f32`".to_owned()));
        }
    }
    // Elements that are rounded to `f32` already are not rounded twice.
    let rounds_alike = read == ScalarOp::TruncF && kind == Kind::F32;
    let args = args.iter().map(|arg| if rounds_alike { Ok(arg.clone()) } else { exact(emit, arg) });
    let args = args.map(|arg| Ok(in_single(arg?))).collect::<Result<_, Diagnostic>>()?;
    Ok(Single { args, kind: if kind == Kind::F64 { Kind::F32 } else { kind } })
}

/// An element of `f64` under the kind `f32`; others are the same.
fn in_single(elem: Elem) -> Elem {
    let kind = if elem.kind == Kind::F64 { Kind::F32 } else { elem.kind };
    Elem { inexact: false, ..elem.of_kind(kind) }
}

/// The element, if `f32` has it.
///
/// # Errors
/// Numbers of `f64` that `f32` lacks.
fn exact(emit: &Emitter<'_>, elem: &Elem) -> Result<Elem, Diagnostic> {
    let is_rounded = elem.as_number().is_some_and(|number| !is_single(number));
    if elem.kind != Kind::F64 || !(is_rounded || elem.inexact) {
        return Ok(elem.clone());
    }
    let found = elem.as_number().map_or("elements".to_owned(), |number| format!("the number {number}"));
    let message = format!("reads {found} of `f64`, and computes in `f32`, which lacks them");
    Err(emit.refuse(message).fix("truncate them to `f32` first, by `arith.truncf`".to_owned()))
}

/// Returns true if `f32` has a number.
pub(crate) fn is_single(number: f64) -> bool {
    number.is_nan() || f64::from(number as f32) == number
}
