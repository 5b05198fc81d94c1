//! Contractions: which products make up each element of the result, and in which order (book 15 to 19).
//!
//! The pair computes a product at every index that its type holds; the accumulator's result holds fewer indices. Along
//! each axis a coordinate that was computed is in one way the sum of a coordinate that is *kept* and one that is
//! *summed*. An element of the result is the sum over all summed coordinates. The pair's time and packet give the
//! order: packets by time, within a packet groups of neighbours.

use std::rc::Rc;

use visa_algebra::{Axes, AxisId, Cell, Expr, Index, Map};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;
use visa_mapping::error::mapping_error;
use visa_mapping::facts::digits_of;
use visa_mapping::{Dim, Tensor};
use visa_stream::plan::tree_depth;
use visa_stream::semantics::ContractionKind;

use crate::coverage::{Coverage, complement, coordinates};
use crate::limits::MAX_ELEMENTS;
use crate::tensor::{Axis, Logical, union};

/// Two tensors that are multiplied, and the type of the computation.
pub(crate) struct Pair {
    pub(crate) left: Logical,
    pub(crate) right: Logical,
    pub(crate) tensor: Rc<Tensor>,
}

/// A pair that is summed within each packet to `sums`, and over time to `result`; or of which the greatest
/// products are taken.
pub(crate) struct Contraction<'a> {
    pub(crate) pair: &'a Pair,
    pub(crate) sums: &'a Tensor,
    pub(crate) reduction: ContractionKind,
    pub(crate) result: &'a Tensor,
    pub(crate) axes: &'a Axes,
    pub(crate) span: Span,
}

/// Division of the coordinates along one axis of the computation.
pub(crate) struct Part {
    pub(crate) id: AxisId,
    /// Those of the result.
    pub(crate) kept: Vec<bool>,
    /// Those that are summed.
    summed: Vec<bool>,
    /// For each kept coordinate, the contribution of place and time; the group within the packet contributes the rest.
    pub(crate) outer: Vec<usize>,
    /// Where the axis ends for at least one operand: a product there is padding.
    pub(crate) end: usize,
}

impl Part {
    /// Returns true if it sums other coordinates than 0.
    pub(crate) fn sums(&self) -> bool {
        self.summed.iter().skip(1).any(|&summed| summed)
    }
}

/// One sum of a packet.
pub(crate) struct Group {
    /// Its index.
    pub(crate) index: Index,
    /// The elements that it adds, in order; `None` is padding.
    pub(crate) members: Vec<Option<Index>>,
}

