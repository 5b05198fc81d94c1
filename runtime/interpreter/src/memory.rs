//! The memories of all chips: host memory, HBM and scratchpad memory sparse in pages, data memory a bank a slice.

use std::collections::BTreeMap;

use visa_engine::shadow::Shadow;
use visa_engine::unwritten::Unwritten;
use visa_engine::{SliceMemory, Space};
use visa_hw::program::CHIP_STRIDE;
use visa_machine::{Machine, Medium};

use crate::error::RunError;
use crate::runs::Copy;

/// Bytes of a page of host memory, HBM or scratchpad memory.
pub const PAGE_BYTES: usize = 64 << 10;

/// Bytes resident for each byte of a simulated memory: the byte, and its mark in shadow mode.
pub(crate) const fn resident(bytes: u64, shadow: bool) -> u64 {
    let marks = if shadow { size_of::<Shadow>() as u64 } else { 0 };
    bytes.saturating_mul(1 + marks)
}

/// The memory limit of a run.
#[derive(Debug)]
pub(crate) struct Budget {
    used: u64,
    bound: u64,
}

impl Budget {
    pub(crate) fn new(bound: u64) -> Self {
        Self { used: 0, bound }
    }

    /// Takes `bytes` for the rest of the run.
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<(), RunError> {
        self.check(bytes)?;
        self.used += bytes;
        Ok(())
    }

    /// Checks that `bytes` more fit for a while.
    pub(crate) fn check(&self, bytes: u64) -> Result<(), RunError> {
        let needed = self.used.saturating_add(bytes);
        if needed <= self.bound { Ok(()) } else { Err(RunError::MemoryBound { needed, bound: self.bound }) }
    }
}

/// Bytes on their way from one memory to another, with their marks in shadow mode.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
    /// As long as `bytes` in shadow mode, else empty.
    pub(crate) marks: Vec<Shadow>,
}

impl Chunk {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.marks.clear();
    }
}

#[derive(Debug)]
struct Page {
    bytes: Box<[u8]>,
    /// Empty without shadow mode.
    marks: Box<[Shadow]>,
}

/// A byte memory of 2^64 addresses that holds the pages written to.
#[derive(Debug, Default)]
pub(crate) struct PagedMemory {
    index: BTreeMap<u64, usize>,
    pages: Vec<Page>,
    /// The pages last read and last written: accesses are mostly sequential.
    last_read: Option<(u64, usize)>,
    last_written: Option<(u64, usize)>,
    shadow: bool,
}

impl PagedMemory {
    pub(crate) fn new(shadow: bool) -> Self {
        Self { shadow, ..Self::default() }
    }

    /// Appends `length` bytes from `at` to `out`; bytes never written read as [`Unwritten`].
    pub(crate) fn read(&mut self, at: u64, length: usize, out: &mut Chunk) {
        for (number, offset, count) in pieces(at, length) {
            match self.page_to_read(number) {
                Some(page) => {
                    out.bytes.extend_from_slice(&page.bytes[offset..offset + count]);
                    if !page.marks.is_empty() {
                        out.marks.extend_from_slice(&page.marks[offset..offset + count]);
                    }
                }
                None => {
                    Unwritten::STORED.extend(offset as u64, count, &mut out.bytes);
                    if self.shadow {
                        out.marks.resize(out.marks.len() + count, Shadow::NEVER_WRITTEN);
                    }
                }
            }
        }
    }

    /// Writes a chunk at `at`.
    pub(crate) fn write(&mut self, at: u64, chunk: &Chunk, budget: &mut Budget) -> Result<(), RunError> {
        let mut done = 0;
        for (number, offset, count) in pieces(at, chunk.bytes.len()) {
            let page = self.page_to_write(number, budget)?;
            page.bytes[offset..offset + count].copy_from_slice(&chunk.bytes[done..done + count]);
            if !page.marks.is_empty() {
                page.marks[offset..offset + count].copy_from_slice(&chunk.marks[done..done + count]);
            }
            done += count;
        }
        Ok(())
    }

    fn page_to_read(&mut self, number: u64) -> Option<&Page> {
        let slot = match self.last_read {
            Some((last, slot)) if last == number => slot,
            Some(_) | None => *self.index.get(&number)?,
        };
        self.last_read = Some((number, slot));
        Some(&self.pages[slot])
    }

