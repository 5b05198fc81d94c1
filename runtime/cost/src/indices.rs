//! Indices that are known before a program runs: those of arguments whose data are given, in HBM, and in scratchpad
//! memory where one transfer brings them from there.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use visa_machine::Medium;

use visa_engine::Space;
use visa_hw::program::{Buffer, CommandKind, Dma, Indexed, Program};
use visa_loops::{Program as Loops, Steps};

/// Bits of an index.
const INDEX_BITS: u32 = 32;

/// Bytes of a memory, from the first to one past the last.
type Touched = (Space, Range<i64>);

/// Indices by their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownIndices {
    hbm: HashMap<i64, u32>,
    /// The bytes of other memories that transfers bring there from HBM.
    copied: HashMap<(Medium, i64), u32>,
}

impl KnownIndices {
    /// The arguments that a program may take indices from.
    #[must_use]
    pub fn arguments(program: &Program) -> Vec<&Buffer> {
        let read = read_as_indices(program);
        let arguments = program.buffers.iter().filter(|buffer| {
            buffer.argument && buffer.space == Space::HBM && buffer.dtype.bits() == INDEX_BITS
        });
        arguments.filter(|buffer| touched(buffer).is_some_and(|own| meets(&own, &read))).collect()
    }

    /// The known indices if the data of some arguments are given, in C order and little-endian. Indices that the
    /// program writes itself are unknown.
    #[must_use]
    pub fn new(program: &Program, tensors: &BTreeMap<String, Vec<u8>>) -> Self {
        let mut known = Self::default();
        let written = written(program);
        for buffer in Self::arguments(program) {
            let (Some(bytes), Some(own)) = (tensors.get(&buffer.name), touched(buffer)) else { continue };
            if meets(&own, &written) {
                continue;
            }
            let (numbers, places) = (buffer.layout.read(), buffer.layout.write());
            let elements = numbers.addresses().zip(places.addresses());
            known.hbm.extend(elements.filter_map(|(number, at)| {
                let (found, _) = bytes.get(usize::try_from(number).ok()? * 4..)?.split_first_chunk::<4>()?;
                Some((at, u32::from_le_bytes(*found)))
            }));
        }
        for (command, loops) in program.flat() {
            let CommandKind::Dma(dma) = &command.kind else { continue };
            let own = transfers(dma, &loops);
            // Bytes that are moved always, from and to one place, where nothing else comes.
            let once = dma.steps.iter().all(Steps::is_still) && command.when.is_empty();
            let alone = written.iter().filter(|other| own.iter().any(|own| overlap(own, other))).count();
            let indices = |medium: &Medium| medium.decl().indices.is_some() && *medium != Medium::Hbm;
            let to = dma.to.medium().filter(indices);
            if let Some(to) = to.filter(|_| once && dma.from == Space::HBM && alone == own.len()) {
                known.copy(dma, to);
            }
        }
        known
    }

    /// Makes the data known that a transfer copies to a memory.
    fn copy(&mut self, dma: &Dma, medium: Medium) {
        for loops in dma.programs() {
            let packet = loops.packet.cast_signed();
            for (from, to) in loops.read().addresses().zip(loops.write().addresses()) {
                let moved = (0..packet)
                    .filter_map(|byte| Some(((medium, to + byte), *self.hbm.get(&(from + byte))?)));
                let moved: Vec<((Medium, i64), u32)> = moved.collect();
                self.copied.extend(moved);
            }
        }
    }

    /// Distance in bytes from the table's first row to the one that the index at an address chooses; `None` if the
    /// index is not known, or chooses none.
    pub(crate) fn row(&self, transfer: &Indexed, address: i64) -> Option<u64> {
        let index = match transfer.index {
            Space::HBM => self.hbm.get(&address),
            Space::Memory(medium) => self.copied.get(&(medium, address)),
            Space::Trf | Space::Vrf => None,
        };
        let row = u64::from(*index?).checked_mul(transfer.unit())?;
        (row < transfer.count.saturating_mul(transfer.distance)).then_some(row)
    }

    /// Returns true if all indices of a transfer are known.
    pub(crate) fn covers(&self, transfer: &Indexed) -> bool {
        let loops = transfer.indices.entries.iter().take(transfer.index_loops());
        let indices = Loops { entries: loops.cloned().collect(), packet: 1, base: transfer.indices.base };
        let is_empty = self.hbm.is_empty() && self.copied.is_empty();
        !is_empty && indices.addresses().all(|address| self.row(transfer, address).is_some())
    }
}

/// Ranges that may be read as indices: those that transfers read, and the sources of other transfers to them.
fn read_as_indices(program: &Program) -> Vec<Touched> {
    let flat = program.flat();
    let mut read = Vec::new();
    for (command, loops) in &flat {
        if let CommandKind::Indexed(transfer) = &command.kind {
            read.extend(
                range(&transfer.indices, &transfer.steps[2], loops).map(|range| (transfer.index, range)),
            );
        }
    }
    let mut brought = Vec::new();
    for (command, loops) in &flat {
        let CommandKind::Dma(dma) = &command.kind else { continue };
        if transfers(dma, loops).iter().any(|own| meets(own, &read)) {
            let sources = dma.programs().filter_map(|part| range(&part.read(), &dma.steps[0], loops));
            brought.extend(sources.map(|range| (dma.from, range)));
        }
    }
    read.extend(brought);
    read
}

/// Ranges that a program writes in the memories that indices may be in.
fn written(program: &Program) -> Vec<Touched> {
    let mut written = Vec::new();
    for (command, loops) in program.flat() {
        match &command.kind {
            CommandKind::Dma(dma) => written.extend(transfers(dma, &loops)),
            CommandKind::Indexed(transfer) => {
                let range = range(&transfer.writes(), &transfer.steps[1], &loops);
                written.extend(range.map(|range| (transfer.to, range)));
            }
            CommandKind::Loop(_) | CommandKind::Launch(_) | CommandKind::Exec(_) => {}
        }
    }
    written
}

/// Range that each part of a transfer writes.
fn transfers(dma: &Dma, loops: &[u64]) -> Vec<Touched> {
    let ranges = dma.programs().filter_map(|part| range(&part.write(), &dma.steps[1], loops));
    ranges.map(|range| (dma.to, range)).collect()
}

/// Range that a side touches in all iterations of the loops around it.
fn range(side: &Loops, steps: &Steps, loops: &[u64]) -> Option<Range<i64>> {
    let all: Vec<_> = loops.iter().map(|&times| 0..times).collect();
    let (moved, around) = steps.reach(&all);
    let entries = around.into_iter().chain(side.entries.iter().cloned()).collect();
    let (start, end) = Loops { entries, base: side.base.checked_add(moved)?, ..*side }.extent().ok()?;
    Some(start..end)
}

/// Where an argument is.
fn touched(buffer: &Buffer) -> Option<Touched> {
    let (start, end) = buffer.layout.write().extent().ok()?;
    // Addresses are those of elements' first bytes.
    Some((buffer.space, start..end.saturating_add(i64::from(INDEX_BITS / 8) - 1)))
}

fn overlap((space, own): &Touched, (other_space, other): &Touched) -> bool {
    space == other_space && own.start.max(other.start) < own.end.min(other.end)
}

fn meets(own: &Touched, others: &[Touched]) -> bool {
    others.iter().any(|other| overlap(own, other))
}
