//! A mapping as a tree of runs, for mappings that are no digit list: padding, truncation, slices and splits that fall
//! inside a digit.
//!
//! # The tree
//! A run is one position, padding, a run repeated with a step along an axis, runs one after the other, or a run moved
//! along an axis. Every operator but the sliding one has a rule: truncation and slicing cut a repetition into whole
//! iterations and a part of one; a stride regroups iterations to the least common multiple of their length and the
//! stride, which is the common mixed radix of the two. A coordinate is added on the way down, and one that reaches
//! the size of its axis makes everything below it don't-care padding, exactly as in [`Map`](crate::Map).
//!
//! # Comparison
//! Two trees of one length are compared from the first position on, so the first difference found is the first
//! there is:
//! - padding and positions directly;
//! - runs one after the other by cutting the other side at their boundaries;
//! - two repetitions over their common period, the least common multiple of their bodies. If they agree on it, no
//!   coordinate leaves its axis and both step equally from one period to the next, they agree everywhere; if they step
//!   differently, the difference shows in the second period.
//!
//! The first two need no argument. For the third: without leaving an axis, the cells of period k are those of
//! period 0 with k times the step added to every live index, on both sides. Padding agrees in all periods if it
//! does in one, and two live cells agree in period k >= 1 iff the steps are equal, or iff they agree in period 1.
//! Where a coordinate may leave its axis, iterations are compared one by one. Steps and nodes are bounded
//! ([`MAX_RUN_STEPS`], [`MAX_RUN_NODES`]).

use std::rc::Rc;

use crate::effort::count_effort;
use crate::expr::axes::{Axes, AxisId};
use crate::expr::{Expr, PadKind, Side};
use crate::meaning::carry::settle;
use crate::meaning::cell::Index;

/// Most runs that a mapping is taken apart into.
pub const MAX_RUN_NODES: usize = 1 << 12;

/// Most comparisons of two runs before the question is given up, and most runs cut for them.
pub const MAX_RUN_STEPS: usize = 1 << 14;

/// Most iterations that a stride regroups into one.
const MAX_GROUP: u64 = 256;

/// Reason why the runs do not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRuns {
    /// A sliding expression: several indices share a position.
    Sliding,
    /// Parts that carry into each other and are not side by side, or a broken mapping.
    Carries,
    /// More than [`MAX_RUN_NODES`] runs.
    Nodes,
    /// More than [`MAX_RUN_STEPS`] comparisons.
    Steps,
}

impl std::fmt::Display for NoRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sliding => f.write_str("indices share positions in a sliding expression"),
            Self::Carries => f.write_str("parts of one mapping carry into each other"),
            Self::Nodes => write!(f, "the padding falls apart into more than {MAX_RUN_NODES} runs"),
            Self::Steps => write!(f, "the runs need more than {MAX_RUN_STEPS} comparisons"),
        }
    }
}

/// The relation between the cells of two mappings, position by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The same cell.
    Same,
    /// The left cell is the right one, or padding that is at least as strict, or it fills don't-care padding.
    Refines,
    /// Where the left is live, the right is the same.
    Holds,
    /// Both live, with any indices, or the same padding.
    Alike,
}

impl Relation {
    /// Returns true if it holds for two padding cells, or a live one (`None`) and padding.
    pub(crate) fn allows(self, left: Option<PadKind>, right: Option<PadKind>) -> bool {
        match (self, left, right) {
            (Self::Same | Self::Alike, left, right) => left == right,
            (Self::Refines, Some(left), Some(right)) => left <= right,
            (Self::Refines, None, Some(right)) => right == PadKind::Top,
            (Self::Refines, Some(_), None) => false,
            (Self::Holds, left, right) => left.is_some() || right.is_none(),
            (Self::Refines, None, None) => true,
        }
    }
}

/// A step along an axis; none for broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    axis: Option<AxisId>,
    stride: u64,
    size: u64,
}

impl Step {
    fn times(self, n: u64) -> Step {
        Step { stride: self.stride.saturating_mul(n), ..self }
    }
}

#[derive(Debug)]
enum Kind {
    Point,
    Pad(PadKind),
    Repeat { count: u64, step: Step, body: Run },
    Sequence(Vec<Run>),
    Moved { step: Step, body: Run },
}

