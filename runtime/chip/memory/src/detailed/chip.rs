//! The memories of a chip, and its link to others.

use super::dm::{Claim, Dm, DmnTotals};
use super::dram::{Channel, ChannelTotals, Direction, Piece, channel_of};
use super::link::Link;
use super::timing::Timing;
use crate::hbm::{HBM_CHANNELS, HBM_UNIT, HbmPlace};
use crate::requests::Request;
use visa_machine::{Machine, Medium};

/// Who made a request: which engine, and which of its requests in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) engine: u32,
    pub(super) slot: u32,
}

/// What a memory says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is done in that engine cycle.
    Done(u64),
    /// It is under way: [`Chip::settle`] will say when it is done.
    UnderWay,
    /// There is no room before that engine cycle; [`u64::MAX`] where HBM has to send a command first.
    Full(u64),
}

/// What the memories of a chip did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipTotals {
    /// Each channel of HBM, the stack the highest bit of its number.
    pub channels: [ChannelTotals; HBM_CHANNELS as usize],
    /// Each data memory network, counted through the clusters.
    pub dmns: Vec<DmnTotals>,
    /// Accesses to each bank of data memory, of 8 bytes: slice by slice, those of a slice together.
    pub banks: Vec<u64>,
    /// Bytes that each scratchpad memory moved.
    pub spm_bytes: Vec<u64>,
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
    spm: Vec<Link>,
    spm_bytes: u64,
    /// What arrives by PCIe.
    pub(super) arriving: Link,
    /// What leaves by PCIe.
    pub(super) leaving: Link,
}

impl Chip {
    pub(super) fn new(machine: &Machine, timing: &Timing, chip: u64, claims: &[Claim]) -> Self {
        let pcie = Link::new(machine.timing.pcie_bytes_per_cycle);
        let spm = Link::new(machine.timing.spm_bytes_per_cycle);
        Self {
            timing: *timing,
            hbm: (0..HBM_CHANNELS).map(|_| Channel::new(timing)).collect(),
            waiting: 0,
            due: [u64::MAX; HBM_CHANNELS as usize],
            dm: Dm::new(machine, timing, chip, claims),
            spm: vec![spm; machine.pes_per_chip() as usize],
            spm_bytes: machine.memory.spm_bytes_per_pe,
            arriving: pcie.clone(),
            leaving: pcie,
        }
    }

    pub(super) fn totals(self) -> ChipTotals {
        ChipTotals {
            channels: std::array::from_fn(|at| *self.hbm[at].totals()),
            dmns: self.dm.networks().collect(),
            spm_bytes: self.spm.iter().map(Link::bytes).collect(),
            pcie_in: self.arriving.bytes(),
            pcie_out: self.leaving.bytes(),
            banks: self.dm.into_accesses(),
        }
    }

    /// Bytes of a memory that are accessed together: a request that goes over a boundary of them is two.
    pub(super) const fn unit(&self, medium: Medium) -> u64 {
        match medium {
            Medium::Hbm => HBM_UNIT,
            Medium::Dm => self.dm.slice_bytes(),
            Medium::Spm => self.spm_bytes,
            Medium::Host => u64::MAX,
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
        match medium {
            Medium::Hbm => self.access_hbm(now, piece, direction, owner),
            Medium::Dm => match self.dm.access(now, piece, direction) {
                Ok(end) => Answer::Done(end),
                Err(free) => Answer::Full(free),
            },
            Medium::Spm => {
                let link = &mut self.spm[(piece.address / self.spm_bytes) as usize];
                Answer::Done(link.pass(now, piece.bytes))
            }
            // The host's memory has no bound of its own: PCIe has.
            Medium::Host => Answer::Done(now),
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

    /// Lets HBM do what it does before cycle `now`. `done` is told whose request is done, and when.
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
