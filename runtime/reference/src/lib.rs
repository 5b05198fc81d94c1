//! The logical evaluator: the semantics of a kernel, computed from its mappings alone.
//!
//! A tensor is a function from indices to elements. An operation that moves data keeps that function and only limits
//! which indices the result holds; a contraction sums along the coordinates that its result no longer holds; a vector
//! operation acts on each element. No loop nest, no address and no byte of the machine takes part, so that a kernel
//! that was lowered and interpreted can be checked against this (docs/ARCHITECTURE.md, two independent semantics).
//!
//! A module must verify before it is evaluated; of one that does not, evaluation gives an error or some value, but it
//! never panics.

mod contraction;
mod coverage;
mod evaluate;
mod fast;
mod gathered;
mod indexed;
mod interface;
mod layout;
mod limits;
mod order;
mod packing;
mod reduce;
mod running;
mod shuffle;
mod skew;
mod slices;
mod sum;
mod tensor;
mod turn;
mod view;

pub use evaluate::{KernelArguments, LogicalResult, Options, evaluate};
pub use fast::Allowed;
pub use interface::{ScalarInfo, Signature, TensorInfo, interface};
pub use limits::MAX_ELEMENTS;
