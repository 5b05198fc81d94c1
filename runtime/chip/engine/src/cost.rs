//! Cost of a stage, and its use of the machine.

use crate::read_cache::CacheReads;
use crate::wire::Flow;
use visa_loops::Program;

/// An engine that can be the bottleneck of a command, by the name that reports give it. Stages of one engine are
/// stations of one pipeline: the slowest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine(pub &'static str);

/// The engines of RNGD.
impl Engine {
    /// Reads data memory.
    pub const FETCH: Self = Self("fetch");
    /// Moves packets between slices.
    pub const SWITCH: Self = Self("switch");
    /// Cuts packets into flits.
    pub const COLLECT: Self = Self("collect");
    /// Multiplies and sums.
    pub const CONTRACTION: Self = Self("contraction");
    /// Elementwise work.
    pub const VECTOR: Self = Self("vector");
    /// Narrows the result.
    pub const CAST: Self = Self("cast");
    /// Swaps rows and columns of small matrices.
    pub const TRANSPOSE: Self = Self("transpose");
    /// Writes data memory, or a register file.
    pub const COMMIT: Self = Self("commit");
}

/// Throughput of an engine in steps. In the book every engine takes one step a cycle; on silicon it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A step a cycle.
    Cycle,
    /// Look-ups of a fetch in a table, [`TABLE_BYTES`] a step.
    Table,
}

impl Pace {
    /// All of them, in the order of the enumeration.
    pub const ALL: [Self; 2] = [Self::Cycle, Self::Table];
}

/// Bytes that a table gives in a step, before the fetch converts them: 32 look-ups of f4 to f8, 16 of f8 to bf16.
pub const TABLE_BYTES: u64 = 32;

/// Cost of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageCost {
    /// The engine that is busy.
    pub engine: Engine,
    /// Cycles that the engine needs for the whole stream, one slice as good as all (they run in lockstep).
    pub cycles: u64,
    /// Cycles from an input to its output: the pipeline's fill, paid once a command.
    pub latency: u64,
    /// Multiply-accumulates of one slice.
    pub macs: u64,
    /// Output flow.
    pub out: Flow,
}

/// Use of the banks of the tensor register file by a stage (book 18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankUse {
    /// Reads through the cache.
    Reads(CacheReads),
    /// Writes that many flits, one a cycle at most, each to the column after the last one's.
    Writes(u64),
}

/// Use of the banks of data memory by a stage (book 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankWalk<'a> {
    /// Addresses in a slice, bytes.
    pub loops: &'a Program,
    /// True if all slices begin at the same address.
    pub alike: bool,
}

/// Share of the Reducer that a contraction uses (book 19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeUse {
    /// Rows that compute.
    pub rows: u64,
    /// Total number of rows.
    pub all_rows: u64,
    /// Levels of the tree that add.
    pub depth: u64,
    /// Cycles that they take.
    pub latency: u64,
    /// Multiply-accumulates of a slice in as many cycles with every row and every element at work.
    pub most_macs: u64,
}
