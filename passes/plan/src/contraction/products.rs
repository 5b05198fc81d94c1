//! Contractions that may be sums of the products of their elements.

use crate::contraction::{Contraction, Prologue, SumOrder};
use crate::expressions::computed;
use visa_numerics::{DType, ReduceName, fetch_cast, reduce_op};

/// Most bytes of the operands and the result: of more, the Contraction Engine multiplies faster than the vector
/// engine, unless windows are copied for it.
const MOST_BYTES: u64 = 1 << 20;

/// Returns true if products of elements are another form of a contraction, which may take fewer cycles: one operand
/// has all axes, the fetch converts both operands without loss, and the vector engine adds in any order.
#[must_use]
pub fn may_multiply(problem: &Contraction, reads_windows: bool) -> bool {
    let whole = problem.free.iter().any(|free| free.size == 1);
    let wide = problem.accumulator;
    let converts = |dtype: DType| fetch_cast(dtype, wide).is_some();
    let adds = reduce_op(ReduceName::Add, wide).is_some_and(|row| row.within_slice);
    whole
        && problem.order == SumOrder::Free
        && (reads_windows || problem.bytes() <= MOST_BYTES)
        && problem.prologues.iter().all(|prologue| *prologue == Prologue::default())
        && problem.operands.iter().all(|array| converts(array.dtype))
        && computed(wide) == wide
        && adds
}
