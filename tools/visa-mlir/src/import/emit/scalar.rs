//! Operations of arith and math on elements.

use crate::import::emit::arcs;
use crate::import::emit::compare::{self, FloatPredicate, IntegerPredicate};
use crate::import::emit::counts::{self, Counted};
use crate::import::emit::double::{self, Single};
use crate::import::emit::elem::{Elem, Narrow};
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::emit::functions;
use crate::import::emit::integers::{self, Part};
use crate::import::emit::narrow::{select, truncated, unsigned};
use crate::import::read::attributes::{name, number};
use crate::import::read::operations::{self, ScalarOp};
use crate::import::read::types::Kind;
use melior::ir::ValueLike as _;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::diag::Diagnostic;
use visa_ir::words;
use visa_numerics::{Compare, DType};

/// The largest exponent that becomes products.
const MAX_POWER: i64 = 16;
/// The weight of the sign bit of `i32`, as a float.
const SIGN_WEIGHT: f64 = 2_147_483_648.0;

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
        let message = format!("`{name}` is not imported: the tensor level has no function for it");
        return Err(emit.refuse(message).fix(operations::fix(&name).map(str::to_owned)));
    };
    let result = op.result(0).map_err(|_| emit.refuse(format!("`{name}` has no result")))?;
    let kind = Kind::of(result.r#type()).map_err(|why| emit.refuse(format!("`{name}`: {why}")))?;
    let single = double::single(emit, read, args, kind)?;
    let elem = computed(emit, op, read, &single)?;
    if kind != Kind::F64 || elem.kind == Kind::F64 {
        return Ok(elem);
    }
    Ok(emit.built(&elem)?.of_kind(kind))
}

