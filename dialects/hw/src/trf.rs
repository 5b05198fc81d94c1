//! Regions of the tensor register file (book 18).

use crate::clauses::{machine, word};
use std::ops::Range;
use visa_engine::{Access, Space};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;

/// The clause kind of a region: the whole file, or a half of each row.
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
    /// The region that the lead clause names.
    pub(crate) fn read(op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let pitch = machine(op).memory.trf_bytes_per_row;
        let half = pitch / 2;
        let (start, bytes) = match &*word(op, "region")? {
            "first" => (0, half),
            "second" => (half, half),
            _ => (0, pitch),
        };
        Ok(Self { start, bytes, pitch })
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
