//! Plans whole kernels: from operations on values to tensors in memories, transfers and pipelines.
//!
//! [`read`] divides a function into steps. A step is planned by itself: [`contraction`] enumerates its plans, each a
//! plain value whose cycles follow from counts; [`search`] lowers the best of them and keeps the one with the fewest
//! cycles in the report, within the limits of [`effort`]. [`writer`] writes operations. [`cut`] divides axes among
//! parts of the machine.

pub mod array;
pub mod changed;
pub mod chips;
pub mod collapse;
pub mod contraction;
pub mod counters;
pub mod cut;
pub mod effort;
pub mod explain;
pub mod expressions;
pub mod fixes;
pub mod flow;
pub mod joint;
pub mod loads;
pub mod memo;
pub mod memory;
pub mod opened;
pub mod order;
pub mod placed;
pub mod placement;
pub mod program;
pub mod read;
pub mod region;
pub mod residency;
pub mod running;
pub mod search;
pub mod selection;
pub mod shared;
pub mod single;
pub mod tables;
pub mod unused;
pub mod vector;
pub mod vocabulary;
pub mod writer;
pub mod written;

/// The passes of this crate, a module a file.
pub mod passes {
    use visa_pass::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}
