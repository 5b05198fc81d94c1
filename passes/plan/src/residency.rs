//! The places of the values of a plan, and the reuse of each byte that is loaded, for explanations.

use crate::array::Array;
use crate::contraction::Role;
use crate::contraction::emit::Planned;
use crate::flow::Ways;
use crate::region::Slot;
use crate::region::planned::PlannedRegion;
use visa_algebra::Axes;
use visa_ir::diag::counted;
use visa_numerics::DType;

/// The load of a value that a step before leaves in data memory.
const HERE: &str = "left there by a step before";

/// Bytes of a number of elements.
fn bytes(elements: u64, dtype: DType) -> u64 {
    elements.saturating_mul(u64::from(dtype.bits())).div_ceil(8)
}

/// Elements of an array.
fn elements(array: &Array, axes: &Axes) -> u64 {
    array.axes.iter().filter_map(|name| axes.id(name)).map(|id| axes.size(id)).product()
}

/// The number of times, with a decimal if it is not whole.
fn times(dividend: u64, divisor: u64) -> String {
    match (dividend / divisor, dividend % divisor) {
        (1, 0) => "once".to_owned(),
        (2, 0) => "twice".to_owned(),
        (whole, 0) => format!("{whole} times"),
        (_, _) => format!("{:.1} times", dividend as f64 / divisor as f64),
    }
}

/// The places of the operands of a contraction, and of its result.
#[must_use]
pub fn of_contraction(planned: &Planned<'_>, ways: &Ways) -> Vec<String> {
    let choice = planned.choice;
    let operands = [choice.stationary, 1 - choice.stationary];
    let mut all: Vec<String> =
        operands.iter().filter_map(|&at| operand(planned, at, ways.here[at])).collect();
    for array in &planned.problem.epilogue.operands {
        all.push(format!("`%{}` is in the vector register file, for each sum", array.name));
    }
    let name = &planned.problem.out.name;
    all.push(if ways.stores[0] {
        format!("`%{name}` is in data memory between its pipeline and its store, and is stored once")
    } else {
        format!("`%{name}` stays in data memory, where later steps read it: nothing stores it")
    });
    all
}

/// The places of an operand; `None` if its layout has no size.
fn operand(planned: &Planned<'_>, number: usize, is_here: bool) -> Option<String> {
    let (problem, choice, layout, axes) = (planned.problem, planned.choice, planned.layout, planned.axes);
    let array = &problem.operands[number];
    let held = layout.loaded(problem, choice, number, axes).size(axes).ok()?;
    let both = |role: Role| choice.clusters(role);
    let copies = if number == choice.stationary {
        choice.stream * both(Role::Stream)
    } else {
        choice.rows / choice.share * both(Role::Rows) * layout.stream_loads() / layout.stream.tiles()
    };
    let loaded = copies * elements(array, axes);
    let slices = choice.slices() * if choice.cluster.is_some() { 2 } else { 1 };
    let file = if number == choice.stationary {
        format!("; {} at a time in the register file", counted(choice.row, "row"))
    } else {
        String::new()
    };
    let loads = if is_here { HERE.to_owned() } else { format!("loaded {}", times(copies, 1)) };
    Some(format!(
        "`%{}` takes {} of data memory in each of {}{file}; {loads}, and each of its elements there is multiplied {}",
        array.name,
        counted(bytes(held, array.dtype), "byte"),
        counted(slices, "slice"),
        times(problem.products(), loaded.max(1)),
    ))
}

/// The places of the values of a region.
#[must_use]
pub fn of_region(planned: &PlannedRegion<'_>, ways: &Ways) -> Vec<String> {
    let region = planned.region;
    let mut all = Vec::new();
    for (slot, value) in region.values.iter().enumerate().filter(|(slot, value)| value.storage == *slot) {
        let stored = |other: &&Slot| region.values[**other].storage == slot;
        let readers =
            region.operations.iter().filter(|own| own.computation.reads().iter().any(|r| stored(&r)));
        let readers = readers.count() as u64;
        let held: u64 = planned.layout.local(&value.array).iter().map(|local| local.size).product();
        let uses = [
            region
                .inputs
                .iter()
                .position(|own| *own == slot)
                .map(|at| if ways.here[at] { HERE.to_owned() } else { "loaded once".to_owned() }),
            (readers > 0).then(|| format!("read by {}", counted(readers, "pipeline"))),
            region.outputs.iter().position(|out| stored(&out)).map(|at| {
                if ways.stores[at] { "stored once".to_owned() } else { "left for later steps".to_owned() }
            }),
        ];
        let uses: Vec<String> = uses.into_iter().flatten().collect();
        // A value that the pipeline converts on its way is nowhere.
        if uses.is_empty() {
            continue;
        }
        all.push(format!(
            "`%{}` takes {} of data memory in a slice: {}",
            value.array.name,
            counted(bytes(held, value.array.dtype), "byte"),
            uses.join(", ")
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_decimal_if_they_need_one() {
        let all = [(64, 16), (7, 7), (14, 7), (33, 64), (100, 96), (0, 7)];
        let texts = all.map(|(dividend, divisor)| times(dividend, divisor));
        assert_eq!(texts, ["4 times", "once", "twice", "0.5 times", "1.0 times", "0 times"]);
    }

    #[test]
    fn bytes_are_whole() {
        assert_eq!(bytes(3, DType::I4), 2);
        assert_eq!(bytes(4, DType::Bf16), 8);
        assert_eq!(bytes(u64::MAX, DType::F32), u64::MAX.div_ceil(8));
    }
}
