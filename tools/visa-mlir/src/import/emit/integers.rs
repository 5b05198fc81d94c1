//! Functions of integers that the machine does not have: quotients, remainders, and extremes without signs.

use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::read::types::Kind;
use visa_ir::diag::Diagnostic;
use visa_numerics::Compare;

/// Most bits of a number that is divided by another divisor than a power of two: its product with the reciprocal,
/// which has one more, is an `i32`.
const MOST_DIVIDED_BITS: u32 = 15;

/// A divisor, which is a positive number.
fn divisor(emit: &Emitter<'_>, name: &str, elem: &Elem) -> Result<i64, Diagnostic> {
    let number = elem.as_number().filter(|&by| by >= 1.0).map(|by| by as i64);
    number.ok_or_else(|| {
        emit.refuse(format!(
            "`{name}` is imported for divisors that are positive constants: the machine does not divide integers"
        ))
    })
}

/// The quotient of a number that is not negative, rounded down.
fn natural_quotient(emit: &mut Emitter<'_>, name: &str, elem: &Elem, by: i64) -> Result<Elem, Diagnostic> {
    let (least, most) = elem.range;
    let range = (least / by, most / by);
    if by.count_ones() == 1 {
        let digits = Elem::number(Kind::I32, f64::from(by.trailing_zeros()));
        return Ok(emit.apply(Function::Ashr, &[elem, &digits], Kind::I32)?.with_range(range));
    }
    let bits = 64 - most.leading_zeros();
    if bits > MOST_DIVIDED_BITS {
        return Err(emit.refuse(format!(
            "`{name}` by {by} of numbers up to {most}: divisors that are no powers of two are imported for numbers \
             below 2^{MOST_DIVIDED_BITS}"
        )));
    }
    // A reciprocal with this many digits is exact for each number of so few bits.
    let digits = bits + (64 - by.leading_zeros());
    let reciprocal = (1_i64 << digits) / by + 1;
    let product =
        emit.apply(Function::Mul, &[elem, &Elem::number(Kind::I32, reciprocal as f64)], Kind::I32)?;
    let digits = Elem::number(Kind::I32, f64::from(digits));
    Ok(emit.apply(Function::Ashr, &[&product, &digits], Kind::I32)?.with_range(range))
}

/// The quotient that is rounded toward zero.
///
/// # Errors
/// A divisor that is no positive constant, and large numbers divided by another one than a power of two.
pub(crate) fn quotient(
    emit: &mut Emitter<'_>,
    name: &str,
    [elem, by]: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let by = divisor(emit, name, by)?;
    if elem.range.0 >= 0 {
        return Ok(natural_quotient(emit, name, elem, by)?.of_kind(kind));
    }
    let elem = emit.built(elem)?;
    let zero = Elem::number(Kind::I32, 0.0);
    let (least, most) = elem.range;
    if by.count_ones() == 1 {
        // Negative numbers are rounded up: those that are no multiples become the next one first.
        let sign = emit.apply(Function::Ashr, &[&elem, &Elem::number(Kind::I32, 31.0)], Kind::I32)?;
        let rest =
            emit.apply(Function::And, &[&sign, &Elem::number(Kind::I32, (by - 1) as f64)], Kind::I32)?;
        let raised = emit.apply(Function::Add, &[&elem, &rest], Kind::I32)?;
        let digits = Elem::number(Kind::I32, f64::from(by.trailing_zeros()));
        let quotient = emit.apply(Function::Ashr, &[&raised, &digits], kind)?;
        return Ok(quotient.with_range((least / by, most / by)));
    }
    let negative = emit.apply(Function::Sub, &[&zero, &elem], Kind::I32)?;
    let size = emit.apply(Function::Max, &[&elem, &negative], Kind::I32)?;
    let size = size.with_range((0, most.max(least.saturating_neg())));
    let size = natural_quotient(emit, name, &size, by)?;
    let size = emit.built(&size)?;
    let negative = emit.apply(Function::Sub, &[&zero, &size], Kind::I32)?;
    let value = emit.computed_value(&elem)?;
    let below = emit.compare(value, &[Compare::Less], 0.0)?;
    let (negative, size) = (emit.value(&negative)?, emit.value(&size)?);
    let chosen = emit.choose(below, negative, size)?;
    Ok(Elem::value(kind, chosen).with_range((least / by, most / by)))
}

