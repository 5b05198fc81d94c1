//! What an engine does: the contract between the hw operations (which implement it), the interpreter (which runs it)
//! and the cost model (which prices it). Everything is bytes; no axis and no mapping can be named here.

use crate::taint::{Taint, TaintLog};
use std::ops::Range;
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_numerics::DType;

/// The stream between two engines of one slice: packets of equal size, one behind the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Format of its elements.
    pub dtype: DType,
    /// Bytes a packet.
    pub packet: usize,
    /// The packets.
    pub bytes: Vec<u8>,
    /// One mark a byte, in shadow mode: where an undefined byte came from.
    pub taint: Option<Vec<Taint>>,
    /// The register-file operand that the aligner pairs with each packet.
    pub operand: Option<Operand>,
}

/// What the TRF sequencer delivers beside the stream: for every packet, every row reads at the same address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Byte address within a row, a packet.
    pub addresses: Vec<u32>,
    /// Contiguous bytes read a cycle (`reg_read_size`), repeated to fill the packet.
    pub read: usize,
    /// Rows that compute: 1, 2, 4 or 8.
    pub rows: usize,
    /// Bytes of the packet that hold data; the rest contributes zero products.
    pub data: usize,
}

/// The memories of one slice. Data memory grows on demand; what was never written reads as zero and is undefined.
#[derive(Clone, Debug, Default)]
pub struct SliceMemory {
    /// Data memory.
    pub dm: Bank,
    /// Tensor register file, row after row (`row * trf_bytes_per_row + address`).
    pub trf: Bank,
    /// Vector register file.
    pub vrf: Bank,
}

/// A byte memory that grows when written.
#[derive(Clone, Debug, Default)]
pub struct Bank {
    bytes: Vec<u8>,
    /// One mark a byte in shadow mode; bytes beyond its end were never written.
    taint: Vec<Taint>,
}

impl Bank {
    /// Copies `range` into `out`; bytes never written read as zero.
    pub fn read(&self, range: Range<usize>, out: &mut Vec<u8>) {
        let length = range.len();
        let end = range.end.min(self.bytes.len());
        let start = range.start.min(end);
        out.extend_from_slice(&self.bytes[start..end]);
        out.resize(out.len() + length - (end - start), 0);
    }

    /// Copies the marks of `range` into `out`; a byte never written has the mark `unwritten`.
    pub fn read_taint(&self, range: Range<usize>, unwritten: Taint, out: &mut Vec<Taint>) {
        for at in range {
            out.push(self.taint.get(at).copied().filter(|&mark| mark != Taint::NEVER_WRITTEN).unwrap_or(unwritten));
        }
    }

    /// Writes `bytes` at `at`.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        let end = at + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[at..end].copy_from_slice(bytes);
    }

    /// Writes marks at `at`.
    pub fn write_taint(&mut self, at: usize, marks: &[Taint]) {
        let end = at + marks.len();
        if self.taint.len() < end {
            self.taint.resize(end, Taint::NEVER_WRITTEN);
        }
        self.taint[at..end].copy_from_slice(marks);
    }

    /// The bytes written so far, from address 0.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// What a running stage knows besides its slice.
#[derive(Clone, Copy)]
pub struct RunCx<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// In shadow mode, where marks are made.
    pub shadow: Option<&'a TaintLog>,
}

/// A memory of a slice or of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// System memory of the host.
    Host,
    /// High-bandwidth memory of a chip.
    Hbm,
    /// Data memory of a slice.
    Dm,
    /// Tensor register file of a slice.
    Trf,
    /// Vector register file of a slice.
    Vrf,
}

/// A range of addresses that a command touches, in bytes. Ranges of slice memories are the same in every slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which memory.
    pub space: Space,
    /// Whether it is written.
    pub write: bool,
    /// Bytes from the first touched to one past the last touched.
    pub range: Range<u64>,
}

/// An engine of the machine that can be the bottleneck of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// Reads data memory.
    Fetch,
    /// Moves packets between slices.
    Switch,
    /// Cuts packets into flits.
    Collect,
    /// Multiplies and sums.
    Contraction,
    /// Elementwise work.
    Vector,
    /// Narrows the result.
    Cast,
    /// Writes data memory, or a register file.
    Commit,
    /// Moves memory to memory.
    Dma,
}

/// How much flows between two stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Packets a slice.
    pub packets: u64,
    /// Bytes a packet.
    pub packet: u64,
}

/// What a stage costs.
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
    /// What comes out.
    pub out: Flow,
}

/// One engine's configuration in a command, ready to run. Made from an hw operation by its [`Build`] interface.
pub trait Stage: Send + Sync {
    /// The operation's name, for reports and marks.
    fn name(&self) -> &'static str;

    /// Where the operation stands in the source.
    fn span(&self) -> Span;

    /// What the engine makes of one slice's stream. The first stage (fetch) gets an empty stream.
    fn run(&self, cx: RunCx<'_>, memory: &SliceMemory, input: Stream) -> Stream;

    /// For the switch: what slice `slice` receives, given every slice's input of its chip (an empty stream for a slice
    /// that takes no part). `None` for every other stage.
    fn route(&self, _cx: RunCx<'_>, _inputs: &[Stream], _slice: usize) -> Option<Stream> {
        None
    }

    /// Whether this stage exchanges data between slices (`route` instead of `run`).
    fn is_switch(&self) -> bool {
        false
    }

    /// For the last stage: stores the stream into the slice's memories.
    fn store(&self, _cx: RunCx<'_>, _memory: &mut SliceMemory, _stream: Stream) {}

    /// What it costs, given what flows in.
    fn cost(&self, machine: &Machine, input: Flow) -> StageCost;

    /// The slice memories that it touches.
    fn accesses(&self) -> Vec<Access> {
        Vec::new()
    }
}

/// The interface by which an hw operation inside `hw.exec` gives its stage.
pub struct Build(pub fn(visa_ir::module::OpRef<'_>) -> Result<Box<dyn Stage>, visa_ir::diag::Diagnostic>);
