//! The memory of arrays that replace each other: an array that a loop carries is at one address in all iterations.

use crate::program::{Item, Kernel, Step, Work};
use std::collections::{HashMap, HashSet};

/// Pairs of a result and an argument, by their numbers: the result may be written where the argument is.
pub type Pairs = HashSet<(usize, usize)>;

/// The pairs of each function that is planned, by its name.
pub type InPlace = HashMap<String, Pairs>;

/// The place of an array that follows another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// That of the other one.
    Same,
    /// That of the other one, if the plan of this step stores after all of its loads.
    SameIfStoredLast(usize),
    /// Another one.
    Apart,
}

/// Items of a block, with the arrays that share memory.
pub struct Items<'a> {
    /// The items, in their order.
    pub all: &'a [Item],
    /// The steps.
    pub steps: &'a [Step],
    /// Arrays that are in the memory of others.
    pub aliases: &'a HashMap<usize, usize>,
    /// The pairs of the functions that are called.
    pub known: &'a InPlace,
}

/// The array in whose memory an array is.
#[must_use]
pub fn root(aliases: &HashMap<usize, usize>, mut number: usize) -> usize {
    while let Some(&before) = aliases.get(&number) {
        number = before;
    }
    number
}

impl Items<'_> {
    /// The place of an array that an item makes, after `old`, which is at the beginning of the block.
    #[must_use]
    pub fn placement(&self, number: usize, old: usize) -> Placement {
        let new = root(self.aliases, number);
        let Some(from) = self.all.iter().position(|item| item.makes(self.steps).contains(&new)) else {
            return Placement::Apart;
        };
        let reads = |item: &Item| item.reads(self.steps).iter().any(|&input| self.is(input, old));
        if self.all[from + 1..].iter().any(reads) {
            Placement::Apart
        } else if reads(&self.all[from]) {
            self.over(&self.all[from], new, old)
        } else {
            Placement::Same
        }
    }

    fn is(&self, number: usize, other: usize) -> bool {
        root(self.aliases, number) == other
    }

    /// The place of an array that an item makes, of which it reads `old`.
    fn over(&self, item: &Item, new: usize, old: usize) -> Placement {
        match item {
            Item::Step(number) => match &self.steps[*number] {
                Step { work: Work::Contraction(_) | Work::Region(_), outputs, .. } if outputs.len() == 1 => {
                    Placement::SameIfStoredLast(*number)
                }
                Step { work: Work::Contraction(_) | Work::Region(_) | Work::Single(_), .. } => {
                    Placement::Apart
                }
            },
            Item::Call(call) => {
                let pairs = self.known.get(&*call.callee);
                let result = call.results.iter().position(|own| *own == new);
                let mut operands = call.operands.iter().enumerate();
                let reads =
                    |operand: usize| result.zip(pairs).is_some_and(|(at, own)| own.contains(&(at, operand)));
                let all =
                    operands.all(|(at, own)| !own.array().is_some_and(|own| self.is(own, old)) || reads(at));
                if all { Placement::Same } else { Placement::Apart }
            }
            Item::Loop(_) | Item::Tile(_) | Item::Copy(_) | Item::Insert(..) | Item::Number(_) => {
                Placement::Apart
            }
        }
    }
}

/// The pairs of a function that is planned. `stores_last` is true for a step whose plan stores after all of its loads.
#[must_use]
pub fn pairs(kernel: &Kernel, stores_last: &dyn Fn(usize) -> bool, known: &InPlace) -> Pairs {
    let items = Items { all: &kernel.body, steps: &kernel.steps, aliases: &kernel.aliases, known };
    let mut pairs = Pairs::new();
    for (at, &result) in kernel.results.iter().enumerate() {
        for (argument, array) in kernel.arguments.iter().enumerate() {
            let placement = array.array().map_or(Placement::Apart, |array| items.placement(result, array));
            let same = match placement {
                Placement::Same => true,
                Placement::SameIfStoredLast(step) => stores_last(step),
                Placement::Apart => false,
            };
            pairs.extend(same.then_some((at, argument)));
        }
    }
    pairs
}
