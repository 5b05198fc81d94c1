//! The detailed memory model: the time of a transfer, request by request (books 10, 11).
//!
//! It is an event model: time goes on to the next cycle in which an engine or a channel of HBM can do something.
//! Requests are made one at a time: a transfer of any size takes the memory of those in flight.
//!
//! - A DMA engine carries out its descriptors one after the other, each after its start-up. In a cycle it gives at
//!   most one request of 256 bytes to the memory that it reads, and one to the memory that it writes: the 256 bytes a
//!   cycle of its port of the network on chip. Reads are issued in order while [`Timing::in_flight`] allows it, and a
//!   write when its data have come, in order too.
//! - A read or write of HBM that goes over a boundary of 256 bytes is two requests. A channel serves its queue by
//!   FR-FCFS.
//! - Data memory: two requests in the queue of a slice, and 128 bytes a cycle of a network. A [`Claim`] is the access
//!   of a Fetch or Commit Engine to a bank meanwhile, which goes first.
//! - Scratchpad memories and PCIe are bandwidths with a queue. A chip sends 30 bytes a cycle by PCIe, and receives as
//!   many. Memory of the host is as fast as PCIe.
//!
//! Latencies that no book specifies are zero: refresh, the way through the network on chip, be it near or far, and the
//! latency from a command of HBM to its data. Requests for the same bytes do not wait for each other.
//!
//! [`stream`] is HBM alone. `test/peers/dram` compares it with another simulator.

mod chip;
mod dm;
mod dram;
mod engine;
mod error;
mod extrapolate;
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
pub use extrapolate::{Extrapolated, MAX_REQUESTS, extrapolate, requests_of};
pub use run::{Detailed, simulate};
pub use stream::{Streamed, stream};
pub use timing::{ASSUMED, Timing};