/// The element that an operation computes, of operands that are not `f64` unless they are numbers.
fn computed(
    emit: &mut Emitter<'_>,
    op: OperationRef<'_, '_>,
    read: ScalarOp,
    Single { args, kind }: &Single,
) -> Result<Elem, Diagnostic> {
    let (all, kind): (Vec<&Elem>, Kind) = (args.iter().collect(), *kind);
    match read {
        ScalarOp::Constant => constant(emit, op, kind),
        ScalarOp::AddF => applied(emit, Function::Add, &all, kind),
        ScalarOp::SubF => applied(emit, Function::Sub, &all, kind),
        ScalarOp::MulF => applied(emit, Function::Mul, &all, kind),
        ScalarOp::DivF => applied(emit, Function::Div, &all, kind),
        ScalarOp::NegF => applied(emit, Function::Neg, &all, kind),
        ScalarOp::AbsF => applied(emit, Function::Abs, &all, kind),
        ScalarOp::RemF => functions::remainder(emit, [all[0], all[1]], kind),
        ScalarOp::MaximumF | ScalarOp::MaxNumF => applied(emit, Function::Max, &all, kind),
        ScalarOp::MinimumF | ScalarOp::MinNumF => applied(emit, Function::Min, &all, kind),
        ScalarOp::ClampF => {
            let least = applied(emit, Function::Max, &[all[0], all[1]], kind)?;
            applied(emit, Function::Min, &[&least, all[2]], kind)
        }
        // A condition that holds is -1 in operations with signs.
        ScalarOp::MaxSI if kind == Kind::I1 => integer(emit, Function::And, &all, kind),
        ScalarOp::MinSI if kind == Kind::I1 => integer(emit, Function::Or, &all, kind),
        ScalarOp::MaxSI => applied(emit, Function::Max, &all, kind),
        ScalarOp::MinSI => applied(emit, Function::Min, &all, kind),
        ScalarOp::Exp => applied(emit, Function::Exp, &all, kind),
        ScalarOp::Exp2 => functions::power_of_two(emit, all[0], kind),
        ScalarOp::ExpM1 => functions::exp_minus_one(emit, all[0], kind),
        ScalarOp::Log => applied(emit, Function::Log, &all, kind),
        ScalarOp::Log2 => functions::logarithm(emit, all[0], std::f64::consts::LN_2, kind),
        ScalarOp::Log10 => functions::logarithm(emit, all[0], std::f64::consts::LN_10, kind),
        ScalarOp::Log1p => functions::log_plus_one(emit, all[0], kind),
        ScalarOp::Sqrt => applied(emit, Function::Sqrt, &all, kind),
        ScalarOp::Rsqrt => applied(emit, Function::Rsqrt, &all, kind),
        ScalarOp::Sinh => functions::hyperbolic_sine(emit, all[0], kind),
        ScalarOp::Cosh => functions::hyperbolic_cosine(emit, all[0], kind),
        ScalarOp::Asinh => functions::inverse_sine(emit, all[0], kind),
        ScalarOp::Acosh => functions::inverse_cosine(emit, all[0], kind),
        ScalarOp::Atanh => functions::inverse_tangent(emit, all[0], kind),
        ScalarOp::Tanh => applied(emit, Function::Tanh, &all, kind),
        ScalarOp::Erf => applied(emit, Function::Erf, &all, kind),
        ScalarOp::Erfc => functions::rest_of_error_function(emit, all[0], kind),
        ScalarOp::Sin => applied(emit, Function::Sin, &all, kind),
        ScalarOp::Cos => applied(emit, Function::Cos, &all, kind),
        ScalarOp::Asin => arcs::arc_of_sine(emit, all[0], kind),
        ScalarOp::Acos => arcs::arc_of_cosine(emit, all[0], kind),
        ScalarOp::Atan => arcs::arc_of_tangent(emit, all[0], kind),
        ScalarOp::Atan2 => arcs::arc_of_point(emit, [all[0], all[1]], kind),
        ScalarOp::Cbrt => arcs::cube_root(emit, all[0], kind),
        ScalarOp::Tan => functions::tangent(emit, all[0], kind),
        ScalarOp::Fma => applied(emit, Function::Fma, &all, kind),
        // Sums and differences of one bit wrap.
        ScalarOp::AddI | ScalarOp::SubI if kind == Kind::I1 => integer(emit, Function::Xor, &all, kind),
        ScalarOp::AddI => integer(emit, Function::Add, &all, kind),
        ScalarOp::SubI => difference(emit, &all, kind),
        ScalarOp::MulI => integer(emit, Function::Mul, &all, kind),
        ScalarOp::AndI => integer(emit, Function::And, &all, kind),
        ScalarOp::OrI => integer(emit, Function::Or, &all, kind),
        ScalarOp::XOrI => integer(emit, Function::Xor, &all, kind),
        // One bit is shifted by 0 alone.
        ScalarOp::ShLI | ScalarOp::ShRSI | ScalarOp::ShRUI if kind == Kind::I1 => Ok(all[0].clone()),
        ScalarOp::ShLI => integer(emit, Function::Shl, &all, kind),
        ScalarOp::ShRSI => integer(emit, Function::Ashr, &all, kind),
        ScalarOp::ShRUI => integers::shifted(emit, [all[0], all[1]], kind),
        ScalarOp::MaxUI => integers::unsigned_extreme(emit, Function::Max, [all[0], all[1]], kind),
        ScalarOp::MinUI => integers::unsigned_extreme(emit, Function::Min, [all[0], all[1]], kind),
        ScalarOp::RemSI => integers::remainder(emit, [all[0], all[1]], kind),
        ScalarOp::DivSI => integers::quotient(emit, [all[0], all[1]], kind),
        ScalarOp::RemUI => integers::unsigned(emit, Part::Remainder, [all[0], all[1]], kind),
        ScalarOp::DivUI => integers::unsigned(emit, Part::Quotient, [all[0], all[1]], kind),
        ScalarOp::FloorDivSI => integers::floor(emit, [all[0], all[1]], kind),
        ScalarOp::CeilDivSI => integers::ceiling(emit, [all[0], all[1]], kind),
        ScalarOp::CeilDivUI => integers::unsigned(emit, Part::Ceiling, [all[0], all[1]], kind),
        ScalarOp::CmpF => {
            let predicate = predicate(op).and_then(FloatPredicate::of);
            let predicate = predicate.ok_or_else(|| emit.refuse("`arith.cmpf` has no predicate"))?;
            compare::floats(emit, predicate, all[0], all[1])
        }
        ScalarOp::CmpI => {
            let predicate = predicate(op).and_then(IntegerPredicate::of);
            let predicate = predicate.ok_or_else(|| emit.refuse("`arith.cmpi` has no predicate"))?;
            let is_condition = op.operands().next().is_some_and(|operand| is_condition(operand.r#type()));
            let predicate = if is_condition { predicate.of_conditions() } else { predicate };
            compare::integers(emit, predicate, all[0], all[1])
        }
        ScalarOp::Select => select(emit, &all, kind),
        ScalarOp::ExtF => Ok(emit.computed(all[0])?.of_kind(kind)),
        ScalarOp::TruncF => {
            check_rounding(emit, op, kind)?;
            let elem = emit.computed(all[0])?.of_kind(kind);
            emit.rounded(Elem { narrow: None, ..elem })
        }
        ScalarOp::SIToFP => {
            let elem = signed(emit, all[0])?;
            float(emit, &elem, kind)
        }
        ScalarOp::UIToFP => {
            let elem = unsigned(emit, all[0])?;
            float(emit, &elem, kind)
        }
        ScalarOp::FPToSI => toward_zero(emit, all[0], kind),
        ScalarOp::FPToUI => without_sign(emit, all[0], kind),
        ScalarOp::ExtSI | ScalarOp::IndexCast => {
            let elem = signed(emit, all[0])?;
            fits(emit, elem, kind)
        }
        ScalarOp::ExtUI => Ok(unsigned(emit, all[0])?.of_kind(kind)),
        ScalarOp::IndexCastUI => {
            let elem = unsigned(emit, all[0])?;
            fits(emit, elem, kind)
        }
        ScalarOp::TruncI => truncated(emit, all[0], kind),
        ScalarOp::Bitcast => bits(emit, all[0], kind),
        ScalarOp::AbsI => {
            let zero = Elem::number(kind, 0.0);
            let negative = emit.apply(Function::Sub, &[&zero, all[0]], kind)?;
            let elem = emit.apply(Function::Max, &[all[0], &negative], kind)?;
            emit.rounded(elem)
        }
        ScalarOp::Ctlz => counts::bits(emit, Counted::Leading, all[0], kind),
        ScalarOp::Cttz => counts::bits(emit, Counted::Trailing, all[0], kind),
        ScalarOp::Ctpop => counts::bits(emit, Counted::Set, all[0], kind),
        ScalarOp::PowF | ScalarOp::FPowI => power(emit, &all, kind),
        ScalarOp::IPowI => integer_power(emit, &all, kind),
        ScalarOp::IsNan => compare::is_not_a_number(emit, all[0]),
        ScalarOp::IsInf => compare::size_is(emit, Compare::Equal, all[0]),
        ScalarOp::IsFinite => compare::size_is(emit, Compare::Less, all[0]),
        ScalarOp::IsNormal => compare::is_normal(emit, all[0]),
        ScalarOp::Floor => functions::rounding(emit, false, all[0], kind),
        ScalarOp::Ceil => functions::rounding(emit, true, all[0], kind),
        ScalarOp::Round => functions::nearest(emit, all[0], kind),
        ScalarOp::RoundEven => functions::nearest_even(emit, all[0], kind),
        ScalarOp::Trunc => functions::truncated(emit, all[0], kind),
        ScalarOp::CopySign => functions::with_sign(emit, [all[0], all[1]], kind),
    }
}

words! {
    /// A rounding of `arith.truncf`.
    enum Rounding {
        ToNearestEven = "to_nearest_even",
        Downward = "downward",
        Upward = "upward",
        TowardZero = "toward_zero",
        ToNearestAway = "to_nearest_away",
    }
}

impl Rounding {
    /// The rounding of this number in MLIR.
    fn of(number: f64) -> Option<Self> {
        match number as i64 {
            0 => Some(Self::ToNearestEven),
            1 => Some(Self::Downward),
            2 => Some(Self::Upward),
            3 => Some(Self::TowardZero),
            4 => Some(Self::ToNearestAway),
            _ => None,
        }
    }

    /// The rounding of the machine to a kind.
    fn of_machine(kind: Kind) -> Self {
        match kind {
            Kind::F8e5m2 => Self::ToNearestAway,
            Kind::F64
            | Kind::F32
            | Kind::F16
            | Kind::Bf16
            | Kind::F8e4m3
            | Kind::I64
            | Kind::I32
            | Kind::I16
            | Kind::I8
            | Kind::I4
            | Kind::I1
            | Kind::Index => Self::ToNearestEven,
        }
    }
}

/// Checks that a conversion with an explicit rounding has that of the machine.
fn check_rounding(emit: &Emitter<'_>, op: OperationRef<'_, '_>, kind: Kind) -> Result<(), Diagnostic> {
    let Some(number) = op.attribute("roundingmode").ok().and_then(number) else { return Ok(()) };
    let (found, expected) = (Rounding::of(number), Rounding::of_machine(kind));
    if found == Some(expected) {
        return Ok(());
    }
    let found = found.map_or_else(|| format!("mode {number}"), |found| format!("`{found}`"));
    let message = format!("rounds by {found}; expected `{expected}`, as the machine rounds to this type");
    Err(emit.refuse(message).fix("leave out the rounding".to_owned()))
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
    function: Function,
    args: &[&Elem],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let exact = bounds(function, args);
    let elem = emit.apply(function, args, kind)?;
    let limits = kind.range();
    let inside = exact.filter(|exact| limits.0 <= exact.0 && exact.1 <= limits.1);
    if inside.is_none() && matches!(kind, Kind::I64 | Kind::Index) {
        return Err(emit.refuse(format!(
            "it computes in `{}`, and its results may exceed `i32`, which the machine computes in",
            if kind == Kind::I64 { "i64" } else { "index" }
        )));
    }
    emit.rounded(elem.with_range(inside.unwrap_or(limits)))
}

/// A difference of integers. One of a narrow value and a number stays narrow, with the number as its zero point.
fn difference(emit: &mut Emitter<'_>, args: &[&Elem], kind: Kind) -> Result<Elem, Diagnostic> {
    let (Some(narrow), Some(point)) = (args[0].narrow, args[1].as_number()) else {
        return integer(emit, Function::Sub, args, kind);
    };
    let range = bounds(Function::Sub, args).unwrap_or(kind.range());
    let elem = emit.apply(Function::Sub, args, kind)?.with_range(range);
    let narrow = Narrow { point: narrow.point + point as i64, ..narrow };
    Ok(Elem { narrow: Some(narrow), ..fits(emit, elem, kind)? })
}

/// An element whose range is inside of a kind.
fn fits(emit: &Emitter<'_>, elem: Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let limits = kind.range();
    if limits.0 <= elem.range.0 && elem.range.1 <= limits.1 || elem.as_number().is_some() {
        return Ok(elem.of_kind(kind));
    }
    Err(emit.refuse("its result may leave the numbers of its type"))
}

/// Returns true for the type of a condition.
fn is_condition(ty: melior::ir::Type<'_>) -> bool {
    Kind::of(ty) == Ok(Kind::I1)
}

/// An integer read with a sign: a condition that holds is -1.
fn signed(emit: &mut Emitter<'_>, elem: &Elem) -> Result<Elem, Diagnostic> {
    if elem.kind != Kind::I1 {
        return emit.computed(elem);
    }
    let zero = Elem::number(Kind::I32, 0.0);
    let negative = emit.apply(Function::Sub, &[&zero, elem], Kind::I32)?;
    Ok(negative.with_range((-elem.range.1, -elem.range.0)))
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

/// The bits of an element as another kind of the same size.
fn bits(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let value = emit.value(elem)?;
    let (from, to) = (emit.dtype(value)?, kind.stored());
    match to {
        Some(to) if from == to => Ok(Elem::value(kind, value)),
        Some(to @ (DType::F32 | DType::I32)) if matches!(from, DType::F32 | DType::I32) => {
            Ok(Elem::value(kind, emit.cast_bits(value, to)?))
        }
        Some(_) | None => Err(emit.refuse("`arith.bitcast` is imported between `i32` and `f32`")),
    }
}

/// A power with a constant exponent, as products.
fn power(emit: &mut Emitter<'_>, args: &[&Elem], kind: Kind) -> Result<Elem, Diagnostic> {
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
            // A number has no power by NaN or by an infinity here, and any power by a number that is computed.
            let is_number = exponent.is_none_or(f64::is_finite);
            if !is_number || !args[1].kind.is_float() {
                return Err(emit.refuse(format!(
                    "an exponent is imported if it is a float, or a constant integer up to {MAX_POWER}"
                )));
            }
            return functions::power(emit, [args[0], args[1]], kind);
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
    let below = emit.compare(x, &[Compare::Less], 0.0)?;
    let (negative, size) = (emit.value(&negative)?, emit.value(&size)?);
    let value = emit.choose(below, negative, size)?;
    let elem = Elem::value(kind, value).with_range(Kind::I32.range());
    truncated(emit, &elem, kind)
}

/// A float that is at least 0 as an integer without a sign, rounded toward zero.
fn without_sign(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    if kind.range().1 < i64::from(i32::MAX) {
        return toward_zero(emit, elem, kind);
    }
    // Numbers from 2^31 on are those below it with another sign.
    let half = Elem::number(Kind::F32, SIGN_WEIGHT);
    let x = emit.computed(elem)?.of_kind(Kind::F32);
    let x = emit.built(&x)?;
    let rest = emit.apply(Function::Sub, &[&x, &half], Kind::F32)?;
    let x_value = emit.value(&x)?;
    let is_large = emit.compare(x_value, &[Compare::Greater, Compare::Equal], SIGN_WEIGHT)?;
    let rest = emit.value(&rest)?;
    let small = emit.choose(is_large, rest, x_value)?;
    let number = toward_zero(emit, &Elem::value(Kind::F32, small), Kind::I32)?;
    let number = emit.built(&number)?;
    let turned = integers::turned(emit, &number)?;
    let (turned, number) = (emit.value(&turned)?, emit.value(&number)?);
    Ok(Elem::value(kind, emit.choose(is_large, turned, number)?))
}

/// A power of an integer with a constant exponent, as products, which wrap.
fn integer_power(emit: &mut Emitter<'_>, args: &[&Elem], kind: Kind) -> Result<Elem, Diagnostic> {
    let by = args[1].as_number().filter(|by| (0.0..=MAX_POWER as f64).contains(by)).map(|by| by as u64);
    let Some(by) = by.filter(|_| kind != Kind::I64 && kind != Kind::Index) else {
        return Err(emit.refuse(format!(
            "an integer exponent is imported if it is a constant from 0 to {MAX_POWER}, and the base has 32 bits or \
             fewer"
        )));
    };
    if by == 0 {
        return Ok(Elem::number(kind, 1.0));
    }
    let base = emit.built(args[0])?;
    let raised = product(emit, &base, by, Kind::I32)?.of_kind(kind).with_range(Kind::I32.range());
    truncated(emit, &raised, kind)
}
