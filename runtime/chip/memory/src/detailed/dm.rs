//! Data memory of a chip: networks (DMNs), command queues of slices, banks (book 11). Times are engine cycles.

use std::ops::Range;

use super::dram::Direction;
use super::timing::Timing;
use crate::requests::Request;
use visa_machine::Machine;

/// Requesters of data memory, by priority: the first goes first (book 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requester {
    /// Fetch Engine of the main context.
    MainFetch,
    /// Commit Engine of the main context.
    MainCommit,
    /// Fetch Engine of the sub context.
    SubFetch,
    /// Commit Engine of the sub context.
    SubCommit,
    /// DMA Engine.
    Dma,
}

/// Accesses of another engine to banks of a slice, in each cycle of a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Requester that accesses them.
    pub by: Requester,
    /// The chip.
    pub chip: u64,
    /// The slice, counted through the clusters of the chip.
    pub slice: u64,
    /// The banks, a bit each, the lowest the first bank.
    pub banks: u64,
    /// Engine cycles, from the start of the transfer on.
    pub cycles: Range<u64>,
}

/// Totals of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmnTotals {
    /// Requests to read, of up to 256 bytes.
    pub reads: u64,
    /// Requests to write.
    pub writes: u64,
    /// Bytes of both.
    pub bytes: u64,
    /// Cycles in which it moved some.
    pub busy: u64,
    /// Most cycles from a request's arrival to its end. The network gives up after 4096 (book 11).
    pub longest: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Network {
    /// Cycle in which it has moved its input.
    free: u64,
    totals: DmnTotals,
}

/// The data memory of a chip.
#[derive(Clone, Debug)]
pub(super) struct Dm {
    timing: Timing,
    slice_bytes: u64,
    slices_per_network: u64,
    bank_width: u64,
    banks: u64,
    bytes_per_cycle: u64,
    networks: Vec<Network>,
    /// For each place of each slice's queue, when it is free.
    queues: Vec<u64>,
    /// Accesses, slice by slice and bank by bank.
    accesses: Vec<u64>,
    /// Those that go before a DMA, by slice and start.
    claims: Vec<Claim>,
}

impl Dm {
    /// The data memory of a chip, which others access too.
    pub(super) fn new(machine: &Machine, timing: &Timing, chip: u64, claims: &[Claim]) -> Self {
        let slices = machine.slices_per_chip();
        let networks = slices / machine.slices_per_dmn();
        let before = claims.iter().filter(|claim| claim.chip == chip && claim.by < Requester::Dma);
        let mut claims: Vec<_> = before.cloned().collect();
        claims.sort_by_key(|claim| (claim.slice, claim.cycles.start));
        Self {
            timing: *timing,
            slice_bytes: machine.memory.dm_bytes_per_slice,
            slices_per_network: machine.slices_per_dmn(),
            bank_width: machine.memory.dm_bank_width,
            banks: machine.memory.dm_banks,
            bytes_per_cycle: machine.timing.dm_bytes_per_cycle_per_dmn,
            networks: vec![Network::default(); networks as usize],
            queues: vec![0; slices as usize * timing.slice_queue],
            accesses: vec![0; (slices * machine.memory.dm_banks) as usize],
            claims,
        }
    }

    /// Totals of each network.
    pub(super) fn networks(&self) -> impl Iterator<Item = DmnTotals> {
        self.networks.iter().map(|network| network.totals)
    }

    /// Accesses to each bank: slice by slice, those of a slice together.
    pub(super) fn into_accesses(self) -> Vec<u64> {
        self.accesses
    }

    /// Bytes of a slice: a request that goes further is two.
    pub(super) const fn slice_bytes(&self) -> u64 {
        self.slice_bytes
    }

