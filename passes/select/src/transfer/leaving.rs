//! The cost for a pipeline's result to leave data memory: a layout that the pipeline commits fast may make transfers
//! to HBM write parts of units.

use crate::transfer::moved::Moves;
use visa_algebra::Axes;
use visa_cost::MemoryModel;
use visa_ir::module::{OpRef, TypeId};
use visa_mapping::facts::machine;
use visa_mapping::facts::placed::written_place;
use visa_mapping::ops::transfer::ToHbm;
use visa_mapping::{Dim, HBM, Tensor};

/// Cycles of the transfers that take the result of `last` to HBM, if it has type `ty`. `None` if anything else reads
/// it, or a transfer leaves its layout open or has no price.
pub(crate) fn cycles(last: OpRef<'_>, ty: TypeId, axes: &Axes) -> Option<u64> {
    let source = last.ctx.type_value::<Tensor>(ty)?;
    let (&result, _) = last.results().split_first()?;
    let users = last.module.uses(result);
    let mut each = users.iter().map(|&user| leave(last.other(user), &source, axes));
    if users.is_empty() { None } else { each.try_fold(0_u64, |sum, cycles| sum.checked_add(cycles?)) }
}

fn leave(op: OpRef<'_>, source: &Tensor, axes: &Axes) -> Option<u64> {
    let transfer = ToHbm::cast(op)?;
    let element = transfer.element().ok()?;
    let chip = transfer.chip().ok()?;
    let chip = chip.iter().map(|chip| (Dim::Chip, (**chip).clone()));
    let given: Vec<_> = chip.chain([(Dim::Element, (*element).clone())]).collect();
    let result = Tensor::build(&HBM, None, source.dtype, &given, source).ok()?;
    let (address, _) = written_place(op).ok()?;
    let machine = machine(op);
    let moves = Moves { axes, machine: &machine, model: *op.ctx.data::<MemoryModel>() };
    // Where the tensor is in data memory makes no difference; nor does HBM, but for where its channels start.
    moves.price((source, 0), (&result, address.unwrap_or_default()), &|_| false)
}
