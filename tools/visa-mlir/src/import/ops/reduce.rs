//! Reductions: the function that combines the result so far with the next element.

use crate::import::emit::axes::Axis;
use crate::import::emit::compare::{self, FloatPredicate, IntegerPredicate};
use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::emit::integers;
use crate::import::emit::narrow;
use crate::import::ops::body::Body;
use crate::import::ops::choice;
use crate::import::ops::combine::{Combine, Repeated, combined};
use crate::import::read::attributes::{Key, key, name};
use crate::import::read::operations::{ScalarOp, known};
use crate::import::read::types::{Kind, kind_of};
use melior::ir::operation::OperationLike as _;
use std::collections::HashMap;
use visa_ir::diag::Diagnostic;
use visa_ir::words;
use visa_numerics::ReduceName;

/// Most values that an iteration of a sum adds.
const MAX_TERMS: usize = 16;

words! {
    /// An operation that adds to a sum, or subtracts from it.
    enum Summed: ScalarOp { AddF, AddI, SubF, SubI, Fma }
}

/// An element that a reduction combines in each iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    Value(Key),
    /// The product of two values, as `math.fma` adds it.
    Product(Key, Key),
}

/// A reduction of a body: its function, and the elements that each iteration combines.
pub(crate) struct Reduction {
    pub(crate) combine: Combine,
    pub(crate) next: Term,
    /// All elements that each iteration combines, and true for those that it subtracts.
    pub(crate) terms: Vec<(Term, bool)>,
}

impl Reduction {
    fn of(combine: Combine, next: Term) -> Self {
        Self { combine, next, terms: vec![(next, false)] }
    }

    /// The value that each iteration combines, if it is one that the body computes.
    pub(crate) fn value(&self) -> Option<Key> {
        match self.next {
            Term::Value(value) => Some(value),
            Term::Product(..) => None,
        }
    }
}

/// The values that a sum adds to the result so far, and true for those that it subtracts; `None` if it is no such sum.
fn added(body: &Body<'_, '_>, mut value: Key, so_far: Key) -> Option<Vec<(Term, bool)>> {
    let mut terms = Vec::new();
    while value != so_far {
        let op = body.definition(value).filter(|_| terms.len() < MAX_TERMS)?;
        let (read, operands) = (known(op)?, op.operands().map(key).collect::<Vec<_>>());
        let carried: Vec<bool> = operands.iter().map(|&operand| body.is_carried(operand)).collect();
        let (sum, term, negative) = match (read, operands.as_slice(), carried.as_slice()) {
            (Summed::AddF | Summed::AddI, &[sum, term], [true, false]) => (sum, Term::Value(term), false),
            (Summed::AddF | Summed::AddI, &[term, sum], [false, true]) => (sum, Term::Value(term), false),
            (Summed::SubF | Summed::SubI, &[sum, term], [true, false]) => (sum, Term::Value(term), true),
            (Summed::Fma, &[left, right, sum], [false, false, true]) => {
                (sum, Term::Product(left, right), false)
            }
            (Summed::AddF | Summed::AddI | Summed::SubF | Summed::SubI | Summed::Fma, _, _) => return None,
        };
        terms.push((term, negative));
        value = sum;
    }
    terms.reverse();
    Some(terms)
}

/// The reduction that a body yields; `so_far` is the argument that holds the result before.
///
/// # Errors
/// The reason why it is none.
pub(crate) fn reduction(body: &Body<'_, '_>, yielded: Key, so_far: Key) -> Result<Reduction, String> {
    let op = body.definition(yielded).filter(|_| body.is_carried(yielded));
    let op = op.ok_or("the result does not depend on the elements before it, although loops are reduced")?;
    let operands: Vec<Key> = op.operands().map(key).collect();
    let is_condition = op.results().next().is_some_and(|result| kind_of(result) == Ok(Kind::I1));
    if let Some(terms) = added(body, yielded, so_far).filter(|_| !is_condition)
        && let Some(&(next, _)) = terms.first()
    {
        return Ok(Reduction { combine: Combine::Add, next, terms });
    }
    let kind = op.operand(0).map_err(|error| error.to_string()).and_then(kind_of)?;
    let combine = known(op).and_then(Repeated::of).and_then(|op| Combine::of(op, kind));
    if let (Some(combine), [left, right]) = (combine, operands.as_slice()) {
        let next = match (*left == so_far, *right == so_far) {
            (true, false) => Some(*right),
            (false, true) => Some(*left),
            (true, true) | (false, false) => None,
        };
        if let Some(next) = next.filter(|&next| !body.is_carried(next)) {
            return Ok(Reduction::of(combine, Term::Value(next)));
        }
    }
    selection(body, yielded, so_far)
        .ok_or_else(|| format!("`{}` of the result so far is no sum, product, maximum or minimum", name(op)))
}

