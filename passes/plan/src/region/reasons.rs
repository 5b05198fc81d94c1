//! The reasons of a plan, as comments of the operations that it writes.

use crate::contraction::reasons::formula;
use crate::cut::Part;
use crate::order::ReduceOrder;
use crate::region::planned::PlannedRegion;
use crate::region::summed::GroupContents;
use crate::region::{Arm, Computation, Operation, Slot};
use visa_ir::diag::counted;

impl PlannedRegion<'_> {
    /// The name of a value, as it is written.
    fn name(&self, slot: Slot) -> String {
        format!("%{}", self.array(slot).name)
    }

    /// The computation of a pipeline, as it is written.
    #[must_use]
    pub fn why_pipeline(&self, operation: &Operation) -> String {
        let result = &self.array(operation.result).name;
        match &operation.computation {
            Computation::Map { expression, operands, cast } => {
                let names: Vec<String> = operands.iter().map(|&slot| self.name(slot)).collect();
                let value = expression.as_ref().map_or_else(|| names.join(", "), |own| formula(own, &names));
                let cast = cast.map_or_else(String::new, |dtype| format!(" as `{dtype}`"));
                format!("%{result} = {value}{cast}.")
            }
            Computation::Coordinates { .. } => {
                let whole = !self.array(operation.result).axes.iter().any(|axis| self.layout.is_row(axis));
                let counts = if whole { "each slice counts" } else { "one slice counts" };
                format!("%{result} = coordinates, which {counts} by a running sum of eight lanes.")
            }
            Computation::Compare { operand, .. } => {
                format!("%{result} = comparisons of {} with numbers, a bit each.", self.name(*operand))
            }
            Computation::Choose { condition, arms: [first, second] } => {
                let arm = |arm: &Arm| match arm {
                    Arm::Value(slot) => self.name(*slot),
                    Arm::Bits(bits) => format!("the bits {bits:#x}"),
                };
                let (condition, first, second) = (self.name(*condition), arm(first), arm(second));
                format!("%{result} = {first} where {condition} is not 0, else {second}.")
            }
            Computation::Reduce { op, operand, axis, order } => {
                let order = match order {
                    ReduceOrder::Free => "in any order",
                    ReduceOrder::Sequential => "one element after the other",
                    ReduceOrder::Lanes => "in trees of four",
                };
                format!("%{result} = {op} of {} over [{axis}], {order}.", self.name(*operand))
            }
        }
    }

    /// The reason of the distribution of an input.
    #[must_use]
    pub fn why_load(&self, slot: Slot) -> String {
        let rows = &self.layout.rows;
        let (name, group) = (&self.array(slot).name, rows.group().text());
        let parts =
            [(Part::Cluster, "cluster"), (Part::Slice, "slice")].map(|(part, name)| (rows.count(part), name));
        let named: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 1).map(|&(count, name)| counted(count, name)).collect();
        let has_rows = self.array(slot).axes.iter().any(|axis| self.layout.is_row(axis));
        let mut divided = Vec::new();
        if has_rows && !named.is_empty() {
            divided.push(format!("{} divide {group}, which nothing reduces", named.join(" of ")));
        }
        let sum = self.layout.sum.as_ref();
        if let Some(cut) = sum.filter(|_| self.layout.contents(self.array(slot)) == GroupContents::Parts) {
            let slices = counted(cut.count(Part::Slice), "slice");
            divided.push(format!(
                "Groups of {slices} divide {}, and reduce their parts to one",
                cut.group().text()
            ));
        }
        if !divided.is_empty() {
            return format!("{}: each slice loads its part of %{name}.", divided.join(". "));
        }
        if named.is_empty() && sum.is_none() {
            return format!("One slice computes: it loads all of %{name}.");
        }
        format!("Each slice loads all of %{name}: it has no {group}.")
    }

    /// The reason of an exchange of an input among the slices of a ring.
    #[must_use]
    pub fn why_exchange(&self, slot: Slot, ring: u64) -> String {
        let name = &self.array(slot).name;
        format!(
            "{ring} slices need all of %{name}: each loads 1/{ring} of it, the switch exchanges the parts."
        )
    }

    /// The reason of the loop over tiles.
    #[must_use]
    pub fn why_tiles(&self) -> String {
        let rows = &self.layout.rows;
        format!(
            "{} of {}: one is loaded and stored while another is computed.",
            counted(rows.tiles(), "tile"),
            rows.group().text()
        )
    }
}
