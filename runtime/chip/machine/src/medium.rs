//! The memories that DMA engines reach, each declared once.
//!
//! Tensor types, verifiers, lowering, allocation, both memory models, the interpreter and reports read the properties
//! of a memory from [`Medium::decl`]. A memory that is added here is known to all of them; its tensor type is a row of
//! `dialects/mapping/src/tensor/memories.rs`, and an operation that moves tensors to it a separate file.

use crate::machine::Machine;
use visa_words::{Word, words};

words! {
    /// A kind of memory that a DMA reads or writes.
    pub enum Medium {
        /// Memory of the host. It is reached by PCIe.
        Host = "host",
        /// High-bandwidth memory of a chip.
        Hbm = "hbm",
        /// Data memory of a chip: `slice * (bytes of a slice's memory) + byte`, slices counted through its clusters.
        Dm = "dm",
        /// Scratchpad memory of a chip: `PE * (bytes of a PE's memory) + byte`, PEs counted through its clusters.
        Spm = "spm",
    }
}

words! {
    /// A memory that holds the indices of a transfer.
    #[allow(missing_docs)]
    pub enum IndexMemory: Medium { Hbm, Spm }
}

words! {
    /// A memory that holds the arguments and results of a program.
    #[allow(missing_docs)]
    pub enum ProgramMemory: Medium { Host, Hbm }
}

words! {
    /// A memory that holds tensors.
    #[allow(missing_docs)]
    pub enum TensorMemory: Medium { Hbm, Dm, Spm }
}

/// The unit of the machine that has a separate memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The host.
    Host,
    /// A chip.
    Chip,
    /// A part of a cluster.
    Cluster(ClusterPart),
}

/// A part of a cluster with separate memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterPart {
    /// A slice.
    Slice,
    /// A processing element.
    Pe,
}

/// Bound of the rate at which a memory is read and written.
#[derive(Clone, Copy, Debug)]
pub enum Ports {
    /// No bound in the memory: the way to it bounds the rate.
    Unbounded,
    /// The channels of HBM (book 11).
    Channels,
    /// The networks of data memory, which several slices share (book 11).
    Networks,
    /// A port of each part, with a bandwidth in bytes a cycle.
    Each(fn(&Machine) -> u64),
}

/// Unit of an index in a memory (book 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexUnit {
    /// Bytes from the first row of the table.
    Byte,
    /// Rows of the table.
    Row,
}

/// The declaration of a memory.
#[derive(Clone, Copy, Debug)]
pub struct MemoryDecl {
    /// Its name in reports, such as `SPM`.
    pub title: &'static str,
    /// Its name in sentences.
    pub about: &'static str,
    /// The unit that has a separate memory of this kind.
    pub part: Part,
    /// Bytes of a part; of the host as many as there can be.
    pub bytes: fn(&Machine) -> u64,
    /// Bytes that a DMA writes together: writes are aligned to them.
    pub write_group: fn(&Machine) -> u64,
    /// Bound of its rate.
    pub ports: Ports,
    /// True if transfers reach it in other chips.
    pub crosses_chips: bool,
    /// Unit of an index in it; `None` if no transfer reads indices there.
    pub indices: Option<IndexUnit>,
    /// Its name in the vendor's schedule viewer.
    pub viewer: &'static str,
    /// Statistics of an allocation, with their meanings: bytes up to the highest in use, and the most bytes in use at
    /// a time.
    pub statistics: Option<[(&'static str, &'static str); 2]>,
}

const HOST: MemoryDecl = MemoryDecl {
    title: "host",
    about: "memory of the host",
    part: Part::Host,
    bytes: |_| u64::MAX,
    write_group: |_| 1,
    ports: Ports::Unbounded,
    crosses_chips: false,
    indices: None,
    viewer: "Sram",
    statistics: None,
};

const HBM: MemoryDecl = MemoryDecl {
    title: "HBM",
    about: "HBM",
    part: Part::Chip,
    bytes: |machine| machine.memory.hbm_bytes,
    write_group: |_| 1,
    ports: Ports::Channels,
    crosses_chips: true,
    indices: Some(IndexUnit::Byte),
    viewer: "Sram",
    statistics: Some([
        ("hbm-bytes", "bytes of HBM up to the highest that is used, the most of all kernels"),
        ("hbm-live", "most bytes of HBM that are needed at the same time: the least that is possible"),
    ]),
};

const DM: MemoryDecl = MemoryDecl {
    title: "DM",
    about: "data memory",
    part: Part::Cluster(ClusterPart::Slice),
    bytes: |machine| machine.memory.dm_bytes_per_slice,
    write_group: |machine| machine.limits.dma_dm_align,
    ports: Ports::Networks,
    crosses_chips: true,
    indices: None,
    viewer: "Sram",
    statistics: Some([
        ("dm-bytes", "the same of a slice's data memory"),
        ("dm-live", "the same of a slice's data memory"),
    ]),
};

