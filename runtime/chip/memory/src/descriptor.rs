//! Commands of the DMA engines (book 10, "DMA Command Syntax").

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use visa_loops::{PairedProgram, Program, SeqError};
use visa_machine::{Machine, Medium};

/// A memory: of which kind, and of which chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Memory {
    /// The kind.
    pub medium: Medium,
    /// The chip; 0 for the host.
    pub chip: u64,
}

/// One command of a DMA engine. It costs a start-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Descriptor {
    /// Memory read.
    pub from: Memory,
    /// Memory written.
    pub to: Memory,
    /// Byte addresses of both sides, and the packet.
    pub loops: PairedProgram,
}

impl Memory {
    /// The clusters of a chip that a program is in; `None` if the memory is not a cluster's.
    ///
    /// # Errors
    /// If an address does not fit in 64 bits.
    pub fn clusters(
        &self,
        program: &Program,
        machine: &Machine,
    ) -> Result<Option<RangeInclusive<i64>>, SeqError> {
        let Some(bytes) = self.medium.bytes_per_cluster(machine) else { return Ok(None) };
        let (first, end) = program.extent()?;
        let bytes = bytes.cast_signed();
        Ok(Some(first / bytes..=(end - 1).max(first) / bytes))
    }
}

impl Descriptor {
    /// The side that reads, in bytes.
    #[must_use]
    pub fn read(&self) -> Program {
        self.loops.read()
    }

    /// The side that writes, in bytes.
    #[must_use]
    pub fn write(&self) -> Program {
        self.loops.write()
    }

    /// Returns true if it leaves the chip: by PCIe.
    #[must_use]
    pub fn by_pcie(&self) -> bool {
        let host = self.from.medium == Medium::Host || self.to.medium == Medium::Host;
        host || self.from.chip != self.to.chip
    }
}

/// A DMA engine: each PE of a cluster has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Engine {
    /// The chip.
    pub chip: u64,
    /// The cluster of the chip.
    pub cluster: u64,
    /// The PE of the cluster.
    pub pe: u64,
}

/// A transfer: the descriptors of each engine, one after the other. Engines work at the same time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// Engines that have something to do, each with its descriptors.
    pub engines: Vec<(Engine, Vec<Descriptor>)>,
}

impl Engine {
    /// An engine of the first chip, by its number: engines are counted through the PEs of the clusters.
    #[must_use]
    pub const fn numbered(number: u64, machine: &Machine) -> Self {
        let pes = machine.topology.pes_per_cluster;
        Self { chip: 0, cluster: number / pes, pe: number % pes }
    }
}

impl Transfer {
    /// The descriptors of all engines.
    pub fn descriptors(&self) -> impl Iterator<Item = &Descriptor> {
        self.engines.iter().flat_map(|(_, own)| own)
    }

    /// A transfer within a chip: the loops of each engine, by its number. Chips are alike, so it is that of the first.
    #[must_use]
    pub fn of_chip(
        engines: BTreeMap<u64, Vec<PairedProgram>>,
        [from, to]: [Medium; 2],
        machine: &Machine,
    ) -> Self {
        let [from, to] = [from, to].map(|medium| Memory { medium, chip: 0 });
        let engines = engines.into_iter().map(|(number, programs)| {
            let descriptors = programs.into_iter().map(|loops| Descriptor { from, to, loops });
            (Engine::numbered(number, machine), descriptors.collect())
        });
        Self { engines: engines.collect() }
    }
}
