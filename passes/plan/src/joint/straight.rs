//! The straight parts of a kernel: steps that follow each other without a loop, a call or a copy between them.

use crate::program::{Item, Kernel, Operand};
use std::collections::HashSet;
use std::ops::Range;

/// The straight parts of a kernel, each with the numbers of its steps, as kernels that have the others' arrays as
/// arguments and results.
#[must_use]
pub fn straight_parts(kernel: &Kernel) -> Vec<(Range<usize>, Kernel)> {
    let mut ranges = Vec::new();
    add_ranges(&kernel.body, &mut ranges);
    ranges.into_iter().map(|steps| (steps.clone(), part(kernel, steps))).collect()
}

/// Adds the numbers of the steps of each straight part of a block.
fn add_ranges(items: &[Item], ranges: &mut Vec<Range<usize>>) {
    let mut open: Option<Range<usize>> = None;
    for item in items {
        match item {
            Item::Step(number) => {
                let first = open.take().map_or(*number, |open| open.start);
                open = Some(first..number + 1);
            }
            Item::Loop(inner) => {
                ranges.extend(open.take());
                add_ranges(&inner.body, ranges);
            }
            Item::Call(_) | Item::Tile(_) | Item::Copy(_) | Item::Insert(..) | Item::Number(_) => {
                ranges.extend(open.take());
            }
        }
    }
    ranges.extend(open);
}

/// The steps of a part as a kernel.
fn part(kernel: &Kernel, steps: Range<usize>) -> Kernel {
    let own = &kernel.steps[steps.clone()];
    let made: Vec<usize> = own.iter().flat_map(|step| step.outputs.iter().copied()).collect();
    let mut arguments: Vec<usize> = Vec::new();
    for &input in own.iter().flat_map(|step| &step.inputs) {
        if !made.contains(&input) && !arguments.contains(&input) {
            arguments.push(input);
        }
    }
    let mut read: HashSet<usize> = kernel.results.iter().copied().collect();
    let others = kernel.steps.iter().enumerate().filter(|(number, _)| !steps.contains(number));
    read.extend(others.flat_map(|(_, step)| step.inputs.iter().copied()));
    let around = kernel.body.iter().filter(|item| !matches!(item, Item::Step(_)));
    read.extend(around.flat_map(reads_outside));
    Kernel {
        name: kernel.name.clone(),
        arrays: kernel.arrays.clone(),
        arguments: arguments.into_iter().map(Operand::Array).collect(),
        aliases: kernel.aliases.clone(),
        steps: own.to_vec(),
        body: (0..own.len()).map(Item::Step).collect(),
        results: made.into_iter().filter(|array| read.contains(array)).collect(),
    }
}

/// The arrays that an item reads, apart from those of its steps.
fn reads_outside(item: &Item) -> Vec<usize> {
    match item {
        Item::Step(_) => Vec::new(),
        Item::Loop(inner) => {
            let inside = inner.body.iter().flat_map(reads_outside);
            inner.initial.iter().chain(&inner.yielded).copied().chain(inside).collect()
        }
        Item::Call(_) | Item::Tile(_) | Item::Copy(_) | Item::Insert(..) | Item::Number(_) => item.reads(&[]),
    }
}
