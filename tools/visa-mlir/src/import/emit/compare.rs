//! Comparisons of elements, as 0 and 1.

use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::emit::integers;
use crate::import::read::types::Kind;
use visa_ir::diag::Diagnostic;
use visa_numerics::Compare;

/// A number above each integer of the machine.
const MANY: f64 = (1_u64 << 40) as f64;

/// A comparison of floats: the cases in which it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FloatPredicate {
    pub(crate) less: bool,
    pub(crate) equal: bool,
    pub(crate) greater: bool,
    /// One of the two is NaN.
    pub(crate) unordered: bool,
}

impl FloatPredicate {
    /// The predicate of this number in MLIR.
    pub(crate) fn of(number: i64) -> Option<Self> {
        // `oeq ogt oge olt ole one ord` and their unordered forms, in the order of `arith::CmpFPredicate`.
        let cases = match number {
            0 => [false; 4],
            1 => [false, true, false, false],
            2 => [false, false, true, false],
            3 => [false, true, true, false],
            4 => [true, false, false, false],
            5 => [true, true, false, false],
            6 => [true, false, true, false],
            7 => [true, true, true, false],
            8 => [false, true, false, true],
            9 => [false, false, true, true],
            10 => [false, true, true, true],
            11 => [true, false, false, true],
            12 => [true, true, false, true],
            13 => [true, false, true, true],
            14 => [false, false, false, true],
            15 => [true; 4],
            _ => return None,
        };
        let [less, equal, greater, unordered] = cases;
        Some(Self { less, equal, greater, unordered })
    }

    /// Less, or greater.
    pub(crate) fn strictly(less: bool, greater: bool) -> Self {
        Self { less, equal: false, greater, unordered: false }
    }

    fn reversed(self) -> Self {
        Self { less: self.greater, greater: self.less, ..self }
    }

    pub(crate) fn holds(self, left: f64, right: f64) -> bool {
        match left.partial_cmp(&right) {
            Some(std::cmp::Ordering::Less) => self.less,
            Some(std::cmp::Ordering::Equal) => self.equal,
            Some(std::cmp::Ordering::Greater) => self.greater,
            None => self.unordered,
        }
    }

    fn ordered_cases(self) -> Vec<Compare> {
        let cases =
            [(self.less, Compare::Less), (self.equal, Compare::Equal), (self.greater, Compare::Greater)];
        cases.into_iter().filter(|(holds, _)| *holds).map(|(_, case)| case).collect()
    }

    fn negated(self) -> Self {
        Self { less: !self.less, equal: !self.equal, greater: !self.greater, unordered: !self.unordered }
    }
}

/// A comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntegerPredicate {
    pub(crate) less: bool,
    pub(crate) equal: bool,
    pub(crate) greater: bool,
    unsigned: bool,
}

impl IntegerPredicate {
    pub(crate) fn equal() -> Self {
        Self { less: false, equal: true, greater: false, unsigned: false }
    }

    /// Less, or greater, with signs.
    pub(crate) fn strictly(less: bool, greater: bool) -> Self {
        Self { less, equal: false, greater, unsigned: false }
    }

    /// The predicate of this number in MLIR.
    pub(crate) fn of(number: i64) -> Option<Self> {
        // `eq ne slt sle sgt sge ult ule ugt uge`, in the order of `arith::CmpIPredicate`.
        let (less, equal, greater) = match number {
            0 => (false, true, false),
            1 => (true, false, true),
            2 | 6 => (true, false, false),
            3 | 7 => (true, true, false),
            4 | 8 => (false, false, true),
            5 | 9 => (false, true, true),
            _ => return None,
        };
        Some(Self { less, equal, greater, unsigned: number >= 6 })
    }

    /// The same comparison of conditions, which are 0 and 1 here: with signs, one that holds is -1.
    pub(crate) fn of_conditions(self) -> Self {
        let (less, greater) =
            if self.unsigned { (self.less, self.greater) } else { (self.greater, self.less) };
        Self { less, greater, equal: self.equal, unsigned: true }
    }

    /// Returns true if the comparison with signs of two numbers holds. A comparison without signs reads a negative
    /// number as a large one.
    pub(crate) fn holds(self, left: f64, right: f64) -> bool {
        let cases =
            FloatPredicate { less: self.less, equal: self.equal, greater: self.greater, unordered: false };
        let read = |number: f64| if self.unsigned { without_sign(number) } else { number };
        cases.holds(read(left), read(right))
    }
}

