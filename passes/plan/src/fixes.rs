//! Changes of an operation for which no plan fits the machine.

use crate::contraction::layout::{PACKET_BYTES, elements};
use std::sync::Arc;
use visa_ir::module::OpRef;
use visa_mapping::ops::contract::Contract;
use visa_mapping::ops::reduce::Reduce;
use visa_mapping::tensor::value::{Value, axis_list};

/// The change of an operation that helps, if its axes show one.
#[must_use]
pub fn fix(op: OpRef<'_>) -> Option<String> {
    narrow_layout(op).or_else(|| several_axes(op))
}

/// The order of the sum of a contraction that no packet has, and the change of it: products are summed one by one, or
/// the neighbours in a packet as a tree (book 18).
#[must_use]
pub fn other_tree(op: OpRef<'_>) -> Option<(String, String)> {
    let contract = Contract::cast(op)?;
    let sums = op.result_type::<Value>(0).filter(|sums| sums.dtype.is_float() && !contract.free())?;
    let dtype = op.operand_type::<Value>(0)?.dtype;
    let (tree, packet) = (u64::try_from(contract.tree().ok()?).ok()?, elements(PACKET_BYTES, dtype));
    if tree == 1 || tree == packet {
        return None;
    }
    let message = format!(
        "found sums of {} with trees of {tree} neighbours, expected 1, or the {packet} products of a packet",
        sums.dtype
    );
    Some((message, format!("write `tree {packet}`, or `free` if the order may be any")))
}

/// The change of an operand of less than a byte whose innermost axis is not summed: packets fetch whole bytes.
fn narrow_layout(op: OpRef<'_>) -> Option<String> {
    let over = Contract::cast(op)?.over().ok()?;
    let summed = axis_list(&over).ok()?;
    let operands = (0..op.operands().len()).filter_map(|at| op.operand_type::<Value>(at));
    let mut narrow = operands.filter(|operand| operand.dtype.bits() < 8);
    let is_summed = |axis: &Arc<str>| summed.contains(axis);
    let operand = narrow.find(|operand| operand.axes.last().is_some_and(|axis| !is_summed(axis)))?;
    let (inner, outer): (Vec<Arc<str>>, Vec<Arc<str>>) = operand.axes.iter().cloned().partition(is_summed);
    let (dtype, axes) = (operand.dtype, [outer, inner].concat().join(", "));
    Some(format!("store the operand of `{dtype}` as `[{axes}]`: the elements of a byte are summed then"))
}

/// The change of a reduction of several axes: a step divides axes that it does not reduce.
fn several_axes(op: OpRef<'_>) -> Option<String> {
    let over = Reduce::cast(op)?.over().ok()?;
    let axes = axis_list(&over).ok()?;
    let (last, others) = axes.split_last().filter(|(_, others)| !others.is_empty())?;
    let others = others.join(", ");
    Some(format!(
        "reduce over `[{last}]` first, and the result over `[{others}]`: slices divide the other axes"
    ))
}