/// A run of positions.
#[derive(Debug)]
struct Node {
    kind: Kind,
    len: u64,
    /// Most coordinates that it moves along each axis, with the size of the axis.
    reach: Vec<(AxisId, u64, u64)>,
}

type Run = Rc<Node>;

/// A mapping taken apart into runs.
#[derive(Debug)]
pub(crate) struct Runs(Run);

impl Runs {
    /// The runs of a mapping whose sizes are checked.
    pub(crate) fn new(expr: &Expr, axes: &Axes) -> Result<Runs, NoRuns> {
        let mut builder = Builder { axes, made: 0, most: MAX_RUN_NODES };
        match settle(expr, axes).map_err(|_| NoRuns::Carries)? {
            None => builder.build(expr).map(Runs),
            Some(settled) if settled.apart.is_empty() => builder.build(&settled.map).map(Runs),
            Some(_) => Err(NoRuns::Carries),
        }
    }

    /// Returns true if every coordinate, `shift` added, stays inside its axis.
    pub(crate) fn fits(&self, shift: &Index) -> bool {
        ShiftedRun { run: self.0.clone(), at: shift.clone() }.fits()
    }

    /// The first position, if any, where `relation` does not hold between `self` with `shift` added to every
    /// index, and `other` from position `start` on. Positions after the end of either are not compared.
    pub(crate) fn first_violation(
        &self,
        shift: &Index,
        other: &Runs,
        start: u64,
        relation: Relation,
        axes: &Axes,
    ) -> Result<Option<u64>, NoRuns> {
        let mut builder = Builder { axes, made: 0, most: MAX_RUN_STEPS };
        let len = self.0.len.min(other.0.len - start);
        let right = builder.drop(&other.0, start)?;
        let (left, right) = (builder.take(&self.0, len)?, builder.take(&right, len)?);
        let mut comparison = Comparison { builder, relation, steps: 0 };
        comparison.compare(
            &ShiftedRun { run: left, at: shift.clone() },
            &ShiftedRun { run: right, at: Index::new() },
        )
    }
}

/// Makes runs and counts them.
struct Builder<'a> {
    axes: &'a Axes,
    made: usize,
    most: usize,
}

