//! `tm.reduce`: one element of many, in their order.

use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::ops::reduce::{Reduce, function};
use visa_numerics::{Bits, ReduceOp};

use crate::evaluate::Run;
use crate::interval::{End, Interval};
use crate::layout::offset;
use crate::order::Number as _;
use crate::tensor::Logical;
use crate::values::sum::{Reach, Reached, kept, positions};

/// The reduction of an operand.
pub(crate) fn reduce(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let op = Reduce::of(op)?;
    let (value, row) = (run.given(*op, 0)?, function(op)?);
    let tree = usize::try_from(op.tree()?).map_err(|_| op.error("C3", "a negative tree"))?;
    let element = |distance: &Option<usize>| distance.map_or(row.identity, |distance| value.at(distance));
    reduced(run, op, value, |distances| {
        let groups = distances.chunks(tree).map(|group| neighbours(row, group.iter().map(element).collect()));
        groups.reduce(|total, one| (row.apply)(total, one)).unwrap_or(row.identity)
    })
}

/// The least and the greatest sums of floats in any order. The operand is one value, or the least and the
/// greatest that it may be.
///
/// # Errors
/// Those of the reduction.
pub(crate) fn bounds(run: &Run<'_>, op: OpRef<'_>, operand: &[&Logical]) -> Result<[Logical; 2], Diagnostic> {
    let op = Reduce::of(op)?;
    let (low, high) = (operand[0], operand[operand.len() - 1]);
    let element = |&distance: &usize| Interval::element(low.dtype, low.at(distance), high.at(distance));
    let [low, high] = [End::Low, End::High].map(|end| {
        reduced(run, op, low, |distances| {
            let terms = distances.iter().flatten().map(element);
            terms.fold(Interval::ZERO, Interval::sum).rounded(distances.len(), end)
        })
    });
    Ok([low?, high?])
}

/// The result whose element is `combine` of the distances of the elements that it reduces, `None` for padding.
fn reduced(
    run: &Run<'_>,
    op: Reduce<'_>,
    value: &Logical,
    combine: impl Fn(&[Option<usize>]) -> Bits + Sync,
) -> Result<Logical, Diagnostic> {
    let (span, over) = (op.span(), op.over()?);
    let order = positions(&over, run.axes, span)?;
    let outputs = kept(value.axes.clone(), &over, op.keep()?.as_deref(), run.axes, span)?;
    let reach = Reach::new(value, &outputs, run.axes);
    let added: Vec<Option<Vec<usize>>> =
        order.iter().map(|index| index.as_ref().map(|index| reach.added(index))).collect();
    let strides = value.strides(value.axes.iter().map(|axis| axis.id));
    Logical::where_defined(value.dtype, outputs, span, |at| {
        let base = reach.base(at);
        let mut coordinates = Vec::new();
        // `None` is undefined.
        let distance = |added: &Option<Vec<usize>>| {
            let Some(added) = added else { return Some(None) };
            match reach.element(&base, added, &mut coordinates) {
                Reached::Padding => Some(None),
                Reached::Undefined => None,
                Reached::Held => {
                    let distance = offset(&strides, &coordinates);
                    value.is_defined(distance).then_some(Some(distance))
                }
            }
        };
        added.iter().map(distance).collect::<Option<Vec<_>>>().map(|distances| combine(&distances))
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
