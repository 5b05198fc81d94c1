//! Uses of memory that come before its writes: bytes that a program reads in some iteration, and writes only after
//! that.
//!
//! Iterations are not enumerated. A read in all its iterations is a box of indices and addresses. If one write has
//! covered the box before, it is fine. If none has met it, any part of it that is written later is used too early.
//! Otherwise both halves of the box are examined. The overlap of accesses is decided ([`visa_loops::meet`]).

mod covered;
mod touched;

use crate::program::Program;
use covered::covers;
use std::cell::Cell;
use std::ops::Range;
use touched::{Touch, touches};
use visa_engine::Space;
use visa_ir::span::Span;
use visa_loops::{Condition, Moving, Pairs, may_contain, meet, narrowed};
use visa_machine::Machine;

/// Boxes of a read that are looked at before the question is given up.
const MAX_BOXES: usize = 1 << 10;

/// Partial sums that all questions about a read may take together ([`meet`]), before they are given up.
const MAX_SUMS: usize = 1 << 20;

/// A read of bytes that are written only later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyUse {
    /// Where the command that reads is declared.
    pub read: Span,
    /// Where the command is declared that writes it later.
    pub written: Span,
    /// The memory.
    pub space: Space,
    /// An iteration of the loops around the read in which that is so, the outermost first.
    pub iteration: Vec<u64>,
}

/// The findings for a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// An early use of each read that has any, in program order.
    pub early: Vec<EarlyUse>,
    /// Reads of which it could not be told in bounded time.
    pub undecided: Vec<Span>,
}

/// The reads of a program that come before the writes of the same bytes, in some iteration. Arguments are written
/// before the program starts. Bytes without a write are not examined: they are padding, or undefined, and then
/// `--shadow` reports them.
#[must_use]
pub fn early_uses(program: &Program, machine: &Machine) -> Uses {
    let all = touches(program, machine);
    let mut uses = Uses::default();
    for read in all.iter().filter(|touch| !touch.write) {
        let writes: Vec<&Touch> =
            all.iter().filter(|touch| touch.write && touch.space == read.space).collect();
        let mut search =
            Search { read, scalars: program.scalars.len(), left: MAX_BOXES, sums: Cell::new(MAX_SUMS) };
        match search.run(&writes) {
            Answer::Fine => {}
            Answer::Early { written, iteration } => {
                let (read, space) = (read.span, read.space);
                uses.early.push(EarlyUse { read, written, space, iteration });
            }
            Answer::Undecided => uses.undecided.push(read.span),
        }
    }
    // Several parts of one command, and several turns of it, are one finding.
    uses.early.sort_by_key(|early| (early.read, early.space, early.iteration.clone()));
    uses.early.dedup_by_key(|early| (early.read, early.space));
    uses.undecided.sort();
    uses.undecided.dedup();
    uses
}

/// A part of a read: iterations, and the addresses that it touches in each.
#[derive(Clone, Debug)]
struct Part {
    ranges: Vec<Range<u64>>,
    program: visa_loops::Program,
}

enum Answer {
    Fine,
    Early { written: Span, iteration: Vec<u64> },
    Undecided,
}

struct Search<'a> {
    read: &'a Touch,
    /// Number of loops that are scalars of the program.
    scalars: usize,
    /// Number of boxes that may still be examined.
    left: usize,
    /// Number of partial sums that may still be examined.
    sums: Cell<usize>,
}

