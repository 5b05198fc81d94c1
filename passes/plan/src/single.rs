//! Steps with one plan: arrays that commands generate, and moves within HBM.

pub mod generate;
pub mod indexed;
pub mod joined;
pub mod relabelled;
pub mod windows;

use crate::array::Array;
use crate::writer::Writer;
use std::sync::Arc;
use visa_algebra::{Axes, Expr};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_machine::Machine;

/// The move or the generation of a step.
#[derive(Clone, Debug)]
pub enum Move {
    /// The coordinates of the only axis.
    Coordinates {
        /// The axes of the steps and of the lanes that count them.
        counters: [Arc<str>; 2],
    },
    /// Numbers along the only axis.
    Numbers(Vec<f64>),
    /// Rows of the first input, by the second one.
    Gather {
        /// The axis of the rows.
        along: Arc<str>,
        /// The index.
        index: Array,
        /// True if indices are distances in bytes, false if they are numbers of rows.
        distances: bool,
    },
    /// Rows, the first input, that replace rows of a table, the last one, by an index.
    Scatter {
        /// The axis of the rows.
        along: Arc<str>,
        /// The index.
        index: Array,
        /// True if indices are distances in bytes, false if they are numbers of rows.
        distances: bool,
    },
    /// The elements of the input under other axes.
    Relabel {
        /// The input.
        source: Array,
        /// The positions of the elements, slowest first.
        before: Vec<Expr>,
        /// The same positions under the axes of the result.
        after: Vec<Expr>,
    },
    /// Windows of the input, each with its own elements.
    Windows {
        /// The input.
        source: Array,
        /// Axes of the input, and the windows along them.
        slides: Vec<(Arc<str>, Expr)>,
    },
    /// Parts along an axis, one after the other.
    Join {
        /// The axis.
        axis: Arc<str>,
        /// The parts, in their order.
        parts: Vec<Part>,
    },
}

/// A part of an array along an axis.
#[derive(Clone, Debug)]
pub enum Part {
    /// An input, whose axis has another name.
    Input {
        /// Its number among the inputs.
        input: usize,
        /// Its array.
        array: Box<Array>,
        /// Its axis.
        axis: Arc<str>,
    },
    /// Neighbouring positions of an input along the axis of the result.
    Tile {
        /// Its number among the inputs.
        input: usize,
        /// Its array.
        array: Box<Array>,
        /// The first of the positions.
        first: u64,
        /// Their number.
        count: u64,
    },
    /// A number, at this many positions.
    Number(f64, u64),
}

/// A step with one plan.
#[derive(Clone, Debug)]
pub struct Single {
    /// Its move.
    pub kind: Move,
    /// Its result.
    pub out: Array,
}

impl Single {
    /// Writes the step. Returns its result in HBM.
    ///
    /// # Errors
    /// A command that the machine does not have.
    pub fn write(
        &self,
        writer: &mut Writer<'_>,
        inputs: &[ValueId],
        axes: &Axes,
        machine: &Machine,
    ) -> Result<ValueId, Diagnostic> {
        match &self.kind {
            Move::Coordinates { counters } => {
                generate::coordinates(writer, &self.out, counters, axes, machine)
            }
            Move::Numbers(numbers) => generate::numbers(writer, &self.out, numbers, axes, machine),
            Move::Gather { along, index, distances } => {
                indexed::gather(writer, &self.out, (inputs, index), (along, *distances), (axes, machine))
            }
            Move::Scatter { along, index, distances } => {
                indexed::scatter(writer, &self.out, (inputs, index), (along, *distances), (axes, machine))
            }
            Move::Relabel { source, before, after } => {
                relabelled::write(writer, &self.out, (inputs, source), [before, after], axes)
            }
            Move::Windows { source, slides } => {
                windows::write(writer, &self.out, (inputs, source), slides, axes)
            }
            Move::Join { axis, parts } => {
                joined::write(writer, &self.out, inputs, (axis, parts), (axes, machine))
            }
        }
    }

    /// The decision of the step, for `explain`.
    #[must_use]
    pub fn explain(&self) -> String {
        match &self.kind {
            Move::Coordinates { .. } => "one slice counts the coordinates by a running sum of eight lanes",
            Move::Numbers(_) => "one slice is filled with the numbers",
            Move::Relabel { .. } => "the same elements under other axes",
            Move::Windows { .. } => "each window is copied within HBM",
            Move::Join { .. } => "parts move within HBM",
            Move::Scatter { distances: true, .. } => {
                "rows move within HBM into the table, by an index in HBM"
            }
            Move::Scatter { distances: false, .. } => {
                "rows move within HBM into the table, by an index in scratchpad memory"
            }
            Move::Gather { distances: true, .. } => "rows move within HBM, by an index in HBM",
            Move::Gather { distances: false, .. } => "rows move within HBM, by an index in scratchpad memory",
        }
        .to_owned()
    }
}
