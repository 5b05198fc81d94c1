//! Functions of floats that the machine does not have, by those that it has.

use crate::import::emit::compare::{self, FloatPredicate};
use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::emit::narrow;
use crate::import::read::types::Kind;
use visa_ir::diag::Diagnostic;
use visa_numerics::Compare;

/// From this number on, each `f32` is an integer: 2^23.
const INTEGERS: f64 = 8_388_608.0;

/// 2 to the power of an element: the exponential of its product with ln 2, which rounds.
pub(crate) fn power_of_two(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let factor = Elem::number(kind, std::f64::consts::LN_2);
    let exponent = emit.apply(Function::Mul, &[elem, &factor], kind)?;
    let power = emit.apply(Function::Exp, &[&exponent], kind)?;
    emit.rounded(power)
}

/// A logarithm to another base, whose natural logarithm is `base`.
pub(crate) fn logarithm(
    emit: &mut Emitter<'_>,
    elem: &Elem,
    base: f64,
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let logarithm = emit.apply(Function::Log, &[elem], kind)?;
    let scaled = emit.apply(Function::Mul, &[&logarithm, &Elem::number(kind, base.recip())], kind)?;
    emit.rounded(scaled)
}

/// The logarithm of 1 + x. Below 1 it is the logarithm of u = 1 + x times x / (u - 1), which repairs the rounding
/// of u.
pub(crate) fn log_plus_one(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let one = Elem::number(Kind::F32, 1.0);
    let x = float(emit, elem)?;
    let u = emit.apply(Function::Add, &[&x, &one], Kind::F32)?;
    let u = emit.built(&u)?;
    let logarithm = emit.apply(Function::Log, &[&u], Kind::F32)?;
    let logarithm = emit.built(&logarithm)?;
    let rounded = emit.apply(Function::Sub, &[&u, &one], Kind::F32)?;
    let scaled = emit.apply(Function::Mul, &[&logarithm, &x], Kind::F32)?;
    let repaired = emit.apply(Function::Div, &[&scaled, &rounded], Kind::F32)?;
    small(emit, &x, [(&u, 1.0, &x)], &repaired, &logarithm, kind)
}

/// The exponential minus 1. Below 1 it is u - 1 times x / log(u), with u = exp(x), which repairs the rounding of u.
pub(crate) fn exp_minus_one(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let one = Elem::number(Kind::F32, 1.0);
    let x = float(emit, elem)?;
    let u = emit.apply(Function::Exp, &[&x], Kind::F32)?;
    let u = emit.built(&u)?;
    let less = emit.apply(Function::Sub, &[&u, &one], Kind::F32)?;
    let less = emit.built(&less)?;
    let logarithm = emit.apply(Function::Log, &[&u], Kind::F32)?;
    let scaled = emit.apply(Function::Mul, &[&less, &x], Kind::F32)?;
    let repaired = emit.apply(Function::Div, &[&scaled, &logarithm], Kind::F32)?;
    small(emit, &x, [(&u, 1.0, &x)], &repaired, &less, kind)
}

/// `repaired` where `x` is between -1 and 1, else `plain`; an exception replaces it where a value equals a number.
fn small(
    emit: &mut Emitter<'_>,
    x: &Elem,
    [(value, number, exception)]: [(&Elem, f64, &Elem); 1],
    repaired: &Elem,
    plain: &Elem,
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let size = emit.apply(Function::Abs, &[x], Kind::F32)?;
    let [size, value, exception, repaired, plain] =
        [&size, value, exception, repaired, plain].map(|elem| emit.value(elem));
    let is_small = emit.compare(size?, &[Compare::Less], 1.0)?;
    let is_exception = emit.compare(value?, &[Compare::Equal], number)?;
    let repaired = emit.choose(is_exception, exception?, repaired?)?;
    let chosen = emit.choose(is_small, repaired, plain?)?;
    emit.rounded(Elem::value(kind, chosen))
}

/// The element as a number or a value of `f32`.
pub(crate) fn float(emit: &mut Emitter<'_>, elem: &Elem) -> Result<Elem, Diagnostic> {
    if let Some(number) = elem.as_number() {
        return Ok(Elem::number(Kind::F32, number));
    }
    let x = emit.computed_value(elem)?;
    Ok(Elem::value(Kind::F32, x))
}

