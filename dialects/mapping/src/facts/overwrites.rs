//! Tiles that are written again before anything has read them (C6 of `tm.to_tile` and of `stream.commit_tile`).
//!
//! Two writes of one tensor meet if in some iterations of the loops around them their tiles do. That is decided:
//! indices, and conditions of branches, are sums of indices. Where anything reads the tensor in the outermost loop
//! that both are in, or between them, it may read the first write; then no diagnostic is reported.

use crate::facts::liveness::Positions;
use crate::index::affine::Affine;
use crate::index::cases::{Bound, Case};
use crate::ops::control::{FOR, For, YIELD, carried, times};
use crate::ops::func::RETURN;
use crate::ops::number::{everywhere, runs};
use crate::ops::to_tile::TileWrite;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use visa_algebra::{Axes, Expr};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_loops::{Condition, some_iteration};

/// A write into a tile in one of its cases, in any iteration of the loops around it.
struct Write<'a> {
    op: OpRef<'a>,
    /// The dimensions that are cut, as they are written.
    along: Expr,
    /// Positions of each that the tile has.
    size: i64,
    /// The first of them, for each dimension.
    first: Vec<Affine>,
    /// The indices of the loops around it, outermost first, with their iterations.
    loops: Vec<(ValueId, u64)>,
    /// The numbers that branches around it look at, and where these must be.
    conditions: Vec<Bound>,
}

impl<'a> Write<'a> {
    /// The writes of an operation, one for each case.
    fn of(op: TileWrite<'a>, axes: &Axes) -> Result<Vec<Self>, Diagnostic> {
        let index = Affine::constant(op.index()?);
        let overflow = || op.error("C3", "the index does not fit 64 bits");
        let firsts = everywhere(*op, op.first().map(|first| first.id), axes)?.map(|first| {
            let none = first.is_empty().then(Affine::default);
            let moved = |number: &Affine| number.plus(&index).ok_or_else(overflow);
            first.iter().chain(&none).map(moved).collect::<Result<Vec<_>, _>>()
        })?;
        let loops = op.ancestors().filter_map(For::cast).map(|around| {
            let index = around.regions().first().and_then(|&block| op.module.args(block).first());
            Ok(index.copied().zip(Some(times(around, axes)?)))
        });
        let mut loops: Vec<_> =
            loops.collect::<Result<Vec<_>, Diagnostic>>()?.into_iter().flatten().collect();
        loops.reverse();
        let (along, size) = (op.along()?, op.size()?);
        let write = |case: &Case<Vec<Affine>>| Self {
            op: *op,
            along: (*along).clone(),
            size,
            first: case.what.clone(),
            loops: loops.clone(),
            conditions: case.bounds.clone(),
        };
        Ok(runs(*op, &firsts, axes)?.iter().map(write).collect())
    }
}

impl Write<'_> {
    /// The positions of the first dimension that its tiles have in all iterations.
    fn reach(&self) -> Range<i128> {
        let range = self.first.first().and_then(Affine::range);
        let (least, most) = range.unwrap_or((i64::MIN, i64::MAX));
        i128::from(least)..i128::from(most) + i128::from(self.size)
    }
}

/// Two writes, as indices that are counted: those of the first, and those of the second that differ from them.
struct Pair {
    /// The number of each index of the first write, and of the second.
    numbers: [HashMap<ValueId, usize>; 2],
    times: Vec<u64>,
    conditions: Vec<Condition>,
}

impl Pair {
    /// Two writes in iterations that share those of the outermost `shared` loops.
    fn new(one: &Write<'_>, other: &Write<'_>, shared: usize) -> Self {
        let mut pair =
            Self { numbers: [HashMap::new(), HashMap::new()], times: Vec::new(), conditions: Vec::new() };
        for (number, &(index, times)) in one.loops.iter().enumerate() {
            let at = pair.count(times);
            pair.numbers[0].insert(index, at);
            if number < shared {
                pair.numbers[1].insert(index, at);
            }
        }
        for &(index, times) in other.loops.iter().skip(shared) {
            let at = pair.count(times);
            pair.numbers[1].insert(index, at);
        }
        pair
    }

    fn count(&mut self, times: u64) -> usize {
        self.times.push(times);
        self.times.len() - 1
    }

