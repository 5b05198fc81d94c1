//! The detailed memory model: what a transfer takes, request by request (books 10, 11).
//!
//! It is an event model. Engines make requests as long as the memories take them, HBM sends commands, data memory
//! moves what its networks have room for; time goes on to the next cycle in which one of them can do something.
//! Requests are made one at a time: a transfer of any size takes the memory of those in flight.

mod chip;
mod dm;
mod dram;
mod engine;
mod error;
mod link;
#[cfg(test)]
mod oracle;
mod pieces;
mod run;
mod stream;
mod timing;

pub use chip::ChipTotals;
pub use dm::{Claim, DmnTotals, Requester};
pub use dram::{ChannelTotals, Direction};
pub use engine::EngineTotals;
pub use error::DetailedError;
pub use run::{Detailed, simulate};
pub use stream::{Streamed, stream};
pub use timing::{ASSUMED, Timing};
