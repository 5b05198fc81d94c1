//! A contraction as one kernel: both operands from HBM, products summed, an expression of the sums, the result to HBM.

pub mod added;
pub mod emit;
pub mod guess;
pub mod images;
pub mod layout;
pub mod mapped;
pub mod ordered;
pub mod parts;
pub mod priced;
pub mod products;
pub mod reasons;
pub mod rows;
pub mod space;
pub mod turn;

use crate::array::Array;
use crate::cut::{Group, Part};
use crate::expressions::{KnownPasses, VectorPass, computed};
use crate::tables::FetchTable;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_machine::{Machine, Unit};
use visa_mapping::expression::Expression;
use visa_numerics::DType;

/// The order in which products are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumOrder {
    /// Any.
    Free,
    /// In the order of the positions, in trees of this many neighbours first.
    Exact(u64),
}

/// An expression of each sum, and the format of the result.
#[derive(Clone, Debug, Default)]
pub struct Epilogue {
    /// The expression of the sum, its first name, and of the operands.
    pub expression: Option<Expression>,
    /// The other operands.
    pub operands: Vec<Array>,
    /// The axis of the sums along which the results of the expression are added, in any order.
    pub added: Option<Arc<str>>,
    /// The format of the result, if it is another than that of the expression.
    pub cast: Option<DType>,
    /// The passes of the expression.
    pub passes: KnownPasses,
}

/// The conversion of an operand at its fetch (book 08).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prologue {
    /// The table that replaces each element first.
    pub table: Option<FetchTable>,
    /// The format that is contracted, if it is another than that in memory or in the table.
    pub dtype: Option<DType>,
    /// The zero point that is subtracted after the conversion.
    pub zero_points: Option<Vec<i64>>,
}

impl Prologue {
    /// The format after the conversion of elements of format `stored`.
    #[must_use]
    pub fn format(&self, stored: DType) -> DType {
        self.dtype.unwrap_or_else(|| self.table.as_ref().map_or(stored, |table| table.to))
    }
}

/// A contraction to plan.
#[derive(Clone, Debug)]
pub struct Contraction {
    /// The operands.
    pub operands: [Array; 2],
    /// The conversions of the operands.
    pub prologues: [Prologue; 2],
    /// The result.
    pub out: Array,
    /// Axes of both operands and the result.
    pub batch: Arc<Group>,
    /// Axes that only one operand has: of the first, of the second.
    pub free: [Arc<Group>; 2],
    /// Axes that are summed.
    pub sum: Arc<Group>,
    /// The order of the sum.
    pub order: SumOrder,
    /// Summed positions outside of windows, the slowest ones, if an operand is an image.
    pub apart: Option<u64>,
    /// The format of the sums.
    pub accumulator: DType,
    /// The computation on each sum.
    pub epilogue: Epilogue,
}

/// The content of a packet of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Columns of the result: products of a packet stay separate, and are summed over time.
    Columns,
    /// Summed positions: the tree adds the products of a packet.
    Tree,
    /// Columns of the result, each with some summed positions: the tree adds the products of these. Of formats of 8
    /// bits, a packet of columns alone fills half of the multipliers.
    Blocks,
}

/// A role of axes in a contraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Axes of both operands and the result.
    Batch,
    /// Free axes of the operand in the register file.
    Rows,
    /// Free axes of the operand that streams.
    Stream,
}

/// The dimension that takes the slices which a sum between slices frees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promotion {
    /// None: the first slice of each group has the result.
    None,
    /// A part of the streamed axes.
    Stream,
    /// A part of the rows that repeat a packet.
    Reuse,
    /// A part of the rows of the register file, whose sums of columns are in time.
    Row,
}

/// The slices whose results a slice collects before the store, so that it writes longer runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gather {
    /// None.
    None,
    /// Those that divide the rows.
    Rows,
    /// Those that divide the streamed axes.
    Stream,
    /// Those that the sum between slices freed.
    Promoted,
    /// None: each slice puts its own results in the order of the array.
    Own,
}

/// A transfer of a contraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The load of the streamed operand.
    Stream,
    /// The load of another operand.
    Operand,
    /// The store.
    Store,
}

