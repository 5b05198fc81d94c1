//! Bytes that fetches read beyond the tensors that they read: padding in front is read from the memory before the
//! tensor (book 08), and a fetch may read past its tensor's end (book 33).

use super::given::AllocationInput;
use super::tensors::{PlacedTensor, Reach};
use std::collections::HashMap;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::index::affine::Affine;
use visa_mapping::index::cases::Cases;
use visa_mapping::ops::control::{carried, carries};
use visa_mapping::view;
use visa_stream::lower::StageCx;
use visa_stream::lower::address::{Addresses, cases, view_address};
use visa_stream::ops::fetch::read_ranges;

/// The reach of a function's tensors, by tensor; those that are not read beyond are not listed.
#[must_use]
pub fn reaches(
    func: OpRef<'_>,
    placed: &[PlacedTensor],
    given: &AllocationInput<'_>,
) -> HashMap<ValueId, Reach> {
    let mut reaches: HashMap<ValueId, Reach> = HashMap::new();
    // Each tensor as if it were at 0: a view then has the same distance from its source as anywhere.
    let mut addresses: Addresses =
        placed.iter().map(|tensor| (tensor.value, Cases::always(Affine::default().into()))).collect();
    let mut buffers: HashMap<ValueId, &PlacedTensor> =
        placed.iter().map(|tensor| (tensor.value, tensor)).collect();
    let block = func.regions().first();
    for id in block.map_or_else(Vec::new, |&block| func.module.walk(block)) {
        let op = func.other(id);
        if carries(op) {
            // A carried value is where it was before, and so is the value that the body yields.
            for carried in carried(op) {
                let initial = &carried.initial;
                let (address, buffer) = (addresses.get(initial).cloned(), buffers.get(initial).copied());
                for value in carried.later() {
                    addresses.extend(address.clone().map(|address| (value, address)));
                    buffers.extend(buffer.map(|buffer| (value, buffer)));
                }
            }
            continue;
        }
        let viewed = view::kind(op)
            .and_then(|_| Some((*op.operands().first()?, view_address(op, &addresses, given.axes)?)));
        let changed = view::changed(op).and_then(|before| Some((before, addresses.get(&before)?.clone())));
        if let (Some((source, address)), Some(&result)) = (viewed.or(changed), op.results().first()) {
            addresses.insert(result, address);
            if let Some(&buffer) = buffers.get(&source) {
                buffers.insert(result, buffer);
            }
        }
        for (value, (start, end)) in extents(op, &addresses, given) {
            let Some(buffer) = buffers.get(&value) else { continue };
            let reach = reaches.entry(buffer.value).or_default();
            reach.before = reach.before.max(start.min(0).unsigned_abs());
            reach.after = reach.after.max(end.max(0).unsigned_abs().saturating_sub(buffer.bytes));
        }
    }
    reaches.retain(|_, reach| *reach != Reach::default());
    reaches
}

/// Bytes that an operation reads of tensors, in each of its cases.
fn extents(op: OpRef<'_>, addresses: &Addresses, given: &AllocationInput<'_>) -> Vec<(ValueId, (i64, i64))> {
    let AllocationInput { axes, support, frames, machine, .. } = *given;
    let cx =
        StageCx { ctx: op.ctx, axes: &axes.0, machine, support, addresses, frames, case: &[], bitmap: None };
    let begin = op.operand_def(0).unwrap_or(op);
    // Errors in a case are reported where it is lowered.
    let cases = cases(&cx, op, &[begin]).unwrap_or_default();
    cases.iter().flat_map(|case| read_ranges(&StageCx { case, ..cx }, op)).collect()
}
