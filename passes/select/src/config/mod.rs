//! The configuration of one pipeline: what it is to make, what may be written, and the cheapest of it.

pub(crate) mod candidate;
pub mod choice;
pub(crate) mod extract;
pub mod goal;
pub mod graph;
pub(crate) mod memo;
pub(crate) mod optional;
