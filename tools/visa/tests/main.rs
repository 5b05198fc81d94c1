//! The template crate and the tool, in process.

mod template;
mod tool;
mod tutorial;

/// The template's library: here it is compiled with the workspace, its own copy outside (`.ci/run`).
#[expect(unreachable_pub, reason = "a crate's own library is public")]
#[path = "../template/src/lib.rs"]
mod my_visa;
