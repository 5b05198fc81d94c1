//! `hw.commit_packed`: valid count packing of the Commit Engine (book 09).

use crate::attrs::PROGRAM;
use crate::build::Build;
use crate::clauses::{at_least, given, machine};
use crate::loops::{Loops, Written};
use crate::ops::commit::bitmap;
use crate::ops::filter::FILTER;
use std::ops::Range;
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::{
    Access, BankWalk, Engine, Flow, Mismatch, RunCx, SliceMemory, Space, Stage, StageCost, Store, Stream,
    Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::Program;
use visa_loops::Stride;
use visa_machine::Machine;

/// Bytes of a count.
const COUNT_BYTES: u64 = 4;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&COMMIT_PACKED];

/// `hw.commit_packed`.
#[visa_ir::view(CommitPacked)]
pub static COMMIT_PACKED: OpDecl = OpDecl {
    name: "hw.commit_packed",
    summary: "writes the leading elements of each packet to data memory, as many as are valid",
    doc: "After `hw.filter` the stream has its own valid counts. Elsewhere the counts, signed numbers of 32 bits, \
          stand in data memory, `stride` bytes apart. The count of each packet is the number of its kept elements: \
          none if it is negative, `most` if it is larger. They are written without gaps, in order, from the loops' \
          first address on; the last access is filled up with zeros, and the bytes after it stay (book 09).",
    constraints: &[
        (
            "C1",
            "the loops are one contiguous run, in accesses of the size that the sub context writes (book 09: \
             commit_size)",
        ),
        ("C2", "its base is a multiple of 8 bytes (book 09), and it is in the slice's data memory"),
        (
            "C3",
            "`most` elements are a packet at most, each of whole bytes; they are not i5 or i9, whose sideband bit \
             no memory holds",
        ),
        ("C4", "the loops have room for `most` elements of each packet"),
        ("C5", "counts are at multiples of 4 bytes in the slice's data memory"),
        ("C6", "`slices` is as in `hw.commit`"),
        ("C7", "`counts` and `stride` are there, but not after `hw.filter`"),
    ],
    clauses: &[
        ClauseDecl::required("most", ClauseKind::Int, "Elements of a packet that are kept at most."),
        ClauseDecl::optional(
            "counts",
            ClauseKind::Int,
            "Data memory address of the first packet's count, bytes.",
        ),
        ClauseDecl::optional(
            "stride",
            ClauseKind::Int,
            "Bytes from the count of a packet to that of the next; 0: one for all.",
        ),
        ClauseDecl::required(
            "loops",
            ClauseKind::body::<Program>(&PROGRAM),
            "Data memory that may be written, bytes.",
        ),
        ClauseDecl::optional("slices", ClauseKind::Ints, "Slices that are written, as `hw.commit` has them."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Memory("dm"))]),
    verify: Some(|op, _| registers(op).map(drop)),
    example: "hw.commit_packed most 8, counts 8192, stride 4, loops [128 : 1] : 8 @ 4096",
    interfaces: &[
        Interface(&rngd::PACK),
        Interface(&Build::After(|op, input| Ok(Stage::store(read(op, input)?)))),
    ],
    ..OpDecl::BASE
};

/// Counts in data memory.
struct Counts {
    /// The address of the first.
    first: u64,
    /// Bytes to the next.
    stride: u64,
}

/// The clauses of the operation.
struct Registers {
    most: u64,
    counts: Option<Counts>,
    loops: Loops,
    slices: Option<Vec<Range<usize>>>,
}

struct CommitPackedUnit {
    registers: Registers,
    /// Packets that flow in.
    packets: u64,
    /// The bytes of all that may be kept.
    bytes: u64,
}

fn read(op: OpRef<'_>, input: &Wire) -> Result<CommitPackedUnit, Diagnostic> {
    let registers = registers(op)?;
    let kept = registers.most.saturating_mul(u64::from(input.dtype.bits())) / 8;
    Ok(CommitPackedUnit { registers, packets: input.packets, bytes: kept.saturating_mul(input.packets) })
}

