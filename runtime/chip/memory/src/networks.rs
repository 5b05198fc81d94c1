//! Load of a side of a transfer on data memory: its networks (DMNs) and the queues of its slices (book 11, "Data
//! Memory").

use crate::linear::Linear;
use crate::requests::{request_count, requests};
use crate::scale::{MOST, scale, too_many};
use visa_loops::{Program, SeqError};
use visa_machine::Machine;

/// Requests of a regular side that are followed one by one. All later requests take the time of the second half of
/// them.
const SAMPLE: u64 = 1 << 9;

/// Load of a side of a transfer, or of several, on the data memory of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Networks {
    /// Cycles that each network is busy, counted through the chip's clusters.
    pub busy: Vec<u64>,
    /// Cycles until an engine that works on nothing else has made its last request.
    pub issue: u64,
    /// Requests that are not followed but taken to be like those before them.
    pub estimated: u64,
}

impl Networks {
    /// The same program from the first network of a chip on, and the number of networks between: networks are alike.
    /// `None` if it does not stay within data memory.
    pub(crate) fn from_first(program: &Program, machine: &Machine) -> Option<(Program, usize)> {
        let (first, end) = program.extent().ok()?;
        let slices = machine.slices_per_chip();
        let slice = machine.memory.dm_bytes_per_slice;
        let networks = machine.pes_per_chip() * machine.topology.dmns_per_pe;
        let network = slice.checked_mul(slices / networks)?;
        let inside = first >= 0 && end.cast_unsigned() <= slice * slices;
        let skipped = first.cast_unsigned().checked_div(network).filter(|_| inside)?;
        let base = program.base - (skipped * network).cast_signed();
        Some((Program { base, ..program.clone() }, usize::try_from(skipped).ok()?))
    }

    /// The load of the same requests `networks` further.
    pub(crate) fn further(&self, networks: usize) -> Self {
        let mut found = self.clone();
        found.busy.rotate_right(networks);
        found
    }

    /// Load of the requests of a program in bytes; an address is `slice * (bytes of a slice's memory) + byte`.
    ///
    /// A network carries 128 bytes a cycle, so that a request of 256 takes two. The engine makes one a cycle, as
    /// long as the queue of the request's slice has room.
    ///
    /// # Errors
    /// If an address does not fit in 64 bits, or is before 0.
    pub fn of(program: &Program, machine: &Machine) -> Result<Self, SeqError> {
        let all = requests(program, machine)?;
        let mut queues = Queues::new(machine);
        if let Some(linear) = Linear::of(program, machine).filter(|_| queues.splits_by_bits()) {
            return Ok(queues.sampled(&linear));
        }
        all.take(MOST as usize).for_each(|request| queues.ask(request.address, request.bytes));
        let all = request_count(program, machine).ok_or_else(|| too_many(program))?;
        let mut found = Self { busy: queues.busy, issue: queues.next, estimated: all.saturating_sub(MOST) };
        if found.estimated > 0 {
            let cycles = std::iter::once(&mut found.issue).chain(&mut found.busy);
            cycles.for_each(|cycles| *cycles = scale(*cycles, all, MOST));
        }
        Ok(found)
    }
}

/// The bits that count to a power of two.
fn bits(size: u64) -> Option<u32> {
    size.is_power_of_two().then(|| size.trailing_zeros())
}

/// The queues of slices and the networks behind them, under the requests of one engine.
struct Queues {
    /// Bytes of a slice's memory, and slices of a network.
    sizes: (u64, u64),
    bytes_per_cycle: u64,
    /// Requests that the queue of a slice holds.
    room: usize,
    /// Bytes of the last request, and its cycles: neighbours are alike.
    last: (u64, u64),
    /// Bits of an address within a slice, and of a slice within a network, if both sizes are powers of two.
    bits: Option<(u32, u32)>,
    /// When the requests are done that a slice's queue holds: as many a slice as fit, the oldest at its turn.
    done: Vec<u64>,
    /// The oldest of each slice.
    oldest: Vec<usize>,
    /// When each network has done all that it was asked for.
    free: Vec<u64>,
    busy: Vec<u64>,
    /// The first cycle in which the engine can make another request.
    next: u64,
}

