//! Campaigns: long tests with names, one command each. `cargo run --release -p visa-campaigns -- list` names them;
//! docs/campaigns.md has what each checks and its last result. `tests/smoke.rs` runs a small part of each with
//! `cargo test`.
//!
//! A campaign panics where a promise is broken, and says what it ran on standard output.

#![expect(clippy::print_stdout, reason = "what a campaign ran, for whoever runs one")]

pub mod addresses;
pub mod bounds;
pub mod checks;
pub mod chips;
pub mod choices;
pub mod commands;
pub mod compute;
pub mod contractions;
pub mod files;
pub mod host_rust;
pub mod imports;
mod kernels;
pub mod list;
pub mod loops;
pub mod mutants;
pub mod mutate;
pub mod open_clauses;
pub mod orders;
pub mod overlaps;
pub mod pipelines;
pub mod rows;
pub mod schedules;
mod shared;
pub mod transfers;
pub mod transposes;

use files::Files;
use std::path::{Path, PathBuf};

/// How much a campaign runs.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Cases, where cases are drawn or counted.
    pub count: u64,
    /// Where chance comes from.
    pub seed: u64,
    /// Files, where those of the tree are run.
    pub files: Files<'a>,
}

/// The seed without another one.
pub const SEED: u64 = 2026;

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `test/`.
pub(crate) fn test_folder() -> PathBuf {
    root().join("test")
}
