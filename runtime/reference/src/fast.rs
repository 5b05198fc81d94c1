//! The values that a lowering may give if they depend on a fast expression (docs/numerics.md, fast expressions): the
//! least and the greatest number of each element, carried along with the values.
//!
//! An operation that rises or falls in each element it takes, the others held, has its extremes where they have
//! theirs. So it is evaluated at the ends, with the machine's own roundings: nothing is added to the ranges.

use std::collections::HashMap;

use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::expression::{Dag, Range};
use visa_mapping::ops::indexed::indexing;
use visa_mapping::{Tensor, operand};
use visa_numerics::Bits;
use visa_stream::branch::BranchMode;
use visa_stream::ops::vector_expr::VectorExpr;
use visa_stream::semantics::Semantics;

use crate::evaluate::{LogicalResult, Run, Value, meaning};
use crate::tensor::Logical;

/// The values that a lowering may give for the elements of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// The evaluator's, bit for bit: no element depends on a fast expression.
    Same,
    /// Those between these, both in C order, little-endian.
    Between {
        /// The least.
        low: Vec<u8>,
        /// The greatest.
        high: Vec<u8>,
    },
    /// Any: a fast expression's value goes through an operation of this name, for which there is no bound.
    Anything(String),
}

impl Allowed {
    /// That of a result of which `slack` is known; `result` makes an array of a tensor.
    pub(crate) fn of(
        slack: Option<&Slack>,
        result: impl Fn(&Logical) -> Result<LogicalResult, Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        Ok(match slack {
            None => Self::Same,
            Some(Slack::Between([low, high])) => {
                Self::Between { low: result(low)?.bytes, high: result(high)?.bytes }
            }
            Some(Slack::Unknown(op)) => Self::Anything(op.clone()),
        })
    }
}

/// The bounds of a value that depends on a fast expression.
#[derive(Clone, Debug)]
pub(crate) enum Slack {
    /// The least and the greatest number of each element.
    Between([Logical; 2]),
    /// Nothing, since an operation of this name.
    Unknown(String),
}

impl Run<'_> {
    /// The bounds of the result of `op`; `None` if it does not depend on a fast expression.
    pub(crate) fn slack(&self, op: OpRef<'_>) -> Result<Option<Slack>, Diagnostic> {
        let view = visa_mapping::view::kind(op).is_some();
        let expression = match meaning(op) {
            Ok(Semantics::Expression(dag)) if !view => Some(dag(op)?),
            Ok(_) | Err(_) => None,
        };
        let fast = expression.is_some() && VectorExpr::cast(op).is_some_and(|expression| expression.fast());
        let loose: Vec<&Slack> = op.operands().iter().filter_map(|value| self.slack.get(value)).collect();
        if loose.is_empty() && !fast {
            return Ok(None);
        }
        if let Some(Slack::Unknown(op)) = loose.iter().find(|slack| matches!(slack, Slack::Unknown(_))) {
            return Ok(Some(Slack::Unknown(op.clone())));
        }
        Ok(Some(match expression {
            Some(dag) => self.of_expression(op, &dag, fast)?,
            None if view || self.keeps_order(op)? => self.at_the_ends(op)?,
            None => Slack::Unknown(op.to_string()),
        }))
    }

    /// The ranges of an expression's elements.
    fn of_expression(&self, op: OpRef<'_>, dag: &Dag, fast: bool) -> Result<Slack, Diagnostic> {
        let to = op.result_type::<Tensor>(0).ok_or_else(|| op.error("C0", "the result is no tensor"))?;
        let lows = self.at(op, 0);
        let highs = self.at(op, 1);
        let mut tensors = Vec::new();
        for index in 0..op.operands().len() {
            tensors.push(lows.held(op, index, &to)?);
            tensors.push(highs.held(op, index, &to)?);
        }
        let range = |ends: &[Bits]| {
            let operands = ends.as_chunks().0.iter().map(|&[low, high]| Range { low, high });
            dag.range(&operands.collect::<Vec<_>>(), fast)
        };
        let low = self.of_each(op, &to, &tensors, |ends| range(ends).low)?;
        let high = self.of_each(op, &to, &tensors, |ends| range(ends).high)?;
        Ok(Slack::Between([low, high]))
    }

    /// Returns true if no element of the result becomes smaller when one of an operand becomes greater.
    fn keeps_order(&self, op: OpRef<'_>) -> Result<bool, Diagnostic> {
        let from = operand(op, 0).map(|tensor| tensor.dtype);
        let to = op.result_type::<Tensor>(0).map(|tensor| tensor.dtype);
        let is_loose = |index: usize| op.operands().get(index).is_some_and(|id| self.slack.contains_key(id));
        // A narrower integer wraps, a table may do anything, and a zero point is of integers.
        let converts = from == to || from.is_some_and(|from| from.is_float());
        // Rows are moved as they are, to where the index points.
        if indexing(op).is_some() {
            return Ok(!is_loose(1));
        }
        Ok(match meaning(op)? {
            Semantics::Same => converts,
            Semantics::Fetch(adapter) => {
                from.is_some_and(|from| from.is_float()) && adapter(op)?.table.is_none()
            }
            Semantics::Interleave(_) | Semantics::Overwrite(_) | Semantics::OverwriteWith(_) => true,
            Semantics::Branch(mode) => match mode(op)? {
                BranchMode::Unconditional | BranchMode::ValidCount | BranchMode::AxisToggle(_) => true,
                BranchMode::Comparison(_) => false,
                BranchMode::RegisterFile => !is_loose(1),
            },
            Semantics::Reduce(reduced) => reduced(op, self.axes)?.row.increasing,
            Semantics::ReduceSlices(row) => row(op)?.increasing,
            // Bits that are ordered as one format need not be as the other.
            Semantics::Reinterpret
            | Semantics::Constant(_)
            | Semantics::Pack(_)
            | Semantics::Ids
            | Semantics::Pair
            | Semantics::SumPacket(_)
            | Semantics::SumTime
            | Semantics::Elementwise(_)
            | Semantics::Expression(_)
            | Semantics::Zip(_) => false,
        })
    }

    /// The results of an operation that keeps order, for the least and for the greatest operands.
    fn at_the_ends(&self, op: OpRef<'_>) -> Result<Slack, Diagnostic> {
        Ok(match (self.at(op, 0).value(op)?, self.at(op, 1).value(op)?) {
            (Value::Tensor(low), Value::Tensor(high)) => Slack::Between([low, high]),
            (Value::Tensor(_) | Value::Pair(_) | Value::Sums(..), _) => Slack::Unknown(op.to_string()),
        })
    }

    /// A run in which the operands of `op` have their least values (0), or their greatest (1).
    fn at(&self, op: OpRef<'_>, end: usize) -> Self {
        let value = |id: &ValueId| {
            let value = match self.slack.get(id) {
                Some(Slack::Between(ends)) => Value::Tensor(ends[end].clone()),
                Some(Slack::Unknown(_)) | None => self.values.get(id)?.clone(),
            };
            Some((*id, value))
        };
        self.with_values(op.operands().iter().filter_map(value).collect::<HashMap<_, _>>())
    }
}
