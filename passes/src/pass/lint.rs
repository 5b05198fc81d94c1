//! Warns about operations that are legal and slow, or legal and dangerous: the rules of book 08, 09 and 11.

use visa_hw::machine;
use visa_hw::ops::commit::Commit;
use visa_hw::ops::exec::context_of;
use visa_hw::ops::fetch::Fetch;
use visa_hw::ops::fill::Fill;
use visa_hw::ops::generate::Generate;
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_ir::module::OpRef;
use visa_loops::{Program, contiguous, fetch_size};
use visa_machine::{Machine, Unit};
use visa_memory::BankAccesses;
use visa_numerics::DType;
use visa_pass::{Level, Pass, PassCx};
use visa_sequencer::access;
use visa_stream::forgotten;

/// The pass.
pub static PASS: Pass = Pass {
    name: "lint",
    summary: "warns about slow and dangerous accesses to data memory",
    doc: "Changes nothing. Each warning has a number:\n\n\
          - L1: a fetched packet is no multiple of a flit, 32 bytes: the Collect Engine fills up with zeros (book \
          08).\n\
          - L2: a fetch reads fewer bytes at once than it would if its packets were padded (book 08, padding \
          packets).\n\
          - L3: a fetch or a commit accesses one bank of data memory 64 times in a row or more. A DMA that waits \
          for the bank is given up after 4096 cycles, which resets the cluster; so the command must not run in \
          parallel with a DMA (book 11). The limit holds for all commands together; this lint checks each \
          alone.\n\n\
          - L4: a write takes a part of the width of a bank, 8 bytes (book 11). Only generate mode can: any other \
          operation that writes data memory is refused unless it writes whole groups of 8 bytes (`hw.commit` C5, \
          `tm.to_dm` C5).\n\n\
          The warning of a forgotten axis (`--lower-to-seq`) is an error in a pipeline with this pass.",
    takes: Level::Hardware,
    gives: Level::Hardware,
    denies: &[forgotten::CODE],
    statistics: &[("warnings", "warnings given")],
    run,
    ..Pass::BASE
};

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    for id in cx.module.walk_all() {
        let op = cx.module.op(cx.ctx, id);
        let machine = machine(op);
        let found = warnings(op, &machine).map_err(|error| vec![error])?;
        for warning in found {
            cx.count("warnings", 1);
            cx.report(warning);
        }
    }
    Ok(())
}

/// The warnings about an operation.
fn warnings(op: OpRef<'_>, machine: &Machine) -> Result<Vec<Diagnostic>, Diagnostic> {
    let mut found = Vec::new();
    if let Some(fetch) = Fetch::cast(op) {
        let (packets, loops) = (Packets::of(fetch)?, fetch.loops()?);
        found.extend(flits(op, &packets, machine)?);
        found.extend(padding(op, &packets, &loops, machine)?);
        found.extend(starvation(op, &loops, machine));
    }
    if let Some(commit) = Commit::cast(op) {
        found.extend(starvation(op, &*commit.loops()?, machine));
    }
    if let Some(generate) = Generate::cast(op) {
        found.push(partial(op, &format!("4 bytes are written at {}", generate.at()?), machine));
    }
    if let Some(fill) = Fill::cast(op) {
        let loops = fill.loops()?;
        if loops.packet < machine.memory.dm_bank_width {
            found.push(partial(op, &format!("`{loops}` writes 4 bytes at once"), machine));
        }
        found.extend(starvation(op, &loops, machine));
    }
    Ok(found)
}

fn warning(op: OpRef<'_>, number: &str, message: String, fix: &str) -> Diagnostic {
    let mut warning =
        Diagnostic::error(format!("lint-{number}"), op.span(), message).fix(Some(fix.to_owned()));
    warning.severity = Severity::Warning;
    warning
}

/// The reads of a fetch, in bytes: its packet before and after the conversion.
struct Packets {
    before: u64,
    /// Formats before and after the adapter.
    formats: (DType, DType),
}