fn registers(op: OpRef<'_>) -> Result<Registers, Diagnostic> {
    let op = CommitPacked::of(op)?;
    let machine = machine(*op);
    let written = Written::new(*op, "loops", op.loops()?);
    let size = machine.limits.commit_size_sub;
    written.sequencer("C1", &[size])?;
    let program = &written.program;
    if program.entries.len() != 1
        || program.packet != size
        || program.entries.iter().any(|entry| entry.stride != Stride::Fixed(1))
    {
        let message = format!("`{program}`, expected one contiguous run as `[64 : 1] : {size}`");
        return Err(written.error("C1", message));
    }
    written.aligned("C2", machine.limits.commit_stride_align)?;
    written.within("C2", machine.memory.dm_bytes_per_slice, "the slice's data memory")?;
    Ok(Registers {
        most: at_least(*op, "C3", ("most", op.most()?), 1)?,
        counts: counts(op)?,
        loops: written.loops("C2")?,
        slices: bitmap(*op, "C6", op.slices()?)?,
    })
}

/// C5 and C7, and the counts' registers.
fn counts(op: CommitPacked<'_>) -> Result<Option<Counts>, Diagnostic> {
    let registers = [("counts", op.counts()?), ("stride", op.stride()?)];
    if crate::order::before(*op).is_some_and(|before| before.is(&FILTER)) {
        let Some((clause, _)) = registers.iter().find(|(_, value)| value.is_some()) else { return Ok(None) };
        let message = format!("`{clause}` after `{}`, which counts its elements", FILTER.name);
        return Err(op.error("C7", message));
    }
    let [(_, first), (_, stride)] = registers;
    let (first, stride) = (given(*op, "C7", ("counts", first))?, given(*op, "C7", ("stride", stride))?);
    let first = at_least(*op, "C5", ("counts", first), 0)?;
    Ok(Some(Counts { first, stride: at_least(*op, "C5", ("stride", stride), 0)? }))
}

/// The elements that a filter kept of a packet; it is certain where all its ids are.
fn filtered(stream: &Stream, packet: usize) -> (usize, Shadow) {
    let Some(lanes) = stream.lanes.as_deref() else { return (0, Shadow::DEFINED) };
    let count = lanes.valid.get(packet).copied().unwrap_or(0);
    let marks = lanes.id_marks.chunks((stream.packet / 4).max(1)).nth(packet);
    (usize::from(count), marks.map_or(Shadow::DEFINED, Shadow::all))
}

impl CommitPackedUnit {
    /// C5.
    fn check_counts(&self, capacity: u64) -> Result<(), Mismatch> {
        let Some(counts) = &self.registers.counts else { return Ok(()) };
        let range = self.count_range(counts);
        if counts.first.is_multiple_of(COUNT_BYTES)
            && counts.stride.is_multiple_of(COUNT_BYTES)
            && range.end <= capacity
        {
            return Ok(());
        }
        let message = format!(
            "counts at {}, {} apart, to {}: expected multiples of {COUNT_BYTES}, and the last one to end at \
             {capacity} or before",
            counts.first, counts.stride, range.end
        );
        Err(Mismatch::new("C5", "counts", message))
    }

    /// The bytes from the first count to the end of the last.
    fn count_range(&self, counts: &Counts) -> Range<u64> {
        let last = counts.stride.saturating_mul(self.packets.saturating_sub(1));
        counts.first..counts.first.saturating_add(last).saturating_add(COUNT_BYTES)
    }

    /// The count of a packet, clamped, and its mark.
    fn count(&self, cx: RunCx<'_>, memory: &SliceMemory, stream: &Stream, packet: usize) -> (usize, Shadow) {
        let Some(counts) = &self.registers.counts else { return filtered(stream, packet) };
        let at = (counts.first + counts.stride * packet as u64) as usize;
        let (mut bytes, mut marks) = (Vec::new(), Vec::new());
        memory.dm.read(at..at + COUNT_BYTES as usize, &mut bytes);
        let count = bytes.first_chunk().map_or(0, |&bytes| i32::from_le_bytes(bytes));
        if cx.shadow.is_some() {
            memory.dm.read_shadow(at..at + COUNT_BYTES as usize, Shadow::NEVER_WRITTEN, &mut marks);
        }
        (u64::try_from(count).map_or(0, |count| count.min(self.registers.most)) as usize, Shadow::all(&marks))
    }

