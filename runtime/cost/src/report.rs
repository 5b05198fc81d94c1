//! Content of a report. Cycles are of the machine's clock.

use serde::{Serialize, Serializer};
use visa_hw::program::{Context, Dma};
use visa_ir::span::Span;
use visa_machine::{Machine, Measured};

use crate::anatomy::Anatomy;
use crate::queues::Queues;
use crate::traffic::Traffic;

/// The price of a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The entry's name.
    pub program: String,
    /// The machine's name.
    pub machine: String,
    /// Model of the cost of memories: a [`MemoryModel`](crate::MemoryModel)'s name.
    pub memory_model: &'static str,
    /// Chips that run it, in lockstep.
    pub chips: usize,
    /// Clock, GHz.
    pub clock_ghz: f64,
    /// Unit of its times: cycles of that clock, or ticks of the counter of a calibrated machine.
    pub unit: TimeUnit,
    /// Of a machine that was measured: how far its runs are apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseReport>,
    /// Every command in program order.
    pub commands: Vec<CommandReport>,
    /// The whole program.
    pub totals: Totals,
    /// Lower bound of the cycles of its work.
    pub bound: Bound,
    /// Assumed values of the machine description that a figure rests on.
    pub assumptions: Vec<Assumed>,
}

/// Unit of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Cycles of the machine's clock.
    Cycle,
    /// Ticks of the device's counter.
    Tick,
}

impl TimeUnit {
    /// The unit of the totals of a machine.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        machine.measured.as_ref().map_or(Self::Cycle, Self::of_measured)
    }

    /// The unit of the totals of a machine with these measurements.
    pub(crate) fn of_measured(measured: &Measured) -> Self {
        if measured.counts_cycles() { Self::Cycle } else { Self::Tick }
    }

    /// One of it, in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cycle => "cycle",
            Self::Tick => "tick",
        }
    }
}

/// In how many ticks a program of that price runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NoiseReport {
    /// Medians of jobs: the least and the most.
    pub jobs: [u64; 2],
    /// Cold runs: the least and the most.
    pub cold: [u64; 2],
}

/// Resource that runs a command: one at a time, in program order (book 28).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    /// The Tensor Unit's main context.
    Main,
    /// The Tensor Unit's sub context.
    Sub,
    /// The chip's DMA engines: a queue for each cluster (book 10).
    Dma,
    /// The link to the host.
    Pcie,
    /// Main and sub as one: each runs nothing else meanwhile (book 08).
    Dual,
}

impl Resource {
    /// All that run one command at a time, in the order of reports: the first of the enumeration.
    pub const ALL: [Self; 4] = [Self::Main, Self::Sub, Self::Dma, Self::Pcie];

    /// Resource that runs a context's pipelines.
    pub(crate) const fn of_context(context: Context) -> Self {
        match context {
            Context::Main => Self::Main,
            Context::Sub => Self::Sub,
            Context::Dual => Self::Dual,
        }
    }

    /// Returns true if it is of the device, which one kernel has at a time.
    pub(crate) const fn is_device(self) -> bool {
        match self {
            Self::Main | Self::Sub | Self::Dual | Self::Dma => true,
            Self::Pcie => false,
        }
    }

    /// Returns true if it is of the Tensor Unit.
    pub(crate) const fn is_context(self) -> bool {
        match self {
            Self::Main | Self::Sub | Self::Dual => true,
            Self::Dma | Self::Pcie => false,
        }
    }

    /// Resource that runs a transfer.
    pub(crate) const fn of_transfer(dma: &Dma) -> Self {
        if dma.pcie { Self::Pcie } else { Self::Dma }
    }

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Sub => "sub",
            Self::Dual => "dual",
            Self::Dma => "dma",
            Self::Pcie => "pcie",
        }
    }
}

