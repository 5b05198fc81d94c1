//! The steps of an inter-slice reduction, from the slices and time before and after it (book 25).
//!
//! Both slice mappings are cut at each other's boundaries. A piece with the same content before and after stays; the
//! others are reduced, and then hold one of three: padding (dummy), a broadcast, or a part of time (promotion).

use crate::chain::ends;
use crate::planner::{Planner, StagePlan};
use crate::topology::blanked;
use std::collections::BTreeSet;
use visa_algebra::{Axes, AxisId, Digit, Digits, Expr, PadKind, Placement, digit_text, digits, place};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_mapping::{Dim, Tensor};

/// The reduction of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterSlice {
    /// The bits in which the numbers of the slices of a group differ.
    pub bits: u64,
    /// The part of time that moves to the slices.
    pub promotion: Option<Promotion>,
}

/// A factor of time that moves into the slices: time is [outer, parts, packets].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promotion {
    /// Its positions.
    pub parts: u64,
    /// Time steps of each.
    pub packets: u64,
    /// Neighbouring slices that receive the same part.
    pub width: u64,
}

/// An inter-slice reduction and its parameters.
pub struct Reduction<'a> {
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
}

/// A piece of the slices, the same positions before and after: a digit each.
struct Piece {
    /// Distance of its neighbours, in slices.
    weight: u64,
    /// Its content before.
    old: Digit,
    /// Its content after the reduction.
    new: Digit,
}

/// Content of a reduced piece after the reduction.
#[derive(PartialEq, Eq)]
enum Rule {
    Dummy,
    Broadcast,
    Promotion,
}

/// The rules, as errors show them (book 25).
const RULES: &str = "expected one of `[A, 1 # n]` (dummy), `[A, X]` (broadcast along an axis that the tensor does \
                     not depend on), `[A, C]` (promotion of C, which leaves time)";

/// Fix for padding in a reduction.
const PADDING_FIX: &str = "let the axis fill its slices: give it elements there that the operation ignores, or \
                           move its ragged part into time";

impl StagePlan for InterSlice {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let ((source, result), free) = (ends(op)?, planner.free(op, 0));
        Reduction { op, source: &source, result: &result, free: &free, axes: planner.axes }.derive()
    }
}

