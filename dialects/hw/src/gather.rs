//! Short accesses of a nested loop, made in the order of memory where that is cheaper.

use std::ops::Range;
use visa_engine::Bank;
use visa_loops::{Entry, Program, Stride};
use visa_numerics::transposed;

/// Bytes that a processor moves at once between memory and its cache.
const LINE: i64 = 64;

/// Accesses made before the loops around the innermost one move on within their lines: as many lines stay in the
/// cache.
const BLOCK: usize = 256;

/// Accesses whose innermost loop strides through memory, while loops around it stay within a cache line: read in
/// loop order, each line would be loaded once for every access to it. The lines of a block are loaded once for all
/// of them.
pub(crate) struct Gather {
    /// Where the loops outside of those below begin, in loop order.
    starts: Vec<i64>,
    /// Offsets of the loops that stay within a line.
    near: Vec<i64>,
    /// The same as eight neighbours of 2 bytes each, if they are: the offset of the first and the places of all in
    /// `near`.
    squares: Option<Vec<(i64, [usize; 8])>>,
    /// Iterations and stride of the innermost loop.
    limit: usize,
    stride: i64,
}

impl Gather {
    /// Cuts the loops of a program in three; `None` if a stride is a table, or the innermost loop makes several
    /// accesses.
    pub(crate) fn new(program: &Program) -> Option<Self> {
        let entries = match &program.entries[..] {
            [outer @ .., last] if *last == Entry::new(program.packet, 1) => outer,
            entries if program.packet == 1 => entries,
            _ => return None,
        };
        let strides: Vec<i64> = entries.iter().map(|entry| entry.stride.fixed()).collect::<Option<_>>()?;
        let (inner, around) = entries.split_last()?;
        let is_near =
            |entry: &Entry| matches!(entry.stride, Stride::Fixed(stride) if (1..LINE).contains(&stride));
        let near = around.iter().rev().take_while(|entry| is_near(entry)).count();
        let near = around.len() - near;
        let offsets = |entries: &[Entry], base| {
            Program { entries: entries.to_vec(), packet: 1, base }.addresses().collect::<Vec<_>>()
        };
        let (starts, near) = (offsets(&around[..near], program.base), offsets(&around[near..], 0));
        let (limit, stride) = (usize::try_from(inner.limit).ok()?, *strides.last()?);
        let squares = neighbours(&near).filter(|_| limit.is_multiple_of(8));
        Some(Self { starts, near, squares, limit, stride })
    }

    /// Appends `size` bytes for each access, in loop order; `extent` is the range that the program touches. Returns
    /// true if it did: it does not for bytes that were never written, nor for sizes that are seldom short.
    pub(crate) fn read(&self, bank: &Bank, extent: Range<u64>, size: usize, out: &mut Vec<u8>) -> bool {
        let bytes = bank.bytes();
        if usize::try_from(extent.end).is_ok_and(|end| end > bytes.len()) {
            return false;
        }
        match size {
            1 => self.arrays::<1>(bytes, out),
            2 => match &self.squares {
                Some(squares) => self.squares(squares, bytes, out),
                None => self.arrays::<2>(bytes, out),
            },
            4 => self.arrays::<4>(bytes, out),
            8 => self.arrays::<8>(bytes, out),
            _ => return false,
        }
        true
    }

    /// [`Gather::arrays`] of 2 bytes, a square of eight by eight at a time.
    fn squares(&self, squares: &[(i64, [usize; 8])], bytes: &[u8], out: &mut Vec<u8>) {
        let (first, around) = (out.len(), self.near.len() * self.limit);
        out.resize(first + self.starts.len() * around * 2, 0);
        for (&start, out) in self.starts.iter().zip(out[first..].chunks_exact_mut((2 * around).max(1))) {
            for step in (0..self.limit).step_by(8) {
                for (offset, places) in squares {
                    let row = |at: usize| {
                        let at = start + offset + (step + at) as i64 * self.stride;
                        bytes
                            .get(at as usize..)
                            .and_then(|rest| rest.first_chunk().copied())
                            .unwrap_or_default()
                    };
                    for (place, column) in places.iter().zip(transposed(std::array::from_fn(row))) {
                        out[2 * (place * self.limit + step)..][..16].copy_from_slice(&column);
                    }
                }
            }
        }
    }

