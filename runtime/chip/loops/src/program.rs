//! Programs: loop entries, a packet size and a base address.

use std::fmt;
use std::ops::Range;

use crate::error::{SeqError, code};
use crate::stride::Stride;

/// One loop of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Iterations.
    pub limit: u64,
    /// Distance of the iterations, in the program's unit.
    pub stride: Stride,
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PairedEntry {
    /// Iterations.
    pub limit: u64,
    /// Distance of the read addresses of the iterations, in the program's unit.
    pub read: Stride,
    /// Distance of the write addresses of the iterations, in the program's unit.
    pub write: Stride,
}

/// A DMA engine's program: the write side stores the elements of the read side (book 10).
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

/// The interface of a loop with `SIDES` address streams for rewrites and rules, so that each is written once for
/// [`Entry`] and [`PairedEntry`].
pub(crate) trait Loop<const SIDES: usize>: Clone + fmt::Display {
    fn of(limit: u64, strides: [Stride; SIDES]) -> Self;
    fn limit(&self) -> u64;
    fn strides(&self) -> [&Stride; SIDES];

    /// With these distances.
    fn even(limit: u64, strides: [i64; SIDES]) -> Self {
        Self::of(limit, strides.map(Stride::Fixed))
    }

    /// The distances, if the iterations are evenly apart on all sides.
    fn fixed(&self) -> Option<[i64; SIDES]> {
        let mut strides = [0; SIDES];
        for (fixed, stride) in strides.iter_mut().zip(self.strides()) {
            *fixed = stride.fixed()?;
        }
        Some(strides)
    }

    /// Returns true if it is a loop of one iteration that moves nothing.
    fn is_idle(&self) -> bool {
        self.limit() == 1 && self.strides().iter().all(|stride| stride.offset(0) == 0)
    }
}

impl Entry {
    /// An entry of iterations that are evenly apart.
    pub fn new(limit: u64, stride: i64) -> Self {
        Self::even(limit, [stride])
    }
}

impl Loop<1> for Entry {
    fn of(limit: u64, [stride]: [Stride; 1]) -> Self {
        Self { limit, stride }
    }

    fn limit(&self) -> u64 {
        self.limit
    }

    fn strides(&self) -> [&Stride; 1] {
        [&self.stride]
    }
}

impl PairedEntry {
    /// An entry of iterations that are evenly apart on both sides.
    pub fn new(limit: u64, read: i64, write: i64) -> Self {
        Self::even(limit, [read, write])
    }
}

impl Loop<2> for PairedEntry {
    fn of(limit: u64, [read, write]: [Stride; 2]) -> Self {
        Self { limit, read, write }
    }

    fn limit(&self) -> u64 {
        self.limit
    }

    fn strides(&self) -> [&Stride; 2] {
        [&self.read, &self.write]
    }
}

impl Program {
    /// The iterations of its longest loop as two programs; `None` if no loop has two iterations.
    #[must_use]
    pub fn halves(&self) -> Option<[Self; 2]> {
        self.halves_of((0..self.entries.len()).max_by_key(|&at| self.entries[at].limit)?)
    }

    /// The iterations of one of its loops as two programs; `None` if it has not two.
    #[must_use]
    pub fn halves_of(&self, at: usize) -> Option<[Self; 2]> {
        let entry = self.entries.get(at)?;
        let middle = Some(entry.limit / 2).filter(|&middle| middle > 0)?;
        let part = |range: Range<u64>, base: i64| {
            let limit = range.end - range.start;
            let stride = match entry.stride.table() {
                None => entry.stride.clone(),
                Some(_) => range.map(|step| entry.stride.offset(step)).collect::<Vec<_>>().into(),
            };
            let mut part = Self { base, ..self.clone() };
            part.entries[at] = Entry { limit, stride };
            part
        };
        let moved = entry.stride.fixed().map_or(0, |stride| stride.wrapping_mul(middle.cast_signed()));
        Some([part(0..middle, self.base), part(middle..entry.limit, self.base.wrapping_add(moved))])
    }

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
        self.side(self.read_base, |entry| &entry.read)
    }

    /// The write side alone.
    pub fn write(&self) -> Program {
        self.side(self.write_base, |entry| &entry.write)
    }

    /// [`Program::extent`] of the read side.
    pub fn read_extent(&self) -> Result<(i64, i64), SeqError> {
        self.read().extent()
    }

    /// [`Program::extent`] of the write side.
    pub fn write_extent(&self) -> Result<(i64, i64), SeqError> {
        self.write().extent()
    }

    fn side(&self, base: i64, stride: impl Fn(&PairedEntry) -> &Stride) -> Program {
        let entries =
            self.entries.iter().map(|e| Entry { limit: e.limit, stride: stride(e).clone() }).collect();
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
        let (least, largest) = entry.stride.reach(entry.limit)?;
        (min, max) = (min.checked_add(least)?, max.checked_add(largest)?);
    }
    Some((i64::try_from(min).ok()?, i64::try_from(max.checked_add(1)?).ok()?))
}