impl Queues {
    fn new(machine: &Machine) -> Self {
        let slices = machine.slices_per_chip();
        let networks = machine.pes_per_chip() * machine.topology.dmns_per_pe;
        Self {
            sizes: (machine.memory.dm_bytes_per_slice, slices / networks),
            bytes_per_cycle: machine.timing.dm_bytes_per_cycle_per_dmn,
            room: machine.limits.dm_queue_requests as usize,
            last: (0, 0),
            bits: bits(machine.memory.dm_bytes_per_slice).zip(bits(slices / networks)),
            done: vec![0; (slices * machine.limits.dm_queue_requests) as usize],
            oldest: vec![0; slices as usize],
            free: vec![0; networks as usize],
            busy: vec![0; networks as usize],
            next: 0,
        }
    }

    /// Returns true if slice and network are bits of an address.
    fn splits_by_bits(&self) -> bool {
        self.bits.is_some()
    }

    /// The slice and the network of an address. One past the end is in the last of each.
    fn place(&self, address: u64) -> (usize, usize) {
        let last = self.oldest.len() as u64 - 1;
        let (slice, network) = match self.bits {
            Some((slice, network)) => ((address >> slice).min(last), (address >> slice).min(last) >> network),
            None => ((address / self.sizes.0).min(last), (address / self.sizes.0).min(last) / self.sizes.1),
        };
        (slice as usize, network as usize)
    }

    /// Makes a request: as soon as the queue has room, and done when the network has done those before it.
    fn ask(&mut self, address: u64, bytes: u64) {
        let (slice, network) = self.place(address);
        if self.last.0 != bytes {
            self.last = (bytes, bytes.div_ceil(self.bytes_per_cycle));
        }
        let (cycles, room) = (self.last.1, self.room);
        let oldest = &mut self.done[slice * room + self.oldest[slice]];
        let at = self.next.max(*oldest);
        let done = at.max(self.free[network]) + cycles;
        *oldest = done;
        let next = self.oldest[slice] + 1;
        self.oldest[slice] = if next == room { 0 } else { next };
        self.free[network] = done;
        self.busy[network] += cycles;
        self.next = at + 1;
    }

    /// The first requests one by one; all others take the time of half of them.
    fn sampled(mut self, linear: &Linear) -> Networks {
        let mut half = 0;
        for (address, number) in linear.addresses().zip(0..SAMPLE) {
            if number == SAMPLE / 2 {
                half = self.next;
            }
            self.ask(address, linear.bytes);
        }
        let more = linear.count().saturating_sub(SAMPLE) / (SAMPLE / 2);
        let issue = self.next + more * (self.next - half);
        Networks { busy: self.evenly(linear), issue, estimated: 0 }
    }

