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
pub mod enumeration;
pub mod exports;
pub mod files;
pub mod host_rust;
pub mod imports;
mod kernels;
pub mod layers;
pub mod list;
pub mod loops;
pub mod mutants;
pub mod mutate;
pub mod open_clauses;
pub mod orders;
pub mod overlaps;
pub mod pipelines;
pub mod plans;
pub mod raised;
pub mod ranks;
pub mod rows;
pub mod schedules;
mod settings;
mod shared;
pub mod sweep;
pub mod transfers;
pub mod transposes;

pub use settings::{SEED, Settings};