    /// The condition that a number of the first write, less one of the second, is in a range. Scalars are the same in
    /// both.
    fn differ(&mut self, [one, other]: [&Affine; 2], range: Range<i128>) {
        let mut factors = HashMap::new();
        for (side, number, sign) in [(0, one, 1), (1, other, -1)] {
            for term in &number.terms {
                let known = self.numbers[side].get(&term.index).copied();
                let at = known.unwrap_or_else(|| {
                    let at = self.count(term.first + term.times);
                    for numbers in &mut self.numbers {
                        numbers.insert(term.index, at);
                    }
                    at
                });
                let factor: &mut i64 = factors.entry(at).or_default();
                *factor = factor.saturating_add(term.factor.saturating_mul(sign));
            }
        }
        let base = i128::from(one.base) - i128::from(other.base);
        let all = (0..self.times.len()).map(|at| factors.get(&at).copied().unwrap_or_default());
        self.conditions
            .push(Condition { factors: all.collect(), range: range.start - base..range.end - base });
    }

    /// The conditions of the branches around one of the writes.
    fn runs(&mut self, side: usize, write: &Write<'_>) {
        for Bound { number, from, below } in &write.conditions {
            let none = Affine::default();
            let range = Condition::new(Vec::new(), *from, *below).range;
            match side {
                0 => self.differ([number, &none], range),
                _ => self.differ([&none, number], 1 - range.end..1 - range.start),
            }
        }
    }
}

/// Returns true if two writes meet in iterations that share those of the outermost `shared` loops; with `apart`, in an
/// earlier and a later iteration of the loop inside these.
fn meet(one: &Write<'_>, other: &Write<'_>, shared: usize, apart: bool) -> bool {
    let mut pair = Pair::new(one, other, shared);
    if apart {
        let index =
            |write: &Write<'_>| write.loops.get(shared).map(|&(index, times)| Affine::index(index, times));
        let (Some(first), Some(second)) = (index(one), index(other)) else { return false };
        pair.differ([&first, &second], Condition::new(Vec::new(), None, Some(0)).range);
    }
    for (first, second) in one.first.iter().zip(&other.first) {
        pair.differ([first, second], 1 - i128::from(one.size)..i128::from(other.size));
    }
    pair.runs(0, one);
    pair.runs(1, other);
    some_iteration(&pair.times, &pair.conditions).is_some()
}

/// C6 of each write of a function.
///
/// # Errors
/// An index that is no number.
pub(crate) fn check(func: OpRef<'_>, axes: &Axes, report: &dyn Fn(Diagnostic)) -> Result<(), Diagnostic> {
    let ops: Vec<OpRef<'_>> =
        func.regions().iter().flat_map(|&block| func.module.walk(block)).map(|id| func.other(id)).collect();
    let writes = ops.iter().filter_map(|op| TileWrite::cast(*op));
    let writes = writes.map(|op| Write::of(op, axes)).collect::<Result<Vec<_>, _>>()?;
    if writes.is_empty() {
        return Ok(());
    }
    let positions = Positions::of_function(func);
    let tensors = Tensors::of(&ops, &positions);
    let mut begun: HashMap<_, Begun<'_, '_>> = HashMap::new();
    for cases in &writes {
        let Some(later) = cases.first() else { continue };
        let alike = (tensors.tensor(later), later.along.to_string(), later.first.len());
        let begun = begun.entry(alike).or_default();
        let near = cases.iter().flat_map(|later| begun.near(later).map(move |earlier| (earlier, later)));
        let unread = near.filter(|(earlier, later)| !tensors.read_between(earlier, later, &positions));
        let again_of = unread.filter(|(earlier, later)| meet(earlier, later, 0, false));
        let first = again_of.map(|(earlier, _)| earlier).min_by_key(|earlier| positions.of(earlier.op.id));
        if let Some(earlier) = first {
            let error = later.op.error("C6", "it writes elements again before they are read");
            let fix = "read the tensor between the two, or write another tile".to_owned();
            report(error.note("they are written here", Some(earlier.op.span())).fix(fix));
        } else if !tensors.read_between(later, later, &positions) && again(cases) {
            let message = "in a later iteration it writes elements again before they are read";
            let fix =
                "let the tile depend on the index of each loop around it, or read the tensor in the loop";
            report(later.op.error("C6", message).fix(fix.to_owned()));
        }
        cases.iter().for_each(|write| begun.add(write));
    }
    Ok(())
}