    /// Takes a request for bytes of one slice in cycle `now`; returns the cycle in which it is done. If the slice's
    /// queue is full nothing changes, and the error is the cycle in which it has room.
    pub(super) fn access(&mut self, now: u64, piece: Request, direction: Direction) -> Result<u64, u64> {
        let slice = piece.address / self.slice_bytes;
        let depth = self.timing.slice_queue;
        let first = slice as usize * depth;
        let queue = &self.queues[first..first + depth];
        // The place that is free first, and when the slice has done all that it was given.
        let Some((place, &free)) = queue.iter().enumerate().min_by_key(|&(_, free)| free) else {
            return Err(u64::MAX);
        };
        if free > now {
            return Err(free);
        }
        let before = queue.iter().copied().fold(now, u64::max);
        let cycles = self.cycles(piece, direction);
        let start = self.networks[(slice / self.slices_per_network) as usize].free.max(now);
        // A request that waits for a bank waits in the queue of its slice: the network moves other data meanwhile.
        let begin = start.max(before);
        let end = self.unclaimed(slice, piece, begin..begin + cycles).end;
        self.queues[first + place] = end;
        self.count(slice, piece);
        let network = &mut self.networks[(slice / self.slices_per_network) as usize];
        network.free = start + cycles;
        network.totals.count(piece.bytes, direction, cycles, end - now);
        Ok(end)
    }

    /// The words that a request touches.
    const fn words(&self, piece: Request) -> Range<u64> {
        piece.address / self.bank_width..(piece.address + piece.bytes).div_ceil(self.bank_width)
    }

    /// Cycles of the network for a request: all banks of a slice give a word a cycle.
    fn cycles(&self, piece: Request, direction: Direction) -> u64 {
        let words = self.words(piece);
        let cycles = ((words.end - words.start) * self.bank_width).div_ceil(self.bytes_per_cycle);
        let whole = |at: u64| at.is_multiple_of(self.bank_width);
        let modify =
            direction == Direction::Write && !(whole(piece.address) && whole(piece.address + piece.bytes));
        if modify { cycles * self.timing.bank_modify } else { cycles }
    }

    /// The first time, not before that of `cycles` and as long, in which no other requester accesses the request's
    /// banks.
    fn unclaimed(&self, slice: u64, piece: Request, mut cycles: Range<u64>) -> Range<u64> {
        let words = self.words(piece);
        let touches = |banks: u64| words.clone().any(|word| banks >> (word % self.banks) & 1 == 1);
        let first = self.claims.partition_point(|claim| claim.slice < slice);
        for claim in self.claims[first..].iter().take_while(|claim| claim.slice == slice) {
            let apart = claim.cycles.end <= cycles.start || claim.cycles.start >= cycles.end;
            if !apart && touches(claim.banks) {
                cycles = claim.cycles.end..claim.cycles.end + (cycles.end - cycles.start);
            }
        }
        cycles
    }

    /// Counts the accesses to the banks of a slice.
    fn count(&mut self, slice: u64, piece: Request) {
        let words = self.words(piece);
        let banks = &mut self.accesses[(slice * self.banks) as usize..][..self.banks as usize];
        let rounds = (words.end - words.start) / self.banks;
        banks.iter_mut().for_each(|count| *count += rounds);
        for word in words.start + rounds * self.banks..words.end {
            banks[(word % self.banks) as usize] += 1;
        }
    }
}

