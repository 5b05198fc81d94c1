//! `hw.dma`: a transfer between memories (book 10).

use crate::attrs::PAIRED;
use crate::clauses::machine;
use crate::loops::{limits, overwrites};
use crate::ops::program::program_chips;
use crate::program::{self, CHIP_STRIDE};
use visa_engine::Space;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::{Entry, PairedEntry, PairedProgram, Program, Stride, check_paired, misaligned};
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DMA];

/// `hw.dma`.
#[visa_ir::view(Dma)]
pub static DMA: OpDecl = OpDecl {
    name: "hw.dma",
    summary: "moves bytes between memories",
    doc: "The loops' read and write side iterate together; each access moves `packet` contiguous bytes (book 10). \
          `tensor` is the DMA of a chip, the same on every chip in lockstep; `pcie` moves between host and HBM, \
          and its HBM side counts chips 2^40 bytes apart. A data memory address is `slice * (bytes of a slice's \
          memory) + byte`, slices counted through the chip's clusters.",
    constraints: &[
        (
            "C1",
            "`tensor` moves between HBM and data memory or within either, `pcie` between host and HBM (book 10)",
        ),
        (
            "C2",
            "the loops fit the sequencer: at most 8 entries of at most 65536, packets of at most 4096 bytes (book \
             10)",
        ),
        (
            "C3",
            "writes to data memory are aligned: base, strides and packet are multiples of 8 bytes (book 10)",
        ),
        (
            "C4",
            "no write stride is 0, no two offsets of a table are nearer than a packet, and no more bytes are \
             moved than the memory holds: nothing is written twice",
        ),
        ("C5", "every address is in its memory"),
    ],
    clauses: &[
        ClauseDecl::lead("engine", ClauseKind::Word(&["tensor", "pcie"]), "The engine."),
        ClauseDecl::required("from", ClauseKind::Word(SPACE), "Memory read."),
        ClauseDecl::required("to", ClauseKind::Word(SPACE), "Memory written."),
        ClauseDecl::required(
            "loops",
            ClauseKind::body::<PairedProgram>(&PAIRED),
            "Byte addresses, read side and write side.",
        ),
    ],
    traits: &[Trait::Inside("hw.program")],
    effects: Effects::Are(&[reads(Target::Clause("from")), writes(Target::Clause("to"))]),
    verify: Some(|op, _| read(op).map(drop)),
    example: "hw.dma tensor, from hbm, to dm, loops [256 : 4096 -> 524288, 4096 : 1 -> 1] : 4096",
    ..OpDecl::BASE
};

const SPACE: &[&str] = &["host", "hbm", "dm"];

/// The memory that a clause names.
pub(crate) fn space(op: OpRef<'_>, clause: &str, name: &str) -> Result<Space, Diagnostic> {
    match name {
        "host" => Ok(Space::Host),
        "hbm" => Ok(Space::Hbm),
        "dm" => Ok(Space::Dm),
        other => {
            let message = format!("there is no memory `{other}`, expected one of `{}`", SPACE.join("`, `"));
            Err(Diagnostic::error("clause-kind", op.clause_span(clause), message))
        }
    }
}

/// The transfer that the operation describes.
pub(crate) fn read(op: OpRef<'_>) -> Result<program::Dma, Diagnostic> {
    let op = Dma::of(op)?;
    let machine = machine(*op);
    let pcie = &*op.engine()? == "pcie";
    let (from, to) = (space(*op, "from", &op.from()?)?, space(*op, "to", &op.to()?)?);
    let allowed = match (from, to) {
        (Space::Host, Space::Hbm) | (Space::Hbm, Space::Host) => pcie,
        (Space::Hbm | Space::Dm, Space::Hbm | Space::Dm) => !pcie,
        (Space::Host | Space::Hbm | Space::Dm | Space::Trf | Space::Vrf, _) => false,
    };
    if !allowed {
        let (engine, from, to) = (op.engine()?, op.from()?, op.to()?);
        let message = format!("`{engine}` does not move from {from} to {to}");
        return Err(op.clause_error("C1", "engine", message));
    }
    let loops = op.loops()?;
    sequencer(*op, &machine, pcie, &loops)?;
    let write = loops.write();
    if to == Space::Dm {
        aligned(*op, &write, machine.limits.dma_dm_align)?;
    }
    if let Some(message) = overwrites(&write) {
        return Err(op.clause_error("C4", "loops", message));
    }
    let memory = Memories {
        op: *op,
        machine: &machine,
        chips: if pcie { program_chips(*op)? } else { 1 },
        per_byte: 1,
    };
    memory.check(&loops.read(), from)?;
    memory.check(&write, to)?;
    memory.no_more_than_fits(&write, to)?;
    Ok(program::Dma { pcie, from, to, loops: (*loops).clone() })
}