/// Writes of one tensor that are cut alike, by where their tiles begin along the first dimension.
#[derive(Default)]
struct Begun<'w, 'a> {
    by_start: BTreeMap<i128, Vec<&'w Write<'a>>>,
    /// The most positions from where tiles of a write begin to where they end.
    widest: i128,
}

impl<'w, 'a> Begun<'w, 'a> {
    fn add(&mut self, write: &'w Write<'a>) {
        let Range { start, end } = write.reach();
        self.widest = self.widest.max(end - start);
        self.by_start.entry(start).or_default().push(write);
    }

    /// The writes that may meet a write, judged by the first dimension only.
    fn near(&self, write: &Write<'_>) -> impl Iterator<Item = &'w Write<'a>> + use<'_, 'w, 'a> {
        let Range { start, end } = write.reach();
        self.by_start.range(start - self.widest..end).flat_map(|(_, writes)| writes.iter().copied())
    }
}

/// Returns true if a write meets itself in a later iteration. Another case of it is another iteration.
fn again(cases: &[Write<'_>]) -> bool {
    let itself = |write: &Write<'_>| (0..write.loops.len()).any(|shared| meet(write, write, shared, true));
    let other = |(number, later): (usize, &Write<'_>)| {
        cases[..number].iter().any(|earlier| meet(earlier, later, 0, false))
    };
    cases.iter().any(itself) || cases.iter().enumerate().any(other)
}

/// The outermost loop around an operation.
fn outermost(op: OpRef<'_>) -> Option<OpRef<'_>> {
    op.ancestors().filter(|around| around.is(&FOR)).last()
}

/// The tensor of each value, and the positions at which each tensor is read.
struct Tensors {
    /// A value that stands for each.
    of: HashMap<ValueId, ValueId>,
    /// The positions of the operations that read each, in order.
    reads: HashMap<ValueId, Vec<usize>>,
}

impl Tensors {
    fn of(ops: &[OpRef<'_>], positions: &Positions) -> Self {
        let mut tensors = Self { of: HashMap::new(), reads: HashMap::new() };
        for op in ops {
            for carried in carried(*op) {
                carried.later().for_each(|value| tensors.join(carried.initial, value));
            }
            if let Some(write) = TileWrite::cast(*op)
                && let (Ok(tensor), Some(&result)) = (write.tensor(), op.results().first())
            {
                tensors.join(tensor.id, result);
            }
        }
        for op in ops.iter().filter(|op| !op.is(&YIELD) && !op.is(&RETURN)) {
            let written = TileWrite::cast(*op).and_then(|write| Some(write.tensor().ok()?.id));
            let through: Vec<ValueId> = carried(*op).into_iter().map(|carried| carried.initial).collect();
            let read =
                op.operands().iter().filter(|value| Some(**value) != written && !through.contains(value));
            for &value in read {
                let root = tensors.root(value);
                tensors.reads.entry(root).or_default().push(positions.of(op.id));
            }
        }
        tensors
    }

    fn root(&self, value: ValueId) -> ValueId {
        self.of.get(&value).map_or(value, |&before| self.root(before))
    }

    fn join(&mut self, one: ValueId, other: ValueId) {
        let (one, other) = (self.root(one), self.root(other));
        if one != other {
            self.of.insert(other, one);
        }
    }

    fn tensor(&self, write: &Write<'_>) -> Option<ValueId> {
        write.op.operands().get(1).map(|&value| self.root(value))
    }

    /// Returns true if anything may read the tensor between two writes of it: in the outermost loop around both, or
    /// where there is none, from the one to the other.
    fn read_between(&self, earlier: &Write<'_>, later: &Write<'_>, positions: &Positions) -> bool {
        let (one, other) = (outermost(earlier.op), outermost(later.op));
        let (from, to) = match (one, other) {
            (Some(one), Some(other)) if one.id == other.id => (positions.of(one.id), positions.end(one)),
            _ => {
                let start = |around: Option<OpRef<'_>>, write: &Write<'_>| {
                    around.map_or(write.op.id, |around| around.id)
                };
                let end = other.map_or_else(|| positions.of(later.op.id), |around| positions.end(around));
                (positions.of(start(one, earlier)), end)
            }
        };
        let reads = self.tensor(later).and_then(|tensor| self.reads.get(&tensor));
        reads.is_some_and(|reads| {
            let next = reads.partition_point(|read| *read < from);
            reads.get(next).is_some_and(|read| *read <= to)
        })
    }
}
