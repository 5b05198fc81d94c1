//! `hw.fetch`: the Fetch Engine (book 08).

use crate::adapter::Adapter;
use crate::attrs::{DTYPE, MASK, PROGRAM, STEPS, TABLE};
use crate::build::{Build, KnowsSlices, Moves, verify};
use crate::clauses::{at_least, machine};
use crate::loops::{Loops, Written};
use crate::mask::Masking;
use crate::ops::control::{Moving, steps_of_stage};
use crate::ops::exec::context_of;
use crate::program::Context;
use std::ops::Range;
use std::rc::Rc;
use visa_engine::place::rngd;
use visa_engine::shadow::{Marker, Shadow};
use visa_engine::{
    Access, BankWalk, Engine, Flow, Map, Mismatch, Pace, RunCx, SliceMemory, Space, Stage, StageCost, Stream,
    TABLE_BYTES, Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::Mask;
use visa_loops::{Program, Steps};
use visa_machine::Machine;
use visa_numerics::DType;
use visa_numerics::LookupTable;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&FETCH];

/// `hw.fetch`.
#[visa_ir::view(Fetch)]
pub static FETCH: OpDecl = OpDecl {
    name: "hw.fetch",
    summary: "reads data memory as a stream of packets",
    doc: "Every slice runs the same loops over its own data memory (book 08). The bytes come in loop order and \
          are cut into packets. On its way, elements that a `mask` names are replaced by a value; then every \
          element is the index of a `table`'s entry, is converted with `to`, and has a zero point subtracted, in \
          this order; packets grow or shrink with it. With `starts`, slices read the same loops from different \
          addresses (book 08: heterogeneous configurations).",
    constraints: &[
        ("C1", "one access is of a size that the context's Fetch Engine reads (book 08)"),
        ("C2", "the loops fit the sequencer, and are contiguous within an access (book 07)"),
        (
            "C3",
            "a packet is a whole number of accesses and elements, and the loops a whole number of packets",
        ),
        ("C4", "a packet after the conversion is a multiple of 8 bytes (book 08: fetch_align)"),
        (
            "C5",
            "data memory holds the format (not i5 or i9), the machine's Fetch Adapter has the conversion, and one \
             access grows to a flit at most: 32 bytes, in the dual context 64 (book 08)",
        ),
        ("C6", "every address is in the slice's data memory"),
        (
            "C7",
            "a table is of the main context, and has 1 to 2^n entries for elements of n bits, 8 at most (book 08)",
        ),
        (
            "C8",
            "one or two zero points, in the range of the format after the conversion, which is of an integer of \
             up to 8 bits to a wider one (book 08)",
        ),
        (
            "C9",
            "the mask names entries outside the innermost loop, two different ones if it names two (book 08: \
             last_dim)",
        ),
        (
            "C10",
            "counts of the mask stay within the innermost loop; there is one, masking at most 255 x 4 bits, or one \
             for each iteration of `by`, at most 8; `value` is an element (book 08)",
        ),
        ("C11", "the main context masks, in packets of at most 256 bytes (book 08)"),
        ("C12", "no slice starts before the base, and there are at most 65536 starts"),
        (
            "C13",
            "`steps` has a number for each scalar and each loop around the run at most, 0 for scalars: only transfers \
             move with them",
        ),
    ],
    clauses: &[
        ClauseDecl::lead(
            "dtype",
            ClauseKind::body::<DType>(&DTYPE),
            "Format of the elements in data memory.",
        ),
        ClauseDecl::required("packet", ClauseKind::Int, "Bytes of a packet before the conversion."),
        ClauseDecl::optional(
            "mask",
            ClauseKind::body::<Mask>(&MASK),
            "Elements that are masked, before all else.",
        ),
        ClauseDecl::optional(
            "table",
            ClauseKind::body::<LookupTable>(&TABLE),
            "Lookup table: an element's bit pattern, read as an unsigned number, is the index of the entry that \
             replaces it.",
        ),
        ClauseDecl::optional("to", ClauseKind::body::<DType>(&DTYPE), "Format to convert to."),
        ClauseDecl::optional(
            "zero",
            ClauseKind::Ints,
            "Zero point subtracted from each element after the conversion; of two, the second in every second \
             packet.",
        ),
        ClauseDecl::required(
            "loops",
            ClauseKind::body::<Program>(&PROGRAM),
            "Data memory addresses, bytes; the packet is the size of one access (`fetch_size`).",
        ),
        ClauseDecl::optional(
            "starts",
            ClauseKind::body::<Program>(&PROGRAM),
            "How many bytes past the base each slice starts, in loops that count the slices of all clusters and \
             chips, one after the other; past their end they begin again.",
        ),
        ClauseDecl::optional(
            "steps",
            ClauseKind::body::<Steps>(&STEPS),
            "How far all addresses move with each `hw.scalar` and then each `hw.for` around the run, the outermost \
             first, in bytes.",
        ),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Memory("dm")), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.fetch bf16, packet 32, loops [128 : 32, 32 : 1] : 32 @ 4096",
    interfaces: &[
        Interface(&rngd::FETCH),
        Interface(&Moves(|op| moving(op).map(Moving::after_first))),
        Interface(&KnowsSlices(|op| op.attr("starts").is_some())),
        Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?)))),
    ],
    ..OpDecl::BASE
};