    fn page_to_write(&mut self, number: u64, budget: &mut Budget) -> Result<&mut Page, RunError> {
        let slot = match self.last_written {
            Some((last, slot)) if last == number => slot,
            Some(_) | None => match self.index.get(&number) {
                Some(&slot) => slot,
                None => self.add_page(number, budget)?,
            },
        };
        self.last_written = Some((number, slot));
        Ok(&mut self.pages[slot])
    }

    fn add_page(&mut self, number: u64, budget: &mut Budget) -> Result<usize, RunError> {
        budget.charge(resident(PAGE_BYTES as u64, self.shadow))?;
        let mut bytes = Vec::new();
        Unwritten::STORED.extend(0, PAGE_BYTES, &mut bytes);
        let marks = if self.shadow { vec![Shadow::NEVER_WRITTEN; PAGE_BYTES] } else { Vec::new() };
        self.pages.push(Page { bytes: bytes.into_boxed_slice(), marks: marks.into_boxed_slice() });
        self.index.insert(number, self.pages.len() - 1);
        Ok(self.pages.len() - 1)
    }
}

/// Reads pages of a memory that is not written meanwhile, each looked up once for the accesses that follow each other
/// in it.
pub(crate) struct PageReader<'a> {
    memory: &'a PagedMemory,
    last: Option<(u64, Option<&'a [u8]>)>,
}

impl<'a> PageReader<'a> {
    /// Copies the bytes from `at` to `out`; bytes never written read as [`Unwritten`].
    #[inline]
    pub(crate) fn read(&mut self, at: u64, out: &mut [u8]) {
        let offset = (at % PAGE_BYTES as u64) as usize;
        if out.len() <= PAGE_BYTES - offset {
            return self.copy(at / PAGE_BYTES as u64, offset, out);
        }
        let mut done = 0;
        for (number, offset, count) in pieces(at, out.len()) {
            self.copy(number, offset, &mut out[done..done + count]);
            done += count;
        }
    }

    /// Copies bytes of one page.
    #[inline]
    fn copy(&mut self, number: u64, offset: usize, out: &mut [u8]) {
        match self.page(number) {
            Some(page) => out.copy_from_slice(&page[offset..offset + out.len()]),
            None => Unwritten::STORED.fill(offset as u64, out),
        }
    }

    #[inline]
    fn page(&mut self, number: u64) -> Option<&'a [u8]> {
        if let Some((last, page)) = self.last
            && last == number
        {
            return page;
        }
        let page = self.memory.index.get(&number).map(|&slot| &*self.memory.pages[slot].bytes);
        self.last = Some((number, page));
        page
    }
}

/// An access cut at the borders of pages: page number, offset in it, bytes.
fn pieces(at: u64, length: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    split(at, length, PAGE_BYTES as u64)
}

/// An access cut at the multiples of `unit`: number of the unit, offset in it, bytes.
fn split(at: u64, length: usize, unit: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut next = at;
    let mut left = length;
    std::iter::from_fn(move || {
        let offset = next % unit;
        let count = left.min((unit - offset) as usize);
        let piece = (next / unit, offset as usize, count);
        next = next.wrapping_add(count as u64);
        left -= count;
        (count > 0).then_some(piece)
    })
}

/// Every memory of a run. An address of a memory of a chip holds its chip ([`CHIP_STRIDE`] apart).
#[derive(Debug)]
pub(crate) struct Memories {
    host: PagedMemory,
    pub(crate) hbm: PagedMemory,
    /// Memories that a chip's parts have and only DMA engines reach, such as scratchpad memory.
    parts: BTreeMap<Medium, PagedMemory>,
    /// The slices of each chip.
    pub(crate) chips: Vec<Vec<SliceMemory>>,
    pub(crate) budget: Budget,
    pub(crate) shadow: bool,
    pub(crate) dm_bytes_per_slice: u64,
    pub(crate) machine: Machine,
}

/// A memory that a transfer reads or writes, seen from a chip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChipMemory {
    pub(crate) space: Space,
    pub(crate) chip: usize,
}

impl Memories {
    pub(crate) fn new(machine: &Machine, chips: usize, shadow: bool, bound: u64) -> Self {
        let slices = machine.slices_per_chip() as usize;
        Self {
            host: PagedMemory::new(shadow),
            hbm: PagedMemory::new(shadow),
            parts: BTreeMap::new(),
            chips: vec![vec![SliceMemory::default(); slices]; chips],
            budget: Budget::new(bound),
            shadow,
            dm_bytes_per_slice: machine.memory.dm_bytes_per_slice,
            machine: machine.clone(),
        }
    }

