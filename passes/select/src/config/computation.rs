//! The computations of pipelines, by the kernel at the tensor level: the axes that each sums, and those that it keeps.
//!
//! A kernel with open clauses is raised by axes ([`raise_by_axes`]), once for all choices. Each operation of a
//! pipeline stands for operations on values there; the axes are those of their clauses and types.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use visa_algebra::{Axes, AxisId};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef, ValueId};
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::func::FUNC;
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::raise::function::{RaisedByAxes, raise_by_axes};
use visa_mapping::summed::named;
use visa_mapping::tensor::value::Value;
use visa_stream::ops::vector_inter::DECL as INTER_DECL;

/// The axes that a pipeline sums, and those that it keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Computation {
    /// True if it is a contraction.
    pub contracts: bool,
    /// The axes that the contraction sums, each whole.
    pub contracted: BTreeSet<AxisId>,
    /// Axes that are reduced within slices: the stream has all of them, also if the result has only a part.
    pub within: BTreeSet<AxisId>,
    /// Axes that are reduced between slices, each with the part that slices hold.
    pub between: BTreeSet<AxisId>,
    /// The axes of the result.
    pub kept: BTreeSet<AxisId>,
}

impl Computation {
    /// Returns true if the axis is summed, and the result lacks it.
    pub fn sums_over(&self, axis: AxisId) -> bool {
        let sums = [&self.contracted, &self.within, &self.between];
        sums.into_iter().any(|axes| axes.contains(&axis)) && !self.kept.contains(&axis)
    }

    /// Returns true if the axis goes through a contraction and is in the result.
    pub fn keeps(&self, axis: AxisId) -> bool {
        self.kept.contains(&axis) && !self.contracted.contains(&axis)
    }
}

/// The kernels of a module at the tensor level. They hold for copies of it that differ only in the values of open
/// clauses and in inserted engines.
#[derive(Default)]
pub struct Computations {
    kernels: Vec<Kernel>,
}

/// A kernel at the tensor level.
struct Kernel {
    function: RaisedByAxes,
    /// The values of the tensor level that some value of the memory level is.
    bound: HashSet<ValueId>,
}

impl Computations {
    /// The computations of a module's functions.
    ///
    /// # Errors
    /// A function whose result has other axes than its values, or that has no tensor level.
    pub fn of_module(ctx: &Context, module: &Module) -> Result<Self, Diagnostic> {
        let functions = module.ops(module.body()).iter().copied().filter(|&id| module.op(ctx, id).is(&FUNC));
        Self::of_functions(ctx, module, functions)
    }

    /// The computations of some functions of a module.
    ///
    /// # Errors
    /// As of [`Computations::of_module`].
    pub fn of_functions(
        ctx: &Context,
        module: &Module,
        functions: impl Iterator<Item = OpId>,
    ) -> Result<Self, Diagnostic> {
        let kernels = functions.map(|function| {
            let function = raise_by_axes(ctx, module, function)?;
            Ok(Kernel { bound: function.values.values().copied().collect(), function })
        });
        Ok(Self { kernels: kernels.collect::<Result<_, Diagnostic>>()? })
    }

    /// The computation of the pipeline `chain`; empty for one that is in none of the functions.
    pub fn of(&self, chain: &[OpRef<'_>], axes: &Axes) -> Computation {
        let has = |kernel: &&Kernel| chain.iter().any(|op| kernel.value(*op).is_some());
        self.kernels
            .iter()
            .find(has)
            .map_or_else(Computation::default, |kernel| kernel.computation(chain, axes))
    }
}

impl Kernel {
    /// The value of an operation's result; `None` for a part of a computation, and for an engine that was inserted.
    fn value(&self, op: OpRef<'_>) -> Option<ValueId> {
        op.results().first().and_then(|result| self.function.values.get(result)).copied()
    }

    fn computation(&self, chain: &[OpRef<'_>], axes: &Axes) -> Computation {
        let ids = |names: Vec<Arc<str>>| -> BTreeSet<AxisId> {
            names.iter().filter_map(|name| axes.id(name)).collect()
        };
        let (mut found, mut left) = (Computation::default(), BTreeSet::new());
        for op in chain {
            for id in self.stands_for(*op) {
                let new = self.function.raised.module.op(op.ctx, id);
                if let Some(over) = Contract::cast(new).and_then(|contract| contract.over().ok()) {
                    found.contracts = true;
                    found.contracted.extend(ids(named(&over)));
                    left.extend(result_axes(new, axes));
                } else if let Some(over) = Reduce::cast(new).and_then(|reduce| reduce.over().ok()) {
                    let reduced = if op.is(&INTER_DECL) { &mut found.between } else { &mut found.within };
                    reduced.extend(ids(named(&over)));
                }
            }
        }
        // Of an axis that goes on, the contraction sums all but the part that slices hold: that is reduced later.
        found.contracted.retain(|axis| !left.contains(axis) || found.between.contains(axis));
        // The last operation may write into a tensor that has more axes.
        let stream = chain.iter().rev().skip(1).find_map(|op| self.value(*op));
        let ty = stream
            .zip(chain.first())
            .and_then(|(value, op)| op.ctx.type_value::<Value>(self.function.raised.module.ty(value)));
        found.kept = ty.map(|ty| ids(ty.axes.clone())).unwrap_or_default();
        found
    }

    /// The operations on values that an operation stands for: those between its result and other values of the memory
    /// level.
    fn stands_for(&self, op: OpRef<'_>) -> Vec<OpId> {
        let operand = op.operands().first().and_then(|operand| self.function.values.get(operand));
        let result = self.value(op).filter(|result| operand != Some(result));
        let (mut open, mut found) = (Vec::from_iter(result), Vec::new());
        while let Some(value) = open.pop() {
            let Some(id) = self.function.raised.module.def_op(value).filter(|id| !found.contains(id)) else {
                continue;
            };
            found.push(id);
            let operands = self.function.raised.module.op(op.ctx, id).operands();
            open.extend(operands.iter().copied().filter(|operand| !self.bound.contains(operand)));
        }
        found
    }
}

/// The axes of an operation's result.
fn result_axes(op: OpRef<'_>, axes: &Axes) -> BTreeSet<AxisId> {
    let ty = op.result_type::<Value>(0);
    ty.iter().flat_map(|ty| &ty.axes).filter_map(|name| axes.id(name)).collect()
}
