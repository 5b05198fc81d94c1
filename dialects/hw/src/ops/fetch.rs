//! `hw.fetch`: the Fetch Engine (book 08).

use crate::attrs::{DTYPE, PROGRAM};
use crate::clauses::{at_least, body, in_sub_context, machine};
use crate::loops::{Loops, Written};
use crate::stage::{
    Access, Build, Engine, Flow, Mismatch, RunCx, SliceMemory, Space, Stage, StageCost, Stream, Wire,
};
use crate::taint::{Marker, Taint};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_numerics::{CastRow, DType, load, store};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&FETCH];

/// `hw.fetch`.
pub static FETCH: OpDecl = OpDecl {
    name: "hw.fetch",
    summary: "reads data memory as a stream of packets",
    doc: "Every slice runs the same loops over its own data memory (book 08). The bytes come in loop order and are cut \
          into packets; with `to`, every element is converted on its way and the packets grow or shrink with it.",
    constraints: &[
        ("C1", "one access is of a size that the context's Fetch Engine reads (book 08)"),
        ("C2", "the loops fit the sequencer, and are contiguous within an access (book 07)"),
        ("C3", "a packet is a whole number of accesses and elements, and the loops a whole number of packets"),
        ("C4", "a packet behind the conversion is a multiple of 8 bytes (book 08: fetch_align)"),
        ("C5", "data memory holds the format (not i5 or i9), the machine's Fetch Adapter has the conversion, and one access grows to 32 bytes at most (book 08)"),
        ("C6", "every address lies in the slice's data memory"),
    ],
    clauses: &[
        ClauseDecl::lead("dtype", ClauseKind::Body(&DTYPE), "Format of the elements in data memory."),
        ClauseDecl::required("packet", ClauseKind::Int, "Bytes of a packet before the conversion."),
        ClauseDecl::optional("to", ClauseKind::Body(&DTYPE), "Format to convert to."),
        ClauseDecl::required(
            "loops",
            ClauseKind::Body(&PROGRAM),
            "Data memory addresses, bytes; the packet is the size of one access (`fetch_size`).",
        ),
    ],
    traits: &[Trait::Inside("hw.exec")],
    verify: Some(|op, _| read(op).map(drop)),
    example: "hw.fetch bf16, packet 32, loops [128 : 32, 32 : 1] : 32 @ 4096",
    interfaces: &[Interface(&Build(|op| Ok(Box::new(read(op)?))))],
    ..OpDecl::BASE
};

struct Fetch {
    span: Span,
    from: DType,
    cast: Option<&'static CastRow>,
    /// Bytes of a packet in data memory.
    packet: u64,
    loops: Loops,
}

fn read(op: OpRef<'_>) -> Result<Fetch, Diagnostic> {
    let machine = machine(op);
    let written = Written::read(op, "loops")?;
    let from = *body::<DType>(op, "dtype")?;
    let to = op.body::<DType>("to").map_or(from, |to| *to);
    let sizes = machine.fetch_sizes(in_sub_context(op), from, to);
    let size = written.program.packet;
    if !sizes.contains(&size) {
        let message =
            format!("an access is {size} bytes, expected one of {} in this context", crate::clauses::list(&sizes));
        return Err(written.error("C1", message));
    }
    written.sequencer("C2", &sizes)?;
    let packet = whole_packets(op, &written, from)?;
    let cast = conversion(op, &machine, from)?;
    let fetch = Fetch { span: op.span(), from, cast, packet, loops: written.loops() };
    fetch.check_sizes(op, &machine)?;
    written.within("C6", machine.memory.dm_bytes_per_slice, "the slice's data memory")?;
    Ok(fetch)
}

/// C3.
fn whole_packets(op: OpRef<'_>, written: &Written<'_>, dtype: DType) -> Result<u64, Diagnostic> {
    let packet = at_least(op, "C3", "packet", 1)?;
    let size = written.program.packet;
    let element = dtype.align();
    if !packet.is_multiple_of(size) || !packet.is_multiple_of(element) {
        let message = format!(
            "a packet is {packet} bytes, expected a multiple of the access ({size}) and of the {dtype} element ({element})"
        );
        return Err(op.clause_error("C3", "packet", message));
    }
    let total = written.program.steps().unwrap_or(0);
    if !total.is_multiple_of(packet) {
        let message = format!("the loops read {total} bytes, expected a multiple of the packet ({packet})");
        return Err(written.error("C3", message));
    }
    Ok(packet)
}

