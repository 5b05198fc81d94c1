//! `hw.dma`: a transfer between memories (book 10).

use crate::attrs::{ENGINES, PAIRED, STEPS};
use crate::clauses::machine;
use crate::loops::{limits, overwrites};
use crate::memories::{Memories, between_chips};
use crate::ops::control::{COMMANDS, Moving, steps};
use crate::ops::program::program_chips;
use crate::program::{self, CHIP_STRIDE};
use std::rc::Rc;
use visa_engine::Space;
use visa_engine::words::DmaEngine;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_loops::{
    EnginePart, EngineTable, PairedEntry, PairedProgram, Program, Steps, Stride, check_paired, first_overlap,
    misaligned, overlap,
};
use visa_machine::{Machine, Medium};

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
             and from HBM and data memory of chips to those of others, in some iteration of the loops around it \
             (book 10)",
        ),
        (
            "C2",
            "the loops of an engine fit its sequencer: at most 8 entries of at most 65536, packets of at most 4096 \
             bytes (book 10)",
        ),
        (
            "C3",
            "writes to data memory and scratchpad memory are aligned, and so are the reads of HBM that go there: \
             base, strides and packet are multiples of 8 bytes (book 10)",
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
        ("C7", "either `loops` or `table` specifies the work of the engines"),
        ("C8", "no two parts of a table write the same bytes"),
        ("C9", "source and destination do not overlap"),
        (
            "C10",
            "`read_steps` and `write_steps` have a number for each scalar and each loop around the transfer at \
             most, a multiple of 8 bytes where bases are",
        ),
    ],
    clauses: &[
        ClauseDecl::lead("engine", ClauseKind::word::<DmaEngine>(), "The engine."),
        ClauseDecl::required("from", ClauseKind::word::<Medium>(), "Memory read."),
        ClauseDecl::required("to", ClauseKind::word::<Medium>(), "Memory written."),
        ClauseDecl::optional(
            "loops",
            ClauseKind::body::<PairedProgram>(&PAIRED),
            "Byte addresses, read side and write side.",
        ),
        ClauseDecl::optional(
            "engines",
            ClauseKind::Int,
            "How many engines share the `loops`: each has an iteration of the outermost ones; 1 if absent.",
        ),
        ClauseDecl::optional(
            "table",
            ClauseKind::body::<EngineTable>(&ENGINES),
            "The loops of each engine, where they differ, in bytes.",
        ),
        ClauseDecl::optional(
            "read_steps",
            ClauseKind::body::<Steps>(&STEPS),
            "Step of the source for each `hw.scalar` and then each `hw.for` around it, the outermost first, in \
             bytes.",
        ),
        ClauseDecl::optional(
            "write_steps",
            ClauseKind::body::<Steps>(&STEPS),
            "The same for the destination.",
        ),
    ],
    traits: &[COMMANDS],
    effects: Effects::Are(&[reads(Target::Clause("from")), writes(Target::Clause("to"))]),
    verify: Some(|op, _| read(op).map(drop)),
    example: "hw.dma tensor, from hbm, to dm, loops [8 : 131072 -> 16777216, 32 : 4096 -> 524288, 4096 : 1 -> 1] \
              : 4096, engines 8",
    ..OpDecl::BASE
};

/// The transfer that the operation describes, read once for a state of the module.
pub(crate) fn read(op: OpRef<'_>) -> Result<program::Dma, Diagnostic> {
    (*op.ctx.once_of(op, || read_now(op))).clone()
}

fn read_now(op: OpRef<'_>) -> Result<program::Dma, Diagnostic> {
    let op = Dma::of(op)?;
    let machine = machine(*op);
    let pcie = match op.engine()? {
        DmaEngine::Tensor => false,
        DmaEngine::Pcie => true,
    };
    let (from, to) = (op.from()?.into(), op.to()?.into());
    let (clause, table) = engine_table(op)?;
    let cx = PartCx { op: *op, clause, machine: &machine, pcie, from, to };
    let moving = cx.moving("C10", [("read_steps", op.read_steps()?), ("write_steps", op.write_steps()?)])?;
    engine(op, pcie, [from, to], &table, &moving)?;
    let chips = if pcie { program_chips(*op)? } else { 1 };
    let memory = Memories { op: *op, machine: &machine, chips, per_byte: 1 };
    let mut parts = Vec::new();
    for part in &table.0 {
        let part = cx.part(part)?;
        let (read, write) = (part.loops.read(), part.loops.write());
        if let Some(message) = overwrites(&write) {
            return Err(cx.refused("C4", message));
        }
        for (moving, side, space) in [(&moving[0], &read, from), (&moving[1], &write, to)] {
            for touched in moving.reaches(side) {
                memory.inside(&touched, space).map_err(|message| cx.refused("C5", message))?;
            }
        }
        parts.push(part);
    }
    let writes: Vec<_> = table.0.iter().map(|part| part.loops.write()).collect();
    memory.no_more_than_fits(&writes, to, clause)?;
    if let Some((one, other)) = first_overlap(&writes) {
        let message = format!("parts {one} and {other} of the table write the same bytes");
        return Err(op.clause_error("C8", clause, message));
    }
    if from == to {
        apart(&cx, &table, &moving[0].beside(&moving[1]))?;
    }
    Ok(program::Dma { pcie, from, to, parts, steps: moving.map(|moving| moving.steps) })
}

