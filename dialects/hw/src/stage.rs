//! What an engine does: the contract between the hw operations (which implement it), the interpreter (which runs it)
//! and the cost model (which prices it). Everything is bytes; no axis and no mapping can be named here.

use crate::read_cache::CacheReads;
use crate::taint::{Marker, Taint, TaintLog};
use crate::unwritten::Unwritten;
use std::ops::Range;
use std::sync::Arc;
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_numerics::DType;

/// The stream between two engines of one slice: packets of equal size, one behind the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Format of its elements.
    pub dtype: DType,
    /// Bytes held of a packet: its nominal bytes times [`DType::wire_scale`].
    pub packet: usize,
    /// The packets.
    pub bytes: Vec<u8>,
    /// One mark a byte, in shadow mode: where an undefined byte came from.
    pub taint: Option<Vec<Taint>>,
    /// The register-file operand that the aligner pairs with each packet.
    pub operand: Option<Operand>,
    /// What travels beside the elements inside the vector engine, where anything does.
    pub lanes: Option<Box<Lanes>>,
}

/// What travels beside a stream's elements inside the vector engine (book 21, 24).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// The execution id of each element, 4 bits; empty where all are 0.
    pub ids: Vec<u8>,
    /// The mark of each id, in shadow mode; empty where all are defined.
    pub id_marks: Vec<Taint>,
    /// The valid count of each packet; empty where all elements are valid.
    pub valid: Vec<u8>,
    /// What the stash holds.
    pub stash: Option<Stash>,
    /// The vector register file as an operation has left it that wrote to it, until the interpreter has put it in its place.
    pub written: Option<Bank>,
}

/// A copy of the stream, kept for an operand further on (book 21).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stash {
    /// Its elements.
    pub bytes: Vec<u8>,
    /// Bytes a packet.
    pub packet: usize,
    /// Their marks, in shadow mode.
    pub taint: Option<Vec<Taint>>,
}

/// What the TRF sequencer delivers beside the stream: for every access, every row reads at the same address.
///
/// Addresses and sizes are nominal bytes, as everywhere but in a stream's own bytes ([`DType::wire_scale`]).
///
/// Packets that the aligner repeats in time are not repeated in the stream: packet `p` meets the accesses
/// `p * repeat .. (p + 1) * repeat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Byte address of each access, from the start of a row.
    pub addresses: Arc<[u32]>,
    /// Accesses that meet the same packet.
    pub repeat: usize,
    /// Contiguous bytes read a cycle (`reg_read_size`), repeated to fill the packet.
    pub read: usize,
    /// Rows that compute: 1, 2, 4 or 8.
    pub rows: usize,
    /// Bytes of the packet that hold data; the rest contributes zero products.
    pub data: usize,
    /// Behind the contraction: consecutive values of a packet that the accumulator adds to one. 1 where the tree has
    /// added them; the whole tree's width where the machine adds in sequential order.
    pub terms: usize,
}

/// What flows between two stages, as far as it is known before anything runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Format of the elements.
    pub dtype: DType,
    /// Packets a slice.
    pub packets: u64,
    /// Bytes a packet.
    pub packet: u64,
    /// Rows of the register-file operand, between the aligner and the accumulator.
    pub rows: Option<u64>,
    /// What the stash of the vector engine holds: format, packets and bytes a packet.
    pub stash: Option<(DType, Flow)>,
}

impl Wire {
    /// Nothing, as before the fetch.
    pub const NOTHING: Self = Self { dtype: DType::I8, packets: 0, packet: 0, rows: None, stash: None };
    /// Bytes a slice; `None` past `u64`.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.packets.checked_mul(self.packet)
    }

    /// Whether memories hold the elements: those of i5 and i9 exist in streams and in the tensor register file only.
    ///
    /// # Errors
    /// `constraint`, of the memory's operation, at fault in `clause`.
    pub fn stored(&self, constraint: &'static str, clause: &'static str) -> Result<(), Mismatch> {
        if self.dtype.is_stored() {
            return Ok(());
        }
        let message = format!("the stream's elements are {}, whose sideband bit no memory holds", self.dtype);
        Err(Mismatch::new(constraint, clause, message))
    }

    /// The same as a flow.
    #[must_use]
    pub fn flow(&self) -> Flow {
        Flow { packets: self.packets, packet: self.packet }
    }
}