    fn arrays<const N: usize>(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let (first, around) = (out.len(), self.near.len() * self.limit);
        out.resize(first + self.starts.len() * around * N, 0);
        let (out, _) = out[first..].as_chunks_mut::<N>();
        let block = if self.near.len() > 1 { BLOCK } else { self.limit };
        for (&start, out) in self.starts.iter().zip(out.chunks_exact_mut(around.max(1))) {
            for done in (0..self.limit).step_by(block.max(1)) {
                let count = block.min(self.limit - done);
                for (&near, out) in self.near.iter().zip(out.chunks_exact_mut(self.limit)) {
                    let at = start + near + done as i64 * self.stride;
                    for (at, out) in
                        (0..).map(|step| at + step * self.stride).zip(&mut out[done..done + count])
                    {
                        if let Some(read) = bytes[at as usize..].first_chunk() {
                            *out = *read;
                        }
                    }
                }
            }
        }
    }
}

/// Offsets as eight neighbours of 2 bytes each, in the order of memory: where the first one is, and which these are.
fn neighbours(offsets: &[i64]) -> Option<Vec<(i64, [usize; 8])>> {
    let mut places: Vec<usize> = (0..offsets.len()).collect();
    places.sort_by_key(|&place| offsets[place]);
    let (groups, rest) = places.as_chunks::<8>();
    let follow = |group: &[usize; 8]| group.is_sorted_by(|&left, &right| offsets[right] == offsets[left] + 2);
    let whole = rest.is_empty() && groups.iter().all(follow);
    whole.then(|| groups.iter().map(|group| (offsets[group[0]], *group)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_engine::unwritten::Unwritten;

    #[test]
    fn gathering_reads_what_the_loops_say() {
        let mut bank = Bank::new(Unwritten::STORED);
        bank.write(0, &(0..=255).cycle().take(6000).collect::<Vec<u8>>());
        for program in [
            "[8 : 2, 4 : 16, 90 : 64, 2 : 1] : 2",
            "[3 : 1000, 4 : 8, 5 : 64, 4 : 1] : 4 @ 8",
            "[2 : 0, 3 : 1, 700 : 4] : 1 @ 3",
            "[4 : 8, 2 : 1, 300 : -16, 1 : 1] : 1 @ 5000",
            "[2 : 32, 8 : 1] : 8",
            // Squares: two groups twice, over more than a block, and backwards.
            "[2 : 640, 16 : 2, 264 : 20, 2 : 1] : 2 @ 8",
            "[8 : 2, 16 : -32, 2 : 1] : 2 @ 5000",
            // Not quite: neighbours overlap, or are seven.
            "[2 : 3, 16 : 2, 264 : 20, 2 : 1] : 2 @ 8",
            "[8 : 1, 16 : 32, 2 : 1] : 2",
            "[7 : 2, 16 : 32, 2 : 1] : 2",
        ] {
            let program: Program = program.parse().unwrap();
            let (start, end) = program.extent().unwrap();
            let size = program.packet as usize;
            let (mut found, mut expected) = (vec![7], vec![7]);
            let gather = Gather::new(&program).unwrap();
            assert!(gather.read(&bank, start as u64..end as u64, size, &mut found));
            program.addresses().for_each(|at| bank.read(at as usize..at as usize + size, &mut expected));
            assert_eq!(found, expected, "{program}");
        }
    }

    #[test]
    fn what_was_never_written_and_long_accesses_are_left_to_others() {
        let mut bank = Bank::new(Unwritten::STORED);
        bank.write(0, &[1; 32]);
        let gather = Gather::new(&"[16 : 2] : 1".parse().unwrap()).unwrap();
        assert!(gather.read(&bank, 0..32, 1, &mut Vec::new()));
        assert!(!gather.read(&bank, 0..33, 1, &mut Vec::new()));
        assert!(!gather.read(&bank, 0..32, 16, &mut Vec::new()));
        for program in ["[2 : (0, 8), 8 : 1] : 8", "[2 : 64, 16 : 1] : 8", "[8 : 1] : 8"] {
            assert!(Gather::new(&program.parse().unwrap()).is_none(), "{program}");
        }
    }
}
