//! The configuration of one pipeline: its goal, its candidates, and the cheapest of them.

pub(crate) mod candidate;
pub mod choice;
pub(crate) mod extract;
pub mod goal;
pub mod graph;
pub(crate) mod memo;
pub(crate) mod optional;
