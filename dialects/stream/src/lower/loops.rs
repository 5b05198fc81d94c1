//! Loops of an engine's sequencer, from its plan and the addresses of its tensors.

use super::{StageCx, address, origin};
use crate::chain::ends;
use crate::fill::Fill;
use crate::plan::Plan;
use visa_hw::ops as hw;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, OpSpec};
use visa_ir::view;
use visa_loops::{Entry, Program};
use visa_mapping::Unit;
use visa_mapping::facts::address::Moving;
use visa_numerics::{Bits, DType};
use visa_sequencer::access::Accessor;
use visa_sequencer::ops::stages;

/// The program of a plan for a tensor at `base`, in elements.
#[must_use]
pub fn program(plan: &Plan, base: i64) -> Program {
    let mut entries: Vec<_> = plan.loops.iter().map(|step| step.entry.clone()).collect();
    if entries.is_empty() {
        entries.push(Entry::new(1, 1));
    }
    Program { entries, packet: plan.packet, base: base.saturating_add(plan.base) }
}

/// The program of a plan for a tensor at `base`.
///
/// # Errors
/// If no accesses of the machine run it.
pub fn accessed(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    (plan, base): (&Plan, i64),
    dtype: DType,
    accessor: Accessor,
) -> Result<Program, Diagnostic> {
    let elements = program(plan, base);
    match accessor.known(cx.ctx, &elements, dtype) {
        Ok(_) => Ok(elements),
        Err(error) => Err(origin::refused(op, plan, dtype, &error)),
    }
}

/// The commit of a plan to the result of `op`.
///
/// # Errors
/// If the result has no address, or no accesses of the machine run the loops.
pub fn commit(cx: &StageCx<'_>, op: OpRef<'_>, plan: &Plan) -> Result<Option<OpSpec>, Diagnostic> {
    let address = address::moving(cx, op, view::result(&op, 0, "tensor")?)?;
    commit_at(cx, op, plan, &address).map(Some)
}

/// The commit of a plan from an address on, in bytes.
///
/// # Errors
/// If no accesses of the machine run the loops.
pub fn commit_at(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    plan: &Plan,
    address: &Moving,
) -> Result<OpSpec, Diagnostic> {
    let (source, _) = ends(op)?;
    let base = address.base().saturating_mul(8) / i64::from(source.dtype.bits());
    let accessor = Accessor::Commit { unit: source.unit.unwrap_or(Unit::Main) };
    let elements = accessed(cx, op, (plan, base), source.dtype, accessor)?;
    let lowered = stages::Commit::build(op).dtype(source.dtype).loops(elements).slices(cx.bitmap);
    Ok(lowered.steps(address::steps(op, address)).spec())
}

/// The fill that writes 32 bits repeatedly in these loops.
///
/// # Errors
/// If the result has no address, or no sequencer runs the loops.
pub fn fill(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    plan: &Fill,
    number: Bits,
) -> Result<Option<OpSpec>, Diagnostic> {
    let address = address::moving(cx, op, view::result(&op, 0, "tensor")?)?;
    let distances: Vec<i64> = address.distances().collect();
    let loops = plan
        .at(address.base(), &distances, cx.machine)
        .map_err(|why| op.clause_error("C4", "element", why))?;
    let lowered = hw::fill::Fill::build(op).value(i64::from(number)).loops(loops);
    Ok(Some(lowered.steps(address::steps(op, &address)).spec()))
}