impl DmnTotals {
    const fn count(&mut self, bytes: u64, direction: Direction, cycles: u64, wait: u64) {
        match direction {
            Direction::Read => self.reads += 1,
            Direction::Write => self.writes += 1,
        }
        self.bytes += bytes;
        self.busy += cycles;
        if wait > self.longest {
            self.longest = wait;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: u64 = 512 << 10;

    fn dm(claims: &[Claim]) -> Dm {
        let machine = Machine::rngd();
        Dm::new(&machine, &Timing::of(&machine), 0, claims)
    }

    fn piece(slice: u64, byte: u64, bytes: u64) -> Request {
        Request { address: slice * SLICE + byte, bytes }
    }

    /// B3: a network moves 256 bytes in two cycles, so that two that alternate take a request a cycle.
    #[test]
    fn two_networks_in_turn() {
        let mut dm = dm(&[]);
        for at in 0..64 {
            let slice = at % 2 * 32 + at / 2;
            assert_eq!(dm.access(at, piece(slice, 0, 256), Direction::Read), Ok(at + 2));
        }
        let totals: Vec<_> = dm.networks().collect();
        assert_eq!((totals[0], totals[1], totals[2].reads), (totals[1], totals[0], 0));
        assert_eq!(
            (totals[0].reads, totals[0].bytes, totals[0].busy, totals[0].longest),
            (32, 32 * 256, 64, 2)
        );
    }

    /// B3: one alone takes a request every two cycles.
    #[test]
    fn one_network_alone() {
        let mut dm = dm(&[]);
        for at in 0..32 {
            assert_eq!(dm.access(0, piece(at, 0, 256), Direction::Write), Ok(2 * at + 2));
        }
        assert_eq!(dm.networks().next().map(|totals| (totals.writes, totals.longest)), Some((32, 64)));
    }

    /// Book 11: two entries a slice. The third request waits until the first is done; nothing has changed until then.
    #[test]
    fn a_slice_holds_two_requests() {
        let mut dm = dm(&[]);
        let mut ask = |now| dm.access(now, piece(5, 0, 256), Direction::Read);
        assert_eq!(
            [ask(0), ask(0), ask(0), ask(1), ask(2), ask(3)],
            [Ok(2), Ok(4), Err(2), Err(2), Ok(6), Err(4)]
        );
        assert_eq!(dm.networks().next().map(|totals| totals.reads), Some(3));
    }

    /// B1: 128 consecutive bytes are in all 16 banks.
    #[test]
    fn banks_of_a_request() {
        let accesses = |byte, bytes| {
            let mut dm = dm(&[]);
            dm.access(0, piece(1, byte, bytes), Direction::Read).expect("room");
            dm.into_accesses()[16..32].to_vec()
        };
        assert_eq!(accesses(0, 128), [1; 16]);
        assert_eq!(accesses(4096 + 64, 128), [1; 16]);
        assert_eq!(accesses(128, 256), [2; 16]);
        assert_eq!(accesses(8, 16), [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(accesses(127, 2), [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    /// Book 10: a write of a part of a word triples the time.
    #[test]
    fn parts_of_words() {
        let cycles = |byte, bytes, direction| dm(&[]).access(0, piece(0, byte, bytes), direction);
        assert_eq!(cycles(0, 8, Direction::Write), Ok(1));
        assert_eq!(cycles(4, 8, Direction::Write), Ok(3));
        assert_eq!(cycles(0, 4, Direction::Write), Ok(3));
        assert_eq!(cycles(0, 252, Direction::Write), Ok(6));
        assert_eq!(cycles(4, 8, Direction::Read), Ok(1));
        assert_eq!(cycles(0, 136, Direction::Read), Ok(2));
    }

    /// Book 11: every other requester of a bank goes first.
    #[test]
    fn others_go_before_a_dma() {
        let claim = |by| Claim { by, chip: 0, slice: 3, banks: 1 << 4, cycles: 5..30 };
        let end = |claims: &[Claim], now, byte, bytes| {
            dm(claims).access(now, piece(3, byte, bytes), Direction::Read)
        };
        for by in [Requester::MainFetch, Requester::MainCommit, Requester::SubFetch, Requester::SubCommit] {
            assert_eq!(end(&[claim(by)], 4, 0, 256), Ok(32), "{by:?}");
            // It is done before, or comes after, or wants other banks.
            assert_eq!(end(&[claim(by)], 3, 0, 256), Ok(5));
            assert_eq!(end(&[claim(by)], 30, 0, 256), Ok(32));
            assert_eq!(end(&[claim(by)], 5, 40, 88), Ok(6));
        }
        assert_eq!(end(&[claim(Requester::Dma)], 4, 0, 256), Ok(6));
        let chip = Claim { chip: 1, ..claim(Requester::MainFetch) };
        let slice = Claim { slice: 2, ..claim(Requester::MainFetch) };
        assert_eq!(end(&[chip, slice], 4, 0, 256), Ok(6));
        // Two in a row, given in another order.
        let later = Claim { cycles: 31..40, ..claim(Requester::SubCommit) };
        assert_eq!(end(&[later, claim(Requester::MainFetch)], 4, 0, 256), Ok(42));
    }

    /// A request that waits for a bank holds up its slice, not the network.
    #[test]
    fn the_network_goes_on() {
        let claim = Claim { by: Requester::MainFetch, chip: 0, slice: 0, banks: 1, cycles: 0..5000 };
        let mut dm = dm(&[claim]);
        assert_eq!(dm.access(0, piece(0, 0, 256), Direction::Read), Ok(5002));
        assert_eq!(dm.access(0, piece(1, 0, 256), Direction::Read), Ok(4));
        assert_eq!(dm.access(9, piece(0, 128, 128), Direction::Read), Ok(5003));
        assert_eq!(dm.access(10, piece(0, 128, 128), Direction::Read), Err(5002));
        // Longer than the network waits (book 11: 4096 cycles).
        assert_eq!(dm.networks().next().map(|totals| totals.longest), Some(5002));
    }
}
