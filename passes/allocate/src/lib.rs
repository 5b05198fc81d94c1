//! Addresses for the tensors of a function: the library of pass `allocate`.
//!
//! [`tensors`] lists the tensors that need an address, with their sizes and live ranges; [`pack`] finds addresses for
//! sizes and times; [`reach`] computes the bytes that fetches read beyond a tensor; [`policy`] decides which bytes are
//! used again; [`halves`] gives out the tensor register file; [`space`] describes the memories.

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
pub use given::AllocationInput;
pub use plan::{Plan, Used, plan};

/// The passes of this crate, a module a file.
pub mod passes {
    use visa_pass::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}
