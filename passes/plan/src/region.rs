//! A region: maps, conversions and reductions that share one distribution. Their values stay in data memory from one
//! pipeline to the next.

pub mod blocks;
pub mod choose;
pub mod coordinates;
pub mod emit;
pub mod guess;
pub mod hoist;
pub mod inputs;
pub mod lanes;
pub mod layout;
pub mod pieces;
pub mod planned;
pub mod reads;
pub mod reasons;
pub mod summed;
pub mod turn;
pub mod within;

use crate::array::Array;
use crate::expressions::{KnownPasses, VectorPass, computed};
use crate::order::ReduceOrder;
use crate::tables::FetchTable;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_mapping::expression::Expression;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{Comparisons, DType, ReduceName};

/// The number of a value of a region: inputs, and results of its operations.
pub type Slot = usize;

/// One of the two values that a choice takes its elements from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// A value of the region.
    Value(Slot),
    /// A number, the same for all elements: its 32 bits as an integer.
    Bits(i32),
}

/// A computation of a region.
#[derive(Clone, Debug)]
pub enum Computation {
    /// An expression of the elements of some values; the format of the result, if it is converted.
    Map {
        /// The expression; `None` if only the format changes.
        expression: Option<Expression>,
        /// The values that its names stand for.
        operands: Vec<Slot>,
        /// The conversion of the result.
        cast: Option<DType>,
    },
    /// One element of all along an axis.
    Reduce {
        /// The function of two elements.
        op: ReduceName,
        /// The value.
        operand: Slot,
        /// The axis.
        axis: Arc<str>,
        /// The order.
        order: ReduceOrder,
    },
    /// The coordinates along the only axis of the result.
    Coordinates {
        /// The axes of the steps and of the lanes that count them.
        counters: [Arc<str>; 2],
    },
    /// The bits of comparisons with numbers.
    Compare {
        /// The value.
        operand: Slot,
        /// The comparisons, bit 0 first.
        with: Comparisons<Number>,
    },
    /// An element of one of two values.
    Choose {
        /// The condition: 0 for an element of the second value.
        condition: Slot,
        /// The two values, of `i32` or `f32`.
        arms: [Arm; 2],
    },
}

impl Computation {
    /// The values that it reads.
    #[must_use]
    pub fn reads(&self) -> Vec<Slot> {
        match self {
            Self::Map { operands, .. } => operands.clone(),
            Self::Reduce { operand, .. } | Self::Compare { operand, .. } => vec![*operand],
            Self::Coordinates { .. } => Vec::new(),
            Self::Choose { condition, arms } => {
                let values = arms.iter().filter_map(|arm| match arm {
                    Arm::Value(slot) => Some(*slot),
                    Arm::Bits(_) => None,
                });
                std::iter::once(*condition).chain(values).collect()
            }
        }
    }
}

/// An operation of a region.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its computation.
    pub computation: Computation,
    /// Its result.
    pub result: Slot,
}

/// A value of a region.
#[derive(Clone, Debug)]
pub struct RegionValue {
    /// Its name, format in memory and axes.
    pub array: Array,
    /// The table that replaces each element when a pipeline reads it.
    pub table: Option<FetchTable>,
    /// The format in which the vector engine reads it.
    pub read: DType,
    /// The value whose memory holds it: itself, or the one that it converts.
    pub storage: Slot,
}

impl RegionValue {
    /// A value in data memory.
    #[must_use]
    pub fn stored(array: Array, slot: Slot) -> Self {
        Self { read: array.dtype, array, table: None, storage: slot }
    }

    /// Returns true if a fetch converts it, after the table if it has one.
    #[must_use]
    pub fn is_converted(&self) -> bool {
        self.read != self.table.as_ref().map_or(self.array.dtype, |table| table.to)
    }
}

/// A region to plan.
#[derive(Clone, Debug)]
pub struct Region {
    /// The values.
    pub values: Vec<RegionValue>,
    /// The values that are in HBM before, in the order of the step's inputs.
    pub inputs: Vec<Slot>,
    /// The operations, in order.
    pub operations: Vec<Operation>,
    /// The values that later steps read, or the kernel returns.
    pub outputs: Vec<Slot>,
    /// The axes that clusters and slices may divide: those that no operation reduces.
    pub rows: Vec<Arc<str>>,
    /// The passes of its maps.
    pub passes: KnownPasses,
}

impl Region {
    /// Returns true if it copies its only value, in another order of the axes or in another place.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        let copies = |operation: &Operation| match &operation.computation {
            Computation::Map { expression, cast, .. } => expression.is_none() && cast.is_none(),
            Computation::Reduce { .. }
            | Computation::Coordinates { .. }
            | Computation::Compare { .. }
            | Computation::Choose { .. } => false,
        };
        self.operations.len() == 1 && self.operations.iter().all(copies)
    }

    /// Returns true if an axis counts windows of an input: loops do not divide these.
    #[must_use]
    pub fn slides_along(&self, axis: &str, axes: &Axes) -> bool {
        self.inputs.iter().any(|&slot| self.values[slot].array.slides_along(axis, axes))
    }

    /// The passes of the map that is operation `number`; `None` if it has no expression, or no passes were found.
    #[must_use]
    pub fn passes(&self, number: usize) -> Option<&[VectorPass]> {
        self.passes.of(number, || {
            self.operations.iter().map(|operation| self.expression(&operation.computation)).collect()
        })
    }

    /// The expression of a map, with the formats in which the vector engine reads its operands.
    fn expression<'a>(&self, computation: &'a Computation) -> Option<(&'a Expression, Vec<DType>)> {
        match computation {
            Computation::Map { expression, operands, .. } => {
                let formats = operands.iter().map(|&slot| computed(self.values[slot].read));
                expression.as_ref().map(|expression| (expression, formats.collect()))
            }
            Computation::Reduce { .. }
            | Computation::Coordinates { .. }
            | Computation::Compare { .. }
            | Computation::Choose { .. } => None,
        }
    }
}

/// The division of a reduced axis among slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DividedSum {
    /// The number of the axis among those of [`Region::divided_sums`].
    pub axis: usize,
    /// Slices of a group, each with a part of the axis.
    pub slices: u64,
    /// True if neighbouring positions are in neighbouring slices.
    pub neighbours: bool,
    /// A divisor of the number of positions of a slice: the last slice may have padding.
    pub multiple: u64,
}

/// A plan of a region, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionChoice {
    /// The first and the number of the axes of the region's rows that are divided; slices hold the others whole.
    pub rows: (usize, usize),
    /// Positions of a block of each of the two axes that are turned; `None` without blocks.
    pub blocks: Option<[u64; 2]>,
    /// Clusters that divide the rows.
    pub clusters: u64,
    /// Slices that divide the rows.
    pub slices: u64,
    /// A divisor of the number of rows of a slice: the last ones may be padding.
    pub multiple: u64,
    /// Iterations of a loop over the rows.
    pub tiles: u64,
    /// The reduced axis that slices divide.
    pub sum: Option<DividedSum>,
    /// True if neighbouring rows are in neighbouring slices.
    pub neighbours: bool,
    /// True if lanes hold elements that stay apart in reductions, where both are possible.
    pub apart: bool,
    /// True if the unused slices are between the used ones, so that all networks of data memory work.
    pub spread: bool,
    /// True if the DMA engines of two clusters divide the loads, and the stores. Loops do without: their transfers
    /// overlap with the computation, and take longer with half of the engines.
    pub queues: bool,
}
