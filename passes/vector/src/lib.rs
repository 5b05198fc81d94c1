//! Elementwise expressions onto stages and ALUs of the vector engine, in the fewest passes.
//!
//! `language` finds the equals of an expression, by the rules of `src/vector.rules` (`rule`, read by `kind` and proved
//! by `sound`); `chain` finds the values that one pass can compute; `search` finds the values between passes; `emit`
//! writes the pipelines. docs/choosing.md explains the comparison of the figures.

mod chain;
mod emit;
mod explain;
mod kind;
mod language;
mod planner;
mod rule;
mod search;
mod sound;

pub use language::{MAX_E_NODES, MAX_ITERATIONS, Statistics};
pub use planner::{Counted, count_passes};
pub use rule::{BUILTIN, Operand, Options, Predicate, Test, Vector, VectorRule, parse as parse_rules};
pub use search::MAX_QUESTIONS;

/// The passes of this crate, a module a file.
pub mod passes {
    use visa_pass::Pass;
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}
