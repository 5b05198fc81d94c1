//! The cache between the tensor register file and the Reducer (book 18).
//!
//! A row of the file is two bank columns, which take turns every 32 bytes. A read that misses the cache occupies
//! the bank columns it reads for its cycle; a hit leaves them to a load. The cache is direct mapped and the same
//! in every row: all rows read at the same address.

use visa_loops::{Program, Stride};
use visa_machine::Machine;

/// Most columns of banks.
pub const COLUMNS_MAX: usize = 2;

/// Reads that are followed one by one. Loops that repeat the same reads are followed twice, regardless of their limit.
const WALK_MAX: u64 = 1 << 18;

/// Cache behavior of the reads of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheReads {
    /// Reads, one a cycle.
    pub reads: u64,
    /// Those that miss.
    pub misses: u64,
    /// Columns of banks.
    pub columns: usize,
    /// Cycles in which each column is occupied.
    pub occupied: [u64; COLUMNS_MAX],
    /// True if a load that alternates between the columns, as loads do, falls into step with the reads: no column is
    /// occupied two cycles in a row, and no read takes all of them.
    pub in_step: bool,
}

impl CacheReads {
    /// Follows the `reads` of `loops`, whose addresses are bytes from the start of a row. Past 2^18 reads that
    /// differ, every read counts as a miss: a bound from above.
    #[must_use]
    pub fn of(loops: &Program, reads: u64, machine: &Machine) -> Self {
        let memory = &machine.memory;
        let columns = (memory.trf_bank_columns as usize).clamp(1, COLUMNS_MAX);
        let mut walk = Walk {
            width: memory.trf_bank_width.max(1),
            size: loops.packet.max(1),
            tags: vec![None; memory.trf_cache_rows as usize * columns],
            last: 0,
            left: WALK_MAX,
            found: Self { reads: 0, misses: 0, columns, occupied: [0; COLUMNS_MAX], in_step: true },
        };
        if walk.run(loops.clone()).is_some() {
            return walk.found;
        }
        Self { reads, misses: reads, columns, occupied: [reads; COLUMNS_MAX], in_step: false }
    }

    /// Cycles that `writes` flits of a load take in parallel with these reads, which are spread over `cycles` cycles:
    /// a read goes first (book 18). `None` if one of the columns is never free.
    #[must_use]
    pub fn beside(&self, writes: u64, cycles: u64) -> Option<u64> {
        if self.in_step || self.misses == 0 {
            return Some(writes);
        }
        let share = u128::from(writes.div_ceil(self.columns as u64));
        let mut taken = 0_u128;
        for &occupied in &self.occupied[..self.columns] {
            let free = cycles.checked_sub(occupied).filter(|&free| free > 0)?;
            taken += (share * u128::from(cycles)).div_ceil(u128::from(free));
        }
        u64::try_from(taken).ok()
    }
}

struct Walk {
    width: u64,
    size: u64,
    /// The line that each entry of the cache holds.
    tags: Vec<Option<u64>>,
    /// The columns that the last read occupied, a bit each.
    last: u8,
    left: u64,
    found: CacheReads,
}

impl Walk {
    /// Runs the loops; `None` past the bound.
    fn run(&mut self, loops: Program) -> Option<()> {
        let repeats = |entry: &visa_loops::Entry| entry.limit > 1 && entry.stride == Stride::Fixed(0);
        let rest = Program { entries: loops.entries.get(1..).unwrap_or_default().to_vec(), ..loops.clone() };
        match loops.entries.first() {
            Some(entry) if rest.accesses().is_some() && loops.entries.iter().any(repeats) => {
                if repeats(entry) {
                    return self.repeat(entry.limit, &rest);
                }
                (0..entry.limit).try_for_each(|iteration| {
                    self.run(Program { base: loops.base + entry.stride.offset(iteration), ..rest.clone() })
                })
            }
            Some(_) | None => loops.addresses().try_for_each(|address| self.read(address)),
        }
    }

    /// Loops that run several times. The final content of a cache entry depends on its last read only, so the second
    /// iteration ends as the first did, and all later ones are like the second.
    fn repeat(&mut self, times: u64, rest: &Program) -> Option<()> {
        self.run(rest.clone())?;
        let before = self.found;
        self.run(rest.clone())?;
        let more = |now: u64, before: u64| now.saturating_add((now - before).saturating_mul(times - 2));
        self.found.reads = more(self.found.reads, before.reads);
        self.found.misses = more(self.found.misses, before.misses);
        for (now, before) in self.found.occupied.iter_mut().zip(before.occupied) {
            *now = more(*now, before);
        }
        Some(())
    }