impl Builder<'_> {
    fn node(&mut self, kind: Kind, len: u64) -> Result<Run, NoRuns> {
        self.made += 1;
        count_effort(1);
        if self.made > self.most {
            return Err(NoRuns::Nodes);
        }
        let mut reach: Vec<(AxisId, u64, u64)> = Vec::new();
        let mut widen = |axis: AxisId, by: u64, size: u64| match reach.iter_mut().find(|own| own.0 == axis) {
            Some(own) => own.1 = own.1.max(by),
            None => reach.push((axis, by, size)),
        };
        match &kind {
            Kind::Point | Kind::Pad(_) => {}
            Kind::Sequence(parts) => {
                parts.iter().flat_map(|part| &part.reach).for_each(|&(axis, by, size)| widen(axis, by, size));
            }
            Kind::Repeat { step, body, .. } | Kind::Moved { step, body } => {
                let moves = if let Kind::Repeat { count, .. } = &kind { count - 1 } else { 1 };
                body.reach.iter().for_each(|&(axis, by, size)| widen(axis, by, size));
                if let Some(axis) = step.axis {
                    let own = body.reach.iter().find(|own| own.0 == axis).map_or(0, |own| own.1);
                    widen(axis, own.saturating_add(step.stride.saturating_mul(moves)), step.size);
                }
            }
        }
        Ok(Rc::new(Node { kind, len, reach }))
    }

    fn pad(&mut self, len: u64, kind: PadKind) -> Result<Run, NoRuns> {
        self.node(Kind::Pad(kind), len)
    }

    fn repeat(&mut self, count: u64, step: Step, body: Run) -> Result<Run, NoRuns> {
        match count {
            1 => Ok(body),
            _ => {
                let len = count * body.len;
                self.node(Kind::Repeat { count, step, body }, len)
            }
        }
    }

    fn moved(&mut self, step: Step, body: Run) -> Result<Run, NoRuns> {
        if step.axis.is_none() || step.stride == 0 {
            return Ok(body);
        }
        let len = body.len;
        self.node(Kind::Moved { step, body }, len)
    }

    /// Runs one after the other; empty ones are left out, and sequences in it written out.
    fn sequence(&mut self, parts: Vec<Run>) -> Result<Run, NoRuns> {
        let mut flat: Vec<Run> = Vec::new();
        for part in parts.into_iter().filter(|part| part.len > 0) {
            match &part.kind {
                Kind::Sequence(inner) => flat.extend(inner.iter().cloned()),
                Kind::Point | Kind::Pad(_) | Kind::Repeat { .. } | Kind::Moved { .. } => flat.push(part),
            }
        }
        if flat.len() == 1 {
            return Ok(flat.remove(0));
        }
        self.made += flat.len();
        let len = flat.iter().map(|part| part.len).sum();
        self.node(Kind::Sequence(flat), len)
    }

    fn build(&mut self, expr: &Expr) -> Result<Run, NoRuns> {
        match expr {
            Expr::Axis(name) => {
                let axis = self.axes.id(name);
                let size = axis.map_or(1, |axis| self.axes.size(axis));
                let point = self.node(Kind::Point, 1)?;
                self.repeat(size, Step { axis, stride: 1, size }, point)
            }
            Expr::Alias(name) => match self.axes.alias(name) {
                Ok(mapping) => self.build(mapping),
                Err(_) => self.node(Kind::Point, 1),
            },
            Expr::Literal(n) => {
                let point = self.node(Kind::Point, 1)?;
                self.repeat(*n, Step { axis: None, stride: 0, size: 1 }, point)
            }
            Expr::Pair(terms) | Expr::Outer(terms) => {
                let mut all = self.node(Kind::Point, 1)?;
                for term in terms.iter().rev() {
                    let major = self.build(term)?;
                    all = self.above(&major, &all)?;
                }
                Ok(all)
            }
            Expr::Pad { inner, size, kind, side } => {
                let inner = self.build(inner)?;
                let padding = self.pad(size - inner.len, *kind)?;
                match side {
                    Side::High => self.sequence(vec![inner, padding]),
                    Side::Low => self.sequence(vec![padding, inner]),
                }
            }
            Expr::Resize { inner, size: n } | Expr::Modulo { inner, n } => {
                let inner = self.build(inner)?;
                self.take(&inner, *n)
            }
            Expr::Stride { inner, n } => {
                let inner = self.build(inner)?;
                self.every(&inner, *n, 0)
            }
            Expr::Slice { inner, offset } => {
                let inner = self.build(inner)?;
                self.drop(&inner, *offset)
            }
            Expr::Gather { inner, table } => {
                let inner = self.build(inner)?;
                let entries = table.iter().map(|&at| self.at(&inner, at));
                let entries = entries.collect::<Result<Vec<_>, _>>()?;
                self.sequence(entries)
            }
            Expr::Slide(_) => Err(NoRuns::Sliding),
        }
    }

    /// The pair of two runs: the minor one replaces each position of the major one.
    fn above(&mut self, major: &Run, minor: &Run) -> Result<Run, NoRuns> {
        match &major.kind {
            Kind::Point => Ok(minor.clone()),
            Kind::Pad(kind) => self.pad(major.len * minor.len, *kind),
            Kind::Repeat { count, step, body } => {
                let body = self.above(body, minor)?;
                self.repeat(*count, *step, body)
            }
            Kind::Moved { step, body } => {
                let body = self.above(body, minor)?;
                self.moved(*step, body)
            }
            Kind::Sequence(parts) => {
                let parts = parts.iter().map(|part| self.above(part, minor)).collect::<Result<_, _>>()?;
                self.sequence(parts)
            }
        }
    }

    fn at(&mut self, run: &Run, at: u64) -> Result<Run, NoRuns> {
        let rest = self.drop(run, at)?;
        self.take(&rest, 1)
    }

    /// The first `n` positions.
    fn take(&mut self, run: &Run, n: u64) -> Result<Run, NoRuns> {
        if n == run.len {
            return Ok(run.clone());
        }
        if n == 0 {
            return self.sequence(Vec::new());
        }
        match &run.kind {
            Kind::Point => Ok(run.clone()),
            Kind::Pad(kind) => self.pad(n, *kind),
            Kind::Moved { step, body } => {
                let body = self.take(body, n)?;
                self.moved(*step, body)
            }
            Kind::Repeat { step, body, .. } => {
                let whole = n / body.len;
                let part = self.take(body, n % body.len)?;
                let part = self.moved(step.times(whole), part)?;
                let mut parts = vec![part];
                if whole > 0 {
                    parts.insert(0, self.repeat(whole, *step, body.clone())?);
                }
                self.sequence(parts)
            }
            Kind::Sequence(parts) => {
                let (mut kept, mut left) = (Vec::new(), n);
                for part in parts {
                    let own = left.min(part.len);
                    kept.push(self.take(part, own)?);
                    left -= own;
                    if left == 0 {
                        break;
                    }
                }
                self.sequence(kept)
            }
        }
    }

    /// The positions from `n` on.
    fn drop(&mut self, run: &Run, n: u64) -> Result<Run, NoRuns> {
        if n == 0 {
            return Ok(run.clone());
        }
        if n >= run.len {
            return self.sequence(Vec::new());
        }
        match &run.kind {
            Kind::Point => Ok(run.clone()),
            Kind::Pad(kind) => self.pad(run.len - n, *kind),
            Kind::Moved { step, body } => {
                let body = self.drop(body, n)?;
                self.moved(*step, body)
            }
            Kind::Repeat { count, step, body } => {
                let (whole, left) = (n / body.len, n % body.len);
                let mut parts = Vec::new();
                let mut gone = whole;
                if left > 0 {
                    let part = self.drop(body, left)?;
                    parts.push(self.moved(step.times(whole), part)?);
                    gone += 1;
                }
                if gone < *count {
                    let rest = self.repeat(count - gone, *step, body.clone())?;
                    parts.push(self.moved(step.times(gone), rest)?);
                }
                self.sequence(parts)
            }
            Kind::Sequence(parts) => {
                let (mut kept, mut left) = (Vec::new(), n);
                for part in parts {
                    let own = left.min(part.len);
                    kept.push(self.drop(part, own)?);
                    left -= own;
                }
                self.sequence(kept)
            }
        }
    }

    /// Every n-th position from `phase` on.
    fn every(&mut self, run: &Run, n: u64, phase: u64) -> Result<Run, NoRuns> {
        if phase >= run.len {
            return self.sequence(Vec::new());
        }
        if n == 1 {
            return self.drop(run, phase);
        }
        match &run.kind {
            Kind::Point => Ok(run.clone()),
            Kind::Pad(kind) => self.pad((run.len - phase).div_ceil(n), *kind),
            Kind::Moved { step, body } => {
                let body = self.every(body, n, phase)?;
                self.moved(*step, body)
            }
            Kind::Repeat { count, step, body } => self.every_repeat(*count, *step, body, n, phase),
            Kind::Sequence(parts) => {
                let (mut kept, mut phase) = (Vec::new(), phase);
                for part in parts {
                    kept.push(self.every(part, n, phase)?);
                    phase = next_phase(part.len, n, phase);
                }
                self.sequence(kept)
            }
        }
    }

    fn every_repeat(
        &mut self,
        count: u64,
        step: Step,
        body: &Run,
        n: u64,
        phase: u64,
    ) -> Result<Run, NoRuns> {
        let len = body.len;
        if phase >= len {
            let gone = phase / len;
            let rest = self.repeat(count - gone, step, body.clone())?;
            let rest = self.every(&rest, n, phase % len)?;
            return self.moved(step.times(gone), rest);
        }
        if n.is_multiple_of(len) {
            let one = self.at(body, phase)?;
            return self.repeat(count.div_ceil(n / len), step.times(n / len), one);
        }
        if len.is_multiple_of(n) && phase < n {
            let body = self.every(body, n, phase)?;
            return self.repeat(count, step, body);
        }
        if phase >= n && count > 1 {
            let first = self.every(body, n, phase)?;
            let rest = self.repeat(count - 1, step, body.clone())?;
            let rest = self.every(&rest, n, next_phase(len, n, phase))?;
            let rest = self.moved(step, rest)?;
            return self.sequence(vec![first, rest]);
        }
        // Iterations are alike again after this many.
        let group = n / gcd(n, len);
        let whole = if group <= MAX_GROUP { count / group } else { 0 };
        let mut parts = Vec::new();
        if whole > 0 {
            let one = self.iterations(0, group, step, body, n, phase)?;
            parts.push(self.repeat(whole, step.times(group), one)?);
        }
        let left = count - whole * group;
        if left > MAX_GROUP {
            return Err(NoRuns::Nodes);
        }
        parts.push(self.iterations(whole * group, left, step, body, n, phase)?);
        self.sequence(parts)
    }

    /// Every n-th position of `count` iterations from `first` on, whose own first position has this phase.
    fn iterations(
        &mut self,
        first: u64,
        count: u64,
        step: Step,
        body: &Run,
        n: u64,
        mut phase: u64,
    ) -> Result<Run, NoRuns> {
        let mut parts = Vec::new();
        for i in first..first + count {
            let part = self.every(body, n, phase)?;
            parts.push(self.moved(step.times(i), part)?);
            phase = next_phase(body.len, n, phase);
        }
        self.sequence(parts)
    }
}