    /// Bytes that a place has: addresses are below it. Register files are out of a transfer's reach.
    pub(crate) fn capacity(&self, space: Space, linear_chips: bool) -> u64 {
        let chip = CHIP_STRIDE.cast_unsigned();
        match space {
            Space::HOST => u64::MAX,
            Space::HBM if linear_chips => chip * self.chips.len() as u64,
            Space::HBM => chip,
            Space::DM if linear_chips => chip * self.chips.len() as u64,
            Space::DM => self.chips.first().map_or(0, Vec::len) as u64 * self.dm_bytes_per_slice,
            Space::Memory(medium) => medium.bytes_per_chip(&self.machine),
            Space::Trf | Space::Vrf => 0,
        }
    }

    /// Appends `length` bytes from `at` to `out`.
    pub(crate) fn read(&mut self, place: ChipMemory, at: u64, length: usize, out: &mut Chunk) {
        match place.space {
            Space::HOST => self.host.read(at, length, out),
            Space::HBM => self.hbm.read(chip_base(place.chip) + at, length, out),
            Space::Memory(medium) if medium != Medium::Dm => {
                let memory = self.parts.entry(medium).or_insert_with(|| PagedMemory::new(self.shadow));
                memory.read(chip_base(place.chip) + at, length, out);
            }
            Space::Memory(_) => {
                let (chip, at) = on_chip(place.chip, at);
                for (slice, offset, count) in split(at, length, self.dm_bytes_per_slice) {
                    let bank = &self.chips[chip][slice as usize].dm;
                    bank.read(offset..offset + count, &mut out.bytes);
                    if self.shadow {
                        bank.read_shadow(offset..offset + count, Shadow::NEVER_WRITTEN, &mut out.marks);
                    }
                }
            }
            Space::Trf | Space::Vrf => {}
        }
    }

    /// Writes a chunk at `at`.
    pub(crate) fn write(&mut self, place: ChipMemory, at: u64, chunk: &Chunk) -> Result<(), RunError> {
        match place.space {
            Space::HOST => self.host.write(at, chunk, &mut self.budget),
            Space::HBM => self.hbm.write(chip_base(place.chip) + at, chunk, &mut self.budget),
            Space::DM => {
                let (chip, at) = on_chip(place.chip, at);
                self.write_dm(chip, at, chunk)
            }
            Space::Memory(medium) => {
                let memory = self.parts.entry(medium).or_insert_with(|| PagedMemory::new(self.shadow));
                memory.write(chip_base(place.chip) + at, chunk, &mut self.budget)
            }
            Space::Trf | Space::Vrf => Ok(()),
        }
    }

    fn write_dm(&mut self, chip: usize, at: u64, chunk: &Chunk) -> Result<(), RunError> {
        let mut done = 0;
        for (slice, offset, count) in split(at, chunk.bytes.len(), self.dm_bytes_per_slice) {
            let bank = &mut self.chips[chip][slice as usize].dm;
            let growth = (offset + count).saturating_sub(bank.bytes().len());
            self.budget.charge(resident(growth as u64, self.shadow))?;
            bank.write(offset, &chunk.bytes[done..done + count]);
            if self.shadow {
                bank.write_shadow(offset, &chunk.marks[done..done + count]);
            }
            done += count;
        }
        Ok(())
    }
}

/// The writes of a transfer into one slice: the start of each part on both sides, in program order.
#[derive(Clone, Debug, Default)]
pub(crate) struct SliceParts {
    /// Read address, and write address in the slice's data memory.
    pub(crate) starts: Vec<(u64, u64)>,
    /// One past the last byte written.
    pub(crate) end: u64,
}

/// A transfer from HBM whose every part stays in one slice.
#[derive(Debug)]
pub(crate) struct Scatter {
    /// The writes into each slice.
    pub(crate) parts: Vec<SliceParts>,
    /// The copies of a part, relative to where it starts.
    pub(crate) copies: Vec<Copy>,
}

impl Scatter {
    /// Fills slice `slice` of chip `chip`. No marks: shadow mode copies in program order.
    pub(crate) fn run(&self, hbm: &PagedMemory, chip: usize, slice: usize, memory: &mut SliceMemory) {
        let Some(part) = self.parts.get(slice) else { return };
        let mut pages = PageReader { memory: hbm, last: None };
        let bytes = memory.dm.bytes_mut(part.end as usize);
        for &(read, write) in &part.starts {
            for copy in &self.copies {
                let (read, write) = (read.wrapping_add(copy.read), write.wrapping_add(copy.write));
                pages.read(chip_base(chip) + read, &mut bytes[write as usize..][..copy.length]);
            }
        }
    }
}