/// C7: the work of the engines, and the clause that specifies it.
///
/// # Errors
/// If neither clause specifies it, or both.
pub fn engine_table(op: Dma<'_>) -> Result<(&'static str, EngineTable), Diagnostic> {
    match (op.loops()?, op.engines()?, op.table()?) {
        (Some(loops), engines, None) => {
            let engines = engine_count(*op, engines)?;
            Ok(("loops", EngineTable(vec![EnginePart { engines: 0..engines, loops: (*loops).clone() }])))
        }
        (None, None, Some(table)) => Ok(("table", (*table).clone())),
        (None, Some(_), _) => Err(op
            .clause_error(
                "C7",
                "engines",
                "`engines` is the number of engines that share `loops`, which is absent".to_owned(),
            )
            .fix(Some("write the engines of a table in front of their loops: `0..8 : [...]`".to_owned()))),
        (Some(_), _, Some(_)) => {
            Err(op.clause_error("C7", "table", "`loops` specifies their work already".to_owned()))
        }
        (None, None, None) => {
            Err(op.error("C7", "neither `loops` nor `table` specifies the work of the engines".to_owned()))
        }
    }
}

/// C6: how many engines share loops; 1 if that is not given.
pub(super) fn engine_count(op: OpRef<'_>, engines: Option<i64>) -> Result<u64, Diagnostic> {
    let Some(engines) = engines else { return Ok(1) };
    u64::try_from(engines).ok().filter(|&engines| engines > 0).ok_or_else(|| {
        let most = machine(op).topology.dma_engines_per_chip;
        let message = format!("{} share the transfer, a chip has {most}", counted(engines, "engine"));
        op.clause_error("C6", "engines", message)
    })
}

/// C9, of a transfer within one memory whose reads move with `moving` relative to its writes.
fn apart(cx: &PartCx<'_>, table: &EngineTable, moving: &Moving) -> Result<(), Diagnostic> {
    let reads = table.0.iter().flat_map(|part| moving.reaches(&part.loops.read()));
    for read in reads {
        let mut writes = table.0.iter().map(|part| part.loops.write());
        if let Some(write) = writes.find(|write| overlap(&read, write) == Some(true)) {
            let message = format!("it reads `{read}` and writes `{write}`, which share bytes");
            let fix = "write the result elsewhere: engines do not wait for each other".to_owned();
            return Err(cx.refused("C9", message).fix(Some(fix)));
        }
    }
    Ok(())
}

/// The context against which the parts of a transfer are checked.
pub(super) struct PartCx<'a> {
    pub(super) op: OpRef<'a>,
    /// The clause that the parts are in.
    pub(super) clause: &'static str,
    pub(super) machine: &'a Machine,
    pub(super) pcie: bool,
    pub(super) from: Space,
    pub(super) to: Space,
}

