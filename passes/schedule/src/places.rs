//! Storage of values: those that share bytes, so that a command that writes one must not pass a command that needs
//! another.
//!
//! A view has the storage of its source, a value changed in place that of its previous value, and a value carried by a
//! loop that of its initial value. Tensors whose explicit addresses overlap share storage, too; those with open
//! addresses get separate bytes, if enough are free (`allocate`).

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
    /// The first value of the storage of each value, if that is another one.
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

/// The previous value of an operation's result.
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