/// The chip of an address, which counts chips from `chip` on, and the address on it.
fn on_chip(chip: usize, at: u64) -> (usize, u64) {
    let stride = CHIP_STRIDE.cast_unsigned();
    (chip + (at / stride) as usize, at % stride)
}

fn chip_base(chip: usize) -> u64 {
    chip as u64 * CHIP_STRIDE.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = PAGE_BYTES as u64;

    fn chunk(bytes: &[u8]) -> Chunk {
        Chunk { bytes: bytes.to_vec(), marks: vec![Shadow::DEFINED; bytes.len()] }
    }

    fn read(memory: &mut PagedMemory, at: u64, length: usize) -> Chunk {
        let mut out = Chunk::default();
        memory.read(at, length, &mut out);
        out
    }

    #[test]
    fn a_write_across_a_page_border_reads_back_with_what_was_never_written_around_it() {
        let mut memory = PagedMemory::new(false);
        let mut budget = Budget::new(2 * PAGE);
        assert_eq!(memory.write(PAGE - 2, &chunk(&[1, 2, 3]), &mut budget), Ok(()));
        assert_eq!(read(&mut memory, PAGE - 3, 5).bytes, [0xf5, 1, 2, 3, 0x77]);
        assert_eq!(read(&mut memory, 9 * PAGE + 3, 2).bytes, [0x77, 0xf5]);
        assert!(read(&mut memory, PAGE - 3, 5).marks.is_empty());
    }

    #[test]
    fn reading_holds_no_memory() {
        let mut memory = PagedMemory::new(false);
        read(&mut memory, 1 << 50, 3 * PAGE_BYTES);
        assert!(memory.pages.is_empty());
    }

    #[test]
    fn two_pages_fit_a_bound_of_two_pages_and_no_byte_less() {
        for (bound, ok) in [(2 * PAGE, true), (2 * PAGE - 1, false)] {
            let mut memory = PagedMemory::new(false);
            let written = memory.write(PAGE - 1, &chunk(&[1, 2]), &mut Budget::new(bound));
            assert_eq!(written.is_ok(), ok, "{bound}");
        }
    }

    #[test]
    fn marks_are_four_bytes_more_a_byte() {
        for (bound, ok) in [(5 * PAGE, true), (5 * PAGE - 1, false)] {
            let mut memory = PagedMemory::new(true);
            let written = memory.write(0, &chunk(&[1]), &mut Budget::new(bound));
            assert_eq!(written.is_ok(), ok, "{bound}");
        }
    }

    #[test]
    fn bytes_beside_a_write_keep_the_mark_of_never_written() {
        let mut memory = PagedMemory::new(true);
        let mut budget = Budget::new(u64::MAX);
        assert_eq!(memory.write(4, &chunk(&[7]), &mut budget), Ok(()));
        let never = Shadow::NEVER_WRITTEN;
        assert_eq!(read(&mut memory, 3, 3).marks, [never, Shadow::DEFINED, never]);
        assert_eq!(read(&mut memory, 5 * PAGE, 1).marks, [never]);
    }

    #[test]
    fn a_failed_charge_takes_nothing() {
        let mut budget = Budget::new(10);
        assert_eq!(budget.charge(11), Err(RunError::MemoryBound { needed: 11, bound: 10 }));
        assert_eq!(budget.charge(10), Ok(()));
        assert_eq!(budget.check(u64::MAX), Err(RunError::MemoryBound { needed: u64::MAX, bound: 10 }));
    }

    #[test]
    fn data_memory_is_split_at_slices() {
        let machine = Machine::rngd();
        let slice = machine.memory.dm_bytes_per_slice;
        let mut memories = Memories::new(&machine, 2, false, u64::MAX);
        let place = ChipMemory { space: Space::DM, chip: 1 };
        assert_eq!(memories.write(place, 3 * slice - 1, &chunk(&[5, 6])), Ok(()));
        assert_eq!(memories.chips[1][2].dm.bytes().last(), Some(&5));
        assert_eq!(memories.chips[1][3].dm.bytes(), [6]);
        assert!(memories.chips[0][3].dm.bytes().is_empty());
    }
}