/// A maximum or minimum that is written as comparisons and choices of the two.
fn selection(body: &Body<'_, '_>, yielded: Key, so_far: Key) -> Option<Reduction> {
    let define = |value| body.definition(value);
    let [next] = <[Key; 1]>::try_from(choice::leaves(&define, yielded, &[so_far])).ok()?;
    let combine = Combine::of_extreme(choice::extreme(&define, yielded, [so_far, next])?);
    // The extreme of conditions has another name.
    let is_condition =
        body.definition(yielded)?.results().next().is_some_and(|result| kind_of(result) == Ok(Kind::I1));
    (!is_condition).then(|| Reduction::of(combine, Term::Value(next)))
}

/// The position of the first greatest or least element, which is yielded in addition to that.
pub(crate) struct Position {
    pub(crate) of: Reduction,
    pub(crate) index: Key,
}

/// The position that a body yields in addition to a maximum or minimum; `extreme` is the value yielded for that.
/// `so_far` are the arguments that hold the position and the extreme before.
pub(crate) fn position(
    body: &Body<'_, '_>,
    [yielded, extreme]: [Key; 2],
    so_far: [Key; 2],
) -> Option<Position> {
    let of = reduction(body, extreme, so_far[1]).ok()?;
    let next = of.value()?;
    let is_more: fn(f64, f64) -> bool = match of.combine {
        Combine::Max => |element, before| element > before,
        Combine::Min => |element, before| element < before,
        Combine::Add
        | Combine::Mul
        | Combine::And
        | Combine::Or
        | Combine::MaxUnsigned
        | Combine::MinUnsigned => return None,
    };
    let define = |value| body.definition(value);
    let leaves = choice::leaves(&define, yielded, &[so_far[0], so_far[1], next]);
    let [index] = <[Key; 1]>::try_from(leaves).ok()?;
    // A later position is greater than an earlier one.
    let (earlier, later) = (3.0, 7.0);
    let chosen = |before: f64, element: f64| {
        let known = [(so_far[0], earlier), (so_far[1], before), (next, element), (index, later)];
        choice::value(&define, yielded, &HashMap::from(known))
    };
    let samples = || choice::SAMPLES.into_iter();
    let is_first = samples().all(|before| {
        samples().all(|element| {
            let expected = if is_more(element, before) { later } else { earlier };
            chosen(before, element) == Some(expected)
        })
    });
    (is_first && !body.is_carried(index)).then_some(Position { of, index })
}

/// The least position whose element is the greatest, or the least one.
///
/// # Errors
/// Elements that are not compared.
pub(crate) fn positioned(
    emit: &mut Emitter<'_>,
    combine: Combine,
    (next, index): (&Elem, &Elem),
    over: &[Axis],
) -> Result<Elem, Diagnostic> {
    let next = emit.built(next)?;
    let best = reduced(emit, combine, &next, over)?;
    let (least, greatest) = (combine == Combine::Max, combine == Combine::Min);
    let other = match next.kind.is_float() {
        true => compare::floats(emit, FloatPredicate::strictly(least, greatest), &next, &best)?,
        false => compare::integers(emit, IntegerPredicate::strictly(least, greatest), &next, &best)?,
    };
    let none = Elem::number(Kind::I32, (index.range.1 + 1) as f64);
    let index = index.clone();
    let candidate = narrow::select(emit, &[&other, &none, &index.clone().of_kind(Kind::I32)], Kind::I32)?;
    let first = reduced(emit, Combine::Min, &candidate, over)?;
    Ok(first.of_kind(index.kind).with_range(index.range))
}

