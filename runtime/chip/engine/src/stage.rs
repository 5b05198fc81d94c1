//! The contract of a stage, between the operations that make it, the interpreter (which runs it) and the cost
//! model (which prices it). Everything is bytes; no axis and no mapping can be named here.

use crate::cost::{BankUse, BankWalk, Pace, StageCost, TreeUse};
use crate::memory::{Access, SliceMemory};
use crate::running::RunCx;
use crate::stream::Stream;
use crate::wire::{Flow, Mismatch, Wire};
use std::ops::{Deref, Range};
use visa_loops::Program;
use visa_machine::Machine;

/// One engine's configuration in a command, ready to run: the interface of every stage.
pub trait Unit: Send + Sync {
    /// Output flow for an input flow. An engine that changes neither packets nor format hands on its input.
    ///
    /// # Errors
    /// The constraint that does not hold between this stage and those before it.
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        Ok(input)
    }

    /// Cost for an input flow.
    fn cost(&self, machine: &Machine, input: Flow) -> StageCost;

    /// Throughput on a calibrated machine: in the cycles of its cost, or in the steps of [`Unit::paced`].
    fn pace(&self) -> Pace {
        Pace::Cycle
    }

    /// Steps at [`Unit::pace`]; `None` if these are the cycles of its cost.
    fn paced(&self) -> Option<u64> {
        None
    }

    /// Rows of 32 bytes of a register file or of the stash that it reads as an operand, each counted once.
    fn operand_rows(&self, _input: &Wire) -> u64 {
        0
    }

    /// Cycles in which packets of its first result come in. Later engines wait for it, and the last result leaves with
    /// the last packet.
    fn streaming(&self) -> u64 {
        0
    }

    /// Slices of the ring that a reduction goes around, once a command (book 25).
    fn ring(&self) -> u64 {
        0
    }

    /// Returns true if its stores in a register file must be disjoint from the reads of earlier stages there.
    fn stores_apart(&self) -> bool {
        false
    }

    /// Bytes of data memory that it reads in a slice, if it is a fetch: before they are converted.
    fn fetched(&self) -> u64 {
        0
    }

    /// Returns true if it converts elements to another format, or looks them up, as it reads them from memory.
    fn converts(&self) -> bool {
        false
    }

    /// Use of the banks of the tensor register file.
    fn bank_use(&self, _machine: &Machine, _input: Flow) -> Option<BankUse> {
        None
    }

    /// Share of the Reducer that it uses, if it is the contraction.
    fn tree_use(&self, _machine: &Machine, _input: Flow) -> Option<TreeUse> {
        None
    }

    /// Mechanism that excludes undefined elements when one element is computed from several; for the report on shadow
    /// marks.
    fn excludes(&self) -> Option<&'static str> {
        None
    }

    /// The fields of the machine description that are assumed and its cost rests on.
    fn assumed(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The slice memories that it touches.
    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }

    /// The loops in which it walks a slice's data memory, where they are more precise than [`Unit::accesses`].
    fn walk(&self) -> Option<&Program> {
        None
    }

    /// The loops in which it takes the banks of a slice's data memory, where it has any. It makes no more accesses
    /// than those (book 11).
    fn bank_walk(&self) -> Option<BankWalk<'_>> {
        self.walk().map(|loops| BankWalk { loops, alike: true })
    }

    /// Cycles before its first packet in which it writes registers of the whole Tensor Unit; nothing else of the
    /// device that uses them runs meanwhile (book 13).
    fn setup(&self, _machine: &Machine) -> u64 {
        0
    }
}

/// A stage that makes a stream of each slice's stream.
pub trait Map: Unit {
    /// Output of the engine for one slice's stream. The first stage (fetch) gets an empty stream.
    fn run(&self, cx: RunCx<'_>, memory: &SliceMemory, input: Stream) -> Stream;
}

/// A stage that exchanges data between slices.
pub trait Exchange: Unit {
    /// Stream that slice `slice` receives, given every slice's input of its chip: an empty stream for a slice that
    /// takes no part. `None` if no slice sends.
    fn exchange(&self, cx: RunCx<'_>, inputs: &[Stream], slice: usize) -> Option<Stream>;
}

/// A stage that ends a pipeline: it stores the stream.
pub trait Store: Unit {
    /// Stores the stream into the slice's memories.
    fn store(&self, cx: RunCx<'_>, memory: &mut SliceMemory, stream: Stream);

    /// The slices that it stores into, counted through the chip's clusters; `None` for all that are active.
    fn slices(&self) -> Option<&[Range<usize>]> {
        None
    }
}

/// A stage of a command.
pub enum Stage {
    /// Each slice by itself.
    Map(Box<dyn Map>),
    /// All slices of a chip together.
    Exchange(Box<dyn Exchange>),
    /// The end of the command.
    Store(Box<dyn Store>),
}

impl Stage {
    /// A stage that makes a stream of each slice's stream.
    pub fn map(unit: impl Map + 'static) -> Self {
        Self::Map(Box::new(unit))
    }

    /// A stage that exchanges data between slices.
    pub fn exchange(unit: impl Exchange + 'static) -> Self {
        Self::Exchange(Box::new(unit))
    }

    /// A stage that stores.
    pub fn store(unit: impl Store + 'static) -> Self {
        Self::Store(Box::new(unit))
    }

    /// The stage as one that maps, if it is.
    #[must_use]
    pub fn as_map(&self) -> Option<&dyn Map> {
        if let Self::Map(unit) = self { Some(&**unit) } else { None }
    }

    /// The stage as one that exchanges, if it is.
    #[must_use]
    pub fn as_exchange(&self) -> Option<&dyn Exchange> {
        if let Self::Exchange(unit) = self { Some(&**unit) } else { None }
    }

    /// The stage as one that stores, if it is.
    #[must_use]
    pub fn as_store(&self) -> Option<&dyn Store> {
        if let Self::Store(unit) = self { Some(&**unit) } else { None }
    }

    /// The slices that it stores into, where it does and they are not all that are active.
    #[must_use]
    pub fn stored_slices(&self) -> Option<&[Range<usize>]> {
        self.as_store()?.slices()
    }
}

impl Deref for Stage {
    type Target = dyn Unit;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Map(unit) => &**unit,
            Self::Exchange(unit) => &**unit,
            Self::Store(unit) => &**unit,
        }
    }
}
