//! What an operation means for the tensor, whatever the layout (book 05). The logical evaluator reads it from the
//! declaration; an operation that moves data means nothing at all.

use crate::adapter::Adapter;
use std::sync::Arc;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::Tensor;
use visa_numerics::Bits;

/// The logical meaning of an operation, declared as an interface.
#[derive(Clone, Copy)]
pub enum Meaning {
    /// The same tensor in another place or order, its elements converted to the result's format.
    Same,
    /// The same number at every index.
    Constant(fn(OpRef<'_>) -> Result<Bits, Diagnostic>),
    /// The same tensor, each element changed by the fetch adapter on its way.
    Fetch(fn(OpRef<'_>) -> Result<Adapter, Diagnostic>),
    /// Of each packet of operand 0 as many leading elements as operand 1 says, numbered along the axis of `element`.
    Pack,
    /// Operands 0 and 1 as one tensor: which of them, is the coordinate along this axis.
    Interleave(fn(OpRef<'_>) -> Result<Arc<str>, Diagnostic>),
    /// Two tensors, paired: the product of their elements at each index of the computation.
    Pair,
    /// Sums the products of each packet by the reduction tree, or takes the greatest.
    SumPacket(fn(OpRef<'_>) -> Reduction),
    /// Sums over time.
    SumTime,
    /// Operand 1, the elements of this part of it replaced by those of operand 0.
    Overwrite(fn(OpRef<'_>) -> Result<Tensor, Diagnostic>),
    /// A function of each element, and of the element of the second operand or the constant.
    Elementwise(fn(OpRef<'_>) -> Result<Function, Diagnostic>),
}

/// What a contraction makes of its products, in the packet and over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum.
    Add,
    /// The greatest.
    Max,
}

/// An elementwise function on bit patterns, and where its second argument comes from.
#[derive(Clone, Copy)]
pub struct Function {
    /// The function.
    pub apply: fn(Bits, Bits) -> Bits,
    /// The second argument, unless it is the operation's second operand.
    pub constant: Option<Bits>,
}