impl Contraction<'_> {
    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("contraction", self.span, message)
    }

    fn coverage(&self, tensor: &Tensor, dims: &[Dim]) -> Result<Coverage, Diagnostic> {
        Coverage::of(tensor, dims, self.axes, self.span)
    }

    /// The axes of the result that an operand depends on.
    pub(crate) fn outputs(&self, parts: &[Part]) -> Result<Vec<Axis>, Diagnostic> {
        let kept = self.coverage(self.result, self.result.kind.dims)?;
        let both = union(&self.pair.left, &self.pair.right);
        let ids = both.iter().map(|axis| axis.id).filter(|&id| kept.mentions(id));
        let part = |id| parts.iter().find(|part| part.id == id);
        let axis = |part: &Part| {
            let last = part.kept.iter().rposition(|&kept| kept).unwrap_or(0);
            Axis { id: part.id, held: part.kept[..=last].to_vec() }
        };
        Ok(ids.filter_map(part).map(axis).collect())
    }

    /// Each axis of the computation.
    pub(crate) fn parts(&self) -> Result<Vec<Part>, Diagnostic> {
        let computed = self.coverage(&self.pair.tensor, self.pair.tensor.kind.dims)?;
        let kept = self.coverage(self.result, self.result.kind.dims)?;
        let group = self.coverage(self.sums, &[Dim::Packet])?;
        let part = |id| {
            let size = usize::try_from(self.axes.size(id)).ok().filter(|&size| size as u64 <= MAX_ELEMENTS);
            let size = size.ok_or_else(|| {
                format!("more than {MAX_ELEMENTS} coordinates, the most that are evaluated")
            })?;
            self.part(id, &computed.held(id, size), kept.held(id, size), &group.held(id, size))
        };
        let named = |id, why| self.error(format!("axis `{}`: {why}", self.axes.name(id)));
        computed.axes().map(|id| part(id).map_err(|why: String| named(id, why))).collect()
    }

    fn part(&self, id: AxisId, computed: &[bool], kept: Vec<bool>, group: &[bool]) -> Result<Part, String> {
        let mut end = kept.len();
        for axis in [&self.pair.left, &self.pair.right].iter().filter_map(|operand| operand.axis(id)) {
            let missing = |&at: &usize| !axis.held.get(at).copied().unwrap_or(false);
            if let Some(missing) = coordinates(computed).into_iter().find(missing) {
                return Err(format!("a product is taken at {missing}, where an operand holds no element"));
            }
            end = end.min(axis.held.iter().rposition(|&held| held).map_or(0, |last| last + 1));
        }
        let no_part = |what: &str| format!("the coordinates of {what} are not among the computed ones");
        let summed = complement(computed, &kept).ok_or_else(|| no_part("the result"))?;
        let places = complement(&kept, group).ok_or_else(|| no_part("a packet's sums"))?;
        let group = coordinates(group);
        let mut outer = vec![0; kept.len()];
        for place in coordinates(&places) {
            for sum in group.iter().map(|group| place + group).take_while(|&sum| sum < kept.len()) {
                outer[sum] = place;
            }
        }
        Ok(Part { id, kept, summed, outer, end })
    }

    /// The summed packets, in time order: the contribution of each to the index.
    ///
    /// Along an axis that is sliced (`K @ 16`) coordinates count from an offset, which place and packet contribute
    /// where the result or the packet's sums keep it; a step contributes the rest.
    pub(crate) fn steps(&self, parts: &[Part]) -> Result<Vec<Index>, Diagnostic> {
        let time = self.pair.tensor.dim(Dim::Time);
        let starts = self.coverage(&self.pair.tensor, &[Dim::Time])?;
        let (packet, group) =
            (self.coverage(&self.pair.tensor, &[Dim::Packet])?, self.coverage(self.sums, &[Dim::Packet])?);
        let contribution = |index: &Index| -> Option<Index> {
            let along = |part: &Part| {
                let least = part.summed.iter().position(|&summed| summed)? as u64;
                let sum = index.get(part.id).checked_sub(starts.start(part.id))? + least;
                let summed = usize::try_from(sum).ok().and_then(|at| part.summed.get(at).copied());
                let within = packet.start(part.id).checked_sub(group.start(part.id))?;
                Some((part.id, sum.checked_sub(within).filter(|_| summed == Some(true))?))
            };
            parts.iter().map(along).collect()
        };
        let cells = self.cells(&time)?;
        let indices = cells.into_iter().zip(0..).filter_map(|(cell, at)| Some((live(cell)?, at)));
        let indices = indices.filter_map(|(index, at)| Some((contribution(&index)?, at)));
        Ok(match self.keeps_copies(&time)? {
            false => indices.map(|(index, _)| index).collect(),
            true => {
                let digits = digits_of(&time, self.axes, self.span)?;
                let first = |at: u64| {
                    let mut rest = at;
                    digits.iter().all(|digit| {
                        let number = rest % digit.extent;
                        rest /= digit.extent;
                        digit.axis.is_some() || number == 0
                    })
                };
                indices.filter(|&(_, at)| first(at)).map(|(index, _)| index).collect()
            }
        })
    }

    /// Returns true if the result has the repetitions of time. Steps of a broadcast have the same index, so only their
    /// number tells that they are kept, and not summed.
    fn keeps_copies(&self, time: &Expr) -> Result<bool, Diagnostic> {
        let before = self.coverage(self.sums, &[Dim::Row, Dim::Time, Dim::Packet])?.copies;
        let after = self.coverage(self.result, &[Dim::Time, Dim::Packet])?.copies;
        if before == after || after == 1 {
            return Ok(before > 1 && before == after);
        }
        Err(self.error(format!(
            "with time `{time}` each index is computed {}, and the result holds it {}: part of a broadcast cannot \
             be summed",
            counted(before, "time"), counted(after, "time"),
        )))
    }

    /// The sums of a packet.
    pub(crate) fn groups(&self) -> Result<Vec<Group>, Diagnostic> {
        let (packet, sums) = (self.pair.tensor.dim(Dim::Packet), self.sums.dim(Dim::Packet));
        let dtype = self.pair.left.dtype;
        let deepest =
            dtype.tree_depth().ok_or_else(|| self.error(format!("the Reducer does not multiply {dtype}")))?;
        let depth = tree_depth(&packet, &sums, deepest, self.axes).map_err(|why| self.error(why))?;
        let members: Vec<Option<Index>> = self.cells(&packet)?.into_iter().map(live).collect();
        let groups = self.cells(&sums)?.into_iter().zip(members.chunks(1 << depth));
        let group = |(sum, members): (Cell, &[Option<Index>])| {
            Some(Group { index: live(sum)?, members: members.to_vec() })
        };
        Ok(groups.filter_map(group).collect())
    }

    /// All cells of a mapping.
    fn cells(&self, map: &Expr) -> Result<Vec<Cell>, Diagnostic> {
        let prepared = Map::new(map, self.axes).map_err(|error| mapping_error(error, self.span))?;
        let size = prepared.size();
        if size > MAX_ELEMENTS {
            return Err(self.error(format!(
                "`{map}` has {}, at most {MAX_ELEMENTS} are evaluated",
                counted(size, "position")
            )));
        }
        Ok((0..size).filter_map(|position| prepared.cell(position)).collect())
    }
}

fn live(cell: Cell) -> Option<Index> {
    match cell {
        Cell::Live(index) => Some(index),
        Cell::Shared(_) | Cell::Pad(_) => None,
    }
}
