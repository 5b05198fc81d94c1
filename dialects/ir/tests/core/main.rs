//! The IR core on a toy dialect: text in both forms, and everything that can be wrong with one.

#![allow(clippy::disallowed_methods, reason = "the core is tested by the names of operations")]

mod analyses;
mod builders;
mod comments;
mod declarations;
mod irdl;
mod locations;
mod mlir;
mod open_clauses;
mod rewriting;
mod round_trip;
mod syntax_errors;
mod toy;
mod views;
