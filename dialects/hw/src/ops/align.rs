//! `hw.align`: the Aligner, that is Stream Adapter and TRF Sequencer (books 16, 17, 18).

use super::collect::padded;
use crate::attrs::PROGRAM;
use crate::build::{Build, verify};
use crate::clauses::{at_least, machine, one_of};
use crate::loops::{Loops, Written};
use crate::ops::exec::context_of;
use crate::trf::Region;
use visa_engine::place::rngd;
use visa_engine::read_cache::CacheReads;
use visa_engine::shadow::Shadow;
use visa_engine::words::RegionName;
use visa_engine::{
    Access, BankUse, Engine, Flow, Map, Mismatch, Operand, RunCx, SliceMemory, Stage, StageCost, Stream,
    Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::Program;
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&ALIGN];

/// `hw.align`.
#[visa_ir::view(Align)]
pub static ALIGN: OpDecl = OpDecl {
    name: "hw.align",
    summary: "pairs packets with register-file data",
    doc: "The Stream Adapter joins `flits` flits to one packet of the MAC width (64 bytes, zeros after them) and \
          repeats each packet `repeat` times in a row (book 17). The TRF Sequencer gives every such packet one \
          address; all rows read there, and their elements are repeated to fill the packet's width (book 18).\n\n\
          With `shifts` it makes that many more packets of the same flits, each from `shift_bytes` further on \
          (shift-reuse, book 15). After the flits such a packet is undefined.",
    constraints: &[
        (
            "C1",
            "1, 2 or 3 flits of 32 bytes are collected, or one of 64, and they divide the flits that flow in (book \
             17: 96 bytes)",
        ),
        ("C2", "the Reducer can use that many rows: 1, 2, 4 or 8 (book 18)"),
        ("C3", "the data is in the packet's flits"),
        ("C4", "the register file reads 1, 2, 4, 8, 16, 32 or 64 bytes at once (book 18: reg_read_size)"),
        ("C5", "the loops fit the sequencer (books 07, 18)"),
        ("C6", "base and strides of 64-byte reads are multiples of 64 (book 18)"),
        ("C7", "every address is in the region's part of a row (books 04, 18)"),
        ("C8", "the sequencer makes one access for each packet, shifts and repeats included (book 18)"),
        (
            "C9",
            "every packet starts in the flits, and the last one reaches the third flit where three are collected \
             (book 15, 17)",
        ),
    ],
    clauses: &[
        ClauseDecl::lead("region", ClauseKind::word::<RegionName>(), "The part of every row that is read."),
        ClauseDecl::required("flits", ClauseKind::Int, "Flits a packet."),
        ClauseDecl::default(
            "shifts",
            ClauseKind::Int,
            "0",
            "Packets that are made of the flits after the first one.",
        ),
        ClauseDecl::default(
            "shift_bytes",
            ClauseKind::Int,
            "0",
            "Bytes from the start of one to the start of the next.",
        ),
        ClauseDecl::default("repeat", ClauseKind::Int, "1", "Times that each packet is given."),
        ClauseDecl::required("rows", ClauseKind::Int, "Rows that compute."),
        ClauseDecl::required("data", ClauseKind::Int, "Bytes of a packet that hold data."),
        ClauseDecl::required(
            "loops",
            ClauseKind::body::<Program>(&PROGRAM),
            "Addresses in the region's part of a row, bytes; the packet is the size of one read.",
        ),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), reads(Target::Memory("trf")), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.align full, flits 2, repeat 1, rows 8, data 64, loops [64 : 64, 64 : 1] : 64",
    interfaces: &[Interface(&rngd::ALIGN), Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?))))],
    ..OpDecl::BASE
};

struct AlignUnit {
    region: Region,
    flits: u64,
    /// Bytes of a flit.
    flit: u64,
    shifts: u64,
    shift_bytes: u64,
    repeat: u64,
    rows: u64,
    data: u64,
    /// Bytes of a packet after the Stream Adapter.
    width: u64,
    /// Addresses from the start of a row.
    loops: Loops,
}

