//! `tm.reduce`: one element of many, in their order.

use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::ops::reduce::{Reduce, function};
use visa_numerics::{Bits, ReduceOp};

use crate::evaluate::Run;
use crate::layout::offset;
use crate::tensor::Logical;
use crate::values::sum::{Reach, Reached, kept, positions};

/// The reduction of an operand.
pub(crate) fn reduce(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let op = Reduce::of(op)?;
    let (value, span) = (run.given(*op, 0)?, op.span());
    let (over, keep, row) = (op.over()?, op.keep()?, function(op)?);
    let tree = usize::try_from(op.tree()?).map_err(|_| op.error("C3", "a negative tree"))?;
    let order = positions(&over, run.axes, span)?;
    let outputs = kept(value.axes.clone(), &over, keep.as_deref(), run.axes, span)?;
    let reach = Reach::new(value, &outputs, run.axes);
    let added: Vec<Option<Vec<usize>>> =
        order.iter().map(|index| index.as_ref().map(|index| reach.added(index))).collect();
    let strides = value.strides(value.axes.iter().map(|axis| axis.id));
    Logical::where_defined(value.dtype, outputs, span, |at| {
        let base = reach.base(at);
        let mut place = Vec::new();
        // Padding is the identity; `None` is undefined.
        let mut element = |added: &Option<Vec<usize>>| {
            let Some(added) = added else { return Some(row.identity) };
            match reach.element(&base, added, &mut place) {
                Reached::Padding => Some(row.identity),
                Reached::Undefined => None,
                Reached::Held => value.element(offset(&strides, &place)),
            }
        };
        let mut total = None;
        for group in added.chunks(tree) {
            let elements: Option<Vec<Bits>> = group.iter().map(&mut element).collect();
            let one = neighbours(row, elements?);
            total = Some(total.map_or(one, |total| (row.apply)(total, one)));
        }
        Some(total.unwrap_or(row.identity))
    })
}

/// A tree: each level reduces neighbours.
fn neighbours(row: &ReduceOp, mut elements: Vec<Bits>) -> Bits {
    while elements.len() > 1 {
        let pair =
            |pair: &[Bits]| pair.iter().copied().reduce(|x, y| (row.apply)(x, y)).unwrap_or(row.identity);
        elements = elements.chunks(2).map(pair).collect();
    }
    elements.first().copied().unwrap_or(row.identity)
}
