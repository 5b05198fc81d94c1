//! Sums of kernels with open clauses. Their order is free, because open clauses decide it. The summed axes are those
//! of `over`; without that, those that the result lacks.

use super::asked::{self, Asked};
use std::collections::{BTreeMap, BTreeSet};
use visa_algebra::{AxisId, Expr};
use visa_engine::words::ContractionKind;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::coverage::complement;
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::raise::sets::Set;
use visa_mapping::raise::{Known, OPEN, Raising, both};
use visa_numerics::ReduceOp;

/// The coordinates along each axis that a sum takes, and those that it keeps of them.
#[derive(Default)]
struct Division {
    summed: BTreeMap<AxisId, Set>,
    kept: BTreeMap<AxisId, Set>,
}

impl Division {
    /// Divides the coordinates of `held` for a sum along the axes `over`, or along all that nothing asks for.
    fn new(
        cx: &Raising<'_>,
        op: OpRef<'_>,
        held: &BTreeMap<AxisId, Set>,
        over: Option<&BTreeSet<AxisId>>,
        asked: &Asked,
    ) -> Result<Self, Diagnostic> {
        let mut division = Self::default();
        for (&axis, set) in held {
            let wanted = asked.along.get(&axis).filter(|_| asked.all).map(|asked| set.intersection(asked));
            let is_named = over.is_some_and(|over| over.contains(&axis));
            let part = match wanted {
                // All of an axis that is summed comes back by a broadcast.
                Some(wanted) if is_named && wanted == *set => None,
                Some(wanted) => Some(wanted),
                None if is_named || over.is_none() => None,
                None => continue,
            };
            let Some(kept) = part else {
                division.summed.insert(axis, set.clone());
                continue;
            };
            if over.is_some() && !is_named || kept == *set {
                continue;
            }
            let summed = complement(set.marks(), kept.marks()).ok_or_else(|| {
                let axis = cx.axes.name(axis);
                let why = "the coordinates of the result are not a part of those that are summed";
                Diagnostic::error(OPEN, op.span(), format!("axis `{axis}`: {why}"))
            })?;
            division.summed.insert(axis, Set::of(&summed));
            division.kept.insert(axis, kept);
        }
        Ok(division)
    }

    /// The summed positions, `[1]` without any, and the part of their axes that stays.
    fn clauses(&self, cx: &Raising<'_>) -> (Expr, Option<Expr>) {
        let map = |sets: &BTreeMap<AxisId, Set>| {
            Expr::pair(sets.iter().map(|(&axis, set)| set.expr(axis, cx.axes)))
        };
        (map(&self.summed), (!self.kept.is_empty()).then(|| map(&self.kept)))
    }
}

/// The products of two values, summed.
///
/// # Errors
/// An axis of `over` that neither has, summed axes that are not known, or a result that is no part of the products.
pub(super) fn contraction(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    [left, right]: [&Known; 2],
    kind: ContractionKind,
) -> Result<Known, Diagnostic> {
    let over = asked::named(op, cx.axes);
    let held = both(left, right);
    if let Some(&axis) = over.iter().flatten().find(|axis| !held.contains_key(axis)) {
        let message = format!("the sum is over `{}`, an axis of neither operand", cx.axes.name(axis));
        return Err(Diagnostic::error(OPEN, op.span(), message));
    }
    let asked = asked::of_sum(cx, op)?;
    if over.is_none() && !asked.all {
        return Err(unknown(op.operand_def(0).unwrap_or(op), "the summed axes", "the contraction"));
    }
    // It sums each axis of `over` whole (C4 of `stream.accumulate`).
    let asked = if over.is_some() { Asked::default() } else { asked };
    let division = Division::new(cx, op, &held, over.as_ref(), &asked)?;
    let (over, keep) = division.clauses(cx);
    let left = cx.broadcast(op, left.clone(), division.summed.keys().copied())?;
    let right = cx.broadcast(op, right.clone(), division.summed.keys().copied())?;
    let mut held = both(&left, &right);
    held.extend(division.kept);
    let built = Contract::build(op, [left.value, right.value]).over(over).keep(keep).free(true);
    let built = if kind == ContractionKind::Max { built.kind(ContractionKind::Max) } else { built };
    cx.emit(built.spec(), held)
}

/// A value, reduced along an axis within slices.
///
/// # Errors
/// A result that is no part of the value.
pub(super) fn within_slice(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    known: Known,
    row: &ReduceOp,
    axis: AxisId,
) -> Result<Known, Diagnostic> {
    let known = cx.broadcast(op, known, std::iter::once(axis))?;
    let asked = asked::of_result(cx, op)?;
    let over = BTreeSet::from([axis]);
    let division = Division::new(cx, op, &known.held, Some(&over), &asked)?;
    reduced(cx, op, known, row, division)
}

/// A value, reduced between slices.
///
/// # Errors
/// Reduced axes that are not known, or a result that is no part of the value.
pub(super) fn between_slices(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    known: Known,
    row: &ReduceOp,
) -> Result<Known, Diagnostic> {
    let (over, asked) = (asked::named(op, cx.axes), asked::of_result(cx, op)?);
    if over.is_none() && !asked.all {
        return Err(unknown(op, "the reduced axes", "the reduction"));
    }
    let division = Division::new(cx, op, &known.held, over.as_ref(), &asked)?;
    if division.summed.is_empty() {
        return Ok(known);
    }
    reduced(cx, op, known, row, division)
}

fn reduced(
    cx: &mut Raising<'_>,
    op: OpRef<'_>,
    known: Known,
    row: &ReduceOp,
    division: Division,
) -> Result<Known, Diagnostic> {
    let (over, keep) = division.clauses(cx);
    let spec = Reduce::build(op, [known.value]).op(row.name).over(over).keep(keep).free(true).spec();
    let mut held = known.held;
    held.extend(division.kept);
    cx.emit(spec, held)
}

/// The error for axes that neither a clause nor a type states.
fn unknown(op: OpRef<'_>, axes: &str, sum: &str) -> Diagnostic {
    let message =
        format!("{axes} of `{op}` are unknown: it has no `over`, and no type states what its result has");
    let fix = format!("give {sum} `over [..]`, or write the layout of the tensor at the end");
    Diagnostic::error(OPEN, op.span(), message).fix(fix)
}
