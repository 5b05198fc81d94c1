//! `hw.fetch`: the Fetch Engine (book 08).

use crate::attrs::{DTYPE, MASK, PROGRAM};
use crate::clauses::{at_least, body, in_sub_context, machine};
use crate::loops::{Loops, Written};
use crate::mask::Masking;
use crate::stage::{
    Access, Build, Engine, Flow, Mismatch, RunCx, SliceMemory, Space, Stage, StageCost, Stream, Wire,
};
use crate::taint::{Marker, Taint};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_numerics::{CastRow, DType, FETCH_CASTS, cast_targets, fetch_cast, load, store};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&FETCH];

/// `hw.fetch`.
pub static FETCH: OpDecl = OpDecl {
    name: "hw.fetch",
    summary: "reads data memory as a stream of packets",
    doc: "Every slice runs the same loops over its own data memory (book 08). The bytes come in loop order and are cut \
          into packets; with `mask`, some elements are replaced by a value, and then with `to`, every element is converted on its way and \
          the packets grow or shrink with it.",
    constraints: &[
        ("C1", "one access is of a size that the context's Fetch Engine reads (book 08)"),
        ("C2", "the loops fit the sequencer, and are contiguous within an access (book 07)"),
        ("C3", "a packet is a whole number of accesses and elements, and the loops a whole number of packets"),
        ("C4", "a packet behind the conversion is a multiple of 8 bytes (book 08: fetch_align)"),
        ("C5", "the Fetch Adapter has the conversion, and one access grows to 32 bytes at most (book 08)"),
        ("C6", "every address lies in the slice's data memory"),
        ("C7", "the mask names entries outside the innermost loop, two different ones if it names two (book 08: last_dim)"),
        ("C8", "counts of the mask reach as far as the innermost loop; there is one, masking at most 255 x 4 bits, or one for each iteration of `by`, at most 8; `value` is an element (book 08)"),
        ("C9", "the main context masks, in packets of at most 256 bytes (book 08)"),
    ],
    clauses: &[
        ClauseDecl::lead("dtype", ClauseKind::Body(&DTYPE), "Format of the elements in data memory."),
        ClauseDecl::required("packet", ClauseKind::Int, "Bytes of a packet before the conversion."),
        ClauseDecl::optional("to", ClauseKind::Body(&DTYPE), "Format to convert to."),
        ClauseDecl::optional("mask", ClauseKind::Body(&MASK), "Elements that are masked, before the conversion."),
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
    mask: Option<Masking>,
    loops: Loops,
}

fn read(op: OpRef<'_>) -> Result<Fetch, Diagnostic> {
    let machine = machine(op);
    let written = Written::read(op, "loops")?;
    let main = &machine.limits.fetch_sizes_main;
    let sub = [machine.limits.fetch_size_sub];
    let sizes = if in_sub_context(op) { &sub } else { main.as_slice() };
    let size = written.program.packet;
    if !sizes.contains(&size) {
        let message =
            format!("an access is {size} bytes, expected one of {} in this context", crate::clauses::list(sizes));
        return Err(written.error("C1", message));
    }
    written.sequencer("C2", sizes)?;
    let from = *body::<DType>(op, "dtype")?;
    let packet = whole_packets(op, &written, from)?;
    let cast = conversion(op, from)?;
    let mut fetch = Fetch { span: op.span(), from, cast, packet, mask: None, loops: written.loops() };
    fetch.check_sizes(op, &machine)?;
    written.within("C6", machine.memory.dm_bytes_per_slice, "the slice's data memory")?;
    fetch.mask = Masking::read(op, from, fetch.converted(packet), &written.program)?;
    Ok(fetch)
}

/// C3.
fn whole_packets(op: OpRef<'_>, written: &Written<'_>, dtype: DType) -> Result<u64, Diagnostic> {
    let packet = at_least(op, "C3", "packet", 1)?;
    let size = written.program.packet;
    let element = u64::from(dtype.bits() / 8);
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
fn conversion(op: OpRef<'_>, from: DType) -> Result<Option<&'static CastRow>, Diagnostic> {
    let Some(to) = op.body::<DType>("to") else { return Ok(None) };
    if let Some(row) = fetch_cast(from, *to) {
        return Ok(Some(row));
    }
    let targets: Vec<_> = cast_targets(FETCH_CASTS, from).map(|dtype| format!("`{dtype}`")).collect();
    let expected = if targets.is_empty() { "no conversion".to_owned() } else { targets.join(" or ") };
    let message = format!("the Fetch Adapter does not convert {from} to {to}, expected {expected}");
    Err(op.clause_error("C5", "to", message))
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
        if let Some(mask) = &self.mask {
            mask.apply_marks(&mut marks);
        }
        marker.through_all(&mut marks);
        let Some(row) = self.cast else { return marks };
        let (from, to) = (row.from.bits() as usize / 8, row.to.bits() as usize / 8);
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
        if let Some(mask) = &self.mask {
            mask.apply(&mut bytes);
        }
        let taint = cx.marker().map(|marker| self.marks(marker, memory));
        if let Some(row) = self.cast {
            bytes = convert(row, &bytes);
        }
        Stream { dtype: self.to(), packet: self.converted(self.packet) as usize, bytes, taint, operand: None }
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

fn convert(row: &CastRow, bytes: &[u8]) -> Vec<u8> {
    let elements = bytes.len() * 8 / row.from.bits() as usize;
    let mut out = vec![0; elements * row.to.bits() as usize / 8];
    for index in 0..elements {
        store(row.to, &mut out, index, (row.apply)(load(row.from, bytes, index)));
    }
    out
}
