//! The `book` model: the time of a transfer by the closed forms of books 10 and 11.

use crate::channels::{Access, ChannelLoad, Channels};
use crate::descriptor::{Descriptor, Engine, Memory, Transfer};
use crate::hbm::HBM_UNIT;
use crate::networks::Networks;
use crate::ports::PortLoads;
use crate::requests::request_count;
use crate::scale::too_many;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use visa_loops::{Program, SeqError};
use visa_machine::{Machine, Medium, Ports};

/// Bottleneck of a transfer: the part that is done last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// An engine waits for its descriptors to start.
    Startup,
    /// An engine makes requests, one a cycle.
    Engine,
    /// A channel of HBM transfers units.
    Channel,
    /// A channel of HBM opens other rows.
    Rows,
    /// A channel of HBM reads units of which a part is written.
    PartialWrites,
    /// A network of data memory carries bytes.
    Network,
    /// A part of a memory moves bytes through its port.
    Port(Medium),
    /// PCIe carries bytes.
    Pcie,
}

/// Time of a transfer, by resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// From its begin to the end of the slowest part.
    pub cycles: u64,
    /// The slowest part.
    pub bound: Bound,
    /// Cycles of each engine, start-ups included.
    pub engines: Vec<(Engine, u64)>,
    /// Load of each chip's HBM.
    pub hbm: BTreeMap<u64, Channels>,
    /// Busy cycles of each network of each chip's data memory.
    pub networks: BTreeMap<u64, Vec<u64>>,
    /// Busy cycles of the parts of memories with a port each, by memory and chip.
    pub ports: BTreeMap<(Medium, u64), Vec<u64>>,
    /// Bytes that come to each chip by PCIe.
    pub pcie_in: BTreeMap<u64, u64>,
    /// Bytes that leave it so.
    pub pcie_out: BTreeMap<u64, u64>,
    /// Requests of both sides.
    pub requests: u64,
    /// Bytes that they are for.
    pub bytes: u64,
    /// Those of them that are not looked at but taken to be like the others of their side.
    pub estimated: u64,
    /// Bytes of HBM that the descriptors name, those of both sides.
    pub hbm_bytes: u64,
}

/// Prices a transfer.
///
/// An engine runs its descriptors one after the other. Each starts up, and then makes a request a cycle. Engines
/// work at the same time, so a transfer takes as long as its slowest engine, or as the busiest channel, network,
/// scratchpad or link that they share.
///
/// # Errors
/// If an address is out of its memory, or requests cannot be counted.
pub fn book(transfer: &Transfer, machine: &Machine) -> Result<Price, SeqError> {
    let mut price = Price {
        cycles: 0,
        bound: Bound::Startup,
        engines: Vec::new(),
        hbm: BTreeMap::new(),
        networks: BTreeMap::new(),
        ports: BTreeMap::new(),
        pcie_in: BTreeMap::new(),
        pcie_out: BTreeMap::new(),
        requests: 0,
        bytes: 0,
        estimated: 0,
        hbm_bytes: 0,
    };
    let startup = machine.timing.dma_startup_cycles;
    let mut loads = loads(transfer, machine).into_iter();
    for (engine, descriptors) in &transfer.engines {
        let (mut cycles, mut starting) = (0_u64, 0_u64);
        for (descriptor, load) in descriptors.iter().zip(&mut loads) {
            starting = starting.saturating_add(startup);
            cycles = cycles.saturating_add(price.descriptor(descriptor, load?, machine)?);
        }
        price.engines.push((*engine, cycles.saturating_add(starting)));
        price.at_least(
            cycles.saturating_add(starting),
            if starting > cycles { Bound::Startup } else { Bound::Engine },
        );
    }
    price.share(machine);
    Ok(price)
}