/// The place of a number in the order of integers without signs: negative ones are after all others.
pub(crate) fn without_sign(number: f64) -> f64 {
    let number = number.clamp(-MANY, MANY);
    if number < 0.0 { number + 4.0 * MANY } else { number }
}

/// Compares two floats.
pub(crate) fn floats(
    emit: &mut Emitter<'_>,
    predicate: FloatPredicate,
    left: &Elem,
    right: &Elem,
) -> Result<Elem, Diagnostic> {
    match (left.as_number(), right.as_number()) {
        (Some(x), Some(y)) => Ok(condition_number(predicate.holds(x, y))),
        (None, Some(number)) if !number.is_nan() => with_number(emit, predicate, left, number),
        (Some(number), None) if !number.is_nan() => with_number(emit, predicate.reversed(), right, number),
        _ => two(emit, predicate, left, right),
    }
}

fn condition_number(holds: bool) -> Elem {
    Elem::number(Kind::I1, f64::from(u8::from(holds)))
}

/// Compares a float with a number.
fn with_number(
    emit: &mut Emitter<'_>,
    predicate: FloatPredicate,
    elem: &Elem,
    number: f64,
) -> Result<Elem, Diagnostic> {
    if predicate.unordered {
        let holds = with_number(emit, predicate.negated(), elem, number)?;
        return not(emit, &holds);
    }
    let cases = predicate.ordered_cases();
    if cases.is_empty() {
        return Ok(condition_number(false));
    }
    let value = emit.computed_value(elem)?;
    let bits = emit.compare(value, &cases, number)?;
    let bits = Elem::value(Kind::I32, bits);
    if cases.len() == 1 {
        return Ok(bits.of_kind(Kind::I1).with_range((0, 1)));
    }
    // One bit at most is set.
    let one = Elem::number(Kind::I32, 1.0);
    Ok(emit.apply(Function::Min, &[&bits, &one], Kind::I1)?.with_range((0, 1)))
}

fn not(emit: &mut Emitter<'_>, condition: &Elem) -> Result<Elem, Diagnostic> {
    if let Some(known) = condition.as_number() {
        return Ok(condition_number(known == 0.0));
    }
    let one = Elem::number(Kind::I32, 1.0);
    Ok(emit.apply(Function::Xor, &[condition, &one], Kind::I1)?.with_range((0, 1)))
}

/// Compares two floats that are not known: one is at least the other if it is the greater of the two, bit by bit. A
/// difference would not tell infinities, and numbers whose difference is subnormal, apart.
fn two(
    emit: &mut Emitter<'_>,
    predicate: FloatPredicate,
    left: &Elem,
    right: &Elem,
) -> Result<Elem, Diagnostic> {
    if predicate.unordered {
        let holds = two(emit, predicate.negated(), left, right)?;
        return not(emit, &holds);
    }
    let is_number = FloatPredicate { less: true, equal: true, greater: true, unordered: false };
    let mut all = vec![with_number(emit, is_number, left, 0.0)?, with_number(emit, is_number, right, 0.0)?];
    let (left, right) = (emit.built(left)?, emit.built(right)?);
    let greatest = emit.apply(Function::Max, &[&left, &right], Kind::F32)?;
    let greatest = emit.built(&greatest)?;
    let mut at_least = |elem: &Elem| -> Result<Elem, Diagnostic> {
        let difference = emit.apply(Function::Xor, &[&greatest, elem], Kind::F32)?;
        let difference = emit.value(&difference)?;
        let same = Elem::value(Kind::I1, emit.compare(difference, &[Compare::Equal], 0.0)?);
        // Bits that differ in the sign alone are those of -0, which equals 0, too.
        let [elem, greatest] = [elem, &greatest].map(|elem| emit.computed_value(elem));
        let below = Elem::value(Kind::I1, emit.compare(elem?, &[Compare::Less], 0.0)?);
        let above = Elem::value(Kind::I1, emit.compare(greatest?, &[Compare::Greater], 0.0)?);
        let opposite = emit.apply(Function::And, &[&below, &above], Kind::I1)?;
        let alike = not(emit, &opposite)?;
        let same = emit.apply(Function::And, &[&same, &alike], Kind::I1)?;
        emit.built(&same)
    };
    let (left, right) = (at_least(&left)?, at_least(&right)?);
    match (predicate.less, predicate.equal, predicate.greater) {
        (false, false, false) => return Ok(condition_number(false)),
        (true, true, true) => {}
        (true, true, false) => all.push(right),
        (false, true, true) => all.push(left),
        (true, false, false) => all.push(not(emit, &left)?),
        (false, false, true) => all.push(not(emit, &right)?),
        (false, true, false) => all.extend([left, right]),
        (true, false, true) => {
            let equal = emit.apply(Function::And, &[&left, &right], Kind::I1)?;
            all.push(not(emit, &equal)?);
        }
    }
    let first = all.remove(0);
    all.iter().try_fold(first, |sum, next| {
        Ok(emit.apply(Function::And, &[&sum, next], Kind::I1)?.with_range((0, 1)))
    })
}

