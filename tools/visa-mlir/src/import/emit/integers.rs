//! Functions of integers that the machine does not have: quotients, remainders, and extremes without signs.

use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::emit::narrow;
use crate::import::read::types::Kind;
use visa_ir::diag::Diagnostic;
use visa_numerics::Compare;

/// Most bits of a number that is divided by another divisor than a power of two: its product with the reciprocal,
/// which has one more, is an `i32`.
const MOST_DIVIDED_BITS: u32 = 15;

/// Fewest bits of a number that a step of a long division takes in.
const LEAST_STEP: u32 = 3;

/// A part of a division of integers that are read without their sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The quotient, rounded down.
    Quotient,
    /// The remainder.
    Remainder,
    /// The quotient, rounded up.
    Ceiling,
}

/// A divisor: a constant of `i32` that is not 0.
fn divisor(emit: &Emitter<'_>, elem: &Elem) -> Result<i64, Diagnostic> {
    let number = elem.as_number().map(|by| by as i64);
    number.filter(|by| *by != 0 && i32::try_from(*by).is_ok()).ok_or_else(|| {
        emit.refuse(
            "is imported for divisors that are constants of `i32` other than 0: the machine does not divide integers",
        )
    })
}

fn number(number: i64) -> Elem {
    Elem::number(Kind::I32, number as f64)
}

/// The number of binary digits of a natural number.
fn digits(number: i64) -> u32 {
    i64::BITS - number.leading_zeros()
}

fn negated(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let range = (elem.range.1.saturating_neg(), elem.range.0.saturating_neg());
    Ok(emit.apply(Function::Sub, &[&number(0), elem], kind)?.with_range(range))
}

/// The quotient of a number that is not negative, rounded down.
fn natural_quotient(emit: &mut Emitter<'_>, elem: &Elem, by: i64) -> Result<Elem, Diagnostic> {
    let (least, most) = elem.range;
    let range = (least / by, most / by);
    if by > most {
        return Ok(number(0));
    }
    if by.count_ones() == 1 {
        let shift = number(i64::from(by.trailing_zeros()));
        return Ok(emit.apply(Function::Ashr, &[elem, &shift], Kind::I32)?.with_range(range));
    }
    let bits = digits(most);
    if bits > MOST_DIVIDED_BITS {
        return Ok(long_quotient(emit, elem, by)?.with_range(range));
    }
    // A reciprocal with this many digits is exact for each number of so few bits.
    let shift = bits + digits(by);
    let reciprocal = (1_i64 << shift) / by + 1;
    let product = emit.apply(Function::Mul, &[elem, &number(reciprocal)], Kind::I32)?;
    Ok(emit.apply(Function::Ashr, &[&product, &number(i64::from(shift))], Kind::I32)?.with_range(range))
}

/// The quotient of a large number: a long division, whose steps take in several bits each, the highest ones first.
fn long_quotient(emit: &mut Emitter<'_>, elem: &Elem, by: i64) -> Result<Elem, Diagnostic> {
    let step = MOST_DIVIDED_BITS.checked_sub(digits(by)).filter(|&step| step >= LEAST_STEP);
    let Some(step) = step else {
        return Err(emit.refuse(format!(
            "divides numbers up to {} by {by}: divisors that are no powers of two are imported up to {}",
            elem.range.1,
            (1 << (MOST_DIVIDED_BITS - LEAST_STEP)) - 1
        )));
    };
    let elem = emit.built(elem)?;
    let ones = (1_i64 << step) - 1;
    let (mut rest, mut quotient) = (number(0), number(0));
    for at in (0..digits(elem.range.1).div_ceil(step)).rev() {
        let shift = number(i64::from(at * step));
        let shifted = emit.apply(Function::Ashr, &[&elem, &shift], Kind::I32)?;
        let bits = emit.apply(Function::And, &[&shifted, &number(ones)], Kind::I32)?;
        let raised = emit.apply(Function::Shl, &[&rest, &number(i64::from(step))], Kind::I32)?;
        let next = emit.apply(Function::Add, &[&raised, &bits], Kind::I32)?.with_range((0, (by << step) - 1));
        let next = emit.built(&next)?;
        let digit = natural_quotient(emit, &next, by)?;
        let digit = emit.built(&digit)?;
        let multiple = emit.apply(Function::Mul, &[&digit, &number(by)], Kind::I32)?;
        rest = emit.apply(Function::Sub, &[&next, &multiple], Kind::I32)?;
        let raised = emit.apply(Function::Shl, &[&quotient, &number(i64::from(step))], Kind::I32)?;
        quotient = emit.apply(Function::Add, &[&raised, &digit], Kind::I32)?;
    }
    Ok(quotient)
}