/// The nearest integer as a float; halves are rounded away from zero.
pub(crate) fn nearest(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let x = float(emit, elem)?;
    let size = emit.apply(Function::Abs, &[&x], Kind::F32)?;
    let size = emit.built(&size)?;
    let half = Elem::number(Kind::F32, 0.5);
    // What rounding down leaves tells halves.
    let below = rounding(emit, false, &size, Kind::F32)?;
    let rest = emit.apply(Function::Sub, &[&size, &below], Kind::F32)?;
    let rest = emit.apply(Function::Sub, &[&rest, &half], Kind::F32)?;
    let rest = emit.value(&rest)?;
    let is_less = emit.compare(rest, &[Compare::Less], 0.0)?;
    let above = emit.apply(Function::Add, &[&below, &Elem::number(Kind::F32, 1.0)], Kind::F32)?;
    let (above, below) = (emit.value(&above)?, emit.value(&below)?);
    let rounded = emit.choose(is_less, below, above)?;
    signed(emit, &x, &size, rounded, kind)
}

/// The nearest integer as a float; halves are rounded to even numbers, as a sum with 2^23 does.
pub(crate) fn nearest_even(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let x = float(emit, elem)?;
    let size = emit.apply(Function::Abs, &[&x], Kind::F32)?;
    let size = emit.built(&size)?;
    let integers = Elem::number(Kind::F32, INTEGERS);
    let sum = emit.apply(Function::Add, &[&size, &integers], Kind::F32)?;
    let sum = emit.built(&sum)?;
    let rounded = emit.apply(Function::Sub, &[&sum, &integers], Kind::F32)?;
    let rounded = emit.value(&rounded)?;
    signed(emit, &x, &size, rounded, kind)
}

/// The integer next to an element on the side of zero, as a float.
pub(crate) fn truncated(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let x = float(emit, elem)?;
    let size = emit.apply(Function::Abs, &[&x], Kind::F32)?;
    let size = emit.built(&size)?;
    let rounded = rounding(emit, false, &size, Kind::F32)?;
    let rounded = emit.value(&rounded)?;
    signed(emit, &x, &size, rounded, kind)
}

/// `rounded`, which is made of the size of `x`, with the sign of `x`; `x` itself if it is an integer or NaN.
fn signed(
    emit: &mut Emitter<'_>,
    x: &Elem,
    size: &Elem,
    rounded: visa_ir::module::ValueId,
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let negative = emit.apply(Function::Neg, &[&Elem::value(Kind::F32, rounded)], Kind::F32)?;
    let (size, negative, x) = (emit.value(size)?, emit.value(&negative)?, emit.value(x)?);
    let is_negative = emit.compare(x, &[Compare::Less], 0.0)?;
    let rounded = emit.choose(is_negative, negative, rounded)?;
    let is_small = emit.compare(size, &[Compare::Less], INTEGERS)?;
    let chosen = emit.choose(is_small, rounded, x)?;
    emit.rounded(Elem::value(kind, chosen))
}

/// The size of the first element with the sign of the second one, also that of a zero, but not that of a NaN.
pub(crate) fn with_sign(
    emit: &mut Emitter<'_>,
    [of, sign]: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let of = float(emit, of)?;
    let size = emit.apply(Function::Abs, &[&of], Kind::F32)?;
    let size = emit.built(&size)?;
    let negative = emit.apply(Function::Neg, &[&size], Kind::F32)?;
    // The reciprocal of a zero has its sign.
    let sign = float(emit, sign)?;
    let reciprocal = emit.apply(Function::Div, &[&Elem::number(Kind::F32, 1.0), &sign], Kind::F32)?;
    let signs = [emit.value(&sign)?, emit.value(&reciprocal)?];
    let [below, zero] = signs.map(|value| emit.compare(value, &[Compare::Less], 0.0));
    let (below, zero) = (Elem::value(Kind::I32, below?), Elem::value(Kind::I32, zero?));
    let either = emit.apply(Function::Or, &[&below, &zero], Kind::I32)?;
    let is_negative = emit.value(&either)?;
    let (negative, size) = (emit.value(&negative)?, emit.value(&size)?);
    let chosen = emit.choose(is_negative, negative, size)?;
    emit.rounded(Elem::value(kind, chosen))
}