/// Where the next position is after `len` positions.
fn next_phase(len: u64, n: u64, phase: u64) -> u64 {
    if phase >= len { phase - len } else { (n - (len - phase) % n) % n }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A run and the coordinates that lead to it.
#[derive(Clone)]
struct ShiftedRun {
    run: Run,
    at: Index,
}

impl ShiftedRun {
    /// `run` after `n` iterations of `step`, which keeps its axis.
    fn step(&self, run: &Run, step: Step, n: u64) -> ShiftedRun {
        let mut at = self.at.clone();
        if let Some(axis) = step.axis {
            at.add(axis, step.stride.saturating_mul(n));
        }
        ShiftedRun { run: run.clone(), at }
    }

    /// Returns true if no coordinate on the way down leaves its axis.
    fn fits(&self) -> bool {
        self.run.reach.iter().all(|&(axis, by, size)| self.at.get(axis).saturating_add(by) < size)
    }
}

struct Comparison<'a> {
    builder: Builder<'a>,
    relation: Relation,
    steps: usize,
}

impl Comparison<'_> {
    /// The first position where the relation does not hold between two runs of one length.
    fn compare(&mut self, left: &ShiftedRun, right: &ShiftedRun) -> Result<Option<u64>, NoRuns> {
        self.steps += 1;
        count_effort(1);
        if self.steps > MAX_RUN_STEPS {
            return Err(NoRuns::Steps);
        }
        if left.run.len == 0 || Rc::ptr_eq(&left.run, &right.run) && left.at == right.at {
            return Ok(None);
        }
        let (left, right) = (self.open(left)?, self.open(right)?);
        match (&left.run.kind, &right.run.kind) {
            (Kind::Sequence(parts), _) => self.in_parts(parts, &left, &right, false),
            (_, Kind::Sequence(parts)) => self.in_parts(parts, &right, &left, true),
            (Kind::Pad(ours), Kind::Pad(theirs)) => Ok(self.verdict(Some(*ours), Some(*theirs))),
            (Kind::Pad(ours), Kind::Point) => Ok(self.verdict(Some(*ours), None)),
            (Kind::Point, Kind::Pad(theirs)) => Ok(self.verdict(None, Some(*theirs))),
            (Kind::Repeat { .. }, Kind::Repeat { .. }) => self.repetitions(&left, &right),
            (Kind::Repeat { count, body, .. }, Kind::Pad(kind)) => {
                let period = self.padding(*count, body, *kind)?;
                self.repetitions(&left, &ShiftedRun { run: period, at: Index::new() })
            }
            (Kind::Pad(kind), Kind::Repeat { count, body, .. }) => {
                let period = self.padding(*count, body, *kind)?;
                self.repetitions(&ShiftedRun { run: period, at: Index::new() }, &right)
            }
            // One position each: a repetition is longer, and moved runs are opened.
            (Kind::Point | Kind::Moved { .. }, _) | (_, Kind::Point | Kind::Moved { .. }) => {
                Ok(if self.relation == Relation::Alike || left.at == right.at { None } else { Some(0) })
            }
        }
    }

    fn verdict(&self, left: Option<PadKind>, right: Option<PadKind>) -> Option<u64> {
        if self.relation.allows(left, right) { None } else { Some(0) }
    }

    /// Padding as a repetition of a body's length.
    fn padding(&mut self, count: u64, body: &Run, kind: PadKind) -> Result<Run, NoRuns> {
        let one = self.builder.pad(body.len, kind)?;
        self.builder.repeat(count, Step { axis: None, stride: 0, size: 1 }, one)
    }

    /// The run without moves around it: padding where they lead past an axis.
    fn open(&mut self, placed: &ShiftedRun) -> Result<ShiftedRun, NoRuns> {
        let mut open = placed.clone();
        while let Kind::Moved { step, body } = &open.run.kind {
            open = self.enter(&open, &body.clone(), *step, 1)?;
        }
        Ok(open)
    }

    /// `run` after `n` iterations of `step`: padding where they lead past the axis.
    fn enter(&mut self, from: &ShiftedRun, run: &Run, step: Step, n: u64) -> Result<ShiftedRun, NoRuns> {
        let placed = from.step(run, step, n);
        if step.axis.is_some_and(|axis| placed.at.get(axis) >= step.size) {
            let run = self.builder.pad(run.len, PadKind::Top)?;
            return Ok(ShiftedRun { run, at: Index::new() });
        }
        Ok(placed)
    }

    /// Compares part by part; `other` is cut at the boundaries.
    fn in_parts(
        &mut self,
        parts: &[Run],
        whole: &ShiftedRun,
        other: &ShiftedRun,
        swapped: bool,
    ) -> Result<Option<u64>, NoRuns> {
        let mut done = 0;
        for part in parts {
            let rest = self.builder.drop(&other.run, done)?;
            let cut = self.builder.take(&rest, part.len)?;
            let mine = ShiftedRun { run: part.clone(), at: whole.at.clone() };
            let theirs = ShiftedRun { run: cut, at: other.at.clone() };
            let found = if swapped { self.compare(&theirs, &mine) } else { self.compare(&mine, &theirs) };
            if let Some(at) = found? {
                return Ok(Some(done + at));
            }
            done += part.len;
        }
        Ok(None)
    }

    /// Compares two repetitions over their common period, then over the next one.
    fn repetitions(&mut self, left: &ShiftedRun, right: &ShiftedRun) -> Result<Option<u64>, NoRuns> {
        let (Kind::Repeat { step: ours, body: mine, .. }, Kind::Repeat { step: theirs, body: yours, .. }) =
            (&left.run.kind, &right.run.kind)
        else {
            return self.compare(left, right);
        };
        let total = left.run.len;
        let period = (mine.len / gcd(mine.len, yours.len)).saturating_mul(yours.len);
        if !left.fits() || !right.fits() {
            return self.one_by_one(left, right);
        }
        if period >= total {
            return match (period == mine.len, period == yours.len) {
                // Both have one iteration, which `repeat` does not make.
                (true, true) => Ok(None),
                _ => self.one_by_one(left, right),
            };
        }
        let (per_left, per_right) = (period / mine.len, period / yours.len);
        let one = |comparison: &mut Self, k: u64| {
            let left_part = comparison.builder.repeat(per_left, *ours, mine.clone())?;
            let right_part = comparison.builder.repeat(per_right, *theirs, yours.clone())?;
            let left_part = left.step(&left_part, *ours, k * per_left);
            let right_part = right.step(&right_part, *theirs, k * per_right);
            comparison.compare(&left_part, &right_part)
        };
        if let Some(at) = one(self, 0)? {
            return Ok(Some(at));
        }
        let (ours, theirs) = (ours.times(per_left), theirs.times(per_right));
        let same = ours.axis == theirs.axis && ours.stride == theirs.stride;
        if same {
            return Ok(None);
        }
        Ok(one(self, 1)?.map(|at| period + at))
    }

    /// Compares iteration by iteration of the side with the longer body.
    fn one_by_one(&mut self, left: &ShiftedRun, right: &ShiftedRun) -> Result<Option<u64>, NoRuns> {
        let swapped = body_len(&left.run) < body_len(&right.run);
        let (long, short) = if swapped { (right, left) } else { (left, right) };
        let Kind::Repeat { count, step, body } = &long.run.kind else {
            return self.compare(left, right);
        };
        for i in 0..*count {
            let done = i * body.len;
            let rest = self.builder.drop(&short.run, done)?;
            let cut = self.builder.take(&rest, body.len)?;
            let mine = self.enter(long, body, *step, i)?;
            let theirs = ShiftedRun { run: cut, at: short.at.clone() };
            let found = if swapped { self.compare(&theirs, &mine) } else { self.compare(&mine, &theirs) };
            if let Some(at) = found? {
                return Ok(Some(done + at));
            }
        }
        Ok(None)
    }
}

fn body_len(run: &Run) -> u64 {
    match &run.kind {
        Kind::Repeat { body, .. } => body.len,
        Kind::Point | Kind::Pad(_) | Kind::Sequence(_) | Kind::Moved { .. } => run.len,
    }
}
