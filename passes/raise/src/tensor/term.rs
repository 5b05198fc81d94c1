//! Functions of the tensor level as terms of an e-graph.
//!
//! The children of an operation are its operands and then its clauses, one for each that is declared. An expression
//! of elements is a term of functions. A loop is a term of its initial and its yielded values, in which symbols stand
//! for the index and the carried values of the loop at some depth. So a rule holds inside of loops as it does outside.

use crate::graph::Declared;
use visa_ir::context::{AttrId, TypeId};
use visa_ir::decl::OpDecl;
use visa_mapping::expression::Function;
use visa_numerics::{Bits, DType};

/// The head of a term, without its children.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Head {
    /// An argument of the function.
    Argument(usize, TypeId),
    /// The index of the loop at a depth.
    Index(usize, TypeId),
    /// A value that the loop at a depth carries.
    Carried {
        /// Number of loops around it.
        depth: usize,
        /// Its position among the carried values.
        number: usize,
        /// Its type.
        ty: TypeId,
    },
    /// A number that is the same everywhere.
    Number(DType, Bits),
    /// A function of elements: its name, and its arguments.
    Apply,
    /// The first value, undefined where one of the others is.
    WhereDefined,
    /// An operation: operands, and clauses.
    Operation(Declared),
    /// A loop at a depth: the dimension, the initial values, the yielded ones.
    Loop(usize),
    /// A branch: the bounds, the number, the initial values, the yielded ones.
    Branch,
    /// A result of a loop or branch.
    Result(usize),
    /// The value of a clause.
    Clause(AttrId),
    /// A clause that is left out.
    Absent,
    /// The name of a function of elements.
    Name(&'static Function),
}

/// A term.
pub(crate) type Term = visa_canonical::node::Node<Head>;

impl Head {
    /// The head of an operation.
    #[must_use]
    pub(crate) fn operation(decl: &'static OpDecl) -> Self {
        Self::Operation(Declared(decl))
    }
}
