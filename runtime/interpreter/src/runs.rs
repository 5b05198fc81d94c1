//! A paired program as copies of contiguous bytes.

use std::ops::Range;

use visa_loops::{Entry, PairedEntry, PairedProgram, Program, contiguous_paired};

use crate::error::RunError;

/// One copy of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    /// First byte read.
    pub(crate) read: u64,
    /// First byte written.
    pub(crate) write: u64,
    /// Bytes.
    pub(crate) length: usize,
}

/// The copies of a byte program in loop order.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    read: Program,
    write: Program,
    run: u64,
    piece: u64,
}

impl Runs {
    /// Joins the units of `program` into the longest contiguous runs, in pieces of at most `piece` bytes. The
    /// addresses of both sides must be in `0..capacity`, read side first.
    pub(crate) fn new(program: &PairedProgram, piece: u64, capacity: [u64; 2]) -> Result<Self, RunError> {
        for (side, extent, capacity) in
            [("reads", program.read_extent(), capacity[0]), ("writes", program.write_extent(), capacity[1])]
        {
            let (from, to) = extent.map_err(|error| RunError::Address(error.to_string()))?;
            if from < 0 || to.cast_unsigned() > capacity {
                let message =
                    format!("`{program}` {side} addresses {from} to {to}, expected within 0 to {capacity}");
                return Err(RunError::Address(message));
            }
        }
        Ok(Self::of(program, piece))
    }

    /// The same of a program whose addresses are known to be in their memories.
    pub(crate) fn of(program: &PairedProgram, piece: u64) -> Self {
        let run = contiguous_paired(program);
        let program = PairedProgram { packet: run, ..program.clone() };
        Self { read: program.read(), write: program.write(), run, piece: piece.max(1) }
    }

    /// Every copy, in loop order.
    pub(crate) fn copies(&self) -> impl Iterator<Item = Copy> {
        let starts = self.read.addresses().zip(self.write.addresses());
        starts.flat_map(move |(read, write)| self.pieces(read.cast_unsigned(), write.cast_unsigned()))
    }

    /// The copies of the loops from number `inner` on, addresses relative to where those outside have come to
    /// (modulo 2^64).
    pub(crate) fn relative(&self, inner: usize) -> Vec<Copy> {
        let part = |program: &Program| Program {
            entries: program.entries[inner..].to_vec(),
            packet: self.run,
            base: 0,
        };
        let (read, write) = (part(&self.read), part(&self.write));
        let starts = read.addresses().zip(write.addresses());
        starts.flat_map(|(read, write)| self.pieces(read.cast_unsigned(), write.cast_unsigned())).collect()
    }

    /// A run, in pieces.
    fn pieces(&self, read: u64, write: u64) -> impl Iterator<Item = Copy> + use<> {
        let (run, piece) = (self.run, self.piece);
        (0..run.div_ceil(piece)).map(move |number| {
            let offset = number * piece;
            let (read, write) = (read.wrapping_add(offset), write.wrapping_add(offset));
            Copy { read, write, length: piece.min(run - offset) as usize }
        })
    }

    /// Ways to split the loops: numbers of outer loops that leave whole runs to the inner ones, with the times
    /// that those are run then, and the copies that they make each time.
    pub(crate) fn splits(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        let steps = |entries: &[Entry]| entries.iter().map(|entry| entry.limit).product::<u64>();
        let splits = (0..=self.write.entries.len()).map(move |inner| self.write.entries.split_at(inner));
        splits.take_while(move |(_, inner)| steps(inner).is_multiple_of(self.run)).map(
            move |(outer, inner)| {
                (outer.len(), steps(outer), steps(inner) / self.run * self.run.div_ceil(self.piece))
            },
        )
    }

    /// Where the loops from number `inner` on begin, on both sides, each time they are run.
    pub(crate) fn starts(&self, inner: usize) -> Vec<(u64, u64)> {
        let outer = |program: &Program| Program {
            entries: program.entries[..inner].to_vec(),
            packet: 1,
            base: program.base,
        };
        let (read, write) = (outer(&self.read), outer(&self.write));
        let starts = read.addresses().zip(write.addresses());
        starts.map(|(read, write)| (read.cast_unsigned(), write.cast_unsigned())).collect()
    }

