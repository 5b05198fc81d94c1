//! `hw.dma`: a transfer between memories (book 10).

use crate::attrs::PAIRED;
use crate::clauses::machine;
use crate::loops::{limits, overwrites};
use crate::memories::{Memories, SPACE, between_chips, space};
use crate::ops::program::program_chips;
use crate::program::{self, CHIP_STRIDE};
use visa_engine::Space;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::{PairedEntry, PairedProgram, Program, Stride, check_paired, misaligned};
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DMA];

/// `hw.dma`.
#[visa_ir::view(Dma)]
pub static DMA: OpDecl = OpDecl {
    name: "hw.dma",
    summary: "moves bytes between memories",
    doc: "The loops' read and write side iterate together; each access moves `packet` contiguous bytes (book 10). \
          `tensor` is the DMA of a chip, the same on every chip in lockstep; `pcie` moves between host and HBM, and \
          between HBM and data memory of chips. In its addresses of HBM and data memory chips are 2^40 bytes apart. \
          A data memory address is `slice * (bytes of a slice's \
          memory) + byte`, a scratchpad memory address `PE * (bytes of a PE's memory) + byte`, slices and PEs \
          counted through the chip's clusters. Engines work at the same time. They are counted through the PEs of \
          the chip's clusters.",
    constraints: &[
        (
            "C1",
            "`tensor` moves from HBM, data memory and scratchpad memory to each of them, `pcie` between host and HBM, \
             and from HBM and data memory of chips to those of others (book 10)",
        ),
        (
            "C2",
            "the loops of an engine fit its sequencer: at most 8 entries of at most 65536, packets of at most 4096 \
             bytes (book 10)",
        ),
        (
            "C3",
            "writes to data memory and scratchpad memory are aligned: base, strides and packet are multiples of 8 \
             bytes (book 10)",
        ),
        (
            "C4",
            "no write stride is 0, no two offsets of a table are nearer than a packet, and no more bytes are \
             moved than the memory holds: nothing is written twice",
        ),
        ("C5", "every address is in its memory"),
        (
            "C6",
            "the engines are those of a chip, and as many as the outermost loops have iterations; one of them has \
             PCIe (book 10)",
        ),
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
        ClauseDecl::optional(
            "engines",
            ClauseKind::Int,
            "How many engines share the transfer: each has an iteration of the outermost loops; 1 if absent.",
        ),
    ],
    traits: &[Trait::Inside("hw.program")],
    effects: Effects::Are(&[reads(Target::Clause("from")), writes(Target::Clause("to"))]),
    verify: Some(|op, _| read(op).map(drop)),
    example: "hw.dma tensor, from hbm, to dm, loops [8 : 131072 -> 16777216, 32 : 4096 -> 524288, 4096 : 1 -> 1] \
              : 4096, engines 8",
    ..OpDecl::BASE
};

