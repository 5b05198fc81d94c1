//! The tool: its driver flag by flag, as a process, its questions, and a tool of someone else's.

mod driver;
mod process;
mod query;
