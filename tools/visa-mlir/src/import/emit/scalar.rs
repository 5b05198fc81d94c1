//! Operations of arith and math on elements.

use crate::import::emit::compare::{self, FloatPredicate, IntegerPredicate};
use crate::import::emit::elem::{Data, Elem, Narrow, Unequal};
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::emit::{functions, integers};
use crate::import::read::attributes::{name, number};
use crate::import::read::operations::{self, ScalarOp};
use crate::import::read::types::Kind;
use melior::ir::ValueLike as _;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::diag::Diagnostic;
use visa_numerics::DType;

/// The largest exponent that becomes products.
const MAX_POWER: i64 = 16;

/// The element that an operation on elements computes.
///
/// # Errors
/// An operation without a counterpart, by name.
pub(crate) fn scalar(
    emit: &mut Emitter<'_>,
    op: OperationRef<'_, '_>,
    args: &[Elem],
) -> Result<Elem, Diagnostic> {
    let name = name(op);
    let Some(read) = operations::known(op) else {
        return Err(emit.refuse(format!("`{name}` is not imported: the tensor level has no function for it")));
    };
    let result = op.result(0).map_err(|_| emit.refuse(format!("`{name}` has no result")))?;
    let kind = Kind::of(result.r#type()).map_err(|why| emit.refuse(format!("`{name}`: {why}")))?;
    let all: Vec<&Elem> = args.iter().collect();
    match read {
        ScalarOp::Constant => constant(emit, op, kind),
        ScalarOp::AddF => applied(emit, Function::Add, &all, kind),
        ScalarOp::SubF => applied(emit, Function::Sub, &all, kind),
        ScalarOp::MulF => applied(emit, Function::Mul, &all, kind),
        ScalarOp::DivF => applied(emit, Function::Div, &all, kind),
        ScalarOp::NegF => applied(emit, Function::Neg, &all, kind),
        ScalarOp::AbsF => applied(emit, Function::Abs, &all, kind),
        ScalarOp::MaximumF | ScalarOp::MaxNumF | ScalarOp::MaxSI => applied(emit, Function::Max, &all, kind),
        ScalarOp::MinimumF | ScalarOp::MinNumF | ScalarOp::MinSI => applied(emit, Function::Min, &all, kind),
        ScalarOp::Exp => applied(emit, Function::Exp, &all, kind),
        ScalarOp::Exp2 => functions::power_of_two(emit, all[0], kind),
        ScalarOp::ExpM1 => functions::exp_minus_one(emit, all[0], kind),
        ScalarOp::Log => applied(emit, Function::Log, &all, kind),
        ScalarOp::Log2 => functions::logarithm(emit, all[0], std::f64::consts::LN_2, kind),
        ScalarOp::Log10 => functions::logarithm(emit, all[0], std::f64::consts::LN_10, kind),
        ScalarOp::Log1p => functions::log_plus_one(emit, all[0], kind),
        ScalarOp::Sqrt => applied(emit, Function::Sqrt, &all, kind),
        ScalarOp::Rsqrt => applied(emit, Function::Rsqrt, &all, kind),
        ScalarOp::Tanh => applied(emit, Function::Tanh, &all, kind),
        ScalarOp::Erf => applied(emit, Function::Erf, &all, kind),
        ScalarOp::Sin => applied(emit, Function::Sin, &all, kind),
        ScalarOp::Cos => applied(emit, Function::Cos, &all, kind),
        ScalarOp::Fma => applied(emit, Function::Fma, &all, kind),
        ScalarOp::AddI => integer(emit, (&name, Function::Add), &all, kind),
        ScalarOp::SubI => difference(emit, &name, &all, kind),
        ScalarOp::MulI => integer(emit, (&name, Function::Mul), &all, kind),
        ScalarOp::AndI => integer(emit, (&name, Function::And), &all, kind),
        ScalarOp::OrI => integer(emit, (&name, Function::Or), &all, kind),
        ScalarOp::XOrI => integer(emit, (&name, Function::Xor), &all, kind),
        ScalarOp::ShLI => integer(emit, (&name, Function::Shl), &all, kind),
        ScalarOp::ShRSI => integer(emit, (&name, Function::Ashr), &all, kind),
        ScalarOp::ShRUI => {
            natural(emit, &name, &all)?;
            Ok(emit.apply(Function::Lshr, &all, kind)?.with_range((0, all[0].range.1)))
        }
        ScalarOp::MaxUI => integers::unsigned_extreme(emit, Function::Max, [all[0], all[1]], kind),
        ScalarOp::MinUI => integers::unsigned_extreme(emit, Function::Min, [all[0], all[1]], kind),
        ScalarOp::RemSI => integers::remainder(emit, &name, [all[0], all[1]], kind),
        ScalarOp::DivSI => integers::quotient(emit, &name, [all[0], all[1]], kind),
        ScalarOp::RemUI | ScalarOp::DivUI => {
            natural(emit, &name, &all)?;
            let is_quotient = read == ScalarOp::DivUI;
            let divide = if is_quotient { integers::quotient } else { integers::remainder };
            divide(emit, &name, [all[0], all[1]], kind)
        }
        ScalarOp::FloorDivSI => integers::floor(emit, &name, [all[0], all[1]], kind),
        ScalarOp::CmpF => {
            let predicate = predicate(op).and_then(FloatPredicate::of);
            let predicate = predicate.ok_or_else(|| emit.refuse("`arith.cmpf` has no predicate"))?;
            compare::floats(emit, predicate, all[0], all[1])
        }
        ScalarOp::CmpI => {
            let predicate = predicate(op).and_then(IntegerPredicate::of);
            let predicate = predicate.ok_or_else(|| emit.refuse("`arith.cmpi` has no predicate"))?;
            compare::integers(emit, predicate, all[0], all[1])
        }
        ScalarOp::Select => select(emit, &all, kind),
        ScalarOp::ExtF => Ok(emit.computed(all[0])?.of_kind(kind)),
        ScalarOp::TruncF => {
            let elem = emit.computed(all[0])?.of_kind(kind);
            emit.rounded(Elem { narrow: None, ..elem })
        }
        ScalarOp::SIToFP => float(emit, all[0], kind),
        ScalarOp::UIToFP => {
            let elem = unsigned(emit, &name, all[0])?;
            float(emit, &elem, kind)
        }
        ScalarOp::FPToSI => toward_zero(emit, all[0], kind),
        ScalarOp::ExtSI | ScalarOp::IndexCast | ScalarOp::IndexCastUI => {
            let elem = emit.computed(all[0])?;
            fits(emit, &name, elem, kind)
        }
        ScalarOp::ExtUI => Ok(unsigned(emit, &name, all[0])?.of_kind(kind)),
        ScalarOp::TruncI => truncated(emit, all[0], kind),
        ScalarOp::Bitcast => bits(emit, all[0], kind),
        ScalarOp::AbsI => {
            let zero = Elem::number(kind, 0.0);
            let negative = emit.apply(Function::Sub, &[&zero, all[0]], kind)?;
            let elem = emit.apply(Function::Max, &[all[0], &negative], kind)?;
            emit.rounded(elem)
        }
        ScalarOp::PowF | ScalarOp::FPowI => power(emit, &name, &all, kind),
        ScalarOp::Floor => functions::rounding(emit, false, all[0], kind),
        ScalarOp::Ceil => functions::rounding(emit, true, all[0], kind),
        ScalarOp::Round => functions::nearest(emit, all[0], kind),
        ScalarOp::RoundEven => functions::nearest_even(emit, all[0], kind),
        ScalarOp::Trunc => functions::truncated(emit, all[0], kind),
        ScalarOp::CopySign => functions::with_sign(emit, [all[0], all[1]], kind),
    }
}

fn constant(emit: &Emitter<'_>, op: OperationRef<'_, '_>, kind: Kind) -> Result<Elem, Diagnostic> {
    let value = op.attribute("value").ok().and_then(number);
    value
        .map(|number| Elem::number(kind, number))
        .ok_or_else(|| emit.refuse("the value of `arith.constant` is no number".to_owned()))
}

/// A function with the same arguments, whose result rounds as the machine rounds it.
fn applied(
    emit: &mut Emitter<'_>,
    function: Function,
    args: &[&Elem],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let range = bounds(function, args);
    let elem = emit.apply(function, args, kind)?;
    emit.rounded(elem.with_range(range.unwrap_or(kind.range())))
}

fn bounds(function: Function, args: &[&Elem]) -> Option<(i64, i64)> {
    function.bounds(&args.iter().map(|arg| arg.range).collect::<Vec<_>>())
}

fn predicate(op: OperationRef<'_, '_>) -> Option<i64> {
    let attribute = op.attribute("predicate").ok()?;
    IntegerAttribute::try_from(attribute).ok().map(|integer| integer.value())
}

/// A function of integers. `i32` wraps as the machine does; wider integers have to fit `i32`.
fn integer(
    emit: &mut Emitter<'_>,
    (name, function): (&str, Function),
    args: &[&Elem],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let exact = bounds(function, args);
    let elem = emit.apply(function, args, kind)?;
    let limits = kind.range();
    let inside = exact.filter(|exact| limits.0 <= exact.0 && exact.1 <= limits.1);
    if inside.is_none() && matches!(kind, Kind::I64 | Kind::Index) {
        return Err(emit.refuse(format!(
            "`{name}` computes in `{}`, and its results may exceed `i32`, which the machine computes in",
            if kind == Kind::I64 { "i64" } else { "index" }
        )));
    }
    emit.rounded(elem.with_range(inside.unwrap_or(limits)))
}

/// A difference of integers. One of a narrow value and a number stays narrow, with the number as its zero point.
fn difference(emit: &mut Emitter<'_>, name: &str, args: &[&Elem], kind: Kind) -> Result<Elem, Diagnostic> {
    let (Some(narrow), Some(point)) = (args[0].narrow, args[1].as_number()) else {
        return integer(emit, (name, Function::Sub), args, kind);
    };
    let range = bounds(Function::Sub, args).unwrap_or(kind.range());
    let elem = emit.apply(Function::Sub, args, kind)?.with_range(range);
    let narrow = Narrow { point: narrow.point + point as i64, ..narrow };
    Ok(Elem { narrow: Some(narrow), ..fits(emit, name, elem, kind)? })
}

/// An element whose range is inside of a kind.
fn fits(emit: &Emitter<'_>, name: &str, elem: Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let limits = kind.range();
    if limits.0 <= elem.range.0 && elem.range.1 <= limits.1 || elem.as_number().is_some() {
        return Ok(elem.of_kind(kind));
    }
    Err(emit.refuse(format!("`{name}` may leave the numbers of its result type")))
}

/// An integer read without a sign.
fn unsigned(emit: &mut Emitter<'_>, name: &str, elem: &Elem) -> Result<Elem, Diagnostic> {
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
            return Err(emit.refuse(format!("`{name}` of a number that may be negative: `i32` has a sign")));
        }
    };
    let ones = Elem::number(Kind::I32, f64::from(mask));
    let wide = elem.clone().of_kind(elem.kind);
    let elem = emit.apply(Function::And, &[&wide, &ones], Kind::I32)?;
    Ok(elem.with_range((0, i64::from(mask))))
}

