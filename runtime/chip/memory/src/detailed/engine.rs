//! A DMA engine: it carries out its descriptors one after the other. Times are engine cycles.

use super::chip::{Answer, Chip, Owner};
use super::dram::Direction;
use super::pieces::split;
use crate::descriptor::{Descriptor, Memory};
use crate::requests::{Request, Requests, requests};
use visa_loops::{Program, SeqError};
use visa_machine::{Machine, Medium};

/// Totals of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineTotals {
    /// Descriptors.
    pub descriptors: u64,
    /// Requests that it read and wrote, each of up to 256 bytes.
    pub requests: u64,
    /// Bytes that it read and wrote.
    pub bytes: u64,
    /// The cycle in which it was done.
    pub end: u64,
}

/// A descriptor with the programs of its sides.
#[derive(Clone, Debug)]
pub(super) struct Command {
    from: Memory,
    to: Memory,
    read: Program,
    write: Program,
    by_pcie: bool,
}

/// One side of a descriptor under way.
#[derive(Clone, Debug)]
struct Side<'a> {
    memory: Memory,
    direction: Direction,
    /// See [`Chip::unit`].
    unit: u64,
    requests: Requests<'a>,
    /// Rest of the request that is being issued; `None` if all are.
    rest: Option<Request>,
    /// True if a part of that request has been issued.
    begun: bool,
    /// Requests issued.
    issued: u64,
}

/// A request in flight, first to read and then to write.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Parts of it that are under way.
    open: u32,
    /// When the parts that are not are done.
    at: u64,
    bytes: u64,
}

/// A descriptor under way. Requests are numbered, and are issued, sent by PCIe and retired in their order.
#[derive(Clone, Debug)]
struct EngineWork<'a> {
    by_pcie: bool,
    read: Side<'a>,
    write: Side<'a>,
    /// Requests whose data have been read, and have crossed PCIe where they have to; perhaps later than now.
    arrived: u64,
    /// Requests that have been written.
    retired: u64,
}

/// An engine.
#[derive(Clone, Debug)]
pub(super) struct Runner<'a> {
    commands: std::slice::Iter<'a, Command>,
    machine: &'a Machine,
    number: u32,
    work: Option<EngineWork<'a>>,
    /// The first cycle of the descriptor under way.
    start: u64,
    slots: Vec<Slot>,
    totals: EngineTotals,
}

impl Slot {
    const fn is_done(&self, now: u64) -> bool {
        self.open == 0 && self.at <= now
    }
}

impl Command {
    pub(super) fn new(descriptor: &Descriptor) -> Self {
        Self {
            from: descriptor.from,
            to: descriptor.to,
            read: descriptor.read(),
            write: descriptor.write(),
            by_pcie: descriptor.by_pcie(),
        }
    }

    /// Both sides: memory and program.
    pub(super) fn sides(&self) -> [(Memory, &Program); 2] {
        [(self.from, &self.read), (self.to, &self.write)]
    }
}

impl<'a> Side<'a> {
    fn new(
        (memory, program): (Memory, &'a Program),
        direction: Direction,
        machine: &Machine,
        chips: &[Chip],
    ) -> Result<Self, SeqError> {
        let mut requests = requests(program, machine)?;
        let rest = requests.next();
        let unit = chips[memory.chip as usize].unit(memory.medium);
        Ok(Self { memory, direction, unit, requests, rest, begun: false, issued: 0 })
    }

    /// Issues a part of the next request. Returns the next cycle in which to try.
    fn issue(&mut self, now: u64, chips: &mut [Chip], owner: Owner, slot: &mut Slot) -> u64 {
        let Some(rest) = self.rest else { return u64::MAX };
        let (piece, after) = split(rest, self.unit);
        let chip = &mut chips[self.memory.chip as usize];
        match chip.access(now, self.memory.medium, piece, self.direction, owner) {
            Answer::Full(free) => return free,
            // The earlier request of the slot is done: it is not later than now.
            Answer::Done(end) => slot.at = slot.at.max(end),
            Answer::UnderWay => slot.open += 1,
        }
        if self.direction == Direction::Read {
            slot.bytes += piece.bytes;
        }
        self.begun = after.bytes > 0;
        if self.begun {
            self.rest = Some(after);
        } else {
            self.issued += 1;
            self.rest = self.requests.next();
        }
        now + 1
    }
}

impl<'a> EngineWork<'a> {
    fn new(command: &'a Command, machine: &Machine, chips: &[Chip]) -> Result<Self, SeqError> {
        let [read, write] = command.sides();
        Ok(Self {
            by_pcie: command.by_pcie,
            read: Side::new(read, Direction::Read, machine, chips)?,
            write: Side::new(write, Direction::Write, machine, chips)?,
            arrived: 0,
            retired: 0,
        })
    }