/// The transfer that the operation describes.
pub(crate) fn read(op: OpRef<'_>) -> Result<program::Dma, Diagnostic> {
    let op = Dma::of(op)?;
    let machine = machine(*op);
    let pcie = &*op.engine()? == "pcie";
    let (from, to) = (space(*op, "from", &op.from()?)?, space(*op, "to", &op.to()?)?);
    let loops = op.loops()?;
    engine(op, pcie, [from, to], &loops)?;
    let engine_loops = engine_loops(op, &machine, pcie, &loops)?;
    sequencer(*op, &machine, pcie, &loops, engine_loops)?;
    let write = loops.write();
    if is_sram(to) {
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
    Ok(program::Dma { pcie, from, to, loops: (*loops).clone(), engine_loops })
}

/// C6: how many of the outermost loops count engines.
fn engine_loops(
    op: Dma<'_>,
    machine: &Machine,
    pcie: bool,
    loops: &PairedProgram,
) -> Result<usize, Diagnostic> {
    let Some(engines) = op.engines()? else { return Ok(0) };
    let most = if pcie { 1 } else { machine.topology.dma_engines_per_chip };
    let Some(engines) = u64::try_from(engines).ok().filter(|engines| (1..=most).contains(engines)) else {
        let of = if pcie { "PCIe" } else { "a chip" };
        let message = format!("{} share the transfer, {of} has {most}", counted(engines, "engine"));
        return Err(op.clause_error("C6", "engines", message));
    };
    let mut iterations = 1_u64;
    let outer = loops.entries.iter().map(|entry| entry.limit).map(|limit| {
        iterations = iterations.saturating_mul(limit);
        iterations
    });
    let counts: Vec<u64> = std::iter::once(1).chain(outer).collect();
    counts.iter().position(|&count| count == engines).ok_or_else(|| {
        let message = format!(
            "{} share the transfer, but no outermost loops of `{loops}` have {engines} iterations together",
            counted(engines, "engine")
        );
        let fix = format!("split the outermost loop so that one of {engines} iterations is outside");
        op.clause_error("C6", "engines", message).fix(Some(fix))
    })
}

/// C1.
fn engine(op: Dma<'_>, pcie: bool, ends: [Space; 2], loops: &PairedProgram) -> Result<(), Diagnostic> {
    let on_chip = |space: Space| match space {
        Space::Hbm | Space::Dm | Space::Spm => true,
        Space::Host | Space::Trf | Space::Vrf => false,
    };
    let hosts = ends == [Space::Host, Space::Hbm] || ends == [Space::Hbm, Space::Host];
    let within = ends.into_iter().all(on_chip);
    let reached = within && !ends.contains(&Space::Spm);
    let fix = match (pcie, hosts, within) {
        (true, true, _) => return Ok(()),
        (false, _, true) if !counts_chips(loops) => return Ok(()),
        (false, _, true) if reached => "write `pcie`: the tensor DMA of a chip stays within it",
        (false, _, true) => {
            "move it through data memory or HBM: scratchpad memory is not reached from other chips"
        }
        (true, _, true) if reached && counts_chips(loops) => return Ok(()),
        (true, _, true) if reached => "write `tensor`, or count chips in `loops`, 2^40 bytes apart",
        (true, _, true) => {
            "write `tensor`: scratchpad memory is not reached from other chips; move it to data memory"
        }
        (false, true, _) => "write `pcie`",
        (_, false, false) => "move it through HBM: only HBM is reached from the host",
    };
    let message = format!("`{}` does not move from {} to {}", op.engine()?, op.from()?, op.to()?);
    let here = match (pcie, within) {
        (true, true) if reached => " of the same chip",
        (false, true) => " of another chip",
        (true | false, true | false) => "",
    };
    Err(op.clause_error("C1", "engine", format!("{message}{here}")).fix(Some(fix.to_owned())))
}

/// Whether a transfer goes from chip to chip.
fn counts_chips(loops: &PairedProgram) -> bool {
    let between = |stride: &Stride| between_chips(stride, CHIP_STRIDE);
    let chip = |base: i64| base / CHIP_STRIDE;
    chip(loops.read_base) != chip(loops.write_base)
        || loops.entries.iter().any(|entry| between(&entry.read) || between(&entry.write))
}

/// Whether a memory is SRAM that a DMA writes, in whole groups of bytes (book 10).
fn is_sram(space: Space) -> bool {
    match space {
        Space::Dm | Space::Spm => true,
        Space::Host | Space::Hbm | Space::Trf | Space::Vrf => false,
    }
}

/// C2. A stride between chips is no register of a DMA engine: each chip's HBM has a link of its own.
fn sequencer(
    op: OpRef<'_>,
    machine: &Machine,
    pcie: bool,
    loops: &PairedProgram,
    engine_loops: usize,
) -> Result<(), Diagnostic> {
    let mut registers = loops.clone();
    registers.entries.drain(..engine_loops);
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
    let entries = loops.entries.len() - engine_loops;
    if entries > limits.entries {
        let message =
            format!("`{loops}` has {}, expected at most {}", counted(entries, "entry"), limits.entries);
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
