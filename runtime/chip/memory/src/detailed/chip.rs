//! The memories of a chip, and its link to others.

use super::dm::{Claim, Dm, DmnTotals};
use super::dram::{Channel, ChannelTotals, Direction, Piece, channel_of};
use super::link::Link;
use super::timing::Timing;
use crate::hbm::{HBM_CHANNELS, HBM_UNIT, HbmPlace};
use crate::requests::Request;
use std::collections::BTreeMap;
use visa_machine::{Machine, Medium, Ports};

/// Issuer of a request: its engine, and its number among the engine's requests in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) engine: u32,
    pub(super) slot: u32,
}

/// Answer of a memory to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is done in that engine cycle.
    Done(u64),
    /// It is under way: [`Chip::settle`] will report its end.
    UnderWay,
    /// There is no room before that engine cycle; [`u64::MAX`] where HBM has to send a command first.
    Full(u64),
}

/// Totals of the memories of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipTotals {
    /// Each channel of HBM, the stack the highest bit of its number.
    pub channels: [ChannelTotals; HBM_CHANNELS as usize],
    /// Each data memory network, counted through the clusters.
    pub dmns: Vec<DmnTotals>,
    /// Accesses to each bank of data memory, of 8 bytes: slice by slice, those of a slice together.
    pub banks: Vec<u64>,
    /// Bytes that each part of a memory with a port for each moved.
    pub ports: BTreeMap<Medium, Vec<u64>>,
    /// Bytes that came by PCIe.
    pub pcie_in: u64,
    /// Bytes that went by PCIe.
    pub pcie_out: u64,
}

/// A chip. Times are engine cycles.
#[derive(Clone, Debug)]
pub(super) struct Chip {
    timing: Timing,
    hbm: Vec<Channel<Owner>>,
    /// Channels that have something to do, a bit each.
    waiting: u64,
    /// The HBM cycle in which each of them has.
    due: [u64; HBM_CHANNELS as usize],
    dm: Dm,
    /// The ports of memories whose parts have one each, and the bytes of a part.
    ports: BTreeMap<Medium, (Vec<Link>, u64)>,
    /// Data that arrive by PCIe.
    pub(super) arriving: Link,
    /// Data that leave by PCIe.
    pub(super) leaving: Link,
}

impl Chip {
    pub(super) fn new(machine: &Machine, timing: &Timing, chip: u64, claims: &[Claim]) -> Self {
        let pcie = Link::new(machine.timing.pcie_bytes_per_cycle);
        let links = |&medium: &Medium| match medium.decl().ports {
            Ports::Each(rate) => {
                let count = medium.decl().part.per_chip(machine) as usize;
                Some((medium, (vec![Link::new(rate(machine)); count], medium.bytes(machine))))
            }
            Ports::Unbounded | Ports::Channels | Ports::Networks => None,
        };
        Self {
            timing: *timing,
            hbm: (0..HBM_CHANNELS).map(|_| Channel::new(timing)).collect(),
            waiting: 0,
            due: [u64::MAX; HBM_CHANNELS as usize],
            dm: Dm::new(machine, timing, chip, claims),
            ports: Medium::ALL.iter().filter_map(links).collect(),
            arriving: pcie.clone(),
            leaving: pcie,
        }
    }

    pub(super) fn totals(self) -> ChipTotals {
        ChipTotals {
            channels: std::array::from_fn(|at| *self.hbm[at].totals()),
            dmns: self.dm.networks().collect(),
            ports: self
                .ports
                .iter()
                .map(|(&medium, (links, _))| (medium, links.iter().map(Link::bytes).collect()))
                .collect(),
            pcie_in: self.arriving.bytes(),
            pcie_out: self.leaving.bytes(),
            banks: self.dm.into_accesses(),
        }
    }

    /// Bytes of a memory that are accessed together: a request that goes over a boundary of them is two.
    pub(super) fn unit(&self, medium: Medium) -> u64 {
        match medium.decl().ports {
            Ports::Channels => HBM_UNIT,
            Ports::Networks => self.dm.slice_bytes(),
            Ports::Each(_) => self.ports.get(&medium).map_or(u64::MAX, |(_, bytes)| *bytes),
            Ports::Unbounded => u64::MAX,
        }
    }

    /// Gives a memory a request within a unit of it, in cycle `now`.
    pub(super) fn access(
        &mut self,
        now: u64,
        medium: Medium,
        piece: Request,
        direction: Direction,
        owner: Owner,
    ) -> Answer {
        match medium.decl().ports {
            Ports::Channels => self.access_hbm(now, piece, direction, owner),
            Ports::Networks => match self.dm.access(now, piece, direction) {
                Ok(end) => Answer::Done(end),
                Err(free) => Answer::Full(free),
            },
            Ports::Each(_) => match self.ports.get_mut(&medium) {
                Some((links, bytes)) => {
                    let link = &mut links[(piece.address / *bytes) as usize];
                    Answer::Done(link.pass(now, piece.bytes))
                }
                None => Answer::Done(now),
            },
            // The host's memory has no separate bound: PCIe has.
            Ports::Unbounded => Answer::Done(now),
        }
    }

    fn access_hbm(&mut self, now: u64, piece: Request, direction: Direction, owner: Owner) -> Answer {
        let place = HbmPlace::of(piece.address).expect("programs end within HBM");
        let at = channel_of(&place);
        let channel = &mut self.hbm[at];
        if !channel.has_room() {
            return Answer::Full(u64::MAX);
        }
        channel.push(&Piece { place, bytes: piece.bytes, direction }, self.timing.hbm_cycle(now), owner);
        self.waiting |= 1 << at;
        self.due[at] = channel.next().unwrap_or(u64::MAX);
        Answer::UnderWay
    }

    /// Simulates HBM up to cycle `now`. `done` receives the owner of each completed request, with the cycle.
    pub(super) fn settle(&mut self, now: u64, mut done: impl FnMut(Owner, u64)) {
        let until = self.timing.hbm_cycle(now);
        for at in ones(self.waiting) {
            if self.due[at] < until {
                let channel = &mut self.hbm[at];
                channel.advance(until, |owner, time| done(owner, self.timing.engine_cycle(time)));
                self.due[at] = channel.next().unwrap_or(u64::MAX);
                self.waiting &= !(u64::from(self.due[at] == u64::MAX) << at);
            }
        }
    }

    /// The first cycle in which HBM has done more; [`u64::MAX`] if it has nothing to do.
    pub(super) fn next(&self) -> u64 {
        let next = ones(self.waiting).map(|at| self.due[at]).min();
        next.map_or(u64::MAX, |time| self.timing.engine_cycle_after(time))
    }
}

/// The bits that are 1, the lowest first.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (at < u64::BITS).then_some(at as usize)
    })
}
