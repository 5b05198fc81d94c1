//! Values of a region in one order of axes: steps before it move elements of its inputs, or steps after it those of
//! its results, whichever are fewer.

use crate::array::Array;
use crate::expressions::KnownPasses;
use crate::program::Work;
use crate::read::{OpenRegion, Reader};
use crate::region::{Computation, Operation, Region, RegionValue, Slot};
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::module::{OpRef, ValueId};

impl Reader<'_> {
    /// Gives all values of a region the order of the largest one, of equals of the first output. Inputs in another
    /// order are moved before.
    pub(super) fn in_order(
        &mut self,
        region: &mut OpenRegion,
        outputs: &[(Option<ValueId>, Slot)],
        op: OpRef<'_>,
    ) {
        let size = |array: &Array| array.axes.iter().map(|axis| self.size(axis)).product::<u64>();
        let inputs = region.inputs.iter().map(|(slot, _)| &region.values[*slot].array);
        let all = inputs.chain(outputs.iter().rev().map(|(_, slot)| &region.values[*slot].array));
        let Some(largest) = all.max_by_key(|array| size(array)).map(|array| array.axes.clone()) else {
            return;
        };
        for value in &mut region.values {
            value.array.axes = ordered(&value.array.axes, &largest);
        }
        for (slot, number) in &mut region.inputs {
            let array = &region.values[*slot].array;
            let axes = array.axes.clone();
            // Loads put the elements of windows in any order.
            if array.view.is_none() && self.long(&axes) != self.long(&self.arrays[*number].axes) {
                *number = self.reordered(op, *number, axes, 1);
            }
        }
    }

    /// The numbers of the operands of a contraction with the axes of both outermost, and the summed ones innermost.
    pub(super) fn in_roles(&mut self, op: OpRef<'_>, numbers: [usize; 2], summed: &[Arc<str>]) -> [usize; 2] {
        let [first, second] = numbers.map(|number| self.arrays[number].axes.clone());
        let batch: Vec<Arc<str>> =
            first.iter().filter(|axis| second.contains(axis) && !summed.contains(axis)).cloned().collect();
        let mut in_roles = |number: usize, own: &[Arc<str>]| {
            let free = own.iter().filter(|axis| !batch.contains(axis) && !summed.contains(axis));
            let axes: Vec<Arc<str>> = batch.iter().chain(free).chain(summed).cloned().collect();
            if self.long(&axes) == self.long(own) { number } else { self.reordered(op, number, axes, 1) }
        };
        [in_roles(numbers[0], &first), in_roles(numbers[1], &second)]
    }

    /// The number of an array with the elements of another one and their axes in another order. Transfers within HBM
    /// move whole rows; pipelines move elements that are apart, since a part of a unit of HBM takes as long as many
    /// whole ones (book 11), and leave no padding between the last `joined` axes.
    pub(super) fn reordered(
        &mut self,
        op: OpRef<'_>,
        number: usize,
        axes: Vec<Arc<str>>,
        joined: usize,
    ) -> usize {
        let source = &self.arrays[number];
        if self.rows_stay(source, &axes) || self.fallbacks.moves.contains(&op.id) {
            let terms: Vec<Expr> = axes.iter().map(|axis| Expr::axis(axis)).collect();
            return self.under(op, number, [terms.clone(), terms], ("ordered", axes));
        }
        let source = source.clone();
        let out =
            Array { name: format!("{}_ordered", source.name), axes, joined, row: None, ..source.clone() };
        self.arrays.push(out.clone());
        let result = self.arrays.len() - 1;
        let copy = Computation::Map { expression: None, operands: vec![0], cast: None };
        let region = OpenRegion {
            values: vec![RegionValue::stored(source, 0), RegionValue::stored(out, 1)],
            operations: vec![Operation { computation: copy, result: 1 }],
            ..OpenRegion::default()
        };
        let work = Region {
            rows: self.rows(&region),
            inputs: vec![0],
            outputs: vec![1],
            values: region.values,
            operations: region.operations,
            passes: KnownPasses::default(),
        };
        self.push(Work::Region(Box::new(work.hoisted(self.axes))), vec![number], vec![result], op);
        result
    }

    /// Returns true if elements move in rows of at least a unit of HBM, or if windows of an array are read.
    fn rows_stay(&self, source: &Array, axes: &[Arc<str>]) -> bool {
        let [from, to] = [&source.axes[..], axes].map(|axes| self.long(axes));
        let inner = from.iter().rev().zip(to.iter().rev()).take_while(|(own, other)| own == other);
        let row: u64 = inner.map(|(axis, _)| self.size(axis)).product();
        row * u64::from(source.dtype.bits()) >= self.unit * 8
            || source.image.is_some()
            || source.view.is_some()
    }
}

/// The axes of a value in the order of the largest one. Those that this one lacks are innermost if one of them was,
/// else outermost.
fn ordered(axes: &[Arc<str>], largest: &[Arc<str>]) -> Vec<Arc<str>> {
    let kept = largest.iter().filter(|axis| axes.contains(axis)).cloned();
    let reduced = axes.iter().filter(|axis| !largest.contains(axis)).cloned();
    let inner = axes.last().is_some_and(|last| !largest.contains(last));
    if inner { kept.chain(reduced).collect() } else { reduced.chain(kept).collect() }
}
