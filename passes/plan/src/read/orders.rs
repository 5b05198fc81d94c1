//! Inputs of a region in the order of its result: steps before it move their elements within HBM.

use crate::read::{OpenRegion, Reader};
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::module::OpRef;

impl Reader<'_> {
    /// Replaces the inputs whose axes are in another order than those of the result in `slot`.
    pub(super) fn in_order(&mut self, region: &mut OpenRegion, slot: usize, op: OpRef<'_>) {
        let result = region.values[slot].array.axes.clone();
        for (slot, number) in &mut region.inputs {
            let axes = ordered(&self.arrays[*number].axes, &result);
            if axes == self.arrays[*number].axes {
                continue;
            }
            for value in region.values.iter_mut().filter(|value| value.storage == *slot) {
                value.array.axes.clone_from(&axes);
            }
            let terms: Vec<Expr> = axes.iter().map(|axis| Expr::axis(axis)).collect();
            *number = self.under(op, *number, [terms.clone(), terms], ("ordered", axes));
        }
    }
}

/// The axes of an input in the order of the result. Those that the result lacks are innermost if one of them was,
/// else outermost.
fn ordered(axes: &[Arc<str>], result: &[Arc<str>]) -> Vec<Arc<str>> {
    let kept = result.iter().filter(|axis| axes.contains(axis)).cloned();
    let reduced = axes.iter().filter(|axis| !result.contains(axis)).cloned();
    let inner = axes.last().is_some_and(|last| !result.contains(last));
    if inner { kept.chain(reduced).collect() } else { reduced.chain(kept).collect() }
}
