//! The IR core on a toy dialect: text in both forms, and everything that can be wrong with one.

mod analyses;
mod declarations;
mod irdl;
mod locations;
mod mlir;
mod open_clauses;
mod rewriting;
mod round_trip;
mod syntax_errors;
mod toy;