/// Book 10, 11.
const SPM: MemoryDecl = MemoryDecl {
    title: "SPM",
    about: "scratchpad memory",
    part: Part::Cluster(ClusterPart::Pe),
    bytes: |machine| machine.memory.spm_bytes_per_pe,
    write_group: |machine| machine.limits.dma_dm_align,
    ports: Ports::Each(|machine| machine.timing.spm_bytes_per_cycle),
    crosses_chips: false,
    indices: Some(IndexUnit::Row),
    viewer: "Spm",
    statistics: Some([
        ("spm-bytes", "the same of a PE's scratchpad memory"),
        ("spm-live", "the same of a PE's scratchpad memory"),
    ]),
};

impl Medium {
    /// All memories, in the order of their declaration.
    pub const ALL: &'static [Self] = <Self as Word>::ALL;

    /// The memories of a chip: all but the host's.
    pub const OF_A_CHIP: [Self; Self::ALL.len() - 1] = {
        let mut all = [Self::Hbm; Self::ALL.len() - 1];
        let (mut from, mut to) = (0, 0);
        while from < Self::ALL.len() {
            if !matches!(Self::ALL[from], Self::Host) {
                all[to] = Self::ALL[from];
                to += 1;
            }
            from += 1;
        }
        all
    };

    /// Its declaration.
    #[must_use]
    pub const fn decl(self) -> &'static MemoryDecl {
        match self {
            Self::Host => &HOST,
            Self::Hbm => &HBM,
            Self::Dm => &DM,
            Self::Spm => &SPM,
        }
    }

    /// Returns true if the parts of a cluster have it: it is SRAM on the chip.
    #[must_use]
    pub const fn is_sram(self) -> bool {
        matches!(self.decl().part, Part::Cluster(_))
    }

    /// Bytes of a part.
    #[must_use]
    pub fn bytes(self, machine: &Machine) -> u64 {
        (self.decl().bytes)(machine)
    }

    /// Bytes of a chip; of the host as many as there can be.
    #[must_use]
    pub fn bytes_per_chip(self, machine: &Machine) -> u64 {
        self.bytes(machine).saturating_mul(self.decl().part.per_chip(machine))
    }

    /// Bytes of a cluster; `None` of a memory whose parts are no parts of clusters.
    #[must_use]
    pub fn bytes_per_cluster(self, machine: &Machine) -> Option<u64> {
        match self.decl().part {
            Part::Host | Part::Chip => None,
            Part::Cluster(part) => Some(self.bytes(machine) * part.per_cluster(machine)),
        }
    }
}

impl Part {
    /// Parts of a chip; the host, which is outside of it, counts as one.
    #[must_use]
    pub const fn per_chip(self, machine: &Machine) -> u64 {
        match self {
            Self::Host | Self::Chip => 1,
            Self::Cluster(part) => part.per_cluster(machine) * machine.topology.clusters_per_chip,
        }
    }
}

impl ClusterPart {
    /// Parts of a cluster.
    #[must_use]
    pub const fn per_cluster(self, machine: &Machine) -> u64 {
        match self {
            Self::Slice => machine.topology.slices_per_cluster,
            Self::Pe => machine.topology.pes_per_cluster,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn memories_have_names_of_their_own() {
        let decls = || Medium::ALL.iter().map(|medium| medium.decl());
        let titles: BTreeSet<&str> = decls().map(|decl| decl.title).collect();
        let words: BTreeSet<&str> = Medium::WORDS.iter().copied().collect();
        let statistics: BTreeSet<&str> =
            decls().filter_map(|decl| decl.statistics).flat_map(|all| all.map(|(name, _)| name)).collect();
        let all = Medium::ALL.len();
        assert_eq!((titles.len(), words.len(), statistics.len()), (all, all, 2 * Medium::OF_A_CHIP.len()));
    }

    #[test]
    fn a_memory_of_a_chip_has_statistics() {
        let chip = Medium::ALL.iter().filter(|&&medium| medium != Medium::Host);
        assert!(chip.eq(&Medium::OF_A_CHIP));
        let counted = |medium: &Medium| medium.decl().statistics.is_some();
        assert!(Medium::OF_A_CHIP.iter().all(counted) && !counted(&Medium::Host));
    }

    #[test]
    fn sizes_of_rngd() {
        let rngd = Machine::rngd();
        assert_eq!(Medium::Spm.bytes_per_chip(&rngd), 8 * 4096);
        assert_eq!(Medium::Dm.bytes_per_chip(&rngd), rngd.dm_bytes_per_chip());
        assert_eq!(Medium::Dm.bytes_per_cluster(&rngd), Some(256 * rngd.memory.dm_bytes_per_slice));
        assert_eq!(Medium::Hbm.bytes_per_cluster(&rngd), None);
    }
}
