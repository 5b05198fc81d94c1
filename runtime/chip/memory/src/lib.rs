//! Mapping of addresses in HBM, and the load of a transfer on the memories, with its time (books 10, 11).

mod banks;
mod book;
mod channels;
mod concentration;
mod descriptor;
pub mod detailed;
mod hbm;
mod linear;
mod networks;
mod partial;
mod ports;
mod requests;
mod rows;
mod scale;

pub use banks::BankAccesses;
pub use book::{Bound, Price, book, channel_cycles};
pub use channels::{Access, ChannelLoad, Channels};
pub use concentration::repeated_reads;
pub use descriptor::{Descriptor, Engine, Memory, Transfer};
pub use hbm::{CHANNEL_PERIOD, HBM_BYTES, HBM_CHANNELS, HBM_UNIT, HbmPlace, channel, channel_bits};
pub use networks::Networks;
pub use partial::{crossing_requests, partial_rounds};
pub use ports::PortLoads;
pub use requests::{Request, Requests, request_count, requests};
pub use visa_machine::Medium;