/// Why a stage cannot take what flows into it: a numbered constraint of its operation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The constraint's number, e.g. `C3`.
    pub constraint: &'static str,
    /// The clause at fault.
    pub clause: &'static str,
    /// What was found and what was expected.
    pub message: String,
}

impl Mismatch {
    /// A mismatch.
    #[must_use]
    pub fn new(constraint: &'static str, clause: &'static str, message: String) -> Self {
        Self { constraint, clause, message }
    }
}

/// The memories of one slice. They grow on demand; what was never written is undefined and reads as [`Unwritten`].
#[derive(Clone, Debug)]
pub struct SliceMemory {
    /// Data memory.
    pub dm: Bank,
    /// Tensor register file, row after row (`row * trf_bytes_per_row + address`).
    pub trf: Bank,
    /// The same with the sideband bits of i5 and i9, which the file holds beside its bytes (book 19): such elements
    /// stand here, at [`DType::wire_scale`] times their address.
    pub trf_extended: Bank,
    /// Vector register file.
    pub vrf: Bank,
}

/// A byte memory that grows when written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
    bytes: Vec<u8>,
    /// What bytes read as that were never written.
    unwritten: Unwritten,
    /// One mark a byte in shadow mode; bytes beyond its end were never written.
    taint: Vec<Taint>,
}

impl Default for SliceMemory {
    fn default() -> Self {
        let bank = || Bank::new(Unwritten::STORED);
        Self { dm: bank(), trf: bank(), trf_extended: Bank::new(Unwritten::WIDE), vrf: bank() }
    }
}

impl SliceMemory {
    /// The tensor register file as elements of `dtype` see it, [`DType::wire_scale`] bytes an address.
    #[must_use]
    pub fn trf_of(&self, dtype: DType) -> &Bank {
        if dtype.is_stored() { &self.trf } else { &self.trf_extended }
    }

    /// Writes elements of `dtype` into the tensor register file, at a nominal address, with their marks in shadow mode. What
    /// a format with sideband bits, or without, had there before is gone.
    pub fn write_trf(&mut self, dtype: DType, at: usize, bytes: &[u8], marks: Option<&[Taint]>) {
        let (own, other, per_own) = match dtype.is_stored() {
            true => (&mut self.trf, &mut self.trf_extended, 2),
            false => (&mut self.trf_extended, &mut self.trf, 1),
        };
        let scale = dtype.wire_scale();
        own.write(at * scale, bytes);
        if let Some(marks) = marks {
            own.write_taint(at * scale, marks);
        }
        other.forget(at * per_own..(at + bytes.len() / scale) * per_own);
    }
}

impl Stream {
    /// A stream of no bytes: what the fetch gets, and what a slice that takes no part gives to the switch.
    #[must_use]
    pub fn empty(dtype: DType) -> Self {
        Self { dtype, packet: 0, bytes: Vec::new(), taint: None, operand: None, lanes: None }
    }

    /// Takes every mark through the running operation.
    pub fn pass_marks(&mut self, cx: RunCx<'_>) {
        if let (Some(mut marker), Some(marks)) = (cx.marker(), &mut self.taint) {
            marker.through_all(marks);
        }
    }
}

impl Bank {
    /// A memory that nothing was written to.
    #[must_use]
    pub fn new(unwritten: Unwritten) -> Self {
        Self { bytes: Vec::new(), unwritten, taint: Vec::new() }
    }

    /// Copies `range` into `out`.
    pub fn read(&self, range: Range<usize>, out: &mut Vec<u8>) {
        let end = range.end.min(self.bytes.len());
        let start = range.start.min(end);
        out.extend_from_slice(&self.bytes[start..end]);
        let beyond = range.start.max(end);
        self.unwritten.extend(beyond as u64, range.end - beyond, out);
    }

