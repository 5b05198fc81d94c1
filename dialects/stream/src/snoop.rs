//! The custom topology (book 13): ring size and snoop bitmap from the slices and time before and after the switch.
//!
//! A slice outputs, for each time step, one packet of each slice that its row of the bitmap names, in the order of the
//! slices: the router holds one packet and cannot sort. So the part that moves from the slices into time is innermost
//! there, in the order that it had in the slices.

use crate::chain::ends;
use crate::ops::switch::Switch;
use crate::planner::{Planner, StagePlan};
use crate::topology::{blanked, power, same};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use visa_algebra::{
    Axes, AxisId, Cell, Digits, Expr, Index, Map, PadKind, PlacedDigit, Placement, describe, digit_text,
    digits, place,
};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_mapping::error::mapping_error;
use visa_mapping::{Dim, Tensor};

/// Ring size and bitmap of a custom switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snooping {
    /// Slices of a ring: the smallest power of two, unless a larger one is asked for.
    pub ring: usize,
    /// The sources of each slice's packets, ascending, for as many slices as repeat; they count from the first of
    /// these.
    pub rows: Vec<Vec<usize>>,
}

/// A switch and its parameters.
pub struct Exchange<'a> {
    /// The operation.
    pub op: OpRef<'a>,
    /// Its input.
    pub source: &'a Tensor,
    /// Its result.
    pub result: &'a Tensor,
    /// The axes that the tensor does not depend on.
    pub free: &'a dyn Fn(AxisId) -> bool,
    /// The module's axes.
    pub axes: &'a Axes,
    /// Slices of a cluster.
    pub slices: u64,
}

impl StagePlan for Snooping {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let ((source, result), free) = (ends(op)?, planner.free(op, 0));
        let slices = planner.machine.topology.slices_per_cluster;
        Exchange { op, source: &source, result: &result, free: &free, axes: planner.axes, slices }.snooping()
    }
}

