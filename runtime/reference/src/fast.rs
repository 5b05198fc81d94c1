//! The values that a lowering may give if they depend on a fast expression (docs/numerics.md, fast expressions) or on
//! a sum in any order: the least and the greatest number of each element, carried along with the values.
//!
//! An operation that rises or falls in each element it takes, the others held, has its extremes where they have
//! theirs. So it is evaluated at the ends, with the machine's own roundings: nothing is added to the ranges.

use std::collections::HashMap;

use visa_engine::words::ContractionKind;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::expression::{Dag, Node, NodeKind, Range, Shape};
use visa_mapping::ops::cast::Cast;
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::map::{Map, computation};
use visa_mapping::ops::reduce::{Reduce, function};
use visa_mapping::ops::{gather, rename, restrict, skew, where_};
use visa_numerics::{Bits, ReduceName};

use crate::evaluate::{LogicalResult, Run};
use crate::tensor::Logical;
use crate::values::{self, contract, elementwise::of_all, reduce};

/// The values that a lowering may give for the elements of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// The evaluator's, bit for bit: no element depends on a fast expression or on a sum in any order.
    Same,
    /// Those between these, both in C order, little-endian.
    Between {
        /// The least.
        low: Vec<u8>,
        /// The greatest.
        high: Vec<u8>,
    },
    /// Any: a value that has bounds goes through an operation of this name, which has none.
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

/// The bounds of a value that depends on a fast expression or on a sum in any order.
#[derive(Clone, Debug)]
pub(crate) enum Slack {
    /// The least and the greatest number of each element.
    Between([Logical; 2]),
    /// Nothing, since an operation of this name.
    Unknown(String),
}

