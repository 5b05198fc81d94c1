//! Inverse functions of the circle, and cube roots, by functions that the machine has.

use crate::import::emit::compare::{self, FloatPredicate};
use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::emit::functions::{float, with_sign};
use crate::import::emit::narrow::select;
use crate::import::read::types::Kind;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
use visa_ir::diag::Diagnostic;

/// The tangent of an eighth of pi: above it, the arc is that of another tangent plus a quarter of pi.
const EIGHTH: f64 = 0.414_213_562_373_095_03;
/// The arc of t is t + t z p(z), with z = t * t: factors of p for t up to [`EIGHTH`], the highest power first, from
/// the function `atanf` of the library Cephes.
const ARC: [f64; 4] = [8.053_744_495_38e-2, -1.387_768_560_32e-1, 1.997_771_064_78e-1, -3.333_294_915_39e-1];

fn number(number: f64) -> Elem {
    Elem::number(Kind::F32, number)
}

/// The function of two elements, built.
fn built(emit: &mut Emitter<'_>, function: Function, args: &[&Elem]) -> Result<Elem, Diagnostic> {
    let elem = emit.apply(function, args, Kind::F32)?;
    emit.built(&elem)
}

fn holds(
    emit: &mut Emitter<'_>,
    predicate: FloatPredicate,
    left: &Elem,
    right: &Elem,
) -> Result<Elem, Diagnostic> {
    let condition = compare::floats(emit, predicate, left, right)?;
    emit.built(&condition)
}

fn equal() -> FloatPredicate {
    FloatPredicate { equal: true, ..FloatPredicate::strictly(false, false) }
}

fn above() -> FloatPredicate {
    FloatPredicate::strictly(false, true)
}

/// The arc whose tangent is `low / high`, of which neither is negative and `low` is not the greater one: 0 to a
/// quarter of pi.
fn arc(emit: &mut Emitter<'_>, low: &Elem, high: &Elem) -> Result<Elem, Diagnostic> {
    let tangent = built(emit, Function::Div, &[low, high])?;
    // The quotient of infinities is 1 here, and that of zeros is 0.
    let is_infinite = holds(emit, equal(), low, &number(f64::INFINITY))?;
    let tangent = select(emit, &[&is_infinite, &number(1.0), &tangent], Kind::F32)?;
    let is_zero = holds(emit, equal(), low, &number(0.0))?;
    let tangent = select(emit, &[&is_zero, &number(0.0), &tangent], Kind::F32)?;
    let is_large = holds(emit, above(), &tangent, &number(EIGHTH))?;
    let [less, more] = [-1.0, 1.0].map(|by| emit.apply(Function::Add, &[&tangent, &number(by)], Kind::F32));
    let turned = built(emit, Function::Div, &[&less?, &more?])?;
    let rest = select(emit, &[&is_large, &turned, &tangent], Kind::F32)?;
    let square = built(emit, Function::Mul, &[&rest, &rest])?;
    let mut sum = number(ARC[0]);
    for factor in &ARC[1..] {
        let raised = emit.apply(Function::Mul, &[&sum, &square], Kind::F32)?;
        sum = emit.apply(Function::Add, &[&raised, &number(*factor)], Kind::F32)?;
    }
    let raised = emit.apply(Function::Mul, &[&sum, &square], Kind::F32)?;
    let raised = emit.apply(Function::Mul, &[&raised, &rest], Kind::F32)?;
    let arc = built(emit, Function::Add, &[&raised, &rest])?;
    let beyond = built(emit, Function::Add, &[&arc, &number(FRAC_PI_4)])?;
    select(emit, &[&is_large, &beyond, &arc], Kind::F32)
}