    /// Copies `size` bytes from each of `addresses` into `out`. Short accesses are the
    /// many ones, and for them a copy whose size the compiler knows is far cheaper.
    pub fn gather(&self, addresses: &[u32], size: usize, out: &mut Vec<u8>) {
        match size {
            1 => self.gather_arrays::<1>(addresses, out),
            2 => self.gather_arrays::<2>(addresses, out),
            4 => self.gather_arrays::<4>(addresses, out),
            8 => self.gather_arrays::<8>(addresses, out),
            _ => addresses.iter().for_each(|&start| self.read(start as usize..start as usize + size, out)),
        }
    }

    fn gather_arrays<const N: usize>(&self, addresses: &[u32], out: &mut Vec<u8>) {
        out.reserve(addresses.len() * N);
        for &start in addresses {
            let start = start as usize;
            match self.bytes.get(start..).and_then(|rest| rest.first_chunk::<N>()) {
                Some(bytes) => out.extend_from_slice(bytes),
                None => self.read(start..start + N, out),
            }
        }
    }

    /// Copies the marks of `range` into `out`; a byte never written has the mark `unwritten`.
    pub fn read_taint(&self, range: Range<usize>, unwritten: Taint, out: &mut Vec<Taint>) {
        for at in range {
            out.push(
                self.taint.get(at).copied().filter(|&mark| mark != Taint::NEVER_WRITTEN).unwrap_or(unwritten),
            );
        }
    }

    /// Writes `bytes` at `at`.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        let end = at + bytes.len();
        self.bytes_mut(end)[at..end].copy_from_slice(bytes);
    }

    /// Makes `range` as if it was never written.
    fn forget(&mut self, range: Range<usize>) {
        let bytes = self.bytes.len();
        self.unwritten
            .fill(range.start as u64, &mut self.bytes[range.start.min(bytes)..range.end.min(bytes)]);
        let marks = self.taint.len();
        self.taint[range.start.min(marks)..range.end.min(marks)].fill(Taint::NEVER_WRITTEN);
    }

    /// Writes marks at `at`.
    pub fn write_taint(&mut self, at: usize, marks: &[Taint]) {
        let end = at + marks.len();
        if self.taint.len() < end {
            self.taint.resize(end, Taint::NEVER_WRITTEN);
        }
        self.taint[at..end].copy_from_slice(marks);
    }

    /// The bytes from address 0, at least `length` of them, to be written.
    pub fn bytes_mut(&mut self, length: usize) -> &mut [u8] {
        let held = self.bytes.len();
        if held < length {
            self.unwritten.extend(held as u64, length - held, &mut self.bytes);
        }
        &mut self.bytes
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
    /// The number of the operation whose stage runs, for its marks.
    pub op: u32,
    /// The chip that it runs on.
    pub chip: usize,
    /// The slice that it runs in, counted through the chip's clusters.
    pub slice: usize,
}

impl<'a> RunCx<'a> {
    /// Makes the marks of the running stage, in shadow mode.
    #[must_use]
    pub fn marker(&self) -> Option<Marker<'a>> {
        self.shadow.map(|log| Marker::new(log, self.op))
    }
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
    /// Swaps rows and columns of small matrices.
    Transpose,
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

/// What a stage does with the banks of the tensor register file (book 18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankUse {
    /// Reads through the cache.
    Reads(CacheReads),
    /// Writes that many flits, one a cycle at most, each to the column after the last one's.
    Writes(u64),
}

/// How much of the Reducer a contraction uses (book 19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeUse {
    /// Rows that compute.
    pub rows: u64,
    /// Rows that there are.
    pub all_rows: u64,
    /// Levels of the tree that add.
    pub depth: u64,
    /// Cycles that they take.
    pub latency: u64,
    /// Multiply-accumulates of a slice in as many cycles with every row and every element at work.
    pub most_macs: u64,
}

/// One engine's configuration in a command, ready to run. Made from an hw operation by its [`Build`] interface.
pub trait Stage: Send + Sync {
    /// The operation's name, for reports and marks.
    fn name(&self) -> &'static str;