/// The greatest integer that is not above a float, or the least that is not below it, as a float.
pub(crate) fn rounding(
    emit: &mut Emitter<'_>,
    up: bool,
    elem: &Elem,
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    if let Some(number) = elem.as_number() {
        return emit.rounded(Elem::number(kind, if up { number.ceil() } else { number.floor() }));
    }
    let x = emit.computed(elem)?;
    let x = emit.built(&x)?;
    let width = Elem::number(Kind::I32, 31.0);
    let nearest = emit.apply(Function::Fixed, &[&x, &width], Kind::I32)?;
    let nearest = emit.apply(Function::Float, &[&nearest, &width], kind)?;
    let nearest = emit.built(&nearest)?;
    let past = emit.apply(Function::Sub, &[&nearest, &x], kind)?;
    let past = emit.value(&past)?;
    let beyond = if up { Compare::Less } else { Compare::Greater };
    let past = emit.compare(past, &[beyond], 0.0)?;
    let one = Elem::number(kind, if up { 1.0 } else { -1.0 });
    let next = emit.apply(Function::Add, &[&nearest, &one], kind)?;
    let (next, nearest) = (emit.value(&next)?, emit.value(&nearest)?);
    let rounded = emit.choose(past, next, nearest)?;
    // From 2^23 on every float is an integer; NaN stays NaN.
    let size = emit.apply(Function::Abs, &[&x], kind)?;
    let size = emit.value(&size)?;
    let small = emit.compare(size, &[Compare::Less], f64::from(1 << 23))?;
    let x = emit.value(&x)?;
    let value = emit.choose(small, rounded, x)?;
    emit.rounded(Elem::value(kind, value))
}

/// The remainder of a division, with the sign of the first element: exact for quotients below 2^23.
pub(crate) fn remainder(emit: &mut Emitter<'_>, [x, by]: [&Elem; 2], kind: Kind) -> Result<Elem, Diagnostic> {
    let (x, by) = (float(emit, x)?, float(emit, by)?);
    let [size, by] = [&x, &by].map(|elem| emit.apply(Function::Abs, &[elem], Kind::F32));
    let (size, by) = (emit.built(&size?)?, emit.built(&by?)?);
    let quotient = emit.apply(Function::Div, &[&size, &by], Kind::F32)?;
    let whole = rounding(emit, false, &quotient, Kind::F32)?;
    let negative = emit.apply(Function::Neg, &[&whole], Kind::F32)?;
    let negative = emit.built(&negative)?;
    let rest = emit.apply(Function::Fma, &[&negative, &by, &size], Kind::F32)?;
    let rest = emit.built(&rest)?;
    // The quotient rounds, so that its integer may be one too large, or one too small.
    let more = emit.apply(Function::Add, &[&rest, &by], Kind::F32)?;
    let rest = below(emit, &rest, &more, &rest)?;
    let less = emit.apply(Function::Sub, &[&rest, &by], Kind::F32)?;
    let less = emit.built(&less)?;
    let rest = below(emit, &less, &rest, &less)?;
    // A smaller element is its own remainder, also of an infinity.
    let difference = emit.apply(Function::Sub, &[&size, &by], Kind::F32)?;
    let rest = below(emit, &difference, &size, &rest)?;
    with_sign(emit, [&rest, &x], kind)
}

/// `then` where an element is below 0, else `otherwise`.
fn below(emit: &mut Emitter<'_>, elem: &Elem, then: &Elem, otherwise: &Elem) -> Result<Elem, Diagnostic> {
    let is_below = compare::floats(emit, FloatPredicate::strictly(true, false), elem, &zero())?;
    narrow::select(emit, &[&is_below, then, otherwise], Kind::F32)
}

fn zero() -> Elem {
    Elem::number(Kind::F32, 0.0)
}