/// The price of one command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandReport {
    /// Its number in program order, from 0.
    pub index: usize,
    /// Resource that runs it.
    pub kind: Resource,
    /// Of a tensor transfer: the clusters whose DMA queue it takes, where those are not all of the chip's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<u64>,
    /// Tensor that it moves or makes, in the kernel's names; not in JSON where the program does not specify it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its engines in order, e.g. `fetch>collect>store_trf`, or its memories, e.g. `hbm>dm`.
    pub label: String,
    /// Where the work is in the source, bytes.
    #[serde(serialize_with = "span_bytes")]
    pub span: Span,
    /// Busy time of each engine (of a transfer: each memory on its way), in pipeline order.
    pub engines: Vec<EngineCycles>,
    /// Cycles until the first result: the pipeline's fill, or a transfer's start-up.
    pub latency: u64,
    /// Cycles from start to end: the busiest engine and the latency. As all that follows, of the first run, if loops
    /// around the command run it more than once.
    pub cycles: u64,
    /// Cycles of a run without waits while it runs.
    #[serde(skip)]
    pub alone: u64,
    /// The queues that it takes.
    #[serde(skip)]
    pub queues: Queues,
    /// Number of its runs; not in JSON where that is one.
    #[serde(skip_serializing_if = "is_one")]
    pub runs: u64,
    /// The busiest engine, the first of equals; `startup` where a transfer takes longer to start than to move.
    pub bottleneck: &'static str,
    /// Bytes moved, all slices and chips.
    pub bytes: Traffic,
    /// Multiply-accumulates, all slices and chips.
    pub macs: u64,
    /// Lower bound of the cycles of the work of a run, and its resource.
    #[serde(skip)]
    pub least: BoundPart,
    /// Cycles that its multiply-accumulates take at the peak of their formats.
    #[serde(skip)]
    pub peak: f64,
    /// Of a contraction: how it uses the Reducer and the register file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contraction: Option<ContractionReport>,
    /// Of a transfer, by a model of requests: its load on the memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryReport>,
    /// On a calibrated machine: the components of its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anatomy: Option<Anatomy>,
    /// Cycles of all runs in which it waits for others that go first; `stalls_for` has the reasons.
    pub stalls: u64,
    /// The parts of `stalls`; not in JSON where there are none.
    #[serde(skip_serializing_if = "Stalls::is_none")]
    pub stalls_for: Stalls,
    /// Bound of the error of the cycles of a run, as a share of them, where the `detailed` model follows from some
    /// requests to others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Cycle in which its first run starts.
    pub start: u64,
    /// Cycle in which its last run has ended.
    pub end: u64,
    /// Commands that kept its runs from starting earlier, empty where it starts in cycle 0; and those that they waited
    /// for meanwhile.
    pub waits: Vec<Wait>,
}

/// Cycles in which a command waits for others that go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stalls {
    /// Its writes to the tensor register file for reads of a contraction (book 18).
    pub register_file: u64,
    /// Sub's accesses to a bank of data memory for main's (book 11).
    pub banks: u64,
    /// A transfer for HBM, which an earlier one of another cluster takes.
    pub hbm: u64,
}

impl Stalls {
    /// So many cycles for one reason; none for a reason to start later.
    pub(crate) fn of(why: Why, cycles: u64) -> Self {
        let none = Self::default();
        match why {
            Why::Trf => Self { register_file: cycles, ..none },
            Why::Banks => Self { banks: cycles, ..none },
            Why::Hbm => Self { hbm: cycles, ..none },
            Why::Busy
            | Why::Raw
            | Why::War
            | Why::Waw
            | Why::Launch
            | Why::Starvation
            | Why::Setup
            | Why::Sync => none,
        }
    }

    /// These and others.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            register_file: self.register_file.saturating_add(other.register_file),
            banks: self.banks.saturating_add(other.banks),
            hbm: self.hbm.saturating_add(other.hbm),
        }
    }

    /// All together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.register_file.saturating_add(self.banks).saturating_add(self.hbm)
    }

    fn is_none(&self) -> bool {
        self.total() == 0
    }
}

/// Load of a transfer on the memories of a chip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryReport {
    /// Reason for its time.
    pub reason: String,
    /// Requests of both sides.
    pub requests: u64,
    /// Those of them that were not looked at but taken to be like the others of their side.
    pub estimated: u64,
    /// Cycles of each engine that works, start-ups included.
    pub engines: Vec<u64>,
    /// Load of each channel of HBM; empty where HBM takes no part.
    pub channels: Vec<ChannelReport>,
    /// Bytes of HBM that the transfer names.
    pub hbm_asked: u64,
    /// Bytes that HBM transfers for them, in units of 256.
    pub hbm_moved: u64,
    /// Busy cycles of each network of data memory; empty where it takes no part.
    pub networks: Vec<u64>,
    /// Accesses to each bank of data memory, of 8 bytes, in all slices of a chip together, by the `detailed` model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub banks: Vec<u64>,
}

/// Load of a channel of HBM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ChannelReport {
    /// Units of 256 bytes.
    pub transfers: u64,
    /// Those whose row was open.
    pub row_hits: u64,
    /// Those that go to another row of a bank.
    pub switches: u64,
    /// Switches that other banks do not hide, by the `book` model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposed: Option<u64>,
    /// Units of which a part is written.
    pub partial: u64,
    /// Cycles that it takes, by the `book` model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
}

/// Use of the Reducer and the register file by a contraction (books 18, 19). All slices are alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContractionReport {
    /// Rows that compute.
    pub rows: u64,
    /// Total number of rows.
    pub all_rows: u64,
    /// Multiply-accumulates over those of as many cycles with every row and every element at work (0 to 1).
    pub share_of_macs: f64,
    /// Levels of the tree that add.
    pub tree_levels: u64,
    /// Cycles that they take.
    pub tree_cycles: u64,
    /// Packets that meet the register file: cycles, and additions in time.
    pub reads: u64,
    /// Reads that miss the cache.
    pub misses: u64,
}