fn read(op: OpRef<'_>) -> Result<AlignUnit, Diagnostic> {
    let op = Align::of(op)?;
    let machine = machine(*op);
    let (limits, flit) = (&machine.limits, machine.flit_bytes(context_of(*op)?));
    let width = limits.mac_width_bytes;
    let flits: Vec<u64> = (1..=limits.shift_buffer_bytes / flit).collect();
    let flits = one_of(*op, "C1", ("flits", op.flits()?), &flits)?;
    let (shifts, shift_bytes) = shifts(op, flits, flit, width)?;
    let repeat = at_least(*op, "C1", ("repeat", op.repeat()?), 1)?;
    let rows = one_of(*op, "C2", ("rows", op.rows()?), &limits.row_counts)?;
    let region = Region::of(op.region()?, rows, &machine);
    let data = at_least(*op, "C3", ("data", op.data()?), 1)?;
    let most = width.min(flits * flit);
    if data > most {
        let message = format!(
            "`data` is {}, expected at most {most} of {}",
            counted(data, "byte"),
            counted(flits, "flit")
        );
        return Err(op.clause_error("C3", "data", message));
    }
    let written = Written::new(*op, "loops", op.loops()?);
    let read = written.program.packet;
    if !limits.reg_read_sizes.contains(&read) {
        let sizes = crate::clauses::list(&limits.reg_read_sizes);
        return Err(
            written.error("C4", format!("a read is {}, expected one of {sizes}", counted(read, "byte")))
        );
    }
    written.sequencer("C5", &limits.reg_read_sizes)?;
    if read == width {
        written.aligned("C6", limits.trf_wide_align)?;
    }
    written.within("C7", region.bytes, "the region's part of a row")?;
    let loops = written.loops_from("C7", region.start.cast_signed())?;
    let addresses = || loops.addresses().iter().map(|&at| u64::from(at) - region.start);
    let crossing = || addresses().find(|&at| region.crosses(at, read));
    if let Some(address) = if region.spans() { crossing() } else { None } {
        let message = format!(
            "a read of {} at {address} goes on into another bank row, which holds {} of a row",
            counted(read, "byte"),
            region.width
        );
        return Err(written.error("C7", message));
    }
    Ok(AlignUnit { region, flits, flit, shifts, shift_bytes, repeat, rows, data, width, loops })
}

/// C9: how often packets of `width` bytes are shifted within the flits, and how far each time.
fn shifts(op: Align<'_>, flits: u64, flit: u64, width: u64) -> Result<(u64, u64), Diagnostic> {
    let shifts = at_least(*op, "C9", ("shifts", op.shifts()?), 0)?;
    let bytes = at_least(*op, "C9", ("shift_bytes", op.shift_bytes()?), 0)?;
    let (last, collected) = (shifts.saturating_mul(bytes), flits * flit);
    if last >= collected {
        let message = format!(
            "the last packet starts at byte {last}, expected less than {collected} of {}",
            counted(flits, "flit")
        );
        return Err(op.clause_error("C9", "shifts", message));
    }
    if collected > width && last + width <= collected - flit {
        let message = format!(
            "the last packet ends at byte {}, and the last of {} starts at {}",
            last + width,
            counted(flits, "flit"),
            collected - flit
        );
        return Err(op.clause_error("C9", "flits", message));
    }
    Ok((shifts, bytes))
}

impl AlignUnit {
    /// Returns true if more is collected than a packet takes.
    fn overfills(&self) -> bool {
        self.flits * self.flit > self.width
    }

    /// Packets of the computation made of `flits` that flow in.
    fn packets(&self, flits: u64) -> u64 {
        (flits / self.flits).saturating_mul(self.shifts.saturating_add(1)).saturating_mul(self.repeat)
    }
}

