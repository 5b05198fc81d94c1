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
        Self { entries, counters: vec![0; entries.len()], step, next: (!empty).then_some(program.base) }
    }

    /// Adds `step` to the counters, a mixed-radix number whose least digit is the innermost loop.
    fn advance(&mut self, mut address: i64) -> Option<i64> {
        let mut carry = self.step;
        for (entry, counter) in self.entries.iter().zip(&mut self.counters).rev() {
            let room = entry.limit - *counter;
            if carry < room {
                *counter += carry;
                return Some(moved(address, carry, entry.stride));
            }
            let past = carry - room;
            let wrapped = past % entry.limit;
            address = moved(address, wrapped.wrapping_sub(*counter), entry.stride);
            *counter = wrapped;
            carry = 1 + past / entry.limit;
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

/// `address + iterations * stride` modulo 2^64, where negative iterations are their two's complement.
fn moved(address: i64, iterations: u64, stride: i64) -> i64 {
    address.wrapping_add(iterations.cast_signed().wrapping_mul(stride))
}
