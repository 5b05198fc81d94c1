//! The memories whose addresses are allocated.

use crate::policy::Room;
use visa_machine::{Machine, Medium, Ports};
use visa_mapping::{TensorKind, VRF, kind_of};
use visa_memory::CHANNEL_PERIOD;

/// A memory with addresses. Host tensors have none in a kernel, and the tensor register file has halves instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// One that DMA engines reach.
    Memory(Medium),
    /// The vector register file.
    Vrf,
}

/// The statistics of the vector register file, with their meanings.
const VRF_STATISTICS: [(&str, &str); 2] = [
    ("vrf-bytes", "the same of the vector register file"),
    ("vrf-live", "the same of the vector register file"),
];

/// The statistics of all memories, those of the register file last.
pub(crate) const STATISTICS: [(&str, &str); 2 * (Medium::OF_A_CHIP.len() + 1)] = {
    let last = Medium::OF_A_CHIP.len();
    let mut all = [VRF_STATISTICS[0]; 2 * (Medium::OF_A_CHIP.len() + 1)];
    all[2 * last + 1] = VRF_STATISTICS[1];
    let mut at = 0;
    while at < last {
        let Some(own) = Medium::OF_A_CHIP[at].decl().statistics else {
            panic!("a memory of a chip has statistics");
        };
        (all[2 * at], all[2 * at + 1]) = (own[0], own[1]);
        at += 1;
    }
    all
};

impl Space {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        Medium::OF_A_CHIP.into_iter().map(Self::Memory).chain([Self::Vrf])
    }

    /// The type of its tensors.
    #[must_use]
    pub fn kind(self) -> &'static TensorKind {
        match self {
            Self::Memory(medium) => kind_of(medium),
            Self::Vrf => &VRF,
        }
    }

    /// Its name in messages.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Memory(medium) => medium.decl().title,
            Self::Vrf => "VRF",
        }
    }

    /// Its bytes: of a chip, of a slice, or of a PE.
    #[must_use]
    pub fn capacity(self, machine: &Machine) -> u64 {
        match self {
            Self::Memory(medium) => medium.bytes(machine),
            Self::Vrf => machine.memory.vrf_bytes,
        }
    }

    /// Alignments that are better than the demanded ones, coarsest first.
    #[must_use]
    pub fn roomy(self, machine: &Machine) -> Vec<Room> {
        match self {
            Self::Memory(medium) => match medium.decl().ports {
                // Channels are an XOR of the bits of an address. Where a tensor starts at a power of two that it fits
                // in, it is spread over them as at 0. A request across two units of 256 bytes takes two (book 11).
                Ports::Channels => {
                    let unit = machine.limits.dma_request_bytes;
                    vec![Room::Whole { least: unit, most: CHANNEL_PERIOD }, Room::Multiple(unit)]
                }
                // The bytes that a fetch reads at once, and those that reach across all banks (book 08, 11).
                Ports::Networks => {
                    let banks = machine.memory.dm_banks.saturating_mul(machine.memory.dm_bank_width);
                    vec![Room::Multiple(banks), Room::Multiple(machine.limits.flit_bytes)]
                }
                // The book names no unit that such a memory is read or written in (book 11).
                Ports::Each(_) | Ports::Unbounded => Vec::new(),
            },
            Self::Vrf => vec![Room::Multiple(machine.limits.flit_bytes)],
        }
    }

    /// The names of the statistics, bytes up to the highest in use and the most in use at a time; `None` for a memory
    /// without any.
    #[must_use]
    pub fn statistics(self) -> Option<[&'static str; 2]> {
        let named = match self {
            Self::Memory(medium) => medium.decl().statistics?,
            Self::Vrf => VRF_STATISTICS,
        };
        Some(named.map(|(name, _)| name))
    }
}