/// C2. A stride between chips is no register of a DMA engine: each chip's HBM has a link of its own.
fn sequencer(op: OpRef<'_>, machine: &Machine, pcie: bool, loops: &PairedProgram) -> Result<(), Diagnostic> {
    let mut registers = loops.clone();
    if pcie {
        let between = |stride: &Stride| between_chips(stride, CHIP_STRIDE);
        registers.entries.retain(|entry| !between(&entry.read) && !between(&entry.write));
        if registers.entries.is_empty() {
            registers.entries.push(PairedEntry::new(1, 1, 1));
        }
    }
    let limits = limits(machine, &[]);
    let error = check_paired(&registers, &limits, machine.limits.dma_packet_max_bytes).into_iter().next();
    if let Some(error) = error {
        return Err(op.clause_error("C2", "loops", error.message).fix(error.fix));
    }
    if loops.entries.len() > limits.entries {
        let message = format!(
            "`{loops}` has {}, expected at most {}",
            counted(loops.entries.len(), "entry"),
            limits.entries
        );
        return Err(op.clause_error("C2", "loops", message));
    }
    let contiguous = loops
        .entries
        .last()
        .is_some_and(|entry| (entry.read.fixed(), entry.write.fixed()) == (Some(1), Some(1)));
    if loops.packet > 1 && !contiguous {
        let message = format!(
            "the innermost entry of `{loops}` is not contiguous on both sides: expected strides 1 -> 1, or \
             packets of 1"
        );
        return Err(op.clause_error("C2", "loops", message));
    }
    Ok(())
}

/// Whether iterations go from chip to chip, `chip_stride` apart. A table does not: chips are as far apart as their
/// numbers.
fn between_chips(stride: &Stride, chip_stride: i64) -> bool {
    stride.fixed().is_some_and(|stride| stride != 0 && stride % chip_stride == 0)
}

/// C3.
fn aligned(op: OpRef<'_>, write: &Program, align: u64) -> Result<(), Diagnostic> {
    if !write.packet.is_multiple_of(align) {
        let message =
            format!("a packet is {}, expected a multiple of {align}", counted(write.packet, "byte"));
        return Err(op.clause_error("C3", "loops", message));
    }
    match misaligned(write, align) {
        Some(message) => Err(op.clause_error("C3", "loops", format!("the write side: {message}"))),
        None => Ok(()),
    }
}

/// What the sides of a transfer, or of a buffer, are checked against.
pub(crate) struct Memories<'a> {
    pub(crate) op: OpRef<'a>,
    pub(crate) machine: &'a Machine,
    /// Chips that an HBM address counts, [`CHIP_STRIDE`] apart.
    pub(crate) chips: u64,
    /// Units of an address that make a byte: 2 where it counts half bytes, otherwise 1.
    pub(crate) per_byte: u64,
}

impl Memories<'_> {
    /// Bytes of `space`, of one chip.
    fn capacity(&self, space: Space) -> u64 {
        match space {
            Space::Host => CHIP_STRIDE.cast_unsigned(),
            Space::Hbm => self.machine.memory.hbm_bytes,
            Space::Dm => self.machine.dm_bytes_per_chip(),
            Space::Trf => self.machine.memory.trf_rows * self.machine.memory.trf_bytes_per_row,
            Space::Vrf => self.machine.memory.vrf_bytes,
        }
    }

    /// Chips that an address of `space` can name.
    fn chips(&self, space: Space) -> u64 {
        match space {
            Space::Hbm => self.chips,
            Space::Host | Space::Dm | Space::Trf | Space::Vrf => 1,
        }
    }

    /// C5.
    pub(crate) fn check(&self, side: &Program, space: Space) -> Result<(), Diagnostic> {
        self.inside(side, space).map_err(|message| self.op.clause_error("C5", "loops", message))
    }

    /// Whether every address of one side is in `space`; else what is wrong.
    pub(crate) fn inside(&self, side: &Program, space: Space) -> Result<(), String> {
        let per_chip = self.chips(space) > 1;
        let chip_stride = CHIP_STRIDE * self.per_byte.cast_signed();
        let is_chip = |entry: &&Entry| per_chip && between_chips(&entry.stride, chip_stride);
        let base_chip = if per_chip { side.base.div_euclid(chip_stride) } else { 0 };
        let chip_entries = side.entries.iter().filter(is_chip);
        let chips = Program {
            entries: chip_entries
                .filter_map(|entry| {
                    Some(Entry { limit: entry.limit, stride: entry.stride.divided(chip_stride)? })
                })
                .collect(),
            packet: 1,
            base: base_chip,
        };
        let local = Program {
            entries: side.entries.iter().filter(|entry| !is_chip(entry)).cloned().collect(),
            packet: side.packet,
            base: side.base - base_chip * chip_stride,
        };
        let (capacity, unit) = (
            self.capacity(space).saturating_mul(self.per_byte),
            if self.per_byte == 1 { "bytes" } else { "half bytes" },
        );
        for (program, most, what) in [(local, capacity, unit), (chips, self.chips(space), "chips")] {
            let (start, end) = program.extent().map_err(|error| error.message)?;
            if start < 0 || end.cast_unsigned() > most {
                return Err(format!(
                    "`{side}` touches {what} {start} to {end} of {space:?}, expected 0 to {most}"
                ));
            }
        }
        Ok(())
    }

    /// C4, by counting: more bytes than the memory holds must overlap.
    fn no_more_than_fits(&self, write: &Program, space: Space) -> Result<(), Diagnostic> {
        let most = self.capacity(space).saturating_mul(self.chips(space));
        match write.steps() {
            Some(steps) if steps <= most => Ok(()),
            Some(_) | None => {
                let message =
                    format!("`{write}` writes more than the {} of {space:?}", counted(most, "byte"));
                Err(self.op.clause_error("C4", "loops", message))
            }
        }
    }
}
