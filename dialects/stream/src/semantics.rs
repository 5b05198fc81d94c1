//! The semantics of an operation for the tensor, for any layout (book 05). The logical evaluator reads it from the
//! declaration; an operation that moves data has none.

use crate::adapter::Adapter;
use crate::branch::BranchMode;
use std::sync::Arc;
use visa_algebra::{Axes, AxisId};
pub use visa_engine::words::ContractionKind;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::Tensor;
use visa_mapping::expression::Dag;
use visa_numerics::{Apply, ArgMode, Bits, Guards, ReduceOp, default_mode};

/// The logical meaning of an operation, declared as an interface.
#[derive(Clone, Copy)]
pub enum Semantics {
    /// The same tensor in another place or order, its elements converted to the result's format.
    Same,
    /// The same tensor, the bits of its elements taken for the result's format.
    Reinterpret,
    /// The same number at every index.
    Constant(fn(OpRef<'_>) -> Result<Bits, Diagnostic>),
    /// The same tensor, each element changed by the fetch adapter on its way.
    Fetch(fn(OpRef<'_>) -> Result<Adapter, Diagnostic>),
    /// Of each packet of operand 0 the number of leading elements in operand 1, or those for whose execution id one of
    /// these guards holds, numbered along the axis of `element`.
    Pack(fn(OpRef<'_>) -> Result<Option<Guards<Bits>>, Diagnostic>),
    /// The execution ids of operand 0.
    Ids,
    /// Operands 0 and 1 as one tensor: the operand is the coordinate along this axis.
    Interleave(fn(OpRef<'_>) -> Result<Arc<str>, Diagnostic>),
    /// Two tensors, paired: the product of their elements at each index of the computation.
    Pair,
    /// Sums the products of each packet by the reduction tree, or takes the greatest.
    SumPacket(fn(OpRef<'_>) -> Result<ContractionKind, Diagnostic>),
    /// Sums over time.
    SumTime,
    /// Operand 1, the elements of this part of it replaced by those of operand 0.
    Overwrite(fn(OpRef<'_>) -> Result<Tensor, Diagnostic>),
    /// Operand 0, the elements of this part of it replaced by a number.
    OverwriteWith(fn(OpRef<'_>) -> Result<(Tensor, Bits), Diagnostic>),
    /// Reduces the axes that the slices hold before and not after, in the order of the slices.
    ReduceSlices(fn(OpRef<'_>) -> Result<&'static ReduceOp, Diagnostic>),
    /// A function of each element, and of constants or the element of the second operand.
    Elementwise(fn(OpRef<'_>) -> Result<Function, Diagnostic>),
    /// A function of one element of each operand: operations of the vector engine, one by one.
    Expression(fn(OpRef<'_>) -> Result<Dag, Diagnostic>),
    /// A function of the elements of two groups with the same index.
    Zip(fn(OpRef<'_>) -> Result<Zip, Diagnostic>),
    /// The same tensor, each element with an execution id from now on.
    Branch(fn(OpRef<'_>) -> Result<BranchMode, Diagnostic>),
    /// One element of all those along an axis that time and packet hold together.
    Reduce(fn(OpRef<'_>, &Axes) -> Result<Reduced, Diagnostic>),
}

/// Returns true if an operation adds elements up or takes the greatest of them, padding included.
#[must_use]
pub fn sums(op: OpRef<'_>) -> bool {
    let meaning = op.decl().and_then(|decl| decl.interface::<Semantics>());
    matches!(
        meaning,
        Some(
            Semantics::SumPacket(_) | Semantics::SumTime | Semantics::Reduce(_) | Semantics::ReduceSlices(_)
        )
    )
}

/// The reduced axis, and the function.
#[derive(Clone, Copy)]
pub struct Reduced {
    /// The operation.
    pub row: &'static ReduceOp,
    /// The axis.
    pub axis: AxisId,
}

/// An elementwise function on bit patterns, and where its operands come from.
#[derive(Clone)]
pub struct Function {
    /// The function.
    pub apply: Apply,
    /// The choice of stream and operands for each of its arguments.
    pub mode: ArgMode,
    /// The operands that are constants; one that the mode reads and is none here is the operation's second operand.
    pub constants: [Option<Bits>; 2],
    /// Where it applies, the others pass unchanged; slots with an operand stand for the one that is no constant.
    pub guards: Option<Arc<Guards<Bits>>>,
    /// Where its result also replaces the element of the second operand that it read, one packet after the other.
    pub write_back: Option<Arc<Guards<Bits>>>,
}

/// A function of the elements of two groups: group 0 is its stream, group 1 its operand.
#[derive(Clone)]
pub struct Zip {
    /// The function.
    pub function: Function,
    /// The axis that numbers the groups.
    pub axis: Arc<str>,
}

impl Function {
    /// A function of the stream's element alone.
    #[must_use]
    pub fn unary(apply: fn(Bits) -> Bits) -> Self {
        Self::of(Apply::Unary(apply), [None; 2])
    }

    /// A function of the stream's element and a constant.
    #[must_use]
    pub fn with_constant(apply: fn(Bits, Bits) -> Bits, constant: Bits) -> Self {
        Self::of(Apply::Binary(apply), [Some(constant), None])
    }

    /// A function of the stream's element and these constants, everywhere.
    fn of(apply: Apply, constants: [Option<Bits>; 2]) -> Self {
        Self { apply, mode: default_mode(apply.arity()), constants, guards: None, write_back: None }
    }
}