    /// Returns true if all requests have been written.
    fn is_done(&self) -> bool {
        self.read.rest.is_none() && self.retired == self.read.issued
    }

    /// Moves the data of a request from chip to chip, or from or to the host.
    fn cross(&self, slot: &mut Slot, chips: &mut [Chip]) {
        if !self.by_pcie {
            return;
        }
        let (from, to) = (self.read.memory, self.write.memory);
        if from.medium != Medium::Host {
            slot.at = chips[from.chip as usize].leaving.pass(slot.at, slot.bytes);
        }
        if to.medium != Medium::Host {
            slot.at = chips[to.chip as usize].arriving.pass(slot.at, slot.bytes);
        }
    }

    /// See [`Runner::step`].
    fn step(&mut self, now: u64, chips: &mut [Chip], slots: &mut [Slot], engine: u32) -> u64 {
        let depth = slots.len() as u64;
        let at = |number: u64| (number % depth) as usize;
        // Data are sent on in order, each as soon as it is known when they have been read.
        while self.arrived < self.read.issued && slots[at(self.arrived)].open == 0 {
            self.cross(&mut slots[at(self.arrived)], chips);
            self.arrived += 1;
        }
        let mut next = u64::MAX;
        if self.write.issued < self.arrived {
            let slot = at(self.write.issued);
            next = match self.write.begun || slots[slot].is_done(now) {
                true => self.write.issue(now, chips, Owner { engine, slot: slot as u32 }, &mut slots[slot]),
                false => slots[slot].at,
            };
        }
        let has_room = self.read.issued - self.retired < depth;
        if has_room {
            let slot = at(self.read.issued);
            next =
                next.min(self.read.issue(now, chips, Owner { engine, slot: slot as u32 }, &mut slots[slot]));
        }
        // Only a request that leaves makes room for another, or is the last.
        if (!has_room || self.read.rest.is_none()) && self.retired < self.write.issued {
            let first = &slots[at(self.retired)];
            let leaves = if first.open == 0 { first.at.max(now + 1) } else { u64::MAX };
            next = next.min(leaves);
        }
        next
    }
}

impl<'a> Runner<'a> {
    pub(super) fn new(commands: &'a [Command], machine: &'a Machine, in_flight: usize, number: u32) -> Self {
        Self {
            commands: commands.iter(),
            machine,
            number,
            work: None,
            start: 0,
            // It has at least one request, for any figures.
            slots: vec![Slot::default(); in_flight.max(1)],
            totals: EngineTotals::default(),
        }
    }

    pub(super) const fn totals(&self) -> &EngineTotals {
        &self.totals
    }

    /// Requests of the descriptor under way whose reads have been issued.
    pub(super) fn reads(&self) -> u64 {
        self.work.as_ref().map_or(0, |work| work.read.issued)
    }

    /// Returns true if all its work is done.
    pub(super) fn has_ended(&self) -> bool {
        self.work.is_none() && self.commands.as_slice().is_empty()
    }

    /// Part of a request in a slot is done in cycle `at`.
    pub(super) fn done(&mut self, slot: u32, at: u64) {
        let slot = &mut self.slots[slot as usize];
        slot.open -= 1;
        slot.at = slot.at.max(at);
    }

    /// Does all possible work in cycle `now`: a part of a write, and of a read, goes to its memory. Returns the next
    /// cycle in which it could do more without news from HBM, [`u64::MAX`] if there is none.
    pub(super) fn step(&mut self, now: u64, chips: &mut [Chip]) -> Result<u64, SeqError> {
        if self.work.is_none() {
            let Some(command) = self.commands.next() else { return Ok(u64::MAX) };
            self.work = Some(EngineWork::new(command, self.machine, chips)?);
            self.start = now + self.machine.timing.dma_startup_cycles;
            self.totals.descriptors += 1;
        }
        let Some(work) = &mut self.work else { return Ok(u64::MAX) };
        if now < self.start {
            return Ok(self.start);
        }
        let slots = &mut self.slots;
        let depth = slots.len() as u64;
        let at = |number: u64| (number % depth) as usize;
        // Written requests leave.
        while work.retired < work.write.issued && slots[at(work.retired)].is_done(now) {
            self.totals.requests += 1;
            self.totals.bytes += std::mem::take(&mut slots[at(work.retired)].bytes);
            work.retired += 1;
        }
        if work.is_done() {
            self.totals.end = now;
            self.work = None;
            return self.step(now, chips);
        }
        Ok(work.step(now, chips, slots, self.number))
    }
}