    /// The bytes that the loops from number `inner` on write, from where they begin.
    pub(crate) fn written(&self, inner: usize) -> Option<Range<i64>> {
        let inner = Program { entries: self.write.entries[inner..].to_vec(), packet: self.run, base: 0 };
        inner.extent().ok().map(|(start, end)| start..end)
    }
}

/// The byte program of a buffer's layout: element numbers on the read side become offsets into the array's bytes.
/// `None` past 64 bits.
pub(crate) fn layout_bytes(layout: &PairedProgram, element: u64) -> Option<PairedProgram> {
    let element_stride = i64::try_from(element).ok()?;
    let mut entries = Vec::with_capacity(layout.entries.len() + 1);
    for entry in &layout.entries {
        entries.push(PairedEntry { read: entry.read.scaled(element)?, ..entry.clone() });
    }
    entries.push(PairedEntry::new(element, 1, 1));
    Some(PairedProgram {
        entries,
        packet: 1,
        read_base: layout.read_base.checked_mul(element_stride)?,
        write_base: layout.write_base,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies(text: &str, piece: u64) -> Vec<(u64, u64, usize)> {
        let program: PairedProgram = text.parse().unwrap();
        let runs = Runs::new(&program, piece, [1 << 30, 1 << 30]).unwrap();
        runs.copies().map(|copy| (copy.read, copy.write, copy.length)).collect()
    }

    #[test]
    fn rows_that_follow_each_other_on_both_sides_are_one_run() {
        assert_eq!(copies("[3 : 8 -> 8, 8 : 1 -> 1] : 8 @ 5 -> 7", 1 << 16), [(5, 7, 24)]);
    }

    #[test]
    fn a_gap_on_one_side_ends_a_run() {
        assert_eq!(copies("[2 : 8 -> 16, 8 : 1 -> 1] : 8", 1 << 16), [(0, 0, 8), (8, 16, 8)]);
    }

    #[test]
    fn long_runs_are_cut_into_pieces() {
        assert_eq!(copies("[10 : 1 -> 1] : 1", 4), [(0, 0, 4), (4, 4, 4), (8, 8, 2)]);
    }

    #[test]
    fn a_broadcast_of_one_unit_is_a_copy_each() {
        assert_eq!(copies("[3 : 0 -> 1] : 1 @ 9 -> 0", 64), [(9, 0, 1), (9, 1, 1), (9, 2, 1)]);
    }

    #[test]
    fn addresses_outside_the_memory_are_refused() {
        let program: PairedProgram = "[8 : 1 -> 1] : 8 @ 2 -> 3".parse().unwrap();
        assert!(Runs::new(&program, 8, [10, 11]).is_ok());
        let read = Runs::new(&program, 8, [9, 11]).unwrap_err().to_string();
        assert!(read.contains("reads addresses 2 to 10, expected within 0 to 9"), "{read}");
        let write = Runs::new(&program, 8, [10, 10]).unwrap_err().to_string();
        assert!(write.contains("writes addresses 3 to 11, expected within 0 to 10"), "{write}");
        let below: PairedProgram = "[8 : -1 -> 1] : 1 @ 6 -> 0".parse().unwrap();
        assert!(Runs::new(&below, 8, [10, 10]).is_err());
    }

    #[test]
    fn a_layout_counts_elements_on_its_read_side() {
        let layout: PairedProgram = "[4 : 3 -> 100] : 1 @ 2 -> 7".parse().unwrap();
        let bytes = layout_bytes(&layout, 2).unwrap();
        assert_eq!(bytes, "[4 : 6 -> 100, 2 : 1 -> 1] : 1 @ 4 -> 7".parse().unwrap());
        let far: PairedProgram = "[1 : 9223372036854775807 -> 0] : 1".parse().unwrap();
        assert_eq!(layout_bytes(&far, 2), None);
    }
}
