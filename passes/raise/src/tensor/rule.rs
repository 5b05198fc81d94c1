//! Rules about operations on values.

use crate::tensor::computed::{Computed, Predicate};
use crate::tensor::term::Head;
use visa_rules::Sort;

/// The rules that come with visa: those that hold bit for bit, and those of real arithmetic.
pub(crate) const BUILTIN: [&str; 2] = [include_str!("../tensor.rules"), include_str!("../reals.rules")];

/// The equality that a rule states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equality {
    /// The same bits.
    Bits,
    /// The same real number: results differ by rounding.
    Reals,
}

impl Equality {
    /// The word of [`Self::Reals`] after the name of a rule.
    pub(crate) const REALS: &'static str = "reals";
}

/// Rules about the tensor level as a kind of rules: both sides are the same value (`kind.rs`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tensor;

/// A rule.
pub(crate) type Rule = visa_rules::Rule<Tensor>;

/// The sort of a metavariable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// A value.
    Value,
    /// A clause.
    Clause,
    /// A function of elements.
    Function,
}

impl Sort for Variable {
    fn describe(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::Clause => "a clause",
            Self::Function => "a function",
        }
    }
}

/// A side of a rule.
#[derive(Clone, Debug)]
pub(crate) enum Side {
    /// A metavariable.
    Variable(usize),
    /// A term of sides.
    Term(Head, Vec<Side>),
    /// A clause that is computed of clauses; on the right side only.
    Computed(Computed, Vec<usize>),
}

/// A condition: a predicate of metavariables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    /// The predicate.
    pub(crate) predicate: Predicate,
    /// Its arguments, by slot.
    pub(crate) arguments: Vec<usize>,
}
