//! Where addresses are in HBM, and what a transfer asks of a memory (books 10, 11): the leaf that every memory model
//! has in common. Nothing here has a price.

mod book;
mod channels;
mod descriptor;
mod hbm;
mod linear;
mod networks;
mod requests;
mod rows;
mod scale;

pub use book::{Bound, Price, book};
pub use channels::{Access, ChannelLoad, Channels};
pub use descriptor::{Descriptor, Engine, Medium, Memory, Transfer};
pub use hbm::{HBM_BYTES, HBM_CHANNELS, HBM_UNIT, HbmPlace, channel};
pub use networks::Networks;
pub use requests::{Request, Requests, request_count, requests};
