//! The best configuration of a pipeline, by e-graph: rules propose clauses, the verifiers refuse, and the cost
//! function of the report decides. docs/choosing.md is the user's side of it.
//!
//! Rooms: [`rules`] propose; [`config`] chooses for one pipeline; `contexts` in which it runs; `layout` chooses
//! what pipelines share; [`distribution`] chooses which parts of tensors slices hold; [`transfer`] chooses which
//! engine of a transfer moves what; `explain` says why; [`effort`] bounds and measures the work; [`price`] says what a
//! kernel takes. [`driver`] goes
//! through a kernel.

pub mod config;
mod contexts;
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