impl Exchange<'_> {
    /// The ring and the bitmap that make `result` of `source`.
    ///
    /// # Errors
    /// Constraints C5 to C10 of `stream.switch`.
    pub fn snooping(&self) -> Result<Snooping, Diagnostic> {
        let moved = self.moved()?;
        let old = self.map(self.source, Dim::Slice)?;
        self.check_order(&moved, &old)?;
        let rows = self.sources(&moved, &old)?;
        self.check_kept(&moved, &old)?;
        let ring = self.ring(&rows)?;
        Ok(Snooping { ring, rows: repeating(self.filled(rows, ring, moved.len()), ring) })
    }

    /// A mapping without the axes that the tensor does not depend on.
    fn map(&self, tensor: &Tensor, dim: Dim) -> Result<Expr, Diagnostic> {
        blanked(&tensor.dim(dim), self.free, self.axes)
            .map_err(|why| self.op.clause_error("C5", dim.name(), why))
    }

    fn digits(&self, map: &Expr, dim: Dim) -> Result<Digits, Diagnostic> {
        let refuse = |error| self.op.clause_error("C5", dim.name(), format!("`{map}`: {error}"));
        digits(map, self.axes).map_err(refuse)
    }

    /// C5 and C7: the part that moves from the slices to time.
    fn moved(&self) -> Result<Moved, Diagnostic> {
        let (op, axes) = (self.op, self.axes);
        let (old, new) = (self.source.dim(Dim::Time), self.result.dim(Dim::Time));
        let error = |why: String| op.clause_error("C5", "time", why);
        let size = |map: &Expr| map.size(axes).map_err(|error| mapping_error(error, op.clause_span("time")));
        let (steps, wanted) = (size(&new)?, size(&old)?);
        let count = steps / wanted;
        if !steps.is_multiple_of(wanted) {
            return Err(error(format!(
                "time `{new}` has {}, expected a multiple of the {wanted} of `{old}`",
                counted(steps, "step")
            )));
        }
        if count > self.slices {
            let most = self.slices;
            return Err(error(format!(
                "time `{new}` has {} for each of `{old}`; a slice receives from at most {most}",
                counted(count, "step")
            )));
        }
        let found = self.digits(&self.map(self.result, Dim::Time)?, Dim::Time)?;
        let own = self.digits(&self.map(self.source, Dim::Time)?, Dim::Time)?;
        let (minor, major) =
            found.split(count).map_err(|ragged| error(format!("time `{new}`: {}", ragged.at)))?;
        if major != own.clone().without_offset() {
            return Err(error(self.misplaced(&old, &new).unwrap_or_else(|| self.unlike(&old, &new, count))));
        }
        let first = place(&own, 1);
        let index = |at: u64| match minor.cell(at) {
            Some(Cell::Live(index)) => {
                Ok(index.iter().map(|(axis, n)| (axis, n.saturating_sub(first.start(axis)))).collect())
            }
            cell @ (Some(Cell::Shared(_) | Cell::Pad(_)) | None) => {
                let found = describe(cell.as_ref(), axes);
                let message = format!("time `{new}` has {found} at step {at}: every step delivers a packet");
                Err(op
                    .clause_error("C7", "time", message)
                    .fix(Some("keep the live part with `= n`".to_owned())))
            }
        };
        Ok(Moved { indices: (0..count).map(index).collect::<Result<_, _>>()?, digits: minor })
    }

    /// The part of time that comes from the slices though time's own is inside it.
    fn misplaced(&self, old: &Expr, new: &Expr) -> Option<String> {
        let own = place(&digits(old, self.axes).ok()?, 1);
        let found = digits(new, self.axes).ok()?;
        let is_own = |digit: &visa_algebra::Digit| {
            digit.axis.is_some_and(|axis| own.reach(axis, digit.stride).is_some())
        };
        let mut outside = found.iter().rev().skip_while(|digit| is_own(digit));
        let moved = outside.next()?;
        let inside = outside.find(|digit| is_own(digit))?;
        let (moved, inside) = (digit_text(moved, self.axes), digit_text(inside, self.axes));
        Some(format!(
            "`{moved}` moves from the slices into time `{new}` outside of `{inside}`, which was in time `{old}` \
             before: it must be innermost"
        ))
    }

    /// The difference of time before and after, other than the innermost part.
    fn unlike(&self, old: &Expr, new: &Expr, count: u64) -> String {
        let outer = if count == 1 { new.clone() } else { new.clone().stride(count) };
        match same(&outer, old, self.free, self.axes) {
            Ok(()) => format!("time `{new}` is not time `{old}` with the moved part innermost"),
            Err(why) => format!("time `{new}`: {why}"),
        }
    }

    /// C6: the moved part is in time in the order that it had in the slices.
    fn check_order(&self, moved: &Moved, old: &Expr) -> Result<(), Diagnostic> {
        let slices = place(&self.digits(old, Dim::Slice)?, 1);
        let weight = |digit: &visa_algebra::Digit| {
            let axis = digit.axis?;
            let way = slices.reach(axis, digit.stride)?;
            way.into_iter()
                .map(|(at, value)| slices.digits[at].weight.checked_mul(i64::try_from(value).ok()?))
                .sum::<Option<i64>>()
        };
        let digits: Vec<_> = moved.digits.iter().rev().collect();
        for pair in digits.windows(2) {
            if let (Some(outer), Some(inner)) = (weight(pair[0]), weight(pair[1]))
                && outer < inner
            {
                let (outer, inner) = (digit_text(pair[0], self.axes), digit_text(pair[1], self.axes));
                let (time, slice) = (self.result.dim(Dim::Time), self.source.dim(Dim::Slice));
                let message = format!(
                    "`{outer}` is outside `{inner}` in time `{time}`, but inside it in slice `{slice}`: \
                     packets arrive in the order of the slices"
                );
                let fix = format!("move `{inner}` outside `{outer}`");
                return Err(self.op.clause_error("C6", "time", message).fix(Some(fix)));
            }
        }
        Ok(())
    }

    /// C6, C7, C9: the sources of each slice, none for one that holds padding.
    fn sources(&self, moved: &Moved, old: &Expr) -> Result<Vec<Vec<usize>>, Diagnostic> {
        let mut held: BTreeMap<Index, Vec<usize>> = BTreeMap::new();
        for (slice, cell) in self.cells(old)?.into_iter().enumerate() {
            if let Cell::Live(index) = cell {
                held.entry(index).or_default().push(slice);
            }
        }
        let new = self.map(self.result, Dim::Slice)?;
        let mut rows = Vec::new();
        for (slice, cell) in self.cells(&new)?.into_iter().enumerate() {
            let mut row: Vec<usize> = Vec::new();
            match cell {
                Cell::Live(index) => {
                    for step in &moved.indices {
                        row.push(self.nearest(slice, &sum(&index, step), &held)?);
                    }
                    self.check_row(slice, &row)?;
                }
                Cell::Pad(PadKind::Top) => {}
                Cell::Pad(PadKind::Zero | PadKind::Bottom) | Cell::Shared(_) => {
                    let (map, found) = (self.result.dim(Dim::Slice), describe(Some(&cell), self.axes));
                    let message = format!(
                        "slice `{map}` has {found} at {slice}: a slice receives elements, or don't-care padding"
                    );
                    return Err(self.op.clause_error("C7", "slice", message));
                }
            }
            rows.push(row);
        }
        Ok(rows)
    }

    fn cells(&self, map: &Expr) -> Result<Vec<Cell>, Diagnostic> {
        let cells =
            Map::new(map, self.axes).map_err(|error| mapping_error(error, self.op.clause_span("slice")))?;
        Ok((0..self.slices).filter_map(|slice| cells.cell(slice)).collect())
    }

    /// The nearest slice that holds an index: the one with which `slice` shares the smallest ring.
    fn nearest(
        &self,
        slice: usize,
        index: &Index,
        held: &BTreeMap<Index, Vec<usize>>,
    ) -> Result<usize, Diagnostic> {
        let sources =
            held.get(index).and_then(|slices| slices.iter().copied().min_by_key(|source| source ^ slice));
        sources.ok_or_else(|| {
            let without = |axis: AxisId| !held.keys().any(|other| other.get(axis) == index.get(axis));
            let axis = index.iter().map(|(axis, _)| axis).find(|&axis| without(axis));
            let axis = axis.map_or_else(String::new, |axis| format!("axis {}: ", self.axes.name(axis)));
            let (slices, time, old) =
                (self.result.dim(Dim::Slice), self.result.dim(Dim::Time), self.source.dim(Dim::Slice));
            let wanted = describe(Some(&Cell::Live(index.clone())), self.axes);
            let message = format!(
                "{axis}slice `{slices}` and time `{time}` ask for {wanted} in slice {slice}, which no slice of \
                 `{old}` holds"
            );
            self.op.clause_error("C7", "slice", message)
        })
    }

    fn check_row(&self, slice: usize, row: &[usize]) -> Result<(), Diagnostic> {
        let time = self.result.dim(Dim::Time);
        match row.windows(2).find(|pair| pair[0] >= pair[1]) {
            None => Ok(()),
            Some(pair) if pair[0] == pair[1] => {
                let source = pair[0];
                let message = format!(
                    "time `{time}` asks for the packets of slice {source} twice in slice {slice}; the bitmap has \
                     one bit for it"
                );
                Err(self.op.clause_error("C9", "time", message))
            }
            Some(pair) => {
                let (first, second) = (pair[0], pair[1]);
                let message = format!(
                    "time `{time}` asks for the packet of slice {first} before that of slice {second} in slice \
                     {slice}; they arrive in the order of the slices"
                );
                Err(self.op.clause_error("C6", "time", message))
            }
        }
    }

    /// C8: every slice's packets arrive somewhere. Only the part that moves into time may be a part of its factor
    /// (book 13, partial axis extraction), and it has to be more than one position: a part of one position is no
    /// factor any more.
    fn check_kept(&self, moved: &Moved, old: &Expr) -> Result<(), Diagnostic> {
        let slice = self.digits(&self.map(self.result, Dim::Slice)?, Dim::Slice)?;
        let own = self.digits(&self.map(self.source, Dim::Time)?, Dim::Time)?;
        let start: Index = own.offset().iter().map(|offset| (offset.axis, offset.coordinate)).collect();
        let whole = whole(moved, &slice, &own);
        let all = place(&own, 1).join(place(&slice, 1)).join(whole);
        for (slice, cell) in self.cells(old)?.into_iter().enumerate() {
            let Cell::Live(index) = cell else { continue };
            if all.address(&sum(&index, &start)).is_none() {
                return Err(self.dropped(slice, &index, &all));
            }
        }
        Ok(())
    }

    fn dropped(&self, slice: usize, index: &Index, all: &Placement) -> Diagnostic {
        let coordinate = |axis: AxisId| [(axis, index.get(axis))].into_iter().collect::<Index>();
        let lost = index.iter().find(|&(axis, _)| all.address(&coordinate(axis)).is_none());
        let axis = lost.map_or_else(String::new, |(axis, _)| format!("axis {}: ", self.axes.name(axis)));
        let (old, slices, time) =
            (self.source.dim(Dim::Slice), self.result.dim(Dim::Slice), self.result.dim(Dim::Time));
        let found = describe(Some(&Cell::Live(index.clone())), self.axes);
        let message = format!(
            "{axis}the content of slice {slice} of `{old}` ({found}) arrives nowhere: neither slice `{slices}` nor \
             time `{time}` has it"
        );
        let fix = "keep it in `slice`, or move it into `time`, whole or its first `= n`".to_owned();
        self.op.clause_error("C8", "slice", message).fix(Some(fix))
    }

    /// C1, C7 and C10: the smallest ring that holds every slice's sources, or the one asked for.
    fn ring(&self, rows: &[Vec<usize>]) -> Result<usize, Diagnostic> {
        let (slices, op) = (self.result.dim(Dim::Slice), self.op);
        let ways =
            rows.iter().enumerate().flat_map(|(slice, row)| row.iter().map(move |&source| (slice, source)));
        let farthest = ways.max_by_key(|&(slice, source)| (slice ^ source, Reverse(slice)));
        let Some((slice, source)) = farthest else {
            return Err(op.clause_error("C7", "slice", format!("slice `{slices}` holds nothing")));
        };
        let least = ((slice ^ source) + 1).next_power_of_two();
        let Some(ring) = Switch::of(op)?.ring()? else { return Ok(least) };
        let ring = power(op, "ring", ring, self.slices)? as usize;
        if ring >= least {
            return Ok(ring);
        }
        let message = format!(
            "a ring of {} is too small: slice {slice} of `{slices}` needs the packets of slice {source}, expected \
             at least {least}",
            counted(ring, "slice")
        );
        Err(op
            .clause_error("C10", "ring", message)
            .fix(Some(format!("write `ring {least}`, or leave `ring` out"))))
    }

    /// Slices of padding receive something too, as all run in lockstep: the first packets of their ring.
    fn filled(&self, mut rows: Vec<Vec<usize>>, ring: usize, count: usize) -> Vec<Vec<usize>> {
        for (slice, row) in rows.iter_mut().enumerate().filter(|(_, row)| row.is_empty()) {
            let first = slice / ring * ring;
            row.extend(first..first + count);
        }
        rows
    }
}

