//! Demand of a walk through the data memory of a slice on its banks (book 11, "Bank Starvation").
//!
//! Each bank serves one access a cycle. If several requesters want it, they are served in this order: fetch and commit
//! of the main context, fetch and commit of the sub context, DMA. So two properties of a walk matter: its number of
//! accesses to a bank, and the number of them in a row. A DMA waits for the bank for the latter.

use std::collections::HashMap;
use std::ops::Range;

use visa_loops::{Entry, Program, Stride, gcd};
use visa_machine::Machine;

/// The accesses of a walk to each bank of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankAccesses {
    /// Accesses to each bank. One that is wider than a bank is one to each bank that it touches.
    pub all: Vec<u64>,
    /// The most accesses to each bank in a row: no access between them leaves the bank out.
    pub in_a_row: Vec<u64>,
}

impl BankAccesses {
    /// Demand of a walk whose addresses are bytes. Accesses that are not contiguous, which the verifier refuses, count
    /// for each bank: a bound from above.
    #[must_use]
    pub fn of(walk: &Program, machine: &Machine) -> Self {
        let banks = machine.memory.dm_banks;
        let pattern = match single_accesses(walk) {
            Some(accesses) => Walks::new(&accesses, walk.packet, machine).from(0, accesses.base),
            None => {
                let accesses = walk.accesses().unwrap_or(u64::MAX);
                let every = Bank { all: accesses, first: accesses, last: accesses, longest: accesses };
                Pattern { accesses, banks: vec![every; banks as usize] }
            }
        };
        let of = |field: fn(&Bank) -> u64| pattern.banks.iter().map(field).collect();
        Self { all: of(|bank| bank.all), in_a_row: of(|bank| bank.longest) }
    }

    /// Greatest demand of the walk on each bank, for any start address.
    #[must_use]
    pub fn anywhere(walk: &Program, machine: &Machine) -> Self {
        let shifted = |by: u64| Program { base: walk.base.wrapping_add(by.cast_signed()), ..walk.clone() };
        let found: Vec<Self> =
            (0..machine.memory.dm_bank_width).map(|by| Self::of(&shifted(by), machine)).collect();
        // A move by the width of a bank turns the banks.
        let most = |of: fn(&Self) -> &Vec<u64>| found.iter().flat_map(of).copied().fold(0, u64::max);
        let banks = machine.memory.dm_banks as usize;
        Self {
            all: vec![most(|found| &found.all); banks],
            in_a_row: vec![most(|found| &found.in_a_row); banks],
        }
    }

    /// The bank that is accessed most often in a row, the first of equals, and how often.
    #[must_use]
    pub fn longest(&self) -> (usize, u64) {
        let first = (0, self.in_a_row.first().copied().unwrap_or_default());
        let rest = self.in_a_row.iter().copied().enumerate().skip(1);
        rest.fold(first, |longest, found| if found.1 > longest.1 { found } else { longest })
    }
}

/// The walk as loops over its accesses instead of its bytes; `None` if the innermost loops hold no whole accesses.
fn single_accesses(walk: &Program) -> Option<Program> {
    let mut accesses = walk.clone();
    accesses.merge();
    let mut left = walk.packet;
    while left > 1 {
        let Entry { limit, stride } = accesses.entries.pop()?;
        if limit > 0 && left.is_multiple_of(limit) {
            // An access begins where the loop does.
            accesses.base = accesses.base.wrapping_add(stride.offset(0));
            left /= limit;
        } else if limit.is_multiple_of(left) {
            let stride = match &stride {
                Stride::Fixed(stride) => Stride::Fixed(stride.wrapping_mul(left.cast_signed())),
                Stride::Table(table) => {
                    table.iter().step_by(left as usize).copied().collect::<Vec<_>>().into()
                }
            };
            accesses.entries.push(Entry { limit: limit / left, stride });
            left = 1;
        } else {
            return None;
        }
    }
    Some(accesses)
}

/// Demand of a part of a walk on a bank.
#[derive(Clone, Copy, Default)]
struct Bank {
    all: u64,
    /// Accesses in a row from the first one on.
    first: u64,
    /// Accesses in a row up to the last one.
    last: u64,
    /// The most in a row.
    longest: u64,
}

