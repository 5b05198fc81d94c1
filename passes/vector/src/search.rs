//! Number of passes of an expression, and the choice of values that are in memory between them.
//!
//! A pass gives one value. So a plan is the list of values that are made, the last one the expression itself, each
//! by one pass from those before it. Plans of one pass are tried first, then all of two, and so on: the first that
//! works has the fewest, and of those the cheapest is taken.

use super::chain::{Available, Chain, Cost, Passes};
use super::language::Equals;
use std::collections::BTreeSet;

/// Most questions about places in a pass that the search for the fewest passes asks; checked after each list of
/// values. Past it the plan is one that makes the greatest part first: legal, but perhaps not of the fewest
/// passes, and reported as such.
pub const MAX_QUESTIONS: usize = 1_000_000;

/// The values that there are before the first pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaves {
    /// The class that is the stream, if the expression depends on it.
    pub(crate) stream: Option<usize>,
    /// True if the stream can be loaded into the register file.
    pub(crate) stream_loads: bool,
    /// Classes in the register file.
    pub(crate) files: BTreeSet<usize>,
    /// True if values between passes fit the register file.
    pub(crate) made_loads: bool,
}

impl Leaves {
    /// The available values once the values `made` are computed.
    pub(crate) fn available(&self, made: &[usize]) -> Available {
        let mut streams: BTreeSet<usize> = self.stream.into_iter().collect();
        let mut files = self.files.clone();
        files.extend(self.stream.filter(|_| self.stream_loads));
        streams.extend(made);
        files.extend(made.iter().filter(|_| self.made_loads));
        Available { streams, files, loaded: self.files.clone() }
    }
}

/// Passes in their order.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The value that each pass computes, and its chain.
    pub(crate) passes: Vec<(usize, Chain)>,
    /// True if no plan has fewer passes.
    pub(crate) fewest: bool,
}

/// The cheapest plan of the fewest passes; `None` if there is none at all.
pub(crate) fn plan(equals: &Equals, leaves: &Leaves) -> Option<Plan> {
    let greedy = greedy(equals, leaves);
    let most = greedy.as_ref().map_or(equals.classes.len(), Vec::len);
    let mut search = Search { equals, leaves, questions: 0, best: None, seen: BTreeSet::new() };
    for passes in 1..=most {
        search.seen.clear();
        let whole = search.deepen(&mut Vec::new(), Cost::default(), passes);
        if let Some((_, made)) = search.best.take() {
            return build(equals, leaves, &made, true);
        }
        if !whole {
            return build(equals, leaves, &greedy?, false);
        }
    }
    None
}

fn build(equals: &Equals, leaves: &Leaves, made: &[usize], fewest: bool) -> Option<Plan> {
    let pass = |at: usize| {
        let available = leaves.available(&made[..at]);
        Some((made[at], Passes::new(equals, &available).chain(made[at])?))
    };
    Some(Plan { passes: (0..made.len()).map(pass).collect::<Option<_>>()?, fewest })
}

struct Search<'a> {
    equals: &'a Equals,
    leaves: &'a Leaves,
    /// Asked so far.
    questions: usize,
    best: Option<(Cost, Vec<usize>)>,
    /// Sets of values that have been tried: their order does not matter to the rest of the search.
    seen: BTreeSet<Vec<usize>>,
}

impl Search<'_> {
    /// Tries every way to end in `left` more passes; whether all could be tried.
    fn deepen(&mut self, made: &mut Vec<usize>, cost: Cost, left: usize) -> bool {
        let mut sorted = made.clone();
        sorted.sort_unstable();
        if !self.seen.insert(sorted) {
            return true;
        }
        if self.questions > MAX_QUESTIONS {
            return false;
        }
        let (equals, leaves) = (self.equals, self.leaves);
        let available = leaves.available(made);
        let mut passes = Passes::new(equals, &available);
        if left == 1 {
            if let Some(last) = passes.cost(equals.root) {
                let total = cost + last;
                if self.best.as_ref().is_none_or(|(least, _)| total < *least) {
                    self.best = Some((total, [made.as_slice(), &[equals.root]].concat()));
                }
            }
            self.questions += passes.questions();
            return true;
        }
        for class in candidates(equals, &available) {
            let Some(own) = passes.cost(class) else { continue };
            made.push(class);
            let whole = self.deepen(made, cost + own, left - 1);
            made.pop();
            if !whole {
                return false;
            }
        }
        self.questions += passes.questions();
        true
    }
}

/// The values that may be worth a separate pass: not the result, no number, and not there already.
fn candidates<'a>(equals: &'a Equals, available: &'a Available) -> impl Iterator<Item = usize> + 'a {
    let there = |class: &usize| available.streams.contains(class);
    let worth =
        |&class: &usize| equals.classes[class].number.is_none() && !equals.classes[class].forms.is_empty();
    (0..equals.classes.len()).filter(move |class| *class != equals.root && worth(class) && !there(class))
}

/// The list that makes, each time, the greatest part of the expression that one pass can.
fn greedy(equals: &Equals, leaves: &Leaves) -> Option<Vec<usize>> {
    let sizes = sizes(equals);
    let mut made = Vec::new();
    loop {
        let available = leaves.available(&made);
        let mut passes = Passes::new(equals, &available);
        if passes.cost(equals.root).is_some() {
            made.push(equals.root);
            return Some(made);
        }
        let wanted = parts(equals, &sizes, &made);
        let able = candidates(equals, &available).filter(|class| wanted.contains(class));
        let able: Vec<usize> = able.filter(|&class| passes.cost(class).is_some()).collect();
        let greatest = able.into_iter().max_by_key(|&class| (sizes[class], std::cmp::Reverse(class)))?;
        made.push(greatest);
    }
}

/// The fewest operations that each class takes, nothing shared.
fn sizes(equals: &Equals) -> Vec<u64> {
    let mut sizes: Vec<u64> =
        equals.classes.iter().map(|class| if class.forms.is_empty() { 0 } else { u64::MAX }).collect();
    for (size, class) in sizes.iter_mut().zip(&equals.classes) {
        if class.operand.is_some() {
            *size = 0;
        }
    }
    loop {
        let mut changed = false;
        for (at, class) in equals.classes.iter().enumerate() {
            let least =
                class.forms.iter().map(|(_, _, args)| size_of(&sizes, args)).min().unwrap_or(u64::MAX);
            if least < sizes[at] {
                sizes[at] = least;
                changed = true;
            }
        }
        if !changed {
            return sizes;
        }
    }
}

fn size_of(sizes: &[u64], args: &[usize]) -> u64 {
    args.iter().fold(1, |sum: u64, &arg| sum.saturating_add(sizes[arg]))
}

/// The classes of the smallest form of the expression that are not made yet.
fn parts(equals: &Equals, sizes: &[u64], made: &[usize]) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::new(), vec![equals.root]);
    while let Some(class) = open.pop() {
        if made.contains(&class) || equals.classes[class].operand.is_some() || !found.insert(class) {
            continue;
        }
        let forms = equals.classes[class].forms.iter();
        if let Some((_, _, args)) = forms.min_by_key(|(_, _, args)| size_of(sizes, args)) {
            open.extend(args);
        }
    }
    found
}