    /// Busy cycles where the requests are spread evenly over the networks that they reach.
    fn evenly(&self, linear: &Linear) -> Vec<u64> {
        let network = |address| self.place(address).1;
        let mut reached = vec![network(linear.base)];
        for bit in &linear.bits {
            let step = network(linear.base ^ bit) ^ network(linear.base);
            if !reached.contains(&(reached[0] ^ step)) {
                let more: Vec<_> = reached.iter().map(|at| at ^ step).collect();
                reached.extend(more);
            }
        }
        let cycles = linear.bytes.div_ceil(self.bytes_per_cycle);
        let mut busy = vec![0; self.busy.len()];
        reached.iter().for_each(|&at| busy[at] = linear.count() / reached.len() as u64 * cycles);
        busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: u64 = 1 << 19;

    fn of(text: &str) -> Networks {
        Networks::of(&text.parse().expect(text), &Machine::rngd()).expect(text)
    }

    /// Requests that go from network to network, each to another slice of it: B3 and D4.
    #[test]
    fn two_networks_carry_256_bytes_a_cycle() {
        let both = format!("[1024 : 256, 32 : {SLICE}, 2 : {}, 256 : 1] : 256", 32 * SLICE);
        let found = of(&both);
        assert_eq!((found.issue, found.estimated), (65_536, 0));
        assert_eq!(found.busy[..3], [65_536, 65_536, 0]);
    }

    /// B3: one network alone carries 128. The queues of its 32 slices hold 64 requests, which it has still to do.
    #[test]
    fn one_network_carries_128_bytes_a_cycle() {
        let one = |requests: u64| of(&format!("[{} : 256, 32 : {SLICE}, 256 : 1] : 256", requests / 32));
        assert_eq!(one(65_536).issue, 2 * 65_536 - 127);
        assert_eq!(one(65_536).busy[..2], [131_072, 0]);
        // D8: up to 64 requests wait in the queues, so that the engine makes one a cycle.
        assert_eq!((one(64).issue, one(32).issue), (64, 32));
    }

    /// Two wait in the queue of a slice.
    #[test]
    fn one_slice_has_a_queue_of_two() {
        assert_eq!(of("[3 : 512, 256 : 1] : 256").issue, 3);
        assert_eq!(of("[4 : 512, 256 : 1] : 256").issue, 5);
        assert_eq!(of("[64 : 256, 256 : 1] : 256").issue, 2 * 64 - 3);
        // 128 bytes are done in the cycle in which the next request is made.
        assert_eq!(of("[64 : 256, 128 : 1] : 128").issue, 64);
    }

    /// Book 11: to go from network to network every n cycles is enough, while the queues hold n requests.
    #[test]
    fn runs_within_a_network_are_hidden_by_its_queues() {
        let runs = |length: u64| {
            let there = 32 * SLICE;
            of(&format!("[{} : 256, 2 : {there}, {length} : {SLICE}, 256 : 1] : 256", 4096 / length))
        };
        assert_eq!(runs(32).issue, 8192);
        // One slice, and then one of the other network, which is taken to be like the first: 3 cycles are hidden.
        let outer = format!("[2 : {}, 4096 : 256, 256 : 1] : 256", 32 * SLICE);
        assert_eq!(of(&outer).issue, 4 * 4096 - 3);
    }

    /// Networks are alike: requests of later ones have the same load there, and those of a program from the first
    /// network on are no others. A program past the end of data memory stays where it is.
    #[test]
    fn networks_are_alike() {
        let machine = Machine::rngd();
        let network = 32 * SLICE;
        for skipped in [0, 1, 5] {
            for loops in [format!("[5 : 768, 3 : {}", 3 * SLICE), format!("[4 : 512, 2 : {network}")] {
                let base = skipped * network + 8;
                let program = format!("{loops}, 256 : 1] : 256 @ {base}").parse().expect("a program");
                let (first, found) = Networks::from_first(&program, &machine).expect("within data memory");
                assert_eq!((first.base, found as u64), (8, skipped));
                let whole = Networks::of(&program, &machine).expect("a load");
                assert_eq!(Networks::of(&first, &machine).expect("a load").further(found), whole);
                assert!(whole.busy[..found].iter().all(|busy| *busy == 0) && whole.busy[found] > 0);
            }
        }
        let networks = machine.pes_per_chip() * machine.topology.dmns_per_pe;
        let last = networks * network - 256;
        let past = |base: u64| format!("[2 : 256, 256 : 1] : 256 @ {base}").parse().expect("a program");
        assert_eq!(Networks::from_first(&past(last), &machine), None);
        assert!(Networks::from_first(&past(last - 256), &machine).is_some());
        assert_eq!(Networks::from_first(&"[2 : -512, 256 : 1] : 256".parse().expect("text"), &machine), None);
    }

    /// Where strides are no powers of two, every request is followed, and the result is the same.
    #[test]
    fn followed_or_sampled() {
        let sampled = of(&format!("[2048 : 256, 4 : {SLICE}, 256 : 1] : 256"));
        let followed = of(&format!("[2048 : 256, 4 : {}, 256 : 1] : 256", 3 * SLICE));
        assert_eq!((sampled.issue, &sampled.busy), (followed.issue, &followed.busy));
        let over = of(&format!("[65537 : 8, 8 : 1] : 8 @ {}", 8 * 3));
        assert_eq!((over.estimated, over.issue), (1, 65_537));
    }
}
