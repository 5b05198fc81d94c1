//! The same elements under other axes.

use visa_algebra::{AxisId, Expr};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::coverage::Coverage;
use visa_mapping::error::mapping_error;
use visa_mapping::ops::rename::{Merge, Rearrange, Rename, Split, renamed};
use visa_mapping::ops::skew::{Exchange, Skew, shuffle};

use crate::evaluate::Run;
use crate::tensor::Logical;
use crate::{shuffle, turn, view};

/// `tm.rename`: other names.
pub(crate) fn rename(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let id = |name: &str| run.axes.resolve(name).map_err(|error| mapping_error(error, op.span()));
    let pairs = renamed(Rename::of(op)?)?;
    let pairs: Vec<(AxisId, AxisId)> =
        pairs.iter().map(|(from, to)| Ok((id(from)?, id(to)?))).collect::<Result<_, Diagnostic>>()?;
    view::renamed(run.given(op, 0)?, &pairs, op.span())
}

/// `tm.split`: the digits of one axis.
pub(crate) fn split(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let split = Split::of(op)?;
    counted_by(run, op, &*split.axis()?, &*split.to()?)
}

/// `tm.merge`: one axis for several.
pub(crate) fn merge(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let merge = Merge::of(op)?;
    counted_by(run, op, &*merge.axes()?, &*merge.to()?)
}

/// `tm.rearrange`: the index of one mapping in place of that of another.
pub(crate) fn rearrange(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let rearrange = Rearrange::of(op)?;
    counted_by(run, op, &*rearrange.from()?, &*rearrange.to()?)
}

/// `tm.broadcast`: a value is the same along every axis that it lacks.
pub(crate) fn broadcast(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    run.given(op, 0).cloned()
}

/// The operand with the index that `new` holds at a position in place of the one that `old` holds there.
fn counted_by(run: &Run<'_>, op: OpRef<'_>, old: &Expr, new: &Expr) -> Result<Logical, Diagnostic> {
    view::relabelled(run.given(op, 0)?, old, new, run.axes, op.span())
}

/// `tm.skew`: an axis counted by a skewed one, or the other way round.
pub(crate) fn skew(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let skew = Skew::of(op)?;
    let (from, to) = (skew.axis()?, skew.to()?);
    turn::turned(run.given(op, 0)?, run.axis(op, &from)?, run.axis(op, &to)?, run.axes, op.span())
}

/// `tm.exchange`: the parts of a dimension change places.
pub(crate) fn exchange(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let exchange = Exchange::of(op)?;
    let shuffle = shuffle(exchange, run.axes)?;
    let part = match exchange.part()? {
        Some(part) => (*part).clone(),
        None => Expr::pair(exchange.along()?.axis_names(run.axes).iter().map(|name| Expr::axis(name))),
    };
    let held = Coverage::of_map(&part, run.axes, op.span())?;
    shuffle::shuffled(run.given(op, 0)?, &shuffle, &held, run.axes, op.span())
}
