//! Programs: loop entries, a packet size and a base address.

use std::fmt;

use crate::error::{SeqError, code};

/// One loop of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Iterations.
    pub limit: u64,
    /// Distance between the addresses of two iterations, in the program's unit; 0 is a broadcast.
    pub stride: i64,
}

/// Nested loops over addresses (book 07).
///
/// The unit of strides, packet and base is the element or the byte; [`Program::to_bytes`] goes from
/// the one to the other. The loops visit single units: the innermost entries cover the packet too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// The loops, outermost first.
    pub entries: Vec<Entry>,
    /// Units that one access transfers.
    pub packet: u64,
    /// Address of the first unit.
    pub base: i64,
}

/// One loop of a DMA program: a read and a write side that iterate together (book 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PairedEntry {
    /// Iterations.
    pub limit: u64,
    /// Distance between the read addresses of two iterations, in the program's unit.
    pub read: i64,
    /// Distance between the write addresses of two iterations, in the program's unit.
    pub write: i64,
}

/// A DMA engine's program: what the read side delivers, the write side stores (book 10).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PairedProgram {
    /// The loops, outermost first.
    pub entries: Vec<PairedEntry>,
    /// Units that one access transfers.
    pub packet: u64,
    /// Address of the first unit read.
    pub read_base: i64,
    /// Address of the first unit written.
    pub write_base: i64,
}

/// What the rewrites and rules need of a loop with `SIDES` address streams, so that each is written
/// once for [`Entry`] and [`PairedEntry`].
pub(crate) trait Loop<const SIDES: usize>: Copy + fmt::Display {
    fn new(limit: u64, strides: [i64; SIDES]) -> Self;
    fn limit(&self) -> u64;
    fn strides(&self) -> [i64; SIDES];
}

impl Loop<1> for Entry {
    fn new(limit: u64, [stride]: [i64; 1]) -> Self {
        Self { limit, stride }
    }

    fn limit(&self) -> u64 {
        self.limit
    }

    fn strides(&self) -> [i64; 1] {
        [self.stride]
    }
}

impl Loop<2> for PairedEntry {
    fn new(limit: u64, [read, write]: [i64; 2]) -> Self {
        Self { limit, read, write }
    }

    fn limit(&self) -> u64 {
        self.limit
    }

    fn strides(&self) -> [i64; 2] {
        [self.read, self.write]
    }
}

impl Program {
    /// Units visited: the product of the limits. `None` past `u64`.
    pub fn steps(&self) -> Option<u64> {
        steps(&self.entries)
    }

    /// Accesses made: steps / packet. `None` past `u64`, or where the packet is 0 or does not divide
    /// the steps.
    pub fn accesses(&self) -> Option<u64> {
        accesses(self.steps(), self.packet)
    }

    /// The lowest address touched and the one after the highest, in the program's unit. A program
    /// without steps touches nothing: both are its base.
    pub fn extent(&self) -> Result<(i64, i64), SeqError> {
        extent(self.base, &self.entries).ok_or_else(|| {
            let message = format!("the addresses of `{self}` do not fit a signed 64-bit integer");
            SeqError::new(code::ADDRESS, message)
        })
    }
}

impl PairedProgram {
    /// Units moved: the product of the limits. `None` past `u64`.
    pub fn steps(&self) -> Option<u64> {
        steps(&self.entries)
    }

    /// Accesses made on each side: steps / packet. `None` past `u64`, or where the packet is 0 or
    /// does not divide the steps.
    pub fn accesses(&self) -> Option<u64> {
        accesses(self.steps(), self.packet)
    }

    /// The read side alone.
    pub fn read(&self) -> Program {
        self.side(self.read_base, |entry| entry.read)
    }

    /// The write side alone.
    pub fn write(&self) -> Program {
        self.side(self.write_base, |entry| entry.write)
    }

    /// [`Program::extent`] of the read side.
    pub fn read_extent(&self) -> Result<(i64, i64), SeqError> {
        self.read().extent()
    }

    /// [`Program::extent`] of the write side.
    pub fn write_extent(&self) -> Result<(i64, i64), SeqError> {
        self.write().extent()
    }

    fn side(&self, base: i64, stride: impl Fn(&PairedEntry) -> i64) -> Program {
        let entries = self.entries.iter().map(|e| Entry { limit: e.limit, stride: stride(e) }).collect();
        Program { entries, packet: self.packet, base }
    }
}

fn steps<const SIDES: usize, L: Loop<SIDES>>(entries: &[L]) -> Option<u64> {
    if entries.iter().any(|entry| entry.limit() == 0) {
        return Some(0);
    }
    entries.iter().try_fold(1u64, |product, entry| product.checked_mul(entry.limit()))
}

fn accesses(steps: Option<u64>, packet: u64) -> Option<u64> {
    let steps = steps?;
    (steps.checked_rem(packet)? == 0).then(|| steps / packet)
}

fn extent(base: i64, entries: &[Entry]) -> Option<(i64, i64)> {
    if entries.iter().any(|entry| entry.limit == 0) {
        return Some((base, base));
    }
    let (mut min, mut max) = (i128::from(base), i128::from(base));
    for entry in entries {
        let last = i128::from(entry.limit - 1) * i128::from(entry.stride);
        let end = if last < 0 { &mut min } else { &mut max };
        *end = end.checked_add(last)?;
    }
    Some((i64::try_from(min).ok()?, i64::try_from(max.checked_add(1)?).ok()?))
}
