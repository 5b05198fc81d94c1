//! Reasons that a transfer cannot be simulated.

use std::error::Error;
use std::fmt;

use crate::descriptor::Memory;
use visa_loops::SeqError;

/// Reason that there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DetailedError {
    /// A program whose addresses are not addresses.
    Program(SeqError),
    /// An address after the end of a memory.
    Outside {
        /// The memory.
        memory: Memory,
        /// The first address after those that are asked for.
        end: u64,
        /// Bytes of the memory.
        bytes: u64,
    },
    /// Packets that are not side by side in both memories.
    Packet {
        /// Bytes of a packet.
        packet: u64,
        /// Bytes that lie side by side on both sides.
        run: u64,
    },
    /// A model that waits for an event that never happens, such as room in a queue of no entries.
    Stuck {
        /// The engine cycle after which nothing happens.
        cycle: u64,
    },
    /// A chip that the system does not have.
    NoChip {
        /// The chip.
        chip: u64,
        /// Number of chips of the system (`topology.max_chips`).
        chips: u64,
    },
}

impl From<SeqError> for DetailedError {
    fn from(error: SeqError) -> Self {
        Self::Program(error)
    }
}

impl fmt::Display for DetailedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(error) => error.fmt(f),
            Self::Outside { memory, end, bytes } => {
                let name = memory.medium.decl().about;
                write!(f, "the transfer ends at byte {end} of {name}, which has {bytes} bytes a chip")
            }
            Self::Packet { packet, run } => {
                write!(
                    f,
                    "packets have {packet} bytes, expected a divisor of the {run} that lie side by side"
                )
            }
            Self::Stuck { cycle } => {
                write!(f, "the transfer does not end: nothing happens after cycle {cycle}")
            }
            Self::NoChip { chip, chips } => {
                write!(f, "chip {chip} does not exist, expected one below {chips}")
            }
        }
    }
}

impl Error for DetailedError {}