impl PartCx<'_> {
    /// The steps of the sides with the loops around the transfer, which `constraint` bounds.
    pub(super) fn moving(
        &self,
        constraint: &str,
        written: [(&str, Option<Rc<Steps>>); 2],
    ) -> Result<[Moving; 2], Diagnostic> {
        let [(read, reads), (write, writes)] = written;
        let (reads, writes) =
            (steps(self.op, constraint, read, reads)?, steps(self.op, constraint, write, writes)?);
        let to_sram = is_sram(self.to);
        let aligned = [(read, &reads, to_sram && self.from == Space::HBM), (write, &writes, to_sram)];
        for (clause, moving, _) in aligned.into_iter().filter(|(.., whole)| *whole) {
            let align = self.machine.limits.dma_dm_align;
            if let Some(step) = moving.misaligned(align) {
                let message = format!("a step is {step} bytes, expected a multiple of {align}");
                return Err(self.op.clause_error(constraint, clause, message));
            }
        }
        Ok([reads, writes])
    }

    fn refused(&self, constraint: &str, message: String) -> Diagnostic {
        self.op.clause_error(constraint, self.clause, message)
    }

    /// C2, C3 and C6 of a part.
    pub(super) fn part(&self, part: &EnginePart) -> Result<program::DmaPart, Diagnostic> {
        let engine_loops = self.engine_loops(part)?;
        let loops = &part.loops;
        self.sequencer(loops, engine_loops)?;
        if is_sram(self.to) {
            self.aligned("write", &loops.write())?;
        }
        if is_sram(self.to) && self.from == Space::HBM {
            self.aligned("read", &loops.read())?;
        }
        Ok(program::DmaPart { first: part.engines.start, engine_loops, loops: loops.clone() })
    }

    /// C6: how many of the outermost loops count engines.
    fn engine_loops(&self, part: &EnginePart) -> Result<usize, Diagnostic> {
        let (engines, loops) = (part.count(), &part.loops);
        let refused = |message: String| {
            let clause = if self.clause == "loops" { "engines" } else { self.clause };
            self.op.clause_error("C6", clause, message)
        };
        let most = if self.pcie { 1 } else { self.machine.topology.dma_engines_per_chip };
        let of = if self.pcie { "PCIe" } else { "a chip" };
        if engines > most {
            return Err(refused(format!(
                "{} share the transfer, {of} has {most}",
                counted(engines, "engine")
            )));
        }
        if part.engines.end > most {
            let last = part.engines.end - 1;
            return Err(refused(format!("there is no engine {last}: {of} has {most}, counted from 0")));
        }
        part.engine_loops().ok_or_else(|| {
            let message = format!(
                "{} share the transfer, but no outermost loops of `{loops}` have {engines} iterations together",
                counted(engines, "engine")
            );
            let fix = format!("split the outermost loop so that one of {engines} iterations is outside");
            refused(message).fix(Some(fix))
        })
    }

    /// C2. A stride between chips is no register of a DMA engine: each chip's HBM has a separate link.
    fn sequencer(&self, loops: &PairedProgram, engine_loops: usize) -> Result<(), Diagnostic> {
        let mut registers = loops.clone();
        registers.entries.drain(..engine_loops);
        if self.pcie {
            let between = |stride: &Stride| between_chips(stride, CHIP_STRIDE);
            registers.entries.retain(|entry| !between(&entry.read) && !between(&entry.write));
            if registers.entries.is_empty() {
                registers.entries.push(PairedEntry::new(1, 1, 1));
            }
        }
        let limits = limits(self.machine, &[]);
        let packet_max = self.machine.limits.dma_packet_max_bytes;
        if let Some(error) = check_paired(&registers, &limits, packet_max).into_iter().next() {
            return Err(self.refused("C2", error.message).fix(error.fix));
        }
        let entries = loops.entries.len() - engine_loops;
        if entries > limits.entries {
            let found = counted(entries, "entry");
            return Err(
                self.refused("C2", format!("`{loops}` has {found}, expected at most {}", limits.entries))
            );
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
            return Err(self.refused("C2", message));
        }
        Ok(())
    }

    /// C3.
    fn aligned(&self, name: &str, side: &Program) -> Result<(), Diagnostic> {
        let align = self.machine.limits.dma_dm_align;
        if !side.packet.is_multiple_of(align) {
            let message =
                format!("a packet is {}, expected a multiple of {align}", counted(side.packet, "byte"));
            return Err(self.refused("C3", message));
        }
        match misaligned(side, align) {
            Some(message) => Err(self.refused("C3", format!("the {name} side: {message}"))),
            None => Ok(()),
        }
    }
}

/// C1.
fn engine(
    op: Dma<'_>,
    pcie: bool,
    ends: [Space; 2],
    table: &EngineTable,
    moving: &[Moving; 2],
) -> Result<(), Diagnostic> {
    let across = goes_across_chips(moving) || table.0.iter().any(|part| counts_chips(&part.loops));
    let on_chip = |space: Space| match space {
        Space::Memory(medium) => medium != Medium::Host,
        Space::Trf | Space::Vrf => false,
    };
    let hosts = ends == [Space::HOST, Space::HBM] || ends == [Space::HBM, Space::HOST];
    let within = ends.into_iter().all(on_chip);
    let crosses = |end: &Space| end.medium().is_some_and(|medium| medium.decl().crosses_chips);
    let reached = within && ends.iter().all(crosses);
    let fix = match (pcie, hosts, within) {
        (true, true, _) => return Ok(()),
        (false, _, true) if !across => return Ok(()),
        (false, _, true) if reached => "write `pcie`: the tensor DMA of a chip stays within it",
        (false, _, true) => {
            "move it through data memory or HBM: scratchpad memory is not reached from other chips"
        }
        (true, _, true) if reached && across => return Ok(()),
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

/// Returns true if the two sides of a transfer come to different chips with the loops around it.
fn goes_across_chips([read, write]: &[Moving; 2]) -> bool {
    let chips = |step: i64| step / CHIP_STRIDE;
    let depths = read.steps.each.len().max(write.steps.each.len());
    let sides = [read, write].map(|side| side.steps.each.iter().flat_map(|step| step.turns.iter().copied()));
    (0..depths).any(|depth| chips(read.steps.of(depth)) != chips(write.steps.of(depth)))
        || sides.into_iter().flatten().any(|turn| chips(turn) != 0)
}

/// Returns true if a transfer goes from chip to chip.
fn counts_chips(loops: &PairedProgram) -> bool {
    let between = |stride: &Stride| between_chips(stride, CHIP_STRIDE);
    let chip = |base: i64| base / CHIP_STRIDE;
    chip(loops.read_base) != chip(loops.write_base)
        || loops.entries.iter().any(|entry| between(&entry.read) || between(&entry.write))
}

/// Returns true if a memory is SRAM that a DMA writes, in whole groups of bytes (book 10).
fn is_sram(space: Space) -> bool {
    match space {
        Space::Memory(medium) => medium.is_sram(),
        Space::Trf | Space::Vrf => false,
    }
}