/// A plan of a contraction, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// Number of the operand in the register file; the other one streams.
    pub stationary: usize,
    /// The content of a packet.
    pub mode: Mode,
    /// The context of the stream.
    pub unit: Unit,
    /// Axes that the two clusters divide.
    pub cluster: Option<Role>,
    /// Slices that divide the batch.
    pub batch: u64,
    /// Slices that divide the sum.
    pub sum: u64,
    /// Slices that divide the streamed axes.
    pub stream: u64,
    /// Slices that divide the rows.
    pub rows: u64,
    /// Slices of a ring that load different parts of the stream and exchange them; a divisor of `rows`.
    pub share: u64,
    /// Slices of a ring that divide the sum, a divisor of `share`; the ring divides the other axes among them.
    pub share_sum: u64,
    /// Slices of a ring that divide the batch, a divisor of `share / share_sum`; the ring divides the streamed axes
    /// among them.
    pub share_batch: u64,
    /// True if neighbouring slices divide the sum, so that the ring of a sum between slices has no others.
    /// Neighbouring slices divide the rows otherwise, and may exchange the stream.
    pub sum_inside: bool,
    /// True if the slices of a ring that divide the sum load whole rows of the stream, and exchange parts of the sum
    /// before.
    pub by_rows: bool,
    /// True if the slices divide more positions than the sum has: those beyond its end are zeros. If rings divide the
    /// sum, the slices that divide it are next to the ring, which divides the parts of each.
    pub padded: bool,
    /// Iterations of a loop over the rows.
    pub row_tiles: u64,
    /// Iterations of a loop over the streamed axes.
    pub stream_tiles: u64,
    /// Rows of the register file.
    pub row: u64,
    /// The dimension that takes the slices which the sum between slices frees.
    pub promotion: Promotion,
    /// True if the Transpose Engine exchanges rows and columns before the commit.
    pub transposed: bool,
    /// True if neighbouring rows are in neighbouring slices.
    pub neighbours: bool,
    /// The slices whose results are collected before the store.
    pub gather: Gather,
    /// True if the unused slices are between the used ones, so that all networks of data memory work.
    pub spread: bool,
    /// True if the DMA engines of one cluster load one operand while those of the other one load the other; in loops,
    /// if those of one cluster load and those of the other one store.
    pub queues: bool,
}

impl Choice {
    /// Slices of a cluster that compute.
    #[must_use]
    pub fn slices(&self) -> u64 {
        self.batch * self.sum * self.stream * self.rows
    }

    /// Returns true if a flit of results has rows of the register file, not columns: those of a tree, and those of
    /// columns whose rows are innermost in the result.
    #[must_use]
    pub fn has_rows(&self, problem: &Contraction) -> bool {
        match self.mode {
            Mode::Tree => true,
            Mode::Columns => {
                self.row > 1 && self.promotion != Promotion::Row && problem.ends_with_rows(self.stationary)
            }
            Mode::Blocks => false,
        }
    }

    /// The parts of cuts that other slices hold in the result.
    #[must_use]
    pub fn held_elsewhere(&self) -> &'static [Part] {
        match self.promotion {
            Promotion::None => &[Part::Cluster, Part::Slice],
            Promotion::Stream | Promotion::Reuse | Promotion::Row => {
                &[Part::Cluster, Part::Slice, Part::Promoted]
            }
        }
    }

    /// True if the slices of a ring divide a sum of which some slices hold zeros alone.
    #[must_use]
    pub fn shares_zeros(&self) -> bool {
        self.padded && self.share_sum > 1
    }

    /// Slices of a ring that divide the streamed axes.
    #[must_use]
    pub fn share_stream(&self) -> u64 {
        self.share / (self.share_sum * self.share_batch)
    }

    /// Slices of a cluster for each one that computes, from one to the next: 1 if neighbours do.
    #[must_use]
    pub fn apart(&self, machine: &Machine) -> u64 {
        if self.spread { machine.topology.slices_per_cluster / self.slices() } else { 1 }
    }

    /// The cluster whose DMA engines make a transfer; `None` for those of all clusters.
    #[must_use]
    pub fn queue(&self, transfer: Move) -> Option<u64> {
        let tiled = self.row_tiles * self.stream_tiles > 1;
        match (self.queues, tiled, transfer) {
            (false, _, _) | (true, false, Move::Store) => None,
            (true, false, Move::Stream) | (true, true, Move::Store) => Some(1),
            (true, _, Move::Operand) | (true, true, Move::Stream) => Some(0),
        }
    }

    /// Clusters that divide the axes of a role.
    #[must_use]
    pub fn clusters(&self, role: Role) -> u64 {
        if self.cluster == Some(role) { 2 } else { 1 }
    }
}

impl Contraction {
    /// Multiplications.
    #[must_use]
    pub fn products(&self) -> u64 {
        [self.batch.size, self.free[0].size, self.free[1].size, self.sum.size].iter().product()
    }