/// Refuses numbers that may be negative.
pub(crate) fn natural(emit: &Emitter<'_>, name: &str, args: &[&Elem]) -> Result<(), Diagnostic> {
    if args.iter().any(|arg| arg.range.0 < 0) {
        return Err(emit.refuse(format!("`{name}` of numbers that may be negative is not imported")));
    }
    Ok(())
}

/// An integer with fewer bits.
fn truncated(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
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

/// An integer as a float.
fn float(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    if let Some(number) = elem.as_number() {
        return emit.rounded(Elem::number(kind, number));
    }
    let width = Elem::number(Kind::I32, 31.0);
    let elem = emit.apply(Function::Float, &[elem, &width], kind)?;
    emit.rounded(elem)
}

/// One of two elements.
pub(crate) fn select(emit: &mut Emitter<'_>, args: &[&Elem], kind: Kind) -> Result<Elem, Diagnostic> {
    let (condition, then, otherwise) = (args[0], args[1], args[2]);
    if let Some(known) = condition.as_number() {
        return Ok(if known != 0.0 { then } else { otherwise }.clone());
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
    if emit.dtype(left) != emit.dtype(right) {
        (left, right) = (emit.computed_value(then)?, emit.computed_value(otherwise)?);
    }
    let value = emit.choose(condition, left, right)?;
    let range = (then.range.0.min(otherwise.range.0), then.range.1.max(otherwise.range.1));
    Ok(Elem::value(kind, value).with_range(range))
}

/// The bits of an element as another kind of the same size.
fn bits(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let value = emit.value(elem)?;
    let (from, to) = (emit.dtype(value), kind.stored());
    match to {
        Some(to) if from == to => Ok(Elem::value(kind, value)),
        Some(to @ (DType::F32 | DType::I32)) if matches!(from, DType::F32 | DType::I32) => {
            Ok(Elem::value(kind, emit.cast_bits(value, to)?))
        }
        Some(_) | None => Err(emit.refuse("`arith.bitcast` is imported between `i32` and `f32`")),
    }
}

/// A power with a constant exponent, as products.
fn power(emit: &mut Emitter<'_>, name: &str, args: &[&Elem], kind: Kind) -> Result<Elem, Diagnostic> {
    if let (Some(base), None) = (args[0].as_number().filter(|&base| base > 0.0), args[1].as_number()) {
        let factor = Elem::number(kind, base.ln());
        let exponent = emit.apply(Function::Mul, &[args[1], &factor], kind)?;
        return applied(emit, Function::Exp, &[&exponent], kind);
    }
    let exponent = args[1].as_number();
    let whole = exponent.filter(|by| by.fract() == 0.0 && by.abs() <= MAX_POWER as f64).map(|by| by as i64);
    let one = Elem::number(kind, 1.0);
    let raised = match (whole, exponent) {
        (Some(0), _) => one,
        (Some(by), _) => {
            let base = emit.built(args[0])?;
            let raised = product(emit, &base, by.unsigned_abs(), kind)?;
            if by > 0 { raised } else { emit.apply(Function::Div, &[&one, &raised], kind)? }
        }
        (None, Some(0.5)) => emit.apply(Function::Sqrt, &[args[0]], kind)?,
        (None, Some(-0.5)) => emit.apply(Function::Rsqrt, &[args[0]], kind)?,
        (None, Some(by)) if by.fract() != 0.0 && by.is_finite() => {
            let logarithm = emit.apply(Function::Log, &[args[0]], kind)?;
            let exponent = emit.apply(Function::Mul, &[&logarithm, &Elem::number(kind, by)], kind)?;
            emit.apply(Function::Exp, &[&exponent], kind)?
        }
        (None, _) => {
            return Err(emit.refuse(format!(
                "`{name}` is imported for a positive constant base, and for constant exponents: integers up to \
                 {MAX_POWER}, and fractions"
            )));
        }
    };
    emit.rounded(raised)
}

/// `base` to the power `by`, which is at least 1: squares first, so that few products round.
fn product(emit: &mut Emitter<'_>, base: &Elem, by: u64, kind: Kind) -> Result<Elem, Diagnostic> {
    if by == 1 {
        return Ok(base.clone());
    }
    let half = product(emit, base, by / 2, kind)?;
    let half = if by > 3 { emit.built(&half)? } else { half };
    let square = emit.apply(Function::Mul, &[&half, &half], kind)?;
    if by.is_multiple_of(2) { Ok(square) } else { emit.apply(Function::Mul, &[&square, base], kind) }
}

/// A float as the integer next to it on the side of zero.
fn toward_zero(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    if elem.range == (0, 1) && elem.kind == Kind::I1 {
        return Ok(elem.clone().of_kind(kind));
    }
    let x = emit.computed(elem)?.of_kind(Kind::F32);
    let x = emit.built(&x)?;
    let size = emit.apply(Function::Abs, &[&x], Kind::F32)?;
    let size = functions::rounding(emit, false, &size, Kind::F32)?;
    let width = Elem::number(Kind::I32, 31.0);
    let size = emit.apply(Function::Fixed, &[&size, &width], Kind::I32)?;
    let size = emit.built(&size)?;
    let zero = Elem::number(Kind::I32, 0.0);
    let negative = emit.apply(Function::Sub, &[&zero, &size], Kind::I32)?;
    let x = emit.value(&x)?;
    let below = emit.compare(x, &[visa_numerics::Compare::Less], 0.0)?;
    let (negative, size) = (emit.value(&negative)?, emit.value(&size)?);
    let value = emit.choose(below, negative, size)?;
    let elem = Elem { kind, data: Data::Value(value), range: Kind::I32.range(), narrow: None };
    truncated(emit, &elem, kind)
}
