//! Transfers of the rows that indices in memory choose (book 07, 34, 35).

use std::collections::BTreeMap;
use visa_engine::shadow::{Marker, ShadowLog};
use visa_hw::ops::dma_indexed::INDEX_BYTES;
use visa_hw::program::{Direction, Indexed};
use visa_ir::span::Span;
use visa_machine::Machine;

use crate::error::RunError;
use crate::index_error::{IndexError, IndexPlace};
use crate::index_uses::{IndexLog, IndexUse};
use crate::memory::{ChipMemory, Chunk, Memories, PAGE_BYTES};
use crate::runs::{Copy, Runs};

/// A row that is to be moved.
#[derive(Clone, Copy, Debug)]
struct Row {
    at: IndexPlace,
    value: i32,
    /// Where it begins on both sides.
    read: u64,
    write: u64,
}

/// Runs the transfer on every chip, one after the other: all indices are read, then rows move in program order. With
/// `uses`, the indices are recorded there, and one that chooses no row counts as row 0.
pub(crate) fn run(
    transfer: &Indexed,
    span: Span,
    memories: &mut Memories,
    op: u32,
    log: Option<&ShadowLog>,
    mut uses: Option<&mut IndexLog>,
) -> Result<(), RunError> {
    let stopped = |error| RunError::Index { span, error };
    let copies = copies(transfer, memories)?;
    let mut chunk = Chunk::default();
    for chip in 0..memories.chips.len() {
        let rows = rows(transfer, chip, memories, log.is_some(), uses.as_deref_mut())?;
        let rows = rows.map_err(stopped)?;
        if log.is_some() && transfer.direction == Direction::Scatter {
            no_conflict(&rows, &copies, memories)?.map_err(stopped)?;
        }
        let (from, to) = (ChipMemory { space: transfer.from, chip }, ChipMemory { space: transfer.to, chip });
        for row in &rows {
            for copy in &copies {
                chunk.clear();
                memories.read(from, row.read.wrapping_add(copy.read), copy.length, &mut chunk);
                if let Some(log) = log {
                    Marker::new(log, op).through_all(&mut chunk.marks);
                }
                memories.write(to, row.write.wrapping_add(copy.write), &chunk)?;
            }
        }
    }
    Ok(())
}

/// The copies of a row, relative to where it begins.
fn copies(transfer: &Indexed, memories: &Memories) -> Result<Vec<Copy>, RunError> {
    let (_, row) = transfer.split();
    let sides = [
        ("reads", transfer.reads(), memories.capacity(transfer.from, false)),
        ("writes", transfer.writes(), memories.capacity(transfer.to, false)),
        ("reads indices at", transfer.indices.clone(), memories.capacity(transfer.index, false)),
    ];
    for (what, side, capacity) in sides {
        let (from, to) = side.extent().map_err(|error| RunError::Address(error.to_string()))?;
        if from < 0 || to.cast_unsigned() > capacity {
            let message =
                format!("`{side}` {what} addresses {from} to {to}, expected within 0 to {capacity}");
            return Err(RunError::Address(message));
        }
    }
    // Within one memory a later packet may read the bytes that an earlier one wrote, so packets stay whole there.
    let piece = if transfer.from == transfer.to { row.packet } else { PAGE_BYTES as u64 };
    Ok(Runs::of(&row, piece).relative(0))
}