/// Demand of a part of a walk on all banks.
#[derive(Clone)]
struct Pattern {
    accesses: u64,
    banks: Vec<Bank>,
}

impl Pattern {
    /// This part, and then another one.
    fn then(&self, next: &Self) -> Self {
        let both = |one: &Bank, other: &Bank| Bank {
            all: one.all.saturating_add(other.all),
            first: if one.first == self.accesses { one.first.saturating_add(other.first) } else { one.first },
            last: if other.last == next.accesses { other.last.saturating_add(one.last) } else { other.last },
            longest: one.longest.max(other.longest).max(one.last.saturating_add(other.first)),
        };
        Self {
            accesses: self.accesses.saturating_add(next.accesses),
            banks: self.banks.iter().zip(&next.banks).map(|(one, other)| both(one, other)).collect(),
        }
    }

    /// An empty part, for `banks` banks.
    fn nothing(banks: usize) -> Self {
        Self { accesses: 0, banks: vec![Bank::default(); banks] }
    }

    /// This part, repeated `times` times.
    fn times(&self, times: u64) -> Self {
        let (mut all, mut power, mut left) = (Self::nothing(self.banks.len()), self.clone(), times);
        while left > 0 {
            if left % 2 == 1 {
                all = all.then(&power);
            }
            left /= 2;
            if left > 0 {
                power = power.then(&power);
            }
        }
        all
    }
}

/// The parts of a walk, by the loop that they begin with and where they begin among the banks.
struct Walks<'a> {
    entries: &'a [Entry],
    /// Bytes of an access.
    packet: u64,
    /// Bytes of a bank, and of all banks together.
    width: u64,
    around: u64,
    known: HashMap<(usize, u64), Pattern>,
}

impl<'a> Walks<'a> {
    fn new(accesses: &'a Program, packet: u64, machine: &Machine) -> Self {
        let width = machine.memory.dm_bank_width;
        let around = width * machine.memory.dm_banks;
        Self { entries: &accesses.entries, packet, width, around, known: HashMap::new() }
    }

    /// Demand of the loops from `depth` on if they begin at an address.
    fn from(&mut self, depth: usize, address: i64) -> Pattern {
        let at = address.rem_euclid(self.around.cast_signed()).cast_unsigned();
        let entries = self.entries;
        let Some(entry) = entries.get(depth) else { return self.access(at) };
        if let Some(known) = self.known.get(&(depth, at)) {
            return known.clone();
        }
        let found = match &entry.stride {
            Stride::Fixed(stride) => {
                let step = stride.rem_euclid(self.around.cast_signed()).cast_unsigned();
                // After `period` iterations the loop is at the first one's bank again.
                let period = self.around / gcd(step, self.around);
                let (whole, rest) = (entry.limit / period, self.turn(depth, at, 0..entry.limit % period));
                if whole > 0 { self.turn(depth, at, 0..period).times(whole).then(&rest) } else { rest }
            }
            Stride::Table(_) => self.turn(depth, at, 0..entry.limit),
        };
        self.known.insert((depth, at), found.clone());
        found
    }

    /// Demand of some iterations of a loop.
    fn turn(&mut self, depth: usize, at: u64, iterations: Range<u64>) -> Pattern {
        let entries = self.entries;
        let stride = &entries[depth].stride;
        let banks = (self.around / self.width) as usize;
        iterations.fold(Pattern::nothing(banks), |sum, iteration| {
            let moved = at.cast_signed().wrapping_add(stride.offset(iteration));
            sum.then(&self.from(depth + 1, moved))
        })
    }