/// The sine over the cosine.
pub(crate) fn tangent(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let x = float(emit, elem)?;
    let [sine, cosine] =
        [Function::Sin, Function::Cos].map(|function| emit.apply(function, &[&x], Kind::F32));
    let tangent = emit.apply(Function::Div, &[&sine?, &cosine?], kind)?;
    emit.rounded(tangent)
}

/// 1 minus the error function.
pub(crate) fn rest_of_error_function(
    emit: &mut Emitter<'_>,
    elem: &Elem,
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let function = emit.apply(Function::Erf, &[elem], Kind::F32)?;
    let rest = emit.apply(Function::Sub, &[&Elem::number(Kind::F32, 1.0), &function], kind)?;
    emit.rounded(rest)
}

/// Half of e + e / (e + 1), with e = exp(abs(x)) - 1, with the sign of x.
pub(crate) fn hyperbolic_sine(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let one = Elem::number(Kind::F32, 1.0);
    let x = float(emit, elem)?;
    let size = emit.apply(Function::Abs, &[&x], Kind::F32)?;
    let size = emit.built(&size)?;
    let power = exp_minus_one(emit, &size, Kind::F32)?;
    let next = emit.apply(Function::Add, &[&power, &one], Kind::F32)?;
    let ratio = emit.apply(Function::Div, &[&power, &next], Kind::F32)?;
    // A quotient of infinities is no number, and the minimum is 1.
    let ratio = emit.apply(Function::Min, &[&ratio, &one], Kind::F32)?;
    let sum = emit.apply(Function::Add, &[&power, &ratio], Kind::F32)?;
    let half = emit.apply(Function::Mul, &[&sum, &Elem::number(Kind::F32, 0.5)], Kind::F32)?;
    with_sign(emit, [&half, &x], kind)
}

/// Half of the sum of the exponentials of x and -x.
pub(crate) fn hyperbolic_cosine(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let x = float(emit, elem)?;
    let negative = emit.apply(Function::Neg, &[&x], Kind::F32)?;
    let [power, inverse] = [&x, &negative].map(|elem| emit.apply(Function::Exp, &[elem], Kind::F32));
    let sum = emit.apply(Function::Add, &[&power?, &inverse?], Kind::F32)?;
    let half = emit.apply(Function::Mul, &[&sum, &Elem::number(Kind::F32, 0.5)], kind)?;
    emit.rounded(half)
}

/// From this number on, x and its distance to sqrt(x * x + 1) round to the logarithm of 2 x.
const LARGE: f64 = 4096.0;

/// log(1 + a + a * a / (1 + sqrt(a * a + 1))), with a = abs(x), with the sign of x.
pub(crate) fn inverse_sine(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let one = Elem::number(Kind::F32, 1.0);
    let x = float(emit, elem)?;
    let size = emit.apply(Function::Abs, &[&x], Kind::F32)?;
    let size = emit.built(&size)?;
    let square = emit.apply(Function::Mul, &[&size, &size], Kind::F32)?;
    let square = emit.built(&square)?;
    let next = emit.apply(Function::Add, &[&square, &one], Kind::F32)?;
    let root = emit.apply(Function::Sqrt, &[&next], Kind::F32)?;
    let root = emit.apply(Function::Add, &[&root, &one], Kind::F32)?;
    let ratio = emit.apply(Function::Div, &[&square, &root], Kind::F32)?;
    let sum = emit.apply(Function::Add, &[&size, &ratio], Kind::F32)?;
    let small = log_plus_one(emit, &sum, Kind::F32)?;
    let inverse = or_of_large(emit, &size, &small)?;
    with_sign(emit, [&inverse, &x], kind)
}

/// log(1 + t + sqrt(t * (t + 2))), with t = x - 1.
pub(crate) fn inverse_cosine(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let x = float(emit, elem)?;
    let above = emit.apply(Function::Sub, &[&x, &Elem::number(Kind::F32, 1.0)], Kind::F32)?;
    let above = emit.built(&above)?;
    let next = emit.apply(Function::Add, &[&above, &Elem::number(Kind::F32, 2.0)], Kind::F32)?;
    let product = emit.apply(Function::Mul, &[&above, &next], Kind::F32)?;
    let root = emit.apply(Function::Sqrt, &[&product], Kind::F32)?;
    let sum = emit.apply(Function::Add, &[&above, &root], Kind::F32)?;
    let small = log_plus_one(emit, &sum, Kind::F32)?;
    let inverse = or_of_large(emit, &x, &small)?;
    emit.rounded(inverse.of_kind(kind))
}