    /// Marks the kept elements. After an undefined count nothing is certain: everything that may be written is
    /// undefined.
    fn mark(
        &self,
        cx: RunCx<'_>,
        memory: &mut SliceMemory,
        mut kept: Vec<Shadow>,
        certain: Option<(usize, Shadow)>,
    ) {
        let Some(mut marker) = cx.marker() else { return };
        marker.through_all(&mut kept);
        if let Some((from, count)) = certain {
            kept.truncate(from);
            kept.resize(self.registers.loops.steps() as usize, marker.through(count));
        }
        memory.dm.write_shadow(self.registers.loops.extent().start as usize, &kept);
    }
}

impl Unit for CommitPackedUnit {
    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        self.check_counts(machine.memory.dm_bytes_per_slice)?;
        input.stored("C3", "most")?;
        let Registers { most, loops, .. } = &self.registers;
        let bits = u64::from(input.dtype.bits());
        let kept = most.saturating_mul(bits) / 8;
        if !bits.is_multiple_of(8) || kept > input.packet {
            let message = format!(
                "{} of {} are no part of a packet of {}",
                counted(*most, "element"),
                input.dtype,
                counted(input.packet, "byte")
            );
            return Err(Mismatch::new("C3", "most", message));
        }
        let (room, needed) = (loops.steps(), input.packets.saturating_mul(kept));
        if room < needed {
            let message = format!(
                "room for {}, expected {needed}: {kept} of each of {}",
                counted(room, "byte"),
                counted(input.packets, "packet")
            );
            return Err(Mismatch::new("C4", "loops", message));
        }
        let packet = loops.program.packet;
        Ok(Wire { packets: needed.div_ceil(packet), packet, ..input })
    }

    /// The worst case: all is kept.
    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        let packet = self.registers.loops.program.packet;
        let packets = self.bytes.div_ceil(packet);
        let out = Flow { packets, packet };
        StageCost { engine: Engine::COMMIT, cycles: packets.max(input.packets), latency: 1, macs: 0, out }
    }

    /// Where all is kept. Its reads of counts are few compared with its writes.
    fn bank_walk(&self) -> Option<BankWalk<'_>> {
        Some(BankWalk { loops: &self.registers.loops.program, alike: true })
    }

    fn accesses(&self) -> Vec<Access> {
        let counts = self.registers.counts.as_ref();
        let read =
            counts.map(|counts| Access { space: Space::DM, write: false, range: self.count_range(counts) });
        read.into_iter()
            .chain([Access { space: Space::DM, write: true, range: self.registers.loops.extent() }])
            .collect()
    }
}

impl Store for CommitPackedUnit {
    fn store(&self, cx: RunCx<'_>, memory: &mut SliceMemory, stream: Stream) {
        let width = stream.dtype.bits() as usize / 8;
        let (mut kept, mut marks, mut uncertain) = (Vec::new(), Vec::new(), None);
        for (number, packet) in stream.bytes.chunks(stream.packet.max(1)).enumerate() {
            let (count, mark) = self.count(cx, memory, &stream, number);
            if !mark.is_defined() {
                uncertain.get_or_insert((kept.len(), mark));
            }
            let end = (count * width).min(packet.len());
            kept.extend_from_slice(&packet[..end]);
            if let Some(shadow) = &stream.shadow {
                marks.extend_from_slice(&shadow[number * stream.packet..][..end]);
            }
        }
        let whole = kept.len().next_multiple_of(self.registers.loops.program.packet as usize);
        kept.resize(whole, 0);
        marks.resize(whole, Shadow::DEFINED);
        memory.dm.write(self.registers.loops.extent().start as usize, &kept);
        self.mark(cx, memory, marks, uncertain);
    }

    fn slices(&self) -> Option<&[Range<usize>]> {
        self.registers.slices.as_deref()
    }
}