/// The quotient that is rounded toward zero.
///
/// # Errors
/// A divisor that is no constant or 0, and large numbers divided by a large one other than a power of two.
pub(crate) fn quotient(
    emit: &mut Emitter<'_>,
    [elem, by]: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let by = divisor(emit, by)?;
    let natural = by.saturating_abs();
    let size = if elem.range.0 >= 0 {
        natural_quotient(emit, elem, natural)?.of_kind(kind)
    } else {
        signed_quotient(emit, elem, natural, kind)?
    };
    if by > 0 { Ok(size) } else { negated(emit, &size, kind) }
}

/// The quotient of a number that may be negative, rounded toward zero.
fn signed_quotient(emit: &mut Emitter<'_>, elem: &Elem, by: i64, kind: Kind) -> Result<Elem, Diagnostic> {
    let elem = emit.built(elem)?;
    let (least, most) = elem.range;
    let range = (least / by, most / by);
    if by.count_ones() == 1 {
        // Negative numbers are rounded up: those that are no multiples become the next one first.
        let sign = emit.apply(Function::Ashr, &[&elem, &number(31)], Kind::I32)?;
        let rest = emit.apply(Function::And, &[&sign, &number(by - 1)], Kind::I32)?;
        let raised = emit.apply(Function::Add, &[&elem, &rest], Kind::I32)?;
        let shift = number(i64::from(by.trailing_zeros()));
        return Ok(emit.apply(Function::Ashr, &[&raised, &shift], kind)?.with_range(range));
    }
    let negative = negated(emit, &elem, Kind::I32)?;
    let size = emit.apply(Function::Max, &[&elem, &negative], Kind::I32)?;
    let size = size.with_range((0, most.max(least.saturating_neg())));
    let size = natural_quotient(emit, &size, by)?;
    let size = emit.built(&size)?;
    let negative = negated(emit, &size, Kind::I32)?;
    let value = emit.computed_value(&elem)?;
    let below = emit.compare(value, &[Compare::Less], 0.0)?;
    let (negative, size) = (emit.value(&negative)?, emit.value(&size)?);
    Ok(Elem::value(kind, emit.choose(below, negative, size)?).with_range(range))
}

/// The quotient that is rounded down.
///
/// # Errors
/// Those of [`quotient`].
pub(crate) fn floor(emit: &mut Emitter<'_>, [elem, by]: [&Elem; 2], kind: Kind) -> Result<Elem, Diagnostic> {
    let by = divisor(emit, by)?;
    if by < 0 {
        let above = ceiling(emit, [elem, &number(by.saturating_neg())], kind)?;
        return negated(emit, &above, kind);
    }
    let (least, most) = elem.range;
    let range = (least.div_euclid(by), most.div_euclid(by));
    if by.count_ones() == 1 {
        let shift = number(i64::from(by.trailing_zeros()));
        return Ok(emit.apply(Function::Ashr, &[elem, &shift], kind)?.with_range(range));
    }
    if least >= 0 {
        return Ok(natural_quotient(emit, elem, by)?.of_kind(kind));
    }
    // A multiple of the divisor makes the number positive.
    let multiples = least.div_euclid(by).saturating_neg();
    let raise = multiples.saturating_mul(by);
    if digits(most.saturating_add(raise)) <= MOST_DIVIDED_BITS {
        let above = emit.apply(Function::Add, &[elem, &number(raise)], Kind::I32)?;
        let quotient = natural_quotient(emit, &above.with_range((0, most + raise)), by)?;
        return Ok(emit.apply(Function::Sub, &[&quotient, &number(multiples)], kind)?.with_range(range));
    }
    // Rounded toward zero, and one less where that is above.
    let elem = emit.built(elem)?;
    let whole = signed_quotient(emit, &elem, by, Kind::I32)?;
    let multiple = emit.apply(Function::Mul, &[&whole, &number(by)], Kind::I32)?;
    let rest = emit.apply(Function::Sub, &[&elem, &multiple], Kind::I32)?;
    let below = emit.apply(Function::Ashr, &[&rest, &number(31)], Kind::I32)?;
    Ok(emit.apply(Function::Add, &[&whole, &below], kind)?.with_range(range))
}