/// The loads of both sides of each descriptor, in order. All cores work them out if there are many requests. Sides
/// that differ by their networks alone are worked out once.
fn loads(transfer: &Transfer, machine: &Machine) -> Vec<Result<[SideLoad; 2], SeqError>> {
    let mut different: Vec<(Memory, Program, Access)> = Vec::new();
    let mut numbers: HashMap<(Memory, Program, Access), usize> = HashMap::new();
    let mut number = |at: Memory, program: Program, access: Access| {
        let first = match at.medium.decl().ports {
            Ports::Networks => Networks::from_first(&program, machine),
            Ports::Unbounded | Ports::Channels | Ports::Each(_) => None,
        };
        let (program, skipped) = first.unwrap_or((program, 0));
        let side = (Memory { chip: 0, ..at }, program, access);
        let number = *numbers.entry(side.clone()).or_insert_with(|| {
            different.push(side);
            different.len() - 1
        });
        (number, skipped)
    };
    let descriptors = transfer.engines.iter().flat_map(|(_, all)| all);
    let sides = descriptors.map(|one| {
        [(one.from, one.read(), Access::Read), (one.to, one.write(), Access::Write)]
            .map(|(at, program, access)| number(at, program, access))
    });
    let sides: Vec<[(usize, usize); 2]> = sides.collect();
    let of = |(at, program, access): &(Memory, Program, Access)| SideLoad::of(*at, program, *access, machine);
    let requests = |(_, program, _): &(Memory, Program, Access)| request_count(program, machine);
    let all = different.iter().map(|side| requests(side).unwrap_or(u64::MAX)).fold(0, u64::saturating_add);
    let known: Vec<Result<SideLoad, SeqError>> =
        if all < MANY { different.iter().map(of).collect() } else { different.par_iter().map(of).collect() };
    let load = |(number, skipped): (usize, usize)| known[number].clone().map(|load| load.further(skipped));
    sides.into_iter().map(|[read, write]| Ok([load(read)?, load(write)?])).collect()
}

/// Requests of a transfer that several cores look at: fewer take less time than to wake a core.
const MANY: u64 = 1 << 12;

/// The load of one side of a descriptor.
#[derive(Clone)]
struct SideLoad {
    requests: u64,
    /// The load on the parts of its memory.
    parts: PartLoads,
}

/// The load on the parts of a memory.
#[derive(Clone)]
enum PartLoads {
    Unbounded,
    Channels(Box<Channels>),
    Networks(Networks),
    Ports(PortLoads),
}

impl SideLoad {
    fn of(at: Memory, program: &Program, access: Access, machine: &Machine) -> Result<Self, SeqError> {
        let requests = request_count(program, machine).ok_or_else(|| too_many(program))?;
        let parts = match at.medium.decl().ports {
            Ports::Unbounded => PartLoads::Unbounded,
            Ports::Channels => PartLoads::Channels(Box::new(Channels::of(program, access, machine)?)),
            Ports::Networks => PartLoads::Networks(Networks::of(program, machine)?),
            Ports::Each(_) => PartLoads::Ports(PortLoads::of(program, at.medium, machine)?),
        };
        Ok(Self { requests, parts })
    }

    /// The load of the same requests `networks` further.
    fn further(self, networks: usize) -> Self {
        let parts = match self.parts {
            PartLoads::Networks(load) => PartLoads::Networks(load.further(networks)),
            parts @ (PartLoads::Unbounded | PartLoads::Channels(_) | PartLoads::Ports(_)) => parts,
        };
        Self { parts, ..self }
    }
}

impl Price {
    /// Time of one descriptor after its start-up; adds its load on the resources that engines share.
    fn descriptor(
        &mut self,
        descriptor: &Descriptor,
        [read, write]: [SideLoad; 2],
        machine: &Machine,
    ) -> Result<u64, SeqError> {
        let read = self.side(descriptor.from, &read, Access::Read);
        let write = self.side(descriptor.to, &write, Access::Write);
        let bytes = descriptor.loops.steps().ok_or_else(|| too_many(&descriptor.read()))?;
        self.bytes = self.bytes.saturating_add(bytes.saturating_mul(2));
        let ends = [descriptor.from, descriptor.to];
        let in_hbm = ends.iter().filter(|end| end.medium == Medium::Hbm).count() as u64;
        self.hbm_bytes = self.hbm_bytes.saturating_add(bytes.saturating_mul(in_hbm));
        if descriptor.by_pcie() {
            for (end, ways) in [(descriptor.from, &mut self.pcie_out), (descriptor.to, &mut self.pcie_in)] {
                if end.medium != Medium::Host {
                    let carried = ways.entry(end.chip).or_default();
                    *carried = carried.saturating_add(bytes);
                }
            }
        }
        together(descriptor, read, write, machine)
    }

    /// Cycles that an engine needs for one side of a descriptor if nothing else waits.
    fn side(&mut self, at: Memory, load: &SideLoad, access: Access) -> u64 {
        let requests = load.requests;
        self.requests = self.requests.saturating_add(requests);
        match &load.parts {
            PartLoads::Unbounded => requests,
            PartLoads::Channels(asked) => {
                self.estimated = self.estimated.saturating_add(asked.estimated);
                let units = asked.total().transfers;
                let sum = self.hbm.entry(at.chip).or_insert_with(Channels::none);
                *sum = std::mem::replace(sum, Channels::none()).plus(asked);
                // A read of HBM over a boundary takes two transfers on the way to the engine too.
                if access == Access::Read { units } else { requests }
            }
            PartLoads::Networks(asked) => {
                self.estimated = self.estimated.saturating_add(asked.estimated);
                let sum = self.networks.entry(at.chip).or_insert_with(|| vec![0; asked.busy.len()]);
                sum.iter_mut().zip(&asked.busy).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
                asked.issue
            }
            PartLoads::Ports(asked) => {
                self.estimated = self.estimated.saturating_add(asked.estimated);
                let sum = self.ports.entry((at.medium, at.chip)).or_insert_with(|| vec![0; asked.busy.len()]);
                sum.iter_mut().zip(&asked.busy).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
                requests.max(asked.most())
            }
        }
    }