impl ContractionReport {
    /// Part of the reads that hit the cache (0 to 1); 0 without reads.
    #[must_use]
    pub fn hit_rate(&self) -> f64 {
        (self.reads - self.misses.min(self.reads)) as f64 / self.reads.max(1) as f64
    }
}

/// Busy time of an engine with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EngineCycles {
    /// Its name.
    pub engine: &'static str,
    /// Cycles.
    pub cycles: u64,
}

/// A reason for a command to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Wait {
    /// The command waited for.
    pub command: usize,
    /// Reason for the wait.
    pub why: Why,
}

/// Reason that one command waits for another (book 28).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// Both need the same resource.
    Busy,
    /// It reads bytes that the other writes.
    Raw,
    /// It writes bytes that the other reads.
    War,
    /// It writes bytes that the other writes.
    Waw,
    /// One of them is the start of a kernel.
    Launch,
    /// One of them is a transfer, which the other one would starve, alone or with the runs in parallel with it: 64
    /// accesses to a bank of data memory in a row (book 11, B2).
    Starvation,
    /// One of them is a custom switch, whose set-up nothing of the device overlaps (book 13).
    Setup,
    /// It writes the tensor register file, and the other one's reads go first (book 18).
    Trf,
    /// It wants a bank of data memory, where main goes before sub (book 11).
    Banks,
    /// It wants HBM, which an earlier transfer of another cluster takes.
    Hbm,
    /// It reads bytes that the other writes, and clusters wait for each other in between.
    Sync,
}

impl Why {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Raw => "RAW",
            Self::War => "WAR",
            Self::Waw => "WAW",
            Self::Launch => "launch",
            Self::Starvation => "starvation",
            Self::Setup => "set-up",
            Self::Trf => "TRF",
            Self::Banks => "banks",
            Self::Hbm => "HBM",
            Self::Sync => "sync",
        }
    }
}

/// The price of the whole program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Totals {
    /// Cycles from the first start to the last end; on a calibrated machine with those around them.
    pub cycles: u64,
    /// Time before the first command and after the last one, on a calibrated machine.
    #[serde(skip_serializing_if = "is_zero")]
    pub around: u64,
    /// The same in microseconds of the machine's clock.
    pub microseconds: f64,
    /// Busy time of each resource; for the DMA that of the busiest queue.
    pub busy: Vec<Busy>,
    /// Busy time of the DMA queue of each cluster, in cycles; not in JSON where all are alike.
    #[serde(skip_serializing_if = "are_alike")]
    pub dma_queues: Vec<u64>,
    /// Multiply-accumulates of all chips.
    pub macs: u64,
    /// Share of the peak multiply-accumulates of the chips in these cycles (0 to 1), each format measured by its peak;
    /// `None` without multiply-accumulates.
    pub share_of_peak: Option<f64>,
    /// Bytes moved by all chips.
    pub bytes: Traffic,
    /// Multiplications and additions for each byte moved to or from HBM; `None` without HBM traffic.
    pub operations_per_hbm_byte: Option<f64>,
}

/// Busy time of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Busy {
    /// The resource.
    pub resource: Resource,
    /// Cycles.
    pub cycles: u64,
}

/// Lower bound of the cycles of the work of a program, for every schedule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// The greatest of the parts.
    pub cycles: u64,
    /// Factor by which the program takes longer.
    pub times: f64,
    /// Least work of each resource, the greatest first.
    pub parts: Vec<BoundPart>,
}

/// The least that a resource must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BoundPart {
    /// `contraction`, `vector`, `fetch`: the work of these engines, spread over all slices at their full rate.
    /// `hbm`, `pcie`: each argument once in, each result once out. `start-ups`: the greatest of the engines' work,
    /// with the start-ups of the transfers that each of its runs needs before it, and that need each of its runs.
    /// `dma`: `hbm` and the start-up before it; where all transfers share a queue, one for each argument and result.
    pub of: &'static str,
    /// Cycles.
    pub cycles: u64,
}

/// An assumed value of the machine description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assumed {
    /// Path of the field in a JSON description.
    pub field: &'static str,
    /// Reason for the assumption.
    pub why: String,
}

/// The signature that serde requires takes a reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_one(runs: &u64) -> bool {
    *runs == 1
}

fn is_zero(around: &u64) -> bool {
    *around == 0
}

fn are_alike(queues: &[u64]) -> bool {
    queues.windows(2).all(|pair| pair[0] == pair[1])
}

fn span_bytes<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    (span.start..span.end).serialize(serializer)
}