    /// Where the operation stands in the source.
    fn span(&self) -> Span;

    /// What comes out, given what flows in. An engine that changes neither packets nor format hands on its input.
    ///
    /// # Errors
    /// The constraint that does not hold between this stage and those before it.
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        Ok(input)
    }

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

    /// For the last stage: the slices that it stores into, counted through the chip's clusters; `None` for all that are
    /// active.
    fn stored_slices(&self) -> Option<&[Range<usize>]> {
        None
    }

    /// What it costs, given what flows in.
    fn cost(&self, machine: &Machine, input: Flow) -> StageCost;

    /// What it does with the banks of the tensor register file.
    fn bank_use(&self, _machine: &Machine, _input: Flow) -> Option<BankUse> {
        None
    }

    /// For the contraction: how much of the Reducer it uses.
    fn tree_use(&self, _machine: &Machine, _input: Flow) -> Option<TreeUse> {
        None
    }

    /// For a stage that makes one element of several: what keeps undefined ones out, for the report on shadow marks.
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
}

/// The interface by which an hw operation inside `hw.exec` gives its stage.
pub struct Build(pub fn(visa_ir::module::OpRef<'_>) -> Result<Box<dyn Stage>, visa_ir::diag::Diagnostic>);

/// The interface by which an operation inside `hw.exec` says at which stage of the Vector Engine it works; the stages stand in
/// their order (book 21).
pub struct Station(pub fn(visa_ir::module::OpRef<'_>) -> Option<visa_numerics::VectorStage>);

/// The interface by which an operation of another dialect says which hw operation's place it may take in `hw.exec`.
pub struct StandsFor(pub &'static str);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathering_reads_what_reading_does() {
        let mut bank = Bank::new(Unwritten::STORED);
        bank.write(0, &(1..=20).collect::<Vec<u8>>());
        for size in [1, 2, 4, 8, 16] {
            // Inside, the last whole access, across the end, and never written.
            let addresses = [3, 20 - size as u32, 19, 20, 1000];
            let (mut gathered, mut read) = (vec![7], vec![7]);
            bank.gather(&addresses, size, &mut gathered);
            addresses.iter().for_each(|&at| bank.read(at as usize..at as usize + size, &mut read));
            assert_eq!(gathered, read, "{size}");
        }
        let mut two = Vec::new();
        bank.gather(&[18, 19, 20], 2, &mut two);
        assert_eq!(two, [19, 20, 20, 0xf5, 0xf5, 0xf5]);
    }

    /// An i9 takes two of the bytes held: at nominal address 2, bytes 4 and 5. Where one format is written, the other is gone.
    #[test]
    fn a_format_takes_the_addresses_of_the_other_in_the_register_file() {
        let mut memory = SliceMemory::default();
        let marks = |bank: &Bank, range| {
            let mut marks = Vec::new();
            bank.read_taint(range, Taint::NEVER_WRITTEN, &mut marks);
            marks.iter().map(|mark| mark.is_defined()).collect::<Vec<_>>()
        };
        memory.write_trf(DType::I8, 0, &[1, 2, 3, 4, 5, 6], Some(&[Taint::DEFINED; 6]));
        memory.write_trf(DType::I9, 2, &[7, 0, 8, 0], Some(&[Taint::DEFINED; 4]));
        assert_eq!(memory.trf.bytes(), [1, 2, 0x77, 0x77, 5, 6]);
        assert_eq!(marks(&memory.trf, 0..6), [true, true, false, false, true, true]);
        assert_eq!(memory.trf_extended.bytes()[4..], [7, 0, 8, 0]);
        assert_eq!(marks(&memory.trf_extended, 2..8), [false, false, true, true, true, true]);
        memory.write_trf(DType::I8, 3, &[9], Some(&[Taint::DEFINED]));
        assert_eq!(memory.trf.bytes(), [1, 2, 0x77, 9, 5, 6]);
        assert_eq!(memory.trf_extended.bytes()[4..], [7, 0, 0xf3, 0xff]);
        assert_eq!(marks(&memory.trf_extended, 2..8), [false, false, true, true, false, false]);
    }
}