/// The quotient that is rounded down.
///
/// # Errors
/// Those of [`quotient`].
pub(crate) fn floor(
    emit: &mut Emitter<'_>,
    name: &str,
    [elem, by]: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let number = divisor(emit, name, by)?;
    let (least, most) = elem.range;
    if number.count_ones() == 1 {
        let digits = number.trailing_zeros();
        let shift = Elem::number(Kind::I32, f64::from(digits));
        let shifted = emit.apply(Function::Ashr, &[elem, &shift], kind)?;
        return Ok(shifted.with_range((least >> digits, most >> digits)));
    }
    if least >= 0 {
        return Ok(natural_quotient(emit, name, elem, number)?.of_kind(kind));
    }
    // A multiple of the divisor makes the number positive.
    let multiples = least.div_euclid(number).saturating_neg();
    let raise = Elem::number(Kind::I32, multiples.saturating_mul(number) as f64);
    let above = emit.apply(Function::Add, &[elem, &raise], Kind::I32)?;
    let above = above.with_range((0, most.saturating_sub(multiples.saturating_mul(-number))));
    let quotient = natural_quotient(emit, name, &above, number)?;
    let lowered =
        emit.apply(Function::Sub, &[&quotient, &Elem::number(Kind::I32, multiples as f64)], kind)?;
    Ok(lowered.with_range((least.div_euclid(number), most.div_euclid(number))))
}

/// The remainder, which has the sign of the number.
///
/// # Errors
/// Those of [`quotient`].
pub(crate) fn remainder(
    emit: &mut Emitter<'_>,
    name: &str,
    [elem, by]: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let number = divisor(emit, name, by)?;
    if elem.range.0 >= 0 && number.count_ones() == 1 {
        let ones = Elem::number(Kind::I32, (number - 1) as f64);
        let rest = emit.apply(Function::And, &[elem, &ones], kind)?;
        return Ok(rest.with_range((0, elem.range.1.min(number - 1))));
    }
    let elem = emit.built(elem)?;
    let whole = quotient(emit, name, [&elem, by], Kind::I32)?;
    let multiple =
        emit.apply(Function::Mul, &[&whole, &Elem::number(Kind::I32, number as f64)], Kind::I32)?;
    let rest = emit.apply(Function::Sub, &[&elem, &multiple], kind)?;
    let least = if elem.range.0 < 0 { 1 - number } else { 0 };
    Ok(rest.with_range((least, if elem.range.1 < 0 { 0 } else { number - 1 })))
}

/// A maximum or minimum of integers without signs: with another sign, they have the order of integers with signs.
///
/// # Errors
/// Those of the operations that it takes.
pub(crate) fn unsigned_extreme(
    emit: &mut Emitter<'_>,
    function: Function,
    args: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let ranges = args.map(|arg| arg.range);
    if ranges.iter().all(|range| range.0 >= 0) {
        let range = function.bounds(&ranges).unwrap_or(kind.range());
        return Ok(emit.apply(function, &args, kind)?.with_range(range));
    }
    let both = [turned(emit, args[0])?, turned(emit, args[1])?];
    let extreme = emit.apply(function, &[&both[0], &both[1]], Kind::I32)?.of_kind(kind);
    let elem = turned(emit, &extreme)?.of_kind(kind).with_range(kind.range());
    emit.rounded(elem)
}

/// An integer with its sign turned, so that numbers without signs have the order of those with signs. Turned twice, it
/// is the same.
///
/// # Errors
/// Those of the operations that it takes.
pub(crate) fn turned(emit: &mut Emitter<'_>, elem: &Elem) -> Result<Elem, Diagnostic> {
    let sign = Elem::number(Kind::I32, elem.kind.range().0 as f64);
    Ok(emit.apply(Function::Xor, &[elem, &sign], Kind::I32)?.with_range(Kind::I32.range()))
}