/// The quotient that is rounded up: one more than that rounded down, unless the number is a multiple.
///
/// # Errors
/// Those of [`quotient`].
pub(crate) fn ceiling(
    emit: &mut Emitter<'_>,
    [elem, by]: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let by = divisor(emit, by)?;
    let divided = number(by.saturating_abs());
    let elem = emit.built(elem)?;
    let below = floor(emit, [&elem, &divided], Kind::I32)?;
    if by < 0 {
        return negated(emit, &below, kind);
    }
    let below = emit.built(&below)?;
    let multiple = emit.apply(Function::Mul, &[&below, &divided], Kind::I32)?;
    let rest = emit.apply(Function::Sub, &[&elem, &multiple], Kind::I32)?;
    let one = emit.apply(Function::Min, &[&rest, &number(1)], Kind::I32)?;
    let range = (below.range.0, below.range.1.saturating_add(1));
    Ok(emit.apply(Function::Add, &[&below, &one], kind)?.with_range(range))
}

/// The remainder, which has the sign of the number.
///
/// # Errors
/// Those of [`quotient`].
pub(crate) fn remainder(
    emit: &mut Emitter<'_>,
    [elem, by]: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let by = divisor(emit, by)?.saturating_abs();
    if elem.range.0 >= 0 && by.count_ones() == 1 {
        let rest = emit.apply(Function::And, &[elem, &number(by - 1)], kind)?;
        return Ok(rest.with_range((0, elem.range.1.min(by - 1))));
    }
    let elem = emit.built(elem)?;
    let whole = quotient(emit, [&elem, &number(by)], Kind::I32)?;
    let multiple = emit.apply(Function::Mul, &[&whole, &number(by)], Kind::I32)?;
    let rest = emit.apply(Function::Sub, &[&elem, &multiple], kind)?;
    let least = if elem.range.0 < 0 { 1 - by } else { 0 };
    Ok(rest.with_range((least, if elem.range.1 < 0 { 0 } else { by - 1 })))
}

/// A part of a division of numbers that are read without their sign.
///
/// # Errors
/// Those of [`quotient`], and numbers of 32 bits or more that may be negative, unless they are divided by a power of
/// two.
pub(crate) fn unsigned(
    emit: &mut Emitter<'_>,
    part: Part,
    [elem, by]: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let power = by.as_number().map(|by| by as i64).filter(|by| *by > 0 && by.count_ones() == 1);
    if let (Some(by), Kind::I32, true) = (power, elem.kind, elem.range.0 < 0) {
        let shift = number(i64::from(by.trailing_zeros()));
        match part {
            Part::Quotient => return shifted(emit, [elem, &shift], kind),
            Part::Remainder => {
                return Ok(emit
                    .apply(Function::And, &[elem, &number(by - 1)], kind)?
                    .with_range((0, by - 1)));
            }
            Part::Ceiling => {}
        }
    }
    let both = [narrow::unsigned(emit, elem)?, narrow::unsigned(emit, by)?];
    let both = both.each_ref();
    let divided = match part {
        Part::Quotient => quotient(emit, both, Kind::I32)?,
        Part::Remainder => remainder(emit, both, Kind::I32)?,
        Part::Ceiling => ceiling(emit, both, Kind::I32)?,
    };
    narrow::truncated(emit, &divided, kind)
}

/// A number without its sign, shifted right.
///
/// # Errors
/// Numbers of 64 bits that may be negative.
pub(crate) fn shifted(
    emit: &mut Emitter<'_>,
    [elem, by]: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    if elem.kind != Kind::I32 || elem.range.0 >= 0 {
        let elem = narrow::unsigned(emit, elem)?;
        let rest = emit.apply(Function::Lshr, &[&elem, by], Kind::I32)?.with_range((0, elem.range.1));
        return narrow::truncated(emit, &rest, kind);
    }
    let is_shifted = by.as_number().filter(|by| (1.0..32.0).contains(by)).map(|by| by as u32);
    let range = is_shifted.map_or(kind.range(), |by| (0, i64::from(u32::MAX >> by)));
    Ok(emit.apply(Function::Lshr, &[elem, by], kind)?.with_range(range))
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