/// The packets that shifts make of each collected `group` of values: packets of `size`, the first and one for each
/// shift by `distance`. After the group there is `beyond`.
fn windows<T: Copy>(
    values: &[T],
    group: usize,
    (shifts, distance): (u64, usize),
    size: usize,
    beyond: T,
) -> Vec<T> {
    let shifts = shifts as usize;
    let mut out = Vec::with_capacity(values.len() / group * (shifts + 1) * size);
    for collected in values.chunks(group) {
        for start in (0..=shifts).map(|shift| shift * distance) {
            let end = out.len() + size;
            out.extend_from_slice(&collected[start..collected.len().min(start + size)]);
            out.resize(end, beyond);
        }
    }
    out
}

impl Unit for AlignUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if input.packet != self.flit {
            let (found, wanted) = (counted(input.packet, "byte"), self.flit);
            let message =
                format!("flits of {found} flow in, expected {wanted}: `hw.collect` without `halves`");
            return Err(Mismatch::new("C1", "flits", message));
        }
        if !input.packets.is_multiple_of(self.flits) {
            let message =
                format!("{} flow in, expected a multiple of {}", counted(input.packets, "flit"), self.flits);
            return Err(Mismatch::new("C1", "flits", message));
        }
        let packets = self.packets(input.packets);
        if self.loops.accesses() != packets {
            let message = format!(
                "the loops make {}, expected {packets}, one a packet",
                counted(self.loops.accesses(), "access")
            );
            return Err(Mismatch::new("C8", "loops", message));
        }
        Ok(Wire { packets, packet: self.width, rows: Some(self.rows), ..input })
    }

    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let out = Flow { packets: self.packets(input.packets), packet: self.width };
        let waits = if self.overfills() { machine.timing.shift_reuse_cycles } else { 0 };
        let latency = 1u64.saturating_add(waits);
        StageCost { engine: Engine::CONTRACTION, cycles: out.packets, latency, macs: 0, out }
    }

    fn assumed(&self) -> Vec<&'static str> {
        if self.overfills() { vec!["timing.shift_reuse_cycles"] } else { Vec::new() }
    }

    fn bank_use(&self, machine: &Machine, _input: Flow) -> Option<BankUse> {
        Some(BankUse::Reads(CacheReads::of(&self.loops.program, self.loops.accesses(), machine)))
    }

    fn accesses(&self) -> Vec<Access> {
        let extent = self.loops.extent();
        let start = self.region.start;
        self.region.accesses(self.rows, extent.start - start..extent.end - start, false)
    }
}

impl Map for AlignUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, mut input: Stream) -> Stream {
        let scale = input.dtype.wire_scale();
        let (from, to) = (self.flits as usize * input.packet, self.width as usize * scale);
        input.pass_marks(cx);
        if self.shifts > 0 {
            let shifts = (self.shifts, self.shift_bytes as usize * scale);
            let beyond =
                cx.marker().map_or(Shadow::DEFINED, |mut marker| marker.through(Shadow::NEVER_WRITTEN));
            input.bytes = windows(&input.bytes, from, shifts, to, 0);
            input.shadow = input.shadow.map(|marks| windows(&marks, from, shifts, to, beyond));
        } else if from != to {
            input.bytes = padded(&input.bytes, from, to, 0);
            input.shadow = input.shadow.map(|marks| padded(&marks, from, to, Shadow::DEFINED));
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_shifted_within_what_is_collected() {
        // Two groups of four, packets of three, shifted twice by one: the last one ends past its group.
        let made = windows(&[1, 2, 3, 4, 5, 6, 7, 8], 4, (2, 1), 3, 0);
        assert_eq!(made, [1, 2, 3, 2, 3, 4, 3, 4, 0, 5, 6, 7, 6, 7, 8, 7, 8, 0]);
        assert_eq!(windows(&[1, 2, 3, 4], 4, (1, 3), 2, 9), [1, 2, 4, 9]);
    }
}