/// An element, or the logarithm of twice `x` where that is large.
fn or_of_large(emit: &mut Emitter<'_>, x: &Elem, small: &Elem) -> Result<Elem, Diagnostic> {
    let logarithm = emit.apply(Function::Log, &[x], Kind::F32)?;
    let log_two = Elem::number(Kind::F32, std::f64::consts::LN_2);
    let large = emit.apply(Function::Add, &[&logarithm, &log_two], Kind::F32)?;
    let [x, small, large] = [x, small, &large].map(|elem| emit.value(elem));
    let is_large = emit.compare(x?, &[Compare::Greater], LARGE)?;
    Ok(Elem::value(Kind::F32, emit.choose(is_large, large?, small?)?))
}

/// Half of log(1 + 2 a / (1 - a)), with a = abs(x), with the sign of x.
pub(crate) fn inverse_tangent(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let x = float(emit, elem)?;
    let size = emit.apply(Function::Abs, &[&x], Kind::F32)?;
    let size = emit.built(&size)?;
    let rest = emit.apply(Function::Sub, &[&Elem::number(Kind::F32, 1.0), &size], Kind::F32)?;
    let double = emit.apply(Function::Add, &[&size, &size], Kind::F32)?;
    let ratio = emit.apply(Function::Div, &[&double, &rest], Kind::F32)?;
    let logarithm = log_plus_one(emit, &ratio, Kind::F32)?;
    let half = emit.apply(Function::Mul, &[&logarithm, &Elem::number(Kind::F32, 0.5)], Kind::F32)?;
    with_sign(emit, [&half, &x], kind)
}

/// The exponential of `by` times the logarithm of the size of `x`. A negative `x` has a power with an integer alone,
/// which is negative if that is odd.
pub(crate) fn power(emit: &mut Emitter<'_>, [x, by]: [&Elem; 2], kind: Kind) -> Result<Elem, Diagnostic> {
    let (x, by) = (float(emit, x)?, float(emit, by)?);
    let size = emit.apply(Function::Abs, &[&x], Kind::F32)?;
    let logarithm = emit.apply(Function::Log, &[&size], Kind::F32)?;
    let exponent = emit.apply(Function::Mul, &[&logarithm, &by], Kind::F32)?;
    let power = emit.apply(Function::Exp, &[&exponent], Kind::F32)?;
    let power = emit.built(&power)?;
    let half = emit.apply(Function::Mul, &[&by, &Elem::number(Kind::F32, 0.5)], Kind::F32)?;
    let [fraction, odd] = [&by, &half].map(|number| {
        let whole = rounding(emit, false, number, Kind::F32)?;
        let rest = emit.apply(Function::Sub, &[number, &whole], Kind::F32)?;
        compare::floats(emit, FloatPredicate::strictly(false, true), &rest, &zero())
    });
    let negative = emit.apply(Function::Neg, &[&power], Kind::F32)?;
    let difference = emit.apply(Function::Sub, &[&power, &power], Kind::F32)?;
    let no_number = emit.apply(Function::Div, &[&difference, &difference], Kind::F32)?;
    let of_negative = narrow::select(emit, &[&odd?, &negative, &power], Kind::F32)?;
    let of_negative = narrow::select(emit, &[&fraction?, &no_number, &of_negative], Kind::F32)?;
    let chosen = below(emit, &x, &of_negative, &power)?;
    let equal = FloatPredicate { equal: true, ..FloatPredicate::strictly(false, false) };
    let is_one = compare::floats(emit, equal, &by, &zero())?;
    let power = narrow::select(emit, &[&is_one, &Elem::number(Kind::F32, 1.0), &chosen], Kind::F32)?;
    emit.rounded(power.of_kind(kind))
}
