//! Regions of the tensor register file (book 18).

use std::ops::Range;
use visa_engine::{Access, Space};
use visa_machine::Machine;

/// The clause kind of a region: the whole file, which fewer rows than there are share among them, or a half of each
/// row.
pub(crate) const REGION: &[&str] = &["full", "first", "second"];

/// The same part of every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Where it starts in a row, bytes.
    pub(crate) start: u64,
    /// Its bytes in a row.
    pub(crate) bytes: u64,
    /// From one row to the next, bytes.
    pub(crate) pitch: u64,
}

impl Region {
    /// The region that a [`REGION`] clause names, of so many rows.
    pub(crate) fn of(name: &str, rows: u64, machine: &Machine) -> Self {
        let pitch = machine.memory.trf_bytes_per_row;
        let half = pitch / 2;
        match name {
            "first" => Self { start: 0, bytes: half, pitch },
            "second" => Self { start: half, bytes: half, pitch },
            _ => {
                let whole = machine.trf_row_bytes(rows);
                Self { start: 0, bytes: whole, pitch: whole }
            }
        }
    }

    /// The byte at `address` of the region in row `row`, in the register file.
    pub(crate) fn at(&self, row: u64, address: u64) -> u64 {
        row * self.pitch + self.start + address
    }

    /// One access a row to the same `range` of the region.
    pub(crate) fn accesses(&self, rows: u64, range: Range<u64>, write: bool) -> Vec<Access> {
        let access = |row| self.at(row, range.start)..self.at(row, range.end);
        (0..rows).map(|row| Access { space: Space::Trf, write, range: access(row) }).collect()
    }
}