impl Run<'_> {
    /// The bounds of the result of `op`; `None` if it depends neither on a fast expression nor on a sum in any order.
    pub(crate) fn slack(&self, op: OpRef<'_>) -> Result<Option<Slack>, Diagnostic> {
        let map = Map::cast(op);
        let fast = map.is_some_and(|map| map.fast());
        let loose: Vec<&Slack> = op.operands().iter().filter_map(|value| self.slack.get(value)).collect();
        let any_order = self.is_in_any_order(op)?;
        if loose.is_empty() && !fast && !any_order {
            return Ok(None);
        }
        if let Some(Slack::Unknown(op)) = loose.iter().find(|slack| matches!(slack, Slack::Unknown(_))) {
            return Ok(Some(Slack::Unknown(op.clone())));
        }
        Ok(Some(match map {
            Some(map) => {
                let dag = computation(map)?;
                match fast || dag.nodes.iter().all(is_bounded) {
                    true => self.of_expression(op, &dag, fast)?,
                    false => Slack::Unknown(op.to_string()),
                }
            }
            None if self.has_sum_bounds(op, any_order) => self.of_sum(op)?,
            None if any_order => Slack::Unknown(op.to_string()),
            None if self.keeps_order(op)? => {
                let ends = [0, 1].map(|end| values::evaluate(&self.at(op, end), op));
                let [low, high] = ends;
                Slack::Between([low?, high?])
            }
            None => Slack::Unknown(op.to_string()),
        }))
    }

    /// Returns true if `op` reduces floats in any order, and its result depends on it. Integers wrap, and a greatest
    /// element is the same in each order.
    fn is_in_any_order(&self, op: OpRef<'_>) -> Result<bool, Diagnostic> {
        let is_float = |index: usize| self.given(op, index).map(|value| value.dtype.is_float());
        if let Some(contract) = Contract::cast(op) {
            let is_sum = contract.kind()? == ContractionKind::Add;
            return Ok(self.options.any_order && contract.free() && is_sum && is_float(0)?);
        }
        let Some(reduce) = Reduce::cast(op) else { return Ok(false) };
        let depends = match reduce.op()? {
            ReduceName::Add | ReduceName::AddSat | ReduceName::Mul => true,
            ReduceName::Max | ReduceName::Min => false,
        };
        Ok(self.options.any_order && reduce.free() && depends && is_float(0)?)
    }

    /// Returns true if the bounds of `op` are those of a sum: its order may be any, or it is a contraction whose terms
    /// have bounds. A reduction in order never falls when a term rises, so that it is evaluated at the ends.
    fn has_sum_bounds(&self, op: OpRef<'_>, any_order: bool) -> bool {
        let adds = |reduce: Reduce<'_>| any_order && reduce.op().is_ok_and(|op| op == ReduceName::Add);
        let is_float = self.given(op, 0).is_ok_and(|value| value.dtype.is_float());
        let sums = Contract::cast(op)
            .is_some_and(|contract| contract.kind().is_ok_and(|kind| kind == ContractionKind::Add));
        self.options.any_order && is_float && (sums || Reduce::cast(op).is_some_and(adds))
    }

    /// The bounds of a sum.
    fn of_sum(&self, op: OpRef<'_>) -> Result<Slack, Diagnostic> {
        let mut operands = Vec::new();
        for (index, id) in op.operands().iter().enumerate() {
            operands.push(match self.slack.get(id) {
                Some(Slack::Between([low, high])) if low.axes == high.axes => vec![low, high],
                Some(Slack::Between(_) | Slack::Unknown(_)) => return Ok(Slack::Unknown(op.to_string())),
                None => vec![self.given(op, index)?],
            });
        }
        let ends = match <[Vec<&Logical>; 2]>::try_from(operands) {
            Ok(both) => contract::bounds(self, op, both)?,
            Err(one) => reduce::bounds(self, op, &one.concat())?,
        };
        Ok(Slack::Between(ends))
    }

    /// The ranges of an expression's elements.
    fn of_expression(&self, op: OpRef<'_>, dag: &Dag, fast: bool) -> Result<Slack, Diagnostic> {
        let (lows, highs) = (self.at(op, 0), self.at(op, 1));
        let dtype = dag.dtype().ok_or_else(|| op.error("C2", "the expression has no result"))?;
        let mut both = Vec::new();
        for index in 0..op.operands().len() {
            both.extend([lows.given(op, index)?, highs.given(op, index)?]);
        }
        let range = |ends: &[Bits]| {
            let operands = ends.as_chunks().0.iter().map(|&[low, high]| Range { low, high });
            dag.range(&operands.collect::<Vec<_>>(), fast)
        };
        let low = of_all(&both, dtype, op.span(), |ends| Some(range(ends).low))?;
        let high = of_all(&both, dtype, op.span(), |ends| Some(range(ends).high))?;
        Ok(Slack::Between([low, high]))
    }

    /// Returns true if no element of the result becomes smaller when one of an operand becomes greater.
    fn keeps_order(&self, op: OpRef<'_>) -> Result<bool, Diagnostic> {
        let is_loose = |index: usize| op.operands().get(index).is_some_and(|id| self.slack.contains_key(id));
        if let Some(cast) = Cast::cast(op) {
            // A narrower integer wraps. Bits that are ordered as one format need not be as the other.
            return Ok(!cast.bits() && self.given(op, 0)?.dtype.is_float());
        }
        if let Some(reduce) = Reduce::cast(op) {
            return Ok(function(reduce)?.increasing);
        }
        // Elements are moved as they are, to where a condition or an index points.
        let moves = [
            &rename::RENAME,
            &rename::SPLIT,
            &rename::MERGE,
            &rename::REARRANGE,
            &rename::BROADCAST,
            &restrict::RESTRICT,
            &restrict::EXTRACT,
            &restrict::INSERT,
            &restrict::EXTEND,
            &restrict::CONCAT,
            &skew::SKEW,
            &skew::EXCHANGE,
        ];
        let chooses = op.is(&where_::DECL) && !is_loose(0);
        let indexes = (op.is(&gather::GATHER) || op.is(&gather::SCATTER_INTO)) && !is_loose(1);
        Ok(chooses || indexes || moves.iter().any(|decl| op.is(decl)))
    }

    /// A run in which the operands of `op` have their least values (0), or their greatest (1).
    fn at(&self, op: OpRef<'_>, end: usize) -> Self {
        let value = |id: &ValueId| {
            let value = match self.slack.get(id) {
                Some(Slack::Between(ends)) => ends[end].clone(),
                Some(Slack::Unknown(_)) | None => self.values.get(id)?.clone(),
            };
            Some((*id, value))
        };
        self.with_values(op.operands().iter().filter_map(value).collect::<HashMap<_, _>>())
    }
}

/// Returns true if the range of a function follows from those of its arguments.
fn is_bounded(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Operand(_) | NodeKind::Number(_) => true,
        NodeKind::Apply(function, _) => function.shape != Shape::Other,
    }
}