    /// Bytes of both operands and the result.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let (batch, sum) = (self.batch.size, self.sum.size);
        let bits = |array: &Array, elements: u64| elements * u64::from(array.dtype.bits());
        let operands =
            self.operands.iter().zip(&self.free).map(|(array, free)| bits(array, batch * free.size * sum));
        (operands.sum::<u64>() + bits(&self.out, batch * self.free[0].size * self.free[1].size)) / 8
    }

    /// Returns true if `parts` slices may divide the sum: parts of an image are whole windows.
    #[must_use]
    pub fn divides_sum(&self, parts: u64) -> bool {
        self.apart.is_none_or(|apart| parts == 1 || apart.is_multiple_of(parts))
    }

    /// The passes of the epilogue's expression; `None` if it has none, or no passes were found.
    #[must_use]
    pub fn passes(&self) -> Option<&[VectorPass]> {
        let epilogue = &self.epilogue;
        let formats = || {
            let operands = epilogue.operands.iter().map(|array| computed(array.dtype));
            std::iter::once(self.accumulator).chain(operands).collect()
        };
        let expression = || epilogue.expression.as_ref().map(|expression| (expression, formats()));
        epilogue.passes.of(0, || vec![expression()])
    }

    /// Returns true if an operand has several axes of rows whose last one has no padding.
    #[must_use]
    pub fn has_several_rows(&self) -> bool {
        self.free.iter().any(|rows| rows.long.len() > 1 && rows.row.is_none())
    }

    /// Returns true if both operands and the result have several axes, whose last one has no padding.
    #[must_use]
    pub fn has_several_batches(&self) -> bool {
        self.batch.long.len() > 1 && self.batch.row.is_none() && !self.adds_batch()
    }

    /// True if the results along the batch are added: the result lacks its axis.
    #[must_use]
    pub fn adds_batch(&self) -> bool {
        self.epilogue.added.is_some()
    }

    /// The format of the operands in the contraction.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.prologues[0].format(self.operands[0].dtype)
    }

    /// Returns true if the last axis of the result is one of the rows.
    #[must_use]
    pub fn ends_with_rows(&self, stationary: usize) -> bool {
        let last = |group: &Group| group.axes.iter().filter_map(|axis| self.out.position(axis)).max();
        let rows = last(&self.free[stationary]);
        rows > last(&self.free[1 - stationary]) && rows > last(&self.batch)
    }

    /// Returns true if the rows of an operand are summed, and its other axes that the other operand lacks have another
    /// order in the result: loads of rows in that order take no longer, and stores of single elements do.
    #[must_use]
    pub fn crosses(&self, operand: usize, axes: &Axes) -> bool {
        let array = &self.operands[operand];
        let long = |name: &&Arc<str>| axes.id(name).is_some_and(|id| axes.size(id) > 1);
        let summed = array.axes.iter().rfind(long).is_some_and(|last| self.sum.axes.contains(last));
        let places = self.free[operand].axes.iter().map(|axis| self.out.position(axis));
        summed && !places.is_sorted()
    }

    /// The role of the innermost axis of the result that has more than one position; `None` if all have one.
    #[must_use]
    pub fn innermost(&self, stationary: usize, axes: &Axes) -> Option<Role> {
        let long = |name: &&Arc<str>| axes.id(name).is_some_and(|id| axes.size(id) > 1);
        let last = self.out.axes.iter().rev().find(long)?;
        if self.free[stationary].axes.contains(last) {
            Some(Role::Rows)
        } else if self.batch.axes.contains(last) {
            Some(Role::Batch)
        } else {
            Some(Role::Stream)
        }
    }
}

/// The axes of the result of a contraction: those of both operands or neither first, in their order, then those of one
/// operand in its order, and those of the operand that has the last axis.
#[must_use]
pub fn in_operand_order(axes: &[Arc<str>], operands: [&[Arc<str>]; 2]) -> Vec<Arc<str>> {
    let place = |operand: &[Arc<str>], axis: &Arc<str>| operand.iter().position(|own| own == axis);
    let only = |axis: &Arc<str>| match operands.map(|operand| place(operand, axis)) {
        [Some(place), None] => Some((0, place)),
        [None, Some(place)] => Some((1, place)),
        [Some(_), Some(_)] | [None, None] => None,
    };
    let last = axes.last().and_then(only).map(|(operand, _)| operand);
    let mut all = axes.to_vec();
    all.sort_by_key(|axis| only(axis).map(|(operand, place)| (Some(operand) == last, operand, place)));
    all
}
