//! The addresses that a program visits, in loop order.

use crate::program::{Entry, Program};

/// Iterator over every n-th address of a program; see [`Program::positions`] and
/// [`Program::addresses`].
#[derive(Clone, Debug)]
pub struct Addresses<'a> {
    entries: &'a [Entry],
    counters: Vec<u64>,
    step: u64,
    next: Option<i64>,
}

impl Program {
    /// The address of every unit in loop order. Exact when [`Program::extent`] succeeds; past 64 bits
    /// the addresses wrap.
    pub fn positions(&self) -> Addresses<'_> {
        Addresses::new(self, 1)
    }

    /// The address of the first unit of each access in loop order: every packet-th position. Exact
    /// when [`Program::extent`] succeeds. A packet of 0 makes no access.
    pub fn addresses(&self) -> Addresses<'_> {
        Addresses::new(self, self.packet)
    }
}

impl<'a> Addresses<'a> {
    fn new(program: &'a Program, step: u64) -> Self {
        let entries = &program.entries;
        let empty = step == 0 || entries.iter().any(|entry| entry.limit == 0);
        Self { entries, counters: vec![0; entries.len()], step, next: (!empty).then(|| first(program)) }
    }

    /// Adds `step` to the counters, a mixed-radix number whose least digit is the innermost loop.
    fn advance(&mut self, mut address: i64) -> Option<i64> {
        let mut carry = self.step;
        for (entry, counter) in self.entries.iter().zip(&mut self.counters).rev() {
            let room = entry.limit - *counter;
            if carry < room {
                *counter += carry;
                return Some(moved(address, entry, *counter - carry, *counter));
            }
            let past = carry - room;
            // Most steps go around once, which needs no division.
            let (around, wrapped) =
                if past < entry.limit { (0, past) } else { (past / entry.limit, past % entry.limit) };
            address = moved(address, entry, *counter, wrapped);
            *counter = wrapped;
            carry = 1 + around;
        }
        None
    }
}

impl Iterator for Addresses<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let address = self.next?;
        self.next = self.advance(address);
        Some(address)
    }
}

/// The address of the first iteration: a table need not start at 0.
fn first(program: &Program) -> i64 {
    program.entries.iter().fold(program.base, |address, entry| address.wrapping_add(entry.stride.offset(0)))
}

/// `address`, moved from one iteration of `entry` to another, modulo 2^64.
fn moved(address: i64, entry: &Entry, from: u64, to: u64) -> i64 {
    address.wrapping_sub(entry.stride.offset(from)).wrapping_add(entry.stride.offset(to))
}