struct FetchUnit {
    adapter: Adapter,
    context: Context,
    /// Bytes of a packet in data memory.
    packet: u64,
    mask: Option<Masking>,
    loops: Loops,
    starts: Starts,
}

/// Bytes past the base at which slices start.
struct Starts {
    /// Of the slices, one after another; the first one's again after the last.
    bytes: Vec<usize>,
    most: u64,
}

/// Most starts of a fetch: of all slices that a system has.
const MAX_STARTS: u64 = 1 << 16;

impl Starts {
    /// C12.
    fn read(op: Fetch<'_>) -> Result<Self, Diagnostic> {
        let Some(starts) = op.starts()? else { return Ok(Self { bytes: vec![0], most: 0 }) };
        let written = Written::new(*op, "starts", starts);
        let (program, refuse) = (&written.program, |message: String| written.error("C12", message));
        let count = program.entries.iter().try_fold(1_u64, |count, entry| count.checked_mul(entry.limit));
        if count.is_none_or(|count| count == 0 || count > MAX_STARTS) || program.packet != 1 {
            return Err(refuse(format!("`{program}` is no list of 1 to {MAX_STARTS} starts")));
        }
        let found: Vec<i64> = program.addresses().collect();
        let bytes = found.iter().map(|&start| usize::try_from(start)).collect::<Result<Vec<_>, _>>();
        let bytes =
            bytes.map_err(|_| refuse(format!("`{program}` has a start before the base of `loops`")))?;
        let most = bytes.iter().max().map_or(0, |most| *most as u64);
        Ok(Self { bytes, most })
    }

    /// Where a slice starts.
    fn of(&self, cx: RunCx<'_>) -> usize {
        let topology = &cx.machine.topology;
        let slices = (topology.clusters_per_chip * topology.slices_per_cluster) as usize;
        self.bytes[(cx.chip * slices + cx.slice) % self.bytes.len()]
    }
}

fn read(op: OpRef<'_>) -> Result<FetchUnit, Diagnostic> {
    let op = Fetch::of(op)?;
    let machine = machine(*op);
    let written = Written::new(*op, "loops", op.loops()?);
    let from = *op.dtype()?;
    let adapter = Adapter::read(op, from)?;
    let context = context_of(*op)?;
    let sizes = machine.fetch_sizes(context, from, adapter.to());
    let size = written.program.packet;
    if !sizes.contains(&size) {
        let message = format!(
            "an access is {}, expected one of {} in this context",
            counted(size, "byte"),
            crate::clauses::list(&sizes)
        );
        return Err(written.error("C1", message));
    }
    written.sequencer("C2", &sizes)?;
    let packet = whole_packets(op, &written, from)?;
    let starts = Starts::read(op)?;
    check_sizes(*op, &adapter, (packet, size), machine.cast_fetch_max(context), &machine)?;
    let room = machine.memory.dm_bytes_per_slice.saturating_sub(starts.most);
    let memory =
        if starts.most == 0 { "the slice's data memory" } else { "data memory from the furthest start on" };
    let moving = moving(*op)?;
    for touched in moving.reaches(&written.program) {
        Written::new(*op, "loops", Rc::new(touched)).within("C6", room, memory)?;
    }
    let mask = Masking::read(op, from, adapter.converted(packet), &written.program)?;
    Ok(FetchUnit { adapter, context, packet, mask, loops: written.loops_from("C6", moving.first())?, starts })
}

/// C13: how the addresses of a fetch move with the loops around it.
fn moving(op: OpRef<'_>) -> Result<Moving, Diagnostic> {
    steps_of_stage(op, "C13", Fetch::of(op)?.steps()?, 1)
}

/// C3.
fn whole_packets(op: Fetch<'_>, written: &Written<'_>, dtype: DType) -> Result<u64, Diagnostic> {
    let packet = at_least(*op, "C3", ("packet", op.packet()?), 1)?;
    let size = written.program.packet;
    let element = dtype.align();
    if !packet.is_multiple_of(size) || !packet.is_multiple_of(element) {
        let message = format!(
            "a packet is {}, expected a multiple of the access ({size}) and of the {dtype} element ({element})",
            counted(packet, "byte"),
        );
        return Err(op.clause_error("C3", "packet", message));
    }
    match written.program.steps() {
        Some(total) if total.is_multiple_of(packet) => Ok(packet),
        total => {
            let total = total.map_or_else(|| "too many bytes".to_owned(), |total| counted(total, "byte"));
            let message = format!("the loops read {total}, expected a multiple of the packet ({packet})");
            Err(written.error("C3", message))
        }
    }
}

