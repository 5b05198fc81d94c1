//! The configuration of one pipeline: what it is to make, what may be written, and the cheapest of it.

pub mod candidate;
pub mod choice;
pub mod extract;
pub mod goal;
pub mod graph;
pub mod memo;
pub mod optional;
