//! What cannot be simulated.

use std::error::Error;
use std::fmt;

use crate::descriptor::{Medium, Memory};
use visa_loops::SeqError;

/// Why there is no result.
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
    /// A chip that the system does not have.
    NoChip {
        /// The chip.
        chip: u64,
        /// How many it has (`topology.max_chips`).
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
                let name = match memory.medium {
                    Medium::Host => "memory of the host",
                    Medium::Hbm => "HBM",
                    Medium::Dm => "data memory",
                    Medium::Spm => "scratchpad memory",
                };
                write!(f, "the transfer ends at byte {end} of {name}, which has {bytes} bytes a chip")
            }
            Self::NoChip { chip, chips } => {
                write!(f, "chip {chip} does not exist, expected one below {chips}")
            }
        }
    }
}

impl Error for DetailedError {}