    /// The transfer takes as long as the busiest resource that its engines share.
    fn share(&mut self, machine: &Machine) {
        let startup = machine.timing.dma_startup_cycles;
        let mut shared = Vec::new();
        for channels in self.hbm.values() {
            shared.extend(channels.loads.iter().map(|load| channel_cycles(load, machine)));
        }
        shared.extend(self.networks.values().flatten().map(|&busy| (busy, Bound::Network)));
        for (&(medium, _), parts) in &self.ports {
            shared.extend(parts.iter().map(|&busy| (busy, Bound::Port(medium))));
        }
        let link = |&bytes: &u64| (bytes.div_ceil(machine.timing.pcie_bytes_per_cycle), Bound::Pcie);
        shared.extend(self.pcie_in.values().chain(self.pcie_out.values()).map(link));
        for (cycles, bound) in shared {
            self.at_least(cycles.saturating_add(startup), bound);
        }
    }

    fn at_least(&mut self, cycles: u64, bound: Bound) {
        if cycles > self.cycles {
            (self.cycles, self.bound) = (cycles, bound);
        }
    }
}

/// Time of a channel for its load: it transfers units while it opens rows in other banks, and reads units that are
/// partly written before it writes them.
#[must_use]
pub fn channel_cycles(load: &ChannelLoad, machine: &Machine) -> (u64, Bound) {
    let timing = &machine.timing;
    let again = load.partial.saturating_mul(timing.hbm_partial_write_times - 1);
    let bytes =
        u128::from(load.transfers.saturating_add(again)) * u128::from(HBM_UNIT * machine.hbm_channels());
    let moving = u64::try_from(bytes.div_ceil(u128::from(timing.hbm_bytes_per_cycle))).unwrap_or(u64::MAX);
    let opening = load.exposed.saturating_mul(timing.hbm_row_switch_cycles);
    if opening > moving {
        (opening, Bound::Rows)
    } else if again > load.transfers {
        (moving, Bound::PartialWrites)
    } else {
        (moving, Bound::Channel)
    }
}

