//! Where values are: which of them share bytes, so that a command that writes one must not pass a command that needs
//! another.
//!
//! A view is where its source is, what was changed in place is where it was, and what a loop carries is where it was
//! before the loop. Tensors whose written addresses overlap are in one place, too; those whose addresses are open get
//! bytes of their own, as far as there are any (`allocate`).

use std::collections::HashMap;
use std::ops::Range;
use visa_algebra::Axes;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_machine::Machine;
use visa_mapping::facts::machine;
use visa_mapping::facts::placed::{Placement, occupied, placements};
use visa_mapping::ops::control::{carried, carries};
use visa_mapping::{Tensor, view};

/// The places of a function's values.
pub(crate) struct Places {
    /// The first value of each other's place, as far as that is another one.
    parents: HashMap<ValueId, ValueId>,
}

impl Places {
    /// The places of the values of a function.
    ///
    /// # Errors
    /// An address that is no number.
    pub(crate) fn of(func: OpRef<'_>, axes: &Axes) -> Result<Self, Diagnostic> {
        let mut places = Self { parents: HashMap::new() };
        for id in func.regions().iter().flat_map(|&block| func.module.walk(block)) {
            let op = func.other(id);
            if carries(op) {
                for own in carried(op) {
                    own.later().for_each(|value| places.join(own.initial, value));
                }
            } else if let (Some(&result), Some(before)) = (op.results().first(), before(op)) {
                places.join(before, result);
            }
        }
        places.overlapping(func, axes)?;
        Ok(places)
    }

    /// The place of a value: equal for those that share bytes.
    pub(crate) fn at(&self, value: ValueId) -> ValueId {
        let mut value = value;
        while let Some(&parent) = self.parents.get(&value) {
            value = parent;
        }
        value
    }

    fn join(&mut self, one: ValueId, other: ValueId) {
        let (one, other) = (self.at(one), self.at(other));
        if one != other {
            self.parents.insert(other, one);
        }
    }

    /// Joins tensors whose written addresses overlap.
    fn overlapping(&mut self, func: OpRef<'_>, axes: &Axes) -> Result<(), Diagnostic> {
        let (machine, placed) = (machine(func), placements(func, axes)?);
        let mut written: Vec<_> =
            placed.iter().flat_map(|placed| spans(func, placed, axes, &machine)).collect();
        written.sort_by_key(|(memory, bytes, _)| (*memory, bytes.start));
        // The one of those so far that reaches furthest.
        let mut last: Option<(&'static str, u64, ValueId)> = None;
        for (memory, bytes, value) in written {
            last = match last {
                Some((other, end, before)) if other == memory && bytes.start < end => {
                    self.join(before, value);
                    Some((memory, end.max(bytes.end), value))
                }
                Some(_) | None => Some((memory, bytes.end, value)),
            };
        }
        Ok(())
    }
}

/// What an operation's result was before.
fn before(op: OpRef<'_>) -> Option<ValueId> {
    match view::kind(op) {
        Some(_) => op.operands().first().copied(),
        None => view::changed(op),
    }
}

/// The bytes that a tensor occupies at each address that is written.
fn spans(
    func: OpRef<'_>,
    placed: &Placement,
    axes: &Axes,
    machine: &Machine,
) -> Vec<(&'static str, Range<u64>, ValueId)> {
    let value = placed.value;
    let Some(tensor) = func.ctx.type_value::<Tensor>(func.module.ty(value)) else { return Vec::new() };
    let addresses = placed.address.iter().flat_map(|address| address.addresses().iter().copied().map(Some));
    let half = placed.half;
    // A part of the register file has no address.
    let part = half.map(|_| None);
    let bytes = addresses.chain(part).filter_map(|address| occupied(&tensor, address, half, axes, machine));
    bytes.map(|bytes| (tensor.kind.def.name, bytes, value)).collect()
}