/// The arc of the point with the coordinates `x` and `y`, from -pi to pi, with the sign of `y`; zeros have signs.
pub(crate) fn arc_of_point(
    emit: &mut Emitter<'_>,
    [y, x]: [&Elem; 2],
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let (y, x) = (float(emit, y)?, float(emit, x)?);
    let [tall, wide] = [&y, &x].map(|elem| emit.apply(Function::Abs, &[elem], Kind::F32));
    let (tall, wide) = (emit.built(&tall?)?, emit.built(&wide?)?);
    let low = built(emit, Function::Min, &[&tall, &wide])?;
    let high = built(emit, Function::Max, &[&tall, &wide])?;
    let arc = arc(emit, &low, &high)?;
    // The quotient tells numbers whose difference is subnormal from equal ones.
    let is_steep = match wide.as_number() {
        Some(_) => holds(emit, above(), &tall, &wide)?,
        None => {
            let slope = built(emit, Function::Div, &[&tall, &wide])?;
            holds(emit, above(), &slope, &number(1.0))?
        }
    };
    let rest = built(emit, Function::Sub, &[&number(FRAC_PI_2), &arc])?;
    let arc = select(emit, &[&is_steep, &rest, &arc], Kind::F32)?;
    let arc = if x.as_number().is_some_and(|number| number > 0.0) {
        arc
    } else {
        // One with the sign of x, so that the sign of a zero counts.
        let sign = with_sign(emit, [&number(1.0), &x], Kind::F32)?;
        let is_left = holds(emit, FloatPredicate::strictly(true, false), &sign, &number(0.0))?;
        let rest = built(emit, Function::Sub, &[&number(PI), &arc])?;
        select(emit, &[&is_left, &rest, &arc], Kind::F32)?
    };
    let signed = with_sign(emit, [&arc, &y], Kind::F32)?;
    // The least and the greatest of a number and NaN are the number.
    let unordered = FloatPredicate { unordered: true, ..FloatPredicate::strictly(false, false) };
    let is_no_number = holds(emit, unordered, &y, &x)?;
    let sum = built(emit, Function::Add, &[&y, &x])?;
    let arc = select(emit, &[&is_no_number, &sum, &signed], Kind::F32)?;
    emit.rounded(arc.of_kind(kind))
}

/// The arc of a tangent, from -pi / 2 to pi / 2.
pub(crate) fn arc_of_tangent(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    arc_of_point(emit, [elem, &number(1.0)], kind)
}

/// The root of 1 - x * x, as that of (1 - x) * (1 + x), which loses no digits near 1.
fn other_side(emit: &mut Emitter<'_>, elem: &Elem) -> Result<Elem, Diagnostic> {
    let x = float(emit, elem)?;
    let less = emit.apply(Function::Sub, &[&number(1.0), &x], Kind::F32)?;
    let more = emit.apply(Function::Add, &[&number(1.0), &x], Kind::F32)?;
    let product = emit.apply(Function::Mul, &[&less, &more], Kind::F32)?;
    built(emit, Function::Sqrt, &[&product])
}

/// The arc of a sine, from -pi / 2 to pi / 2.
pub(crate) fn arc_of_sine(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let cosine = other_side(emit, elem)?;
    arc_of_point(emit, [elem, &cosine], kind)
}

/// The arc of a cosine, from 0 to pi.
pub(crate) fn arc_of_cosine(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let sine = other_side(emit, elem)?;
    arc_of_point(emit, [&sine, elem], kind)
}

/// The cube root: y = exp(log(a) / 3) with a = abs(x), which a step of Newton's method repairs, with the sign of x.
pub(crate) fn cube_root(emit: &mut Emitter<'_>, elem: &Elem, kind: Kind) -> Result<Elem, Diagnostic> {
    let x = float(emit, elem)?;
    let size = built(emit, Function::Abs, &[&x])?;
    let third = number(1.0 / 3.0);
    let logarithm = emit.apply(Function::Log, &[&size], Kind::F32)?;
    let logarithm = emit.apply(Function::Mul, &[&logarithm, &third], Kind::F32)?;
    let root = built(emit, Function::Exp, &[&logarithm])?;
    let square = emit.apply(Function::Mul, &[&root, &root], Kind::F32)?;
    let quotient = emit.apply(Function::Div, &[&size, &square], Kind::F32)?;
    let past = emit.apply(Function::Sub, &[&root, &quotient], Kind::F32)?;
    let past = emit.apply(Function::Mul, &[&past, &third], Kind::F32)?;
    let repaired = built(emit, Function::Sub, &[&root, &past])?;
    // Zeros and infinities are their own roots; the step has no number for them.
    let is_zero = holds(emit, equal(), &size, &number(0.0))?;
    let repaired = select(emit, &[&is_zero, &size, &repaired], Kind::F32)?;
    let is_infinite = holds(emit, equal(), &size, &number(f64::INFINITY))?;
    let repaired = select(emit, &[&is_infinite, &size, &repaired], Kind::F32)?;
    with_sign(emit, [&repaired, &x], kind)
}
