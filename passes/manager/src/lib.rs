//! Declarations of passes, and the manager that runs them.
//!
//! A pass is one file that declares `pub static PASS: Pass`. A [`Pipeline`] is passes with their options, read from
//! text; a [`PassManager`] runs it over a module, verifies the result of each pass, and reports. Nothing here prints:
//! an [`Instrument`] receives the IR between passes.

pub mod doc;
mod manager;
mod options;
mod pass;
mod pipeline;

pub use manager::{About, Cause, Failure, Instrument, PassManager, Report, Silent, StepReport};
pub use options::{
    OptionDecl, OptionDecls, OptionKind, OptionType, OptionValue, Options, OutputName, PassOptions,
};
pub use pass::{Configured, Output, Pass, PassCx, Scope};
pub use pipeline::{Anchor, MAX_NESTING, Pipeline, Step};
#[doc(no_inline)]
pub use visa_ir::diag::Diagnostic;
pub use visa_ir::level::Level;