impl Search<'_> {
    fn run(&mut self, writes: &[&Touch]) -> Answer {
        let times: Vec<u64> = self.read.loops.iter().map(|around| around.times).collect();
        let Some(ranges) = narrowed(&times, &self.read.when) else { return Answer::Fine };
        self.part(&Part { ranges, program: self.read.program.clone() }, writes)
    }

    /// An early use of a part, of all but some writes that do not meet it.
    fn part(&mut self, part: &Part, writes: &[&Touch]) -> Answer {
        let Some(left) = self.left.checked_sub(1).filter(|_| self.sums.get() > 0) else {
            return Answer::Undecided;
        };
        self.left = left;
        let of = |write_first: bool| -> Vec<&Touch> {
            let meets = |write: &&&Touch| self.meets(write, part, write_first) != Some(false);
            writes.iter().filter(meets).copied().collect()
        };
        let (before, after) = (of(true), of(false));
        let covered = |write: &&Touch| covers(write, self.read, self.scalars, &part.ranges, &part.program);
        if after.is_empty() || before.iter().any(covered) {
            return Answer::Fine;
        }
        if before.is_empty() {
            return self.early(part, &after);
        }
        // A single unit in a single iteration was written by the write that meets it.
        let Some(parts) = between(part, &before).or_else(|| halves(part)) else { return Answer::Fine };
        // In a loop most writes come before and after: each is looked at once in the halves.
        let known = |write: &&&Touch| before.iter().chain(&after).any(|known| std::ptr::eq(*known, **write));
        let known: Vec<&Touch> = writes.iter().filter(known).copied().collect();
        let mut found = parts.iter().map(|half| self.part(half, &known));
        found.find(|found| !matches!(found, Answer::Fine)).unwrap_or(Answer::Fine)
    }

    /// An iteration of a part without an earlier write in which it is read, and the later write.
    fn early(&self, part: &Part, after: &[&Touch]) -> Answer {
        let later = |part: &Part| after.iter().find(|write| self.meets(write, part, false) == Some(true));
        let mut part = part.clone();
        while let Some(depth) = part.ranges.iter().position(|range| range.end - range.start > 1) {
            let [low, high] = split(&part, depth);
            part = if later(&low).is_some() { low } else { high };
        }
        let indices = part.ranges.iter().enumerate().skip(self.scalars);
        let iteration = indices.map(|(depth, range)| self.read.iteration(depth, range.start)).collect();
        later(&part).map_or(Answer::Undecided, |write| Answer::Early { written: write.span, iteration })
    }

    /// Returns true if a write meets a part in some pair of iterations, in which the write comes first, or the read.
    fn meets(&self, write: &Touch, part: &Part, write_first: bool) -> Option<bool> {
        let shared = write.shared(self.read);
        let earlier = (self.scalars..shared).map(Pairs::Earlier);
        let same = (write_first == (write.position < self.read.position)).then_some(Pairs::Same(shared));
        let all: Vec<Range<u64>> = write.loops.iter().map(|around| 0..around.times).collect();
        let write = Moving { program: &write.program, steps: &write.steps, loops: &all, when: &write.when };
        // The ranges state all conditions where each one is on one index.
        let when: &[Condition] = if self.read.narrow { &[] } else { &self.read.when };
        let read = Moving { program: &part.program, steps: &self.read.steps, loops: &part.ranges, when };
        let mut met = Some(false);
        for pairs in earlier.chain(same) {
            let [first, second] = if write_first { [write, read] } else { [read, write] };
            let mut left = self.sums.get();
            let meeting = meet(first, second, pairs, &mut left);
            self.sums.set(left);
            match meeting {
                Some(true) => return Some(true),
                Some(false) => {}
                None => met = None,
            }
        }
        met
    }
}

/// A part as two, by the iterations of a loop.
fn split(part: &Part, depth: usize) -> [Part; 2] {
    let Range { start, end } = part.ranges[depth].clone();
    let middle = start + (end - start) / 2;
    [start..middle, middle..end].map(|range| {
        let mut half = part.clone();
        half.ranges[depth] = range;
        half
    })
}

/// A part as two, by the shortest loop of its addresses that is in none of the writes: alternating rows of two
/// tensors, which are written separately. `None` if there is no such loop.
fn between(part: &Part, writes: &[&Touch]) -> Option<[Part; 2]> {
    let entries = part.program.entries.iter().enumerate();
    let apart = entries.filter(|(_, entry)| writes.iter().all(|write| !may_contain(&write.program, entry)));
    let (at, _) = apart.min_by_key(|(_, entry)| entry.limit)?;
    let programs = part.program.halves_of(at)?;
    Some(programs.map(|program| Part { ranges: part.ranges.clone(), program }))
}

/// A part as two: its iterations, or its addresses. `None` if it is one unit in one iteration.
fn halves(part: &Part) -> Option<[Part; 2]> {
    let longest = (0..part.ranges.len()).max_by_key(|&at| part.ranges[at].end - part.ranges[at].start);
    if let Some(depth) = longest.filter(|&at| part.ranges[at].end - part.ranges[at].start > 1) {
        return Some(split(part, depth));
    }
    let programs = part.program.halves()?;
    Some(programs.map(|program| Part { ranges: part.ranges.clone(), program }))
}