    fn read(&mut self, address: i64) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let first = address.max(0).cast_unsigned();
        let mut occupied = 0_u8;
        for line in first / self.width..=(first + self.size - 1) / self.width {
            let set = (line % self.tags.len() as u64) as usize;
            if self.tags[set].replace(line) != Some(line) {
                occupied |= 1 << (line % self.found.columns as u64);
            }
        }
        self.found.reads += 1;
        self.found.misses += u64::from(occupied != 0);
        for (column, cycles) in self.found.occupied.iter_mut().enumerate() {
            *cycles += u64::from(occupied >> column & 1);
        }
        let all = (1_u8 << self.found.columns) - 1;
        self.found.in_step &= occupied & self.last == 0 && occupied != all;
        self.last = occupied;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(loops: &str) -> CacheReads {
        let loops: Program = loops.parse().unwrap();
        CacheReads::of(&loops, loops.accesses().unwrap(), &Machine::rngd())
    }

    fn found(loops: &str) -> (u64, u64, [u64; 2], bool) {
        let CacheReads { reads, misses, occupied, in_step, .. } = reads(loops);
        (reads, misses, occupied, in_step)
    }

    #[test]
    fn what_fits_misses_once() {
        // 4 rows of both columns are 256 bytes: the second time hits. Reads of 64 bytes take both columns.
        assert_eq!(found("[100 : 0, 256 : 1] : 64"), (400, 4, [4, 4], false));
        assert_eq!(found("[100 : 0, 256 : 1] : 32"), (800, 8, [4, 4], true));
        // Two reads a line: the second one hits.
        assert_eq!(found("[64 : 1] : 16"), (4, 2, [1, 1], true));
        // One read, which takes both columns.
        assert_eq!(found("[64 : 1] : 64"), (1, 1, [1, 1], false));
    }

    #[test]
    fn one_line_more_shares_an_entry() {
        // Lines 0 and 8 take turns in entry 0: 9 misses the first time, then those two. Line 8 and the next line 0
        // are of the same column, one right after the other.
        assert_eq!(found("[100 : 0, 288 : 1] : 32"), (900, 9 + 99 * 2, [5 + 99 * 2, 4], false));
    }

    #[test]
    fn what_does_not_fit_always_misses() {
        assert_eq!(found("[2 : 0, 8192 : 1] : 64"), (256, 256, [256, 256], false));
        assert_eq!(found("[2 : 0, 8192 : 1] : 32"), (512, 512, [256, 256], true));
        assert_eq!(found("[4 : 64, 32 : 1] : 32"), (4, 4, [4, 0], false));
        // Each address four times in a row.
        assert_eq!(found("[8 : 512, 4 : 0, 32 : 1] : 32"), (32, 8, [8, 0], true));
    }

    #[test]
    fn repetition_is_followed_twice() {
        // 2^26 reads in three nested repetitions; their period has 4.
        assert_eq!(found("[256 : 0, 256 : 0, 256 : 0, 256 : 1] : 64"), (1 << 26, 4, [4, 4], false));
        // A repetition inside loops that move: 65 lines of 8192 bytes apart would not be a register file, but a
        // bound.
        let long = reads("[32768 : 1, 2 : 0, 8 : 1, 32 : 0] : 1");
        assert_eq!((long.reads, long.misses, long.in_step), (1 << 24, 1 << 24, false));
    }

    #[test]
    fn a_load_waits_for_the_misses() {
        // Both columns occupied in every cycle: no write. With a read every second cycle: each write takes two.
        assert_eq!(reads("[2 : 0, 8192 : 1] : 64").beside(10, 256), None);
        assert_eq!(reads("[2 : 0, 8192 : 1] : 64").beside(10, 512), Some(20));
        // One column occupied in every cycle: half of the writes never go.
        assert_eq!(reads("[4 : 64, 32 : 1] : 32").beside(10, 4), None);
        // In step.
        assert_eq!(reads("[2 : 0, 8192 : 1] : 32").beside(10, 512), Some(10));
        // 45 writes to each column: 45 * 900 / (900 - 203) = 58.1, 45 * 900 / (900 - 4) = 45.2.
        assert_eq!(reads("[100 : 0, 288 : 1] : 32").beside(90, 900), Some(59 + 46));
    }
}
