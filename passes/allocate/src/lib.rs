//! Addresses for the tensors of a function: what pass `allocate` works with.
//!
//! [`tensors`] says what has a place, how large it is and when it is needed; [`pack`] finds addresses for sizes
//! and times; [`reach`] says how far fetches read beyond a tensor; [`policy`] which bytes are used again;
//! [`halves`] gives out the tensor register file; [`space`] is what the memories are like.

pub mod halves;
pub mod pack;
pub mod policy;
pub mod reach;
pub mod space;
pub mod tensors;

mod error;
mod given;
mod late;
mod plan;

pub use error::NO_ROOM;
pub use given::Given;
pub use plan::{Plan, Used, plan};

/// The passes of this crate, a module a file.
pub mod passes {
    use visa_pass::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}
