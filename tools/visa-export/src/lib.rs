//! Kernels of memory level become functions in the vendor's Rust, for a version of its crates. An operation without a
//! counterpart is refused at its line, and a clause without one is a comment and a note.

mod body;
mod command;
mod comments;
mod control;
mod dispatch;
mod export;
mod host;
mod host_memory;
mod host_tensors;
mod indices;
mod kernel;
mod lifts;
mod literals;
mod mappings;
mod memory;
mod names;
mod notes;
mod packed;
mod parts;
mod print;
mod refusals;
mod roots;
mod stream;
mod types;
mod values;
mod vector;
mod vector_operand;
mod version;
mod views;
mod words;

pub use command::run;
pub use export::{Exported, Function, Options, rust};
pub use notes::Notes;
pub use version::Version;