/// Compares two integers.
pub(crate) fn integers(
    emit: &mut Emitter<'_>,
    predicate: IntegerPredicate,
    left: &Elem,
    right: &Elem,
) -> Result<Elem, Diagnostic> {
    if predicate.unsigned && (left.range.0 < 0 || right.range.0 < 0) {
        let (left, right) = (integers::turned(emit, left)?, integers::turned(emit, right)?);
        return self::integers(emit, IntegerPredicate { unsigned: false, ..predicate }, &left, &right);
    }
    if let (Some(x), Some(y)) = (left.as_number(), right.as_number()) {
        return Ok(condition_number(predicate.holds(x, y)));
    }
    if left.range.1 < right.range.0 {
        return Ok(condition_number(predicate.less));
    }
    if left.range.0 > right.range.1 {
        return Ok(condition_number(predicate.greater));
    }
    let cases = FloatPredicate {
        less: predicate.less,
        equal: predicate.equal,
        greater: predicate.greater,
        unordered: false,
    };
    // Two cases are the opposite of the third.
    if cases.ordered_cases().len() == 2 {
        let opposite = FloatPredicate { unordered: false, ..cases.negated() };
        let holds = against(emit, opposite, left, right)?;
        return not(emit, &holds);
    }
    against(emit, cases, left, right)
}

/// Compares with a number, or a difference with 0: one that saturates has the sign of the exact one.
fn against(
    emit: &mut Emitter<'_>,
    cases: FloatPredicate,
    left: &Elem,
    right: &Elem,
) -> Result<Elem, Diagnostic> {
    if let Some(number) = right.as_number() {
        return with_number(emit, cases, left, number);
    }
    if let Some(number) = left.as_number() {
        return with_number(emit, cases.reversed(), right, number);
    }
    let (least, greatest) =
        (left.range.0.saturating_sub(right.range.1), left.range.1.saturating_sub(right.range.0));
    let limits = Kind::I32.range();
    let exact = limits.0 <= least && greatest <= limits.1;
    let function = if exact { Function::Sub } else { Function::SubSat };
    let difference = emit.apply(function, &[left, right], Kind::I32)?;
    with_number(emit, cases, &difference, 0.0)
}

/// The condition that a float is NaN.
pub(crate) fn is_not_a_number(emit: &mut Emitter<'_>, elem: &Elem) -> Result<Elem, Diagnostic> {
    let unordered = FloatPredicate { less: false, equal: false, greater: false, unordered: true };
    with_number(emit, unordered, elem, 0.0)
}

/// The condition that the size of a float compares with infinity.
pub(crate) fn size_is(emit: &mut Emitter<'_>, compare: Compare, elem: &Elem) -> Result<Elem, Diagnostic> {
    let size = emit.apply(Function::Abs, &[elem], Kind::F32)?;
    let size = emit.value(&size)?;
    let holds = emit.compare(size, &[compare], f64::INFINITY)?;
    Ok(Elem::value(Kind::I1, holds))
}

/// Returns 1 for numbers that are neither 0, subnormal, infinite nor NaN.
pub(crate) fn is_normal(emit: &mut Emitter<'_>, elem: &Elem) -> Result<Elem, Diagnostic> {
    let size = emit.apply(Function::Abs, &[elem], Kind::F32)?;
    let size = emit.built(&size)?;
    let least = match elem.kind {
        Kind::F16 | Kind::F8e5m2 => 2.0_f64.powi(-14),
        Kind::F8e4m3 => 2.0_f64.powi(-6),
        Kind::F64
        | Kind::F32
        | Kind::Bf16
        | Kind::I64
        | Kind::I32
        | Kind::I16
        | Kind::I8
        | Kind::I4
        | Kind::I1
        | Kind::Index => f64::from(f32::MIN_POSITIVE),
    };
    let at_least = FloatPredicate { equal: true, ..FloatPredicate::strictly(false, true) };
    let is_large = with_number(emit, at_least, &size, least)?;
    let is_finite = with_number(emit, FloatPredicate::strictly(true, false), &size, f64::INFINITY)?;
    Ok(emit.apply(Function::And, &[&is_large, &is_finite], Kind::I1)?.with_range((0, 1)))
}
