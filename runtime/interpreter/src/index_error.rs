//! Error in an index that chooses a row.

use std::fmt;
use visa_ir::diag::counted;

/// An index in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexPlace {
    /// The chip that read it.
    pub chip: usize,
    /// The PE in whose scratchpad memory it is; none for HBM.
    pub pe: Option<u64>,
    /// Its first byte, of HBM or of that scratchpad memory.
    pub byte: u64,
    /// Its number: counted from the first index in that memory.
    pub number: u64,
}

impl fmt::Display for IndexPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chip, pe, byte, number } = self;
        match pe {
            None => write!(f, "index {number} (byte {byte} of HBM, chip {chip})"),
            Some(pe) => write!(f, "index {number} (byte {byte} of PE {pe}'s scratchpad memory, chip {chip})"),
        }
    }
}

/// Reason why an index chooses no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexError {
    /// There is no such row.
    Outside {
        /// The index.
        at: IndexPlace,
        /// Its value.
        value: i32,
        /// Its unit: rows, or bytes from row to row.
        distance: Option<u64>,
        /// The rows of the table.
        count: u64,
    },
    /// It depends on bytes that were never written. Shadow mode finds it.
    Undefined {
        /// The index.
        at: IndexPlace,
    },
    /// Two rows of a scatter write the same bytes. Shadow mode finds it.
    Conflict {
        /// The first index.
        first: IndexPlace,
        /// The second one.
        second: IndexPlace,
        /// The values of both.
        values: [i32; 2],
        /// The first byte that both write.
        address: u64,
    },
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside { at, value, distance: None, count } => {
                write!(f, "{at} is {value}, expected the number of a row: 0 to {}", count - 1)
            }
            Self::Outside { at, value, distance: Some(distance), count } => write!(
                f,
                "{at} is {value}, expected where a row starts: a multiple of {} from 0 to {}",
                counted(*distance, "byte"),
                (count - 1).saturating_mul(*distance)
            ),
            Self::Undefined { at } => {
                write!(f, "{at} is undefined: it depends on bytes that were never written")
            }
            Self::Conflict { first, second, values, address } => write!(
                f,
                "write conflict: {first} is {}, {second} is {}, and both write byte {address} of HBM: a scatter \
                 names each row once",
                values[0], values[1]
            ),
        }
    }
}