/// C5, first half.
fn conversion(op: OpRef<'_>, machine: &Machine, from: DType) -> Result<Option<&'static CastRow>, Diagnostic> {
    if !from.is_stored() {
        let message = format!("{from} has a sideband bit, which data memory does not hold");
        return Err(op.clause_error("C5", "dtype", message));
    }
    let Some(to) = op.body::<DType>("to") else { return Ok(None) };
    match machine.fetch_cast(from, *to) {
        Some(row) => Ok(Some(row)),
        None => Err(op.clause_error("C5", "to", machine.no_fetch_cast(from, *to))),
    }
}

impl Fetch {
    fn to(&self) -> DType {
        self.cast.map_or(self.from, |row| row.to)
    }

    /// Bytes behind the conversion of `bytes` before it.
    fn converted(&self, bytes: u64) -> u64 {
        bytes * u64::from(self.to().bits()) / u64::from(self.from.bits())
    }

    /// C4, and C5's second half.
    fn check_sizes(&self, op: OpRef<'_>, machine: &Machine) -> Result<(), Diagnostic> {
        let (packet, align) = (self.converted(self.packet), machine.limits.fetch_align);
        if !packet.is_multiple_of(align) {
            let message = format!("a packet is {packet} bytes behind the fetch, expected a multiple of {align}");
            return Err(op.clause_error("C4", "packet", message));
        }
        let (access, most) = (self.converted(self.loops.program.packet), machine.limits.cast_fetch_max_bytes);
        if self.cast.is_some() && access > most {
            let message = format!("an access grows to {access} bytes, expected at most {most}");
            return Err(op.clause_error("C5", "to", message));
        }
        Ok(())
    }

    /// The bytes' marks, one a byte; a converted element's bytes share one.
    fn marks(&self, mut marker: Marker<'_>, memory: &SliceMemory) -> Vec<Taint> {
        let mut marks = Vec::with_capacity(self.loops.steps() as usize);
        for run in self.loops.runs() {
            memory.dm.read_taint(run.clone(), Taint::NEVER_WRITTEN, &mut marks);
        }
        marker.through_all(&mut marks);
        let Some(row) = self.cast else { return marks };
        let from = row.from.align() as usize;
        let to = converted_bytes(row, from);
        marks.chunks_exact(from).flat_map(|element| std::iter::repeat_n(Taint::all(element), to)).collect()
    }
}

impl Stage for Fetch {
    fn name(&self) -> &'static str {
        FETCH.name
    }

    fn span(&self) -> Span {
        self.span
    }

    fn connect(&self, _machine: &Machine, _input: Wire) -> Result<Wire, Mismatch> {
        let packets = self.loops.steps() / self.packet;
        Ok(Wire { dtype: self.to(), packets, packet: self.converted(self.packet), rows: None })
    }

    fn run(&self, cx: RunCx<'_>, memory: &SliceMemory, _input: Stream) -> Stream {
        let mut bytes = Vec::with_capacity(self.loops.steps() as usize);
        if self.loops.runs().len() as u64 == self.loops.accesses() {
            memory.dm.gather(self.loops.addresses(), self.loops.program.packet as usize, &mut bytes);
        } else {
            self.loops.runs().iter().for_each(|run| memory.dm.read(run.clone(), &mut bytes));
        }
        let taint = cx.marker().map(|marker| self.marks(marker, memory));
        if let Some(row) = self.cast {
            bytes = convert(row, &bytes);
        }
        let packet = self.converted(self.packet) as usize * self.to().wire_scale();
        Stream { dtype: self.to(), packet, bytes, taint, operand: None }
    }

    fn cost(&self, _machine: &Machine, _input: Flow) -> StageCost {
        let packet = self.converted(self.packet);
        let out = Flow { packets: self.loops.steps() / self.packet, packet };
        StageCost { engine: Engine::Fetch, cycles: self.loops.accesses(), latency: 1, macs: 0, out }
    }

    fn accesses(&self) -> Vec<Access> {
        vec![Access { space: Space::Dm, write: false, range: self.loops.extent() }]
    }
}

/// Bytes that the stream holds of the elements in `bytes` bytes of memory.
fn converted_bytes(row: &CastRow, bytes: usize) -> usize {
    bytes * row.to.bits() as usize / row.from.bits() as usize * row.to.wire_scale()
}

fn convert(row: &CastRow, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0; converted_bytes(row, bytes.len())];
    for index in 0..row.from.elements(bytes.len() as u64) as usize {
        store(row.to, &mut out, index, (row.apply)(load(row.from, bytes, index)));
    }
    out
}
