//! Inputs of a region in the order of its result: steps before it move their elements within HBM.

use crate::array::Array;
use crate::program::Work;
use crate::read::{OpenRegion, Reader};
use crate::single::{Move, Single};
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::module::OpRef;

impl Reader<'_> {
    /// Replaces the inputs whose axes are in another order than those of the result in `slot`.
    pub(super) fn in_order(&mut self, region: &mut OpenRegion, slot: usize, op: OpRef<'_>) {
        let result = region.values[slot].array.axes.clone();
        for (slot, number) in &mut region.inputs {
            let source = self.arrays[*number].clone();
            let axes = ordered(&source.axes, &result);
            if axes == source.axes {
                continue;
            }
            for value in region.values.iter_mut().filter(|value| value.storage == *slot) {
                value.array.axes.clone_from(&axes);
            }
            let terms: Vec<Expr> = axes.iter().map(|axis| Expr::axis(axis)).collect();
            let out = Array { name: format!("{}_ordered", source.name), axes, ..source.clone() };
            self.arrays.push(out.clone());
            let moved = self.arrays.len() - 1;
            let kind = Move::Relabel { source, before: terms.clone(), after: terms };
            self.push(Work::Single(Box::new(Single { kind, out })), vec![*number], vec![moved], op);
            *number = moved;
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
