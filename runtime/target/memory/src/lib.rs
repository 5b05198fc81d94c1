//! Where addresses are in HBM, and what a transfer asks of a memory (books 10, 11): the leaf that every memory model
//! has in common. Nothing here has a price.

mod channels;
mod descriptor;
pub mod detailed;
mod hbm;
mod requests;

pub use channels::{Channels, channels};
pub use descriptor::{Descriptor, Engine, Medium, Memory, Transfer};
pub use hbm::{HBM_BYTES, HBM_CHANNELS, HBM_UNIT, HbmPlace, channel};
pub use requests::{Request, Requests, request_count, requests};