/// Time of both sides of a descriptor together.
///
/// An engine writes while it reads, with two exceptions. Into HBM it writes when it has read some requests, so
/// that short transfers read and then write. Where both sides are in the data memory or the scratchpads of one
/// cluster, they share its bandwidth, and add up.
fn together(descriptor: &Descriptor, read: u64, write: u64, machine: &Machine) -> Result<u64, SeqError> {
    let (sum, longer) = (read.saturating_add(write), read.max(write));
    if descriptor.to.medium == Medium::Hbm {
        return Ok(longer.max(sum.min(2 * machine.limits.dma_read_ahead)));
    }
    let shared = match (
        descriptor.from.clusters(&descriptor.read(), machine)?,
        descriptor.to.clusters(&descriptor.write(), machine)?,
    ) {
        (Some(read), Some(write)) => {
            descriptor.from == descriptor.to && read.start() <= write.end() && write.start() <= read.end()
        }
        (None, _) | (_, None) => false,
    };
    Ok(if shared { sum } else { longer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_loops::PairedProgram;

    const SLICE: u64 = 1 << 19;
    const NETWORK: u64 = 32 * SLICE;
    const CLUSTER: u64 = 8 * NETWORK;

    fn descriptor(from: Medium, to: Medium, loops: &str) -> Descriptor {
        let loops: PairedProgram = loops.parse().expect(loops);
        let at = |medium| Memory { medium, chip: 0 };
        Descriptor { from: at(from), to: at(to), loops }
    }

    fn price(engines: Vec<Vec<Descriptor>>) -> Price {
        let engine = |pe: u64| Engine { chip: 0, cluster: pe / 4, pe: pe % 4 };
        let engines = engines.into_iter().zip(0..).map(|(list, pe)| (engine(pe), list)).collect();
        book(&Transfer { engines }, &Machine::rngd()).expect("a price")
    }

    fn one(from: Medium, to: Medium, loops: &str) -> u64 {
        price(vec![vec![descriptor(from, to, loops)]]).cycles
    }

    /// D2: reads and writes at the same time.
    #[test]
    fn book_10_internals() {
        let loops = "[256 : 65536 -> 256, 256 : 256 -> 65536, 256 : 1 -> 1] : 256 @ 0 -> 16777216";
        assert_eq!(one(Medium::Hbm, Medium::Hbm, loops), 500 + 65_536);
    }

    /// D3: 64 reads and 64 writes.
    #[test]
    fn book_10_example_1() {
        let loops = "[8 : 2048 -> 256, 8 : 256 -> 2048, 256 : 1 -> 1] : 256 @ 0 -> 16384";
        assert_eq!(one(Medium::Hbm, Medium::Hbm, loops), 500 + 128);
    }

    /// D4: reads and writes at the same time.
    #[test]
    fn book_10_example_2() {
        let loops = format!(
            "[256 : 65536 -> 256, 4 : 256 -> 65536, 32 : 1024 -> {SLICE}, 2 : 32768 -> {NETWORK}, 256 : 1 -> 1] : 256"
        );
        assert_eq!(one(Medium::Hbm, Medium::Dm, &loops), 66_036);
    }

    /// D5: reads, and writes.
    #[test]
    fn book_10_example_3() {
        let loops = |to: u64| {
            format!(
                "[256 : 256 -> 1024, 4 : 65536 -> 256, 32 : {SLICE} -> {SLICE}, 2 : {NETWORK} -> {NETWORK}, \
                 256 : 1 -> 1] : 256 @ 0 -> {to}"
            )
        };
        assert_eq!(one(Medium::Dm, Medium::Dm, &loops(4 * 256 * 256)), 131_072 + 500);
        // In the other cluster nothing is shared.
        assert_eq!(one(Medium::Dm, Medium::Dm, &loops(CLUSTER)), 65_536 + 500);
    }

    /// D6: each request of a channel opens another row.
    #[test]
    fn book_10_example_4() {
        let engines = (0..8_u64).map(|engine| {
            let (from, to) = (engine * 256 * 1024, engine * 2 * NETWORK);
            let loops = format!(
                "[256 : 1024 -> 1024, 4 : 256 -> 256, 32 : {} -> {SLICE}, 2 : {} -> {NETWORK}, 256 : 1 -> 1] \
                 : 256 @ {from} -> {to}",
                1 << 21,
                1 << 26
            );
            vec![descriptor(Medium::Hbm, Medium::Dm, &loops)]
        });
        let found = price(engines.collect());
        assert_eq!((found.cycles, found.bound), (655_360 + 500, Bound::Rows));
        assert!(found.engines.iter().all(|(_, cycles)| *cycles == 65_536 + 500));
    }

    /// A scratchpad memory moves 128 bytes a cycle, for all engines together (book 11).
    #[test]
    fn engines_share_a_scratchpad_memory() {
        let engines = |from: u64| {
            (0..8).map(move |engine| {
                let loops = format!(
                    "[64 : 0 -> {SLICE}, 256 : 1 -> 1] : 256 @ {} -> {}",
                    engine * from,
                    engine * CLUSTER / 4
                );
                vec![descriptor(Medium::Spm, Medium::Dm, &loops)]
            })
        };
        let found = price(engines(0).collect());
        assert_eq!((found.cycles, found.bound), (500 + 8 * 128, Bound::Port(Medium::Spm)));
        // Each from its own.
        let found = price(engines(4096).collect());
        assert_eq!((found.cycles, found.ports[&(Medium::Spm, 0)].as_slice()), (500 + 128, &[128; 8][..]));
    }

    /// D7: 256 requests a channel of 16. A request takes 16/3 cycles, which the book rounds to 5.3: about 1,357.
    #[test]
    fn book_10_example_5() {
        let engines = (0..8_u64).map(|engine| {
            let (from, to) = (engine << 18, engine * 2 * NETWORK);
            let loops = format!(
                "[8 : 512 -> 256, 32 : 4096 -> {SLICE}, 2 : 131072 -> {NETWORK}, 256 : 1 -> 1] : 256 @ {from} -> {to}"
            );
            vec![descriptor(Medium::Hbm, Medium::Dm, &loops)]
        });
        let found = price(engines.collect());
        assert_eq!((found.cycles, found.bound), (1366 + 500, Bound::Channel));
        assert_eq!(found.hbm[&0].used(), 16);
    }

    /// D8: the fourth engine has less to move, and takes longer.
    #[test]
    fn book_10_example_6() {
        let read = |rows: u64, networks: u64| {
            format!(
                "[{rows} : 256 -> 256, 32 : {SLICE} -> 3840, {networks} : {NETWORK} -> 512, 256 : 1 -> 1] : 256"
            )
        };
        let of = |loops: String| descriptor(Medium::Dm, Medium::Hbm, &loops);
        let whole =
            |engine: u64| of(format!("{} @ {} -> {}", read(2, 2), engine * 2 * NETWORK, engine * 1024));
        let at = 3 * 2 * NETWORK;
        let rest = vec![
            of(format!("{} @ {at} -> {}", read(2, 1), 3 * 1024)),
            of(format!("{} @ {} -> {}", read(1, 1), at + NETWORK, 3 * 1024 + 512)),
        ];
        let found = price(vec![vec![whole(0)], vec![whole(1)], vec![whole(2)], rest]);
        assert_eq!(
            found.engines.iter().map(|(_, cycles)| *cycles).collect::<Vec<_>>(),
            [756, 756, 756, 1192]
        );
        assert_eq!((found.cycles, found.bound), (1192, Bound::Startup));
    }

    /// H2: reads of all engines together come at 1.5 TB/s: 1,536 bytes a cycle.
    #[test]
    fn all_channels_together() {
        let engines = (0..8_u64).map(|engine| {
            let loops = format!(
                "[64 : 16384 -> 256, 32 : 512 -> {SLICE}, 2 : 256 -> {NETWORK}, 256 : 1 -> 1] : 256 @ {} -> {}",
                engine << 20,
                engine * 2 * NETWORK
            );
            vec![descriptor(Medium::Hbm, Medium::Dm, &loops)]
        });
        let found = price(engines.collect());
        assert_eq!(found.cycles, (8_u64 << 20).div_ceil(1536) + 500);
        assert_eq!(found.bound, Bound::Channel);
    }

    /// H3: a read over a boundary takes two transfers, a write of a part 50 times as long.
    #[test]
    fn misaligned() {
        let machine = Machine::rngd();
        let load = |transfers, exposed, partial| {
            channel_cycles(&ChannelLoad { transfers, switches: exposed, exposed, partial }, &machine)
        };
        assert_eq!(load(300, 0, 0), (1600, Bound::Channel));
        assert_eq!(load(300, 0, 300), (50 * 1600, Bound::PartialWrites));
        assert_eq!(load(300, 40, 0), (1600, Bound::Channel));
        assert_eq!(load(300, 41, 0), (41 * 40, Bound::Rows));
        let read = |at: u64| {
            one(
                Medium::Hbm,
                Medium::Hbm,
                &format!("[4096 : 256 -> 256, 256 : 1 -> 1] : 256 @ {at} -> 16777216"),
            )
        };
        assert_eq!((read(0), read(8)), (500 + 4096, 500 + 2 * 4096));
    }

    #[test]
    fn pcie_is_one_link_a_chip() {
        let loops = "[60 : 256 -> 256, 256 : 1 -> 1] : 256";
        let found = price(vec![vec![descriptor(Medium::Host, Medium::Hbm, loops)]]);
        assert_eq!((found.cycles, found.bound), (500 + 512, Bound::Pcie));
        let mut far = descriptor(Medium::Hbm, Medium::Hbm, loops);
        far.to.chip = 1;
        let found = price(vec![vec![far.clone()], vec![far.clone()]]);
        assert_eq!(
            (found.pcie_out[&0], found.pcie_in[&1], found.cycles),
            (2 * 15_360, 2 * 15_360, 500 + 1024)
        );
        // Both ways at the same time.
        let mut back = descriptor(Medium::Hbm, Medium::Hbm, loops);
        back.from.chip = 1;
        let found = price(vec![vec![far], vec![back]]);
        assert_eq!((found.pcie_out[&0], found.pcie_in[&0], found.cycles), (15_360, 15_360, 500 + 512));
    }

    #[test]
    fn addresses_out_of_memory_are_refused() {
        let transfer = |loops: &str| Transfer {
            engines: vec![(
                Engine { chip: 0, cluster: 0, pe: 0 },
                vec![descriptor(Medium::Hbm, Medium::Dm, loops)],
            )],
        };
        let end = 48_u64 << 30;
        let inside = format!("[256 : 1 -> 1] : 256 @ {} -> 0", end - 256);
        assert!(book(&transfer(&inside), &Machine::rngd()).is_ok());
        for loops in
            [format!("[256 : 1 -> 1] : 256 @ {} -> 0", end - 255), "[2 : -8 -> 8, 8 : 1 -> 1] : 8".to_owned()]
        {
            assert!(book(&transfer(&loops), &Machine::rngd()).is_err(), "{loops}");
        }
    }
}