/// The rows that the indices of a chip choose, in program order.
fn rows(
    transfer: &Indexed,
    chip: usize,
    memories: &mut Memories,
    shadow: bool,
    mut uses: Option<&mut IndexLog>,
) -> Result<Result<Vec<Row>, IndexError>, RunError> {
    let (outer, _) = transfer.split();
    let (reads, writes) = (outer.read(), outer.write());
    let count = outer.steps().unwrap_or(u64::MAX);
    memories.budget.check(count.saturating_mul(size_of::<Row>() as u64))?;
    let mut rows = Vec::new();
    let groups = match (&mut uses, transfer.direction) {
        (Some(uses), Direction::Scatter) => uses.groups(writes.addresses().map(i64::cast_unsigned)),
        (Some(_), Direction::Gather) | (None, _) => BTreeMap::new(),
    };
    let mut chunk = Chunk::default();
    let place = ChipMemory { space: transfer.index, chip };
    let starts = reads.addresses().zip(writes.addresses()).zip(transfer.indices.addresses());
    for ((read, write), address) in starts {
        chunk.clear();
        memories.read(place, address.cast_unsigned(), INDEX_BYTES as usize, &mut chunk);
        let at = index_place(transfer, address, chip, &memories.machine);
        if shadow && chunk.marks.iter().any(|mark| !mark.is_defined()) {
            return Ok(Err(IndexError::Undefined { at }));
        }
        let value = chunk.bytes.iter().rev().fold(0, |value, &byte| value << 8 | i32::from(byte));
        let mut offset = offset(transfer, value);
        if let Some(uses) = &mut uses {
            let group = groups.get(&write.cast_unsigned()).copied();
            let step = transfer.distance / transfer.unit();
            uses.uses.insert(IndexUse { value, step, count: transfer.count, group });
            offset = offset.or(Some(0));
        }
        let Some(offset) = offset else {
            let distance = (transfer.unit() == 1).then_some(transfer.distance);
            return Ok(Err(IndexError::Outside { at, value, distance, count: transfer.count }));
        };
        let (read, write) = (read.cast_unsigned(), write.cast_unsigned());
        rows.push(match transfer.direction {
            Direction::Gather => Row { at, value, read: read.wrapping_add(offset), write },
            Direction::Scatter => Row { at, value, read, write: write.wrapping_add(offset) },
        });
    }
    Ok(Ok(rows))
}

fn index_place(transfer: &Indexed, address: i64, chip: usize, machine: &Machine) -> IndexPlace {
    let (address, first) = (address.cast_unsigned(), transfer.indices.base.cast_unsigned());
    if let Some(medium) = transfer.index.medium().filter(|medium| medium.is_sram()) {
        let part_bytes = medium.bytes(machine);
        let (byte, first) = (address % part_bytes, first % part_bytes);
        let number = byte.saturating_sub(first) / INDEX_BYTES;
        return IndexPlace { chip, pe: Some(address / part_bytes), byte, number };
    }
    IndexPlace { chip, pe: None, byte: address, number: address.saturating_sub(first) / INDEX_BYTES }
}

/// Distance of the row that an index chooses from row 0, in bytes; `None` if it chooses none.
fn offset(transfer: &Indexed, value: i32) -> Option<u64> {
    let offset = u64::try_from(value).ok()?.checked_mul(transfer.unit())?;
    let is_row = offset.is_multiple_of(transfer.distance) && offset / transfer.distance < transfer.count;
    is_row.then_some(offset)
}

/// That no byte is written by two rows; else by which.
fn no_conflict(
    rows: &[Row],
    copies: &[Copy],
    memories: &Memories,
) -> Result<Result<(), IndexError>, RunError> {
    let count = (rows.len() as u64).saturating_mul(copies.len() as u64);
    memories.budget.check(count.saturating_mul(size_of::<(u64, u64, usize)>() as u64))?;
    let of_row = |(number, row): (usize, &Row)| {
        let (start, of) = (row.write, number);
        copies.iter().map(move |copy| (start.wrapping_add(copy.write), copy.length as u64, of))
    };
    let mut written: Vec<(u64, u64, usize)> = rows.iter().enumerate().flat_map(of_row).collect();
    written.sort_unstable();
    let meet = |pair: &&[(u64, u64, usize)]| pair[0].2 != pair[1].2 && pair[0].0 + pair[0].1 > pair[1].0;
    Ok(match written.windows(2).find(meet) {
        None => Ok(()),
        Some(pair) => {
            let numbers = (pair[0].2.min(pair[1].2), pair[0].2.max(pair[1].2));
            let (first, second) = (&rows[numbers.0], &rows[numbers.1]);
            Err(IndexError::Conflict {
                first: first.at,
                second: second.at,
                values: [first.value, second.value],
                address: pair[1].0,
            })
        }
    })
}
