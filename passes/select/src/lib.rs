//! The best configuration of a pipeline, by e-graph: rules propose clauses, the verifiers refuse, and the cost
//! function of the report decides. docs/choosing.md is the user's side of it.
//!
//! Modules: [`rules`] propose; [`config`] chooses for one pipeline; `contexts` chooses its context; `layout` chooses
//! the layouts of shared tensors; [`distribution`] distributes tensors over slices; [`transfer`] chooses the engines'
//! parts of transfers; `explain` gives the reasons; [`effort`] bounds and measures the work; [`price`] estimates a
//! kernel. [`driver`] goes through a kernel.

pub mod config;
mod contexts;
mod contradiction;
pub mod distribution;
pub mod driver;
pub mod effort;
mod explain;
mod layout;
pub mod price;
pub mod rules;
pub mod transfer;

/// The passes of this crate, a module a file.
pub mod passes {
    use visa_pass::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}
