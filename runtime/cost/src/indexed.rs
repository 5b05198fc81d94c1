//! The price of a transfer of the rows that indices choose (book 07, 34, 35).
//!
//! Which rows those are is known at run time alone, or from the data of arguments
//! ([`KnownIndices`](crate::KnownIndices)). Others are assumed ([`AssumedRows`](crate::AssumedRows)): then all
//! models of transfers have a price for it, each in its own way.

use visa_engine::Space;
use visa_hw::ops::dma_indexed::INDEX_BYTES;
use visa_hw::program::{Direction, Indexed};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_loops::{Entry, PairedEntry, PairedProgram, Program, SeqError, Stride, contiguous, dma_packet};
use visa_machine::{Assumption, Machine, Medium, Ports};
use visa_memory::{Access, Channels, PortLoads, Transfer, channel_cycles, request_count};

use crate::anatomy::Anatomy;
use crate::command::CommandCost;
use crate::footprint::{Region, region};
use crate::memory::{self, memory};
use crate::model::MemoryModel;
use crate::queues::Queues;
use crate::report::EngineCycles;
use crate::rows::Rows;
use crate::transfer::{cycles, flat_work, read};

/// Assumptions of prices that no field of a machine description has.
pub(crate) const ASSUMED: &[Assumption] = &[Assumption {
    field: "indexed.order",
    why: "no book says when indices are read; an engine is taken to read its own before it moves rows",
}];

/// The assumption of [`AssumedRows`](crate::AssumedRows).
pub(crate) const ROWS: &str = "indexed.rows";

/// Most rows of an engine that are looked at; the others are taken to be the same ones again.
const MOST: u64 = 1 << 16;

/// Prices the transfer: its indices, then its rows. All chips move at once, each its own bytes.
///
/// # Errors
/// A transfer that has no address in the model.
pub(crate) fn indexed_work(
    transfer: &Indexed,
    span: Span,
    machine: &Machine,
    chips: usize,
    model: MemoryModel,
    rows: &Rows,
) -> Result<CommandCost, Diagnostic> {
    let mut flat = flat_work(&transfer.unindexed(), span, machine, chips);
    let name = match transfer.direction {
        Direction::Gather => "gather",
        Direction::Scatter => "scatter",
    };
    flat.label = format!("{name} {}", flat.label);
    flat.assumed.push("indexed.order");
    if model != MemoryModel::Flat && !rows.known.covers(transfer) {
        flat.assumed.push(ROWS);
    }
    let mut work = memory::work(model, flat, machine, || requested(transfer, machine, rows))?;
    let index = index_cycles(transfer, machine, model)
        .map_err(|error| Diagnostic::error("memory-model", span, error.message))?;
    let bytes = index_bytes(transfer).saturating_mul(chips.max(1) as u64);
    work.bytes = work.bytes.plus(read(transfer.index, bytes));
    if index > work.cycles {
        work.bottleneck = "index";
    }
    work.cycles = work.cycles.saturating_add(index);
    work.engines.push(EngineCycles { engine: "index", cycles: index });
    work.queues = Queues::of_parts([&transfer.part], machine, model);
    if let Anatomy::Transfer { starts, .. } = &mut work.anatomy {
        // Indices are read before rows move.
        *starts += 1;
    }
    Ok(work.measured(machine))
}

/// Regions that the transfer may touch, for any choice of rows.
pub(crate) fn indexed_regions(transfer: &Indexed, machine: &Machine) -> Vec<Region> {
    vec![
        region(transfer.index, false, &transfer.indices, machine),
        region(transfer.from, false, &transfer.reads(), machine),
        region(transfer.to, true, &transfer.writes(), machine),
    ]
}

/// The loops over different indices of some of the loops, and their bytes.
fn different(transfer: &Indexed, from: usize) -> Program {
    let loops = transfer.indices.entries.iter().skip(from);
    let entries = loops.filter(|entry| entry.stride != Stride::Fixed(0)).cloned().collect();
    let mut program = Program { entries, ..transfer.indices.clone() };
    program.merge();
    let packet = dma_packet(contiguous(&program), u64::MAX, 1);
    program.retile(packet).unwrap_or(program)
}

/// Bytes of the indices that a chip reads.
fn index_bytes(transfer: &Indexed) -> u64 {
    different(transfer, 0).steps().unwrap_or(u64::MAX)
}

