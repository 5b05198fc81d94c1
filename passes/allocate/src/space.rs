//! The memories whose addresses are given out.

use crate::policy::Room;
use visa_machine::Machine;
use visa_memory::CHANNEL_PERIOD;

/// A memory with addresses.
#[derive(Debug)]
pub struct Space {
    /// The name of its tensor types.
    pub types: &'static str,
    /// What it is called in messages.
    pub name: &'static str,
    /// Its bytes: of a chip, of a slice, or of a PE.
    pub capacity: fn(&Machine) -> u64,
    /// Alignments that are better than what is demanded, coarsest first.
    pub roomy: fn(&Machine) -> Vec<Room>,
    /// The statistics: bytes up to the highest that is used, and the most that are needed at the same time.
    pub statistics: [&'static str; 2],
}

/// Those memories. Host tensors have no addresses in a kernel, and the tensor register file has halves instead.
pub static SPACES: [Space; 4] = [
    Space {
        types: "tm.hbm",
        name: "HBM",
        capacity: |machine| machine.memory.hbm_bytes,
        // Channels are an XOR of the bits of an address. Where a tensor starts at a power of two that it fits in, it
        // is spread over them as at 0. A request across two units of 256 bytes takes two (book 11).
        roomy: |machine| {
            let unit = machine.limits.dma_request_bytes;
            vec![Room::Whole { least: unit, most: CHANNEL_PERIOD }, Room::Multiple(unit)]
        },
        statistics: ["hbm-bytes", "hbm-live"],
    },
    Space {
        types: "tm.dm",
        name: "DM",
        capacity: |machine| machine.memory.dm_bytes_per_slice,
        // What a fetch reads at once, and what reaches across all banks (book 08, 11).
        roomy: |machine| {
            let banks = machine.memory.dm_banks.saturating_mul(machine.memory.dm_bank_width);
            vec![Room::Multiple(banks), Room::Multiple(machine.limits.flit_bytes)]
        },
        statistics: ["dm-bytes", "dm-live"],
    },
    Space {
        types: "tm.spm",
        name: "SPM",
        capacity: |machine| machine.memory.spm_bytes_per_pe,
        // The book names no unit that it is read or written in (book 11).
        roomy: |_| Vec::new(),
        statistics: ["spm-bytes", "spm-live"],
    },
    Space {
        types: "tm.vrf",
        name: "VRF",
        capacity: |machine| machine.memory.vrf_bytes,
        roomy: |machine| vec![Room::Multiple(machine.limits.flit_bytes)],
        statistics: ["vrf-bytes", "vrf-live"],
    },
];
