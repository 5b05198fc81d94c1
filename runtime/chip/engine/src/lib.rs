//! The contract of a pipeline stage: what flows through it, what it costs, which memories it touches and where in
//! a pipeline it may be. An engine implements it; the interpreter and the cost model ask it. Nothing here knows
//! the IR.

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

pub use cost::{BankUse, BankWalk, Engine, Pace, StageCost, TreeUse};
pub use memory::{Access, Bank, SliceMemory, Space};
pub use running::RunCx;
pub use stage::{Exchange, Map, Stage, Store, Unit};
pub use stream::{Lanes, Operand, Stash, Stream};
pub use wire::{Flow, Mismatch, Wire};