impl Reduction<'_> {
    /// The groups that make `result` of `source`.
    ///
    /// # Errors
    /// Constraints C3 to C6 of `stream.vector_inter_slice_reduce`.
    pub fn derive(&self) -> Result<InterSlice, Diagnostic> {
        let pieces = self.pieces()?;
        let reduced: Vec<&Piece> = pieces.iter().filter(|piece| piece.old != piece.new).collect();
        if reduced.is_empty() {
            let slice = self.source.dim(Dim::Slice);
            let message =
                format!("slice `{slice}` holds the same before and after: no factor of it is reduced");
            let fix = "write `1 # n` instead of a factor of n slices to reduce it";
            return Err(self.op.clause_error("C4", "slice", message).fix(Some(fix.to_owned())));
        }
        let mut promoted: Vec<&Piece> = Vec::new();
        for piece in &reduced {
            self.check_reduced(piece)?;
            if self.rule(piece)? == Rule::Promotion {
                promoted.push(piece);
            }
        }
        self.check_starts()?;
        let bits = reduced.iter().fold(0, |bits, piece| bits | (piece.weight * (piece.old.extent - 1)));
        Ok(InterSlice { bits, promotion: self.promotion(&promoted)? })
    }

    /// The axes that are reduced.
    ///
    /// # Errors
    /// Constraint C3 of `stream.vector_inter_slice_reduce`.
    pub fn axes(&self) -> Result<BTreeSet<AxisId>, Diagnostic> {
        let pieces = self.pieces()?;
        Ok(pieces.iter().filter(|piece| piece.old != piece.new).filter_map(|piece| piece.old.axis).collect())
    }

    fn digits(&self, map: &Expr, dim: Dim) -> Result<Digits, Diagnostic> {
        digits(map, self.axes)
            .map(Digits::without_offset)
            .map_err(|error| self.op.clause_error("C3", dim.name(), format!("`{map}`: {error}")))
    }

    /// The digits of both slice mappings, minor first, cut where one of them has a boundary.
    fn pieces(&self) -> Result<Vec<Piece>, Diagnostic> {
        let maps = [self.source.dim(Dim::Slice), self.result.dim(Dim::Slice)];
        let mut rest = [self.digits(&maps[0], Dim::Slice)?, self.digits(&maps[1], Dim::Slice)?];
        let mut pieces = Vec::new();
        let mut weight = 1;
        while let [Some(old), Some(new)] = [0, 1].map(|at: usize| rest[at].iter().next().copied()) {
            let size = first_part(&old).min(first_part(&new));
            let mut digits = [old, new];
            for ((digit, rest), map) in digits.iter_mut().zip(&mut rest).zip(&maps) {
                let (low, high) = rest.split(size).map_err(|ragged| {
                    let message = format!(
                        "slice `{map}` cannot be cut into parts of {} {weight} apart: {}",
                        counted(size, "slice"),
                        ragged.at
                    );
                    self.op.clause_error("C3", "slice", message)
                })?;
                *digit = low.iter().next().copied().unwrap_or(*digit);
                *rest = high;
            }
            let [old, new] = digits;
            pieces.push(Piece { weight, old, new });
            weight *= size;
        }
        Ok(pieces)
    }

    /// C3 and C5: the reduced part is a factor of an axis, without padding.
    fn check_reduced(&self, piece: &Piece) -> Result<(), Diagnostic> {
        let digit = &piece.old;
        let Some(axis) = digit.axis.filter(|_| digit.is_full()) else {
            return Err(self.not_whole(piece));
        };
        if self.end(axis)? < digit.axis_size {
            return Ok(());
        }
        let (text, name, slice) =
            (digit_text(digit, self.axes), self.axes.name(axis), self.source.dim(Dim::Slice));
        let message = format!(
            "`{text}` of slice `{slice}` is reduced, but axis {name} ends within the stream: padding would be \
             reduced with it"
        );
        Err(self.op.clause_error("C5", "slice", message).fix(Some(PADDING_FIX.to_owned())))
    }

    fn not_whole(&self, Piece { weight, old, .. }: &Piece) -> Diagnostic {
        let (before, after) = (self.source.dim(Dim::Slice), self.result.dim(Dim::Slice));
        if old.axis.is_some() {
            let (text, padding) = (digit_text(old, self.axes), old.extent - old.live);
            let message = format!(
                "`{text}` of slice `{before}` is reduced, but {padding} of its {} hold padding, which would be \
                 reduced with it",
                counted(old.extent, "slice")
            );
            return self.op.clause_error("C5", "slice", message).fix(Some(PADDING_FIX.to_owned()));
        }
        let what = if old.live == 1 { "padding" } else { "a broadcast" };
        let message = format!(
            "slice `{before}` holds {what} in {} {weight} apart, and `{after}` something else there: only reduced \
             factors may change",
            counted(old.extent, "slice")
        );
        self.op.clause_error("C3", "slice", message)
    }

    /// The largest coordinate along an axis that positions of the stream name.
    fn end(&self, axis: AxisId) -> Result<u64, Diagnostic> {
        let mut end = 0_u64;
        for &dim in self.source.kind.dims {
            let map = self.source.dim(dim);
            if map.axis_names(self.axes).iter().all(|name| **name != *self.axes.name(axis)) {
                continue;
            }
            let all = digits(&map, self.axes)
                .map_err(|error| self.op.clause_error("C5", dim.name(), format!("`{map}`: {error}")))?;
            let along = all.iter().filter(|digit| digit.axis == Some(axis));
            let steps = along.map(|digit| digit.stride.saturating_mul(digit.live - 1));
            let start =
                all.offset().iter().filter(|offset| offset.axis == axis).map(|offset| offset.coordinate);
            end = steps.chain(start).fold(end, u64::saturating_add);
        }
        Ok(end)
    }

    /// C3: which rule a reduced piece follows.
    fn rule(&self, piece: &Piece) -> Result<Rule, Diagnostic> {
        let digit = &piece.new;
        if !digit.is_full() && digit.kind != PadKind::Top {
            return Err(self.no_rule(piece, &digit.kind.to_string()));
        }
        if digit.live == 1 {
            return Ok(Rule::Dummy);
        }
        if self.leaves_time(digit)? {
            return Ok(Rule::Promotion);
        }
        if digit.axis.is_none_or(self.free) {
            return Ok(Rule::Broadcast);
        }
        Err(self.no_rule(piece, &format!("`{}`", digit_text(digit, self.axes))))
    }

    fn no_rule(&self, piece: &Piece, found: &str) -> Diagnostic {
        let (old, new) = (self.source.dim(Dim::Slice), self.result.dim(Dim::Slice));
        let reduced = digit_text(&piece.old, self.axes);
        let message = format!("slice `{new}` holds {found} instead of `{reduced}` of slice `{old}`; {RULES}");
        self.op.clause_error("C3", "slice", message)
    }

    /// Returns true if time holds a digit before, and not after.
    fn leaves_time(&self, digit: &Digit) -> Result<bool, Diagnostic> {
        let Some(axis) = digit.axis else { return Ok(false) };
        let ends = [digit.stride, digit.stride.saturating_mul(digit.live - 1)];
        let held = |tensor: &Tensor| {
            let time = place(&self.digits(&tensor.dim(Dim::Time), Dim::Time)?, 1);
            Ok(ends.iter().all(|&end| time.reach(axis, end).is_some()))
        };
        Ok(held(self.source)? && !held(self.result)?)
    }

    /// C6: time is as before, without the promoted part.
    fn promotion(&self, pieces: &[&Piece]) -> Result<Option<Promotion>, Diagnostic> {
        let (old, new) = (self.source.dim(Dim::Time), self.result.dim(Dim::Time));
        let (was, is) = (self.digits(&old, Dim::Time)?, self.digits(&new, Dim::Time)?);
        let Some(first) = pieces.first() else {
            if self.same_time(&was, &is, &old, &new) {
                return Ok(None);
            }
            let message =
                format!("time `{new}` is not `{old}`, and no factor of it is promoted into the slices");
            return Err(self
                .op
                .clause_error("C6", "time", message)
                .fix(Some(format!("write `time {old}`, or leave it out"))));
        };
        let mut moved = Digits::unit();
        let mut width = first.weight;
        for piece in pieces {
            if piece.weight != width {
                let message = format!(
                    "slice `{}` takes two factors from time, apart from each other",
                    self.result.dim(Dim::Slice)
                );
                return Err(self.op.clause_error("C6", "slice", message));
            }
            width *= piece.new.extent;
            moved = Digits::concat(&Digits::of(piece.new), &moved)
                .map_err(|error| self.op.clause_error("C6", "slice", error.to_string()))?;
        }
        let parts = moved.size();
        let packets = starts(&was, &first.new)
            .into_iter()
            .find(|&packets| without(&was, packets, &moved).as_ref() == Some(&is));
        let Some(packets) = packets else {
            let text: Vec<String> = moved.iter().rev().map(|digit| digit_text(digit, self.axes)).collect();
            let message = format!(
                "time `{new}` is not `{old}` without `{}`, which moves into the slices",
                text.join(", ")
            );
            return Err(self.op.clause_error("C6", "time", message));
        };
        Ok(Some(Promotion { parts, packets, width: first.weight }))
    }

    /// Returns true if two times are the same for this tensor, which does not depend on every axis.
    fn same_time(&self, was: &Digits, is: &Digits, old: &Expr, new: &Expr) -> bool {
        let blank = |map: &Expr| {
            let blank = blanked(map, self.free, self.axes).ok()?;
            digits(&blank, self.axes).ok().map(Digits::without_offset)
        };
        was == is || blank(old).is_some_and(|old| Some(old) == blank(new))
    }

    /// C6: the remaining parts start at the same index.
    fn check_starts(&self) -> Result<(), Diagnostic> {
        let start = |tensor: &Tensor| -> Result<Placement, Diagnostic> {
            let mut all = Placement::default();
            for dim in [Dim::Slice, Dim::Time] {
                let map = tensor.dim(dim);
                let digits = digits(&map, self.axes)
                    .map_err(|error| self.op.clause_error("C6", dim.name(), format!("`{map}`: {error}")))?;
                all = all.join(place(&digits, 1));
            }
            Ok(all)
        };
        let (before, after) = (start(self.source)?, start(self.result)?);
        let kept = |axis: AxisId| after.digits.iter().any(|placed| placed.digit.axis == Some(axis));
        let axes = before.origin.iter().chain(&after.origin).map(|offset| offset.axis);
        let moved = axes.into_iter().find(|&axis| {
            !(self.free)(axis)
                && before.start(axis) != after.start(axis)
                && (kept(axis) || after.start(axis) > 0)
        });
        match moved {
            None => Ok(()),
            Some(axis) => {
                let name = self.axes.name(axis);
                let message = format!(
                    "axis {name} starts at {} before and at {} after",
                    before.start(axis),
                    after.start(axis)
                );
                Err(self.op.clause_error("C6", "slice", message))
            }
        }
    }
}

/// Positions of a digit up to where its padding starts, if they are a part of it.
fn first_part(digit: &Digit) -> u64 {
    if digit.live > 1 && digit.extent.is_multiple_of(digit.live) { digit.live } else { digit.extent }
}

/// Below how many steps of time a factor may be whose lowest digit is `lowest`.
fn starts(time: &Digits, lowest: &Digit) -> Vec<u64> {
    let mut weight = 1_u64;
    let mut all = Vec::new();
    for digit in time.iter() {
        if digit.axis == lowest.axis && digit.stride > 0 && lowest.stride.is_multiple_of(digit.stride) {
            all.push(weight.saturating_mul(lowest.stride / digit.stride));
        }
        weight = weight.saturating_mul(digit.extent);
    }
    all
}

/// The rest of `time` without the factor `moved` from step `packets` on.
fn without(time: &Digits, packets: u64, moved: &Digits) -> Option<Digits> {
    let (inner, rest) = time.split(packets).ok()?;
    let (found, outer) = rest.split(moved.size()).ok()?;
    if found != *moved {
        return None;
    }
    Digits::concat(&outer, &inner).ok()
}
