//! The passes, and the manager that runs them.
//!
//! A pass is one file of `src/pass/` that declares `pub static PASS: Pass`; the build script registers it. A
//! [`Pipeline`] is passes with their options, read from text; a [`PassManager`] runs it over a module, verifies what
//! each pass leaves, and reports. Nothing here prints: whoever wants to see the IR between passes gives an
//! [`Instrument`].

pub mod allocate;
pub mod canonical;
pub mod doc;
pub mod lower;
mod manager;
mod node;
mod options;
mod pass;
mod pipeline;
pub mod plan_vector;
pub mod select;

pub use manager::{Cause, Failure, Instrument, PassManager, Report, Silent, StepReport};
pub use options::{OptionDecl, OptionKind, OptionType, OptionValue, Options, OutputName, PassOptions};
pub use pass::{Level, Output, Pass, PassCx, Scope};
pub use pipeline::{Anchor, MAX_NESTING, Pipeline, Step};

/// Every pass of this crate, a module a file.
pub mod pass_list {
    use crate::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}

/// The passes that come with visa, by name.
#[must_use]
pub fn standard_passes() -> &'static [&'static Pass] {
    pass_list::PASSES
}
