//! Where addresses are in HBM and data memory, and what a transfer asks of the memories (books 10, 11): the leaf that
//! every memory model has in common. Nothing here has a price.

mod channels;
mod dm;
mod hbm;
mod requests;

pub use channels::{Channels, channels};
pub use dm::DmPlace;
pub use hbm::{HBM_BYTES, HBM_CHANNELS, HbmPlace, channel};
pub use requests::{REQUEST_BYTES, Request, Requests, packet, request_count, requests};
