//! `hw.align`: the Aligner, that is Stream Adapter and TRF Sequencer (books 16, 17, 18).

use super::collect::padded;
use crate::attrs::PROGRAM;
use crate::clauses::{at_least, machine, one_of};
use crate::loops::{Loops, Written};
use crate::read_cache::CacheReads;
use crate::stage::{
    Access, BankUse, Build, Engine, Flow, Mismatch, Operand, RunCx, SliceMemory, Stage, StageCost, Stream, Wire,
};
use crate::taint::Taint;
use crate::trf::{REGION, Region};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&ALIGN];

/// `hw.align`.
pub static ALIGN: OpDecl = OpDecl {
    name: "hw.align",
    summary: "pairs packets with register-file data",
    doc: "The Stream Adapter joins `flits` flits to one packet of the MAC width (64 bytes, zeros behind them) and \
          repeats each packet `repeat` times in a row (book 17). The TRF Sequencer gives every such packet one address; \
          all rows read there, and what they read is repeated to fill the packet's width (book 18).",
    constraints: &[
        ("C1", "one packet takes 1 or 2 flits, and they divide the flits that flow in (book 17)"),
        ("C2", "the Reducer can use that many rows: 1, 2, 4 or 8 (book 18)"),
        ("C3", "the data lies in the packet's flits"),
        ("C4", "the register file reads 1, 2, 4, 8, 16, 32 or 64 bytes at once (book 18: reg_read_size)"),
        ("C5", "the loops fit the sequencer (books 07, 18)"),
        ("C6", "base and strides of 64-byte reads are multiples of 64 (book 18)"),
        ("C7", "every address lies in the region's part of a row (books 04, 18)"),
        ("C8", "the sequencer makes one access for each packet, repeats included (book 18)"),
    ],
    clauses: &[
        ClauseDecl::lead("region", REGION, "The part of every row that is read."),
        ClauseDecl::required("flits", ClauseKind::Int, "Flits a packet."),
        ClauseDecl::default("repeat", ClauseKind::Int, "1", "Times that each packet is given."),
        ClauseDecl::required("rows", ClauseKind::Int, "Rows that compute."),
        ClauseDecl::required("data", ClauseKind::Int, "Bytes of a packet that hold data."),
        ClauseDecl::required(
            "loops",
            ClauseKind::Body(&PROGRAM),
            "Addresses in the region's part of a row, bytes; the packet is the size of one read.",
        ),
    ],
    traits: &[Trait::Inside("hw.exec")],
    verify: Some(|op, _| read(op).map(drop)),
    example: "hw.align full, flits 2, repeat 1, rows 8, data 64, loops [64 : 64, 64 : 1] : 64",
    interfaces: &[Interface(&Build(|op| Ok(Box::new(read(op)?))))],
    ..OpDecl::BASE
};

struct Align {
    span: Span,
    region: Region,
    flits: u64,
    repeat: u64,
    rows: u64,
    data: u64,
    /// Bytes of a packet behind the Stream Adapter.
    width: u64,
    /// Addresses from the start of a row.
    loops: Loops,
}

fn read(op: OpRef<'_>) -> Result<Align, Diagnostic> {
    let limits = &machine(op).limits;
    let region = Region::read(op)?;
    let width = limits.mac_width_bytes;
    let flits: Vec<u64> = (1..=width / limits.flit_bytes).collect();
    let flits = one_of(op, "C1", "flits", &flits)?;
    let repeat = at_least(op, "C1", "repeat", 1)?;
    let rows = one_of(op, "C2", "rows", &limits.row_counts)?;
    let data = at_least(op, "C3", "data", 1)?;
    if data > flits * limits.flit_bytes {
        let message = format!("`data` is {data} bytes, expected at most {} of {flits} flits", flits * limits.flit_bytes);
        return Err(op.clause_error("C3", "data", message));
    }
    let written = Written::read(op, "loops")?;
    let read = written.program.packet;
    if !limits.reg_read_sizes.contains(&read) {
        let sizes = crate::clauses::list(&limits.reg_read_sizes);
        return Err(written.error("C4", format!("a read is {read} bytes, expected one of {sizes}")));
    }
    written.sequencer("C5", &limits.reg_read_sizes)?;
    if read == width {
        written.aligned("C6", limits.trf_wide_align)?;
    }
    written.within("C7", region.bytes, "the region's part of a row")?;
    let mut program = (*written.program).clone();
    program.base += region.start.cast_signed();
    Ok(Align { span: op.span(), region, flits, repeat, rows, data, width, loops: Loops::new(program) })
}

impl Stage for Align {
    fn name(&self) -> &'static str {
        ALIGN.name
    }

    fn span(&self) -> Span {
        self.span
    }

    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if !input.packets.is_multiple_of(self.flits) {
            let message = format!("{} flits flow in, expected a multiple of {}", input.packets, self.flits);
            return Err(Mismatch::new("C1", "flits", message));
        }
        let packets = (input.packets / self.flits).saturating_mul(self.repeat);
        if self.loops.accesses() != packets {
            let message =
                format!("the loops make {} accesses, expected {packets}, one a packet", self.loops.accesses());
            return Err(Mismatch::new("C8", "loops", message));
        }
        Ok(Wire { packets, packet: self.width, rows: Some(self.rows), ..input })
    }

    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, mut input: Stream) -> Stream {
        let (from, to) = (self.flits as usize * input.packet, self.width as usize * input.dtype.wire_scale());
        input.pass_marks(cx);
        if from != to {
            input.bytes = padded(&input.bytes, from, to, 0);
            input.taint = input.taint.map(|marks| padded(&marks, from, to, Taint::DEFINED));
        }
        let operand = Operand {
            addresses: self.loops.addresses().clone(),
            repeat: self.repeat as usize,
            read: self.loops.program.packet as usize,
            rows: self.rows as usize,
            data: self.data as usize,
            terms: 1,
        };
        Stream { packet: to, operand: Some(operand), ..input }
    }

    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        let out = Flow { packets: input.packets / self.flits * self.repeat, packet: self.width };
        StageCost { engine: Engine::Contraction, cycles: out.packets, latency: 1, macs: 0, out }
    }

    fn bank_use(&self, machine: &Machine, _input: Flow) -> Option<BankUse> {
        Some(BankUse::Reads(CacheReads::of(&self.loops.program, machine)))
    }

    fn accesses(&self) -> Vec<Access> {
        let extent = self.loops.extent();
        let start = self.region.start;
        self.region.accesses(self.rows, extent.start - start..extent.end - start, false)
    }
}