/// The memory, if its parts have a port each.
fn ported(space: Space) -> Option<Medium> {
    space.medium().filter(|medium| matches!(medium.decl().ports, Ports::Each(_)))
}

/// Time in which the engines of a chip read their indices.
fn index_cycles(transfer: &Indexed, machine: &Machine, model: MemoryModel) -> Result<u64, SeqError> {
    let all = different(transfer, 0);
    let bytes = index_bytes(transfer);
    if model == MemoryModel::Flat {
        return Ok(match ported(transfer.index) {
            Some(medium) => PortLoads::of(&all, medium, machine)?.most(),
            None => cycles(bytes, machine.timing.hbm_bytes_per_cycle),
        });
    }
    // An engine makes a request a cycle.
    let own = different(transfer, transfer.part.engine_loops);
    let requests = request_count(&own, machine).unwrap_or(u64::MAX);
    let busy = match ported(transfer.index) {
        Some(medium) => PortLoads::of(&all, medium, machine)?.most(),
        None => {
            let asked = Channels::of(&all, Access::Read, machine)?;
            asked.loads.iter().map(|load| channel_cycles(load, machine).0).fold(0, u64::max)
        }
    };
    Ok(requests.max(busy))
}

/// Descriptors of each engine of a chip, with assumed rows for the indices. Chips are alike, so this is one of them.
fn requested(transfer: &Indexed, machine: &Machine, rows: &Rows) -> Result<Transfer, SeqError> {
    let (from, to) = (memory(transfer.from)?, memory(transfer.to)?);
    let (engines, _) = transfer.indices.entries.split_at(transfer.engines_with_indices());
    let starts = Program { entries: engines.to_vec(), packet: 1, base: transfer.indices.base };
    // Engines whose loops read no separate index share one.
    let shared: u64 = transfer.part.loops.entries[engines.len()..]
        .iter()
        .take(transfer.part.engine_loops - engines.len())
        .map(|entry| entry.limit)
        .product();
    let starts = starts.addresses().flat_map(|start| std::iter::repeat_n(start, shared as usize));
    let engine = |((engine, loops), start): ((u64, PairedProgram), i64)| {
        (engine, vec![chosen(transfer, loops, start, rows)])
    };
    let engines = transfer.part.by_engine().zip(starts).map(engine).collect();
    Ok(Transfer::of_chip(engines, [from.medium, to.medium], machine))
}

/// The loops of an engine whose indices begin at `start`, with rows instead of indices: as many of the inner loops
/// over indices as make [`MOST`] rows become one with the addresses of these rows.
fn chosen(transfer: &Indexed, mut loops: PairedProgram, start: i64, rows: &Rows) -> PairedProgram {
    let first = transfer.engines_with_indices();
    let over: &[Entry] = &transfer.indices.entries[first..transfer.index_loops()];
    let mut count = 1_u64;
    let inner = over.iter().rev().take_while(|entry| {
        count = count.saturating_mul(entry.limit);
        count <= MOST
    });
    let inner = over.len() - inner.count();
    let chosen: Vec<PairedEntry> = loops.entries.drain(inner..over.len()).collect();
    let walk = PairedProgram { entries: chosen, packet: 1, read_base: 0, write_base: 0 };
    let indices = Program { entries: over[inner..].to_vec(), packet: 1, base: start };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for ((read, write), index) in
        walk.read().addresses().zip(walk.write().addresses()).zip(indices.addresses())
    {
        let row = row(transfer, index, rows);
        let (at_read, at_write) = match transfer.direction {
            Direction::Gather => (row, 0),
            Direction::Scatter => (0, row),
        };
        reads.push(read.wrapping_add(at_read));
        writes.push(write.wrapping_add(at_write));
    }
    let entry = PairedEntry { limit: reads.len() as u64, read: reads.into(), write: writes.into() };
    loops.entries.insert(inner, entry);
    loops
}

/// Where the row is that the index at an address chooses, or is taken to choose.
fn row(transfer: &Indexed, index: i64, rows: &Rows) -> i64 {
    if let Some(known) = rows.known.row(transfer, index) {
        return known.cast_signed();
    }
    let number = index.wrapping_sub(transfer.indices.base).cast_unsigned() / INDEX_BYTES;
    rows.assumed.row(number, transfer.count).wrapping_mul(transfer.distance).cast_signed()
}
