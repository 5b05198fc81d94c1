//! The configuration of one pipeline: its task, its candidates, and the cheapest of them.

pub(crate) mod candidate;
pub mod choice;
pub mod computation;
pub mod constraints;
pub(crate) mod extract;
pub mod graph;
pub(crate) mod memo;
pub(crate) mod optional;
pub mod task;
