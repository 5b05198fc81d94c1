//! Counts of the bits of integers.

use crate::import::emit::elem::Elem;
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::emit::narrow;
use crate::import::read::types::Kind;
use visa_ir::diag::Diagnostic;

/// The bits that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// All that are set.
    Set,
    /// Those above the highest one that is set.
    Leading,
    /// Those below the lowest one that is set.
    Trailing,
}

/// Bits of every second place, of every second pair, and of every second four.
const MASKS: [(i64, i64); 3] = [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f)];

fn number(number: i64) -> Elem {
    Elem::number(Kind::I32, number as f64)
}

/// A function of two integers, built.
fn built(emit: &mut Emitter<'_>, function: Function, args: [&Elem; 2]) -> Result<Elem, Diagnostic> {
    let elem = emit.apply(function, &args, Kind::I32)?;
    emit.built(&elem)
}

/// The number of bits of an integer's type; `None` for 64 bits.
fn width(kind: Kind) -> Option<i64> {
    match kind {
        Kind::I1 => Some(1),
        Kind::I4 => Some(4),
        Kind::I8 => Some(8),
        Kind::I16 => Some(16),
        Kind::I32 => Some(32),
        Kind::I64
        | Kind::Index
        | Kind::F64
        | Kind::F32
        | Kind::F16
        | Kind::Bf16
        | Kind::F8e4m3
        | Kind::F8e5m2 => None,
    }
}

/// The number of bits.
///
/// # Errors
/// Integers of 64 bits.
pub(crate) fn bits(
    emit: &mut Emitter<'_>,
    counted: Counted,
    elem: &Elem,
    kind: Kind,
) -> Result<Elem, Diagnostic> {
    let Some(width) = width(kind) else {
        let message = "counts the bits of an integer of 64 bits; expected 32 or fewer";
        return Err(emit.refuse(message).fix("truncate it first, by `arith.trunci`".to_owned()));
    };
    let elem = if kind == Kind::I32 { emit.computed(elem)? } else { narrow::unsigned(emit, elem)? };
    let elem = emit.built(&elem)?.of_kind(Kind::I32);
    let count = match counted {
        Counted::Set => set(emit, &elem)?,
        Counted::Leading => {
            // Each bit below the highest one is set, too.
            let mut all = elem;
            for by in [1, 2, 4, 8, 16].into_iter().filter(|&by| by < width) {
                let below = emit.apply(Function::Lshr, &[&all, &number(by)], Kind::I32)?;
                all = built(emit, Function::Or, [&all, &below])?;
            }
            let used = set(emit, &all)?;
            emit.apply(Function::Sub, &[&number(width), &used], Kind::I32)?
        }
        Counted::Trailing => {
            // A bit above the highest one ends the count.
            let ended =
                if width == 32 { elem } else { built(emit, Function::Or, [&elem, &number(1 << width)])? };
            let less = emit.apply(Function::Sub, &[&ended, &number(1)], Kind::I32)?;
            let others = emit.apply(Function::Xor, &[&ended, &number(-1)], Kind::I32)?;
            let below = built(emit, Function::And, [&others, &less])?;
            set(emit, &below)?
        }
    };
    narrow::truncated(emit, &count.with_range((0, width)), kind)
}

/// The number of bits that are set: sums of pairs, of fours and of bytes, side by side.
fn set(emit: &mut Emitter<'_>, elem: &Elem) -> Result<Elem, Diagnostic> {
    let mut sums = elem.clone();
    for (by, mask) in MASKS {
        let high = emit.apply(Function::Lshr, &[&sums, &number(by)], Kind::I32)?;
        let high = emit.apply(Function::And, &[&high, &number(mask)], Kind::I32)?;
        let low = emit.apply(Function::And, &[&sums, &number(mask)], Kind::I32)?;
        sums = built(emit, Function::Add, [&low, &high])?;
    }
    for by in [8, 16] {
        let high = emit.apply(Function::Lshr, &[&sums, &number(by)], Kind::I32)?;
        sums = built(emit, Function::Add, [&sums, &high])?;
    }
    let count = emit.apply(Function::And, &[&sums, &number(63)], Kind::I32)?;
    Ok(count.with_range((0, 32)))
}
