//! Axes that the planner declares: a running sum counts coordinates by steps and lanes, and a sum over parts of axes
//! needs its positions as one axis.

use crate::contraction::layout::SUMS;
use crate::order::ReduceOrder;
use crate::selection::SelectedRows;
use std::collections::BTreeMap;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_mapping::ops::constant::{Coordinate, INDEX};
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::func::AxesOp;
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::tensor::attrs::{AxisSize, AxisSizes};
use visa_mapping::tensor::value::{axis_list, one_axis};

/// The axes that the planner declares.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// The axis of the positions of a sum by its size.
    sums: BTreeMap<u64, Arc<str>>,
    /// The axis of the lanes; `None` if nothing is counted.
    lanes: Option<Arc<str>>,
    /// The axis of the steps by its size.
    steps: BTreeMap<u64, Arc<str>>,
}

/// Steps of eight lanes that count the coordinates of an axis.
fn steps(size: u64) -> u64 {
    size.div_ceil(SUMS)
}

impl Counters {
    /// The axes for all indices, selections and sums of a module.
    ///
    /// # Errors
    /// An operation without its axes.
    pub fn new(ctx: &Context, module: &Module, axes: &Axes, machine: &Machine) -> Result<Self, Diagnostic> {
        let mut counters = Self::default();
        for id in module.walk_all() {
            let op = module.op(ctx, id);
            if let Some(count) = positions(op, axes)? {
                counters.sums.entry(count).or_insert_with(|| unused(&format!("Sum{count}"), axes));
            }
            let axis = if op.is(&INDEX) {
                one_axis(op, "C1", "axis", &*Coordinate::of(op)?.axis()?)?
            } else if let Some(rows) = SelectedRows::of(ctx, module, op, (axes, machine))? {
                rows.along
            } else {
                continue;
            };
            let Some(size) = axes.id(&axis).map(|id| axes.size(id)) else { continue };
            counters.lanes.get_or_insert_with(|| unused("Lanes", axes));
            let name = || unused(&format!("Steps{}", steps(size)), axes);
            counters.steps.entry(steps(size)).or_insert_with(name);
        }
        Ok(counters)
    }

    /// The axes of the steps and of the lanes that count an axis of `size` coordinates.
    #[must_use]
    pub fn of(&self, size: u64) -> Option<[Arc<str>; 2]> {
        Some([Arc::clone(self.steps.get(&steps(size))?), Arc::clone(self.lanes.as_ref()?)])
    }

    /// The axis of `count` positions of a sum.
    #[must_use]
    pub fn of_sum(&self, count: u64) -> Option<Arc<str>> {
        self.sums.get(&count).cloned()
    }

    /// Declares the axes at the beginning of a module, and among `axes`.
    ///
    /// # Errors
    /// More axes than a module may have.
    pub fn declare(&self, ctx: &Context, module: &mut Module, axes: &mut Axes) -> Result<(), Diagnostic> {
        let lanes = self.lanes.iter().map(|name| (name, SUMS));
        let counts = self.steps.iter().chain(&self.sums).map(|(size, name)| (name, *size));
        let all = counts.chain(lanes).map(|(name, size)| (Arc::clone(name), size));
        declare(ctx, module, axes, all.collect()).map(drop)
    }
}

/// Declares axes with their sizes at the beginning of a module, and among `axes`. Returns the declaration, if there
/// are any.
///
/// # Errors
/// More axes than a module may have.
pub fn declare(
    ctx: &Context,
    module: &mut Module,
    axes: &mut Axes,
    all: Vec<(Arc<str>, u64)>,
) -> Result<Option<OpId>, Diagnostic> {
    if all.is_empty() {
        return Ok(None);
    }
    let mut sizes = Vec::new();
    for (name, size) in all {
        sizes.push((name.to_string(), AxisSize::Size(size)));
        axes.declare(&name, size)
            .map_err(|why| Diagnostic::error("plan-kernel", Span::default(), why.message))?;
    }
    let top = module.body();
    let before: Vec<OpId> = module.ops(top).to_vec();
    let op = AxesOp::build_at(ctx, Span::default()).sizes(AxisSizes(sizes));
    let declared = module.append(top, op.spec());
    module.set_ops(top, std::iter::once(declared).chain(before).collect());
    Ok(Some(declared))
}

/// The positions of a reduction over parts of axes, or over several axes in their order, and of a contraction over
/// several axes; `None` for another operation.
///
/// # Errors
/// An operation without its clauses.
pub fn positions(op: OpRef<'_>, axes: &Axes) -> Result<Option<u64>, Diagnostic> {
    if let Some(contract) = Contract::cast(op) {
        let over = contract.over()?;
        let several = axis_list(&over).is_ok_and(|names| names.len() > 1);
        return Ok(over.size(axes).ok().filter(|_| several));
    }
    let Some(reduce) = Reduce::cast(op) else { return Ok(None) };
    let (over, any) = (reduce.over()?, ReduceOrder::of(reduce)? == Some(ReduceOrder::Free));
    let whole = axis_list(&over).is_ok_and(|names| names.len() == 1 || any);
    let kept = reduce.keep()?.is_some();
    Ok(over.size(axes).ok().filter(|_| kept || !whole))
}

/// A name of an axis that no axis and no alias has.
#[must_use]
pub fn unused(name: &str, axes: &Axes) -> Arc<str> {
    let free = |name: &String| axes.id(name).is_none() && axes.alias(name).is_err();
    let numbered = (2_u64..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(free).map_or_else(|| Arc::from(name), Arc::from)
}