/// Reduces elements along axes, and combines the result with the elements before the first.
///
/// # Errors
/// A function that reduces no such elements, or elements before the first that nothing has written.
pub(crate) fn reduced(
    emit: &mut Emitter<'_>,
    combine: Combine,
    next: &Elem,
    over: &[Axis],
) -> Result<Elem, Diagnostic> {
    let kind = next.kind;
    if kind == Kind::F64 {
        return Err(emit.double());
    }
    if combine == Combine::Mul && !kind.is_float() {
        return product(emit, next, over);
    }
    if matches!(combine, Combine::MaxUnsigned | Combine::MinUnsigned) && next.range.0 < 0 {
        let turned = integers::turned(emit, next)?;
        let value = emit.computed_value(&turned)?;
        let value = emit.reduce(combine.name(), value, over)?;
        let extreme = integers::turned(emit, &Elem::value(kind, value))?;
        return Ok(extreme.of_kind(kind).with_range(kind.range()));
    }
    if combine == Combine::Add && kind == Kind::I1 {
        return Err(emit.refuse("a sum of conditions in one bit is not imported"));
    }
    let value = emit.computed_value(next)?;
    if combine == Combine::Add {
        check_sum(emit, next, over)?;
    }
    // The engine adds integers with saturation, which no sum within `i32` meets.
    let within =
        combine == Combine::Add && !kind.is_float() && largest_sum(emit, next, over)? <= i64::from(i32::MAX);
    let name = if within { ReduceName::AddSat } else { combine.name() };
    let value = emit.reduce(name, value, over)?;
    Ok(Elem::value(kind, value))
}

/// The product of integers along axes: of the halves of each axis, which wraps as the products of elements do.
fn product(emit: &mut Emitter<'_>, next: &Elem, over: &[Axis]) -> Result<Elem, Diagnostic> {
    let kind = next.kind;
    if matches!(kind, Kind::I64 | Kind::Index) {
        return Err(emit.refuse("a product in `i64` along a dimension, which may exceed `i32`"));
    }
    let mut value = emit.computed_value(next)?;
    value = emit.broadcast(value, over)?;
    for axis in over {
        let (mut axis, mut size) = (axis.clone(), emit.size(axis)?);
        while size > 1 {
            if !size.is_multiple_of(2) {
                let even = emit.axes.fresh("D", size + 1);
                value = emit.extended(value, (&axis, &even), 0, 1.0)?;
                (axis, size) = (even, size + 1);
            }
            let (halves, half) = (emit.axes.fresh("S", 2), emit.axes.fresh("D", size / 2));
            let split = emit.split(value, &axis, &[halves.clone(), half.clone()])?;
            let second = emit.extract(split, &halves, 1)?;
            let both = [split, second].map(|part| emit.without(part, std::slice::from_ref(&halves)));
            let [first, second] = both;
            let (first, second) = (Elem::value(Kind::I32, first?), Elem::value(Kind::I32, second?));
            let product = emit.apply(Function::Mul, &[&first, &second], Kind::I32)?;
            value = emit.value(&product)?;
            (axis, size) = (half, size / 2);
        }
        value = emit.without(value, &[axis])?;
    }
    Ok(Elem::value(kind, value))
}

/// Checks that a sum in `i64` fits `i32`.
fn check_sum(emit: &Emitter<'_>, next: &Elem, over: &[Axis]) -> Result<(), Diagnostic> {
    if !matches!(next.kind, Kind::I64 | Kind::Index) {
        return Ok(());
    }
    if largest_sum(emit, next, over)? <= i64::from(i32::MAX) {
        return Ok(());
    }
    Err(emit.refuse("a sum in `i64` that may exceed `i32`, which the machine computes in"))
}

/// Combines a reduction with the elements before its first one, and rounds to the kind of the result.
pub(crate) fn with_initial(
    emit: &mut Emitter<'_>,
    combine: Combine,
    reduced: Elem,
    initial: &Elem,
) -> Result<Elem, Diagnostic> {
    let is_identity = initial.as_number().is_some_and(|number| combine.is_identity(initial.kind, number));
    if is_identity {
        return emit.rounded(reduced);
    }
    let kind = reduced.kind;
    combined(emit, combine, [initial, &reduced], kind)
}

/// The greatest distance to zero that a sum of integers may have.
fn largest_sum(emit: &Emitter<'_>, next: &Elem, over: &[Axis]) -> Result<i64, Diagnostic> {
    let largest = next.range.0.saturating_abs().max(next.range.1.saturating_abs());
    Ok(largest.saturating_mul(emit.count(over)?))
}
