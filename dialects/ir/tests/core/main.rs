//! The IR core on a toy dialect: text in both forms, and everything that can be wrong with one.

mod declarations;
mod mlir;
mod round_trip;
mod rewriting;
mod syntax_errors;
mod toy;
