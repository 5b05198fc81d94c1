//! Regions of the tensor register file (book 18).

use std::ops::Range;
use visa_engine::words::RegionName;
use visa_engine::{Access, Space};
use visa_machine::Machine;

/// The same part of every row. Fewer rows than there are share it among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Where it starts in a bank row, bytes.
    pub(crate) start: u64,
    /// Its bytes in a row.
    pub(crate) bytes: u64,
    /// From one bank row to the next, bytes.
    pitch: u64,
    /// Its bytes in a bank row.
    pub(crate) width: u64,
    /// Rows: the bank rows that these leave extend them.
    rows: u64,
}

impl Region {
    /// The region called `name` of `rows` rows.
    pub(crate) fn of(name: RegionName, rows: u64, machine: &Machine) -> Self {
        let pitch = machine.memory.trf_bytes_per_row;
        let (width, bytes) = (pitch / 2, machine.trf_half_bytes(rows));
        match name {
            RegionName::First => Self { start: 0, bytes, pitch, width, rows },
            RegionName::Second => Self { start: width, bytes, pitch, width, rows },
            RegionName::Full => {
                Self { start: 0, bytes: machine.trf_row_bytes(rows), pitch, width: pitch, rows }
            }
        }
    }

    /// The byte at `address` of the region in row `row`, in the register file: the row's bytes beyond its own bank
    /// row are in those that no row has (book 18, the address's bits).
    pub(crate) fn at(&self, row: u64, address: u64) -> u64 {
        let (bank_row, byte) = (address / self.width, address % self.width);
        (row + bank_row * self.rows) * self.pitch + self.start + byte
    }

    /// The parts of a range of the region that are each in one bank row.
    pub(crate) fn parts(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
        let (width, end) = (self.width, range.end);
        let next = move |at: &u64| Some(at / width * width + width).filter(|next| *next < end);
        let starts = std::iter::successors((range.start < end).then_some(range.start), next);
        starts.map(move |start| start..(start / width * width + width).min(end))
    }

    /// Returns true if a row has more than one bank row.
    pub(crate) fn spans(&self) -> bool {
        self.bytes > self.width
    }

    /// Returns true if a read of `bytes` bytes at `address` of the region goes on into another bank row.
    pub(crate) fn crosses(&self, address: u64, bytes: u64) -> bool {
        address % self.width + bytes > self.width
    }

    /// The accesses of each row to the same `range` of the region.
    pub(crate) fn accesses(&self, rows: u64, range: Range<u64>, write: bool) -> Vec<Access> {
        let of_row = |row| self.parts(range.clone()).map(move |part| (row, part));
        let access = |(row, part): (u64, Range<u64>)| {
            let start = self.at(row, part.start);
            Access { space: Space::Trf, write, range: start..start + (part.end - part.start) }
        };
        (0..rows).flat_map(of_row).map(access).collect()
    }
}
