//! The contract of a pipeline stage: its flow of data, its cost, its memory accesses and its position in a pipeline.
//! An engine implements it; the interpreter and the cost model query it. This crate does not depend on the IR.

pub mod cost;
pub mod memory;
pub mod place;
pub mod read_cache;
pub mod running;
pub mod shadow;
pub mod stage;
pub mod stream;
pub mod unwritten;
pub mod wire;
pub mod words;

pub use cost::{BankUse, BankWalk, Engine, Pace, StageCost, TABLE_BYTES, TreeUse};
pub use memory::{Access, Bank, SliceMemory, Space};
pub use running::RunCx;
pub use stage::{Exchange, Map, Stage, Store, Unit};
pub use stream::{Lanes, Operand, Stash, Stream};
pub use wire::{Flow, Mismatch, Wire};