impl Packets {
    fn of(op: Fetch<'_>) -> Result<Self, Diagnostic> {
        let from = op.dtype()?;
        let indexed = op.table()?.map_or(*from, |table| table.to);
        let to = op.to()?.map_or(indexed, |to| *to);
        let negative = |_| op.clause_error("C3", "packet", "the packet is negative");
        let before = u64::try_from(op.packet()?).map_err(negative)?;
        Ok(Self { before, formats: (*from, to) })
    }

    fn after(&self, bytes: u64) -> u64 {
        bytes * u64::from(self.formats.1.bits()) / u64::from(self.formats.0.bits())
    }
}

/// L1.
fn flits(op: OpRef<'_>, packets: &Packets, machine: &Machine) -> Result<Option<Diagnostic>, Diagnostic> {
    let (flit, bytes) = (machine.flit_bytes(context_of(op)?), packets.after(packets.before));
    if bytes.is_multiple_of(flit) {
        return Ok(None);
    }
    let (count, zeros) = (bytes.div_ceil(flit), bytes.next_multiple_of(flit) - bytes);
    let message = format!(
        "packets of {}: the Collect Engine adds {} of zeros to fill {count} flit(s) (book 08)",
        counted(bytes, "byte"),
        counted(zeros, "byte"),
    );
    let fix = format!("fetch packets of a multiple of {}", counted(flit, "byte"));
    Ok(Some(warning(op, "L1", message, &fix)))
}

/// L2: the packet is in memory in one piece, and only its length keeps the access small.
fn padding(
    op: OpRef<'_>,
    packets: &Packets,
    program: &Program,
    machine: &Machine,
) -> Result<Option<Diagnostic>, Diagnostic> {
    Ok(padded(op, packets, program, context_of(op)?, machine))
}

fn padded(
    op: OpRef<'_>,
    packets: &Packets,
    program: &Program,
    unit: Unit,
    machine: &Machine,
) -> Option<Diagnostic> {
    let (packet, access) = (packets.before, program.packet);
    let (from, to) = packets.formats;
    let sizes = access::fetch_sizes(from, (from != to).then_some(to), unit, machine);
    let largest = sizes.iter().copied().max()?;
    let padded = if packet < largest { packet.next_power_of_two() } else { packet.next_multiple_of(largest) };
    let better = fetch_size(padded, padded, &sizes)?;
    let (now, then) = (packet / access, padded / better);
    if padded == packet || !contiguous(program).is_multiple_of(packet) || then >= now {
        return None;
    }
    let message = format!(
        "a packet of {} takes {} of {}; padded to {} it would take {then} of {better} (book 08)",
        counted(packet, "byte"),
        counted(now, "access"),
        counted(access, "byte"),
        counted(padded, "byte"),
    );
    Some(warning(op, "L2", message, "pad the packet (`# n`): reading past its end is safe"))
}

/// L4.
fn partial(op: OpRef<'_>, found: &str, machine: &Machine) -> Diagnostic {
    let width = machine.memory.dm_bank_width;
    let message = format!(
        "{found}, where a bank of data memory is {} wide: a partial bank write (book 11)",
        counted(width, "byte")
    );
    warning(op, "L4", message, "commit the number with others, in groups of 8 bytes, where many are written")
}

/// L3.
fn starvation(op: OpRef<'_>, program: &Program, machine: &Machine) -> Option<Diagnostic> {
    let most = machine.limits.dm_bank_starvation;
    let (bank, run) = BankAccesses::of(program, machine).longest();
    if run < most {
        return None;
    }
    let all = machine.memory.dm_banks * machine.memory.dm_bank_width;
    let message = format!(
        "`{program}` accesses bank {bank} of data memory {} in a row; in parallel with a DMA, fewer than {most} are \
         safe (book 11)",
        counted(run, "time"),
    );
    let fix = format!(
        "make inner strides no multiple of {}, which all fall into one bank: pad the buffer, or reorder time",
        counted(all, "byte")
    );
    Some(warning(op, "L3", message, &fix))
}