/// C4 and C5, and C5's second half, of packets and accesses with `packet` and `access` bytes in data memory; an access
/// grows to `most`.
fn check_sizes(
    op: OpRef<'_>,
    adapter: &Adapter,
    (packet, access): (u64, u64),
    most: u64,
    machine: &Machine,
) -> Result<(), Diagnostic> {
    let (packet, align) = (adapter.converted(packet), machine.limits.fetch_align);
    if !packet.is_multiple_of(align) {
        let message = format!(
            "a packet is {} after the fetch, expected a multiple of {align}",
            counted(packet, "byte")
        );
        return Err(op.clause_error("C4", "packet", message));
    }
    let access = adapter.converted(access);
    if adapter.converts() && access > most {
        let message = format!("an access grows to {}, expected at most {most}", counted(access, "byte"));
        return Err(op.clause_error("C5", "to", message));
    }
    Ok(())
}

impl FetchUnit {
    /// The marks after the adapter of the bytes that were read.
    fn marks(&self, mut marker: Marker<'_>, memory: &SliceMemory, start: isize, bytes: &[u8]) -> Vec<Shadow> {
        let mut marks = Vec::with_capacity(self.loops.steps() as usize);
        for run in self.loops.runs_from(start) {
            memory.dm.read_shadow(run, Shadow::NEVER_WRITTEN, &mut marks);
        }
        if let Some(mask) = &self.mask {
            mask.apply_marks(&mut marks);
        }
        marker.through_all(&mut marks);
        self.adapter.marks(marks, bytes, &mut marker)
    }
}

impl Unit for FetchUnit {
    fn connect(&self, _machine: &Machine, _input: Wire) -> Result<Wire, Mismatch> {
        let packets = self.loops.steps() / self.packet;
        Ok(Wire {
            dtype: self.adapter.to(),
            packets,
            packet: self.adapter.converted(self.packet),
            rows: None,
            ..Wire::NOTHING
        })
    }

    fn pace(&self) -> Pace {
        if self.adapter.looks_up() { Pace::Table } else { Pace::Cycle }
    }

    fn paced(&self) -> Option<u64> {
        self.adapter.looked_up(self.loops.steps()).map(|bytes| bytes.div_ceil(TABLE_BYTES))
    }

    fn cost(&self, machine: &Machine, _input: Flow) -> StageCost {
        let packet = self.adapter.converted(self.packet);
        let out = Flow { packets: self.loops.steps() / self.packet, packet };
        let latency = 1 + self.adapter.latency(machine);
        StageCost { engine: Engine::FETCH, cycles: self.loops.accesses(), latency, macs: 0, out }
    }

    fn fetched(&self) -> u64 {
        self.loops.steps()
    }

    fn converts(&self) -> bool {
        self.adapter.converts()
    }

    fn assumed(&self) -> Vec<&'static str> {
        let dual = (self.context == Context::Dual).then_some("limits.fetch_sizes_dual");
        self.adapter.assumed().into_iter().chain(dual).collect()
    }

    fn walk(&self) -> Option<&Program> {
        (self.starts.most == 0).then_some(&self.loops.program)
    }

    fn bank_walk(&self) -> Option<BankWalk<'_>> {
        Some(BankWalk { loops: &self.loops.program, alike: self.starts.most == 0 })
    }

    fn accesses(&self) -> Vec<Access> {
        let Range { start, end } = self.loops.extent();
        vec![Access { space: Space::DM, write: false, range: start..end + self.starts.most }]
    }
}

impl Map for FetchUnit {
    fn run(&self, cx: RunCx<'_>, memory: &SliceMemory, _input: Stream) -> Stream {
        let mut bytes = Vec::with_capacity(self.loops.steps() as usize);
        let start = self.starts.of(cx).cast_signed() + cx.moved as isize;
        self.loops.read_from(start, &memory.dm, &mut bytes);
        if let Some(mask) = &self.mask {
            mask.apply(&mut bytes);
        }
        let shadow = cx.marker().map(|marker| self.marks(marker, memory, start, &bytes));
        let bytes = self.adapter.apply(bytes, self.packet);
        let to = self.adapter.to();
        let packet = self.adapter.converted(self.packet) as usize * to.wire_scale();
        Stream { dtype: to, packet, bytes, shadow, operand: None, lanes: None }
    }
}