    /// A single access.
    fn access(&self, at: u64) -> Pattern {
        let banks = self.around / self.width;
        let mut one = Pattern { accesses: 1, ..Pattern::nothing(banks as usize) };
        let (first, last) = (at / self.width, (at + self.packet.max(1) - 1) / self.width);
        for word in (first..=last).take(banks as usize) {
            one.banks[(word % banks) as usize] = Bank { all: 1, first: 1, last: 1, longest: 1 };
        }
        one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_support::Random;

    /// Access by access.
    fn followed(walk: &Program, machine: &Machine) -> BankAccesses {
        let (banks, width) = (machine.memory.dm_banks, machine.memory.dm_bank_width);
        let mut found = BankAccesses { all: vec![0; banks as usize], in_a_row: vec![0; banks as usize] };
        let mut runs = vec![0; banks as usize];
        for address in walk.addresses() {
            for bank in 0..banks {
                let mut bytes = address..address + walk.packet.cast_signed();
                let own = bank as usize;
                if bytes.any(|byte| byte.cast_unsigned() / width % banks == bank) {
                    found.all[own] += 1;
                    runs[own] += 1;
                    found.in_a_row[own] = found.in_a_row[own].max(runs[own]);
                } else {
                    runs[own] = 0;
                }
            }
        }
        found
    }

    fn of(text: &str) -> BankAccesses {
        BankAccesses::of(&text.parse().unwrap(), &Machine::rngd())
    }

    #[test]
    fn runs_on_a_bank_are_those_of_book_11() {
        // 128 bytes are in all 16 banks (B1).
        let found = of("[8192 : 1] : 32");
        assert_eq!((found.all, found.in_a_row), (vec![64; 16], vec![1; 16]));
        // Every access is 128 bytes further: bank 3 alone, 64 times in a row.
        let found = of("[64 : 128, 8 : 1] : 8 @ 24");
        assert_eq!((found.longest(), found.all.iter().sum::<u64>()), ((3, 64), 64));
        assert_eq!(of("[63 : 128, 8 : 1] : 8").longest(), (0, 63));
        // Two banks that alternate.
        assert_eq!(of("[100 : 128, 2 : 8, 8 : 1] : 8").longest(), (0, 1));
        // The access straddles two banks; the second is touched by the next one too.
        assert_eq!(of("[2 : 8, 8 : 1] : 8 @ 4").in_a_row[..4], [1, 2, 1, 0]);
    }

    #[test]
    fn a_walk_of_any_length_is_counted_at_once() {
        let found = of("[65536 : 0, 65536 : 0, 65536 : 128, 8 : 1] : 8");
        assert_eq!(found.longest(), (0, 1 << 48));
    }

    #[test]
    fn wherever_a_walk_begins_is_no_less_than_from_any_byte() {
        let machine = Machine::rngd();
        let walk: Program = "[9 : 128, 2 : 8, 8 : 1] : 8".parse().unwrap();
        let anywhere = BankAccesses::anywhere(&walk, &machine);
        // From an odd byte, the bank between the two is touched by both.
        assert_eq!(anywhere.in_a_row, [18; 16]);
        for base in 0..128 {
            let found = BankAccesses::of(&Program { base, ..walk.clone() }, &machine);
            assert!(found.all.iter().zip(&anywhere.all).all(|(one, most)| one <= most), "{base}");
            assert!(found.longest().1 <= 18, "{base}");
        }
    }

    #[test]
    fn accesses_are_counted_as_they_are_followed() {
        let machine = Machine::rngd();
        for seed in 0..600 {
            let random = &mut Random(seed);
            let packet = [1, 2, 8, 16, 32][random.below(5)];
            let stride = |random: &mut Random| {
                let unit = [1, 8, 24, 128][random.below(4)];
                unit * (random.below(5) as i64 - 1)
            };
            let mut entries: Vec<Entry> = (0..random.below(3))
                .map(|_| Entry::new(1 + random.below(20) as u64, stride(random)))
                .collect();
            if random.below(4) == 0 {
                let offsets: Vec<i64> = (0..3).map(|_| 8 * random.below(40) as i64).collect();
                entries.push(Entry { limit: 3, stride: offsets.into() });
            }
            // The packet is one loop, a part of one, or two.
            match random.below(3) {
                0 => entries.push(Entry::new(packet, 1)),
                1 => entries.push(Entry::new(packet * (1 + random.below(20) as u64), 1)),
                _ => entries.extend([Entry::new(packet, 1), Entry::new(1, 7)]),
            }
            let walk = Program { entries, packet, base: 4096 + random.below(300) as i64 };
            assert_eq!(BankAccesses::of(&walk, &machine), followed(&walk, &machine), "seed {seed}: {walk}");
        }
    }
}