/// The part that moves from the slices into time: the index of each step, and the digits.
struct Moved {
    indices: Vec<Index>,
    digits: Digits,
}

impl Moved {
    fn len(&self) -> usize {
        self.indices.len()
    }
}

fn sum(a: &Index, b: &Index) -> Index {
    let mut sum = a.clone();
    sum.add_index(b);
    sum
}

/// The part that moves into time, without cuts: each digit up to the start of the next one of its axis.
fn whole(moved: &Moved, slice: &Digits, own: &Digits) -> Placement {
    let others: Vec<_> = slice.iter().chain(own.iter()).chain(moved.digits.iter()).copied().collect();
    let mut placed = place(&moved.digits, 1);
    placed.origin.clear();
    for PlacedDigit { digit, .. } in &mut placed.digits {
        let above = others.iter().filter(|other| other.axis == digit.axis && other.stride > digit.stride);
        let end = above.map(|other| other.stride).min().unwrap_or(digit.axis_size);
        digit.live = digit.live.max(end.div_ceil(digit.stride.max(1)));
        digit.extent = digit.extent.max(digit.live);
    }
    placed
}

/// The fewest rows, of whole rings, that all others repeat; sources count from the first of them.
fn repeating(rows: Vec<Vec<usize>>, ring: usize) -> Vec<Vec<usize>> {
    let relative = |period: usize| -> Vec<Vec<usize>> {
        let shifted = rows.iter().enumerate();
        shifted
            .map(|(slice, row)| row.iter().map(|source| source - slice / period * period).collect())
            .collect()
    };
    let mut period = ring;
    loop {
        let all = relative(period);
        if period >= rows.len() || all.chunks(period).all(|block| block == &all[..period]) {
            return all.into_iter().take(period).collect();
        }
        period *= 2;
    }
}
