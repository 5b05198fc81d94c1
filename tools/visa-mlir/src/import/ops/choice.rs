//! Comparisons and choices of numbers, which frameworks write for maxima and positions. They are recognized by their
//! values for some numbers, in any form.

use crate::import::emit::compare::{FloatPredicate, IntegerPredicate, without_sign};
use crate::import::read::attributes::{Key, key, number};
use crate::import::read::operations::{ScalarOp, known};
use crate::import::read::types::{Kind, kind_of};
use melior::ir::operation::{OperationLike as _, OperationRef};
use std::collections::HashMap;
use visa_ir::words;

/// Numbers that tell maxima from other choices.
pub(crate) const SAMPLES: [f64; 7] = [f64::NEG_INFINITY, -3.0, -1.0, 0.0, 1.0, 2.0, f64::INFINITY];
/// Deepest nesting of comparisons and choices.
const MAX_DEPTH: usize = 8;
/// Most values that choices depend on.
const MAX_LEAVES: usize = 4;

words! {
    /// An operation that compares or chooses.
    enum Choice: ScalarOp { Select, CmpF, CmpI, OrI, AndI, MaximumF, MinimumF, MaxNumF, MinNumF }
}

/// The greater or the less of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extreme {
    Max,
    Min,
    /// The greater of two integers without signs.
    MaxUnsigned,
    /// The less of two integers without signs.
    MinUnsigned,
}

impl Extreme {
    const ALL: [Self; 4] = [Self::Max, Self::Min, Self::MaxUnsigned, Self::MinUnsigned];

    fn of(self, left: f64, right: f64) -> f64 {
        let is_less = without_sign(left) < without_sign(right);
        match self {
            Self::Max => left.max(right),
            Self::Min => left.min(right),
            Self::MaxUnsigned => {
                if is_less {
                    right
                } else {
                    left
                }
            }
            Self::MinUnsigned => {
                if is_less {
                    left
                } else {
                    right
                }
            }
        }
    }
}

/// The operation of a value, if it is one of the body.
type Define<'d, 'c, 'a> = &'d dyn Fn(Key) -> Option<OperationRef<'c, 'a>>;

/// The values that choices depend on, in addition to `given`, in the order of the operands.
pub(crate) fn leaves(define: Define<'_, '_, '_>, value: Key, given: &[Key]) -> Vec<Key> {
    let (mut open, mut seen, mut found) = (vec![value], given.to_vec(), Vec::new());
    while let Some(value) = open.pop().filter(|_| found.len() <= MAX_LEAVES) {
        if seen.contains(&value) {
            continue;
        }
        seen.push(value);
        match define(value).filter(|op| choice(*op).is_some()) {
            Some(op) => open.extend(op.operands().map(key)),
            None => found.push(value),
        }
    }
    found.reverse();
    found
}

fn choice(op: OperationRef<'_, '_>) -> Option<Choice> {
    known(op).and_then(Choice::of)
}

/// The extreme of two values that a value is.
pub(crate) fn extreme(define: Define<'_, '_, '_>, value: Key, of: [Key; 2]) -> Option<Extreme> {
    Extreme::ALL.into_iter().find(|extreme| {
        SAMPLES.iter().all(|&left| {
            SAMPLES.iter().all(|&right| {
                let known = HashMap::from([(of[0], left), (of[1], right)]);
                self::value(define, value, &known) == Some(extreme.of(left, right))
            })
        })
    })
}

/// The value of comparisons and choices for known numbers.
pub(crate) fn value(define: Define<'_, '_, '_>, value: Key, known: &HashMap<Key, f64>) -> Option<f64> {
    at_depth(define, value, known, 0)
}

fn at_depth(define: Define<'_, '_, '_>, value: Key, known: &HashMap<Key, f64>, depth: usize) -> Option<f64> {
    if let Some(&number) = known.get(&value) {
        return Some(number);
    }
    let op = define(value).filter(|_| depth < MAX_DEPTH)?;
    let arg = |at: usize| at_depth(define, op.operands().nth(at).map(key)?, known, depth + 1);
    let predicate = || op.attribute("predicate").ok().and_then(number).map(|number| number as i64);
    let truth = |holds: bool| Some(f64::from(u8::from(holds)));
    match choice(op)? {
        Choice::Select => arg(if arg(0)? == 0.0 { 2 } else { 1 }),
        Choice::CmpF => truth(FloatPredicate::of(predicate()?)?.holds(arg(0)?, arg(1)?)),
        // The numbers are no conditions, whose signs differ.
        Choice::CmpI if op.operands().next().is_some_and(|operand| kind_of(operand) == Ok(Kind::I1)) => None,
        Choice::CmpI => truth(IntegerPredicate::of(predicate()?)?.holds(arg(0)?, arg(1)?)),
        Choice::OrI => truth(arg(0)? != 0.0 || arg(1)? != 0.0),
        Choice::AndI => truth(arg(0)? != 0.0 && arg(1)? != 0.0),
        Choice::MaximumF | Choice::MaxNumF => Some(arg(0)?.max(arg(1)?)),
        Choice::MinimumF | Choice::MinNumF => Some(arg(0)?.min(arg(1)?)),
    }
}
