//! RNGD as data: counts, capacities, limits and timings.
//!
//! [`Machine::rngd`] is the chip; a JSON file may replace any of its values ([`Machine::from_json`]). A hardware limit
//! is here once, for all its readers: verifiers, lowering, interpreter and cost model.

mod derived;
mod error;
mod machine;
mod measured;
mod medium;
mod unit;
mod validate;

pub use derived::{BufferUse, TransposeShape};
pub use error::{FieldError, MachineError};
pub use machine::{ASSUMED, Assumption, Limits, Machine, Memory, Timing, Topology};
pub use measured::{
    Crossing, FIGURES, Figure, Measured, Noise, ODD_UNIT, OddFetch, Parallel, SharedNetworks, Syncs, figure,
};
pub use medium::{
    ClusterPart, IndexMemory, IndexUnit, Medium, MemoryDecl, Part, Ports, ProgramMemory, TensorMemory,
};
pub use unit::Unit;
